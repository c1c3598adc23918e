//! Normalises tool calls and their results across hosts.

use serde_json::Value;

use super::message::ToolCall;
use super::notes;

/// The maximum length of a call's input.
pub const MAX_INPUT_CHARS: usize = 500;
/// The maximum length of a command that gives a reason for a change: a commit, a pull request, an issue.
const MAX_REASONED_INPUT_CHARS: usize = 4_000;
/// Commands that give a reason for a change.
const REASONED_TOOLS: &[&str] =
    &["git commit", "gh pr create", "gh issue create", "glab mr create", "glab issue create"];
/// The maximum number of files read or written per call.
const MAX_FILES: usize = 100;

/// Tools that read the file they name. Only built-in tools of the hosts: a foreign tool of the same name may
/// do anything.
const READING_TOOLS: &[&str] =
    &["Read", "NotebookRead", "read", "read_file", "read_many_files", "view_image"];
/// Tools that change the file they name.
const WRITING_TOOLS: &[&str] =
    &["Edit", "Write", "MultiEdit", "NotebookEdit", "edit", "write", "write_file", "replace"];
/// Argument keys that hold a file name.
const FILE_KEYS: &[&str] = &["file_path", "notebook_path", "path", "absolute_path"];
/// Argument keys that best describe a call, in order of preference.
const SUMMARY_KEYS: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "path",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
];

/// Builds a call from the tool's name and its arguments.
pub fn parse_call(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    let input = summary_argument(arguments);
    let is_reasoned = REASONED_TOOLS.iter().any(|command| input.contains(command));
    let mut call = ToolCall {
        id: id.to_owned(),
        tool: tool.to_owned(),
        input: truncate_chars(&input, if is_reasoned { MAX_REASONED_INPUT_CHARS } else { MAX_INPUT_CHARS }),
        ..ToolCall::default()
    };
    if READING_TOOLS.contains(&tool) {
        call.reads = files(arguments);
    } else if WRITING_TOOLS.contains(&tool) {
        call.writes = files(arguments);
    }
    // In Codex a patch is a tool of its own, or a command that receives one.
    let patch = patch(tool, arguments);
    let (noted, files) = notes::notes_of_call(tool, arguments, &input, patch);
    call.notes = noted;
    if call.writes.is_empty() {
        call.writes = files;
    }
    if let Some(patch) = patch {
        call.writes = patched(patch);
        call.input = truncate_chars(&format!("apply_patch {}", call.writes.join(" ")), MAX_INPUT_CHARS);
    }
    call
}

/// The first `most` characters of `text`.
fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn summary_argument(arguments: &Value) -> String {
    if let Value::String(text) = arguments {
        return text.clone();
    }
    let summary = SUMMARY_KEYS.iter().find_map(|key| arguments.get(key)).and_then(command);
    summary.unwrap_or_else(|| match arguments {
        Value::Null => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        other => other.to_string(),
    })
}

/// A command as text. Hosts give a line, or a list of words of which the last is the shell script.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_shell, "-lc" | "-c", line] => Some((*line).to_owned()),
                [] => None,
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

fn files(arguments: &Value) -> Vec<String> {
    if let Some(name) = FILE_KEYS.iter().find_map(|key| arguments.get(key)).and_then(Value::as_str) {
        return vec![name.to_owned()];
    }
    let list = ["include", "paths"].iter().find_map(|key| arguments.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).take(MAX_FILES).map(str::to_owned).collect()
}

fn patch<'a>(tool: &str, arguments: &'a Value) -> Option<&'a str> {
    let text = match arguments {
        Value::String(text) => text.as_str(),
        Value::Object(map) => {
            let value = ["input", "patch", "command", "cmd"].iter().find_map(|key| map.get(*key))?;
            match value {
                Value::String(text) => text.as_str(),
                Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| is_patch(word))?,
                _ => return None,
            }
        }
        _ => return None,
    };
    (is_patch(text)
        && (tool == "apply_patch" || text.contains("apply_patch") || text.starts_with("*** Begin")))
    .then_some(text)
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// The files that a patch adds, changes, moves or deletes.
fn patched(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let name = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty())
            && !files.iter().any(|known| known == name)
            && files.len() < MAX_FILES
        {
            files.push(name.to_owned());
        }
    }
    files
}

/// Parses the exit code that a host wrote into a command's output.
pub fn exit_code(output: &str) -> Option<i32> {
    /// Hosts write it within this many lines of the start or the end. Anything between is the command's own
    /// output.
    const MAX_EXIT_CODE_LINES: usize = 6;
    const EXIT_CODE_PHRASES: &[&str] =
        &["Process exited with code ", "Command exited with code ", "Exit code: ", "Exit Code: "];
    let code = |line: &str| {
        let line = line.trim();
        let rest = EXIT_CODE_PHRASES.iter().find_map(|words| line.strip_prefix(words))?;
        rest.trim().parse().ok()
    };
    // Claude Code writes it on the very first line only.
    let first = output.lines().next().and_then(|line| line.strip_prefix("Exit code "));
    first
        .and_then(|code| code.trim().parse().ok())
        .or_else(|| output.lines().take(MAX_EXIT_CODE_LINES).find_map(code))
        .or_else(|| output.lines().rev().take(MAX_EXIT_CODE_LINES).find_map(code))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fnd_06_files_read_and_written_are_named() {
        for (tool, arguments, reads, writes) in [
            ("Read", json!({"file_path": "a.rs"}), vec!["a.rs"], vec![]),
            ("NotebookEdit", json!({"notebook_path": "n.ipynb"}), vec![], vec!["n.ipynb"]),
            ("edit", json!({"path": "a.rs", "edits": []}), vec![], vec!["a.rs"]),
            ("read_many_files", json!({"include": ["a", "b"]}), vec!["a", "b"], vec![]),
            ("mcp__other__Read", json!({"file_path": "a.rs"}), vec![], vec![]),
            ("Bash", json!({"command": "cat a.rs"}), vec![], vec![]),
            (
                "apply_patch",
                json!(
                    "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n*** Add File: c\n+y\n*** End Patch"
                ),
                vec![],
                vec!["src/a.rs", "src/b.rs", "c"],
            ),
            (
                "shell",
                json!({"command": ["bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: d\n*** End Patch\nEOF"]}),
                vec![],
                vec!["d"],
            ),
        ] {
            let call = parse_call("1", tool, &arguments);
            assert_eq!(
                (call.reads, call.writes),
                (
                    reads.into_iter().map(str::to_owned).collect::<Vec<_>>(),
                    writes.into_iter().map(str::to_owned).collect::<Vec<_>>(),
                ),
                "{tool}"
            );
        }
    }

    #[test]
    fn what_a_call_is_about_in_short() {
        let input = |tool: &str, arguments: Value| parse_call("1", tool, &arguments).input;
        assert_eq!(input("Bash", json!({"command": "ls -l", "description": "list"})), "ls -l");
        assert_eq!(input("shell", json!({"command": ["bash", "-lc", "make"]})), "make");
        assert_eq!(input("shell", json!({"command": ["git", "status"]})), "git status");
        assert_eq!(input("recall", json!({"query": "ö"})), "ö");
        assert_eq!(input("odd", json!({"n": 3})), r#"{"n":3}"#);
        assert_eq!(input("none", json!({})), "");
        assert_eq!(input("Bash", json!({"command": "ö".repeat(900)})).chars().count(), MAX_INPUT_CHARS + 1);
    }

    #[test]
    fn fnd_06_exit_codes_as_each_host_says_them() {
        for (output, code) in [
            ("Exit code 127\nnot found", Some(127)),
            ("Chunk ID: 1\nWall time: 0 s\nProcess exited with code 2\nOutput:\nx", Some(2)),
            ("boom\n\nCommand exited with code 1", Some(1)),
            ("Output: x\nExit Code: 3\nProcess Group PGID: 9", Some(3)),
            ("it said Exit code 1", None),
            ("all fine", None),
            ("", None),
        ] {
            assert_eq!(exit_code(output), code, "{output}");
        }
    }
}
