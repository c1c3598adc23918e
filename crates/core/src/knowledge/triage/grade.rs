//! Grades inferred proposals (SID-09): a model that saw nothing of the session judges one proposal alone. The
//! user sees the grade, and it decides nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::knowledge::proposal::{Proposal, ProposalGrade};
use crate::llm::prompts;
use crate::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt, LlmRequest};
use crate::text::clean::one_line;
use crate::text::clean_and_redact;

/// The maximum length of a proposal in the prompt, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// The maximum length of a quotation in the prompt, in characters.
const MAX_QUOTE_CHARS: usize = 240;
/// The maximum number of quotations in the prompt.
const MAX_QUOTES: usize = 3;
/// The maximum length of a stored reason, in characters.
const MAX_REASON_CHARS: usize = 200;
/// The length and cost limit of one answer.
const BUDGET: LlmBudget = LlmBudget { tokens: 300, cost: Cost { micro_dollars: 20_000 } };

/// True if a proposal needs a grade: only those without explicit words.
pub fn is_graded(proposal: &Proposal) -> bool {
    !proposal.explicit && proposal.grade.is_none()
}

/// The request about one proposal, without any other context.
pub fn grade_request(proposal: &Proposal, deadline: Duration) -> LlmRequest {
    let quotes: Vec<String> = proposal
        .evidence
        .quotes
        .iter()
        .take(MAX_QUOTES)
        .map(|quote| one_line(quote, MAX_QUOTE_CHARS))
        .collect();
    let material = json!({
        "text": one_line(&proposal.text, MAX_TEXT_CHARS),
        "section": proposal.describe_target(),
        "origin": proposal.origin.as_str(),
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
    LlmRequest {
        // Use JSON, so that no proposal can imitate the end of the material.
        prompt: LlmPrompt::new(prompts::GRADE, &material.to_string()),
        expects: AnswerFormat::Schema(schema),
        deadline,
        budget: BUDGET,
    }
}

/// The grade in an answer, with or without text or a fence around it. `None` without a score from 0 to 1 and
/// a reason.
pub fn parse_grade(answer: &str) -> Option<ProposalGrade> {
    let inside = answer.find('{').zip(answer.rfind('}')).and_then(|(from, to)| answer.get(from..=to))?;
    let answer: Value = serde_json::from_str(inside).ok()?;
    let score = answer.get("score")?.as_f64().filter(|score| (0.0..=1.0).contains(score))?;
    let reason = one_line(&clean_and_redact(answer.get("reason")?.as_str()?).text, MAX_REASON_CHARS);
    (!reason.is_empty()).then_some(ProposalGrade { score, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sid_09_only_a_score_from_0_to_1_with_a_reason_is_a_grade() {
        let graded = parse_grade("Sure:\n```json\n{\"score\": 0.4, \"reason\": \"one\\nmoment\"}\n```");
        assert_eq!(graded, Some(ProposalGrade { score: 0.4, reason: "one moment".to_owned() }));
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
            assert_eq!(parse_grade(wrong), None, "{wrong}");
        }
        let long = json!({"score": 1, "reason": "word ".repeat(1_000)}).to_string();
        assert!(parse_grade(&long).unwrap().reason.chars().count() <= MAX_REASON_CHARS);
    }
}
