//! The table of all settings. `defaults.toml` has the defaults and explanations. A test keeps it, this table
//! and the structs of `settings` consistent.

use super::value::SettingKind;

/// The shipped defaults. `rekindle config list` takes its explanations from them.
pub(super) const DEFAULTS_TOML: &str = include_str!("defaults.toml");

/// The environment variable for the folder of `MEMORY.md` (FND-02). It sets two values: its parent is
/// `vault.notes`, its name is `vault.folder`.
pub(super) const WORKSPACE_VARIABLE: &str = "MEMORY_WORKSPACE";

/// The keys a project file may set. None names a command, an address, a path or a provider, and none decides
/// whose memories are shown.
pub(super) const PROJECT_KEYS: &[&str] = &["memory.enabled", "memory.scope", "project.name", "recall.k"];

/// The settings that hold paths, programs and accounts of one machine (OPS-12). A backup marks them, and another
/// machine does not take them over.
pub(super) const DEVICE_KEYS: &[&str] = &[
    "user.name",
    "vault.notes",
    "paths.state",
    "paths.identity",
    "identity.links",
    "review.todoist.url",
    "review.telegram.url",
    "review.telegram.chat",
    "review.telegram.user",
    "llm.command.program",
    "llm.command.arguments",
    "ideas.research.program",
    "ideas.research.arguments",
    "telemetry.otlp.url",
    "engines.redis.url",
    "engines.redis.username",
];

/// Settings of earlier versions. A file that still has one loads with a warning.
pub(super) const REMOVED_KEYS: &[&str] = &["engines.qdrant.url", "engines.qdrant.collection"];

#[derive(Debug)]
pub(super) struct SettingKey {
    pub(super) name: &'static str,
    pub(super) kind: SettingKind,
    pub(super) aliases: &'static [VariableAlias],
}

/// An older environment variable for a setting (OPS-01).
#[derive(Debug)]
pub(super) struct VariableAlias {
    pub(super) name: &'static str,
    /// True if other programs use this variable too. A value that we cannot parse was probably meant for
    /// them, so it is ignored with a warning and does not make every hook fail.
    pub(super) shared: bool,
}

impl SettingKey {
    const fn new(name: &'static str, kind: SettingKind) -> Self {
        Self { name, kind, aliases: &[] }
    }

    const fn with_aliases(name: &'static str, kind: SettingKind, aliases: &'static [VariableAlias]) -> Self {
        Self { name, kind, aliases }
    }

    /// The environment variable of a key: `REKINDLE_RECALL_K` for `recall.k`.
    pub(super) fn variable(&self) -> String {
        format!("REKINDLE_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }

    pub(super) fn is_device_local(&self) -> bool {
        DEVICE_KEYS.contains(&self.name)
    }

    pub(super) fn in_project(&self) -> bool {
        PROJECT_KEYS.contains(&self.name)
    }
}

const fn own_alias(name: &'static str) -> VariableAlias {
    VariableAlias { name, shared: false }
}

const fn shared(name: &'static str) -> VariableAlias {
    VariableAlias { name, shared: true }
}

/// All settings, in the order of `defaults.toml`.
pub(super) const KEYS: &[SettingKey] = &[
    SettingKey::new("user.name", SettingKind::Name { max: 100 }),
    SettingKey::new("vault.notes", SettingKind::Path),
    SettingKey::new("vault.folder", SettingKind::Folder),
    SettingKey::new("vault.home_note", SettingKind::OneOf(&["auto", "on", "off"])),
    SettingKey::new("paths.state", SettingKind::Path),
    SettingKey::new("paths.identity", SettingKind::Path),
    SettingKey::new("identity.links", SettingKind::Paths),
    SettingKey::new("memory.enabled", SettingKind::Bool),
    SettingKey::new("memory.scope", SettingKind::OneOf(&["auto", "global", "project"])),
    SettingKey::new("memory.review_mode", SettingKind::OneOf(&["interactive", "silent"])),
    SettingKey::new("memory.log_level", SettingKind::OneOf(&["error", "warn", "info", "debug"])),
    SettingKey::new("memory.confidence.high", SettingKind::Fraction),
    SettingKey::new("memory.confidence.medium", SettingKind::Fraction),
    // Shorter than `user.name`: a cloned repository may set it, and it is displayed.
    SettingKey::new("project.name", SettingKind::Name { max: 64 }),
    SettingKey::new("capture.min_user_messages", SettingKind::Whole { min: 1, max: 1000 }),
    SettingKey::new("capture.idle_minutes", SettingKind::Whole { min: 0, max: 10_080 }),
    SettingKey::new("capture.dead_minutes", SettingKind::Whole { min: 0, max: 10_080 }),
    SettingKey::new("capture.headless", SettingKind::Bool),
    SettingKey::new("capture.background", SettingKind::Bool),
    SettingKey::new("observe.gate", SettingKind::OneOf(&["annotate", "off"])),
    SettingKey::new("reflect.threshold_tokens", SettingKind::Whole { min: 1000, max: 10_000_000 }),
    SettingKey::new("friction.min_observations", SettingKind::Whole { min: 0, max: 100_000 }),
    SettingKey::new("friction.min_days", SettingKind::Whole { min: 0, max: 30 }),
    SettingKey::new("friction.min_sessions", SettingKind::Whole { min: 2, max: 100 }),
    SettingKey::new("review.per_day", SettingKind::Whole { min: 0, max: 1000 }),
    SettingKey::new("review.expire_days", SettingKind::Whole { min: 1, max: 365 }),
    SettingKey::new("review.plain", SettingKind::Bool),
    SettingKey::new("review.triage", SettingKind::OneOf(&["on", "rules", "off"])),
    SettingKey::new("review.earn", SettingKind::Whole { min: 1, max: 1000 }),
    SettingKey::new("review.grade", SettingKind::Bool),
    SettingKey::new("review.todoist.enabled", SettingKind::Bool),
    SettingKey::new("review.todoist.url", SettingKind::Url),
    SettingKey::new("review.todoist.key_variable", SettingKind::Variable),
    SettingKey::new("review.todoist.secret_variable", SettingKind::Variable),
    SettingKey::new("review.telegram.enabled", SettingKind::Bool),
    SettingKey::new("review.telegram.url", SettingKind::Url),
    SettingKey::new("review.telegram.key_variable", SettingKind::Variable),
    SettingKey::new("review.telegram.secret_variable", SettingKind::Variable),
    // Telegram ids have 52 bits; group ids are negative.
    SettingKey::new("review.telegram.chat", SettingKind::Whole { min: -(1 << 52), max: 1 << 52 }),
    SettingKey::new("review.telegram.user", SettingKind::Whole { min: 0, max: 1 << 52 }),
    SettingKey::new("recall.k", SettingKind::Whole { min: 1, max: 10 }),
    SettingKey::new("recall.rewrite", SettingKind::Bool),
    SettingKey::new("recall.fusion", SettingKind::OneOf(&["default", "linear"])),
    SettingKey::new("recall.decay", SettingKind::OneOf(&["bounded", "literal", "off"])),
    SettingKey::new("recall.before_tools", SettingKind::Bool),
    SettingKey::new("recall.holdout", SettingKind::Fraction),
    SettingKey::new("recall.notes", SettingKind::Notes),
    SettingKey::new("recall.linear.similarity", SettingKind::Weight),
    SettingKey::new("recall.linear.keyword", SettingKind::Weight),
    SettingKey::new("recall.linear.keyword_cap", SettingKind::Whole { min: 0, max: 1000 }),
    SettingKey::new("llm.provider", SettingKind::OneOf(&["offline", "command", "anthropic", "openai"])),
    SettingKey::with_aliases("llm.observer_model", SettingKind::Model, &[own_alias("OBSERVER_MODEL")]),
    SettingKey::with_aliases("llm.reflector_model", SettingKind::Model, &[own_alias("REFLECTOR_MODEL")]),
    SettingKey::new("llm.timeout_seconds", SettingKind::Whole { min: 1, max: 3600 }),
    SettingKey::new("llm.context_tokens", SettingKind::Whole { min: 1000, max: 1_000_000 }),
    SettingKey::new("llm.daily_tokens", SettingKind::Whole { min: 0, max: 1_000_000_000 }),
    SettingKey::new("llm.daily_dollars", SettingKind::Weight),
    SettingKey::new("llm.command.program", SettingKind::Path),
    SettingKey::new("llm.command.arguments", SettingKind::Words),
    SettingKey::new("llm.command.daily_tokens", SettingKind::Whole { min: 0, max: 1_000_000_000 }),
    SettingKey::new("llm.command.daily_dollars", SettingKind::Weight),
    SettingKey::new("llm.anthropic.url", SettingKind::Url),
    SettingKey::new("llm.anthropic.key_variable", SettingKind::Variable),
    SettingKey::new("llm.anthropic.daily_tokens", SettingKind::Whole { min: 0, max: 1_000_000_000 }),
    SettingKey::new("llm.anthropic.daily_dollars", SettingKind::Weight),
    SettingKey::new("llm.openai.url", SettingKind::Url),
    SettingKey::new("llm.openai.key_variable", SettingKind::Variable),
    SettingKey::new("llm.openai.daily_tokens", SettingKind::Whole { min: 0, max: 1_000_000_000 }),
    SettingKey::new("llm.openai.daily_dollars", SettingKind::Weight),
    SettingKey::with_aliases(
        "embed.model",
        SettingKind::Model,
        &[own_alias("AGENT_TOOLKIT_EMBEDDING_MODEL"), shared("EMBEDDING_MODEL")],
    ),
    SettingKey::new("index.background", SettingKind::Bool),
    SettingKey::new("gate.weekly", SettingKind::Bool),
    SettingKey::new("mcp.review_decide", SettingKind::Bool),
    SettingKey::new("ideas.gc_months", SettingKind::Whole { min: 1, max: 1200 }),
    SettingKey::new("ideas.research.when", SettingKind::OneOf(&["off", "asked", "always"])),
    SettingKey::new("ideas.research.program", SettingKind::Path),
    SettingKey::new("ideas.research.arguments", SettingKind::Words),
    SettingKey::new("ideas.research.minutes", SettingKind::Whole { min: 1, max: 60 }),
    SettingKey::new("ideas.research.fetches", SettingKind::Whole { min: 0, max: 100 }),
    SettingKey::new("ideas.research.tokens", SettingKind::Whole { min: 100, max: 100_000 }),
    SettingKey::new("time.zone", SettingKind::Zone),
    SettingKey::new("telemetry.otlp.enabled", SettingKind::Bool),
    SettingKey::new("telemetry.otlp.url", SettingKind::Url),
    SettingKey::new("telemetry.otlp.headers_variable", SettingKind::Variable),
    SettingKey::new("engines.shared", SettingKind::OneOf(&["embedded", "redis"])),
    SettingKey::new("engines.redis.url", SettingKind::RedisUrl),
    SettingKey::new("engines.redis.username", SettingKind::Name { max: 100 }),
    SettingKey::new("engines.redis.password_variable", SettingKind::Variable),
];

pub(super) fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known key most similar to `written`. `None` if nothing is similar, or if the text is too long to be a
/// typo.
pub(super) fn suggest_key(written: &str) -> Option<&'static str> {
    if written.len() > 64 {
        return None;
    }
    let written = written.to_ascii_lowercase().replace('-', "_");
    let score = |name: &str| {
        let whole = strsim::normalized_damerau_levenshtein(&written, name);
        // The right last segment with a missing or wrong table, such as `k` or `zone` alone.
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        if last(&written) == last(name) { whole.max(0.5) } else { whole }
    };
    KEYS.iter()
        .map(|key| (score(key.name), key.name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score >= 0.4)
        .map(|(_, name)| name)
}
