//! The user's answers to questions that an agent asks with a tool. Question and answer are stored on one
//! line, because the answer alone ("the second") means nothing a week later.

/// The separator between question and answer.
const ANSWER_SEPARATOR: &str = " → ";
/// The maximum length of a question. Longer ones are cut at the front, because the question mark is at the
/// end.
const MAX_QUESTION_CHARS: usize = 240;
/// The maximum length of a question when parsing. A longer text is ordinary text with an arrow in it.
const MAX_QUESTION_LINE_CHARS: usize = MAX_QUESTION_CHARS + 8;

/// Formats an answer with its question: `Which port? → 7012`.
pub fn render_answer(question: &str, answer: &str) -> String {
    let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = question.chars().count();
    let skipped = count.saturating_sub(MAX_QUESTION_CHARS);
    let question: String = question.chars().skip(skipped).collect();
    let cut = if skipped > 0 { "…" } else { "" };
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{cut}{question}{ANSWER_SEPARATOR}{}", answer.trim_end_matches(" (Recommended)"))
}

/// Parses a line made by [`render_answer`] into question and answer.
pub fn parse(line: &str) -> Option<(&str, &str)> {
    let (question, answer) = line.split_once(ANSWER_SEPARATOR)?;
    let is_question = question.trim_end().ends_with(['?', '？', ':', '.']);
    (is_question && question.chars().count() <= MAX_QUESTION_LINE_CHARS && !answer.trim().is_empty())
        .then_some((question, answer.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_question() {
        let line = render_answer("Which database\nshould we use?", "Postgres (Recommended)");
        assert_eq!(line, "Which database should we use? → Postgres");
        assert_eq!(parse(&line), Some(("Which database should we use?", "Postgres")));
        assert_eq!(parse("a → b"), None);
        let long = render_answer(&format!("{} which one?", "word ".repeat(100)), "the second");
        assert!(long.starts_with('…') && parse(&long).is_some(), "{long}");
    }
}
