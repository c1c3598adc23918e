//! Consistency checks: paths and commands in the documents exist, the README's output is real, and every test
//! file runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rekindle_testkit::{Sandbox, TestCommand};

use crate::sandbox;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Documents in which every path and command must exist.
const CHECKED: [&str; 4] =
    ["README.md", "docs/ARCHITECTURE.md", "docs/troubleshooting.md", "CONTRIBUTING.md"];

/// Returns code spans and link targets outside code blocks, and the lines of code blocks.
fn named(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut spans, mut commands, mut fence) = (Vec::new(), Vec::new(), None);
    for line in text.lines() {
        if let Some(language) = line.trim().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.to_owned()) };
        } else if let Some(language) = &fence {
            if language == "sh" {
                commands
                    .extend(line.split('#').next().unwrap().split("&&").map(|part| part.trim().to_owned()));
            }
        } else {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            spans
                .extend(line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
    }
    (spans, commands)
}

fn commands(sandbox: &Sandbox, of: &[&str]) -> Vec<String> {
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    if of.is_empty() {
        // Commands are in groups, each indented by two spaces.
        let help = sandbox.rekindle(&["help", "--all"]).run().ok().stdout;
        let listed = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = listed.filter(|line| !line.trim_start().starts_with('-')).filter_map(name);
        return names.filter(|name| name != "help").collect();
    }
    let help = sandbox.rekindle(&[of, &["--help"]].concat()).run().ok().stdout;
    let Some(list) = help.split("Commands:\n").nth(1) else { return Vec::new() };
    let named = list.lines().take_while(|line| line.starts_with("  "));
    named.filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn every_path_and_command_that_the_documents_name_exists() {
    let sandbox = sandbox();
    let mut known: BTreeSet<String> = commands(&sandbox, &[]).into_iter().collect();
    known.insert("help".to_owned());
    let mut checked = 0;
    for document in CHECKED {
        let (spans, lines) = named(&read(document));
        // The tables of ARCHITECTURE.md name files relative to the crate of their heading.
        let sources = [
            "",
            "docs/",
            "crates/core/src/",
            "crates/engine/src/",
            "crates/embed/src/",
            "crates/rekindle/src/",
            "crates/rekindle/tests/it/",
        ];
        for span in spans.iter().chain(&lines) {
            let words: Vec<&str> = span.split_whitespace().collect();
            match words.as_slice() {
                ["rekindle", rest @ ..] => {
                    let Some(command) = rest.iter().find(|word| word.chars().all(|c| c.is_ascii_lowercase()))
                    else {
                        continue;
                    };
                    if rest[0].starts_with("--home") || known.contains(*command) {
                        checked += 1;
                        continue;
                    }
                    // A crate or folder, not a command.
                    assert!(rest.is_empty(), "{document} names the command `{span}`");
                }
                ["cargo", subcommand, ..] => {
                    assert!(
                        ["test", "install", "uninstall", "fmt", "clippy", "doc", "bench"]
                            .contains(subcommand),
                        "{document}: {span}"
                    );
                    checked += 1;
                }
                ["bash", path] | [path, ..] if is_path(path) => {
                    let exists = sources.iter().any(|base| root().join(format!("{base}{path}")).exists());
                    assert!(exists, "{document} names `{path}`, which is not there");
                    checked += 1;
                }
                _ => {}
            }
        }
    }
    assert!(checked > 60, "only {checked} names were checked: does the reader still find them?");
}

/// OPS-13: the README links a guide for each part of the product, and each exists.
#[test]
fn ops_13_the_readme_links_a_guide_for_each_part() {
    let readme = read("README.md");
    let guides = [
        "observing",
        "review",
        "vault-format",
        "agents",
        "feedback",
        "health",
        "troubleshooting",
        "adr/README",
    ];
    for guide in guides {
        let link = format!("(docs/{guide}.md)");
        assert!(readme.contains(&link), "README.md has no link {link}");
        assert!(read(&format!("docs/{guide}.md")).lines().count() > 20, "docs/{guide}.md says little");
    }
}

fn is_path(word: &str) -> bool {
    let ours = [
        "crates/", "docs/", "scripts/", "vault/", "text/", "config/", "project/", "cmd/", "models/",
        "kernels/", ".ci/",
    ];
    let file = [".rs", ".md", ".toml", ".sh"].iter().any(|ending| word.ends_with(ending));
    let persons = [
        "MEMORY.md",
        "REVIEW.md",
        "Ideas.md",
        "SOUL.md",
        "AGENTS.md",
        "CLAUDE.md",
        ".rekindle.toml",
        "conflicts.rs",
    ];
    !word.contains(['<', '~', '*', ':', '…', '='])
        && !persons.contains(&word)
        && (ours.iter().any(|start| word.starts_with(start)) || file)
}

/// Requirements: VER-19.
#[test]
fn ci_runs_nothing_that_the_readme_does_not_say() {
    let readme = read("README.md");
    let script = read(".ci/run");
    let steps: Vec<&str> = script.lines().filter(|line| line.contains("cargo ")).collect();
    assert!(steps.len() >= 4);
    for step in steps {
        let step = step.trim_start_matches("RUSTDOCFLAGS=\"--deny warnings\" ");
        assert!(readme.lines().any(|line| line == step), "README.md does not say `{step}`");
    }
}

/// `docs/ARCHITECTURE.md` lists the rooms as their own docs describe them, and is short enough to be read whole.
#[test]
fn the_architecture_lists_the_rooms_and_stays_short() {
    const MAX_WORDS: usize = 1_800;
    TestCommand::new("bash", root()).args(&["scripts/rooms.sh", "--check"]).run().ok();
    let words = read("docs/ARCHITECTURE.md").split_whitespace().count();
    assert!(words <= MAX_WORDS, "docs/ARCHITECTURE.md has {words} words, more than {MAX_WORDS}");
}

/// Runs the README tour. The output must match except for ids, scores, times and the home folder.
#[test]
fn the_tour_in_the_readme_is_real() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let readme = read("README.md");
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if inside => match line.strip_prefix("$ ") {
                Some(command) => steps.push((command.to_owned(), String::new())),
                None => steps.last_mut().expect("output follows a command").1 += &format!("{line}\n"),
            },
            _ => {}
        }
    }
    assert!(steps.len() >= 10, "only {} steps", steps.len());
    let folder = Path::new(env!("CARGO_BIN_EXE_rekindle")).parent().unwrap();
    // The path is short, because `init` offers the agents that it finds on it.
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let home = sandbox.user_home().to_str().unwrap().to_owned();
    let run = |command: &str| {
        let shell = TestCommand::new("/bin/sh", sandbox.work()).args(&["-c", command]);
        shell.env("PATH", &path).env("HOME", &home).env("REKINDLE_INDEX_BACKGROUND", "false").run().ok()
    };
    for (command, expected) in steps {
        let output = run(&command);
        // A person is slower than this test, so the index is refreshed explicitly instead of in the
        // background.
        run("rekindle reindex");
        let printed = (output.stderr + &output.stdout).replace(&home, "/home/ada");
        assert_eq!(alike(&printed), alike(&expected), "`{command}` prints\n{printed}");
    }
}

/// Replaces ids, scores, times and days with placeholders, and runs of spaces with one space.
fn alike(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let all = |test: fn(char) -> bool| bare.chars().all(test);
        let is_id = bare.len() == 14 && bare.starts_with("m-");
        let is_change = bare.len() == 8 && all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        let is_score = bare.len() == 5 && bare.contains('.') && bare.parse::<f32>().is_ok();
        let is_time =
            bare.len() >= 10 && bare.starts_with("20") && all(|c| c.is_ascii_digit() || "-:TZ".contains(c));
        match bare {
            _ if is_id => "ID".to_owned(),
            _ if is_change => "CHANGE".to_owned(),
            _ if is_score => "SCORE".to_owned(),
            _ if is_time => "TIME".to_owned(),
            _ => match word.split_once(".md.20") {
                Some((before, after)) => format!("{before}.md.DAY{}", &after[6..]),
                None => word.to_owned(),
            },
        }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_command_reference_is_what_the_commands_say() {
    let sandbox = sandbox();
    let mut text = String::from(
        "# Every command\n\nMade by `scripts/cli-reference.sh` from what the commands say about themselves.\n",
    );
    let mut page = |of: &[&str]| {
        let help = sandbox.rekindle(&[of, &["--help"]].concat()).run().ok().stdout;
        let title = [&["rekindle"], of].concat().join(" ");
        text.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", help.trim_end()));
    };
    page(&[]);
    page(&["help"]);
    for command in commands(&sandbox, &[]) {
        page(&[&command]);
        for verb in commands(&sandbox, &[&command]) {
            page(&[&command, &verb]);
        }
    }
    let path = root().join("docs/cli-reference.md");
    if std::env::var_os("REKINDLE_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/cli-reference.md is out of date: run scripts/cli-reference.sh");
}

#[test]
fn every_command_explains_itself_with_examples() {
    let sandbox = sandbox();
    for command in commands(&sandbox, &[]) {
        let help = sandbox.rekindle(&[&command, "--help"]).run().ok().stdout;
        assert!(help.contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.rekindle(&["completions", shell]).run().ok().stdout.contains("rekindle"));
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let folder = root().join("crates/rekindle/tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap().to_owned();
        assert!(module == "main" || main.contains(&format!("mod {module};")), "{name} is not in main.rs");
    }
}

/// Lists every file of the repository except build output.
pub(crate) fn files() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(&folder).unwrap() {
            let path = item.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            match path.is_dir() {
                true if ["target", ".git"].contains(&name) => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

#[test]
fn the_source_speaks_of_the_product_only() {
    for path in files() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // No file may depend on the paths of one machine.
        for place in [concat!("/wo", "rk/"), concat!("../sha", "red"), concat!("/ro", "ot/")] {
            assert!(!text.contains(place), "{} names {place}", path.display());
        }
        if path.extension().is_some_and(|extension| extension == "rs") {
            let long = text.lines().count();
            assert!(long <= 800, "{} has {long} lines: it is two things", path.display());
        }
    }
}
