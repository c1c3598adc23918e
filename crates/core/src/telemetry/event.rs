//! An event of telemetry: its name, its level, and metadata of ids and numbers.
//!
//! Nothing in it can hold text of a prompt or a memory: ids are checked by [`safe_id`], counts are numbers
//! whose names are ours, and an error is an [`ErrorKind`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ErrorKind;
use crate::base::hash::ContentHash;
use crate::base::time::Timestamp;
use crate::config::LogLevel;

/// The most counts of an event.
const MAX_COUNTS: usize = 40;
/// The maximum length of an id; a longer one is replaced by its hash.
const MAX_ID_CHARS: usize = 128;

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventLevel {
    /// A detail: one step of a run.
    Debug,
    /// A stage started or ended as it should.
    Info,
    /// A failure that will be retried, or a result that is not complete.
    Warn,
    /// A failure for good.
    Error,
    /// Nothing works until somebody repairs it.
    Fatal,
}

impl EventLevel {
    /// All levels, in rising order.
    pub const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal];

    /// The name of the level.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// Parses a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }

    /// True if `memory.log_level` lets events of this level be stored. Warnings and errors always are, unless
    /// only errors are wanted.
    pub fn is_stored_at(self, setting: LogLevel) -> bool {
        self >= match setting {
            LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Warn => Self::Warn,
            LogLevel::Error => Self::Error,
        }
    }

    /// True if the event also goes to the file that survives a broken database (O11-03).
    pub fn is_mirrored(self) -> bool {
        self >= Self::Warn
    }
}

/// The part of a stage that an event reports. With the stage it makes the event's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventPhase {
    /// The stage started.
    Started,
    /// One step of the stage ended.
    Step,
    /// The stage ended as it should, or had nothing to do.
    Completed,
    /// The stage failed.
    Failed,
}

impl EventPhase {
    const ALL: [Self; 4] = [Self::Started, Self::Step, Self::Completed, Self::Failed];

    /// The name of the phase.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Step => "step",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Parses a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text)
    }
}

/// An event of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TelemetryEvent {
    /// The id of the event; the same event has the same id wherever it is stored.
    pub id: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The stage, such as `observe`.
    pub stage: String,
    /// The part of the stage.
    pub phase: EventPhase,
    /// The severity.
    pub level: EventLevel,
    /// The duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<f64>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session_id: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_id: Option<String>,
    /// The event that the run handles.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_id: Option<String>,
    /// The window of the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dedupe_key: Option<String>,
    /// The proposal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proposal_id: Option<String>,
    /// The number of observations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observation_count: Option<u64>,
    /// The number of proposals.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proposal_count: Option<u64>,
    /// The level of compression that the last attempt asked a model for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_level: Option<u64>,
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempt: Option<u32>,
    /// The step that ended or failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// The kind of the error.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorKind>,
    /// True if the failed stage will be retried.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub will_retry: Option<bool>,
    /// True if the stage had nothing to do.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub skipped: bool,
    /// Further counts, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub counts: BTreeMap<String, f64>,
}

impl TelemetryEvent {
    /// Creates an event without metadata.
    pub fn new(id: String, at: Timestamp, stage: &str, phase: EventPhase, level: EventLevel) -> Self {
        Self {
            id,
            at,
            stage: stage.to_owned(),
            phase,
            level,
            duration_ms: None,
            session_id: None,
            run_id: None,
            event_id: None,
            dedupe_key: None,
            proposal_id: None,
            observation_count: None,
            proposal_count: None,
            retry_level: None,
            attempt: None,
            step: None,
            error: None,
            will_retry: None,
            skipped: false,
            counts: BTreeMap::new(),
        }
    }

    /// The name of the event, such as `observe.completed`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.stage, self.phase.as_str())
    }

    /// True if the name, an id, the step or the kind of error contains a text, in any case of letters.
    pub fn contains(&self, text: &str) -> bool {
        let ids =
            [&self.session_id, &self.run_id, &self.event_id, &self.dedupe_key, &self.proposal_id, &self.step];
        let text = text.to_lowercase();
        let holds = |part: &str| part.to_lowercase().contains(&text);
        holds(&self.name())
            || holds(self.level.as_str())
            || self.error.is_some_and(|error| holds(error.as_str()))
            || ids.into_iter().flatten().any(|id| holds(id))
    }

    /// Takes the counts and ids of a stage's output. Text is left out.
    pub fn add_output(&mut self, output: &Value) {
        collect_counts(output, "", &mut self.counts);
        let list = |key: &str| output[key].as_array().map(|items| items.len() as u64);
        self.observation_count = output["observations"].as_u64().or_else(|| list("observations"));
        self.proposal_count = output["proposalCount"].as_u64().or_else(|| list("proposed"));
        self.retry_level = output["retryLevel"].as_u64();
        self.add_ids(output);
    }

    /// Takes the ids of an event's data or of a stage's output.
    pub fn add_ids(&mut self, data: &Value) {
        let id = |key: &str| data[key].as_str().map(safe_id);
        self.dedupe_key = self.dedupe_key.take().or_else(|| id("dedupeKey"));
        let proposal = id("proposalId").or_else(|| id("proposal")).filter(|id| id.starts_with("p-"));
        self.proposal_id = self.proposal_id.take().or(proposal);
    }
}

/// An id as it may be stored: unchanged if it looks like one, else its hash.
pub fn safe_id(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    match !text.is_empty() && text.len() <= MAX_ID_CHARS && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("hash-{}", ContentHash::of_parts(&[text.as_bytes()]).short_hex(16)),
    }
}

/// Collects the numbers of an output by name, and the lengths of its lists, two levels deep.
fn collect_counts(value: &Value, prefix: &str, counts: &mut BTreeMap<String, f64>) {
    let Value::Object(fields) = value else { return };
    for (key, value) in fields {
        // A key that is not a plain name may come from data.
        let is_name = !key.is_empty() && key.len() <= 40 && key.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_name || counts.len() >= MAX_COUNTS {
            continue;
        }
        let name = format!("{prefix}{key}");
        match value {
            Value::Number(number) => counts.extend(number.as_f64().map(|number| (name, number))),
            Value::Array(items) => counts.extend([(name, items.len() as f64)]),
            Value::Object(_) if prefix.is_empty() => collect_counts(value, &format!("{key}."), counts),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event() -> TelemetryEvent {
        TelemetryEvent::new(
            "e".to_owned(),
            Timestamp::UNIX_EPOCH,
            "observe",
            EventPhase::Completed,
            EventLevel::Info,
        )
    }

    /// O11-04: ids, counts and the retry level are in the event, under their names.
    #[test]
    fn o11_04_an_output_becomes_ids_and_counts() {
        let mut event = event();
        event.add_output(&json!({
            "dedupeKey": "abc123", "observations": 3, "proposed": ["p-1", "p-2"], "retryLevel": 2,
            "gate": {"passed": 2}, "proposal": "p-20261118-001-k7q2",
        }));
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!((json["observationCount"].as_u64(), json["proposalCount"].as_u64()), (Some(3), Some(2)));
        assert_eq!((json["retryLevel"].as_u64(), json["dedupeKey"].as_str()), (Some(2), Some("abc123")));
        assert_eq!(json["proposalId"], "p-20261118-001-k7q2");
        assert_eq!(json["counts"]["gate.passed"], 2.0);
        assert_eq!(event.name(), "observe.completed");
        assert_eq!(serde_json::from_value::<TelemetryEvent>(json).unwrap(), event);
    }

    /// O11-03: whatever an output holds, none of its words is in the event.
    #[test]
    fn o11_03_no_words_get_into_an_event() {
        let words = "Ada likes green tea";
        let mut event = event();
        event.add_output(&json!({
            "observer": words, "saved": [words], "warning": words, words: 3, "nested": {words: {"deep": words}},
            "dedupeKey": words, "proposal": words, "gate": {"why": words, "list": [words]},
        }));
        event.session_id = Some(safe_id(words));
        let json = serde_json::to_string(&event).unwrap();
        assert!(!json.contains("tea") && !json.contains("Ada"), "{json}");
        assert_eq!(event.counts["saved"], 1.0);
        assert!(event.session_id.unwrap().starts_with("hash-"));
    }

    #[test]
    fn the_log_level_says_what_is_stored() {
        let stored =
            |setting| EventLevel::ALL.into_iter().filter(|level| level.is_stored_at(setting)).count();
        let all = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error].map(stored);
        assert_eq!(all, [5, 4, 3, 2]);
        for level in EventLevel::ALL {
            assert_eq!(EventLevel::parse(level.as_str()), Some(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        for phase in EventPhase::ALL {
            assert_eq!(EventPhase::parse(phase.as_str()), Some(phase));
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        }
    }
}
