//! The sentences that the user typed, without pasted text.

use super::session_view::{PersonMessage, SessionView};
use crate::session::{MessageRole, answer, handed_back_plan, pasted};
use crate::text::sentences;

/// The maximum length of a sentence.
const MAX_SENTENCE_CHARS: usize = 600;
/// The length from which a message is mostly pasted: only its first and last lines count.
const LONG_MESSAGE_CHARS: usize = 2_000;
/// The number of those lines at each end.
const MAX_EDGE_LINES: usize = 3;
/// The maximum number of list items after a colon.
const MAX_LIST_ITEMS: usize = 8;

/// A sentence of the user.
pub(super) struct PersonSentence<'a> {
    /// The index of the message.
    pub at: usize,
    /// The sentence word for word.
    pub text: &'a str,
    /// The next sentence in the same message.
    pub next: Option<&'a str>,
    /// The next lines, if it ends with a colon.
    pub list: Vec<&'a str>,
    /// True if the agent had said or done something before.
    pub answers: bool,
    /// True if the agent had ended with a question.
    pub follows_question: bool,
    /// True if the message is long: rules in it are mostly pasted.
    pub long: bool,
    /// True if the user certainly typed it: possibly pasted text is proposed, not saved.
    pub certain: bool,
}

/// The user's own sentences in a message.
pub(super) fn person_sentences<'a>(
    view: &SessionView<'_>,
    message: &'a PersonMessage,
) -> Vec<PersonSentence<'a>> {
    // The host sends the agent's own plan as a user message when work on it starts.
    if handed_back_plan(&message.text).is_some() {
        return Vec::new();
    }
    let typed = pasted::lines(&message.text);
    let lines: Vec<&str> = typed.iter().map(|line| line.text).collect();
    let long = message.text.chars().count() > LONG_MESSAGE_CHARS || is_document(&message.text);
    let (answers, asked) = agent_before_message(view, message.at);
    let mut found: Vec<PersonSentence<'a>> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let inside = number >= MAX_EDGE_LINES && number + MAX_EDGE_LINES < lines.len();
        if long && (inside || line.chars().count() > LONG_MESSAGE_CHARS) {
            continue;
        }
        // List steps belong to this piece of work, and bold type is pasted.
        if is_step(line) || line.trim_start_matches(['-', ' ']).starts_with("**") {
            continue;
        }
        // An answer to a question stays with its question, even with several sentences.
        let sentences =
            if answer::parse(line).is_some() { vec![*line] } else { sentences::split_sentences(line) };
        for text in sentences {
            if text.chars().count() > MAX_SENTENCE_CHARS {
                continue;
            }
            let list = if text.ends_with([':', '：']) {
                lines[number + 1..]
                    .iter()
                    .take_while(|line| !line.is_empty())
                    .take(MAX_LIST_ITEMS)
                    .copied()
                    .collect()
            } else {
                Vec::new()
            };
            if let Some(last) = found.last_mut().filter(|last| follows(&message.text, last.text, text)) {
                last.next = Some(text);
            }
            let certain = typed[number].certain;
            found.push(PersonSentence {
                at: message.at,
                text,
                next: None,
                list,
                answers,
                follows_question: asked,
                long,
                certain,
            });
        }
    }
    found
}

/// True if two parts of a message are adjacent: words around a quotation or code do not belong together.
fn follows(message: &str, one: &str, two: &str) -> bool {
    let place = |part: &str| part.as_ptr().addr().checked_sub(message.as_ptr().addr());
    let between = place(one).zip(place(two)).and_then(|(one_at, two)| message.get(one_at + one.len()..two));
    between.is_some_and(|between| between.trim().is_empty())
}

/// True for a numbered step: `2. always exit with an error`.
fn is_step(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')']) && rest[1..].starts_with(' ')
}

/// True if a message is a document: it has headings.
fn is_document(text: &str) -> bool {
    let heading = |line: &&str| {
        let rest = line.trim_start_matches('#');
        rest.len() < line.len() && rest.starts_with(' ')
    };
    text.lines().filter(heading).count() >= 2
}

/// Two flags about the agent before message `at`: it did anything, and it ended with a question.
fn agent_before_message(view: &SessionView<'_>, at: usize) -> (bool, bool) {
    let earlier = view.messages[..at].iter().rev().take_while(|message| message.role != MessageRole::User);
    let mut answers = false;
    for message in earlier.filter(|message| message.role == MessageRole::Assistant) {
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
