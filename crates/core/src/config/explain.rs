//! The settings as they are explained to a person, and what they type for them.

use serde::Serialize;

use super::error::{Error, Place, Source};
use super::file;
use super::keys::{DEFAULTS, KEYS, Key, WORKSPACE, find};
use super::value::Value;

/// Reads a value that somebody typed for a key.
pub fn check(key: &str, text: &str) -> Result<Value, Error> {
    let place = || Place::of(Source::Flag);
    let key = find(key).ok_or_else(|| Error::unknown(key, place()))?;
    key.kind.read_text(text).ok_or_else(|| Error::bad_value(key, place()))
}

/// The environment variables that are settings, older names included.
pub fn variable_names() -> Vec<String> {
    let of = |key: &Key| {
        std::iter::once(key.variable())
            .chain(key.aliases.iter().map(|alias| alias.name.to_owned()))
            .collect::<Vec<_>>()
    };
    KEYS.iter().flat_map(of).chain([WORKSPACE.to_owned()]).collect()
}

/// A setting, explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyDoc {
    /// `recall.k`.
    pub name: &'static str,
    /// What it does.
    pub doc: String,
    /// The type in a word or two.
    pub kind: &'static str,
    /// What it may be.
    pub allowed: String,
    /// What it is if nobody says otherwise.
    pub default: Value,
    /// The variables that set it, strongest first.
    pub variables: Vec<String>,
    /// Whether a project file may set it.
    pub in_project: bool,
}

/// Every setting, in the order of the defaults.
pub fn keys() -> Vec<KeyDoc> {
    let defaults = file::read(&Source::Default, DEFAULTS).unwrap_or_default();
    let describe = |entry: file::Entry| {
        let key = entry.key;
        let mut variables = vec![key.variable()];
        variables.extend(key.aliases.iter().map(|alias| alias.name.to_owned()));
        if key.name.starts_with("vault.") {
            variables.push(WORKSPACE.to_owned());
        }
        KeyDoc {
            name: key.name,
            doc: comment_above(entry.place.line.unwrap_or_default()),
            kind: key.kind.word(),
            allowed: key.kind.allowed(),
            default: entry.value,
            variables,
            in_project: key.in_project(),
        }
    };
    defaults.into_iter().flatten().map(describe).collect()
}

/// The comment lines right above a line of the defaults, as one text.
fn comment_above(line: usize) -> String {
    let above: Vec<&str> = DEFAULTS.lines().take(line.saturating_sub(1)).collect();
    let mut comment: Vec<&str> = above.iter().rev().map_while(|line| line.strip_prefix("# ")).collect();
    comment.reverse();
    comment.join(" ")
}
