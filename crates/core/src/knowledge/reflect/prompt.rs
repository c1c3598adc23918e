//! The prompt of a reflector: the observations of the period with their ages, `MEMORY.md`, and the observer's
//! instructions (REF-03, REF-04).

use serde_json::{Value, json};

use super::{Observation, ReflectionPeriod, is_forged};
use crate::base::time::day;
use crate::knowledge::observe::ObservedTopic;
use crate::llm::LlmPrompt;
use crate::llm::prompts::{PromptTemplate, REFLECT};
use crate::text::clean_and_redact;
use crate::text::tokens;
use crate::vault::memory::{FIXED_SECTIONS, user_section};

/// The maximum size of the material, in tokens; the oldest observations beyond it are left out and counted.
pub const MAX_MATERIAL_TOKENS: u64 = 60_000;
/// The length at which `MEMORY.md` is cut, in characters; checks use all of it.
const MAX_MEMORY_CHARS: usize = 40_000;

/// The material for a reflector.
#[derive(Clone, Debug)]
pub struct ReflectionMaterial {
    days: Value,
    /// The approximate tokens of the observations: the limit for the answer (REF-12).
    pub tokens: u64,
    /// The number of windows that did not fit.
    pub left_out: usize,
}

/// Collects the observations: the newest ones that fit, sorted oldest first.
pub fn build_material(period: &ReflectionPeriod<'_>) -> ReflectionMaterial {
    let (mut tokens, mut left_out) = (0, 0);
    let mut days: Vec<(String, i32, Vec<Value>)> = Vec::new();
    for observation in period.observations.iter().rev() {
        let cost = tokens_of(observation);
        if tokens + cost > MAX_MATERIAL_TOKENS {
            left_out += 1;
            continue;
        }
        tokens += cost;
        let window = window(observation);
        let date = day(observation.day);
        match days.iter_mut().find(|(other, ..)| *other == date) {
            Some((_, _, windows)) => windows.push(window),
            None => days.push((date, age_days(period, observation), vec![window])),
        }
    }
    days.sort_by(|one, other| one.0.cmp(&other.0));
    let days = days.into_iter().map(|(date, age, mut windows)| {
        windows.reverse();
        json!({"date": date, "age": age, "sessions": windows})
    });
    ReflectionMaterial { days: days.collect(), tokens, left_out }
}

impl ReflectionMaterial {
    /// The observations by day.
    pub fn days(&self) -> &Value {
        &self.days
    }

    /// The prompt at a level of [`retry_guidance`]. `observer` is the template that made the observations.
    pub fn prompt(
        &self,
        period: &ReflectionPeriod<'_>,
        observer: Option<PromptTemplate>,
        level: u8,
    ) -> LlmPrompt {
        // Use JSON, so that no observation can imitate the end of the material.
        let mut material = json!({
            "today": day(period.today),
            "user": user_section(period.user),
            "sections": [&user_section(period.user), FIXED_SECTIONS[0], FIXED_SECTIONS[1], FIXED_SECTIONS[2]],
            "memory": capped(period.memory),
            "days": self.days,
        });
        if let Some(observer) = observer {
            material["observer"] = json!(observer.instructions());
        }
        if let Some(guidance) = retry_guidance(level) {
            material["guidance"] = json!(guidance);
        }
        LlmPrompt::new(REFLECT, &material.to_string())
    }
}

/// The extra instruction at a compression level; `None` at first (REF-13).
pub fn retry_guidance(level: u8) -> Option<&'static str> {
    match level {
        0 => None,
        1 => Some(
            "Your last answer was longer than the observations themselves. Keep about 8/10 of its detail: merge what \
             belongs together more boldly, above all what is older than 48 hours.",
        ),
        _ => Some(
            "Your last answer was still longer than the observations themselves. Keep about 6/10 of its detail: only \
             what has high priority, and medium where it is critical. Nothing of low priority.",
        ),
    }
}

/// The age of an observation, in days.
pub(super) fn age_days(period: &ReflectionPeriod<'_>, observation: &Observation) -> i32 {
    period.today.since(observation.day).map_or(0, |span| span.get_days()).max(0)
}

/// The approximate tokens of an observation as text.
pub fn tokens_of(observation: &Observation) -> u64 {
    tokens::estimate_tokens(&text_of(&observation.observed.parts))
}

/// The narratives and facts of a window, as text.
pub fn text_of(parts: &[ObservedTopic]) -> String {
    let mut text = String::new();
    for part in parts {
        if !part.narrative.is_empty() {
            text.push_str(&format!("{}\n", part.narrative));
        }
        for finding in part.findings.iter().filter(|finding| !is_forged(&finding.text)) {
            let when = finding.when.map(|when| format!("{when} ")).unwrap_or_default();
            text.push_str(&format!("* {} {when}{}\n", finding.priority.emoji(), finding.text));
        }
    }
    text
}

fn window(observation: &Observation) -> Value {
    let part = |part: &ObservedTopic| {
        let facts: Vec<Value> = part
            .findings
            .iter()
            .filter(|finding| !is_forged(&finding.text))
            .map(|finding| {
                let mut fact = json!({
                    "priority": finding.priority.as_str(),
                    "kind": finding.kind,
                    "origin": finding.origin.as_str(),
                    "text": clean_and_redact(&finding.text).text,
                });
                if let Some(when) = finding.when {
                    fact["time"] = json!(when.to_string());
                }
                fact
            })
            .collect();
        let narrative = if is_forged(&part.narrative) { "" } else { &part.narrative };
        json!({"narrative": clean_and_redact(narrative).text, "facts": facts})
    };
    let topics: Vec<Value> = observation.observed.parts.iter().map(part).collect();
    json!({"project": observation.project.as_ref().map(ToString::to_string), "topics": topics})
}

fn capped(memory: &str) -> String {
    let memory = clean_and_redact(memory).text;
    match memory.char_indices().nth(MAX_MEMORY_CHARS) {
        Some((end, _)) => memory[..end].to_owned(),
        None => memory,
    }
}
