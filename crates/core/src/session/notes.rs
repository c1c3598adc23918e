//! Notes that an agent writes for later: in the project's own memory, as a plan, as a list of steps, in a
//! pull request or an issue. All of it is the agent's word, whatever its wording (B-01).

use std::collections::HashSet;

use serde_json::Value;

/// The maximum length of one note.
const MAX_NOTE_CHARS: usize = 4_000;
/// Files that hold a project's instructions for agents, in lower case.
const MEMORY_FILES: &[&str] = &[
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agents.override.md",
    "gemini.md",
    "copilot-instructions.md",
    ".cursorrules",
];
/// Files that hold plans and lists of tasks.
const PLAN_FILES: &[&str] = &["plan.md", "plans.md", "roadmap.md"];
const TODO_FILES: &[&str] = &["todo.md", "todos.md", "todo.txt", "todo", "tasks.md"];
/// Tools that show a plan to the user.
pub const PLAN_TOOLS: &[&str] = &["ExitPlanMode", "exit_plan_mode"];
/// Tools that keep a list of steps.
pub const STEP_TOOLS: &[&str] = &["TodoWrite", "write_todos", "update_plan"];
/// The tool that writes to Gemini CLI's own memory file.
const SAVE_MEMORY_TOOL: &str = "save_memory";
/// Suffixes of the names of publishing tools.
const PUBLISHING_TOOLS: &[&str] = &["create_issue", "create_pull_request", "create_merge_request"];
/// The prefix of a step that is done.
pub const DONE_STEP_PREFIX: &str = "- [x] ";
/// The prefix of a step that is not done.
pub const OPEN_STEP_PREFIX: &str = "- [ ] ";

/// The type of a file that holds notes for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteFileKind {
    /// The project's own memory: `CLAUDE.md`, `AGENTS.md`, `.learnings/`.
    Memory,
    /// A file with a plan.
    Plan,
    /// A file with a list of tasks.
    Todo,
}

/// The type of notes that the file at `path` holds, if any.
pub fn note_file_kind(path: &str) -> Option<NoteFileKind> {
    let path = path.replace('\\', "/").to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let inside = |folder: &str| path.starts_with(&folder[1..]) || path.contains(folder);
    let hosts_memory = path.contains("/.claude/projects/") && inside("/memory/");
    if MEMORY_FILES.contains(&name) || inside("/.learnings/") || hosts_memory {
        Some(NoteFileKind::Memory)
    } else if TODO_FILES.contains(&name) {
        Some(NoteFileKind::Todo)
    } else if PLAN_FILES.contains(&name)
        || name.ends_with("-plan.md")
        || name.ends_with("_plan.md")
        || inside("/plans/") && name.ends_with(".md")
    {
        Some(NoteFileKind::Plan)
    } else {
        None
    }
}

/// The notes that a call of `tool` writes for later, and the files that a command appends them to.
pub(super) fn notes_of_call(
    tool: &str,
    arguments: &Value,
    command: &str,
    patch: Option<&str>,
) -> (String, Vec<String>) {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let is_publishing = PUBLISHING_TOOLS.iter().any(|name| tool.ends_with(name));
    let (notes, files) = if PLAN_TOOLS.contains(&tool) {
        (text("plan").unwrap_or_default().to_owned(), Vec::new())
    } else if STEP_TOOLS.contains(&tool) {
        (steps(arguments), Vec::new())
    } else if tool == SAVE_MEMORY_TOOL {
        (text("fact").unwrap_or_default().to_owned(), Vec::new())
    } else if is_publishing {
        let body = ["body", "description"].iter().find_map(|key| text(key)).unwrap_or_default();
        (format!("{}\n{body}", text("title").unwrap_or_default()), Vec::new())
    } else if let Some(patch) = patch {
        (patched(patch), Vec::new())
    } else {
        let path = ["file_path", "path", "absolute_path"].iter().find_map(|key| text(key));
        match path.filter(|path| note_file_kind(path).is_some()) {
            Some(_) => (added(arguments), Vec::new()),
            None if arguments.get("command").or(arguments.get("cmd")).is_some() => appended(command),
            None => (String::new(), Vec::new()),
        }
    };
    (whole_lines(notes.trim()), files)
}

/// As many whole lines as fit the limit.
fn whole_lines(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_NOTE_CHARS) else { return text.to_owned() };
    let kept = &text[..end];
    kept.rfind('\n').map_or("", |at| &kept[..at]).to_owned()
}

/// The lines that an edit adds.
fn added(arguments: &Value) -> String {
    let text = |value: &Value, keys: &[&str]| -> String {
        keys.iter().find_map(|key| value.get(key)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let new = |value: &Value| -> String {
        let before = text(value, &["old_string", "oldText"]);
        let known: HashSet<&str> = before.lines().map(str::trim).collect();
        let after = text(value, &["content", "new_string", "newText"]);
        after.lines().filter(|line| !known.contains(line.trim())).collect::<Vec<_>>().join("\n")
    };
    match arguments.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().map(new).collect::<Vec<_>>().join("\n"),
        None => new(arguments),
    }
}

/// The lines that a patch adds to files with notes.
fn patched(patch: &str) -> String {
    let (mut kept, mut inside) = (Vec::new(), false);
    for line in patch.lines() {
        let file = ["*** Add File: ", "*** Update File: "].iter().find_map(|start| line.strip_prefix(start));
        if let Some(file) = file {
            inside = note_file_kind(file.trim()).is_some();
        } else if line.starts_with("*** ") && !line.starts_with("*** Move to") {
            inside = false;
        } else if let Some(added) = line.strip_prefix('+').filter(|_| inside) {
            kept.push(added);
        }
    }
    kept.join("\n")
}

/// The text that a command appends to a file with notes: `cat >> CLAUDE.md <<'EOF'`, `echo "…" >> CLAUDE.md`.
fn appended(command: &str) -> (String, Vec<String>) {
    let nothing = (String::new(), Vec::new());
    let Some(at) = command.find('>') else { return nothing };
    let (before, target) = (&command[..at], command[at..].trim_start_matches('>').trim_start());
    let end = target.find(|c: char| c.is_whitespace() || matches!(c, '<' | ';' | '&' | '|'));
    let (file, rest) = target.split_at(end.unwrap_or(target.len()));
    let file = file.trim_matches(['"', '\'']);
    if note_file_kind(file).is_none() {
        return nothing;
    }
    let text = match rest.trim_start().strip_prefix("<<") {
        Some(here) => here_document(here).unwrap_or_default().to_owned(),
        None => {
            let words = before.rsplit(['\n', ';', '&']).next().unwrap_or(before).trim();
            let written = ["echo ", "printf "].iter().find_map(|start| words.strip_prefix(start));
            let written = written.unwrap_or_default().trim_start_matches("-e ").trim();
            written.trim_matches(['"', '\'']).replace("\\n", "\n")
        }
    };
    if text.trim().is_empty() { nothing } else { (text, vec![file.to_owned()]) }
}

/// The body of a here-document, from the text after `<<`.
pub(crate) fn here_document(here: &str) -> Option<&str> {
    let (word, body) = here.split_once('\n')?;
    let word = word.split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let end = body.lines().find(|line| line.trim() == word && !word.is_empty());
    let end = end.map_or(body.len(), |line| line.as_ptr().addr() - body.as_ptr().addr());
    Some(&body[..end])
}

/// A list of steps as Markdown.
fn steps(arguments: &Value) -> String {
    let list = ["todos", "plan"].iter().find_map(|key| arguments.get(key)).and_then(Value::as_array);
    let line = |step: &Value| {
        let text = ["content", "step", "description"].iter().find_map(|key| step.get(key))?.as_str()?;
        let done = matches!(step.get("status").and_then(Value::as_str), Some("completed" | "cancelled"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("{}{text}", if done { DONE_STEP_PREFIX } else { OPEN_STEP_PREFIX }))
    };
    list.into_iter().flatten().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_in_which_notes_are_kept() {
        for (path, expected) in [
            ("CLAUDE.md", Some(NoteFileKind::Memory)),
            ("/home/dev/shop/web/AGENTS.md", Some(NoteFileKind::Memory)),
            (".learnings/2026-03.md", Some(NoteFileKind::Memory)),
            ("C:\\shop\\.learnings\\LEARNINGS.md", Some(NoteFileKind::Memory)),
            ("/home/dev/.claude/projects/-shop/memory/MEMORY.md", Some(NoteFileKind::Memory)),
            ("/home/dev/.claude/plans/quiet-otter.md", Some(NoteFileKind::Plan)),
            ("docs/cache-plan.md", Some(NoteFileKind::Plan)),
            ("TODO.md", Some(NoteFileKind::Todo)),
            ("src/todo.rs", None),
            ("docs/planning.md", None),
            ("README.md", None),
            ("memory/CLAUDE.md.bak", None),
        ] {
            assert_eq!(note_file_kind(path), expected, "{path}");
        }
    }

    #[test]
    fn only_added_lines_are_noted() {
        let of = |tool: &str, arguments: Value| super::super::tools::parse_call("1", tool, &arguments).notes;
        let edit = json!({"file_path": "CLAUDE.md", "old_string": "- Use tabs.", "new_string": "- Use tabs.\n- Use pnpm."});
        assert_eq!(of("Edit", edit), "- Use pnpm.");
        assert_eq!(of("Edit", json!({"file_path": "a.rs", "old_string": "", "new_string": "x"})), "");
        let edits = json!({"path": "AGENTS.md", "edits": [{"oldText": "a", "newText": "a\nb"}]});
        assert_eq!(of("edit", edits), "b");
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n+no\n*** Update File: AGENTS.md\n@@\n-old\n+The cache is cold.\n*** End Patch";
        assert_eq!(of("apply_patch", json!(patch)), "The cache is cold.");
        let here =
            json!({"command": "cd x && cat >> CLAUDE.md <<'EOF'\nThe API listens on 7012.\nEOF\ngit add ."});
        assert_eq!(of("Bash", here.clone()), "The API listens on 7012.");
        assert_eq!(super::super::tools::parse_call("1", "Bash", &here).writes, ["CLAUDE.md"]);
        let echo = json!({"cmd": "echo \"- Redis is on 6380\" >> .learnings/notes.md"});
        assert_eq!(of("exec_command", echo), "- Redis is on 6380");
        assert_eq!(of("Bash", json!({"command": "echo hi > out.txt"})), "");
        let todos = json!({"todos": [{"content": "a  b", "status": "completed"}, {"content": "c", "status": "pending"}]});
        assert_eq!(of("TodoWrite", todos), "- [x] a b\n- [ ] c");
        assert_eq!(of("save_memory", json!({"fact": "Ports start at 7000."})), "Ports start at 7000.");
        assert_eq!(of("mcp__github__create_pull_request", json!({"title": "T", "body": "B."})), "T\nB.");
        let long = json!({"file_path": "CLAUDE.md", "content": "A whole line.\n".repeat(900)});
        assert!(of("Write", long).ends_with("A whole line."));
    }
}
