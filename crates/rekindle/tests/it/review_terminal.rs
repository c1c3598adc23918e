//! `rekindle review` at a real terminal: tmux plays the terminal, receives keys and returns its screen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rekindle_core::base::provenance::Origin;
use rekindle_testkit::Sandbox;

use crate::review::{hand_in, memory, page, propose, quiet, status};

/// The time limit for a screen to appear on a busy machine.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);

/// A terminal with a shell, on a tmux server of its own that ends with it.
pub(crate) struct TmuxTerminal {
    socket: PathBuf,
    work: PathBuf,
}

impl TmuxTerminal {
    /// Opens a terminal; `None`, with a message, if tmux is missing.
    pub(crate) fn open(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            rekindle_testkit::skipped("there is no tmux here");
            return None;
        }
        let terminal = Self { socket: sandbox.work().join("tmux"), work: sandbox.work().to_owned() };
        // The script records the process id, so that a test can end the process.
        let script = format!("echo $$ > pid; exec {} \"$@\"\n", env!("CARGO_BIN_EXE_rekindle"));
        fs::write(terminal.work.join("r"), script).unwrap();
        let work = terminal.work.to_str().unwrap();
        let mut arguments = vec!["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", work];
        let home = format!("HOME={}", sandbox.user_home().display());
        let ours = format!("REKINDLE_HOME={}", sandbox.home().display());
        let given: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let fixed = ["ENV=", "REKINDLE_INDEX_BACKGROUND=false", "REKINDLE_CAPTURE_BACKGROUND=false"];
        for variable in
            [home.as_str(), &ours].into_iter().chain(fixed).chain(given.iter().map(String::as_str))
        {
            arguments.extend(["-e", variable]);
        }
        arguments.push("/bin/sh");
        let begun = terminal.tmux(&arguments);
        assert!(begun.status.success(), "{}", String::from_utf8_lossy(&begun.stderr));
        terminal.until_it("prompt", |screen| !screen.trim().is_empty());
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        // The person's own colour settings are not under test.
        tmux.env_remove("TMUX").env_remove("NO_COLOR").env_remove("VISUAL").env_remove("EDITOR");
        tmux.arg("-S").arg(&self.socket).args(arguments).output().unwrap()
    }

    /// Types a command line.
    pub(crate) fn run(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.keys(&["Enter"]);
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// Waits until the screen shows a text and returns the screen.
    #[track_caller]
    pub(crate) fn until(&self, wanted: &str) -> String {
        self.until_it(wanted, |screen| screen.contains(wanted))
    }

    #[track_caller]
    pub(crate) fn until_it(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(began.elapsed() < SCREEN_TIMEOUT, "no `{what}` on this screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for TmuxTerminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn editor(work: &Path, body: &str) -> String {
    let path = work.join("editor.sh");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn rev_12_rev_14_a_sitting_approves_rejects_takes_back_and_leaves_the_screen_as_it_was() {
    let sandbox = quiet();
    let before = memory(&sandbox);
    let [first, second, third] = [("Use tabs.", 0), ("Deploy on Mondays.", 1), ("Write tests first.", 2)]
        .map(|(words, days)| propose(&sandbox, words, days));
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    terminal.run("echo what was here before");
    terminal.until("\nwhat was here before");
    terminal.run("sh r review");
    let screen = terminal.until("Review 1/3, 3 to decide");
    assert!(!screen.contains("what was here before"), "{screen}");
    for shown in ["> [ ] Use tabs", "Patterns", "q quit", "> From now on: Use tabs.", "80 % sure"] {
        assert!(screen.contains(shown), "no `{shown}`:\n{screen}");
    }
    assert!(screen.contains("+ - (20") && screen.contains(&format!("{first} for MEMORY.md")), "{screen}");

    terminal.keys(&["a"]);
    let screen = terminal.until("to MEMORY.md › Patterns");
    assert!(screen.contains("  [a] Use tabs") && screen.contains("> [ ] Deploy on Mondays"), "{screen}");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert!(memory(&sandbox).contains(&format!("Use tabs. <!-- user --> ^{first}")), "{}", memory(&sandbox));

    terminal.keys(&["r"]);
    terminal.until("Reason? Enter rejects");
    terminal.tmux(&["send-keys", "-l", "not on Fridays either"]);
    terminal.keys(&["Enter"]);
    terminal.until(&format!("Rejected {second}"));
    assert_eq!(status(&sandbox, &second), "rejected");
    assert!(sandbox.rekindle(&["daily"]).run().ok().stdout.contains("(because: not on Fridays either)"));

    terminal.keys(&["u"]);
    terminal.until(&format!("{second} is pending again."));
    terminal.keys(&["u"]);
    let screen = terminal.until(&format!("{first} is pending again."));
    assert!(screen.contains("> [ ] Use tabs"), "{screen}");
    assert_eq!(memory(&sandbox), before, "as if nothing had been decided");
    assert_eq!([&first, &second].map(|id| status(&sandbox, id)), ["pending", "pending"]);

    // Another command decides first; the second decision is refused.
    sandbox.rekindle(&["reject", &first]).run().ok();
    terminal.keys(&["a"]);
    terminal.until(&format!("{first} was rejected by a command"));
    terminal.until("> [x] Use tabs");
    terminal.keys(&["G", "a"]);
    terminal.until(&format!("Added {third} to MEMORY.md"));
    terminal.keys(&["q"]);
    let screen = terminal.until("1 approved, 0 rejected, 1 pending");
    assert!(screen.contains("what was here before") && !screen.contains("q quit"), "{screen}");
    assert!(memory(&sandbox).contains("Write tests first."));
    assert!(page(&sandbox).contains(&second), "the page shows what waits");
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn rev_03_words_are_edited_in_the_persons_own_editor() {
    let sandbox = quiet();
    let id = propose(&sandbox, "Use tabs.", 0);
    let work = sandbox.work();
    let editor = editor(work, "cat \"$2\" > seen; test \"$1\" = -w && sh change \"$2\"");
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[("EDITOR", &format!("{editor} -w"))]) else { return };
    terminal.run("sh r review");
    terminal.until("Review 1/1");
    for (change, said) in [
        (":", "the text is unchanged"),
        ("printf ' \\n' > \"$1\"", "the text is empty"),
        ("rm \"$1\"", "the text is empty"),
        ("exit 3", "failed, so its text"),
    ] {
        fs::write(work.join("change"), change).unwrap();
        terminal.keys(&["e"]);
        let screen = terminal.until(said);
        assert!(screen.contains("> [ ] Use tabs"), "{screen}");
        terminal.keys(&["j"]);
        terminal.until_it("no message", |screen| !screen.contains(said));
    }
    assert_eq!(
        (fs::read_to_string(work.join("seen")).unwrap().as_str(), status(&sandbox, &id).as_str()),
        ("Use tabs.\n", "pending")
    );
    fs::write(work.join("change"), "sed -i.old 's/tabs/spaces/' \"$1\"").unwrap();
    terminal.keys(&["e"]);
    terminal.until("to MEMORY.md");
    assert!(memory(&sandbox).contains("Use spaces."), "{}", memory(&sandbox));
    let left = fs::read_dir(sandbox.state().join("editing")).unwrap();
    let left: Vec<String> =
        left.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| name.ends_with(".old")), "only what the editor itself left: {left:?}");
    terminal.keys(&["q"]);
    terminal.until("1 approved");
}

#[test]
fn windows_of_every_size_and_no_colour() {
    let sandbox = quiet();
    let wide = "テストは必ずリリースプロファイルで実行し、結果を記録してください。そうしないと数字は比べられません。";
    propose(&sandbox, wide, 6);
    propose(&sandbox, "Be brief.", 0);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[("NO_COLOR", "1")]) else { return };
    terminal.run("sh r review");
    let screen = terminal.until("Review 1/2");
    assert!(screen.contains("1d left"), "{screen}");
    terminal.keys(&["j", "PageDown"]);
    let screen = terminal.until("expires in 1 day");
    assert!(screen.lines().count() <= 24, "{screen}");
    let styled = String::from_utf8(terminal.tmux(&["capture-pane", "-p", "-e"]).stdout).unwrap();
    let colours =
        styled.split("\x1b[").skip(1).filter_map(|part| part.split_once('m')).map(|(codes, _)| codes);
    let colours: Vec<&str> = colours
        .flat_map(|codes| codes.split(';'))
        .filter(|code| code.parse::<u8>().is_ok_and(|code| matches!(code, 30..=38 | 40..=48 | 90..=107)))
        .collect();
    assert!(colours.is_empty(), "{colours:?} in {styled:?}");
    for (columns, lines, shown) in [
        ("40", "12", "small window (40x12)"),
        ("20", "5", "too small"),
        ("120", "40", "w where"),
        ("80", "24", "w where"),
    ] {
        terminal.tmux(&["resize-window", "-x", columns, "-y", lines]);
        let screen = terminal.until(shown);
        assert!(screen.lines().all(|line| line.chars().count() <= columns.parse().unwrap()), "{screen}");
    }
    terminal.keys(&["?"]);
    terminal.until("undo the last decision of this review");
    terminal.keys(&["x", "C-c"]);
    terminal.until("0 approved, 0 rejected, 2 pending");
}

#[test]
fn b_02_no_escape_sequence_of_a_proposal_reaches_the_terminal() {
    let sandbox = quiet();
    let nasty = "Use \x1b]2;pwned\x07tabs \x1b[2J\u{9b}2Jonly\x1b[31m.";
    propose(&sandbox, nasty, 0);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    let raw = terminal.work.join("raw");
    terminal.tmux(&["pipe-pane", "-o", &format!("cat >> {}", raw.display())]);
    for mode in ["", " --plain"] {
        terminal.run(&format!("sh r review{mode}"));
        terminal.until("for MEMORY.md, section Patterns");
        terminal.run("q");
        terminal.until(" pending");
        terminal.run("clear");
        terminal.until_it("a clear screen", |screen| !screen.contains("pending"));
    }
    let written = fs::read(&raw).unwrap();
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains("tabs") && !text.contains("pwned") && !text.contains("\u{9b}"), "{text:?}");
    let title = terminal.tmux(&["display-message", "-p", "#{pane_title}"]).stdout;
    assert!(!String::from_utf8_lossy(&title).contains("pwned"));
}

#[test]
fn the_terminal_is_given_back_when_the_process_is_ended() {
    let sandbox = quiet();
    propose(&sandbox, "Use tabs.", 0);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    for signal in ["TERM", "INT"] {
        terminal.run("sh r review");
        terminal.until("Review 1/1");
        let pid = fs::read_to_string(terminal.work.join("pid")).unwrap();
        assert!(Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status().unwrap().success());
        terminal.until_it("the shell", |screen| !screen.contains("q quit"));
        terminal.run("stty -a | grep -o ' echo ' | sed s/^/now:/");
        let screen = terminal.until("now: echo");
        assert!(!screen.contains("Review 1/1"), "{screen}");
        terminal.run("clear");
        terminal.until_it("a clear screen", |screen| !screen.contains("now:"));
    }
}

#[test]
fn rev_13_a_line_is_superseded_or_kept_as_the_person_says() {
    let sandbox = quiet();
    let lines = ["The port is 1.", "The port of staging is 2."];
    let section = "## Patterns\n";
    let mine = format!("{section}\n- {}\n- {}\n", lines[0], lines[1]);
    fs::write(sandbox.vault().join("MEMORY.md"), memory(&sandbox).replace(section, &mine)).unwrap();
    hand_in(&sandbox, "Staging moved to another database.", Some(lines[1]), 1, Origin::User);
    hand_in(&sandbox, "The gateway listens on 8443.", Some(lines[0]), 0, Origin::User);
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    terminal.run("sh r review");
    let screen = terminal.until("S does this.");
    assert!(screen.contains("- - The port is 1.") && screen.contains("+ - ~~The port is 1.~~"), "{screen}");
    terminal.keys(&["S"]);
    terminal.until("[S] The gateway");
    terminal.keys(&["a"]);
    terminal.until("[a] Staging moved");
    let after = memory(&sandbox);
    assert!(after.contains("~~The port is 1.~~") && after.contains(&format!("- {}\n", lines[1])), "{after}");
    assert!(after.contains("8443") && after.contains("another database"), "{after}");
    terminal.keys(&["u", "u"]);
    terminal.until("> [ ] The gateway");
    assert!(!memory(&sandbox).contains("~~"), "{}", memory(&sandbox));
    terminal.keys(&["q"]);
    terminal.until("0 approved");
}

#[test]
fn a_simple_terminal_is_asked_line_by_line() {
    let sandbox = quiet();
    let [first, second, third] = [("Use tabs.", 0), ("Deploy on Mondays.", 1), ("Write tests first.", 2)]
        .map(|(words, days)| propose(&sandbox, words, days));
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    terminal.run("TERM=dumb sh r review");
    let question = "Which letter?";
    let screen = terminal.until(question);
    assert!(screen.contains("Proposal 1 of 3") && screen.contains("> From now on: Use tabs."), "{screen}");
    for (line, said) in [
        ("x", "No decision made. Type one of the letters.".to_owned()),
        ("a", format!("Added {first} to MEMORY.md")),
        ("r", "Reason? Press Enter for none.".to_owned()),
        ("", format!("Rejected {second}")),
        ("e", "Your wording, in one line".to_owned()),
        ("Write them all first.", "No more proposals.".to_owned()),
        ("u", format!("{third} is pending again.")),
        ("s", format!("{third} is skipped and stays pending.")),
        ("q", "1 approved, 1 rejected, 1 pending".to_owned()),
    ] {
        terminal.run(line);
        terminal.until(&said);
    }
    assert!(memory(&sandbox).contains("Use tabs.") && !memory(&sandbox).contains("Write them all"));
    assert_eq!(status(&sandbox, &third), "pending");
    terminal.run("clear");
    terminal.until_it("a clear screen", |screen| !screen.contains("pending"));
    // Without a terminal on both sides, the command prints a list.
    terminal.run("sh r review | cat; echo end");
    let screen = terminal.until("\nend");
    assert!(screen.contains(&third) && !screen.contains(question), "{screen}");
    terminal.run("sh r -c review.plain=true review");
    terminal.until(question);
    terminal.keys(&["C-d"]);
    terminal.until("0 approved, 0 rejected, 1 pending");
}
