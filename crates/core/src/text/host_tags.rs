//! Tags that hosts write around text of their own, and how memory text is kept from closing them (B-02).

use std::borrow::Cow;

/// Notices of hosts that stand inside a message: the tag and what is in it are left out.
pub(crate) const NOTICES: &[&str] = &[
    // Claude Code
    "system-reminder",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "teammate-message",
    "cross-session-message",
    "channel",
    "mcp-resource-update",
    "mcp-polling-update",
    "tick",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "fork-boilerplate",
    "tools-used-before-summary",
    // Codex
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "skills_instructions",
    "turn_aborted",
    "user_shell_command",
    "subagent_notification",
    "skill",
    // Gemini CLI
    "session_context",
    "hook_context",
    "background_output",
];
/// Tags that hosts put around the output of tools. Around a person's words they only say that others wrote them.
pub(crate) const WRAPPERS: &[&str] = &["untrusted_context", "user-memory-input", "tool_use_error"];
/// Names of tags that agents take for something else than text, beside the notices.
const STRUCTURE: &[&str] = &[
    "system",
    "function_calls",
    "function_results",
    "tool_result",
    "user_input",
    "file",
    // Claude Code and its models
    "antml",
    "invoke",
    "parameter",
    "tool_use",
    "human",
    "assistant",
    "thinking",
    "additional_context",
    "context",
    "memory",
    "example",
    "examples",
    "instructions",
    // Codex (`<INSTRUCTIONS>`; upper and lower case are one here)
    "environment_details",
    "collaboration_mode",
    "compaction_summary",
    // Gemini CLI
    "extension_context",
    "project_context",
    "global_context",
    "state_snapshot",
    // Llama (`<<SYS>>`)
    "sys",
];

/// `text` with the tags of hosts made harmless, for what we put in front of an agent: a memory that holds
/// `</system-reminder>` must not end the notice that it stands in (B-02).
pub fn without_host_tags(text: &str) -> Cow<'_, str> {
    let is_tag = |rest: &str| {
        let rest = rest.trim_start_matches(['/', ' ', '\t']);
        let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | ' '));
        let name = rest[..name_end.unwrap_or(rest.len())].to_ascii_lowercase();
        let is = |known: &&&str| {
            name.strip_prefix(**known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        NOTICES.iter().chain(WRAPPERS).chain(STRUCTURE).find(is).is_some()
    };
    if !text.match_indices('<').any(|(at, _)| is_tag(&text[at + 1..])) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.char_indices() {
        match c {
            (at, '<') if is_tag(&text[at + 1..]) => out.push_str("&lt;"),
            (_, c) => out.push(c),
        }
    }
    Cow::Owned(out)
}
