//! `observe-session-noted` (CAP-20): writes an explicit note to the daily log. A person's note in a session
//! that is not observed is also kept as a memory: it is explicit (SID-04).

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{Event, ObservationNoted};
use rekindle_core::knowledge::mine::{MemoryCandidate, MemoryCategory};
use rekindle_core::knowledge::observe::FindingKind;
use rekindle_core::knowledge::proposal::title;
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::daily_log::{LogMark, LogSection, LoggedNote, SectionSource, TimeOfDay};
use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::journal::ChangeActor;
use serde::Deserialize;
use serde_json::json;

use super::notify;
use super::route_candidates::{self, RoutedCandidates};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};

/// The length limit of a note; the rest is cut, with a mark.
const MAX_NOTE_CHARS: usize = 4000;

pub(super) fn observe_session_noted(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let written = steps.run("append-daily-log", || {
        let (noted, text) = read(event)?;
        let now = context.now();
        // It belongs to the day of the message, however late it is processed.
        let time = context.zoned(noted.said_at.unwrap_or(event.at));
        let section = LogSection::Note(LoggedNote {
            source: SectionSource {
                session: noted.session_id.clone(),
                name: None,
                dedupe_key: Some(
                    ContentHash::of_bytes(format!("noted {}", event.id).as_bytes()).short_hex(32),
                ),
                project: context.project(noted.cwd.as_deref()).map(|project| project.as_str().to_owned()),
            },
            time: TimeOfDay::from_zoned(&time),
            text,
            mark: LogMark {
                id: None,
                origin: Some(noted.origin),
                messages: noted.messages.clone(),
                ..LogMark::default()
            },
        });
        let committed = context
            .vault()?
            .log_once_on(time.date(), &section, ChangeActor::Worker, &now)
            .map_err(StepError::retryable)?;
        Ok(committed.is_some())
    })?;
    let kept = steps.run("keep", || {
        let (noted, text) = read(event)?;
        // A claim to be the person needs a message as proof.
        let theirs = noted.origin == Origin::User && !noted.messages.is_empty();
        let Some(session) = noted.session_id.as_deref().filter(|_| theirs) else {
            return Ok(RoutedCandidates::default());
        };
        let candidate = MemoryCandidate {
            category: MemoryCategory::Preference,
            kind: FindingKind::Rule,
            title: title(&text),
            text,
            origin: Origin::User,
            confidence: if noted.pasted { Confidence::Medium } else { Confidence::High },
            everywhere: false,
            perhaps_everywhere: false,
            ends: false,
            sentiment: None,
            messages: noted.messages.clone(),
        };
        let project = context.project(noted.cwd.as_deref());
        let from = route_candidates::CandidateSource { session, project: project.as_ref() };
        let quote = |_: &str| {
            Some(route_candidates::SupportingMessage {
                text: String::new(),
                at: noted.said_at.or(Some(event.at)),
            })
        };
        route_candidates::route_candidates(&[candidate], from, &quote, context)
    })?;
    steps.run("announce", || {
        let (noted, _) = read(event)?;
        notify::announce_saved(&kept.saved, context.project(noted.cwd.as_deref()).as_ref(), event.at, context)
    })?;
    Ok(FunctionOutcome::Completed(json!({"written": written, "saved": kept.saved})))
}

fn read(event: &Event) -> Result<(ObservationNoted, String), StepError> {
    let noted = ObservationNoted::deserialize(&event.data).map_err(StepError::fatal)?;
    let admitted = clean_and_redact(&noted.text);
    let mut text: String = admitted.text.chars().take(MAX_NOTE_CHARS).collect();
    if text.len() < admitted.text.len() {
        text.push_str(" […]");
    }
    match text.trim().is_empty() {
        true => Err(StepError::fatal("the note is empty")),
        false => Ok((noted, text)),
    }
}
