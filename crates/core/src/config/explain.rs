//! Explains settings to people and checks the values they type.

use serde::Serialize;

use super::error::{ConfigLocation, ConfigSource, Error};
use super::file;
use super::keys::{DEFAULTS_TOML, KEYS, SettingKey, WORKSPACE_VARIABLE, find};
use super::value::SettingValue;

/// Parses a value that a person typed for `key`.
pub fn check(key: &str, text: &str) -> Result<SettingValue, Error> {
    let place = || ConfigLocation::in_source(ConfigSource::Flag);
    let key = find(key).ok_or_else(|| Error::unknown(key, place()))?;
    key.kind.read_text(text).ok_or_else(|| Error::bad_value(key, place()))
}

/// The names of all environment variables that are settings, older names included.
pub fn variable_names() -> Vec<String> {
    let of = |key: &SettingKey| {
        std::iter::once(key.variable())
            .chain(key.aliases.iter().map(|alias| alias.name.to_owned()))
            .collect::<Vec<_>>()
    };
    KEYS.iter().flat_map(of).chain([WORKSPACE_VARIABLE.to_owned()]).collect()
}

/// The description of one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyDoc {
    /// The key, for example `recall.k`.
    pub name: &'static str,
    /// The explanation from `defaults.toml`.
    pub doc: String,
    /// The type in one or two words.
    pub kind: &'static str,
    /// The allowed values, in words.
    pub allowed: String,
    /// The words to choose from; empty if the value is free.
    pub choices: &'static [&'static str],
    /// The value that ships with the program.
    pub default: SettingValue,
    /// The environment variables that set it, strongest first.
    pub variables: Vec<String>,
    /// True if the value belongs to one machine: a path, a program, an account (OPS-12).
    pub is_device_local: bool,
    /// True if a project file may set it.
    pub in_project: bool,
}

/// All settings, in the order of `defaults.toml`.
pub fn keys() -> Vec<KeyDoc> {
    let defaults = file::read(&ConfigSource::Default, DEFAULTS_TOML).unwrap_or_default();
    let describe = |entry: file::ConfigEntry| {
        let key = entry.key;
        let mut variables = vec![key.variable()];
        variables.extend(key.aliases.iter().map(|alias| alias.name.to_owned()));
        if matches!(key.name, "vault.notes" | "vault.folder") {
            variables.push(WORKSPACE_VARIABLE.to_owned());
        }
        KeyDoc {
            name: key.name,
            doc: comment_above(entry.place.line.unwrap_or_default()),
            kind: key.kind.as_str(),
            allowed: key.kind.allowed_text(),
            choices: key.kind.choices(),
            default: entry.value,
            variables,
            is_device_local: key.is_device_local(),
            in_project: key.in_project(),
        }
    };
    defaults.into_iter().flatten().map(describe).collect()
}

/// The comment lines directly above a line of the defaults, joined into one text.
fn comment_above(line: usize) -> String {
    let above: Vec<&str> = DEFAULTS_TOML.lines().take(line.saturating_sub(1)).collect();
    let mut comment: Vec<&str> = above.iter().rev().map_while(|line| line.strip_prefix("# ")).collect();
    comment.reverse();
    comment.join(" ")
}
