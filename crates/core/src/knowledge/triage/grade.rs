//! A grade for what was inferred (SID-09): a model that has seen nothing of the session looks at one proposal alone. The grade
//! is shown to the person and decides nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::knowledge::proposal::{Grade, Proposal};
use crate::llm::prompts;
use crate::llm::{Budget, Cost, Expects, Prompt, Request};
use crate::text::admit;
use crate::text::clean::one_line;

/// The most characters of a proposal that are shown.
const TEXT_CHARS: usize = 1_000;
/// The most characters of a quotation that are shown.
const QUOTE_CHARS: usize = 240;
/// The most quotations that are shown.
const QUOTES: usize = 3;
/// The most characters of a reason that are kept.
const REASON_CHARS: usize = 200;
/// What one answer may be and cost.
const BUDGET: Budget = Budget { tokens: 300, cost: Cost { micro_dollars: 20_000 } };

/// Whether a proposal is graded: only what nobody said in so many words.
pub fn is_graded(proposal: &Proposal) -> bool {
    !proposal.explicit && proposal.grade.is_none()
}

/// Asks about one proposal, with nothing else in the context.
pub fn ask_for_grade(proposal: &Proposal, deadline: Duration) -> Request {
    let quotes: Vec<String> =
        proposal.evidence.quotes.iter().take(QUOTES).map(|quote| one_line(quote, QUOTE_CHARS)).collect();
    let material = json!({
        "text": one_line(&proposal.text, TEXT_CHARS),
        "section": proposal.aim(),
        "origin": proposal.origin.word(),
        "sessions": proposal.evidence.sessions.len(),
        "quotes": quotes,
    });
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["score", "reason"],
        "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "reason": {"type": "string"},
        },
    });
    Request {
        // JSON, so that nothing in a proposal can look like the end of it.
        prompt: Prompt::new(prompts::GRADE, &material.to_string()),
        expects: Expects::Schema(schema),
        deadline,
        budget: BUDGET,
    }
}

/// The grade in an answer; a model may put words or a fence around it. `None` if there is no score from 0 to 1 with a reason.
pub fn read_grade(answer: &str) -> Option<Grade> {
    let inside = answer.find('{').zip(answer.rfind('}')).and_then(|(from, to)| answer.get(from..=to))?;
    let answer: Value = serde_json::from_str(inside).ok()?;
    let score = answer.get("score")?.as_f64().filter(|score| (0.0..=1.0).contains(score))?;
    let reason = one_line(&admit(answer.get("reason")?.as_str()?).text, REASON_CHARS);
    (!reason.is_empty()).then_some(Grade { score, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sid_09_only_a_score_from_0_to_1_with_a_reason_is_a_grade() {
        let graded = read_grade("Sure:\n```json\n{\"score\": 0.4, \"reason\": \"one\\nmoment\"}\n```");
        assert_eq!(graded, Some(Grade { score: 0.4, reason: "one moment".to_owned() }));
        for wrong in [
            "",
            "0.4",
            "{}",
            r#"{"score": 1.1, "reason": "x"}"#,
            r#"{"score": -0.1, "reason": "x"}"#,
            r#"{"score": "0.4", "reason": "x"}"#,
            r#"{"score": 0.4, "reason": ""}"#,
            r#"{"score": 0.4}"#,
            r#"{"score": 1e999, "reason": "x"}"#,
        ] {
            assert_eq!(read_grade(wrong), None, "{wrong}");
        }
        let long = json!({"score": 1, "reason": "word ".repeat(1_000)}).to_string();
        assert!(read_grade(&long).unwrap().reason.chars().count() <= REASON_CHARS);
    }
}
