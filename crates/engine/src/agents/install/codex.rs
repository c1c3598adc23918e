//! Codex: hooks in `~/.codex/hooks.json`, plain JSON, and the user's trust in them in `config.toml`.

use std::path::{Path, PathBuf};

use super::environment::InstallEnvironment;

pub(super) const PACKAGE: &str = "@openai/codex";
pub(super) const HOOKS_FILE: &str = "hooks.json";

pub(super) fn folder(machine: &InstallEnvironment, home: Option<&Path>) -> Option<PathBuf> {
    machine.codex.clone().or_else(|| Some(home?.join(".codex")))
}

pub(super) fn config_file(machine: &InstallEnvironment) -> PathBuf {
    folder(machine, machine.home.as_deref()).unwrap_or_default().join("config.toml")
}

/// The path under which Codex knows the file of hooks: it resolves `CODEX_HOME`, but uses the default folder
/// as it is.
pub(super) fn hooks_file(machine: &InstallEnvironment) -> PathBuf {
    let folder = folder(machine, machine.home.as_deref()).unwrap_or_default();
    let named = match &machine.codex {
        Some(given) => given.canonicalize().unwrap_or_else(|_| given.clone()),
        None => folder,
    };
    named.join(HOOKS_FILE)
}

pub(super) fn hooks_obstacle(config: &str) -> Option<String> {
    let config = config.parse::<toml_edit::DocumentMut>().ok()?;
    let off = config.get("features")?.get("hooks")?.as_bool() == Some(false);
    off.then(|| "`features.hooks` in its config.toml disables all hooks".to_owned())
}
