//! The table of all settings. `defaults.toml` has the defaults and explanations. A test keeps it, this table
//! and the structs of `settings` consistent.

use super::value::Kind;

/// The shipped defaults. `rekindle config list` takes its explanations from them.
pub(super) const DEFAULTS: &str = include_str!("defaults.toml");

/// The environment variable for the folder of `MEMORY.md` (FND-02). It sets two values: its parent is
/// `vault.notes`, its name is `vault.folder`.
pub(super) const WORKSPACE: &str = "MEMORY_WORKSPACE";

/// The keys a project file may set. None names a command, an address, a path or a provider, and none decides
/// whose memories are shown.
pub(super) const PROJECT_KEYS: &[&str] = &["memory.enabled", "memory.scope", "project.name", "recall.k"];

#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) aliases: &'static [Alias],
}

/// An older environment variable for a setting (OPS-01).
#[derive(Debug)]
pub(super) struct Alias {
    pub(super) name: &'static str,
    /// True if other programs use this variable too. A value that we cannot parse was probably meant for
    /// them, so it is ignored with a warning and does not make every hook fail.
    pub(super) shared: bool,
}

impl Key {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, aliases: &[] }
    }

    const fn with(name: &'static str, kind: Kind, aliases: &'static [Alias]) -> Self {
        Self { name, kind, aliases }
    }

    /// The environment variable of a key: `REKINDLE_RECALL_K` for `recall.k`.
    pub(super) fn variable(&self) -> String {
        format!("REKINDLE_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }

    pub(super) fn in_project(&self) -> bool {
        PROJECT_KEYS.contains(&self.name)
    }
}

const fn ours(name: &'static str) -> Alias {
    Alias { name, shared: false }
}

const fn shared(name: &'static str) -> Alias {
    Alias { name, shared: true }
}

/// All settings, in the order of `defaults.toml`.
pub(super) const KEYS: &[Key] = &[
    Key::new("user.name", Kind::Name { max: 100 }),
    Key::new("vault.notes", Kind::Path),
    Key::new("vault.folder", Kind::Folder),
    Key::new("paths.state", Kind::Path),
    Key::new("paths.identity", Kind::Path),
    Key::new("identity.links", Kind::Paths),
    Key::new("memory.enabled", Kind::Bool),
    Key::new("memory.scope", Kind::OneOf(&["auto", "global", "project"])),
    Key::new("memory.review_mode", Kind::OneOf(&["interactive", "silent"])),
    Key::new("memory.log_level", Kind::OneOf(&["error", "warn", "info", "debug"])),
    Key::new("memory.confidence.high", Kind::Fraction),
    Key::new("memory.confidence.medium", Kind::Fraction),
    // Shorter than `user.name`: a cloned repository may set it, and it is displayed.
    Key::new("project.name", Kind::Name { max: 64 }),
    Key::new("capture.min_user_messages", Kind::Whole { min: 1, max: 1000 }),
    Key::new("capture.idle_minutes", Kind::Whole { min: 0, max: 10_080 }),
    Key::new("capture.dead_minutes", Kind::Whole { min: 0, max: 10_080 }),
    Key::new("capture.headless", Kind::Bool),
    Key::new("capture.background", Kind::Bool),
    Key::new("observe.gate", Kind::OneOf(&["annotate", "off"])),
    Key::new("reflect.threshold_tokens", Kind::Whole { min: 1000, max: 10_000_000 }),
    Key::new("friction.min_observations", Kind::Whole { min: 0, max: 100_000 }),
    Key::new("friction.min_days", Kind::Whole { min: 0, max: 30 }),
    Key::new("friction.min_sessions", Kind::Whole { min: 2, max: 100 }),
    Key::new("review.per_day", Kind::Whole { min: 0, max: 1000 }),
    Key::new("review.expire_days", Kind::Whole { min: 1, max: 365 }),
    Key::new("review.plain", Kind::Bool),
    Key::new("review.triage", Kind::OneOf(&["on", "rules", "off"])),
    Key::new("review.earn", Kind::Whole { min: 1, max: 1000 }),
    Key::new("review.grade", Kind::Bool),
    Key::new("review.todoist.enabled", Kind::Bool),
    Key::new("review.todoist.url", Kind::Url),
    Key::new("review.todoist.key_variable", Kind::Variable),
    Key::new("review.todoist.secret_variable", Kind::Variable),
    Key::new("review.telegram.enabled", Kind::Bool),
    Key::new("review.telegram.url", Kind::Url),
    Key::new("review.telegram.key_variable", Kind::Variable),
    Key::new("review.telegram.secret_variable", Kind::Variable),
    // Telegram ids have 52 bits; group ids are negative.
    Key::new("review.telegram.chat", Kind::Whole { min: -(1 << 52), max: 1 << 52 }),
    Key::new("review.telegram.user", Kind::Whole { min: 0, max: 1 << 52 }),
    Key::new("recall.k", Kind::Whole { min: 1, max: 10 }),
    Key::new("recall.rewrite", Kind::Bool),
    Key::new("recall.fusion", Kind::OneOf(&["default", "linear"])),
    Key::new("recall.decay", Kind::OneOf(&["bounded", "literal", "off"])),
    Key::new("recall.before_tools", Kind::Bool),
    Key::new("recall.holdout", Kind::Fraction),
    Key::new("recall.notes", Kind::Notes),
    Key::new("recall.linear.similarity", Kind::Weight),
    Key::new("recall.linear.keyword", Kind::Weight),
    Key::new("recall.linear.keyword_cap", Kind::Whole { min: 0, max: 1000 }),
    Key::new("llm.provider", Kind::OneOf(&["offline", "command", "anthropic", "openai"])),
    Key::with("llm.observer_model", Kind::Model, &[ours("OBSERVER_MODEL")]),
    Key::with("llm.reflector_model", Kind::Model, &[ours("REFLECTOR_MODEL")]),
    Key::new("llm.timeout_seconds", Kind::Whole { min: 1, max: 3600 }),
    Key::new("llm.context_tokens", Kind::Whole { min: 1000, max: 1_000_000 }),
    Key::new("llm.daily_tokens", Kind::Whole { min: 0, max: 1_000_000_000 }),
    Key::new("llm.daily_dollars", Kind::Weight),
    Key::new("llm.command.program", Kind::Path),
    Key::new("llm.command.arguments", Kind::Words),
    Key::new("llm.command.daily_tokens", Kind::Whole { min: 0, max: 1_000_000_000 }),
    Key::new("llm.command.daily_dollars", Kind::Weight),
    Key::new("llm.anthropic.url", Kind::Url),
    Key::new("llm.anthropic.key_variable", Kind::Variable),
    Key::new("llm.anthropic.daily_tokens", Kind::Whole { min: 0, max: 1_000_000_000 }),
    Key::new("llm.anthropic.daily_dollars", Kind::Weight),
    Key::new("llm.openai.url", Kind::Url),
    Key::new("llm.openai.key_variable", Kind::Variable),
    Key::new("llm.openai.daily_tokens", Kind::Whole { min: 0, max: 1_000_000_000 }),
    Key::new("llm.openai.daily_dollars", Kind::Weight),
    Key::with(
        "embed.model",
        Kind::Model,
        &[ours("AGENT_TOOLKIT_EMBEDDING_MODEL"), shared("EMBEDDING_MODEL")],
    ),
    Key::new("index.background", Kind::Bool),
    Key::new("mcp.review_decide", Kind::Bool),
    Key::new("ideas.gc_months", Kind::Whole { min: 1, max: 1200 }),
    Key::new("ideas.research.when", Kind::OneOf(&["off", "asked", "always"])),
    Key::new("ideas.research.program", Kind::Path),
    Key::new("ideas.research.arguments", Kind::Words),
    Key::new("ideas.research.minutes", Kind::Whole { min: 1, max: 60 }),
    Key::new("ideas.research.fetches", Kind::Whole { min: 0, max: 100 }),
    Key::new("ideas.research.tokens", Kind::Whole { min: 100, max: 100_000 }),
    Key::with("engines.qdrant.url", Kind::Url, &[shared("QDRANT_URL")]),
    Key::with("engines.qdrant.collection", Kind::Identifier, &[shared("QDRANT_COLLECTION")]),
    Key::new("time.zone", Kind::Zone),
];

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known key most similar to `written`. `None` if nothing is similar, or if the text is too long to be a
/// typo.
pub(super) fn nearest(written: &str) -> Option<&'static str> {
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
