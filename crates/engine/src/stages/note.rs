//! `observe-session-noted` (CAP-20): what somebody noted in so many words goes to the log of the day.

use rekindle_core::event::{Event, Noted};
use rekindle_core::hash::ContentHash;
use rekindle_core::journal::Actor;
use rekindle_core::text::admit;
use rekindle_core::vault::daily_log::{Clock, Mark, Note, Section, Source};
use serde::Deserialize;
use serde_json::json;

use super::World;
use crate::queue::{Ended, Interrupt, StepError, Steps, StepsExt};

/// Nobody notes more than this in passing; the rest is cut, and says so.
const MAX_NOTE_CHARS: usize = 4000;

pub(super) fn note(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let written = steps.run("append-daily-log", || {
        let noted = Noted::deserialize(&event.data).map_err(StepError::fatal)?;
        let admitted = admit(&noted.text);
        let mut text: String = admitted.text.chars().take(MAX_NOTE_CHARS).collect();
        if text.len() < admitted.text.len() {
            text.push_str(" […]");
        }
        if text.trim().is_empty() {
            return Err(StepError::fatal("the note is empty"));
        }
        let now = world.now();
        let said = noted.said_at.map_or_else(|| now.clone(), |at| world.at(at));
        let section = Section::Note(Note {
            source: Source {
                session: noted.session_id.clone(),
                name: None,
                dedupe_key: Some(ContentHash::of(format!("noted {}", event.id).as_bytes()).short(32)),
            },
            time: Clock::of(&said),
            text,
            mark: Mark { id: None, origin: Some(noted.origin), messages: noted.messages.clone() },
        });
        let committed = world.vault()?.log_once(&section, Actor::Worker, &now).map_err(StepError::passing)?;
        Ok(committed.is_some())
    })?;
    Ok(Ended::Completed(json!({"written": written})))
}
