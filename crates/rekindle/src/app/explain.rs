//! Explanations of a ranking for people: the meaning of every number of a score, and the reason why a memory
//! was left out.

use rekindle_core::recall::relevance_gate::{DecisionBasis, RelevanceDecision, RelevanceReason};
use rekindle_core::recall::trust::TrustDoubt;
use rekindle_engine::recall::ask::DegradationReason;
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

/// A number of a score, with its name and its meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreRow {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) meaning: &'static str,
}

/// The parts whose sum is the relevance, and the factors that multiply it.
pub(crate) fn score_rows(ranked: &Value) -> (Vec<ScoreRow>, Vec<ScoreRow>) {
    let rows = |list: &str, words: &'static [(&'static str, &'static str)]| {
        let row = |(name, meaning): &(&'static str, &'static str)| {
            Some(ScoreRow { name, value: ranked[list].get(*name)?.as_f64()?, meaning })
        };
        words.iter().filter_map(row).collect()
    };
    (rows("parts", &PART_LABELS), rows("factors", &FACTOR_LABELS))
}

/// Renders a score as a table: every part and factor with its value and its meaning, one a line.
pub(crate) fn score_table(ranked: &Value) -> Vec<String> {
    let (parts, factors) = score_rows(ranked);
    let line = |row: ScoreRow| format!("{}  {:>7.3}  {}", pad_column(row.name, 11), row.value, row.meaning);
    parts.into_iter().chain(factors).map(line).chain(confidence(ranked)).collect()
}

/// The confidence of an observation (STO-16). It does not change the score.
fn confidence(ranked: &Value) -> Option<String> {
    let value = ranked["confidence"].as_f64()?;
    let sessions = ranked["observed"]["sessions"].as_u64().unwrap_or(1);
    let plural = if sessions == 1 { "" } else { "s" };
    Some(format!("{}  {value:>7.3}  observed in {sessions} session{plural}", pad_column("confidence", 11)))
}

/// The command that mends a degraded search; `None` if it mends itself.
pub(crate) fn degraded_next(reason: DegradationReason) -> Option<&'static str> {
    match reason {
        DegradationReason::NoIndex
        | DegradationReason::DamagedIndex
        | DegradationReason::PartlyDamaged
        | DegradationReason::OtherModel => Some("rekindle reindex"),
        DegradationReason::NoModel => Some("rekindle doctor"),
        DegradationReason::Behind | DegradationReason::Pending => None,
    }
}

/// Explains a doubt about a memory.
pub(crate) fn doubt(doubt: &TrustDoubt) -> &'static str {
    match doubt {
        TrustDoubt::Contradicted { .. } => "A memory that is newer or better supported contradicts it.",
        TrustDoubt::Guess => "Only the output of one tool supports it.",
        TrustDoubt::Stale => "It is marked as outdated.",
    }
}

/// Explains the rule that dropped a memory.
pub(crate) fn rule(word: &str) -> &str {
    let meaning = meaning_of(&RULE_LABELS, word);
    if meaning.is_empty() { word } else { meaning }
}

/// The decision of the relevance gate, in words: the probability that the best hit helps, and what it rests on.
pub(crate) fn gate(decision: &RelevanceDecision) -> String {
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
pub(crate) fn silence_reason(word: &str) -> String {
    serde_json::from_value(json!(word))
        .map_or_else(|_| word.to_owned(), |reason: RelevanceReason| reason.explain().to_owned())
}

/// Explains the outcome of an injected memory.
pub(crate) fn outcome(word: &str) -> &'static str {
    meaning_of(&OUTCOME_LABELS, word)
}

/// Explains these outcomes, one a line, in the order of the list.
pub(crate) fn outcome_meanings(shown: &[String]) -> Vec<String> {
    let wanted = |word: &&(&str, &str)| shown.iter().any(|shown| shown == word.0);
    OUTCOME_LABELS
        .iter()
        .filter(wanted)
        .map(|(word, meaning)| format!("{}  {meaning}", pad_column(word, 10)))
        .collect()
}
