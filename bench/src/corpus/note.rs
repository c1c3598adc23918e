//! A generated memory as a note of the vault (docs/vault-format.md) and as a line for the anchors.

use serde_json::json;

use super::memory::{GeneratedMemory, MAX_WORDS};
use super::random::SplitMix64;
use super::words;

/// The time of the newest memory, 2026-11-01 in the morning; the others are older.
const NEWEST_UNIX_SECONDS: i64 = 1_793_523_600;
/// The time between the oldest and the newest memory.
const SPAN_SECONDS: usize = 2 * 365 * 24 * 3600;
/// The number of consecutive memories from one session.
const MEMORIES_PER_SESSION: usize = 6;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A memory with its frontmatter.
pub struct GeneratedNote<'a> {
    memory: &'a GeneratedMemory,
    /// The memory's id: `m-` and twelve characters.
    pub id: String,
    group: &'static str,
    origin: &'static str,
    created: String,
    session: String,
}

impl<'a> GeneratedNote<'a> {
    /// Derives the properties of a memory from the seed of its text.
    pub fn of(memory: &'a GeneratedMemory, seed: u64) -> Self {
        let random = &mut SplitMix64::of(seed.rotate_left(32), memory.index as u64);
        let session =
            SplitMix64::of(seed.rotate_left(16), (memory.index / MEMORIES_PER_SESSION) as u64).bits();
        let back = (session as usize) % SPAN_SECONDS;
        // Memories of one session are a minute apart.
        let at = NEWEST_UNIX_SECONDS - back as i64 + 60 * (memory.index % MEMORIES_PER_SESSION) as i64;
        Self {
            memory,
            id: id(seed, memory.index),
            group: [
                "personal-private",
                "personal-private",
                "personal-private",
                "personal-projects",
                "personal-skills",
            ][random.below(5)],
            origin: ["user", "user", "user", "agent", "agent", "tool", "import"][random.below(7)],
            created: iso(at),
            session: format!("s-{:010x}", session >> 24),
        }
    }

    /// The path of the note in the vault.
    pub fn path(&self) -> String {
        let (about, index) = (&self.memory.about, self.memory.index);
        format!("{}/{}/{}-{}-{index}.md", self.group, self.memory.kind, about.subject, about.object)
    }

    /// Renders the note. Every memory has the widest scope, because the anchors see all of them too.
    pub fn render(&self) -> String {
        let Self { memory, id, group, origin, created, session } = self;
        let tag = words::TOPICS[memory.topic].name;
        let mut text = String::with_capacity(512 + 10 * MAX_WORDS);
        text.push_str(&format!(
            "---\nid: {id}\nkind: {}\nstatus: active\ncreated: {created}\nupdated: {created}\ntags: [{tag}, {}]\n\
             group: {group}\nscope: global\nalways_load: false\nsupersedes: null\nsuperseded_by: null\n\
             confidence_rating_at_capture: high\norigin: {origin}\n",
            memory.kind, memory.about.subject
        ));
        if *origin != "user" {
            text.push_str(&format!("session: {session}\n"));
        }
        text.push_str(&format!("---\n\n{}\n", memory.text));
        text
    }

    /// Renders the line for the anchors, which `rekindle bench ingest` reads too.
    pub fn line(&self) -> String {
        let Self { memory, id, created, session, .. } = self;
        json!({"ns": "bench", "session": session, "id": id, "ts": created, "role": "user", "text": memory.text})
            .to_string()
    }
}

/// Returns the id of memory number `index`.
pub fn id(seed: u64, index: usize) -> String {
    let bits = SplitMix64::of(seed.rotate_left(48), index as u64).bits();
    let digits = (0..12).rev().map(|digit| char::from(ALPHABET[((bits >> (5 * digit)) & 31) as usize]));
    digits.fold(String::from("m-"), |mut id, digit| {
        id.push(digit);
        id
    })
}

/// Formats a Unix time of the last half century in UTC.
pub fn iso(seconds: i64) -> String {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Converts days to a date with years that begin in March, so that the leap day comes last.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::memory::TextGenerator;

    #[test]
    fn days_are_days() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso(NEWEST_UNIX_SECONDS), "2026-11-01T09:00:00Z");
        assert_eq!(iso(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn ids_and_paths_never_repeat() {
        let voice = TextGenerator::default();
        let (mut ids, mut paths) = (std::collections::HashSet::new(), std::collections::HashSet::new());
        for index in 0..20_000 {
            let memory = voice.memory(7, index);
            let note = GeneratedNote::of(&memory, 7);
            assert!(paths.insert(note.path()), "{}", note.path());
            assert!(ids.insert(note.id));
        }
    }
}
