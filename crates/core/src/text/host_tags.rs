//! Tags that hosts write around their own text, and protection against memory text that closes them (B-02).

use std::borrow::Cow;

/// Tags of host notices inside a message. The tag and its content are removed.
pub(crate) const NOTICE_TAGS: &[&str] = &[
    // Tags of Claude Code.
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
    // Tags of Codex CLI.
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "skills_instructions",
    "turn_aborted",
    "user_shell_command",
    "subagent_notification",
    "skill",
    // Tags of Gemini CLI.
    "session_context",
    "hook_context",
    "background_output",
];
/// Tags that hosts put around tool output. Around user text they mean only that others wrote it.
pub(crate) const WRAPPER_TAGS: &[&str] = &["untrusted_context", "user-memory-input", "tool_use_error"];
/// Further tag names that agents interpret as structure, besides the notices.
const STRUCTURE_TAGS: &[&str] = &[
    "system",
    "function_calls",
    "function_results",
    "tool_result",
    "user_input",
    "file",
    // Tags of Claude Code and its models.
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
    // Tags of Codex, such as `<INSTRUCTIONS>`; the comparison ignores case.
    "environment_details",
    "collaboration_mode",
    "compaction_summary",
    // Tags of Gemini CLI.
    "extension_context",
    "project_context",
    "global_context",
    "state_snapshot",
    // Llama's system tag, `<<SYS>>`.
    "sys",
];

/// Neutralises host tags in text that is injected. A memory that contains `</system-reminder>` must not close
/// the notice it is in (B-02).
pub fn without_host_tags(text: &str) -> Cow<'_, str> {
    let is_tag = |rest: &str| {
        let rest = rest.trim_start_matches(['/', ' ', '\t']);
        let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | ' '));
        let name = rest[..name_end.unwrap_or(rest.len())].to_ascii_lowercase();
        let is = |known: &&&str| {
            name.strip_prefix(**known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        NOTICE_TAGS.iter().chain(WRAPPER_TAGS).chain(STRUCTURE_TAGS).find(is).is_some()
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
