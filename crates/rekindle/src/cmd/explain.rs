//! Explanations of a ranking for people: the meaning of every number of a score, and the reason why a memory
//! was left out.

use rekindle_core::recall::relevance_gate::{DecisionBasis, RelevanceDecision, RelevanceReason};
use serde_json::{Value, json};

use crate::output::pad_column;

/// The parts whose sum is the relevance (`parts`).
const PART_LABELS: [(&str, &str); 7] = [
    ("meaning", "how close its embedding is to the question's"),
    ("words", "keywords it shares with the question"),
    ("thread", "keywords in the rest of its note or session"),
    ("identifiers", "names, paths and numbers it shares with the question"),
    ("time", "written at the time the question names"),
    ("length", "deducted from long texts"),
    ("relevance", "the sum of the above"),
];

/// The factors that multiply the relevance (`factors`).
const FACTOR_LABELS: [(&str, &str); 5] = [
    ("decay", "× age: older counts a little less"),
    ("usage", "× feedback: helped before, or misled"),
    ("stale", "× whether it is marked as outdated"),
    ("trust", "× who said it and whether you reviewed it"),
    ("project", "× whether it belongs to this project or applies everywhere"),
];

/// The rules that keep a memory from being shown.
const RULE_LABELS: [(&str, &str); 6] = [
    ("duplicate", "a better match says the same"),
    ("trust", "something more trustworthy contradicts it"),
    ("cap", "enough better matches"),
    ("held", "the session already has it"),
    ("silence", "touches the topic, but does not answer the question"),
    ("faint", "far less relevant than the best match"),
];

/// The outcomes of an injected memory (FBK-03).
const OUTCOME_LABELS: [(&str, &str); 6] = [
    ("used", "the agent's answer or a tool call relies on it"),
    ("ignored", "the agent did not use it"),
    ("unclear", "the answer does not show whether it was used"),
    ("corrected", "you corrected the answer that relied on it"),
    ("not judged", "the turn ended, but this memory was not assessed"),
    ("waiting", "the turn has not ended yet"),
];

fn meaning_of(words: &[(&'static str, &'static str)], name: &str) -> &'static str {
    words.iter().find(|(word, _)| *word == name).map_or("", |(_, meaning)| meaning)
}

/// Renders a score as a table: every part and factor with its value and its meaning, one a line.
pub(super) fn score_table(ranked: &Value) -> Vec<String> {
    let rows = |list: &str, words: &'static [(&'static str, &'static str)]| {
        let values = ranked[list].as_object().cloned().unwrap_or_default();
        let row = |(name, meaning): &(&str, &str)| {
            let value = values.get(*name)?.as_f64()?;
            Some(format!("{}  {value:>7.3}  {meaning}", pad_column(name, 11)))
        };
        words.iter().filter_map(row).collect::<Vec<_>>()
    };
    let mut table = rows("parts", &PART_LABELS);
    table.extend(rows("factors", &FACTOR_LABELS));
    table.extend(confidence(ranked));
    table
}

/// The confidence of an observation (STO-16). It does not change the score.
fn confidence(ranked: &Value) -> Option<String> {
    let value = ranked["confidence"].as_f64()?;
    let sessions = ranked["observed"]["sessions"].as_u64().unwrap_or(1);
    let plural = if sessions == 1 { "" } else { "s" };
    Some(format!("{}  {value:>7.3}  observed in {sessions} session{plural}", pad_column("confidence", 11)))
}

/// Explains the rule that dropped a memory.
pub(super) fn rule(word: &str) -> &str {
    let meaning = meaning_of(&RULE_LABELS, word);
    if meaning.is_empty() { word } else { meaning }
}

/// The decision of the relevance gate, in words: the probability that the best hit helps, and what it rests on.
pub(super) fn gate(decision: &RelevanceDecision) -> String {
    let RelevanceDecision { probability, threshold, basis, evidence, .. } = decision;
    let Some(found) = evidence else { return "Relevance gate: no candidates".to_owned() };
    let small_talk = found.small_talk.map_or("unknown".to_owned(), |margin| format!("{margin:+.2}"));
    let read = match (basis, found.reading) {
        (DecisionBasis::Read, Some(log_odds)) => {
            let plural = if found.passages_read == 1 { "" } else { "s" };
            format!("{} passage{plural} read, log odds {log_odds:+.2}", found.passages_read)
        }
        _ if found.out_of_time => "not read: too slow on this processor".to_owned(),
        _ => "not read".to_owned(),
    };
    format!(
        "Relevance gate: probability {probability:.2} that the best match helps, shown from {threshold:.2} ({read}; cosine {:.2}; \
         small talk {small_talk})",
        found.best_cosine
    )
}

/// The reason why nothing was shown, in words.
pub(super) fn silence_reason(word: &str) -> String {
    serde_json::from_value(json!(word))
        .map_or_else(|_| word.to_owned(), |reason: RelevanceReason| reason.explain().to_owned())
}

/// Explains these outcomes, one a line, in the order of the list.
pub(super) fn outcome_meanings(shown: &[String]) -> Vec<String> {
    let wanted = |word: &&(&str, &str)| shown.iter().any(|shown| shown == word.0);
    OUTCOME_LABELS
        .iter()
        .filter(wanted)
        .map(|(word, meaning)| format!("{}  {meaning}", pad_column(word, 10)))
        .collect()
}
