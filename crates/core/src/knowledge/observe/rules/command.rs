//! Parses command lines and classifies their effect.

use crate::session::ToolCall;
use crate::session::notes::here_document;

/// Tools that run a shell command.
const SHELL_TOOLS: &[&str] = &[
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "local_shell_call",
    "container.exec",
    "shell_command",
    "powershell",
    "terminal",
    "run_terminal_cmd",
    "execute_command",
];
/// Wrapper words in front of a program.
const WRAPPER_WORDS: &[&str] =
    &["sudo", "time", "nice", "env", "npx", "bunx", "command", "exec", "timeout", "nohup", "xvfb-run"];
/// Programs that only prepare or display, and do not decide the outcome of a line.
const PREPARING_PROGRAMS: &[&str] = &[
    "cd", "export", "set", "source", ".", "echo", "printf", "head", "tail", "grep", "rg", "cat", "tee",
    "less", "wc", "sort", "uniq", "cut", "awk", "sed", "sleep", "true", "pwd", "ls", "mkdir", "pushd",
    "popd", "which", "date", "jq", "tr", "xargs", "find",
];

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// The line to type again: without redirections and display commands.
    pub line: String,
    /// The commands that have an effect.
    pub parts: Vec<CommandPart>,
}

/// One command of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPart {
    /// The words, without assignments, wrappers and redirections.
    pub words: Vec<String>,
    /// True if it checks something: tests, a linter, a compiler.
    pub checks: bool,
}

impl ShellCommand {
    /// The command that a call runs, if any.
    pub(super) fn from_call(call: &ToolCall) -> Option<Self> {
        SHELL_TOOLS.contains(&call.tool.to_lowercase().as_str()).then(|| Self::read(&call.input)).flatten()
    }

    /// Parses a command line; `None` if no part of it decides its outcome.
    pub(super) fn read(input: &str) -> Option<Self> {
        let parts: Vec<CommandPart> =
            split(input).iter().filter_map(|piece| CommandPart::read(piece)).collect();
        if parts.is_empty() {
            return None;
        }
        let line = parts.iter().map(CommandPart::line).collect::<Vec<_>>().join(" && ");
        Some(Self { line, parts })
    }

    /// True if any part is a check.
    pub(super) fn checks(&self) -> bool {
        self.parts.iter().any(|part| part.checks)
    }

    /// True if it makes a commit.
    pub(super) fn commits(&self) -> bool {
        self.parts.iter().any(|part| part.begins_with(&["git", "commit"]))
    }

    /// The keys that identify a retry: for checks the program and its action, else the whole line.
    pub(super) fn keys(&self) -> Vec<String> {
        let checks: Vec<String> =
            self.parts.iter().filter(|part| part.checks).map(CommandPart::key).collect();
        if checks.is_empty() { vec![self.line.clone()] } else { checks }
    }

    /// The check in the line, or the whole line.
    pub(super) fn name(&self) -> String {
        let checks: Vec<String> =
            self.parts.iter().filter(|part| part.checks).map(CommandPart::line).collect();
        if checks.is_empty() { self.line.clone() } else { checks.join(" && ") }
    }
}

impl CommandPart {
    fn read(piece: &str) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut skip = false;
        for word in piece.split_whitespace() {
            if std::mem::take(&mut skip) {
                continue;
            }
            let assignment =
                words.is_empty() && word.contains('=') && !word.starts_with(['-', '.', '/', '"']);
            let wrapper = words.is_empty() && WRAPPER_WORDS.contains(&word);
            // A redirection: `2>&1`, `>file`, `> file`, `</dev/null`.
            let redirection =
                word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['>', '<']);
            skip = redirection && word.ends_with(['>', '<']);
            let duration = words.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == 's');
            if !(assignment || wrapper || redirection || duration) {
                words.push(word.to_owned());
            }
        }
        let program = words.first()?;
        if PREPARING_PROGRAMS.contains(&base(program)) {
            return None;
        }
        let checks = is_check(&words);
        Some(Self { words, checks })
    }

    /// The command as typed.
    pub(super) fn line(&self) -> String {
        self.words.join(" ")
    }

    /// True if it begins with these words.
    pub(super) fn begins_with(&self, words: &[&str]) -> bool {
        self.words.len() >= words.len()
            && words
                .iter()
                .zip(&self.words)
                .enumerate()
                .all(|(place, (word, own))| *word == if place == 0 { base(own) } else { own.as_str() })
    }

    /// The program and its action, without other arguments.
    fn key(&self) -> String {
        let mut key = vec![base(&self.words[0]).to_owned()];
        let most = if RUNNERS.contains(&key[0].as_str()) { 3 } else { 2 };
        let plain =
            |word: &&String| word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
        key.extend(
            self.words[1..]
                .iter()
                .take_while(|word| !word.starts_with('-'))
                .filter(plain)
                .take(most - 1)
                .cloned(),
        );
        key.join(" ")
    }
}

/// Programs whose second word is only "run".
const RUNNERS: &[&str] =
    &["npm", "pnpm", "yarn", "bun", "mise", "poetry", "uv", "rye", "pdm", "pipenv", "deno", "task"];
/// Programs that only check.
const CHECKERS: &[&str] = &[
    "pytest",
    "py.test",
    "tox",
    "nox",
    "ruff",
    "mypy",
    "pyright",
    "flake8",
    "pylint",
    "eslint",
    "tsc",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "playwright",
    "cypress",
    "rspec",
    "rubocop",
    "phpunit",
    "phpstan",
    "psalm",
    "golangci-lint",
    "staticcheck",
    "shellcheck",
    "ctest",
    "xcodebuild",
    "stylelint",
    "biome",
    "clippy-driver",
    "rustc",
    "gcc",
    "g++",
    "clang",
    "javac",
    "ninja",
    "hadolint",
    "actionlint",
    "yamllint",
    "markdownlint",
    "swiftlint",
    "ktlint",
    "detekt",
];
/// Programs that check if an argument says so.
const CONDITIONAL_CHECKERS: &[&str] = &[
    "cargo",
    "go",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "mise",
    "just",
    "make",
    "gmake",
    "task",
    "rake",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "dotnet",
    "mix",
    "swift",
    "cmake",
    "bazel",
    "deno",
    "zig",
    "python",
    "python3",
    "poetry",
    "uv",
    "bundle",
    "composer",
    "rye",
    "pdm",
    "pipenv",
    "hatch",
    "nx",
    "turbo",
    "lerna",
    "terraform",
    "stack",
    "cabal",
    "sbt",
    "lein",
    "flutter",
    "dart",
    "rebar3",
    "docker",
    "pre-commit",
    "invoke",
    "ant",
    "meson",
    "black",
    "prettier",
];
/// The arguments that make them check.
const CHECK_ARGUMENTS: &[&str] = &[
    "test",
    "tests",
    "t",
    "nextest",
    "clippy",
    "check",
    "build",
    "vet",
    "lint",
    "typecheck",
    "type-check",
    "verify",
    "ci",
    "compile",
    "pytest",
    "unittest",
    "mypy",
    "ruff",
    "rspec",
    "validate",
    "analyze",
    "analyse",
    "tsc",
    "jest",
    "vitest",
    "eslint",
    "doc",
    "--check",
    "rubocop",
    "phpunit",
    "e2e",
    "integration",
];

fn is_check(words: &[String]) -> bool {
    let program = base(&words[0]);
    if CHECKERS.contains(&program) {
        return true;
    }
    if CONDITIONAL_CHECKERS.contains(&program) {
        // A bare `make` builds.
        let bare = matches!(program, "make" | "gmake" | "ninja") && words.len() == 1;
        let names_check = words[1..].iter().take(4).take_while(|word| *word != "-c").any(|word| {
            CHECK_ARGUMENTS.contains(&word.as_str())
                || word
                    .split([':', '-', '.', '/'])
                    .any(|piece| piece.len() > 1 && CHECK_ARGUMENTS.contains(&piece))
                    && !word.starts_with('-')
        });
        return bare || names_check;
    }
    // A script of the project whose name says that it checks.
    let script = words[0].contains('/') || matches!(program, "sh" | "bash" | "zsh" | "node" | "ruby");
    let name = if matches!(program, "sh" | "bash" | "zsh" | "node" | "ruby") {
        words.get(1).map_or("", |word| base(word))
    } else {
        program
    };
    script
        && name
            .split(['.', '-', '_'])
            .any(|piece| matches!(piece, "test" | "tests" | "lint" | "check" | "verify" | "ci"))
}

/// The name of a program without its folder.
fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Splits a line at `&&`, `||`, `;`, `|` and line breaks outside of quotes. The contents of here-documents
/// and quotes are no commands.
fn split(input: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut signs = input.chars().peekable();
    let mut before = ' ';
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), _) if sign == open && before != '\\' => quote = None,
            (None, '"' | '\'') if before != '\\' => quote = Some(sign),
            (None, '\\') if signs.peek() == Some(&'\n') => {
                signs.next();
                before = ' ';
                continue;
            }
            (None, '<') if signs.peek() == Some(&'<') => return pieces,
            (None, '&') if before == '>' || signs.peek() == Some(&'>') => {}
            (None, '&' | '|' | ';' | '\n') => {
                pieces.push(String::new());
                before = sign;
                continue;
            }
            _ => {}
        }
        before = sign;
        if let Some(piece) = pieces.last_mut() {
            piece.push(if sign == '\n' { ' ' } else { sign });
        }
    }
    pieces
}

/// The subject of a commit.
pub(super) fn commit_subject(input: &str) -> Option<String> {
    commit_message(input).map(|(subject, _)| subject)
}

/// The subject and the body of a commit's message, if they are in the command. Trailers are left out.
pub(super) fn commit_message(input: &str) -> Option<(String, String)> {
    const FLAGS: [&str; 3] = [" -m ", " -am ", " --message "];
    const FROM_INPUT: [&str; 4] = [" -F - <<", " -F- <<", " --file=- <<", " --file - <<"];
    let mut rest = &input[input.find("git commit")?..];
    let mut paragraphs: Vec<&str> = Vec::new();
    if let Some(at) = FROM_INPUT.iter().filter_map(|flag| Some(rest.find(flag)? + flag.len())).min() {
        paragraphs.push(here_document(&rest[at..])?);
        rest = "";
    }
    while let Some(at) = FLAGS.iter().filter_map(|flag| Some(rest.find(flag)? + flag.len())).min() {
        let text = rest[at..].trim_start();
        let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        let text = &text[1..];
        if let Some(here) = text.strip_prefix("$(cat <<") {
            paragraphs.push(here_document(here)?);
            break;
        }
        let end = text.find(quote).unwrap_or(text.len());
        paragraphs.push(&text[..end]);
        rest = &text[end..];
    }
    let is_trailer = |line: &str| {
        let name = line.split_once(": ").map(|(name, _)| name).unwrap_or_default();
        name.contains('-') && !name.contains(' ') || line.contains("Generated with") || line.starts_with('🤖')
    };
    let message = paragraphs.join("\n");
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !is_trailer(line));
    let subject = lines.next()?;
    // Text inserted by a variable or a command is unknown.
    let known = !subject.contains("$(") && !subject.starts_with('$') && subject != "EOF";
    known.then(|| (subject.to_owned(), lines.collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let command =
            ShellCommand::read("cd web && FOO=1 npx vitest run --coverage 2>&1 | tail -20").unwrap();
        assert_eq!(command.line, "vitest run --coverage");
        assert!(command.checks());
        assert_eq!(command.keys(), ["vitest run"]);
        let command = ShellCommand::read("mise run lint && mise run test").unwrap();
        assert_eq!(command.keys(), ["mise run lint", "mise run test"]);
        assert_eq!(ShellCommand::read("cd web; ls | head"), None);
        let command = ShellCommand::read("git commit -m 'fix; cargo test && x | y'").unwrap();
        assert!(command.commits() && !command.checks());
        assert!(
            !ShellCommand::read("cat <<'EOF' > x\ncargo test\nEOF").is_some_and(|command| command.checks())
        );
    }

    #[test]
    fn checks_are_known() {
        let checks = |input: &str| ShellCommand::read(input).is_some_and(|command| command.checks());
        for input in [
            "cargo test",
            "cargo clippy --all",
            "go test ./...",
            "npm test",
            "npm run lint",
            "pnpm run test:unit",
            "make",
            "make test",
            "pytest -q",
            "python -m pytest",
            "./scripts/check.sh",
            "bash scripts/test.sh",
            "tsc --noEmit",
            "mise run test:integration",
            "just lint",
            "./gradlew build",
            "uv run pytest",
            "black --check .",
        ] {
            assert!(checks(input), "{input}");
        }
        for input in [
            "cargo add serde",
            "git status",
            "npm install",
            "ls tests",
            "cat test.sh",
            "git diff tests/",
            "python run.py",
            "make deploy",
            "docker ps",
            "gh pr checks 3",
            "rm -rf build",
            "node server.js",
        ] {
            assert!(!checks(input), "{input}");
        }
    }

    #[test]
    fn a_commit_by_its_first_line() {
        assert_eq!(commit_subject("git commit -m \"Cache it\""), Some("Cache it".to_owned()));
        assert_eq!(
            commit_subject("git add . && git commit -am 'Cache it\n\nmore'"),
            Some("Cache it".to_owned())
        );
        assert_eq!(
            commit_subject("git commit -m \"$(cat <<'EOF'\nCache it\n\nBody\nEOF\n)\""),
            Some("Cache it".to_owned())
        );
        assert_eq!(
            commit_message("git commit -m 'Cache it' -m 'Parsing took 40 ms.\nCo-Authored-By: A <a@b>'"),
            Some(("Cache it".to_owned(), "Parsing took 40 ms.".to_owned()))
        );
        assert_eq!(
            commit_message(
                "git add -A && git commit -qa -F - <<'MSG'\nCache it\n\nParsing took 40 ms.\nMSG\ngit log"
            ),
            Some(("Cache it".to_owned(), "Parsing took 40 ms.".to_owned()))
        );
        assert_eq!(commit_subject("git commit --amend --no-edit"), None);
        assert_eq!(commit_subject("git commit -m \"$MESSAGE\""), None);
    }
}
