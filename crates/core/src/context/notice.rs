//! The notice shown to the user through an agent's hook: what was saved, and how to undo it.

use serde::{Deserialize, Serialize};

use crate::text::clean::one_line;

/// The number of memories listed; the rest is counted.
const MAX_NAMED: usize = 3;
/// The maximum length of each, in characters.
const MAX_TEXT_CHARS: usize = 120;

/// A saved memory, and the change that saved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptMemory {
    /// The id of the change, as `rekindle log` shows it and `rekindle undo` takes it.
    pub change: String,
    /// The path of the memory in the vault.
    pub path: String,
    /// The text of the memory.
    pub text: String,
}

impl KeptMemory {
    /// Creates the notice: control characters are removed and the text is shortened.
    pub fn new(change: &str, path: &str, text: &str) -> Self {
        Self { change: change.to_owned(), path: path.to_owned(), text: one_line(text, MAX_TEXT_CHARS) }
    }
}

/// The line `Rekindle kept: …`, with `more` for those that are not listed. `None` if there is nothing to
/// list.
pub fn kept_line(kept: &[KeptMemory], more: u64) -> Option<String> {
    // Clean it again: anybody can write the file that it comes from.
    let name = |kept: &KeptMemory| {
        let (text, change) = (one_line(&kept.text, MAX_TEXT_CHARS), one_line(&kept.change, MAX_TEXT_CHARS));
        (!text.is_empty() && !change.is_empty()).then_some((text, change))
    };
    let named: Vec<(String, String)> = kept.iter().filter_map(name).collect();
    let more = more + named.len().saturating_sub(MAX_NAMED) as u64;
    match named.as_slice() {
        [] => None,
        [(text, change)] if more == 0 => {
            Some(format!("Rekindle kept: \"{text}\" Undo: rekindle undo {change}"))
        }
        several => {
            let parts = several.iter().take(MAX_NAMED);
            let mut parts: Vec<String> =
                parts.map(|(text, change)| format!("\"{text}\" (rekindle undo {change})")).collect();
            if more > 0 {
                parts.push(format!("and {more} more (rekindle log --all)"));
            }
            Some(format!("Rekindle kept: {}", parts.join("; ")))
        }
    }
}

/// Asks the user to confirm that a folder is the project that its git configuration names. `folder` is the
/// known location of that project.
pub fn claim_line(project: &str, folder: &str) -> String {
    let (project, folder) = (one_line(project, MAX_TEXT_CHARS), one_line(folder, MAX_TEXT_CHARS));
    format!(
        "Rekindle: the git configuration here names {project}, which is in {folder}, but git never fetched it here. Is it \
         the same project? Answer with `rekindle project --same` or `rekindle project --separate`; until then its \
         memories stay there."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(number: usize) -> KeptMemory {
        KeptMemory::new(&format!("CHANGE{number}"), "personal-private/rule/a.md", &format!("Rule {number}."))
    }

    #[test]
    fn r_13_saved_memories_are_named_with_their_undo() {
        assert_eq!(kept_line(&[], 0), None);
        assert_eq!(
            kept_line(&[kept(1)], 0).as_deref(),
            Some("Rekindle kept: \"Rule 1.\" Undo: rekindle undo CHANGE1")
        );
        let all: Vec<KeptMemory> = (1..=5).map(kept).collect();
        assert_eq!(
            kept_line(&all[..2], 0).as_deref(),
            Some("Rekindle kept: \"Rule 1.\" (rekindle undo CHANGE1); \"Rule 2.\" (rekindle undo CHANGE2)")
        );
        let line = kept_line(&all, 7).unwrap();
        assert!(
            line.ends_with("\"Rule 3.\" (rekindle undo CHANGE3); and 9 more (rekindle log --all)"),
            "{line}"
        );
    }

    #[test]
    fn b_02_no_escape_sequence_and_no_line_break_reaches_the_terminal() {
        let evil = "Use \u{1b}[31mtabs\u{1b}]0;owned\u{7}\r\nand\u{202e} more\u{9b}2J";
        let told = KeptMemory { text: evil.to_owned(), ..kept(1) };
        for line in
            [kept_line(&[told], 0).unwrap(), kept_line(&[KeptMemory::new("C", "p", evil)], 0).unwrap()]
        {
            assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
            assert!(line.contains("tabs") && line.contains("and more"), "{line:?}");
        }
        assert_eq!(kept_line(&[KeptMemory { text: " \u{1b}[0m".to_owned(), ..kept(1) }], 0), None);
    }
}
