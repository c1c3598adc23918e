//! `rekindle llm`: chooses and tests a language model.

use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use rekindle_core::base::agent::Agent;
use rekindle_core::config::{LlmProvider, LlmSettings as Settings, keys};
use rekindle_core::llm::prompts;
use rekindle_core::llm::{
    AnswerFormat, Cost, Error, FailureOwner, LanguageModel, LlmAnswer, LlmBudget, LlmPrompt, LlmRequest,
    RetryAdvice, TokenUsage,
};
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::config;
use rekindle_engine::llm::cost::{SpendingCaps, usage_by_day};
use rekindle_engine::llm::{self, DataEgress, ModelJob, ProviderEnvironment};
use rekindle_engine::platform::db::Database;
use rekindle_engine::project;
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::dialog;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

/// The word that a test request asks for.
const PROBE_WORD: &str = "ember";
/// The budget of a test request: a cent, and enough tokens for a model that thinks first.
const PROBE_BUDGET: LlmBudget = LlmBudget { tokens: 1000, cost: Cost { micro_dollars: 10_000 } };

#[derive(Args)]
#[command(after_help = "\
By default there is no language model: rules on this machine process sessions, and nothing leaves it. Keys are read
from the environment and never stored. docs/models.md compares the providers.

Examples:
  rekindle llm
  rekindle llm --probe
  rekindle llm use command --program claude
  rekindle llm use openai --url http://127.0.0.1:11434/v1 --model ollama/qwen3:8b
  rekindle llm use offline
  rekindle llm test")]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    verb: Option<LlmCommand>,
    /// Also check for model servers on this machine (Ollama, llama.cpp, LM Studio, vLLM)
    #[arg(long)]
    probe: bool,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum LlmCommand {
    /// Choose a provider, after you have seen what would leave your machine
    #[command(after_help = "\
Examples:
  rekindle llm use command --program claude
  rekindle llm use command --program codex --model openai/gpt-5-mini
  rekindle llm use anthropic
  rekindle llm use openai --model openai/gpt-5-mini
  rekindle llm use openai --url http://127.0.0.1:8080/v1 --model local/any --yes
  rekindle llm use offline")]
    Use(UseArgs),
    /// Send a test request, and show its time and cost
    #[command(after_help = "\
This is a real call: it counts towards your limits and costs well below a cent.

Examples:
  rekindle llm test
  rekindle llm test --reflector
  rekindle llm test --schema --json")]
    Test {
        /// Ask the model of llm.reflector_model instead of llm.observer_model
        #[arg(long)]
        reflector: bool,
        /// Ask for JSON that follows a schema
        #[arg(long)]
        schema: bool,
    },
}

#[derive(Args)]
struct UseArgs {
    /// The provider
    #[arg(value_enum)]
    provider: ProviderChoice,
    /// With `command`: claude, codex, gemini, pi, or any program that reads a question and prints an answer
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
    /// With `anthropic` and `openai`: the address of the server
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The model, as provider/model
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// Choose it without confirmation
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProviderChoice {
    Offline,
    Command,
    Anthropic,
    Openai,
}

impl LlmArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            None => show(context, self.probe, self.json),
            Some(LlmCommand::Use(choice)) => choice.run(context, self.json),
            Some(LlmCommand::Test { reflector, schema }) => test(context, reflector, schema, self.json),
        }
    }
}

/// Shows the model in use and the models found on this machine.
fn show(context: &CommandContext<'_>, probe: bool, json: bool) -> Result<(), CliError> {
    let settings = &context.settings.config.llm;
    let around = ProviderEnvironment::from_environment(&context.places, &context.settings.config);
    let found = AvailableProviders::detect(settings, &around);
    let listening = if probe { llm::listening_servers() } else { Vec::new() };
    let state = LlmStatus::read(context, settings)?;
    let problem = ModelJob::ALL.iter().find_map(|job| llm::model(settings, *job, &around).err());
    if json {
        let mut object = state.json(settings);
        object["found"] = found.json();
        object["found"]["servers"] =
            listening.iter().map(|one| json!({"name": one.name, "url": one.url})).collect();
        object["problem"] = json!(problem.map(|problem| problem.message));
        return context.out.json(&object);
    }
    let row = |name: &str, value: String| {
        context.out.line(format!("{}  {value}", context.out.styled(TextStyle::Dim, pad_column(name, 10))))
    };
    row("in use", in_use(settings))?;
    if settings.provider != LlmProvider::Offline {
        for job in ModelJob::ALL {
            let model = job.model(settings);
            let price = llm::configured_price(settings, model).map_or_else(
                || "unknown price".to_owned(),
                |price| {
                    format!(
                        "${} in, ${} out per million tokens ({})",
                        price.input,
                        price.output,
                        llm::PRICES_DATE
                    )
                },
            );
            let name = if job == ModelJob::Observer { "observer" } else { "reflector" };
            row(name, format!("{}, {price}", model.as_str()))?;
        }
    }
    row("leaves", describe_egress(&state.leaves))?;
    row("today", state.today())?;
    if let Some(problem) = problem {
        context.out.warn(problem);
    }
    let mut offers = found.offers();
    offers.extend(listening.iter().map(|one| {
        (
            format!("{} may answer at {}", one.name, one.url),
            format!("openai --url {} --model local/NAME", one.url),
        )
    }));
    context.out.line("")?;
    if offers.is_empty() {
        return context
            .out
            .line("Found no agent on the PATH and no key in the environment. That is fine: Rekindle works without a model.");
    }
    context.out.line("Found on this machine, unused until you choose one:")?;
    let width = offers.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    for (what, command) in offers {
        context.out.line(format!("  {}  rekindle llm use {command}", pad_column(&what, width)))?;
    }
    Ok(())
}

impl UseArgs {
    fn run(self, context: &CommandContext<'_>, json: bool) -> Result<(), CliError> {
        context.require_person("choose a language model")?;
        let provider = match self.provider {
            ProviderChoice::Offline => LlmProvider::Offline,
            ProviderChoice::Command => LlmProvider::Command,
            ProviderChoice::Anthropic => LlmProvider::Anthropic,
            ProviderChoice::Openai => LlmProvider::Openai,
        };
        let changes = self.changes(provider, &context.settings.config.llm)?;
        // The settings after the change, validated before anything is written.
        let root = project::locate(&context.cwd, None).map(|place| place.root);
        let settings = config::read(&context.home, root.as_deref(), &changes)?.config.llm;
        let around = ProviderEnvironment::from_environment(&context.places, &context.settings.config);
        for job in ModelJob::ALL {
            llm::model(&settings, job, &around).map_err(|error| failure(&error))?;
        }
        let state = LlmStatus::read(context, &settings)?;
        if provider != LlmProvider::Offline && !self.yes {
            if json || !dialog::is_possible() {
                return Err(CliError::usage(format!(
                    "{}; nothing was changed",
                    describe_egress(&state.leaves)
                ))
                .hint("to agree, add `--yes`"));
            }
            context.out.line(in_use(&settings))?;
            context.out.line(describe_egress(&state.leaves))?;
            if !dialog::yes("Use it?", false)? {
                context.out.note(dialog::CANCELLED_TEXT);
                return Ok(());
            }
        }
        for (key, value) in &changes {
            config::set(&context.home, key, value)?;
        }
        let counts = config::read(&context.home, None, &[])?;
        if let Ok(setting) = counts.get("llm.provider")
            && counts.config.llm.provider != provider
        {
            context.out.warn(format!("the change is saved, but {} overrides it", setting.place));
        }
        if json {
            return context.out.json(&state.json(&settings));
        }
        context.out.line(format!("{}. {}.", in_use(&settings), describe_egress(&state.leaves)))?;
        if provider != LlmProvider::Offline {
            context
                .out
                .note("Test it with `rekindle llm test`; turn it off with `rekindle llm use offline`.");
        }
        Ok(())
    }

    /// The changes to the settings. The provider comes last, so that no model is called before the rest is
    /// written.
    fn changes(&self, provider: LlmProvider, now: &Settings) -> Result<Vec<(String, String)>, CliError> {
        let misplaced =
            |option: &str| CliError::usage(format!("{option} does not apply to {}", provider.as_str()));
        let mut changes: Vec<(&str, String)> = Vec::new();
        match (provider, &self.program) {
            (LlmProvider::Command, Some(program)) => changes.push(("llm.command.program", program.clone())),
            (LlmProvider::Command, None) if now.command.program.is_empty() => {
                return Err(CliError::usage("which program?")
                    .hint("use `--program claude`, or codex, gemini, pi or another program"));
            }
            (_, Some(_)) => return Err(misplaced("--program")),
            _ => {}
        }
        match (provider, &self.url) {
            (LlmProvider::Anthropic, Some(url)) => changes.push(("llm.anthropic.url", url.clone())),
            (LlmProvider::Openai, Some(url)) => changes.push(("llm.openai.url", url.clone())),
            (_, Some(_)) => return Err(misplaced("--url")),
            _ => {}
        }
        if provider == LlmProvider::Offline && self.model.is_some() {
            return Err(misplaced("--model"));
        }
        let models = match &self.model {
            Some(model) => Some([model.clone(), model.clone()]),
            None => self.usual_models(provider, now)?,
        };
        if let Some(models) = models {
            changes.extend(ModelJob::ALL.map(ModelJob::setting).into_iter().zip(models));
        }
        changes.push(("llm.provider", provider.as_str().to_owned()));
        Ok(changes.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The default models, if the configured ones belong to another provider: the shipped ones, or the
    /// program's own choice.
    fn usual_models(&self, provider: LlmProvider, now: &Settings) -> Result<Option<[String; 2]>, CliError> {
        let named = self.program.as_deref().unwrap_or(&now.command.program);
        let agent: Option<Agent> =
            std::path::Path::new(named).file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let fits =
            |makers: &[&str]| ModelJob::ALL.iter().all(|job| makers.contains(&job.model(now).provider()));
        let shipped = || {
            let default = |job: ModelJob| keys().into_iter().find(|key| key.name == job.setting());
            ModelJob::ALL.map(|job| default(job).map_or_else(String::new, |key| key.default.to_string()))
        };
        let its_choice = |word: &str| [format!("{word}/default"), format!("{word}/default")];
        Ok(match (provider, agent) {
            (LlmProvider::Anthropic, _) => Some(shipped()).filter(|_| !fits(&["anthropic"])),
            (LlmProvider::Command, Some(Agent::Claude)) => {
                Some(shipped()).filter(|_| !fits(&["anthropic", "claude"]))
            }
            (LlmProvider::Command, Some(Agent::Codex)) => {
                Some(its_choice("codex")).filter(|_| !fits(&["openai", "codex"]))
            }
            (LlmProvider::Command, Some(Agent::Gemini)) => {
                Some(its_choice("gemini")).filter(|_| !fits(&["google", "gemini"]))
            }
            (LlmProvider::Command, Some(Agent::Pi)) => Some(its_choice("pi")).filter(|_| !fits(&["pi"])),
            (LlmProvider::Command, None) => Some(its_choice("command")).filter(|_| !fits(&["command"])),
            // A custom server has models of its own.
            (LlmProvider::Openai, _)
                if ["anthropic", "claude", "codex", "gemini", "google", "pi", "command"]
                    .contains(&now.observer_model.provider()) =>
            {
                return Err(CliError::usage("which model?")
                    .hint("use `--model openai/NAME` with a model of that server"));
            }
            (LlmProvider::Openai | LlmProvider::Offline, _) => None,
        })
    }
}

fn test(context: &CommandContext<'_>, reflector: bool, schema: bool, json: bool) -> Result<(), CliError> {
    let settings = &context.settings.config.llm;
    let job = if reflector { ModelJob::Reflector } else { ModelJob::Observer };
    let Some(model) = context.stage_context().model(job).map_err(|error| failure(&error))? else {
        return match json {
            true => context.out.json(&json!({"provider": "offline", "ok": true})),
            false => context.out.line(
                "No model is in use, so there is nothing to test. Rekindle works with rules on this machine.",
            ),
        };
    };
    let request = LlmRequest {
        prompt: LlmPrompt::new(prompts::PROBE, PROBE_WORD),
        expects: match schema {
            true => {
                AnswerFormat::Schema(json!({"type": "object", "properties": {"word": {"type": "string"}},
                "required": ["word"], "additionalProperties": false}))
            }
            false => AnswerFormat::Tags(&["word"]),
        },
        deadline: Duration::from_secs(settings.timeout_seconds.into()),
        budget: PROBE_BUDGET,
    };
    let began = Instant::now();
    let result =
        context.out.with_progress(&format!("asking {} …", model.name()), || model.answer(&request));
    let took = began.elapsed();
    let answer = match result {
        Ok(answer) => answer,
        Err(error) if json => {
            context
                .out
                .json(&json!({"provider": settings.provider.as_str(), "model": model.name(), "ok": false,
                "fault": fault(&error), "retry": error.retry != RetryAdvice::Never, "error": error.message}))?;
            return Err(CliError::reported());
        }
        Err(error) => return Err(failure(&error)),
    };
    let understood = is_expected_answer(&answer, schema);
    if json {
        return context.out.json(&json!({
            "provider": settings.provider.as_str(),
            "model": model.name(),
            "ok": true,
            "understood": understood,
            "whole": answer.whole,
            "seconds": took.as_secs_f64(),
            "inputTokens": answer.usage.map(|usage| usage.input),
            "outputTokens": answer.usage.map(|usage| usage.output),
            "dollars": answer.cost.map(|cost| cost.micro_dollars as f64 / 1e6),
        }));
    }
    let tokens = answer.usage.map_or_else(
        || "token count unknown".to_owned(),
        |TokenUsage { input, output }| format!("{input} tokens in, {output} out"),
    );
    let cost = answer.cost.map_or_else(|| "cost unknown".to_owned(), |cost| cost.to_string());
    context.out.line(format!(
        "{} answered after {:.1} s: {tokens}, {cost}.",
        model.name(),
        took.as_secs_f64()
    ))?;
    if !understood {
        context.out.warn("it answered, but not in the requested format; a larger model may do better");
    }
    Ok(())
}

/// True if the word came back in the requested form.
fn is_expected_answer(answer: &LlmAnswer, schema: bool) -> bool {
    match schema {
        true => {
            serde_json::from_str::<Value>(answer.text.trim()).is_ok_and(|value| value["word"] == PROBE_WORD)
        }
        false => answer.text.contains(&format!("<word>{PROBE_WORD}</word>")),
    }
}

fn fault(error: &Error) -> &'static str {
    match error.fault {
        FailureOwner::Ours => "rekindle",
        FailureOwner::Provider => "provider",
        FailureOwner::Person => "you",
    }
}

/// Converts a model failure into a command failure.
fn failure(error: &Error) -> CliError {
    let failure = CliError::new(&error.message);
    match (error.fault, error.retry) {
        (FailureOwner::Provider, RetryAdvice::After(wait)) if !wait.is_zero() => {
            failure.hint(format!("try again in {} s", wait.as_secs().max(1)))
        }
        (FailureOwner::Provider, RetryAdvice::After(_)) => failure.hint("try again"),
        _ => failure,
    }
}

/// Describes the provider in a few words.
fn in_use(settings: &Settings) -> String {
    match settings.provider {
        LlmProvider::Offline => "offline: rules on this machine, no model".to_owned(),
        LlmProvider::Command => format!("command: {}", settings.command.program),
        LlmProvider::Anthropic => format!("anthropic: {}", settings.anthropic.url),
        LlmProvider::Openai => format!("openai: {}", settings.openai.url),
    }
}

/// Describes the data that leaves the machine.
fn describe_egress(leaves: &DataEgress) -> String {
    match leaves {
        DataEgress::Nothing => "Nothing leaves this machine".to_owned(),
        DataEgress::Program { program, to } => {
            format!("Session text, without secrets, goes to {program} and from there to {to}")
        }
        DataEgress::House { host } => {
            format!("Session text, without secrets, goes to {host}, on this machine or a private network")
        }
        DataEgress::Server { host } => format!("Session text, without secrets, goes to {host}"),
    }
}

/// The models found on this machine.
pub(super) struct AvailableProviders {
    programs: Vec<llm::AgentProgram>,
    keys: Vec<(LlmProvider, String)>,
}

impl AvailableProviders {
    pub(super) fn detect(settings: &Settings, around: &ProviderEnvironment) -> Self {
        let keys = [
            (LlmProvider::Anthropic, &settings.anthropic.key_variable),
            (LlmProvider::Openai, &settings.openai.key_variable),
        ];
        let set = keys.into_iter().filter(|(_, name)| around.variable(name).is_some());
        Self {
            programs: llm::agents_on_path(around),
            keys: set.map(|(provider, name)| (provider, name.clone())).collect(),
        }
    }

    /// One line per model: its name, and the command that chooses it.
    fn offers(&self) -> Vec<(String, String)> {
        let program = |found: &llm::AgentProgram| {
            let version = found.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
            (format!("{}{version}", found.agent.name()), format!("command --program {}", found.agent))
        };
        let key = |(provider, name): &(LlmProvider, String)| {
            let command = match provider {
                LlmProvider::Openai => "openai --model openai/NAME",
                _ => "anthropic",
            };
            (format!("{name} is set"), command.to_owned())
        };
        self.programs.iter().map(program).chain(self.keys.iter().map(key)).collect()
    }

    /// One line for `rekindle init`, if a model was found.
    pub(super) fn describe_found(&self) -> Option<String> {
        let names: Vec<String> = self.offers().into_iter().map(|(what, _)| what).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Rekindle works without a language model. To let one help, see `rekindle llm` (found: {}).",
                names.join(", ")
            )
        })
    }

    pub(super) fn json(&self) -> Value {
        let program = |found: &llm::AgentProgram| json!({"program": found.agent, "path": found.path, "version": found.version});
        json!({
            "programs": self.programs.iter().map(program).collect::<Vec<_>>(),
            "keys": self.keys.iter().map(|(_, name)| name).collect::<Vec<_>>(),
        })
    }
}

/// The provider, the data that leaves for it, and its cost today.
pub(super) struct LlmStatus {
    leaves: DataEgress,
    tokens: u64,
    cost: Cost,
    calls: u64,
    /// The reason why no model is called for the rest of the day.
    exhausted: Option<String>,
}

impl LlmStatus {
    pub(super) fn read(context: &CommandContext<'_>, settings: &Settings) -> Result<Self, CliError> {
        let today = match Database::open_existing(&context.places.database())? {
            Some(db) => usage_by_day(&db, 1, &context.now)?,
            None => Vec::new(),
        };
        let micro_dollars = today.iter().map(|one| one.cost.micro_dollars).sum();
        Ok(Self {
            leaves: llm::data_egress(settings),
            tokens: today.iter().map(|one| one.usage.input + one.usage.output).sum(),
            cost: Cost { micro_dollars },
            calls: today.iter().map(|one| one.calls).sum(),
            exhausted: SpendingCaps::from_settings(settings, settings.provider)
                .exhausted_reason(&today)
                .filter(|_| settings.provider != LlmProvider::Offline),
        })
    }

    fn today(&self) -> String {
        let asked = match self.calls {
            0 => "no model calls".to_owned(),
            calls => format!("{}, {} tokens, {}", count_phrase(calls, "model call"), self.tokens, self.cost),
        };
        match &self.exhausted {
            Some(why) => format!("{asked}; {why}, so rules take over"),
            None => asked,
        }
    }

    /// The lines for `rekindle status`.
    pub(super) fn lines(&self, settings: &Settings) -> [String; 3] {
        [in_use(settings), describe_egress(&self.leaves), format!("today {}", self.today())]
    }

    pub(super) fn json(&self, settings: &Settings) -> Value {
        let (to, host) = match &self.leaves {
            DataEgress::Nothing => ("nobody", None),
            DataEgress::Program { program, .. } => ("program", Some(program)),
            DataEgress::House { host } => ("private", Some(host)),
            DataEgress::Server { host } => ("server", Some(host)),
        };
        let price = |job: ModelJob| {
            let price = llm::configured_price(settings, job.model(settings))?;
            Some(json!({"input": price.input, "output": price.output, "asOf": llm::PRICES_DATE}))
        };
        json!({
            "provider": settings.provider.as_str(),
            "observerModel": settings.observer_model.as_str(),
            "reflectorModel": settings.reflector_model.as_str(),
            "dollarsPerMillion": {"observer": price(ModelJob::Observer), "reflector": price(ModelJob::Reflector)},
            "leaves": {"to": to, "name": host},
            "today": {"calls": self.calls, "tokens": self.tokens, "dollars": self.cost.micro_dollars as f64 / 1e6,
                "exhausted": self.exhausted},
        })
    }
}
