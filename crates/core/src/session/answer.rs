//! What a person answered to a question that an agent asked with a tool: the question and the answer in one line, because the
//! answer alone ("the second") says nothing a week later.

/// Between the question and the answer.
const ARROW: &str = " → ";
/// Longer questions are cut, from the front: the question mark stands at the end.
const MAX_QUESTION_CHARS: usize = 240;
/// Longer questions are not told apart from ordinary text that has an arrow in it.
const MAX_ASKED_CHARS: usize = MAX_QUESTION_CHARS + 8;

/// The line for an answer: `Which port? → 7012`.
pub fn to_question(question: &str, answer: &str) -> String {
    let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = question.chars().count();
    let skipped = count.saturating_sub(MAX_QUESTION_CHARS);
    let question: String = question.chars().skip(skipped).collect();
    let cut = if skipped > 0 { "…" } else { "" };
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{cut}{question}{ARROW}{}", answer.trim_end_matches(" (Recommended)"))
}

/// The question and the answer of such a line.
pub fn parse(line: &str) -> Option<(&str, &str)> {
    let (question, answer) = line.split_once(ARROW)?;
    let is_question = question.trim_end().ends_with(['?', '？', ':', '.']);
    (is_question && question.chars().count() <= MAX_ASKED_CHARS && !answer.trim().is_empty())
        .then_some((question, answer.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_question() {
        let line = to_question("Which database\nshould we use?", "Postgres (Recommended)");
        assert_eq!(line, "Which database should we use? → Postgres");
        assert_eq!(parse(&line), Some(("Which database should we use?", "Postgres")));
        assert_eq!(parse("a → b"), None);
        let long = to_question(&format!("{} which one?", "word ".repeat(100)), "the second");
        assert!(long.starts_with('…') && parse(&long).is_some(), "{long}");
    }
}
