//! Pi: an extension in `~/.pi/agent/extensions/`, a file of our own.

use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::HookInvocation;
use serde_json::Value;

use super::environment::InstallEnvironment;

pub(super) const PACKAGE: &str = "@earendil-works/pi-coding-agent";
pub(super) const EXTENSION_PATH: &str = "extensions/rekindle.ts";

const EXTENSION_SOURCE: &str = include_str!("pi-extension.ts");
/// The first line of the extension, in every version.
const EXTENSION_MARK: &str = "// rekindle: pi extension.";

pub(super) fn folder(machine: &InstallEnvironment, home: Option<&Path>) -> Option<PathBuf> {
    machine.pi.clone().or_else(|| Some(home?.join(".pi").join("agent")))
}

/// Renders the extension that runs `invocation`.
pub(super) fn render(invocation: &HookInvocation, logs: &Path) -> String {
    let text = |value: &str| Value::from(value).to_string();
    let arguments = match &invocation.home {
        Some(home) => format!("{}, {}", text("--home"), text(home)),
        None => String::new(),
    };
    let log = logs.join("pi-extension.log");
    EXTENSION_SOURCE
        .replace("\"@program@\"", &text(&invocation.program))
        .replace("\"@arguments@\"", &arguments)
        .replace("\"@log@\"", &text(&log.to_string_lossy()))
        .replace("\"@tools@\"", if invocation.before_tools { "true" } else { "false" })
}

/// True if an extension of ours also runs before tools.
pub(super) fn is_called_before_tools(text: &str) -> bool {
    text.lines().any(|line| line == "const BEFORE_TOOLS: boolean = true;")
}

/// True if the extension is ours.
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(EXTENSION_MARK)
}

/// The program and home that an extension of ours uses.
pub(super) fn recorded_call(text: &str) -> Option<(String, Option<String>)> {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix(';'));
    let program = serde_json::from_str(line("const PROGRAM: string = ")?).ok()?;
    let arguments: Vec<String> = serde_json::from_str(line("const ARGUMENTS: string[] = ")?).ok()?;
    Some((program, arguments.get(1).cloned()))
}
