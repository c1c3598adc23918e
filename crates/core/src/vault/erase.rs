//! Finds a forgotten text in any file and cuts it out of the surrounding text (B-08).
//!
//! Texts are compared in their normal form, block by block: a paragraph, a list item, a table row, a line of
//! code. A memory that became a bullet in the daily log and a rule in MEMORY.md is found in both.

use std::collections::HashSet;
use std::ops::Range;

use memchr::{memchr, memchr3, memmem};
use serde_json::Value;

use crate::text::normalise::normalise;

/// The minimum length of a whole text to search for, in characters of its normal form. A shorter one is too
/// unspecific.
const MIN_WHOLE_CHARS: usize = 8;
/// The minimum length of a single block of a longer text. It must be more specific to count as the same
/// statement elsewhere.
const MIN_BLOCK_CHARS: usize = 24;
/// The number of consecutive bytes of a forgotten text that count as a fragment.
const FRAGMENT_BYTES: usize = 12;
/// The maximum number of words of a statement that a file must contain before it is read closely. With one word, a
/// twentieth of a large vault was read closely; with four, nearly none.
const MAX_TELLING_WORDS: usize = 4;
/// The maximum size of a text that is searched for fragments: the few bytes of context in a journal.
const MAX_CONTEXT_BYTES: usize = 256;

/// The text to forget.
#[derive(Clone, Debug)]
pub struct ErasureTarget {
    needles: Vec<String>,
    /// Its original lines, for searching bytes.
    raw: Vec<Vec<u8>>,
    /// For each needle and each long line, words that any file with it must contain; empty if no word is certain. This
    /// rules out most files of a vault without normalising them.
    telling: Vec<Vec<Vec<u8>>>,
    /// All runs of [`FRAGMENT_BYTES`] bytes of the original lines.
    fragments: HashSet<[u8; FRAGMENT_BYTES]>,
}

impl ErasureTarget {
    /// Targets every statement in any of `texts`.
    pub fn new<S: AsRef<str>>(texts: &[S]) -> Self {
        let (mut needles, mut raw, mut telling) = (Vec::new(), Vec::<Vec<u8>>::new(), Vec::new());
        let mut add = |form: String, least: usize, source: &[u8]| {
            if form.chars().count() >= least && !needles.contains(&form) {
                telling.push(telling_words(&form, source));
                needles.push(form);
            }
        };
        for text in texts.iter().map(AsRef::as_ref) {
            let source = plain(text.as_bytes());
            let forms: Vec<String> = blocks(text).into_iter().map(|block| normalise(&text[block])).collect();
            add(join(&forms), MIN_WHOLE_CHARS, &source);
            forms.into_iter().for_each(|form| add(form, MIN_BLOCK_CHARS, &source));
            let long = |line: &&[u8]| line.len() >= FRAGMENT_BYTES;
            raw.extend(text.lines().map(|line| line.trim().as_bytes()).filter(long).map(<[u8]>::to_vec));
        }
        // A file may hold a single line of a longer block.
        let lines = raw.iter().filter(|line| line.len() >= MIN_BLOCK_CHARS);
        telling.extend(lines.map(|line| {
            let line = plain(line);
            telling_words(&String::from_utf8_lossy(&line), &line)
        }));
        let fragments = raw.iter().flat_map(|line| line.array_windows::<FRAGMENT_BYTES>()).copied().collect();
        Self { needles, raw, telling, fragments }
    }

    /// True if there is too little text to search for. Then only the memory itself can be removed.
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// True if `text` contains the target.
    pub fn matches_text(&self, text: &str) -> bool {
        !self.matches(text).is_empty()
    }

    /// True if a file of any format contains the target: Markdown, JSON lines, or bytes.
    pub fn matches_file(&self, bytes: &[u8]) -> bool {
        if !self.may_be_in(bytes) {
            return false;
        }
        let text = String::from_utf8_lossy(bytes);
        self.is_in_bytes(bytes) || self.matches_text(&text) || self.remove_json_blocks(&text).is_some()
    }

    /// False only if a file or a JSON document with these bytes cannot contain the target. Much faster than to read it
    /// closely.
    pub fn may_be_in(&self, bytes: &[u8]) -> bool {
        let plain = plain(bytes);
        self.telling.iter().any(|words| words.iter().all(|word| contains(&plain, word)))
    }

    fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.long_lines().any(|line| contains(bytes, line))
    }

    fn long_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.raw.iter().map(Vec::as_slice).filter(|line| line.len() >= MIN_BLOCK_CHARS)
    }

    /// True if a short text contains a fragment of the target.
    pub fn matches_fragment(&self, text: &str) -> bool {
        text.len() <= MAX_CONTEXT_BYTES
            && text.as_bytes().array_windows().any(|piece| self.fragments.contains(piece))
    }

    /// The document without the blocks that contain the target, or `None` if there are none. Every other byte
    /// stays.
    pub fn remove_blocks(&self, document: &str) -> Option<String> {
        let cuts = self.matches(document);
        if cuts.is_empty() {
            return None;
        }
        let (mut kept, mut done) = (String::with_capacity(document.len()), 0);
        for cut in cuts {
            kept.push_str(&document[done..cut.start]);
            done = cut.end;
        }
        kept.push_str(&document[done..]);
        Some(kept)
    }

    /// The same for JSON, whole or by line: strings lose the blocks that contain the target.
    pub fn remove_json_blocks(&self, text: &str) -> Option<String> {
        let mut changed = false;
        let mut out = String::with_capacity(text.len());
        if let Ok(mut whole) = serde_json::from_str::<Value>(text) {
            changed = self.cut_value(&mut whole);
            out = whole.to_string();
        } else {
            for line in text.split_inclusive('\n') {
                let mut value = serde_json::from_str::<Value>(line).unwrap_or(Value::Null);
                if self.cut_value(&mut value) {
                    changed = true;
                    out.push_str(&value.to_string());
                    out.push('\n');
                } else {
                    out.push_str(line);
                }
            }
        }
        changed.then_some(out)
    }

    fn cut_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.remove_blocks(text) {
                Some(kept) => {
                    *text = kept;
                    true
                }
                None => false,
            },
            Value::Array(items) => items.iter_mut().fold(false, |any, item| self.cut_value(item) | any),
            Value::Object(fields) => fields.values_mut().fold(false, |any, item| self.cut_value(item) | any),
            _ => false,
        }
    }

    /// The disjoint ranges of whole blocks that a needle touches, in order.
    fn matches(&self, document: &str) -> Vec<Range<usize>> {
        let blocks = blocks(document);
        let forms: Vec<String> = blocks.iter().map(|block| normalise(&document[block.clone()])).collect();
        let joined = join(&forms);
        let mut hit = vec![false; blocks.len()];
        for needle in &self.needles {
            let mut from = 0;
            while let Some(found) = joined[from..].find(needle.as_str()) {
                let at = from + found..from + found + needle.len();
                if stands_alone(&joined, &at) {
                    mark(&forms, &at, &mut hit);
                }
                from = at.start + joined[at.start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        for (block, hit) in blocks.iter().zip(&mut hit) {
            *hit |= self.is_in_bytes(&document.as_bytes()[block.clone()]);
        }
        blocks.into_iter().zip(hit).filter(|(_, hit)| *hit).map(|(block, _)| block).collect()
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memmem::find(bytes, wanted).is_some()
}

/// The bytes in lower case, without the marks that may be inside a word.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut plain = bytes.to_ascii_lowercase();
    // Most files have no marks, and finding that out is faster than filtering.
    if memchr3(b'*', b'_', b'`', bytes).or_else(|| memchr(b'~', bytes)).is_some() {
        plain.retain(|byte| !is_marker(*byte));
    }
    plain
}

/// True for emphasis and code marks, which may be inside a word.
fn is_marker(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'`' | b'~')
}

/// The longest ASCII words of a needle that its source has as well: a normal form may spell a word in ASCII that its
/// source does not. They are the same in every spelling with this normal form, and inside JSON.
fn telling_words(needle: &str, source: &[u8]) -> Vec<Vec<u8>> {
    let words = needle.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() >= 3);
    let mut words: Vec<Vec<u8>> = words
        .map(str::to_ascii_lowercase)
        .map(String::into_bytes)
        .filter(|word| contains(source, word))
        .collect();
    words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    words.dedup();
    words.truncate(MAX_TELLING_WORDS);
    words
}

fn join(forms: &[String]) -> String {
    forms.iter().filter(|form| !form.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// True if a match is not part of longer words. Scripts without spaces have no such boundaries.
fn stands_alone(text: &str, at: &Range<usize>) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inside = |edge: Option<char>, beyond: Option<char>| word(edge) && word(beyond);
    let matched = &text[at.clone()];
    !inside(matched.chars().next(), text[..at.start].chars().next_back())
        && !inside(matched.chars().next_back(), text[at.end..].chars().next())
}

/// Marks the blocks whose normal forms overlap a range of the joined text.
fn mark(forms: &[String], at: &Range<usize>, hit: &mut [bool]) {
    let mut start = 0;
    for (form, hit) in forms.iter().zip(hit).filter(|(form, _)| !form.is_empty()) {
        let end = start + form.len();
        *hit |= start < at.end && at.start < end;
        start = end + 1;
    }
}

/// The blocks of a document as byte ranges of whole lines: list items and paragraphs with their continuation
/// lines, headings, table rows, lines of code, comments. Blank lines and frontmatter fences are separate
/// blocks.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut at, mut fenced, mut open) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let (range, bare) = (at..at + line.len(), line.trim());
        at = range.end;
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        let alone = fence || fenced || bare.is_empty() || bare.starts_with(['#', '|']) || bare == "---";
        fenced ^= fence;
        match blocks.last_mut() {
            Some(last) if open && !alone && !starts_item(bare) => last.end = range.end,
            _ => blocks.push(range),
        }
        open = !alone;
    }
    blocks
}

fn starts_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet))
        || (after_number.len() < line.len()
            && (after_number.starts_with(". ") || after_number.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "The staging host is hermes, port 5433.";

    #[test]
    fn b_08_the_same_statement_is_found_in_any_dress() {
        let target = ErasureTarget::new(&[SECRET]);
        for text in [
            "* 🔴 (10:02) The staging host is hermes, port 5433. <!-- o-1 user -->\n",
            "intro\n\n- the staging host is\n  **hermes**, port 5433\n- other\n",
            "> The staging host is hermes, port 5433.",
        ] {
            assert!(target.matches_text(text), "{text}");
        }
        assert!(!target.matches_text("The staging host is zeus, port 5433."));
        assert!(!ErasureTarget::new(&["port is 5433"]).matches_text("support is 54330"));
    }

    #[test]
    fn only_the_blocks_that_say_it_go() {
        let target = ErasureTarget::new(&[SECRET]);
        let document =
            "# Log\r\n\r\n- a\r\n- The staging host is hermes,\r\n  port 5433.\r\n- b  \r\n\r\n| x | y |\r\n";
        assert_eq!(target.remove_blocks(document).unwrap(), "# Log\r\n\r\n- a\r\n- b  \r\n\r\n| x | y |\r\n");
        assert_eq!(target.remove_blocks("# Log\n\n- a\n"), None);
    }

    #[test]
    fn a_text_of_several_blocks_goes_as_a_whole_and_by_its_longer_parts() {
        let target = ErasureTarget::new(&["Deploy\n\n1. tag\n2. run the long deployment script twice"]);
        assert_eq!(
            target
                .remove_blocks("x\n\nDeploy\n\n1. tag\n2. run the long deployment script twice\n\ny\n")
                .unwrap(),
            "x\n\n\n\ny\n"
        );
        assert!(target.matches_text("- run the long deployment script twice"));
        assert!(!target.matches_text("1. tag"));
    }

    #[test]
    fn json_is_cut_inside_its_strings() {
        let target = ErasureTarget::new(&[SECRET]);
        let line =
            serde_json::json!({"n": 1, "messages": format!("[User]: hi\n\n{SECRET}\n\nbye")}).to_string();
        let file = format!("{line}\n{{\"other\":true}}\nnot json\n");
        let cut = target.remove_json_blocks(&file).unwrap();
        assert!(
            !cut.contains("hermes") && cut.contains("bye") && cut.ends_with("{\"other\":true}\nnot json\n")
        );
        assert!(target.matches_file(file.as_bytes()) && !target.matches_file(cut.as_bytes()));
    }

    #[test]
    fn short_texts_are_not_searched_for() {
        assert!(ErasureTarget::new(&["yes"]).is_empty());
    }

    proptest! {
        #[test]
        fn an_erased_text_is_gone_and_the_rest_stays(before in "([a-z ]{0,20}\n){0,6}", after in "([a-z ]{0,20}\n){0,6}") {
            let target = ErasureTarget::new(&[SECRET]);
            let document = format!("{before}\n- {SECRET}\n\n{after}");
            let cut = target.remove_blocks(&document).unwrap();
            prop_assert!(!target.matches_text(&cut));
            prop_assert_eq!(cut, format!("{before}\n\n{after}"));
        }

        #[test]
        fn blocks_cover_every_byte_once(text in any::<String>()) {
            let joined: String = blocks(&text).into_iter().map(|range| text[range].to_owned()).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
