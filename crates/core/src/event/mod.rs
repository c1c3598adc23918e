//! The event contract (CAP-05…12): names in the past tense, each with a schema.

pub mod data;
pub mod names;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::base::hash::ContentHash;
use crate::base::time::Timestamp;

pub use data::{
    ASKED_CAUSE, BACKFILL_CAUSE, ButtonPressed, CaptureRequested, CaptureTrigger, EchoRequested,
    FixCompleted, ObservationNoted, ObservationsAccumulated, ObservationsReflected, ProposalDecided,
    ProposalsTriaged, SessionCaptured, TaskChanged, VoiceCall, WeeklySummary,
};

use crate::text::{self, RedactionCounts};

/// The version of the event schemas.
pub const SCHEMA_VERSION: u32 = 1;

/// One event: a fact about something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// A unique id. Two events with the same id count as one.
    pub id: String,
    /// The event's name, one of [`names::ALL`].
    pub name: String,
    /// The data, as the name's schema describes it.
    pub data: Value,
    /// The time of the event.
    pub at: Timestamp,
}

impl Event {
    /// The id of the session it belongs to, if any.
    pub fn session(&self) -> Option<&str> {
        self.data.get("sessionId").and_then(Value::as_str).filter(|session| !session.is_empty())
    }
}

/// The reason why an event is invalid.
#[derive(Debug, Error)]
pub enum Error {
    /// The event has an unknown name.
    #[error("there is no event called `{name}`{}", suggestion(name))]
    Name {
        /// The name as it was given.
        name: String,
    },
    /// The data does not match the name's schema.
    #[error("the data of {name} is invalid: {problem}")]
    Data {
        /// The name of the event.
        name: String,
        /// The first mismatch with the schema.
        problem: String,
    },
}

fn suggestion(name: &str) -> String {
    let near = names::ALL.iter().map(|known| (strsim::jaro_winkler(known, name), known));
    match near.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((nearness, known)) if nearness > 0.85 => format!(" (did you mean `{known}`?)"),
        _ => String::new(),
    }
}

/// Checks an event's data against the schema of its name.
pub fn check(name: &str, value: &Value) -> Result<(), Error> {
    fn fits_schema<T: for<'a> Deserialize<'a>>(value: &Value) -> Result<(), String> {
        T::deserialize(value).map(drop).map_err(|error| error.to_string())
    }
    let fit = match name {
        names::CAPTURE_REQUESTED => fits_schema::<CaptureRequested>(value),
        names::COMPACTION_PENDING | names::SESSION_ENDED => fits_schema::<SessionCaptured>(value)
            .and_then(|()| data::check_trigger(name, value).map_err(str::to_owned)),
        names::ECHO_REQUESTED => fits_schema::<EchoRequested>(value),
        names::OBSERVATION_NOTED => fits_schema::<ObservationNoted>(value),
        names::OBSERVATIONS_ACCUMULATED => fits_schema::<ObservationsAccumulated>(value),
        names::OBSERVATIONS_REFLECTED => fits_schema::<ObservationsReflected>(value),
        names::VOICE_CALL_COMPLETED => fits_schema::<VoiceCall>(value),
        names::PROPOSAL_APPROVED | names::PROPOSAL_REJECTED => fits_schema::<ProposalDecided>(value),
        names::FRICTION_FIX_COMPLETED => fits_schema::<FixCompleted>(value),
        names::TASK_COMPLETED | names::TASK_DELETED | names::TASK_UPDATED => {
            fits_schema::<TaskChanged>(value)
        }
        names::BUTTON_PRESSED => fits_schema::<ButtonPressed>(value),
        names::PROPOSAL_TRIAGED => fits_schema::<ProposalsTriaged>(value),
        names::WEEKLY_SUMMARY => fits_schema::<WeeklySummary>(value),
        name if names::ALL.contains(&name) => match value.is_object() {
            true => Ok(()),
            false => Err("expected an object".to_owned()),
        },
        _ => return Err(Error::Name { name: name.to_owned() }),
    };
    fit.map_err(|problem| Error::Data { name: name.to_owned(), problem })
}

/// The deduplication key of a window, so that the same window is not observed twice (CAP-11).
pub fn dedupe_key(session: &str, trigger: CaptureTrigger, first_entry: &str) -> String {
    ContentHash::of_bytes(format!("{session}{}{first_entry}", trigger.as_str()).as_bytes()).to_string()
}

/// Redacts secrets in an event's data before it is stored: in every text, in every field name, and in every
/// field whose name announces a secret.
pub fn redact_data(data: &mut Value) -> RedactionCounts {
    admit_under("", data)
}

/// [`redact_data`] for the value of the field `name`, for example `{"password": "swordfish"}` or
/// `{"card": 4111111111111111}`.
fn admit_under(name: &str, value: &mut Value) -> RedactionCounts {
    match value {
        Value::String(_) | Value::Number(_) => admit_scalar(name, value),
        Value::Array(items) => items.iter_mut().fold(RedactionCounts::default(), |mut counts, item| {
            counts.merge(&admit_under(name, item));
            counts
        }),
        Value::Object(fields) => {
            let mut counts = RedactionCounts::default();
            let admitted = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                counts.merge(&admit_under(&name, &mut value));
                let name = text::clean_and_redact(&name);
                counts.merge(&name.redacted);
                (name.text, value)
            });
            // If redaction makes two names equal, keep both.
            for (name, value) in admitted {
                let mut free =
                    (1..).map(|nth: usize| if nth == 1 { name.clone() } else { format!("{name} {nth}") });
                let name = free.find(|name| !fields.contains_key(name)).unwrap_or_default();
                fields.insert(name, value);
            }
            counts
        }
        Value::Null | Value::Bool(_) => RedactionCounts::default(),
    }
}

fn admit_scalar(name: &str, value: &mut Value) -> RedactionCounts {
    if let Value::String(text) = value {
        let admitted = text::clean_and_redact(text);
        *text = admitted.text;
        if !admitted.redacted.is_empty() {
            return admitted.redacted;
        }
    }
    let pair = Value::String(name.to_owned()).to_string() + ": " + &value.to_string();
    // Secrets in the name itself are redacted with the name.
    let start = pair.len() - value.to_string().len();
    let found = text::redact::find(&pair).into_iter().find(|secret| secret.range.end > start);
    let Some(secret) = found else { return RedactionCounts::default() };
    *value = Value::String(format!("[redacted:{}]", secret.kind));
    [secret.kind].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cap_10_names_state_facts_or_pending_states() {
        for name in names::ALL {
            let last = name.rsplit(['.', '/', '-']).next().unwrap();
            let is_fact = last.ends_with("ed") || last == "pending" || last == "summary";
            assert!(is_fact, "{name}");
        }
    }

    /// Requirements: CAP-11.
    #[test]
    fn ver_02_a_dedupe_key_is_the_same_for_the_same_window_only() {
        let key = |session, trigger, first| dedupe_key(session, trigger, first);
        let first = "2026-02-14T17:05:50.648Z";
        assert_eq!(key("s", CaptureTrigger::Shutdown, first), key("s", CaptureTrigger::Shutdown, first));
        assert_eq!(key("s", CaptureTrigger::Shutdown, first).len(), 64);
        let others = [
            key("t", CaptureTrigger::Shutdown, first),
            key("s", CaptureTrigger::Compaction, first),
            key("s", CaptureTrigger::Shutdown, "2026-02-14T17:05:50.649Z"),
        ];
        assert!(others.iter().all(|other| *other != key("s", CaptureTrigger::Shutdown, first)));
    }

    fn ended() -> Value {
        json!({"sessionId": "s", "dedupeKey": "k", "trigger": "shutdown", "messages": "[10:00] [User]: hi",
            "messageCount": 1, "userMessageCount": 1, "duration": 60, "filesRead": [], "filesModified": [],
            "capturedAt": "2026-02-14T17:05:50Z", "schemaVersion": 1})
    }

    /// Requirements: CAP-05.
    #[test]
    fn cap_06_the_end_of_a_session_has_its_schema() {
        check(names::SESSION_ENDED, &ended()).unwrap();
        for field in
            ["sessionId", "dedupeKey", "trigger", "messages", "messageCount", "capturedAt", "schemaVersion"]
        {
            let mut without = ended();
            without.as_object_mut().unwrap().remove(field);
            let error = check(names::SESSION_ENDED, &without).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
        let mut wrong = ended();
        wrong["trigger"] = json!("compaction");
        assert!(check(names::SESSION_ENDED, &wrong).is_err());
        check(names::COMPACTION_PENDING, &wrong).unwrap();
    }

    #[test]
    fn cap_07_cap_08_reflection_has_its_schemas() {
        let accumulated = json!({"date": "2026-11-14", "totalTokens": 41_000, "observationCount": 9,
            "capturedAt": "2026-11-14T17:05:50Z"});
        let reflected = json!({"date": "2026-11-14", "inputTokens": 41_000, "outputTokens": 900,
            "compressionRatio": 0.022, "proposalCount": 4, "capturedAt": "2026-11-14T17:05:50Z"});
        for (name, data) in
            [(names::OBSERVATIONS_ACCUMULATED, accumulated), (names::OBSERVATIONS_REFLECTED, reflected)]
        {
            check(name, &data).unwrap();
            for field in data.as_object().unwrap().keys() {
                let mut without = data.clone();
                without.as_object_mut().unwrap().remove(field);
                let error = check(name, &without).unwrap_err().to_string();
                assert!(error.contains(field.as_str()), "{error}");
            }
        }
    }

    #[test]
    fn rev_06_a_decision_names_its_proposal() {
        let decided = json!({"proposalId": "p-20261115-001"});
        check(names::PROPOSAL_APPROVED, &decided).unwrap();
        check(names::PROPOSAL_REJECTED, &json!({"proposalId": "f-20261115-001", "by": "page"})).unwrap();
        assert_eq!(
            ProposalDecided::deserialize(&decided).unwrap().by,
            crate::base::decided_by::DecidedBy::Event
        );
        for wrong in [json!({}), json!({"proposalId": "p-1"}), json!([])] {
            assert!(check(names::PROPOSAL_APPROVED, &wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_is_named() {
        let error = check("memory/session.end", &json!({})).unwrap_err().to_string();
        assert!(error.contains("did you mean `memory/session.ended`"), "{error}");
    }

    #[test]
    fn b_03_an_event_is_kept_without_its_secrets() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let mut data = serde_json::json!({
            "text": format!("push with {token}"),
            "messages": [{"role": "user", "content": format!("it is {token}")}, 7, null],
            "extra": {"password": "swordfish", "note": "plain"},
            "sessionId": "0b5f5c1e-7d7f-4a0e-9b57-0a2b7d1f6c11",
        });
        let counts = redact_data(&mut data);
        assert_eq!(
            data,
            serde_json::json!({
                "text": "push with [redacted:github-token]",
                "messages": [{"role": "user", "content": "it is [redacted:github-token]"}, 7, null],
                "extra": {"password": "[redacted:password]", "note": "plain"},
                "sessionId": "0b5f5c1e-7d7f-4a0e-9b57-0a2b7d1f6c11",
            })
        );
        assert_eq!(counts.to_string(), "2 github-token, 1 password");
        assert!(redact_data(&mut data).is_empty());
    }

    #[test]
    fn b_03_secrets_as_names_of_fields_and_as_numbers_are_not_kept() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let mut data = json!({
            "durations": [60, 4_242_424],
            "cards": [4_242_424_242_424_242_u64],
            "card": 4_111_111_111_111_111_u64,
            "extra": { token: 3, "pin": 48_213 },
            "sizes": { token: {"bytes": 5_105_105_105_105_100_u64} },
        });
        let counts = redact_data(&mut data);
        assert_eq!(
            data,
            json!({
                "durations": [60, 4_242_424],
                "cards": ["[redacted:card-number]"],
                "card": "[redacted:card-number]",
                "extra": {"[redacted:github-token]": 3, "pin": "[redacted:password]"},
                "sizes": {"[redacted:github-token]": {"bytes": 5_105_105_105_105_100_u64}},
            })
        );
        assert_eq!(counts.to_string(), "2 github-token, 2 card-number, 1 password");
        assert!(redact_data(&mut data).is_empty());
    }
}
