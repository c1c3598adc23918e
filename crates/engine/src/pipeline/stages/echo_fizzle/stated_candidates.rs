//! Keeps wishes and corrections of the person at the end of a turn. The later observation of the session
//! recognizes them.

use rekindle_core::base::provenance::Origin;
use rekindle_core::config::LlmProvider;
use rekindle_core::event::EchoRequested;
use rekindle_core::knowledge::mine;
use rekindle_core::knowledge::mine::MemoryCandidate;
use rekindle_core::knowledge::mine::candidate::CandidateThresholds;
use rekindle_core::knowledge::observe::rules;
use rekindle_core::session::{Message, MessageRole};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::entry::Confidence;
use serde::{Deserialize, Serialize};

use super::turn::TranscriptTurn;
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::pipeline::stages::route_candidates::{self, CandidateSource, RoutedCandidates, SupportingMessage};
use crate::pipeline::statements::StatementClassifier;
use crate::project;

/// Lasting statements of a turn, and their message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StatedCandidates {
    candidates: Vec<MemoryCandidate>,
    prompt: Option<Message>,
}

impl StatedCandidates {
    /// Extracts statements by rules. If a model observes the session, nothing is kept before it runs: its
    /// wording would duplicate ours.
    pub(super) fn from_turn(turn: &TranscriptTurn, cwd: Option<&str>, stage_context: &StageContext) -> Self {
        let prompt = turn.request.last().filter(|message| message.role == MessageRole::User).map(redacted);
        let Some(prompt) = prompt.filter(|_| stage_context.config.llm.provider == LlmProvider::Offline)
        else {
            return Self::default();
        };
        let messages: Vec<Message> = turn.request.iter().chain(&turn.messages).map(redacted).collect();
        let statements = StatementClassifier::builtin();
        let classify = |context: &str, sentence: &str| statements.label(context, sentence);
        let observed = rules::observe_with(&messages, &stage_context.zone, cwd, Some(&classify));
        let settings = &stage_context.config.memory.confidence;
        let thresholds = CandidateThresholds { high: settings.high, medium: settings.medium };
        let mut candidates = mine::candidates(&observed, thresholds);
        candidates.retain(|candidate| {
            let outright = candidate.origin == Origin::User && candidate.confidence == Confidence::High;
            outright && candidate.messages.contains(&prompt.id)
        });
        Self { candidates, prompt: Some(prompt) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }
}

/// Redacts secrets before any text leaves the transcript.
fn redacted(message: &Message) -> Message {
    Message { text: clean_and_redact(&message.text).text, ..message.clone() }
}

/// Keeps the statements of these turns of a session.
pub(super) fn route_stated(
    request: &EchoRequested,
    stated: &[&StatedCandidates],
    stage_context: &StageContext,
) -> Result<RoutedCandidates, StepError> {
    let ended_in = stage_context.project(request.cwd.as_deref());
    let forgotten = stage_context.vault()?.graveyard().map_err(StepError::retryable)?;
    let mut all = RoutedCandidates::default();
    for StatedCandidates { candidates, prompt } in stated {
        let Some(prompt) = prompt.as_ref().filter(|prompt| !forgotten.holds_message(&prompt.id)) else {
            continue;
        };
        let quote = |id: &str| {
            (id == prompt.id).then(|| SupportingMessage { text: prompt.text.clone(), at: prompt.at })
        };
        // The agent may have changed its folder since.
        let said_in = prompt.cwd.as_deref().and_then(|cwd| stage_context.project(Some(cwd)));
        let project =
            said_in.filter(|project| !project::is_gone_project(project)).or_else(|| ended_in.clone());
        let from = CandidateSource { session: &request.session_id, project: project.as_ref() };
        let kept = route_candidates::route_candidates(candidates, from, &quote, stage_context)?;
        all.saved.extend(kept.saved);
        all.proposed.extend(kept.proposed);
    }
    Ok(all)
}
