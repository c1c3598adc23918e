//! Questions of `rekindle init` and `rekindle install` at a real terminal, answered with yes, no, end of
//! input and Ctrl-C.

use std::fs;

use rekindle_testkit::{Sandbox, TELEGRAM_TOKEN, TelegramServer};

use crate::install::home;
use crate::review_terminal::TmuxTerminal;

/// Variables that hide agents outside the person's home.
const ONLY_HERE: [(&str, &str); 6] = [
    ("PATH", "/usr/bin:/bin"),
    ("USER", "ada"),
    ("CLAUDE_CONFIG_DIR", ""),
    ("CODEX_HOME", ""),
    ("GEMINI_CLI_HOME", ""),
    ("PI_CODING_AGENT_DIR", ""),
];

/// Sets up a person's home with agents and without Rekindle.
fn with_agents(agents: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    for agent in agents {
        fs::create_dir(sandbox.user_home().join(format!(".{agent}"))).unwrap();
    }
    if agents.contains(&"claude") {
        fs::write(sandbox.user_home().join(".claude/settings.json"), "{\"model\": \"opus\"}\n").unwrap();
    }
    sandbox
}

/// Types a command and answers each question in turn; the keys of the last answer end it.
fn answer(terminal: &TmuxTerminal, command: &str, answers: &[(&str, &[&str])]) -> String {
    terminal.run("clear");
    terminal.until_it("an empty screen", |screen| screen.trim().lines().count() == 1);
    terminal.run(command);
    for (question, keys) in answers {
        terminal.until(question);
        terminal.keys(keys);
    }
    // The terminal discards keys typed while it handles Ctrl-C.
    if answers.last().is_some_and(|(_, keys)| *keys == INTERRUPT) {
        terminal.until_it("the prompt", |screen| screen.trim_end().ends_with(['#', '$']));
    }
    // The shell reads this line after the command has ended.
    terminal.run("echo over-$((1 + 1))-$?");
    terminal.until("over-2-")
}

const NO: &[&str] = &["n", "Enter"];
const YES: &[&str] = &["y", "Enter"];
const ENTER: &[&str] = &["Enter"];
const END: &[&str] = &["C-d"];
const INTERRUPT: &[&str] = &["C-c"];

#[test]
fn b_15_only_a_yes_at_the_terminal_lets_install_write() {
    let sandbox = with_agents(&["claude", "codex"]);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let before = home(&sandbox);
    let untouched = |what: &str| {
        assert_eq!(home(&sandbox), before, "{what}");
        assert!(!sandbox.home().exists(), "{what}");
    };
    let screen = answer(&terminal, "sh r install", &[("Make these changes? [Y/n/d shows the diff]", NO)]);
    assert!(screen.contains("Cancelled. No files changed.") && screen.contains("over-2-0"), "{screen}");
    untouched("no");
    let screen = answer(&terminal, "sh r install", &[("Make these changes? [Y/n/d shows the diff]", END)]);
    assert!(screen.contains("so nothing was done") && screen.contains("over-2-1"), "{screen}");
    untouched("the end of the input");
    answer(&terminal, "sh r install", &[("Make these changes? [Y/n/d shows the diff]", INTERRUPT)]);
    untouched("Ctrl-C");
    // A yes to the first question does not answer the second, and nothing is written before the second
    // answer.
    let trust = "Trust these hooks in Codex? [y/N]";
    let screen = answer(
        &terminal,
        "sh r install",
        &[("Make these changes? [Y/n/d shows the diff]", YES), (trust, END)],
    );
    assert!(screen.contains("no answer, so nothing was done"), "{screen}");
    untouched("the end of the input at the second question");
    answer(
        &terminal,
        "sh r install",
        &[("Make these changes? [Y/n/d shows the diff]", YES), (trust, INTERRUPT)],
    );
    untouched("Ctrl-C at the second question");

    let screen = answer(
        &terminal,
        "sh r install",
        &[("Make these changes? [Y/n/d shows the diff]", ENTER), (trust, ENTER)],
    );
    assert!(screen.contains("over-2-0"), "{screen}");
    let file = |name: &str| fs::read_to_string(sandbox.user_home().join(name)).unwrap_or_default();
    let claude = file(".claude/settings.json");
    assert!(claude.contains("\"opus\"") && claude.contains("hook claude"), "{claude}");
    assert!(file(".codex/hooks.json").contains("hook codex"), "{}", file(".codex/hooks.json"));
    assert!(!file(".codex/config.toml").contains("trusted_hash"), "nobody trusted them");
    assert!(sandbox.home().exists(), "what the agents will call is there");
    answer(&terminal, "sh r install codex", &[(trust, YES)]);
    assert!(file(".codex/config.toml").contains("trusted_hash"), "{}", file(".codex/config.toml"));
}

#[test]
fn init_asks_at_the_terminal_and_makes_nothing_before_it_is_answered() {
    let sandbox = with_agents(&["claude"]);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let before = home(&sandbox);
    let (name, notes) = ("What should your agents call you? [ada]", "empty for a new one");
    for leave in [END, INTERRUPT] {
        answer(&terminal, "sh r init", &[(name, leave)]);
        answer(&terminal, "sh r init", &[(name, ENTER), (notes, leave)]);
        assert!(!sandbox.home().exists() && home(&sandbox) == before, "{leave:?}");
    }
    // End of input at the last question leaves the agents alone; the home is made.
    let offer = "Connect Rekindle to Claude Code? You'll see every change first. [Y/n]";
    let answers = [(name, ["Ada", "Enter"].as_slice()), (notes, ENTER), (offer, END)];
    let screen = answer(&terminal, "sh r init", &answers);
    // Keys typed ahead may precede the message and wrap it.
    let joined = screen.replace('\n', "");
    assert!(joined.contains("no answer, so your agents' settings stay unchanged"), "{screen}");
    assert!(screen.contains("Next:") && screen.contains("over-2-0"), "{screen}");
    assert_eq!(home(&sandbox), before);
    let config = fs::read_to_string(sandbox.home().join("config.toml")).unwrap();
    assert!(config.contains("\"Ada\"") && sandbox.vault().exists(), "{config}");

    // The second run knows the name and asks only about agents.
    let made = fs::read(sandbox.home().join("config.toml")).unwrap();
    for leave in [NO, INTERRUPT] {
        answer(&terminal, "sh r init", &[(offer, leave)]);
        assert_eq!(home(&sandbox), before, "{leave:?}");
    }
    let screen =
        answer(&terminal, "sh r init", &[(offer, YES), ("Make these changes? [Y/n/d shows the diff]", NO)]);
    assert!(screen.contains("Cancelled. No files changed.") && screen.contains("over-2-0"), "{screen}");
    assert_eq!(home(&sandbox), before);
    answer(&terminal, "sh r init", &[(offer, ENTER), ("Make these changes? [Y/n/d shows the diff]", ENTER)]);
    let claude = fs::read_to_string(sandbox.user_home().join(".claude/settings.json")).unwrap();
    assert!(claude.contains("hook claude") && claude.contains("\"opus\""), "{claude}");
    assert_eq!(fs::read(sandbox.home().join("config.toml")).unwrap(), made);
}

#[test]
fn r_16_init_asks_which_notes_may_be_read() {
    let sandbox = with_agents(&[]);
    let notes = sandbox.work().join("Notes");
    for file in ["Diary.md", "Work/Harbour.md"] {
        fs::create_dir_all(notes.join(file).parent().unwrap()).unwrap();
        fs::write(notes.join(file), "words").unwrap();
    }
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let (name, folder) = ("What should your agents call you?", "empty for a new one");
    let question = "may Rekindle read";
    let first = [(name, ENTER), (folder, ["Notes", "Enter"].as_slice())];
    // End of input is no answer, so nothing is made.
    answer(&terminal, "sh r init", &[first[0], first[1], (question, END)]);
    assert!(!sandbox.home().exists());
    // An unknown name is reported, and the question is repeated.
    let wrong = (question, ["Wrok", "Enter"].as_slice());
    let answers = [first[0], first[1], wrong, ("there is no folder `Wrok`", ["Work", "Enter"].as_slice())];
    let screen = answer(&terminal, "sh r init", &answers);
    assert!(screen.contains("over-2-0"), "{screen}");
    let config = fs::read_to_string(sandbox.home().join("config.toml")).unwrap();
    assert!(config.contains("notes = [\"Work\"]"), "{config}");
    // The question is asked once.
    let screen = answer(&terminal, "sh r init", &[]);
    assert!(!screen.contains(question), "{screen}");
}

#[test]
fn dis_01_init_finds_the_past_and_offers_to_learn_from_it() {
    let sandbox = with_agents(&["claude"]);
    let project = crate::project(&sandbox, "widgets");
    crate::backfill::past(
        &sandbox,
        &project,
        "s1",
        "2026-03-02",
        "Always use pnpm in this repository, never npm.",
    );
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let (name, notes) = ("What should your agents call you? [ada]", "empty for a new one");
    let offer = "Connect Rekindle to Claude Code?";
    let learn = "Learn from them now";
    let answers = [
        (name, ENTER),
        (notes, ENTER),
        (offer, ENTER),
        ("Make these changes? [Y/n/d shows the diff]", ENTER),
        (learn, ENTER),
    ];
    let screen = answer(&terminal, "sh r init", &answers);
    assert!(screen.contains("Found 1 session of Claude Code in 1 project."), "{screen}");
    assert!(screen.contains("Read 1 session and learnt from 1"), "{screen}");
    assert!(screen.contains("over-2-0"), "{screen}");
    // The briefing of the next session there contains it.
    let input = format!("{{\"session_id\":\"new\",\"cwd\":{project:?},\"source\":\"startup\"}}");
    let told = sandbox.rekindle(&["hook", "claude", "SessionStart"]).stdin(input).cwd(&project).run().ok();
    assert!(told.stdout.contains("pnpm"), "{}", told.stdout);
    // Nothing is left to offer.
    let screen = answer(&terminal, "sh r init", &[]);
    assert!(!screen.contains("Found"), "{screen}");
}

#[test]
fn a_typo_in_init_asks_again() {
    let sandbox = with_agents(&["claude"]);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let (name, notes) = ("What should your agents call you? [ada]", "empty for a new one");
    let offer = "Connect Rekindle to Claude Code? You'll see every change first. [Y/n]";
    let answers: [(&str, &[&str]); 5] = [
        (name, &["Ada", "Enter"]),
        (notes, &["/nowhere/at/all", "Enter"]),
        ("There is no folder /nowhere/at/all.", ENTER),
        (offer, &["x", "Enter"]),
        ("Please answer y or n.", NO),
    ];
    let screen = answer(&terminal, "sh r init", &answers);
    assert!(screen.contains("over-2-0"), "{screen}");
    assert!(sandbox.vault().exists(), "{screen}");
}

#[test]
fn d_at_the_question_shows_the_diff() {
    let sandbox = with_agents(&["claude"]);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &ONLY_HERE) else { return };
    let question = "Make these changes? [Y/n/d shows the diff]";
    let screen = answer(&terminal, "sh r install", &[(question, &["d", "Enter"]), ("hook claude", NO)]);
    assert!(screen.contains("Cancelled. No files changed."), "{screen}");
}

#[test]
fn b_15_no_is_an_answer_and_not_an_error() {
    let sandbox = with_agents(&["claude"]);
    let project = crate::project(&sandbox, "widgets");
    crate::backfill::past(&sandbox, &project, "s1", "2026-03-02", "Always use pnpm here, never npm.");
    sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    crate::save(&sandbox, "fix", "port", "Staging listens on 5433.");
    let telegram = TelegramServer::default();
    let variables = [ONLY_HERE.as_slice(), &[("TELEGRAM_BOT_TOKEN", TELEGRAM_TOKEN)]].concat();
    let Some(terminal) = TmuxTerminal::open(&sandbox, &variables) else { return };
    let before = (home(&sandbox), sandbox.everything());
    let connect = format!("sh r review connect telegram --chat 42 --url {}", telegram.url());
    for (command, question) in [
        ("sh r uninstall claude", "[Y/n"),
        ("sh r forget port", "Forget it? [y/N]"),
        ("sh r backfill", "Learn from these sessions now? [Y/n]"),
        (connect.as_str(), "Connect it? [y/N]"),
        ("sh r llm use openai --url http://127.0.0.1:9 --model a/b", "Use it? [y/N]"),
    ] {
        let screen = answer(&terminal, command, &[(question, NO)]);
        assert!(screen.contains("Cancelled.") && screen.contains("over-2-0"), "{command}: {screen}");
        assert!((home(&sandbox), sandbox.everything()) == before, "{command} changed something");
    }
    assert!(telegram.received().is_empty(), "no model calls anything");
}
