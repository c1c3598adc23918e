//! The JSON that agents send to hooks.

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::{HookKind, HookSignal};
use crate::base::agent::Agent;
use crate::context::inject;

/// The common fields of all four agents' hooks, plus the few that only some send. Everything is optional: a
/// host that drops or adds a field must not break the session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookWire {
    session_id: LenientText,
    transcript_path: LenientText,
    cwd: LenientText,
    source: LenientText,
    reason: LenientText,
    trigger: LenientText,
    prompt: LenientText,
    prompt_response: LenientText,
    last_assistant_message: LenientText,
    agent_id: LenientText,
    tool_name: LenientText,
    tool_input: Value,
    agent_transcript_path: LenientText,
}

/// A string; any other type of value counts as absent.
#[derive(Debug, Default)]
struct LenientText(Option<String>);

impl<'de> Deserialize<'de> for LenientText {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(from)? {
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            _ => None,
        }))
    }
}

/// The reason why a hook's input is unusable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HookSignalError {
    /// The input is not JSON, or not an object.
    #[error("what the agent sent is not a JSON object: {0}")]
    Json(String),
    /// The input has no session id.
    #[error("what the agent sent names no session")]
    Session,
}

/// Parses the input of a hook call.
pub fn read(agent: Agent, kind: HookKind, input: &[u8]) -> Result<HookSignal, HookSignalError> {
    let wire: HookWire =
        serde_json::from_slice(input).map_err(|error| HookSignalError::Json(error.to_string()))?;
    let prompt = match kind {
        HookKind::BeforeTool => wire.tool_name.0.and_then(|tool| inject::call_query(&tool, &wire.tool_input)),
        _ => wire.prompt.0,
    };
    let session = wire.session_id.0.filter(|session| !session.chars().any(char::is_control));
    Ok(HookSignal {
        agent,
        kind,
        session: session.ok_or(HookSignalError::Session)?,
        transcript: wire.transcript_path.0,
        cwd: wire.cwd.0,
        reason: wire.source.0.or(wire.reason.0).or(wire.trigger.0),
        prompt,
        answer: wire.prompt_response.0.or(wire.last_assistant_message.0),
        subagent: wire.agent_id.0.is_some() || wire.agent_transcript_path.0.is_some(),
    })
}

/// True if pi has a screen for messages to the user. An extension that does not report this cannot show them
/// either.
pub fn has_ui(input: &[u8]) -> bool {
    serde_json::from_slice::<Value>(input).is_ok_and(|input| input["has_ui"] == Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn signal(agent: Agent, event: &str, input: &Value) -> HookSignal {
        read(agent, HookKind::from_event(agent, event).unwrap(), input.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_end_of_a_session_in_four_tongues() {
        let claude = json!({"session_id": "a", "transcript_path": "/t/a.jsonl", "cwd": "/p", "prompt_id": "x",
            "hook_event_name": "SessionEnd", "reason": "other"});
        let read = signal(Agent::Claude, "SessionEnd", &claude);
        assert_eq!((read.kind, read.session.as_str()), (HookKind::End, "a"));
        assert_eq!(read.transcript.as_deref(), Some("/t/a.jsonl"));
        assert_eq!(read.reason.as_deref(), Some("other"));
        let gemini = json!({"session_id": "g", "transcript_path": "/t/g", "cwd": "/p", "timestamp": "2026-11-15T00:29:11Z",
            "prompt": "p", "prompt_response": "r", "stop_hook_active": false});
        let read = signal(Agent::Gemini, "AfterAgent", &gemini);
        assert_eq!((read.kind, read.answer.as_deref()), (HookKind::Stop, Some("r")));
        let pi = json!({"session_id": "p", "reason": "quit", "keys": ["type"]});
        assert_eq!(signal(Agent::Pi, "SessionEnd", &pi).transcript, None);
        let codex = json!({"session_id": "c", "turn_id": "t", "model": "m", "source": "resume"});
        assert_eq!(signal(Agent::Codex, "SessionStart", &codex).reason.as_deref(), Some("resume"));
    }

    #[test]
    fn events_that_mean_nothing_to_us_are_none() {
        assert_eq!(HookKind::from_event(Agent::Claude, "PostToolUse"), None);
        assert_eq!(HookKind::from_event(Agent::Claude, "SomethingNew"), None);
        assert_eq!(HookKind::from_event(Agent::Gemini, "Stop"), None);
    }

    #[test]
    fn a_field_of_the_wrong_type_counts_as_missing() {
        let odd = json!({"session_id": "a", "transcript_path": null, "cwd": 7, "prompt": ["x"]});
        let read = signal(Agent::Claude, "UserPromptSubmit", &odd);
        assert_eq!((read.transcript, read.cwd, read.prompt), (None, None, None));
    }

    #[test]
    fn a_session_without_a_name_is_none() {
        let no = |input: &[u8]| read(Agent::Claude, HookKind::Stop, input).unwrap_err();
        assert_eq!(no(b"{}"), HookSignalError::Session);
        assert_eq!(no(br#"{"session_id":"a\nb"}"#), HookSignalError::Session);
        assert!(matches!(no(b""), HookSignalError::Json(_)));
        assert!(matches!(no(b"[1]"), HookSignalError::Json(_) | HookSignalError::Session));
    }

    #[test]
    fn brf_08_a_tool_in_four_tongues() {
        let claude = json!({"session_id": "a", "tool_name": "Bash", "tool_input": {"command": "make", "description": "x"}});
        for agent in [Agent::Claude, Agent::Codex, Agent::Pi] {
            assert_eq!(signal(agent, "PreToolUse", &claude).prompt.as_deref(), Some("make"));
        }
        let gemini =
            json!({"session_id": "a", "tool_name": "write_file", "tool_input": {"file_path": "/p/src/a.rs"}});
        assert_eq!(signal(Agent::Gemini, "BeforeTool", &gemini).prompt.as_deref(), Some("p/src/a.rs"));
        let odd = json!({"session_id": "a", "tool_name": 7, "tool_input": [1], "prompt": "not this"});
        assert_eq!(signal(Agent::Claude, "PreToolUse", &odd).prompt, None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for agent in Agent::ALL {
                drop(read(agent, HookKind::Stop, &bytes));
            }
        }
    }
}
