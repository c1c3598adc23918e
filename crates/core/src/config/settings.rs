//! The settings as the program uses them: one struct per table of `defaults.toml`.

use serde::{Deserialize, Serialize};

use super::notes::ReadNotes;

/// Every setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The person.
    pub user: User,
    /// Where memories are.
    pub vault: Vault,
    /// Where the rest is.
    pub paths: Paths,
    /// The identity files of all agents.
    pub identity: Identity,
    /// What is remembered, and how.
    pub memory: Memory,
    /// The current project.
    pub project: Project,
    /// When a session is looked at.
    pub capture: Capture,
    /// What is made of a session.
    pub observe: Observe,
    /// When observations are reflected on.
    pub reflect: Reflect,
    /// When there is enough to look for what keeps going wrong.
    pub friction: Friction,
    /// How a person is asked.
    pub review: Review,
    /// What a prompt gets.
    pub recall: Recall,
    /// The models that write.
    pub llm: Llm,
    /// The model that embeds.
    pub embed: Embed,
    /// What can be recalled.
    pub index: Index,
    /// What agents may do with our tools.
    pub mcp: Mcp,
    /// What might be done one day.
    pub ideas: Ideas,
    /// Servers, for those who run them.
    pub engines: Engines,
    /// Days and nights.
    pub time: Time,
}

/// The person (GEN-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The display name; empty if none was given.
    pub name: String,
}

/// Where memories are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vault {
    /// The notes vault, as written; empty for the default. `engine::home` makes a path of it.
    pub notes: String,
    /// The folder in it.
    pub folder: String,
}

/// Where the rest is (GEN-02), as written; empty for the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    /// The state folder.
    pub state: String,
    /// The identity folder.
    pub identity: String,
}

/// The identity files of all agents (IDN-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Folders whose `AGENTS.md` must be the same file.
    pub links: Vec<String>,
}

/// What is remembered, and how (OPS-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The kill switch (OPS-03).
    pub enabled: bool,
    /// Where a new memory applies.
    pub scope: ScopeRule,
    /// What happens to inferred memories (SID-07).
    pub review_mode: ReviewMode,
    /// How much the logs tell.
    pub log_level: LogLevel,
    /// Thresholds.
    pub confidence: Confidence,
}

/// Where a new memory applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeRule {
    /// The project one is in, else everywhere.
    Auto,
    /// Everywhere.
    Global,
    /// The project one is in; outside of one there is nothing to save to.
    Project,
}

/// What happens to inferred memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// The person is asked.
    Interactive,
    /// They wait in the inbox.
    Silent,
}

/// How much the logs tell, each level with the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What failed.
    Error,
    /// What may need attention.
    Warn,
    /// What was done.
    Info,
    /// Traces.
    Debug,
}

/// Thresholds of confidence; `high` is never below `medium`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// Explicit from here up.
    pub high: f64,
    /// Inferred from here up.
    pub medium: f64,
}

/// The current project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// For display only; empty for none. It may come from a cloned repository, which must not be able to
    /// claim another project's memories, so it never takes part in [`crate::base::scope::ProjectId`].
    pub name: String,
}

/// When a session is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// A session that ends with fewer messages by the person is not observed (CAP-02).
    pub min_user_messages: u32,
    /// Silence after which a session counts as over (EXE-15).
    pub idle_minutes: u32,
    /// The same for one of which nothing but its start is known (EXE-14).
    pub dead_minutes: u32,
    /// Whether prompts of sessions without a person at the keyboard are the person's words.
    pub headless: bool,
    /// Whether hooks may start a worker.
    pub background: bool,
}

/// When observations are reflected on (REF-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reflect {
    /// A day that has more tokens of observations than this is not left for the morning.
    pub threshold_tokens: u64,
}

/// When there is enough to look for what keeps going wrong (FRI-07).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Friction {
    /// So many observations have to be known.
    pub min_observations: usize,
    /// They have to go back so many days.
    pub min_days: i64,
    /// Something has to come up in so many sessions.
    pub min_sessions: usize,
}

/// How a person is asked about proposals (B-07, REV-10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// So many are shown a day; 0 for all.
    pub per_day: usize,
    /// What nobody decided on for so many days is archived.
    pub expire_days: u32,
    /// Whether a terminal is asked line by line, and not filled.
    pub plain: bool,
    /// Who looks at proposals before the person is asked (REV-09, X-07).
    pub triage: Triage,
    /// So many straight approvals earn a category to be promoted without asking (FUT-03).
    pub earn: u32,
    /// Whether a model grades what was inferred, for the person to see (SID-09).
    pub grade: bool,
    /// Tasks.
    pub todoist: Todoist,
    /// Buttons.
    pub telegram: Telegram,
}

/// A person is asked by tasks (REV-05). Keys are in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todoist {
    /// Whether anything is sent there. Not until the person says so.
    pub enabled: bool,
    /// Where the API answers, without the /api/v1.
    pub url: String,
    /// The variable that holds the key.
    pub key_variable: String,
    /// The variable that holds what webhooks are signed with.
    pub secret_variable: String,
}

/// A person is asked by messages with buttons (REV-08). Keys are in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telegram {
    /// Whether anything is sent there. Not until the person says so.
    pub enabled: bool,
    /// Where the Bot API answers.
    pub url: String,
    /// The variable that holds the bot's token.
    pub key_variable: String,
    /// The variable that holds what webhooks carry as a proof.
    pub secret_variable: String,
    /// The chat that is asked, and the only one that is listened to; 0 for none.
    pub chat: i64,
    /// Who decides in a group; 0 for nobody.
    pub user: i64,
}

/// Who looks at proposals before the person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Triage {
    /// Rules, then a model if the settings name one.
    On,
    /// Rules.
    Rules,
    /// Nobody.
    Off,
}

/// What a prompt gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// How many memories at most.
    pub k: usize,
    /// Whether a model may reword the question (REC-05). Off means: no text leaves for it, ever.
    pub rewrite: bool,
    /// How two rankings become one.
    pub fusion: Fusion,
    /// How age lowers a score.
    pub decay: Decay,
    /// Whether memories are looked up before tools run (BRF-08).
    pub before_tools: bool,
    /// The share of sessions that are left without recall, to compare.
    pub holdout: f64,
    /// The notes outside the vault that are read.
    pub notes: ReadNotes,
    /// The weights of [`Fusion::Linear`].
    pub linear: Linear,
}

/// How hits of the word search and of the vector search become one ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// Whatever measures best on the development benchmarks.
    Default,
    /// The weighted sum of REC-02.
    Linear,
}

/// How age lowers a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decay {
    /// Only so far that relevance still comes first.
    Bounded,
    /// `exp(-0.01 x days)`, as REC-03 has it.
    Literal,
    /// Not at all.
    Off,
}

/// The weights of the weighted sum (REC-02); none of them is negative, and all are finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// What a similarity of 1 is worth.
    pub similarity: f64,
    /// What every matching word is worth.
    pub keyword: f64,
    /// How many matching words count at most, as written: 0 is no limit. [`Linear::matches`] applies it.
    pub keyword_cap: usize,
}

impl Linear {
    /// How many of `matching` words count.
    pub fn matches(&self, matching: usize) -> usize {
        if self.keyword_cap == 0 { matching } else { matching.min(self.keyword_cap) }
    }
}

/// The models that write (OBS-02, REF-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// Who is asked.
    pub provider: Provider,
    /// Sessions to observations.
    pub observer_model: Model,
    /// Observations to proposals.
    pub reflector_model: Model,
    /// How long an answer may take.
    pub timeout_seconds: u32,
    /// Tokens of a session that a model is shown at once.
    pub context_tokens: u32,
    /// Tokens that may be used in a day, by all providers together; 0 is no limit (B-04).
    pub daily_tokens: u64,
    /// Dollars that may be spent in a day, by all providers together; 0 is no limit.
    pub daily_dollars: f64,
    /// A program of the person's.
    pub command: Program,
    /// A server that speaks Anthropic's Messages API.
    pub anthropic: Server,
    /// A server that speaks OpenAI's chat completions.
    pub openai: Server,
}

impl Llm {
    /// What a provider may use in a day: tokens and dollars, each 0 for no limit (B-04).
    pub fn daily(&self, provider: Provider) -> (u64, f64) {
        match provider {
            Provider::Offline => (0, 0.0),
            Provider::Command => (self.command.daily_tokens, self.command.daily_dollars),
            Provider::Anthropic => (self.anthropic.daily_tokens, self.anthropic.daily_dollars),
            Provider::Openai => (self.openai.daily_tokens, self.openai.daily_dollars),
        }
    }
}

/// Who is asked for what a language model is to do. Nobody, until the person says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// No model; rules.
    Offline,
    /// A program of the person's.
    Command,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions, or a server that speaks like it.
    Openai,
}

impl Provider {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Offline, Self::Command, Self::Anthropic, Self::Openai];

    /// The word for it in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Command => "command",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }
}

/// A program that answers (OBS-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name or path; empty for none.
    pub program: String,
    /// For programs that Rekindle does not know.
    pub arguments: Vec<String>,
    /// Tokens that may be used in a day; 0 is no limit.
    pub daily_tokens: u64,
    /// Dollars that may be spent in a day; 0 is no limit.
    pub daily_dollars: f64,
}

/// A server that answers. Its key is in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its address, without credentials.
    pub url: String,
    /// The variable that holds the key.
    pub key_variable: String,
    /// Tokens that may be used in a day; 0 is no limit.
    pub daily_tokens: u64,
    /// Dollars that may be spent in a day; 0 is no limit.
    pub daily_dollars: f64,
}

/// Sessions to observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// What the write gate may do (FBK-08).
    pub gate: Gate,
}

/// What the write gate may do. It takes notes until it has been compared with what people keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// Say of every observation what it thinks.
    Annotate,
    /// Nothing.
    Off,
}

/// The model that embeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embed {
    /// Text to vectors.
    pub model: Model,
}

/// What can be recalled (STO-14).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Whether a command may leave work to a process of its own.
    pub background: bool,
}

/// What agents may do with our tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    /// Whether they may decide on proposals (B-01).
    pub review_decide: bool,
}

/// What might be done one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ideas {
    /// After so many months without a promotion or a mention an idea is listed for a decision (IDEA-06).
    pub gc_months: u32,
    /// Whether and how ideas are looked into.
    pub research: Research,
}

/// A program of the person's that looks into ideas, and may ask the web (X-22, IDEA-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Research {
    /// Whether it is asked at all.
    pub when: ResearchWhen,
    /// Its name or path; empty for none.
    pub program: String,
    /// What it is started with.
    pub arguments: Vec<String>,
    /// Minutes it may take for one idea.
    pub minutes: u32,
    /// Pages it is told it may fetch for one idea.
    pub fetches: u32,
    /// Tokens of what it finds that are kept.
    pub tokens: u32,
}

/// When ideas are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResearchWhen {
    /// Never.
    Off,
    /// When the person asks for it.
    Asked,
    /// Whenever one comes up.
    Always,
}

/// A model and who provides it. [`super::load`] lets only `provider/model` through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Model(String);

impl Model {
    /// A program that is asked for what it does itself, by whatever model.
    pub fn of_a_program() -> Self {
        Self("command/program".to_owned())
    }

    /// `provider/model`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is before the first slash.
    pub fn provider(&self) -> &str {
        self.0.split_once('/').map_or("", |(provider, _)| provider)
    }

    /// What is after the first slash; may have slashes of its own.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(self.as_str(), |(_, name)| name)
    }
}

/// Servers, for those who run them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engines {
    /// Qdrant.
    pub qdrant: Qdrant,
}

/// A Qdrant server (STO-06).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qdrant {
    /// Its address, without credentials.
    pub url: String,
    /// The collection of observations.
    pub collection: String,
}

/// Days and nights (EXE-08).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// An IANA zone; empty for the system's.
    pub zone: String,
}
