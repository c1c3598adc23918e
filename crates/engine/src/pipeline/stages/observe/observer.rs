//! Observer: a model if the person configured one, otherwise rules, which also replace a failing model.

use std::time::Duration;

use rekindle_core::base::provenance::Origin;
use rekindle_core::knowledge::mine;
use rekindle_core::knowledge::mine::candidate::CandidateThresholds;
use rekindle_core::knowledge::mine::{MemoryCandidate, MinedIdea, model_answer};
use rekindle_core::knowledge::observe;
use rekindle_core::knowledge::observe::check::COMPLETED_TEXT;
use rekindle_core::knowledge::observe::claim_fault::ClaimFault;
use rekindle_core::knowledge::observe::evidence::MessageEvidence;
use rekindle_core::knowledge::observe::finding::Finding;
use rekindle_core::knowledge::observe::noise::{NoiseDetector, states_finding};
use rekindle_core::knowledge::observe::prompt;
use rekindle_core::knowledge::observe::prompt::WindowInfo;
use rekindle_core::knowledge::observe::{ObservedSession, check, rules};
use rekindle_core::llm::{self, LanguageModel, LlmRequest};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::entry::Confidence;
use serde::{Deserialize, Serialize};

use super::{DistilledWindow, RestoredWindow};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{StepError, lookup};
use crate::llm::ModelJob;
use crate::pipeline::statements::StatementClassifier;

/// The name under which the rules observe.
const RULES_OBSERVER: &str = "offline/rules";
/// The number of attempts before the rules replace a failing model.
const MAX_MODEL_ATTEMPTS: u32 = 3;
/// The length limit of an unparsable answer in the log, in characters.
const MAX_UNPARSED_CHARS: usize = 4000;

/// The answers and their author.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ObserverAnswers {
    /// `provider/model`, or the rules.
    pub(super) observer: String,
    /// The reason the rules replaced the model.
    pub(super) instead: Option<String>,
    /// The model's answer for each piece of the window.
    said: Vec<String>,
}

pub(super) struct WindowObserver<'a> {
    pub(super) window: &'a RestoredWindow<'a>,
    pub(super) context: &'a StageContext,
    pub(super) run: String,
}

impl WindowObserver<'_> {
    fn window_info(&self) -> WindowInfo<'_> {
        WindowInfo {
            trigger: self.window.captured.trigger,
            name: self.window.captured.session_name.as_deref(),
            day: self.window.last_message_at.date(),
            zone: &self.context.zone,
        }
    }

    fn window_pieces(&self) -> Vec<prompt::WindowPiece> {
        prompt::split_window(
            self.window.messages,
            &self.window_info(),
            u64::from(self.context.config.llm.context_tokens),
        )
    }

    /// Asks the model about every piece of the window. Without a model there is no answer.
    pub(super) fn ask(&self) -> Result<ObserverAnswers, StepError> {
        let by_rules =
            |instead| ObserverAnswers { observer: RULES_OBSERVER.to_owned(), instead, said: Vec::new() };
        let model = match self.context.model(ModelJob::Observer) {
            Ok(Some(model)) => model,
            Ok(None) => return Ok(by_rules(None)),
            // `rekindle llm` and `doctor` report unusable settings; no run waits for them.
            Err(error) => return Ok(by_rules(Some(error.message))),
        };
        let mut answers = ObserverAnswers { observer: model.name().to_owned(), ..ObserverAnswers::default() };
        for piece in self.window_pieces() {
            match self.ask_once(&model, &prompt::request(&piece, self.deadline())) {
                Ok(said) => answers.said.push(said),
                Err(ObserverFailure::Wait(error)) => return Err(error),
                Err(ObserverFailure::GiveUp(why)) => return Ok(by_rules(Some(why))),
            }
        }
        Ok(answers)
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(self.context.config.llm.timeout_seconds.into())
    }

    /// Requests one answer. A failing model is retried later a few times; then the rules replace it.
    fn ask_once(&self, model: &dyn LanguageModel, request: &LlmRequest) -> Result<String, ObserverFailure> {
        match model.answer(request) {
            Ok(answer) => Ok(answer.text),
            Err(error) => {
                let attempts = self.attempts().map_err(ObserverFailure::Wait)?;
                match error.retry {
                    llm::RetryAdvice::After(pause) if attempts < MAX_MODEL_ATTEMPTS => {
                        let retry_after =
                            jiff::SignedDuration::try_from(pause).ok().filter(|pause| !pause.is_zero());
                        let message = format!("{}: {}", model.name(), error.message);
                        Err(ObserverFailure::Wait(StepError { retry_after, ..StepError::retryable(message) }))
                    }
                    _ => Err(ObserverFailure::GiveUp(error.message)),
                }
            }
        }
    }

    fn attempts(&self) -> Result<u32, StepError> {
        Ok(lookup::attempts(&self.context.db()?, &self.run)?)
    }

    fn by_rules(&self) -> ObservedSession {
        let statements = StatementClassifier::builtin();
        let classify = |context: &str, sentence: &str| statements.label(context, sentence);
        let cwd = self.window.captured.cwd.as_deref();
        let observed = rules::observe_with(self.window.messages, &self.context.zone, cwd, Some(&classify));
        self.verify_origin(observed)
    }

    /// Removes the person's voice from an observation of a session without a person.
    fn verify_origin(&self, observed: ObservedSession) -> ObservedSession {
        if self.window.captured.headless { observed.without_user_origin() } else { observed }
    }

    /// True if the rules find a lasting, explicit statement of the person.
    pub(super) fn has_explicit_statement(&self) -> bool {
        let stated = mine::candidates(&self.by_rules(), self.thresholds());
        stated.iter().any(|one| one.origin == Origin::User && one.confidence == Confidence::High)
    }

    /// Builds the observation from the verified answers, or from the rules.
    pub(super) fn read(&self, answers: &ObserverAnswers) -> DistilledWindow {
        if answers.said.is_empty() {
            return DistilledWindow { observed: self.by_rules(), ..DistilledWindow::default() };
        }
        let mut result = DistilledWindow::default();
        let mut nonsense = Vec::new();
        for (piece, answer) in self.window_pieces().iter().zip(&answers.said) {
            let output = observe::parse(answer);
            let end = piece.first + piece.len;
            let messages = self.window.messages.get(piece.first..end).unwrap_or_default();
            let checked = check(&output, messages, &self.context.zone);
            for (fault, count) in checked.faults {
                *result.faults.entry(fault).or_default() += count;
            }
            if !output.parsed {
                nonsense.push(output.observations);
            }
            let ObservedSession { parts, current_task, suggested_response } =
                self.verify_origin(checked.observed);
            result.observed.parts.extend(parts);
            result.observed.current_task = current_task;
            result.observed.suggested_response = suggested_response;
        }
        if !nonsense.is_empty() && result.observed.is_empty() {
            // A model with unparsable answers counts as none; the log keeps its text (OBS-20).
            result.observed = self.by_rules();
            let text = clean_and_redact(&nonsense.join("\n\n")).text;
            result.unparsed = Some(text.chars().take(MAX_UNPARSED_CHARS).collect());
            *result.faults.entry(ClaimFault::Unsupported).or_default() += 1;
            return result;
        }
        // The model adds to the findings of the rules and removes none.
        let mut observed = self.by_rules();
        let kept_texts: Vec<String> =
            result.observed.findings().map(|finding| finding.text.clone()).collect();
        let is_said = |finding: &Finding| kept_texts.iter().any(|text| states_finding(text, finding));
        result.passed_over = observed.findings().filter(|finding| !is_said(finding)).count() as u64;
        let known: Vec<String> = observed.findings().map(|finding| finding.text.clone()).collect();
        for mut part in std::mem::take(&mut result.observed.parts) {
            part.findings.retain(|finding| !known.iter().any(|text| states_finding(text, finding)));
            observed.parts.push(part);
        }
        result.observed.parts = observed.parts;
        if result.observed.suggested_response.as_deref() == Some(COMPLETED_TEXT) {
            let cwd = self.window.captured.cwd.as_deref();
            let (task, next) = rules::open_request(self.window.messages, &self.context.zone, cwd);
            result.observed.current_task = task.or(result.observed.current_task.take());
            result.observed.suggested_response = next;
        }
        result
    }

    fn noise(&self) -> NoiseDetector<'_> {
        NoiseDetector::new(self.window.messages, &self.context.zone)
    }

    fn thresholds(&self) -> CandidateThresholds {
        let settings = &self.context.config.memory.confidence;
        CandidateThresholds { high: settings.high, medium: settings.medium }
    }

    /// Extracts candidates for memories (SID-02).
    pub(super) fn mine(
        &self,
        answers: &ObserverAnswers,
        observed: &ObservedSession,
    ) -> Result<Vec<MemoryCandidate>, StepError> {
        let by_rules = || mine::candidates(observed, self.thresholds());
        if answers.said.is_empty() || self.window.captured.headless {
            return Ok(by_rules());
        }
        let material = model_answer::build_material(observed, self.window.messages);
        let Some(answer) = self.ask_again(&model_answer::memories_request(&material, self.deadline()))?
        else {
            return Ok(mine::candidates(&self.by_rules(), self.thresholds()));
        };
        let evidence = MessageEvidence::new(self.window.messages, &self.context.zone);
        let noise = self.noise();
        let believed = model_answer::memories(&answer, self.window.messages, &evidence, &noise);
        let by_rules = mine::candidates(&self.by_rules(), self.thresholds());
        Ok(model_answer::merge_candidates(
            by_rules,
            model_answer::merge_user_statements(believed, &noise, self.thresholds()),
        ))
    }

    /// Extracts the ideas of a window (IDEA-01).
    pub(super) fn mine_ideas(
        &self,
        answers: &ObserverAnswers,
        observed: &ObservedSession,
    ) -> Result<Vec<MinedIdea>, StepError> {
        if answers.said.is_empty() {
            return Ok(mine::ideas(observed));
        }
        let material = model_answer::build_material(observed, self.window.messages);
        let Some(answer) = self.ask_again(&model_answer::ideas_request(&material, self.deadline()))? else {
            return Ok(mine::ideas(&self.by_rules()));
        };
        let evidence = MessageEvidence::new(self.window.messages, &self.context.zone);
        Ok(model_answer::ideas(&answer, &evidence, &self.noise()))
    }

    /// Asks another question about the same window; `None` if the rules should answer.
    fn ask_again(&self, request: &LlmRequest) -> Result<Option<String>, StepError> {
        let Ok(Some(model)) = self.context.model(ModelJob::Observer) else { return Ok(None) };
        match self.ask_once(&model, request) {
            Ok(said) => Ok(Some(said)),
            Err(ObserverFailure::Wait(error)) => Err(error),
            Err(ObserverFailure::GiveUp(_)) => Ok(None),
        }
    }
}

enum ObserverFailure {
    /// The step fails and is retried.
    Wait(StepError),
    /// The rules replace the model.
    GiveUp(String),
}
