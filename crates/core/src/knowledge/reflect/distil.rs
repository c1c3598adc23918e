//! Compacts observations with age (REF-15): hours in full, days as narratives with important findings, weeks
//! as a few sentences. The log of each day keeps everything.
//!
//! The result is deterministic and independent of the intermediate levels.

use crate::knowledge::observe::{Finding, FindingKind, ObservedSession, ObservedTopic};
use crate::text::normalise::normalise;
use crate::vault::priority::Priority;

/// The age in days from which only narratives and 🔴 findings remain.
const DROP_NARRATIVE_DAYS: i32 = 3;
/// The age from which each narrative is its first sentence.
const FIRST_SENTENCE_DAYS: i32 = 8;
/// The age from which one sentence and the findings of lasting use remain.
const ABSTRACT_DAYS: i32 = 15;

/// The level for an age in days.
pub fn level(age: i32) -> u32 {
    match age {
        ..DROP_NARRATIVE_DAYS => 0,
        DROP_NARRATIVE_DAYS..FIRST_SENTENCE_DAYS => 1,
        FIRST_SENTENCE_DAYS..ABSTRACT_DAYS => 2,
        _ => 3,
    }
}

/// Compacts an observation to a level. Repeating it changes nothing.
pub fn distil_to_level(observed: &ObservedSession, level: u32) -> ObservedSession {
    if level == 0 {
        return observed.clone();
    }
    let mut seen = Vec::new();
    let mut parts: Vec<ObservedTopic> = observed
        .parts
        .iter()
        .map(|part| ObservedTopic {
            day: part.day,
            narrative: part.narrative.clone(),
            findings: kept_findings(part, level, &mut seen),
        })
        .collect();
    if level >= 2 {
        for part in &mut parts {
            part.narrative = first_sentence(&part.narrative).to_owned();
        }
    }
    if level >= 3 {
        let findings = parts.iter().flat_map(|part| part.findings.clone()).collect();
        let narrative = parts.into_iter().map(|part| part.narrative).find(|text| !text.is_empty());
        parts = vec![ObservedTopic { day: None, narrative: narrative.unwrap_or_default(), findings }];
    }
    parts.retain(|part| !part.narrative.is_empty() || !part.findings.is_empty());
    // The next step of an old session is of no use.
    ObservedSession { parts, current_task: None, suggested_response: None }
}

/// The findings worth keeping for weeks, without duplicates; of the oldest parts only those of lasting use.
fn kept_findings(part: &ObservedTopic, level: u32, seen: &mut Vec<(FindingKind, String)>) -> Vec<Finding> {
    let lasting = |kind: FindingKind| !matches!(kind, FindingKind::Files | FindingKind::Question);
    let mut findings: Vec<Finding> = Vec::new();
    for finding in part.findings.iter().filter(|finding| finding.priority == Priority::High) {
        let statement = (finding.kind, normalise(&finding.text));
        if (level < 3 || lasting(finding.kind)) && !seen.contains(&statement) {
            seen.push(statement);
            findings.push(finding.clone());
        }
    }
    findings
}

/// The first sentence. `v1.2` ends none; a stop followed by a space does.
fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(['.', '!', '?']).map(|(at, stop)| at + stop.len());
    let end = ends.into_iter().find(|end| text[*end..].starts_with(char::is_whitespace));
    let wide = text.match_indices(['。', '！', '？']).map(|(at, stop)| at + stop.len()).next();
    let end = [end, wide].into_iter().flatten().min();
    end.map_or(text, |end| &text[..end]).trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::provenance::Origin;
    use crate::fixtures;

    fn finding() -> impl Strategy<Value = Finding> {
        let kind = prop_oneof![
            Just(FindingKind::Rule),
            Just(FindingKind::Files),
            Just(FindingKind::Question),
            Just(FindingKind::Fix)
        ];
        let priority = prop::sample::select(Priority::ALL.to_vec());
        (kind, priority, "[ab] [cd]\\.?").prop_map(|(kind, priority, text)| Finding {
            priority,
            ..fixtures::finding(kind, Origin::User, &text)
        })
    }

    fn observed() -> impl Strategy<Value = ObservedSession> {
        let part = ("([A-Z]v1.2[.!?。] ?){0,3}", prop::collection::vec(finding(), 0..5)).prop_map(
            |(narrative, findings)| ObservedTopic {
                day: None,
                narrative: narrative.trim().to_owned(),
                findings,
            },
        );
        (prop::collection::vec(part, 0..4), prop::option::of("[a-z]{3}")).prop_map(|(parts, current_task)| {
            ObservedSession { parts, current_task, suggested_response: None }
        })
    }

    #[test]
    fn ref_15_hours_in_full_days_as_stories_weeks_as_sentences() {
        assert_eq!([0, 2, 3, 7, 8, 14, 15, 40].map(level), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(first_sentence("Moved to v1.2 of it. Then rested."), "Moved to v1.2 of it.");
        assert_eq!(first_sentence("動いた。次。"), "動いた。");
        assert_eq!(first_sentence("No end"), "No end");
    }

    proptest! {
        #[test]
        fn ref_15_every_way_to_a_level_ends_at_the_same(observed in observed(), one in 0u32..4, two in 0u32..4) {
            let (low, high) = (one.min(two), one.max(two));
            let there = distil_to_level(&observed, high);
            prop_assert_eq!(&distil_to_level(&distil_to_level(&observed, low), high), &there);
            prop_assert_eq!(&distil_to_level(&there, high), &there);
        }

        #[test]
        fn ref_15_distilling_keeps_the_essentials_and_adds_nothing(observed in observed(), level in 1u32..4) {
            let distilled = distil_to_level(&observed, level);
            prop_assert!(distilled.findings().all(|finding| finding.priority == Priority::High));
            for finding in observed.findings() {
                let lasts = finding.priority == Priority::High && matches!(finding.kind, FindingKind::Rule | FindingKind::Fix);
                let said = |other: &Finding| normalise(&other.text) == normalise(&finding.text);
                prop_assert!(!lasts || distilled.findings().any(said));
            }
            let size = |observed: &ObservedSession| super::super::prompt::text_of(&observed.parts).len();
            prop_assert!(size(&distilled) <= size(&observed));
        }
    }
}
