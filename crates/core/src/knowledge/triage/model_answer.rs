//! The model's part of triage: its prompt, and the use of its answer. The answer may only lower the outcome
//! of the rules.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{TriageJudgement, TriageOutcome, TriageReason, is_outright};
use crate::knowledge::proposal::Proposal;
use crate::llm::prompts;
use crate::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt, LlmRequest};
use crate::text::clean::one_line;
use crate::vault::review::ProposalId;

/// The number of proposals per request.
pub const BATCH_PROPOSALS: usize = 20;
/// The length at which `MEMORY.md` is cut, in characters; the rules use all of it.
const MAX_MEMORY_CHARS: usize = 20_000;
/// The maximum length of a proposal in the prompt, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// The maximum length of a quotation in the prompt, in characters.
const MAX_QUOTE_CHARS: usize = 240;
/// The maximum number of quotations per proposal.
const MAX_QUOTES: usize = 3;
/// The length and cost limit of one answer.
const BUDGET: LlmBudget = LlmBudget { tokens: 2_000, cost: Cost { micro_dollars: 100_000 } };

/// The request about a batch.
pub fn ask(proposals: &[&Proposal], memory: &str, deadline: Duration) -> LlmRequest {
    let shown = proposals.iter().map(|proposal| {
        let quotes: Vec<String> = proposal
            .evidence
            .quotes
            .iter()
            .take(MAX_QUOTES)
            .map(|quote| one_line(quote, MAX_QUOTE_CHARS))
            .collect();
        json!({
            "id": proposal.id,
            "section": proposal.describe_target(),
            "text": one_line(&proposal.text, MAX_TEXT_CHARS),
            "origin": proposal.origin.as_str(),
            "sessions": proposal.evidence.sessions.len(),
            "quotes": quotes,
        })
    });
    let end = memory.char_indices().nth(MAX_MEMORY_CHARS).map_or(memory.len(), |(at, _)| at);
    let material = json!({
        "memory": memory.get(..end).unwrap_or_default(), "proposals": shown.collect::<Vec<Value>>(),
    });
    let verdict = json!({
        "type": "object", "additionalProperties": false, "required": ["id", "outcome", "reason"],
        "properties": {
            "id": {"type": "string"},
            "outcome": {"type": "string", "enum": ["promote", "reject", "needs-review"]},
            "reason": {"type": "string", "enum": [
                "lasting", "known", "passing", "trivial", "unclear", "unsupported", "disputed",
            ]},
        },
    });
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["verdicts"],
        "properties": {"verdicts": {"type": "array", "items": verdict}},
    });
    LlmRequest {
        // Use JSON, so that no proposal can imitate the end of the material.
        prompt: LlmPrompt::new(prompts::TRIAGE, &material.to_string()),
        expects: AnswerFormat::Schema(schema),
        deadline,
        budget: BUDGET,
    }
}

#[derive(Deserialize)]
struct TriageAnswer {
    id: ProposalId,
    outcome: TriageOutcome,
    #[serde(default)]
    reason: String,
}

/// Combines the rules' judgements of a batch with a model's answer. Missing, duplicate or invalid verdicts
/// leave the proposal to the user.
pub fn merge_judgements(asked: &[(&Proposal, TriageJudgement)], answer: &str) -> Vec<TriageJudgement> {
    let answers = read(answer);
    let judgements = asked.iter().map(|(proposal, ruled)| {
        let mut own = answers.iter().filter(|answer| answer.id == proposal.id);
        let (outcome, why) = match (own.next(), own.next()) {
            (Some(answer), None) => lower(proposal, *ruled, answer),
            _ => (TriageOutcome::NeedsReview, TriageReason::Doubted),
        };
        TriageJudgement { id: proposal.id, outcome, why }
    });
    judgements.collect()
}

fn lower(
    proposal: &Proposal,
    ruled: TriageJudgement,
    answer: &TriageAnswer,
) -> (TriageOutcome, TriageReason) {
    let reason = match answer.reason.as_str() {
        "known" => Some(TriageReason::Said),
        "passing" => Some(TriageReason::Passing),
        "trivial" => Some(TriageReason::Trivial),
        "unclear" => Some(TriageReason::Unclear),
        _ => None,
    };
    match (answer.outcome, reason) {
        // No model rejects the user's explicit words, or a change to an existing line.
        (TriageOutcome::Reject, Some(why))
            if !is_outright(proposal) && ruled.why != TriageReason::Changes =>
        {
            (TriageOutcome::Reject, why)
        }
        (TriageOutcome::Promote, _) => (ruled.outcome, ruled.why),
        (TriageOutcome::NeedsReview, _) if ruled.outcome == TriageOutcome::NeedsReview => {
            (ruled.outcome, ruled.why)
        }
        _ => (TriageOutcome::NeedsReview, TriageReason::Doubted),
    }
}

/// The verdicts in an answer, with or without text or a fence around them; unreadable ones are dropped.
fn read(answer: &str) -> Vec<TriageAnswer> {
    let inside = answer.find('{').zip(answer.rfind('}')).and_then(|(from, to)| answer.get(from..=to));
    let whole: Option<Value> = inside.and_then(|json| serde_json::from_str(json).ok());
    let verdicts = whole.as_ref().and_then(|whole| whole.get("verdicts")).and_then(Value::as_array);
    verdicts.into_iter().flatten().filter_map(|one| TriageAnswer::deserialize(one).ok()).collect()
}
