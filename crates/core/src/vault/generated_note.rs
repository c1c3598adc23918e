//! Notes that Rekindle writes for note apps: a home note, and one for each project.
//!
//! The part between two comments is derived and rebuilt. Everything around it belongs to the person and stays byte for
//! byte. The first comment holds the hash of the part, so that an edit inside of it is noticed and not destroyed.

use super::comment;
use crate::base::hash::ContentHash;
use crate::text::clean::one_line;

const PART: &str = "part";
const HASH: &str = "hash";
const END: &str = "end";
/// The most characters of a title in a table.
const MAX_TITLE_CHARS: usize = 90;
const HASH_DIGITS: usize = 16;

/// A note to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedNote {
    /// The properties of a new note. Later they are the person's.
    pub head: String,
    /// The derived part, in Markdown.
    pub body: String,
}

/// The outcome of comparing a file with the note to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratedMerge {
    /// The file is as it should be.
    Unchanged,
    /// The file has no part of ours: it is the person's and stays.
    Theirs,
    /// The text to write.
    Write {
        /// The new text of the file.
        text: String,
        /// True if the person changed our part, so that a copy of the old text has to be kept.
        was_edited: bool,
    },
}

/// Our part of a file, as byte ranges.
struct FoundPart {
    /// From the first comment to the end of the last.
    whole: std::ops::Range<usize>,
    /// Between the comments.
    body: std::ops::Range<usize>,
    hash: String,
}

impl GeneratedNote {
    /// Puts the derived part into the text of the file.
    pub fn merge(&self, current: Option<&str>) -> GeneratedMerge {
        let part = render_part(&self.body);
        let Some(current) = current else {
            return GeneratedMerge::Write { text: format!("{}{part}\n", self.head), was_edited: false };
        };
        let Some(found) = find_part(current) else { return GeneratedMerge::Theirs };
        let body = &current[found.body.clone()];
        let was_edited = hash_of(body) != found.hash;
        if !was_edited && unix(body).trim() == self.body.trim() {
            return GeneratedMerge::Unchanged;
        }
        let text = format!("{}{part}{}", &current[..found.whole.start], &current[found.whole.end..]);
        GeneratedMerge::Write { text, was_edited }
    }

    /// True if a file holds nothing but what Rekindle wrote.
    pub fn is_untouched(head: &str, current: &str) -> bool {
        find_part(current).is_some_and(|found| {
            let around = format!("{}{}", &current[..found.whole.start], &current[found.whole.end..]);
            unix(&around).trim() == head.trim() && hash_of(&current[found.body]) == found.hash
        })
    }
}

/// The text of a file without the lines of our part that name one of `names`. `None` if there are none.
pub fn without_lines(current: &str, names: &[String]) -> Option<String> {
    let found = find_part(current)?;
    let body = &current[found.body.clone()];
    let was_edited = hash_of(body) != found.hash;
    let names_one = |line: &&str| names.iter().any(|name| line.contains(name.as_str()));
    if !body.lines().any(|line| names_one(&line)) {
        return None;
    }
    let left: String = body.split_inclusive('\n').filter(|line| !names_one(line)).collect();
    let (before, after) = (&current[..found.whole.start], &current[found.whole.end..]);
    // An edit by the person is still one afterwards.
    let part = if was_edited {
        format!(
            "{}{left}{}",
            &current[found.whole.start..found.body.start],
            &current[found.body.end..found.whole.end]
        )
    } else {
        render_part(left.trim())
    };
    Some(format!("{before}{part}{after}"))
}

/// A title as plain words for a table or a link: nothing in it is a link, a tag, a formula or a comment.
pub fn plain_title(title: &str) -> String {
    let words: String = one_line(title, MAX_TITLE_CHARS)
        .chars()
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            '[' => '(',
            ']' => ')',
            '`' => '\'',
            '|' | '\\' => '/',
            c => c,
        })
        .collect();
    words.replace("%%", "%").replace("$$", "$").replace("==", "=").replace("^", "'")
}

/// A link for a row of a table, where a bar would end the cell.
pub fn table_link(path: &str, title: &str) -> String {
    let title = plain_title(title);
    match super::link::render(path, &title) {
        Some(link) => link.replace('|', "\\|"),
        None => title,
    }
}

fn render_part(body: &str) -> String {
    let body = format!("\n\n{}\n\n", body.trim());
    let start = comment::render(&[(PART, "derived"), (HASH, &hash_of(&body))]);
    format!("{start}{body}{}", comment::render(&[(PART, END)]))
}

/// Editors and sync tools may convert line breaks and strip blanks at the ends; neither is an edit.
fn hash_of(body: &str) -> String {
    ContentHash::of_bytes(unix(body).trim().as_bytes()).short_hex(HASH_DIGITS)
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn find_part(text: &str) -> Option<FoundPart> {
    let mut start: Option<(usize, usize, String)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        let pairs = comment::parse(trimmed).unwrap_or_default();
        match (&start, comment::value(&pairs, PART)) {
            (None, Some("derived")) => {
                let hash = comment::value(&pairs, HASH).unwrap_or_default().to_owned();
                start = Some((at, at + trimmed.len(), hash));
            }
            (Some((from, body, hash)), Some(END)) => {
                let (whole, body) = (*from..at + trimmed.len(), *body..at);
                return Some(FoundPart { whole, body, hash: hash.clone() });
            }
            _ => {}
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn note(body: &str) -> GeneratedNote {
        GeneratedNote { head: "---\naliases: [\"x\"]\n---\n\n".to_owned(), body: body.to_owned() }
    }

    fn written(merge: GeneratedMerge) -> (String, bool) {
        match merge {
            GeneratedMerge::Write { text, was_edited } => (text, was_edited),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_back_and_the_persons_text_stays(
            body in "[a-z |<>\\-\n%]{0,60}",
            next in "[a-z |<>\\-\n%]{0,60}",
            above in "[a-zA-Z#<>!\\- \r\n]{0,40}",
            below in "[a-zA-Z#<>!\\- \r\n]{0,40}",
        ) {
            let (text, was_edited) = written(note(&body).merge(None));
            prop_assert!(!was_edited && GeneratedNote::is_untouched(&note("").head, &text));
            prop_assert_eq!(note(&body).merge(Some(&text)), GeneratedMerge::Unchanged);
            prop_assert_eq!(note(&body).merge(Some(&text.replace('\n', "\r\n"))), GeneratedMerge::Unchanged);
            let theirs = format!("{above}\n{text}\n{below}");
            prop_assert_eq!(note(&body).merge(Some(&theirs)), GeneratedMerge::Unchanged);
            if next.trim() != body.trim() {
                let (rebuilt, was_edited) = written(note(&next).merge(Some(&theirs)));
                let head = format!("{above}\n---");
                prop_assert!(!was_edited && rebuilt.starts_with(&head));
                prop_assert!(rebuilt.ends_with(&below) && rebuilt.contains(next.trim()));
            }
        }

        #[test]
        fn a_title_is_one_cell_of_words(title in any::<String>()) {
            let plain = plain_title(&title);
            let is_safe = !plain.contains(['|', '<', '>', '[', ']', '`', '\\', '^', '\n', '\r']);
            prop_assert!(is_safe && !plain.contains("%%"));
            prop_assert!(!table_link("V/a.md", &title).replace("\\|", "").contains('|'));
        }
    }

    #[test]
    fn b_11_an_edit_inside_is_noticed_and_a_note_of_the_person_is_left_alone() {
        let (text, _) = written(note("# Rekindle\n\n- one").merge(None));
        let edited = text.replace("- one", "- one\n- mine");
        let (rebuilt, was_edited) = written(note("# Rekindle\n\n- two").merge(Some(&edited)));
        assert!(was_edited && rebuilt.contains("- two") && !rebuilt.contains("- mine"));
        assert!(!GeneratedNote::is_untouched(&note("").head, &edited));
        assert!(!GeneratedNote::is_untouched(&note("").head, &format!("{text}mine")));
        for theirs in ["", "# My own Rekindle\n", "<!-- rekindle part=derived hash=0 -->\nnever ended"] {
            assert_eq!(note("x").merge(Some(theirs)), GeneratedMerge::Theirs, "{theirs}");
        }
    }

    #[test]
    fn b_08_lines_about_a_forgotten_memory_leave_and_the_rest_stays() {
        let (text, _) = written(note("| [[V/fix/a\\|A]] |\n| [[V/fix/ab\\|B]] |").merge(None));
        let names = ["V/fix/a\\|".to_owned(), "V/fix/a]".to_owned()];
        let left = without_lines(&format!("mine V/fix/a|\n{text}"), &names).unwrap();
        assert!(
            left.starts_with("mine V/fix/a|\n") && !left.contains("|A]]") && left.contains("|B]]"),
            "{left}"
        );
        assert_eq!(note("| [[V/fix/ab\\|B]] |").merge(Some(&left)), GeneratedMerge::Unchanged);
        assert_eq!(without_lines(&left, &names), None);
    }
}
