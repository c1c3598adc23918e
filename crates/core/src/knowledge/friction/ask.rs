//! Detection of friction by a language model, if the settings name one (FRI-03). It may add patterns, and
//! each is checked against the observations as a reflector's claims are (B-01).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::{Kind, Pattern};
use crate::base::provenance::Strength;
use crate::base::time::{Timestamp, day};
use crate::knowledge::reflect::{Draft, Period, check, parse, prompt};
use crate::llm::prompts::FRICTION;
use crate::llm::{Budget, Cost, Expects, Prompt, Request};
use crate::text::admit;
use crate::vault::memory::{FIXED_SECTIONS, user_section};

/// The maximum length of a document in the prompt; claims are checked against all of it.
const MOST_CHARS: usize = 20_000;
/// The length and cost limit of one answer.
const BUDGET: Budget = Budget { tokens: 2_000, cost: Cost { micro_dollars: 500_000 } };

/// The request for recurring problems.
pub fn ask(period: &Period<'_>, agents: Option<&str>, found: &[Pattern], deadline: Duration) -> Request {
    let shown = |text: &str| admit(text).text.chars().take(MOST_CHARS).collect::<String>();
    let user = user_section(period.user);
    let material = json!({
        "today": day(period.today),
        "user": &user,
        "sections": [&user, FIXED_SECTIONS[0], FIXED_SECTIONS[1], FIXED_SECTIONS[2]],
        "memory": shown(period.memory),
        "agents": shown(agents.unwrap_or_default()),
        "found": found.iter().map(|pattern| pattern.text.as_str()).collect::<Vec<_>>(),
        "days": prompt::material(period).days(),
    });
    let prompt = Prompt::new(FRICTION, &material.to_string());
    Request { prompt, expects: Expects::Tags(&["proposals"]), deadline, budget: BUDGET }
}

/// The patterns of an answer that the observations support; `None` if the answer is unreadable.
pub fn heard(answer: &str, whole: bool, period: &Period<'_>) -> Option<Vec<Pattern>> {
    let claims = parse::parse(answer, whole)?.claims;
    let drafts = check::check(&claims, period).drafts;
    Some(drafts.iter().map(|draft| pattern(draft, period)).collect())
}

fn pattern(draft: &Draft, period: &Period<'_>) -> Pattern {
    let mut times: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut evidence = draft.evidence.clone();
    let theirs = period.observations.iter().filter(|one| draft.evidence.sessions.contains(&one.session));
    for observation in theirs {
        let newest = times.entry(&observation.session).or_insert(observation.at);
        *newest = observation.at.max(*newest);
        evidence.observations.push(observation.key.clone());
    }
    Pattern {
        kind: Kind::Reported,
        text: draft.text.clone(),
        supersedes: None,
        section: Some(draft.section.title(period.user)),
        origin: draft.origin,
        strength: if draft.explicit { Strength::Explicit } else { Strength::Inferred },
        evidence,
        times: times.into_values().collect(),
        project: draft.project.clone(),
    }
}
