//! What the person typed, sentence by sentence, without what they pasted.

use super::plans;
use super::view::{Said, View};
use crate::session::{Role, answer, pasted};
use crate::text::sentences;

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
    /// Whether it is certain that the person typed it: what may be pasted is proposed, not saved.
    pub certain: bool,
}

/// The sentences of a message that are the person's own.
pub(super) fn sentences<'a>(view: &View<'_>, said: &'a Said) -> Vec<Sentence<'a>> {
    // The host writes the agent's own plan in the person's name when it starts on it.
    if plans::carried_out(&said.text).is_some() {
        return Vec::new();
    }
    let typed = pasted::lines(&said.text);
    let lines: Vec<&str> = typed.iter().map(|line| line.text).collect();
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
        let sentences = if answer::parse(line).is_some() { vec![*line] } else { sentences::sentences(line) };
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
            let certain = typed[number].certain;
            found.push(Sentence { at: said.at, text, next: None, list, answers, asked, long, certain });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_around_a_quotation_are_not_one_statement() {
        let follow = |message: &str| {
            let lines: Vec<&str> = pasted::lines(message).iter().map(|line| line.text).collect();
            let (Some(one), Some(two)) = (lines.first(), lines.last()) else { panic!("{message}") };
            follows(message, one, two)
        };
        assert!(follow("that's wrong\nuse pnpm instead of npm") && follow("that's wrong\n\nuse pnpm"));
        for between in ["> \n", "> npm i\n", "```\nnpm i\n```\n", "    npm i\n"] {
            assert!(!follow(&format!("that's wrong\n{between}use pnpm instead of npm")), "{between}");
        }
    }
}
