//! Settings: their names, layers and defaults.
//!
//! A value comes from the strongest layer that has it: command line, environment, project file, user file,
//! shipped defaults. [`load`] merges the layers and remembers the origin of every setting. `engine::config`
//! reads files and variables; here they come in as text.
//!
//! A project file comes with whatever repository was cloned. It may set only the few keys marked for it in
//! [`keys()`], and nothing in it can make a command fail: disallowed content is ignored and reported in
//! [`LoadedConfig::warnings`]. Mistakes in the other layers are the user's own, and are errors.

mod error;
mod explain;
mod file;
mod keys;
mod load;
mod notes;
mod settings;
#[cfg(test)]
mod tests;
mod value;

pub use error::{ConfigLocation, ConfigSource, Error};
pub use explain::{KeyDoc, check, keys, variable_names};
pub use load::{ConfigFile, ConfigLayers, LoadedConfig, ResolvedSetting, load};
pub use notes::ReadNotes;
pub use settings::{
    ConfidenceThresholds, Config, DecayMode, EmbedSettings, EngineSettings, FusionMode, HomeNotes,
    IdentitySettings, LinearWeights, LlmProvider, LlmSettings, LogLevel, MemorySettings, ModelName,
    ObserveSettings, OtlpSettings, PathSettings, ProgramSettings, ProjectSettings, RecallSettings,
    RedisSettings, ResearchSettings, ResearchWhen, ReviewMode, ReviewSettings, ScopeRule, ServerSettings,
    SharedEngineName, TelegramSettings, TimeSettings, TodoistSettings, TriageMode, UserSettings,
    VaultSettings, WriteGateMode,
};
pub use value::{LIST_SEPARATOR, SettingValue};
