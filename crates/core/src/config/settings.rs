//! The settings as the program uses them: one struct per table of `defaults.toml`.

use serde::{Deserialize, Serialize};

use super::notes::ReadNotes;

/// All settings of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The user's own details.
    pub user: UserSettings,
    /// The location of memories.
    pub vault: VaultSettings,
    /// The location of state and identity files.
    pub paths: PathSettings,
    /// The identity files of all agents.
    pub identity: IdentitySettings,
    /// Global rules for remembering.
    pub memory: MemorySettings,
    /// Details of the current project.
    pub project: ProjectSettings,
    /// Rules for capturing sessions.
    pub capture: CaptureSettings,
    /// Rules for turning sessions into observations.
    pub observe: ObserveSettings,
    /// Rules for turning observations into proposals.
    pub reflect: ReflectSettings,
    /// Thresholds for friction analysis.
    pub friction: FrictionSettings,
    /// Rules and channels for reviewing proposals.
    pub review: ReviewSettings,
    /// Recall for prompts and tools.
    pub recall: RecallSettings,
    /// The language models for generation.
    pub llm: LlmSettings,
    /// The model that computes embeddings.
    pub embed: EmbedSettings,
    /// Rules for building the search index.
    pub index: IndexSettings,
    /// The self-test.
    pub gate: GateSettings,
    /// Permissions of agents that call our tools.
    pub mcp: McpSettings,
    /// Rules for keeping and researching ideas.
    pub ideas: IdeasSettings,
    /// The time zone of days and nights.
    pub time: TimeSettings,
    /// Where the events of the stages go besides this machine.
    pub telemetry: TelemetrySettings,
    /// The servers that several machines share.
    pub engines: EngineSettings,
}

impl Config {
    /// The environment variables that hold secrets of services other than language models.
    pub fn secret_variables(&self) -> [&str; 6] {
        let [todoist, todoist_webhook, telegram, telegram_webhook] = self.review.secret_variables();
        let [otlp, redis] = [&self.telemetry.otlp.headers_variable, &self.engines.redis.password_variable]
            .map(String::as_str);
        [todoist, todoist_webhook, telegram, telegram_webhook, otlp, redis]
    }
}

/// The servers that several machines share (GEN-03, B-16). Without one, everything is on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineSettings {
    /// Where the hot list, the locks and the decisions on proposals are shared.
    pub shared: SharedEngineName,
    /// The Redis server.
    pub redis: RedisSettings,
}

/// The condition for notes that are derived for note apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HomeNotes {
    /// If the notes are an Obsidian vault.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// The store of what several machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedEngineName {
    /// Nothing is shared: the database of this machine.
    Embedded,
    /// A Redis server.
    Redis,
}

/// A Redis server (STO-01…05). Its password is in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisSettings {
    /// The address, with the number of the database as its path.
    pub url: String,
    /// The name of the account; empty for the default one.
    pub username: String,
    /// The environment variable that holds the password.
    pub password_variable: String,
}

/// Where the events of the stages go besides this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Export to a collector.
    pub otlp: OtlpSettings,
}

/// Export of the events to an OpenTelemetry collector (O11-01). Keys are in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtlpSettings {
    /// True if anything may be sent; off by default.
    pub enabled: bool,
    /// The address of the collector, without `/v1/logs`.
    pub url: String,
    /// The environment variable that holds further headers, as `name=value,name=value`.
    pub headers_variable: String,
}

/// The user's own details (GEN-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    /// The display name; empty if none is set.
    pub name: String,
}

/// The location of memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultSettings {
    /// The notes vault as written; empty for the default. `engine::home` resolves it to a path.
    pub notes: String,
    /// The name of Rekindle's folder in the notes vault.
    pub folder: String,
    /// The condition for a home note and the notes of projects.
    pub home_note: HomeNotes,
}

/// The location of state and identity files (GEN-02), as written; empty for the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSettings {
    /// The folder for state.
    pub state: String,
    /// The folder for identity files.
    pub identity: String,
}

/// The identity files of all agents (IDN-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentitySettings {
    /// Folders whose `AGENTS.md` must be the same file.
    pub links: Vec<String>,
}

/// Global rules for remembering (OPS-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySettings {
    /// The kill switch for all of Rekindle (OPS-03).
    pub enabled: bool,
    /// The scope of a new memory.
    pub scope: ScopeRule,
    /// The handling of inferred memories (SID-07).
    pub review_mode: ReviewMode,
    /// The least severe events that are stored (OPS-02).
    pub log_level: LogLevel,
    /// Thresholds for explicit and inferred statements.
    pub confidence: ConfidenceThresholds,
}

/// The least severe events that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures for good.
    Error,
    /// Also failures that are retried and incomplete results.
    Warn,
    /// Also every start and end of a stage.
    Info,
    /// Also every step of a stage.
    Debug,
}

/// The rule for the scope of a new memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeRule {
    /// The current project; global outside of projects.
    Auto,
    /// Always the global scope.
    Global,
    /// The current project; outside of one, saving fails.
    Project,
}

/// The handling of inferred memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// Ask the user right away.
    Interactive,
    /// Leave them in the inbox.
    Silent,
}

/// Confidence thresholds; `high` is never below `medium`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfidenceThresholds {
    /// The minimum confidence of an explicit statement.
    pub high: f64,
    /// The minimum confidence of an inferred statement.
    pub medium: f64,
}

/// Details of the current project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectSettings {
    /// A display name; empty for none. It may come from a cloned repository, which must not be able to claim
    /// another project's memories, so it never takes part in [`crate::base::scope::ProjectId`].
    pub name: String,
}

/// Rules for capturing sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureSettings {
    /// A session that ends with fewer user messages is not observed (CAP-02).
    pub min_user_messages: u32,
    /// Minutes of silence after which a session counts as over (EXE-15).
    pub idle_minutes: u32,
    /// Minutes of silence after which a session counts as over if nothing but its start is known (EXE-14).
    pub dead_minutes: u32,
    /// True if prompts in headless sessions count as the user's own words.
    pub headless: bool,
    /// True if hooks may start a background worker.
    pub background: bool,
}

/// Rules for turning observations into proposals (REF-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReflectSettings {
    /// A day with more tokens of observations than this is reflected on right away instead of the next
    /// morning.
    pub threshold_tokens: u64,
}

/// Thresholds for friction analysis (FRI-07).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrictionSettings {
    /// The minimum number of observations.
    pub min_observations: usize,
    /// The minimum number of days they cover.
    pub min_days: i64,
    /// The minimum number of sessions in which a friction occurs.
    pub min_sessions: usize,
}

/// Rules and channels for reviewing proposals (B-07, REV-10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewSettings {
    /// The maximum number of proposals shown per day; 0 for all.
    pub per_day: usize,
    /// Undecided proposals are archived after this many days.
    pub expire_days: u32,
    /// True if the review asks line by line instead of using the full screen.
    pub plain: bool,
    /// Triage of proposals before the user sees them (REV-09, X-07).
    pub triage: TriageMode,
    /// The number of consecutive approvals after which a category is promoted without asking (FUT-03).
    pub earn: u32,
    /// True if a model grades inferred proposals for the reviewer (SID-09).
    pub grade: bool,
    /// Review by Todoist tasks.
    pub todoist: TodoistSettings,
    /// Review by Telegram messages.
    pub telegram: TelegramSettings,
}

impl ReviewSettings {
    /// The environment variables that hold the secrets of the review services.
    fn secret_variables(&self) -> [&str; 4] {
        let (todoist, telegram) = (&self.todoist, &self.telegram);
        let names = [
            &todoist.key_variable,
            &todoist.secret_variable,
            &telegram.key_variable,
            &telegram.secret_variable,
        ];
        names.map(String::as_str)
    }
}

/// Review by Todoist tasks (REV-05). Keys are in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TodoistSettings {
    /// True if anything may be sent to Todoist; off by default.
    pub enabled: bool,
    /// The address of the API, without `/api/v1`.
    pub url: String,
    /// The environment variable that holds the API key.
    pub key_variable: String,
    /// The environment variable that holds the webhook signing secret.
    pub secret_variable: String,
}

/// Review by Telegram messages with buttons (REV-08). Keys are in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelegramSettings {
    /// True if anything may be sent to Telegram; off by default.
    pub enabled: bool,
    /// The address of the Bot API.
    pub url: String,
    /// The environment variable that holds the bot's token.
    pub key_variable: String,
    /// The environment variable that holds the webhook secret.
    pub secret_variable: String,
    /// The only chat that messages go to and come from; 0 for none.
    pub chat: i64,
    /// The user who may decide in a group chat; 0 for nobody.
    pub user: i64,
}

/// The triage of proposals before the user sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriageMode {
    /// Rules, then a model if one is configured.
    On,
    /// Rules without a model.
    Rules,
    /// No triage at all.
    Off,
}

/// Recall for prompts and tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallSettings {
    /// The maximum number of memories per prompt.
    pub k: usize,
    /// True if a model may rewrite the query (REC-05). If false, no text is ever sent out for it.
    pub rewrite: bool,
    /// The fusion of keyword and vector rankings.
    pub fusion: FusionMode,
    /// The decay of scores with age.
    pub decay: DecayMode,
    /// True if memories are looked up before tools run (BRF-08).
    pub before_tools: bool,
    /// The share of sessions left without recall, as a control group.
    pub holdout: f64,
    /// The notes outside the vault that may be read.
    pub notes: ReadNotes,
    /// The weights of [`FusionMode::Linear`].
    pub linear: LinearWeights,
}

/// The fusion of keyword and vector rankings into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FusionMode {
    /// The method that measures best on the development benchmarks.
    Default,
    /// The weighted sum of REC-02.
    Linear,
}

/// The decay of scores with age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecayMode {
    /// Bounded, so that relevance still comes first.
    Bounded,
    /// The formula of REC-03, `exp(-0.01 x days)`.
    Literal,
    /// No decay at all.
    Off,
}

/// The weights of the weighted sum (REC-02). All are finite and not negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearWeights {
    /// The weight of a similarity of 1.
    pub similarity: f64,
    /// The weight of each matching word.
    pub keyword: f64,
    /// The maximum number of matching words that count; 0 is no limit. [`LinearWeights::matches`] applies it.
    pub keyword_cap: usize,
}

impl LinearWeights {
    /// The number of matching words that count, out of `matching`.
    pub fn matches(&self, matching: usize) -> usize {
        if self.keyword_cap == 0 { matching } else { matching.min(self.keyword_cap) }
    }
}

/// The language models for generation (OBS-02, REF-02).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmSettings {
    /// The provider of the models.
    pub provider: LlmProvider,
    /// The model that turns sessions into observations.
    pub observer_model: ModelName,
    /// The model that turns observations into proposals.
    pub reflector_model: ModelName,
    /// The timeout of one answer, in seconds.
    pub timeout_seconds: u32,
    /// The maximum number of session tokens in one request.
    pub context_tokens: u32,
    /// The daily token limit for all providers together; 0 is no limit (B-04).
    pub daily_tokens: u64,
    /// The daily spending limit in dollars for all providers together; 0 is no limit.
    pub daily_dollars: f64,
    /// The settings of a local program.
    pub command: ProgramSettings,
    /// The settings of a server with Anthropic's Messages API.
    pub anthropic: ServerSettings,
    /// The settings of a server with OpenAI's chat completions API.
    pub openai: ServerSettings,
}

impl LlmSettings {
    /// The daily limits of a provider: tokens and dollars, each 0 for no limit (B-04).
    pub fn daily_limits(&self, provider: LlmProvider) -> (u64, f64) {
        match provider {
            LlmProvider::Offline => (0, 0.0),
            LlmProvider::Command => (self.command.daily_tokens, self.command.daily_dollars),
            LlmProvider::Anthropic => (self.anthropic.daily_tokens, self.anthropic.daily_dollars),
            LlmProvider::Openai => (self.openai.daily_tokens, self.openai.daily_dollars),
        }
    }
}

/// The provider of language models. `Offline` unless the user configures another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LlmProvider {
    /// No model, only rules.
    Offline,
    /// A program on the user's machine.
    Command,
    /// The Anthropic Messages API.
    Anthropic,
    /// The OpenAI chat completions API, or a compatible server.
    Openai,
}

impl LlmProvider {
    /// All providers, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Offline, Self::Command, Self::Anthropic, Self::Openai];

    /// The provider's name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Command => "command",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }
}

/// A local program that answers requests (OBS-01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSettings {
    /// The program's name or path; empty for none.
    pub program: String,
    /// The arguments, for programs that Rekindle does not know.
    pub arguments: Vec<String>,
    /// The daily token limit; 0 is no limit.
    pub daily_tokens: u64,
    /// The daily spending limit in dollars; 0 is no limit.
    pub daily_dollars: f64,
}

/// A server that answers requests. Its key is in the environment only (SEC-04).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    /// The server's address, without credentials.
    pub url: String,
    /// The environment variable that holds the key.
    pub key_variable: String,
    /// The daily token limit; 0 is no limit.
    pub daily_tokens: u64,
    /// The daily spending limit in dollars; 0 is no limit.
    pub daily_dollars: f64,
}

/// Rules for turning sessions into observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveSettings {
    /// The mode of the write gate (FBK-08).
    pub gate: WriteGateMode,
}

/// The mode of the write gate. It only annotates until its verdicts have been compared with people's
/// decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteGateMode {
    /// Annotate each observation with a verdict.
    Annotate,
    /// Do not run the gate.
    Off,
}

/// The embedding model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedSettings {
    /// The model that turns text into vectors.
    pub model: ModelName,
}

/// Rules for building the search index (STO-14).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// True if a command may leave indexing to a background process.
    pub background: bool,
}

/// The self-test through the installed hooks (B-10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    /// True if it runs once a week and after an update, in the background.
    pub weekly: bool,
}

/// Permissions of agents that call our tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSettings {
    /// True if agents may decide on proposals (B-01).
    pub review_decide: bool,
}

/// Rules for keeping and researching ideas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdeasSettings {
    /// After this many months without a promotion or a mention, an idea is listed for a decision (IDEA-06).
    pub gc_months: u32,
    /// Research into ideas.
    pub research: ResearchSettings,
}

/// A local program that researches ideas and may use the web (X-22, IDEA-04).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResearchSettings {
    /// The condition under which it runs.
    pub when: ResearchWhen,
    /// The program's name or path; empty for none.
    pub program: String,
    /// The arguments it is started with.
    pub arguments: Vec<String>,
    /// The time limit per idea, in minutes.
    pub minutes: u32,
    /// The number of pages it may fetch per idea, as told to the program.
    pub fetches: u32,
    /// The maximum number of result tokens kept.
    pub tokens: u32,
}

/// The condition under which ideas are researched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResearchWhen {
    /// Ideas are never researched.
    Off,
    /// Only on the user's request.
    Asked,
    /// As soon as an idea comes up.
    Always,
}

/// A model and its provider. [`super::load`] accepts only `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelName(String);

impl ModelName {
    /// The model of a program that does the work itself, with whatever model it uses.
    pub fn for_program() -> Self {
        Self("command/program".to_owned())
    }

    /// The full name, `provider/model`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the first slash.
    pub fn provider(&self) -> &str {
        self.0.split_once('/').map_or("", |(provider, _)| provider)
    }

    /// The part after the first slash. It may contain slashes itself.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(self.as_str(), |(_, name)| name)
    }
}

/// The time zone that days and nights follow (EXE-08).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    /// An IANA time zone; empty for the system's.
    pub zone: String,
}
