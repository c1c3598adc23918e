//! The model's part of triage: its prompt, and the use of its answer. The answer may only lower the outcome
//! of the rules.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Judgement, Outcome, Why, is_outright};
use crate::knowledge::proposal::Proposal;
use crate::llm::prompts;
use crate::llm::{Budget, Cost, Expects, Prompt, Request};
use crate::text::clean::one_line;
use crate::vault::review::Id;

/// The number of proposals per request.
pub const BATCH: usize = 20;
/// The length at which `MEMORY.md` is cut, in characters; the rules use all of it.
const MEMORY_CHARS: usize = 20_000;
/// The maximum length of a proposal in the prompt, in characters.
const TEXT_CHARS: usize = 1_000;
/// The maximum length of a quotation in the prompt, in characters.
const QUOTE_CHARS: usize = 240;
/// The maximum number of quotations per proposal.
const QUOTES: usize = 3;
/// The length and cost limit of one answer.
const BUDGET: Budget = Budget { tokens: 2_000, cost: Cost { micro_dollars: 100_000 } };

/// The request about a batch.
pub fn ask(proposals: &[&Proposal], memory: &str, deadline: Duration) -> Request {
    let shown = proposals.iter().map(|proposal| {
        let quotes: Vec<String> =
            proposal.evidence.quotes.iter().take(QUOTES).map(|quote| one_line(quote, QUOTE_CHARS)).collect();
        json!({
            "id": proposal.id,
            "section": proposal.aim(),
            "text": one_line(&proposal.text, TEXT_CHARS),
            "origin": proposal.origin.word(),
            "sessions": proposal.evidence.sessions.len(),
            "quotes": quotes,
        })
    });
    let end = memory.char_indices().nth(MEMORY_CHARS).map_or(memory.len(), |(at, _)| at);
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
    Request {
        // Use JSON, so that no proposal can imitate the end of the material.
        prompt: Prompt::new(prompts::TRIAGE, &material.to_string()),
        expects: Expects::Schema(schema),
        deadline,
        budget: BUDGET,
    }
}

#[derive(Deserialize)]
struct Said {
    id: Id,
    outcome: Outcome,
    #[serde(default)]
    reason: String,
}

/// Combines the rules' judgements of a batch with a model's answer. Missing, duplicate or invalid verdicts
/// leave the proposal to the user.
pub fn weigh(asked: &[(&Proposal, Judgement)], answer: &str) -> Vec<Judgement> {
    let said = read(answer);
    let judgements = asked.iter().map(|(proposal, ruled)| {
        let mut own = said.iter().filter(|said| said.id == proposal.id);
        let (outcome, why) = match (own.next(), own.next()) {
            (Some(said), None) => lower(proposal, *ruled, said),
            _ => (Outcome::NeedsReview, Why::Doubted),
        };
        Judgement { id: proposal.id, outcome, why }
    });
    judgements.collect()
}

fn lower(proposal: &Proposal, ruled: Judgement, said: &Said) -> (Outcome, Why) {
    let reason = match said.reason.as_str() {
        "known" => Some(Why::Said),
        "passing" => Some(Why::Passing),
        "trivial" => Some(Why::Trivial),
        "unclear" => Some(Why::Unclear),
        _ => None,
    };
    match (said.outcome, reason) {
        // No model rejects the user's explicit words, or a change to an existing line.
        (Outcome::Reject, Some(why)) if !is_outright(proposal) && ruled.why != Why::Changes => {
            (Outcome::Reject, why)
        }
        (Outcome::Promote, _) => (ruled.outcome, ruled.why),
        (Outcome::NeedsReview, _) if ruled.outcome == Outcome::NeedsReview => (ruled.outcome, ruled.why),
        _ => (Outcome::NeedsReview, Why::Doubted),
    }
}

/// The verdicts in an answer, with or without text or a fence around them; unreadable ones are dropped.
fn read(answer: &str) -> Vec<Said> {
    let inside = answer.find('{').zip(answer.rfind('}')).and_then(|(from, to)| answer.get(from..=to));
    let whole: Option<Value> = inside.and_then(|json| serde_json::from_str(json).ok());
    let verdicts = whole.as_ref().and_then(|whole| whole.get("verdicts")).and_then(Value::as_array);
    verdicts.into_iter().flatten().filter_map(|one| Said::deserialize(one).ok()).collect()
}
