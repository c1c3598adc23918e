//! Claude Code: hooks in `~/.claude/settings.json`, which has to be plain JSON.

use std::path::{Path, PathBuf};

use super::environment::InstallEnvironment;

pub(super) const PACKAGE: &str = "@anthropic-ai/claude-code";

pub(super) fn folder(machine: &InstallEnvironment, home: Option<&Path>) -> Option<PathBuf> {
    machine.claude.clone().or_else(|| Some(home?.join(".claude")))
}

pub(super) fn hooks_obstacle(settings: &str) -> Option<String> {
    let settings: serde_json::Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).ok()?;
    (settings["disableAllHooks"] == true)
        .then(|| "`disableAllHooks` in its settings disables all hooks".to_owned())
}
