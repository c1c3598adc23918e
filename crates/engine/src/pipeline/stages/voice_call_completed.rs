//! `voice-call-completed` (CAP-20): converts a transcribed call to a captured session.

use rekindle_core::event::{self, CaptureTrigger, Event, SCHEMA_VERSION, SessionCaptured, VoiceCall};
use rekindle_core::text::clean_and_redact;
use serde::Deserialize;
use serde_json::json;

use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};

pub(super) fn voice_call_completed(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let key: String = steps.run_and_send("emit", || {
        let call = VoiceCall::deserialize(&event.data).map_err(StepError::fatal)?;
        let began = call.started_at.unwrap_or(event.at).to_string();
        let key = event::dedupe_key(&call.call_id, CaptureTrigger::Shutdown, &began);
        let messages = clean_and_redact(&call.transcript).text;
        let data = SessionCaptured {
            session_id: call.call_id.clone(),
            dedupe_key: key.clone(),
            trigger: CaptureTrigger::Shutdown,
            message_count: messages.lines().filter(|line| !line.trim().is_empty()).count() as u64,
            messages,
            tokens_before: None,
            user_message_count: None,
            duration: call.duration,
            session_name: Some("voice call".to_owned()),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            // A call belongs to the day on which it was held, whenever it is processed.
            captured_at: call.started_at.unwrap_or(event.at),
            schema_version: SCHEMA_VERSION,
            agent: None,
            cwd: None,
            branch: None,
            headless: false,
            noise: None,
            turns: Vec::new(),
        };
        let data = serde_json::to_value(data).map_err(StepError::fatal)?;
        let sent = Event {
            id: format!("session-{key}"),
            name: CaptureTrigger::Shutdown.event().to_owned(),
            data,
            at: context.now().timestamp(),
        };
        Ok((key, vec![sent]))
    })?;
    Ok(FunctionOutcome::Completed(json!({"dedupeKey": key})))
}
