//! Detection of friction by a language model, if the settings name one (FRI-03). It may add patterns, and
//! each is checked against the observations as a reflector's claims are (B-01).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::{FrictionKind, FrictionPattern};
use crate::base::provenance::StatementStrength;
use crate::base::time::{Timestamp, day};
use crate::knowledge::reflect::{ProposalDraft, ReflectionPeriod, check, parse, prompt};
use crate::llm::prompts::FRICTION;
use crate::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt, LlmRequest};
use crate::text::clean_and_redact;
use crate::vault::memory::{FIXED_SECTIONS, user_section};

/// The maximum length of a document in the prompt; claims are checked against all of it.
const MAX_DOCUMENT_CHARS: usize = 20_000;
/// The length and cost limit of one answer.
const BUDGET: LlmBudget = LlmBudget { tokens: 2_000, cost: Cost { micro_dollars: 500_000 } };

/// The request for recurring problems.
pub fn ask(
    period: &ReflectionPeriod<'_>,
    agents: Option<&str>,
    found: &[FrictionPattern],
    deadline: Duration,
) -> LlmRequest {
    let shown = |text: &str| clean_and_redact(text).text.chars().take(MAX_DOCUMENT_CHARS).collect::<String>();
    let user = user_section(period.user);
    let material = json!({
        "today": day(period.today),
        "user": &user,
        "sections": [&user, FIXED_SECTIONS[0], FIXED_SECTIONS[1], FIXED_SECTIONS[2]],
        "memory": shown(period.memory),
        "agents": shown(agents.unwrap_or_default()),
        "found": found.iter().map(|pattern| pattern.text.as_str()).collect::<Vec<_>>(),
        "days": prompt::build_material(period).days(),
    });
    let prompt = LlmPrompt::new(FRICTION, &material.to_string());
    LlmRequest { prompt, expects: AnswerFormat::Tags(&["proposals"]), deadline, budget: BUDGET }
}

/// The patterns of an answer that the observations support; `None` if the answer is unreadable.
pub fn parse_patterns(
    answer: &str,
    whole: bool,
    period: &ReflectionPeriod<'_>,
) -> Option<Vec<FrictionPattern>> {
    let claims = parse::parse(answer, whole)?.claims;
    let drafts = check::check(&claims, period).drafts;
    Some(drafts.iter().map(|draft| pattern(draft, period)).collect())
}

fn pattern(draft: &ProposalDraft, period: &ReflectionPeriod<'_>) -> FrictionPattern {
    let mut times: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut evidence = draft.evidence.clone();
    let theirs = period.observations.iter().filter(|one| draft.evidence.sessions.contains(&one.session));
    for observation in theirs {
        let newest = times.entry(&observation.session).or_insert(observation.at);
        *newest = observation.at.max(*newest);
        evidence.observations.push(observation.key.clone());
    }
    FrictionPattern {
        kind: FrictionKind::Reported,
        text: draft.text.clone(),
        supersedes: None,
        section: Some(draft.section.title(period.user)),
        origin: draft.origin,
        strength: if draft.explicit { StatementStrength::Explicit } else { StatementStrength::Inferred },
        evidence,
        times: times.into_values().collect(),
        project: draft.project.clone(),
    }
}
