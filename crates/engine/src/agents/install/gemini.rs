//! Gemini CLI: hooks in `~/.gemini/settings.json`, which may hold comments.

use std::path::{Path, PathBuf};

use rekindle_core::hosts::jsonc::{JsonDialect, JsoncDocument};

use super::environment::InstallEnvironment;

pub(super) const PACKAGE: &str = "@google/gemini-cli";

pub(super) fn folder(machine: &InstallEnvironment, home: Option<&Path>) -> Option<PathBuf> {
    Some(machine.gemini.as_deref().or(home)?.join(".gemini"))
}

pub(super) fn hooks_obstacle(settings: &str) -> Option<String> {
    let settings = JsoncDocument::parse(settings, JsonDialect::Commented).ok()?.root().value();
    let hooks = &settings["hooksConfig"];
    let listed =
        |name: &str| hooks["disabled"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    if hooks["enabled"] == false {
        return Some("`hooksConfig.enabled` in its settings disables all hooks".to_owned());
    }
    listed("rekindle").then(|| "`hooksConfig.disabled` in its settings lists Rekindle's hooks".to_owned())
}
