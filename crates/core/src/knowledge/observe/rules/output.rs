//! Interprets tool output: success or failure, and the one line with the error. The rest is ignored, and
//! nothing in it counts as anybody's word (B-01).

use super::command::ShellCommand;
use crate::session::ToolOutcome;
use crate::text::phrases::{line, truncate_head, truncate_tail};

/// The number of bytes read of an output: its start and its end.
const HEAD_BYTES: usize = 4 * 1024;
const TAIL_BYTES: usize = 8 * 1024;
/// The maximum length of an error line, in characters.
const MAX_FAILURE_CHARS: usize = 140;

/// The hosts' messages for a tool call that the user, or a setting, refused.
const REFUSED_OUTPUTS: &[&str] = &[
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "The tool use was rejected",
    "[Request interrupted",
    "Request interrupted",
    "Permission to use",
    "exec command rejected by user",
    "patch rejected by user",
    "User rejected",
    "User denied",
    "User cancelled",
    "Operation cancelled by user",
    "aborted by user",
    "command aborted",
    "Sibling tool call errored",
    "Claude requested permissions",
];

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallState {
    /// The call succeeded, and its check passed.
    Passed,
    /// It failed, or its output reports a failed check.
    Failed,
    /// The user or a setting refused it.
    Refused,
    /// It has no output, so its outcome is unknown.
    Open,
}

/// The outcome of a call.
pub(super) fn state(outcome: &ToolOutcome, output: &str, command: Option<&ShellCommand>) -> CallState {
    if outcome.failed && REFUSED_OUTPUTS.iter().any(|words| truncate_head(output, 300).contains(words)) {
        return CallState::Refused;
    }
    if outcome.failed || outcome.exit_code.is_some_and(|code| code != 0) {
        return CallState::Failed;
    }
    // A pipe hides the exit code of a check, but not its output.
    if command.is_some_and(ShellCommand::checks) && lines(output).any(says_failed) {
        return CallState::Failed;
    }
    CallState::Passed
}

/// The line of an output that best describes the error.
pub(super) fn failure_line(output: &str) -> Option<String> {
    let ranked = lines(output).filter_map(|text| Some((rank(text)?, text)));
    // Take the first of the best: later errors mostly follow from it.
    let mut best: Option<(u8, &str)> = None;
    for (rank, text) in ranked {
        if best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, text));
        }
    }
    let text =
        best?.1.trim().trim_matches(|c: char| matches!(c, '=' | '-' | '|' | '*' | '>') || c.is_whitespace());
    let excerpt = line(text, MAX_FAILURE_CHARS);
    (excerpt.chars().filter(|c| c.is_alphanumeric()).count() >= 6).then_some(excerpt)
}

fn lines(output: &str) -> impl Iterator<Item = &str> {
    let (start, end) = match output.len() > HEAD_BYTES + TAIL_BYTES {
        true => (truncate_head(output, HEAD_BYTES), truncate_tail(output, TAIL_BYTES)),
        false => (output, ""),
    };
    start.lines().chain(end.lines()).filter(|text| text.len() < 2_000)
}

/// True if a line of a check's output reports a failure, in words that no passing check uses.
fn says_failed(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "--- FAIL:",
        "FAIL\t",
        "FAIL ",
        "FAILED ",
        "error[E",
        "error: could not compile",
        "error: test failed",
        "test result: FAILED",
        "npm ERR!",
        "npm error",
        "Traceback (most recent call last)",
        "FAILURE:",
        "BUILD FAILED",
        "[ERROR]",
        "make: ***",
        "gmake: ***",
        "error TS",
        "✗ FAIL",
        "Build FAILED",
        "Error: Process completed with exit code",
        "ELIFECYCLE",
        "** TEST FAILED **",
        "** BUILD FAILED **",
    ];
    let text = text.trim();
    STARTS.iter().any(|start| text.starts_with(start))
        || text.contains("[build failed]")
        || text.contains("): error TS")
        || text.contains(": error TS")
        || counted_failures(text)
        || issues(text)
}

/// True for failure counts: `3 failed, 10 passed`, `Tests: 1 failed`, `2 failing`.
fn counted_failures(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.len() < 20
        && words.windows(2).any(|pair| {
            let count = pair[0].trim_matches(|c: char| !c.is_ascii_digit());
            count.parse::<u64>().is_ok_and(|count| count > 0)
                && matches!(
                    pair[1].trim_end_matches([',', ';', '.', ')', '=']),
                    "failed" | "failing" | "failures" | "failure"
                )
        })
}

/// True for the last line of a linter: `3 issues:`.
fn issues(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(count, rest)| {
        matches!(rest, "issues:" | "issue:" | "errors" | "error" | "problems" | "problem")
            && count.parse::<u64>().is_ok_and(|count| count > 0)
    })
}

/// The rank of a line as description of an error; `None` if it is none.
fn rank(text: &str) -> Option<u8> {
    let text = text.trim();
    if text.chars().filter(|c| c.is_alphanumeric()).count() < 6 || text.starts_with("Exit code") {
        return None;
    }
    let lower = truncate_head(text, 400).to_lowercase();
    let place = begins_with_location(text);
    let summary = [
        "error: could not compile",
        "error: test failed",
        "error: aborting",
        "error: recipe",
        "npm err!",
        "npm error",
        "error: process completed",
        "error: command failed",
        "error: failed to run",
    ]
    .iter()
    .any(|start| lower.starts_with(start));
    if summary {
        return Some(1);
    }
    // The name of an exception, a compiler's message, an assertion.
    let named = lower
        .split([':', ' '])
        .next()
        .is_some_and(|word| (word.ends_with("error") || word.ends_with("exception")) && word.len() > 5);
    if lower.starts_with("error[")
        || lower.starts_with("error:")
        || lower.starts_with("fatal:")
        || named
        || lower.starts_with("panic:")
        || lower.starts_with("e   ")
        || lower.contains("panicked at")
        || lower.starts_with("assertion")
    {
        return Some(5);
    }
    let logged = ["info", "debug", "output:"].iter().any(|word| lower.contains(word));
    let wrong =
        ["error", "warning", "undefined", "expected", "cannot", "unused", "mismatch", "duplicate", "unknown"]
            .iter()
            .any(|word| lower.contains(word));
    if lower.starts_with("--- fail:") || lower.starts_with("failed ") || (place && wrong && !logged) {
        return Some(4);
    }
    if (place && !logged && lower.contains(": "))
        || lower.contains("not found")
        || lower.contains("no such file")
        || lower.contains("permission denied")
        || lower.contains("cannot find")
        || lower.contains("refused")
        || lower.starts_with("conflict (")
    {
        return Some(3);
    }
    (says_failed(text) || lower.starts_with("✗") || lower.starts_with("not ok")).then_some(2)
}

/// True if a line begins with a source position: `src/a.rs:12:`.
fn begins_with_location(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    let mut pieces = first.split(':');
    let name = pieces.next().unwrap_or("");
    name.contains('.')
        && name.len() > 2
        && pieces
            .next()
            .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn went(command: &str, output: &str) -> CallState {
        state(&ToolOutcome::default(), output, ShellCommand::read(command).as_ref())
    }

    #[test]
    fn a_pipe_does_not_hide_a_failure() {
        assert_eq!(
            went("cargo test 2>&1 | tail -5", "test result: FAILED. 3 passed; 1 failed"),
            CallState::Failed
        );
        assert_eq!(went("go test ./... | head", "--- FAIL: TestA (0.00s)\nFAIL"), CallState::Failed);
        assert_eq!(went("npx eslint . | tail", "12 problems"), CallState::Failed);
        assert_eq!(went("cargo test | tail", "test result: ok. 3 passed; 0 failed"), CallState::Passed);
        assert_eq!(went("pytest -q | tail", "12 passed, 0 failed"), CallState::Passed);
        assert_eq!(went("cat notes.txt", "FAILED once"), CallState::Passed);
    }

    #[test]
    fn a_refused_call_is_not_a_failure() {
        let outcome = ToolOutcome { failed: true, ..ToolOutcome::default() };
        let said = "The user doesn't want to proceed with this tool use.";
        assert_eq!(state(&outcome, said, None), CallState::Refused);
        assert_eq!(state(&outcome, "boom", None), CallState::Failed);
    }

    #[test]
    fn the_failure_line_is_extracted() {
        for (output, key) in [
            (
                "Compiling a\nerror[E0432]: unresolved import `x`\n --> a.rs",
                "error[E0432]: unresolved import `x`",
            ),
            ("src/a.go:12:3: undefined: Foo\nFAIL", "src/a.go:12:3: undefined: Foo"),
            ("=== FAILURES ===\nE   ValueError: bad port\n1 failed", "E   ValueError: bad port"),
            ("--- FAIL: TestA (0.00s)\nFAIL", "FAIL: TestA (0.00s)"),
            (
                "error: test failed, to rerun\nTypeError: x is not a function",
                "TypeError: x is not a function",
            ),
        ] {
            let key = key.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(failure_line(output), Some(key));
        }
        assert_eq!(failure_line("all is well\n"), None);
    }
}
