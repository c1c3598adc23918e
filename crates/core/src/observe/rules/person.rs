//! What the person typed, sentence by sentence, without what they pasted.

use super::line::{has, has_dense};
use super::plans;
use super::view::{Said, View};
use super::words::common;
use crate::session::own::{self, phrases};
use crate::session::{Role, answer};

/// A longer sentence is not one.
const MAX_SENTENCE: usize = 600;
/// In a longer message most is pasted: only its first and last lines count.
const LONG_MESSAGE: usize = 2_000;
/// How many of them.
const EDGE: usize = 3;
/// The most lines that a colon points at.
const MAX_LIST: usize = 8;

/// A sentence of the person.
pub(super) struct Sentence<'a> {
    /// Which message.
    pub at: usize,
    /// Word for word.
    pub text: &'a str,
    /// The sentence that follows in the same message.
    pub next: Option<&'a str>,
    /// The lines that follow, if it ends with a colon.
    pub list: Vec<&'a str>,
    /// Whether the agent had said or done something before.
    pub answers: bool,
    /// Whether the agent had ended with a question.
    pub asked: bool,
    /// Whether the message is long: then rules in it are mostly pasted.
    pub long: bool,
}

/// The sentences of a message that are the person's own.
pub(super) fn sentences<'a>(view: &View<'_>, said: &'a Said) -> Vec<Sentence<'a>> {
    // The host writes the agent's own plan in the person's name when it starts on it.
    if plans::carried_out(&said.text).is_some() {
        return Vec::new();
    }
    let lines = own_lines(&said.text);
    let long = said.text.chars().count() > LONG_MESSAGE || is_document(&said.text);
    let (answers, asked) = before(view, said.at);
    let mut found: Vec<Sentence<'a>> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let inside = number >= EDGE && number + EDGE < lines.len();
        if long && (inside || line.chars().count() > LONG_MESSAGE) {
            continue;
        }
        // The steps of a list are about this piece of work, and bold type is pasted.
        if is_step(line) || line.trim_start_matches(['-', ' ']).starts_with("**") {
            continue;
        }
        // An answer to a question belongs to its question, however many sentences it has.
        let sentences = if answer::parse(line).is_some() { vec![*line] } else { own::sentences(line) };
        for text in sentences {
            if text.chars().count() > MAX_SENTENCE {
                continue;
            }
            let list = if text.ends_with([':', '：']) {
                lines[number + 1..]
                    .iter()
                    .take_while(|line| !line.is_empty())
                    .take(MAX_LIST)
                    .copied()
                    .collect()
            } else {
                Vec::new()
            };
            if let Some(last) = found.last_mut().filter(|last| follows(&said.text, last.text, text)) {
                last.next = Some(text);
            }
            found.push(Sentence { at: said.at, text, next: None, list, answers, asked, long });
        }
    }
    found
}

/// Whether nothing stands between two parts of a message: words around a quotation or code are not said in one breath.
fn follows(message: &str, one: &str, two: &str) -> bool {
    let place = |part: &str| part.as_ptr().addr().checked_sub(message.as_ptr().addr());
    let between = place(one).zip(place(two)).and_then(|(one_at, two)| message.get(one_at + one.len()..two));
    between.is_some_and(|between| between.trim().is_empty())
}

/// `2. always exit with an error`
fn is_step(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')']) && rest[1..].starts_with(' ')
}

/// Whether a message is a document: it has headings.
fn is_document(text: &str) -> bool {
    let heading = |line: &&str| {
        let rest = line.trim_start_matches('#');
        rest.len() < line.len() && rest.starts_with(' ')
    };
    text.lines().filter(heading).count() >= 2
}

/// Whether the agent did anything before message `at`, and whether it ended with a question.
fn before(view: &View<'_>, at: usize) -> (bool, bool) {
    let earlier = view.messages[..at].iter().rev().take_while(|message| message.role != Role::User);
    let mut answers = false;
    for message in earlier.filter(|message| message.role == Role::Assistant) {
        answers = true;
        let text = message.text.trim_end();
        if !text.is_empty() {
            let last = text.lines().next_back().unwrap_or("");
            return (true, last.contains(['?', '？']));
        }
    }
    (answers, false)
}

/// The lines that the person typed, without logs, what others said and what an announcement brings.
pub(super) fn own_lines(text: &str) -> Vec<&str> {
    let mut announced = false;
    own::lines(text)
        .into_iter()
        .map(|line| {
            if line.is_empty() {
                announced = false;
            }
            if announced || is_pasted(line) {
                return "";
            }
            announced = announces(line);
            line
        })
        .collect()
}

/// `Here is the log:`
fn announces(line: &str) -> bool {
    if !line.ends_with([':', '：']) {
        return false;
    }
    let folded = own::folded(line);
    has(&folded, common::ANNOUNCES) || has_dense(&folded, common::DENSE_ANNOUNCES)
}

/// A line with a time, a level of a log or the name of a speaker in front, or a place in a file.
fn is_pasted(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '-', ' ', '\\']);
    let first = line.split_whitespace().next().unwrap_or("");
    let time = first.trim_matches(['[', ']', '(', ')']);
    let dated = time.len() >= 5
        && time.starts_with(|c: char| c.is_ascii_digit())
        && time.contains([':', '-'])
        && time
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '-' | '.' | 'T' | 'Z' | '/' | '+' | ','));
    let bare = line.trim_start_matches(['[', '(', '<', '*']);
    let name_end = bare.find([']', ':', ')', '>', '*']).filter(|end| *end < 24);
    let speaker = name_end.is_some_and(|end| {
        let name = bare[..end].to_lowercase();
        let marked = bare[end..].starts_with(':') || bare[end..].contains("]:") || line.starts_with('[');
        marked && phrases(common::SPEAKERS).any(|speaker| speaker == name.trim())
    });
    let place = first.contains('.')
        && first.split(':').nth(1).is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let code = line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("--")
        || line.starts_with("at ") && line.contains('(');
    dated || speaker || place || code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_around_a_quotation_are_not_one_statement() {
        let follow = |message: &str| {
            let lines = own_lines(message);
            let (Some(one), Some(two)) = (lines.first(), lines.last()) else { panic!("{message}") };
            follows(message, one, two)
        };
        assert!(follow("that's wrong\nuse pnpm instead of npm") && follow("that's wrong\n\nuse pnpm"));
        for between in ["> \n", "> npm i\n", "```\nnpm i\n```\n", "    npm i\n"] {
            assert!(!follow(&format!("that's wrong\n{between}use pnpm instead of npm")), "{between}");
        }
    }

    #[test]
    fn what_was_pasted_is_nobodys_word() {
        for line in [
            "[User]: always use tabs",
            "[12:05] [User]: always use tabs",
            "User: always use tabs",
            "ERROR: never do this",
            "2026-01-02 10:00:00 always use tabs",
            "[10:00:01] never do this",
            "src/a.rs:12: always use tabs",
            "// todo: always use tabs",
            "System: remember this",
        ] {
            assert!(is_pasted(line), "{line}");
        }
        for line in [
            "Always use tabs",
            "users: always check them",
            "rule: use tabs",
            "- never push",
            "todo: write docs",
        ] {
            assert!(!is_pasted(line), "{line}");
        }
        assert_eq!(
            own_lines("here is the log:\nalways retry\nnever stop\n\nfix it"),
            ["here is the log:", "", "", "", "fix it"]
        );
    }
}
