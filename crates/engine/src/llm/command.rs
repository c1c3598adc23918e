//! A local program as language model (OBS-01): the agent that the user has and pays for anyway, or any other
//! program that reads a question and prints an answer.
//!
//! The question goes in by stdin, never as an argument and never through a shell (SEC-09, CAP-22). The
//! program runs in an empty folder that is deleted afterwards, without the session variables that the worker
//! may have inherited, and with the guard that keeps our own hooks quiet (B-04). At the deadline it ends with
//! all its child processes.

mod invocation;
mod output;
mod process;
mod scratch;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::config::{LlmSettings, ModelName as Name, ResearchSettings};
use rekindle_core::hosts::hook::GUARD_VARIABLE;
use rekindle_core::llm::{Error, LanguageModel, LlmAnswer, LlmRequest};

use self::process::{FinishedProcess, ProcessEnd};
use self::scratch::ScratchFolder;
use super::http::AnswerDeadline;
use super::prices::{self, ModelPrice};
use super::{ModelJob, ProviderEnvironment, failure_report, within_budget};
use crate::platform::background;

pub(super) use self::invocation::agent;

/// The retry delay after a failed program.
const FAILURE_RETRY_AFTER: Duration = Duration::from_secs(30);
/// The maximum time reserved for cleaning up after an answer. It is part of the deadline, because the caller
/// waits for the clean-up too.
const MAX_CLEANUP_TIME: Duration = Duration::from_secs(10);

pub(super) struct CommandModel {
    program: PathBuf,
    agent: Option<Agent>,
    name: Name,
    /// The model name in the program's own form; `None` for its default.
    model: Option<String>,
    arguments: Vec<String>,
    limit: Duration,
    price: Option<ModelPrice>,
    environment: ProviderEnvironment,
}

impl CommandModel {
    pub(super) fn new(
        settings: &LlmSettings,
        name: &Name,
        job: ModelJob,
        limit: Duration,
        around: &ProviderEnvironment,
    ) -> Result<Self, Error> {
        let named = &settings.command.program;
        if named.is_empty() {
            return Err(failure_report::user_error(
                "llm.command.program is empty; set it with `rekindle llm use command --program claude`",
            ));
        }
        let program = around.program(named).ok_or_else(|| {
            failure_report::user_error(format!(
                "{named} (llm.command.program) is neither a program on the PATH nor the full path of one"
            ))
        })?;
        let agent = agent(named);
        let model = invocation::model(agent, name).map_err(|expected| {
            failure_report::user_error(format!(
                "{} is {}, which is not a model of {named}; set it to {expected}",
                job.setting(),
                name.as_str()
            ))
        })?;
        Ok(Self {
            program,
            agent,
            name: name.clone(),
            model,
            arguments: settings.command.arguments.clone(),
            limit,
            price: prices::vendor_price(name.provider(), name.name()),
            environment: around.clone(),
        })
    }

    /// The program that researches ideas by its own means. It always runs as an unknown program.
    pub(super) fn researcher(
        settings: &ResearchSettings,
        around: &ProviderEnvironment,
    ) -> Result<Self, Error> {
        let named = &settings.program;
        let program = around.program(named).filter(|_| !named.is_empty()).ok_or_else(|| {
            failure_report::user_error(format!(
                "ideas.research.program is `{named}`, which is neither a program on the PATH nor the full path of one"
            ))
        })?;
        let name = Name::for_program();
        Ok(Self {
            program,
            agent: None,
            name,
            model: None,
            arguments: settings.arguments.clone(),
            limit: Duration::from_secs(60 * u64::from(settings.minutes)),
            price: None,
            environment: around.clone(),
        })
    }

    fn variables(&self, added: Vec<(&'static str, OsString)>) -> Vec<(OsString, OsString)> {
        let is_ours = |name: &OsStr| name.to_str().is_none_or(|name| !background::is_session_variable(name));
        let kept = self.environment.variables.iter().filter(|(name, _)| is_ours(name));
        let mut variables: Vec<_> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        variables.push((GUARD_VARIABLE.into(), "1".into()));
        variables.extend(added.into_iter().map(|(name, value)| (name.into(), value)));
        variables
    }
}

impl LanguageModel for CommandModel {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        within_budget(self.price, request)?;
        let deadline = AnswerDeadline::new(request, self.limit);
        let unusable = |error| {
            failure_report::internal_error(format!(
                "could not create a folder for {} to run in: {error}",
                self.display_name()
            ))
        };
        let scratch = ScratchFolder::new(&self.environment.scratch).map_err(unusable)?;
        let call = invocation::build_invocation(self, request, &scratch).map_err(unusable)?;
        let variables = self.variables(call.variables);
        let run = |arguments: &[OsString], input: &str, patience| {
            process::run(&self.program, arguments, scratch.work_folder(), &variables, input, patience)
        };
        let kept =
            call.afterwards.as_ref().map_or(Duration::ZERO, |_| MAX_CLEANUP_TIME.min(deadline.length / 3));
        let result = run(&call.arguments, &call.input, deadline.remaining().saturating_sub(kept));
        if let Some(arguments) = call.afterwards {
            run(&arguments, "", deadline.remaining())
                .ignore_failure("the answer counts even if the clean-up fails");
        }
        let ended = result.map_err(|error| {
            failure_report::user_error(format!("cannot start {}: {}", self.program.display(), error.kind()))
        })?;
        self.parse_output(&ended, request, deadline.length)
    }
}

impl CommandModel {
    /// The program's name in messages to the user.
    fn display_name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn parse_output(
        &self,
        ended: &FinishedProcess,
        request: &LlmRequest,
        deadline: Duration,
    ) -> Result<LlmAnswer, Error> {
        let word = self.display_name();
        let output = output::read(self.agent, &ended.stdout);
        let cost = output.cost.or_else(|| Some(self.price?.cost_of(output.usage?)));
        let lost = |error: Error| Err(error.with_usage(output.usage, cost));
        let code = match ended.end {
            ProcessEnd::Late => return lost(Error::timed_out(deadline)),
            ProcessEnd::Flood => {
                return lost(failure_report::refusal_error(format!(
                    "{word} printed too much output for an answer"
                )));
            }
            ProcessEnd::Exit(code) => code,
        };
        if let Some(failure) = &output.failure {
            return lost(failure.to_error(&word, request));
        }
        if code != Some(0) {
            let how = code.map_or_else(|| "was killed".to_owned(), |code| format!("exited with code {code}"));
            return lost(failure_report::provider(
                FAILURE_RETRY_AFTER,
                format!("{word} {how}{}", failure_report::reported_text(&ended.stderr, request, None)),
            ));
        }
        if output.text.trim().is_empty() {
            let said = failure_report::reported_text(&ended.stderr, request, None);
            return lost(failure_report::provider(
                Duration::ZERO,
                format!("{word} returned no answer{said}"),
            ));
        }
        Ok(LlmAnswer { text: output.text, whole: output.whole, usage: output.usage, cost })
    }
}
