//! One memory: properties and a free Markdown body (VLT-02).
//!
//! Scope (B-05) and provenance (B-01) are ordinary properties. A note that a person put into the vault by
//! hand, with few properties or none, is an entry too: missing properties have defaults, unknown ones are
//! kept.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::frontmatter::{self, ParsedNote, list, render_scalar};
use super::lines::newline_of;
use super::path::VaultPath;
use crate::base::id::EntryId;
use crate::base::provenance::{Origin, Provenance};
use crate::base::scope::{ProjectId, Scope};
use crate::base::sentiment::Sentiment;
use crate::base::time::{Timestamp, format_utc, parse};
use crate::text::clean::one_line;

/// The maximum size of a saved body. A memory is a few lines; a megabyte is a file.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;
/// The maximum length of a title in listings, in characters.
pub const MAX_TITLE_CHARS: usize = 80;

/// The status of an entry in its life cycle (VLT-03).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EntryStatus {
    /// The entry is in force.
    Active,
    /// Was in force, and is settled.
    Resolved,
    /// Replaced by a newer version.
    Superseded,
    /// An idea that has not become a project.
    Incubating,
    /// The person's own status word; treated as not active.
    Other(String),
}

impl EntryStatus {
    /// The status word in the frontmatter.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Resolved => "resolved",
            Self::Superseded => "superseded",
            Self::Incubating => "incubating",
            Self::Other(word) => word,
        }
    }

    /// Parses a status word. Unknown words are kept as they are.
    pub fn from_word(word: &str) -> Self {
        match word {
            "active" => Self::Active,
            "resolved" => Self::Resolved,
            "superseded" => Self::Superseded,
            "incubating" => Self::Incubating,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for EntryStatus {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for EntryStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The confidence at the time of capture (SID-04…06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Stated explicitly by the person.
    High,
    /// Inferred from several sightings.
    Medium,
    /// Inferred from one sighting.
    Low,
}

impl Confidence {
    /// The confidence word in the frontmatter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    fn from_note(word: &str) -> Option<Self> {
        [Self::High, Self::Medium, Self::Low].into_iter().find(|confidence| confidence.as_str() == word)
    }
}

/// The properties of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryProperties {
    /// The id; `None` for a note that we did not write.
    pub id: Option<EntryId>,
    /// The kind of memory: a word the person chooses, also the name of its folder.
    pub kind: String,
    /// The status in its life cycle.
    pub status: EntryStatus,
    /// The time of the first save.
    pub created: Option<Timestamp>,
    /// The time of the last change.
    pub updated: Option<Timestamp>,
    /// The person's own tags.
    pub tags: Vec<String>,
    /// The group it was saved in.
    pub group: String,
    /// The scope in which it applies.
    pub scope: Scope,
    /// True if it is loaded at every session start.
    pub always_load: bool,
    /// The archived version that it replaced.
    pub supersedes: Option<String>,
    /// The entry that replaced it.
    pub superseded_by: Option<String>,
    /// The confidence at capture.
    pub confidence: Option<Confidence>,
    /// The person's sentiment at that moment (FBK-07).
    pub sentiment: Option<Sentiment>,
    /// The author of the words, with session and messages.
    pub provenance: Provenance,
}

impl EntryProperties {
    /// Reads the properties of a note. `path` supplies defaults for missing ones.
    pub fn of(note: &ParsedNote<'_>, path: &VaultPath) -> Self {
        let text = |key| note.text_of(key).map(str::to_owned);
        let mut folders = path.components();
        let (group, kind) = (folders.next().unwrap_or_default(), folders.next().unwrap_or_default());
        let project = note.text_of("project").filter(|id| !id.is_empty());
        let scope = match (note.text_of("scope"), project) {
            (Some("project"), Some(id)) => Scope::Project(ProjectId::new(id)),
            _ => Scope::Global,
        };
        Self {
            id: note.text_of("id").and_then(EntryId::parse),
            kind: text("kind").unwrap_or_else(|| kind.trim_start_matches('_').to_owned()),
            status: note.text_of("status").map_or(EntryStatus::Active, EntryStatus::from_word),
            created: note.text_of("created").and_then(parse),
            updated: note.text_of("updated").and_then(parse),
            tags: note.list_of("tags"),
            group: text("group").unwrap_or_else(|| group.to_owned()),
            scope,
            always_load: note.text_of("always_load") == Some("true"),
            supersedes: text("supersedes"),
            superseded_by: text("superseded_by"),
            confidence: note.text_of("confidence_rating_at_capture").and_then(Confidence::from_note),
            sentiment: note.text_of("sentiment").and_then(Sentiment::from_word),
            provenance: Provenance {
                // A note without an origin was typed by the vault's owner.
                origin: note.text_of("origin").and_then(|word| word.parse().ok()).unwrap_or(Origin::User),
                session: text("session"),
                messages: note.list_of("messages"),
            },
        }
    }

    /// Renders a new note: each property of VLT-02 on its own line, then the body, ended by a newline.
    pub fn render(&self, body: &str) -> String {
        let time = |at: Option<Timestamp>| {
            at.map_or_else(|| "null".to_owned(), |at| render_scalar(&format_utc(at)).into_owned())
        };
        let optional = |text: &Option<String>| {
            text.as_deref().map_or_else(|| "null".to_owned(), |text| render_scalar(text).into_owned())
        };
        let mut lines = vec![
            ("id", self.id.as_ref().map_or("null", EntryId::as_str).to_owned()),
            ("kind", render_scalar(&self.kind).into_owned()),
            ("status", render_scalar(self.status.as_str()).into_owned()),
            ("created", time(self.created)),
            ("updated", time(self.updated)),
            ("tags", list(&self.tags)),
            ("group", render_scalar(&self.group).into_owned()),
            ("scope", self.scope.kind_str().to_owned()),
        ];
        if let Some(project) = self.scope.project() {
            lines.push(("project", render_scalar(project.as_str()).into_owned()));
        }
        lines.extend([
            ("always_load", self.always_load.to_string()),
            ("supersedes", optional(&self.supersedes)),
            ("superseded_by", optional(&self.superseded_by)),
            ("confidence_rating_at_capture", self.confidence.map_or("null", Confidence::as_str).to_owned()),
            ("origin", self.provenance.origin.as_str().to_owned()),
        ]);
        if let Some(sentiment) = self.sentiment {
            lines.push(("sentiment", sentiment.as_str().to_owned()));
        }
        if let Some(session) = &self.provenance.session {
            lines.push(("session", render_scalar(session).into_owned()));
        }
        if !self.provenance.messages.is_empty() {
            lines.push(("messages", list(&self.provenance.messages)));
        }
        let mut text = String::from("---\n");
        for (key, value) in lines {
            text.push_str(&format!("{key}: {value}\n"));
        }
        text.push_str("---\n\n");
        text.push_str(body.trim_start_matches('\n'));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// The title of a note in listings: its first heading or first line of text, else its file name.
pub fn title(body: &str, path: &VaultPath) -> String {
    body.lines()
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| line.chars().any(char::is_alphanumeric))
        .map_or_else(|| path.stem().to_owned(), |line| one_line(line, MAX_TITLE_CHARS))
}

/// The two notes that result from an evolution (VLT-04).
pub struct EvolvedNotes {
    /// The new version, for the old path.
    pub new: String,
    /// The old version, marked as superseded, for the archive.
    pub archived: String,
}

/// The inputs of [`evolve`].
pub struct EvolveRequest<'a> {
    /// The body of the new version.
    pub body: &'a str,
    /// The person's reason for the change; kept in the new note.
    pub reason: &'a str,
    /// The id of the new version.
    pub id: &'a EntryId,
    /// The time of the change.
    pub at: Timestamp,
    /// The path of the entry.
    pub path: &'a VaultPath,
    /// The archive path of the old version.
    pub archive: &'a VaultPath,
    /// The author of the new body.
    pub origin: Origin,
    /// True if the person has seen and approved these words.
    pub approved: bool,
    /// The person's sentiment in the new body.
    pub sentiment: Option<Sentiment>,
}

/// True if the person has reviewed the current text. A new version without approval has `reviewed: null`.
pub fn is_reviewed(note: &ParsedNote<'_>) -> bool {
    note.text_of("reviewed").and_then(parse).is_some()
}

/// The archived text of an entry that was replaced by another one.
pub fn mark_superseded(note: &ParsedNote<'_>, by: &VaultPath) -> Result<String, frontmatter::Error> {
    let changes = [("status", Some(EntryStatus::Superseded.as_str())), ("superseded_by", Some(by.as_str()))];
    Ok(note.head_with(&changes)? + note.body())
}

/// The new and the archived text of an entry whose body is replaced. Both keep every property and comment
/// that needs no change. The archived one keeps its body byte for byte.
pub fn evolve(old: &str, change: &EvolveRequest<'_>) -> Result<EvolvedNotes, frontmatter::Error> {
    let note = ParsedNote::parse(old)?;
    let at = format_utc(change.at);
    let newline = newline_of(old);
    let archived = mark_superseded(&note, change.path)?;
    let mut changes = vec![
        ("id", Some(change.id.as_str())),
        ("status", Some(EntryStatus::Active.as_str())),
        ("updated", Some(&at)),
        ("supersedes", Some(change.archive.as_str())),
        ("superseded_by", None),
        ("origin", Some(change.origin.as_str())),
        ("evolved_because", Some(change.reason)),
    ];
    // The person reviewed the old words, unless they approved the new ones.
    match change.approved {
        true => changes.push(("reviewed", Some(&at))),
        false => changes.extend(note.get("reviewed").map(|_| ("reviewed", None))),
    }
    // The sentiment belongs to the words.
    match change.sentiment {
        Some(sentiment) => changes.push(("sentiment", Some(sentiment.as_str()))),
        None => changes.extend(note.get("sentiment").map(|_| ("sentiment", None))),
    }
    let mut new = note.head_with(&changes)?;
    new.push_str(newline);
    new.push_str(&change.body.trim_start_matches(['\n', '\r']).replace("\r\n", "\n").replace('\n', newline));
    if !new.ends_with('\n') {
        new.push_str(newline);
    }
    Ok(EvolvedNotes { new, archived })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> VaultPath {
        VaultPath::parse("personal-private/fix/staging-db.md").unwrap()
    }

    fn entry() -> EntryProperties {
        EntryProperties {
            id: Some(EntryId::new([7; 8])),
            kind: "fix".into(),
            status: EntryStatus::Active,
            created: parse("2026-11-15T02:13:08Z"),
            updated: parse("2026-11-15T02:13:08Z"),
            tags: vec!["db".into(), "staging env".into()],
            group: "personal-private".into(),
            scope: Scope::Project(ProjectId::new("github.com/acme/widgets")),
            always_load: false,
            supersedes: None,
            superseded_by: None,
            confidence: Some(Confidence::High),
            sentiment: None,
            provenance: Provenance {
                origin: Origin::User,
                session: Some("s-1".into()),
                messages: vec!["a".into()],
            },
        }
    }

    #[test]
    fn vlt_02_every_property_is_written() {
        insta::assert_snapshot!(entry().render("\n# Staging\n\nPort 5433."), @r#"
        ---
        id: m-e1r70w3ge1r7
        kind: fix
        status: active
        created: 2026-11-15T02:13:08Z
        updated: 2026-11-15T02:13:08Z
        tags: [db, staging env]
        group: personal-private
        scope: project
        project: github.com/acme/widgets
        always_load: false
        supersedes: null
        superseded_by: null
        confidence_rating_at_capture: high
        origin: user
        session: s-1
        messages: [a]
        ---

        # Staging

        Port 5433.
        "#);
    }

    #[test]
    fn fbk_07_the_sentiment_goes_with_the_words() {
        let old = EntryProperties { sentiment: Some(Sentiment::Frustrated), ..entry() }.render("Port 5433.");
        assert!(old.contains("\nsentiment: frustrated\n"), "{old}");
        let archive = VaultPath::parse("personal-private/_archive/a.md").unwrap();
        let evolved = |sentiment| {
            let change = EvolveRequest {
                body: "Port 5434.",
                reason: "it moved",
                id: &EntryId::new([8; 8]),
                at: parse("2026-11-16T10:00:00Z").unwrap(),
                path: &path(),
                archive: &archive,
                origin: Origin::User,
                approved: false,
                sentiment,
            };
            let new = evolve(&old, &change).unwrap().new;
            let note = ParsedNote::parse(&new).unwrap();
            EntryProperties::of(&note, &path()).sentiment
        };
        assert_eq!(evolved(None), None);
        assert_eq!(evolved(Some(Sentiment::Pleased)), Some(Sentiment::Pleased));
    }

    /// Requirements: FND-11.
    #[test]
    fn a_note_made_by_hand_is_an_entry() {
        let text = "# Coffee\n\nNo sugar.\n";
        let note = ParsedNote::parse(text).unwrap();
        let entry =
            EntryProperties::of(&note, &VaultPath::parse("personal-private/likes/coffee.md").unwrap());
        assert_eq!((entry.kind.as_str(), entry.group.as_str()), ("likes", "personal-private"));
        assert_eq!((entry.status, entry.scope, entry.id), (EntryStatus::Active, Scope::Global, None));
        assert_eq!(title(note.body(), &path()), "Coffee");
        assert_eq!(title("---\n***\n", &path()), "staging-db");
    }

    #[test]
    fn vlt_04_evolve_keeps_what_it_does_not_need_to_change() {
        let old = "---\r\nkind: fix\r\nmine: [1, 2] # keep\r\nstatus: active\r\n---\r\n\r\nOld  \r\n";
        let archive =
            VaultPath::parse("personal-private/_archive/personal-private/fix/staging-db.md.20261115.md")
                .unwrap();
        let id = EntryId::new([7; 8]);
        let change = EvolveRequest {
            body: "New\nlines",
            reason: "it: moved",
            id: &id,
            at: parse("2026-11-15").unwrap(),
            path: &path(),
            archive: &archive,
            origin: Origin::User,
            approved: false,
            sentiment: None,
        };
        let EvolvedNotes { new, archived } = evolve(old, &change).unwrap();
        assert_eq!(
            archived,
            "---\r\nkind: fix\r\nmine: [1, 2] # keep\r\nstatus: superseded\r\nsuperseded_by: personal-private/fix/staging-db.md\r\n---\r\n\r\nOld  \r\n"
        );
        assert!(new.starts_with("---\r\nkind: fix\r\nmine: [1, 2] # keep\r\nstatus: active\r\nid: m-"));
        assert!(new.ends_with("evolved_because: \"it: moved\"\r\n---\r\n\r\nNew\r\nlines\r\n"));
        let note = ParsedNote::parse(&new).unwrap();
        assert_eq!(EntryProperties::of(&note, &path()).supersedes.as_deref(), Some(archive.as_str()));
    }

    proptest! {
        #[test]
        fn what_is_rendered_reads_back(
            kind in "[a-z]{1,8}", tags in prop::collection::vec(any::<String>(), 0..3), body in any::<String>(),
            session in prop::option::of("\\PC{1,20}"), global in any::<bool>(), always in any::<bool>(),
            sentiment in prop::option::of(prop::sample::select(&Sentiment::ALL[..])),
        ) {
            let mut entry = entry();
            entry.kind = kind;
            entry.tags = tags;
            entry.provenance.session = session;
            entry.always_load = always;
            entry.sentiment = sentiment;
            if global { entry.scope = Scope::Global; }
            let text = entry.render(&body);
            let note = ParsedNote::parse(&text).unwrap();
            prop_assert_eq!(&EntryProperties::of(&note, &path()), &entry);
            prop_assert_eq!(note.body().trim_matches('\n'), body.trim_matches('\n'));
        }
    }
}
