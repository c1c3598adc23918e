//! Notices to the person: new memories with their undo, shown once; outcomes of sessions; and the week's
//! summary.

use std::fs;
use std::path::{Path, PathBuf};

use rekindle_core::base::time::{TimeZone, Timestamp, day};
use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::{ClaudeTranscript, hook_command, work};
use crate::distil::{ScriptedSession, listed, observe_run};
use crate::inject::context;
use crate::{project, sandbox, text};

const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

/// Runs a hook and returns its output as JSON, or null for no output.
fn fires(sandbox: &Sandbox, agent: &str, event: &str, input: &Value) -> Value {
    let output = hook_command(sandbox, agent, event, input).run().ok();
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() { Value::Null } else { output.json() }
}

/// Runs a hook of Claude Code in this folder and returns its notice of new memories, if any.
fn told(sandbox: &Sandbox, event: &str, session: &str, cwd: &Path) -> Option<String> {
    let input = json!({"session_id": session, "cwd": cwd, "source": "startup", "prompt": "go on"});
    kept(&fires(sandbox, "claude", event, &input))
}

fn kept(answer: &Value) -> Option<String> {
    let message = answer["systemMessage"].as_str()?;
    message.lines().find(|line| line.starts_with("Rekindle kept: ")).map(str::to_owned)
}

/// Runs a session with these statements and returns the paths of the new memories.
fn says(sandbox: &Sandbox, cwd: PathBuf, id: &str, rules: &[&str]) -> Vec<String> {
    let mut told = ScriptedSession::new(cwd, id);
    told.user("Please rename the valve module.").edits("src/valve.rs").agent("Renamed.");
    for rule in rules {
        told.user(rule).agent("Understood.");
    }
    told.user("and fix the imports").edits("src/main.rs").agent("Fixed.");
    told.ends(sandbox);
    listed(&observe_run(sandbox)["output"]["saved"]).into_iter().map(str::to_owned).collect()
}

fn undo_of(line: &str) -> &str {
    let after = line.split("rekindle undo ").nth(1).unwrap_or_else(|| panic!("no undo in {line}"));
    after.trim_end_matches(')')
}

#[test]
fn r_14_the_next_hook_of_the_project_says_what_was_kept_and_how_to_undo_it_once() {
    let sandbox = sandbox();
    let (pumps, kettles) = (project(&sandbox, "pumps"), project(&sandbox, "kettles"));
    let other = says(&sandbox, kettles.clone(), "k1", &["Always use the blue kettle for releases."]);
    assert!(told(&sandbox, "SessionStart", "k2", &kettles).unwrap().contains("blue kettle"));
    let before = sandbox.files();
    let saved = says(&sandbox, pumps.clone(), "s1", &["From now on always run the tests with --release."]);
    assert_eq!((saved.len(), other.len()), (1, 1), "{saved:?} {other:?}");
    // Other projects, subagents and unattended sessions get no notice.
    assert_eq!(told(&sandbox, "SessionStart", "k3", &kettles), None);
    let input =
        json!({"session_id": "s2", "cwd": pumps, "source": "startup", "agent_id": "a1", "prompt": "go on"});
    assert_eq!(kept(&fires(&sandbox, "claude", "SessionStart", &input)), None);
    let input = json!({"session_id": "s2", "cwd": pumps, "source": "startup"});
    let headless = hook_command(&sandbox, "claude", "SessionStart", &input);
    let headless = headless.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli").run().ok();
    assert!(!headless.stdout.contains("Rekindle kept"), "{}", headless.stdout);

    let answer = fires(
        &sandbox,
        "claude",
        "SessionStart",
        &json!({"session_id": "s3", "cwd": pumps, "source": "startup"}),
    );
    let line = kept(&answer).unwrap();
    assert!(line.starts_with("Rekindle kept: \"") && line.contains("--release"), "{line}");
    assert!(!line.contains("kettle"), "{line}");
    assert!(!context(&answer).contains("Rekindle kept"), "that is for the person: {answer}");
    for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
        assert_eq!(told(&sandbox, event, "s4", &pumps), None, "it was said already");
    }
    // The undo removes exactly that memory.
    sandbox.rekindle(&["undo", undo_of(&line)]).run().ok();
    let after = sandbox.files();
    assert!(!after.contains_key(&saved[0]) && after.contains_key(&other[0]));
    let entries = |files: &std::collections::BTreeMap<String, Vec<u8>>| -> Vec<String> {
        files.keys().filter(|path| path.starts_with("personal-")).cloned().collect()
    };
    assert_eq!(entries(&after), entries(&before));
}

#[test]
fn r_14_what_was_asked_for_is_kept_when_the_turn_ends_and_told_at_the_next_prompt() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let mut session = ScriptedSession::new(cwd.clone(), "s1");
    let mut turns = |words: &str, answer: &str| {
        let input =
            |path: &Path| json!({"session_id": "s1", "transcript_path": path, "cwd": cwd, "prompt": words});
        let said = kept(&fires(&sandbox, "claude", "UserPromptSubmit", &input(&session.path(&sandbox))));
        session.user(words).agent(answer);
        fires(&sandbox, "claude", "Stop", &input(&session.path(&sandbox)));
        work(&sandbox, &[]);
        said
    };
    assert_eq!(turns("Please rename the valve module.", "I renamed it with npm run rename."), None);
    let rule = format!("Remember that the staging Postgres listens on port 5433, password {TOKEN}.");
    assert_eq!(turns(&rule, "Noted."), None);
    let line = turns("No, we use pnpm here, not npm.", "Understood.").unwrap();
    assert!(line.contains("5433") && line.contains("Undo: rekindle undo "), "{line}");
    let corrected = turns("and fix the imports", "Fixed.").unwrap();
    assert!(corrected.contains("pnpm") && !corrected.contains("5433"), "{corrected}");
    assert_eq!(turns("run the tests", "They pass."), None);
    let entries = |sandbox: &Sandbox| -> Vec<String> {
        sandbox.files().into_keys().filter(|path| path.starts_with("personal-")).collect()
    };
    let before = entries(&sandbox);
    assert_eq!(before.len(), 2, "{before:?}");
    // The pass over the whole session keeps neither again and repeats no notice.
    session.ends(&sandbox);
    assert_eq!(entries(&sandbox), before);
    assert_eq!(told(&sandbox, "SessionStart", "s2", &cwd), None);
    assert_eq!(sandbox.find_bytes(TOKEN), Vec::<PathBuf>::new());
    // After the undo, the memory does not return.
    sandbox.rekindle(&["undo", undo_of(&line)]).run().ok();
    session.ends(&sandbox);
    assert_eq!(entries(&sandbox).len(), 1);
}

#[test]
fn r_14_every_agent_shows_it_in_its_own_way() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let rules = [
        "Always squash the commits before merging a branch.",
        "From now on always run the tests with --release.",
        "Always write dates as year, month, day in file names.",
    ];
    for ((agent, event), rule) in
        [("codex", "Stop"), ("gemini", "AfterAgent"), ("pi", "UserPromptSubmit")].iter().zip(rules)
    {
        assert_eq!(says(&sandbox, cwd.clone(), agent, &[rule]).len(), 1, "{rule}");
        let mut input = json!({"session_id": "other", "cwd": cwd, "prompt": "go on"});
        if *agent == "pi" {
            // Without a screen, or with an extension that cannot show it, the notice waits.
            for screen in [json!(null), json!(false)] {
                input["prompt"] = json!(format!("go on, screen {screen}"));
                input["has_ui"] = screen;
                assert_eq!(kept(&fires(&sandbox, agent, event, &input)), None);
            }
            input["prompt"] = json!("go on");
            input["has_ui"] = json!(true);
        }
        let answer = fires(&sandbox, agent, event, &input);
        let line = kept(&answer).unwrap_or_else(|| panic!("{agent}: {answer}"));
        assert!(line.contains(undo_of(&line)), "{line}");
        assert!(answer["hookSpecificOutput"].is_null(), "nothing restarts the agent: {answer}");
        assert!(answer["decision"].is_null() && answer["continue"].is_null(), "{answer}");
    }
    assert_eq!(fs::metadata(sandbox.state().join("notices/kept.jsonl")).unwrap().len(), 0, "nothing is left");
}

#[test]
fn r_14_several_things_are_one_line() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let rules = [
        "Always squash the commits before merging a branch.",
        "From now on always run the tests with --release.",
        "Never push to the production branch on Fridays.",
        "The staging Postgres listens on port 5433.",
        "Always write dates as year, month, day in file names.",
    ];
    let saved = says(&sandbox, cwd.clone(), "s1", &rules);
    assert!(saved.len() > 3, "{saved:?}");
    let line = told(&sandbox, "UserPromptSubmit", "s2", &cwd).unwrap();
    assert_eq!(line.matches("(rekindle undo ").count(), 3, "{line}");
    assert!(line.ends_with(&format!("and {} more (rekindle log --all)", saved.len() - 3)), "{line}");
}

#[test]
fn r_14_a_new_value_is_told_and_its_undo_brings_the_old_one_back() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let old =
        says(&sandbox, cwd.clone(), "s1", &["Remember that the staging Postgres listens on port 5433."]);
    assert!(told(&sandbox, "SessionStart", "s2", &cwd).unwrap().contains("5433"));
    let before = fs::read_to_string(sandbox.path(&old[0])).unwrap();
    let rule = "The staging Postgres listens on port 5434 now, not on 5433 any more.";
    let new = says(&sandbox, cwd.clone(), "s3", &[rule]);
    assert_eq!(new, old, "the memory has a new version");
    let line = told(&sandbox, "SessionStart", "s4", &cwd).unwrap();
    assert!(line.contains("5434"), "{line}");
    sandbox.rekindle(&["undo", undo_of(&line)]).run().ok();
    assert_eq!(fs::read_to_string(sandbox.path(&old[0])).unwrap(), before);
}

#[test]
fn rec_10_the_message_with_the_old_value_is_not_recalled() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let old = "The importer cannot connect, can you look into it? The staging database listens on 5433.";
    says(&sandbox, cwd.clone(), "s1", &[old]);
    let recalled = |session: &str| {
        let prompt = "the importer cannot connect to the staging database, where does it listen?";
        let input = json!({"session_id": session, "cwd": cwd, "prompt": prompt});
        context(&fires(&sandbox, "claude", "UserPromptSubmit", &input)).to_owned()
    };
    assert_eq!(recalled("s2").matches("5433").count(), 1, "each fact once: {}", recalled("s2"));
    says(&sandbox, cwd.clone(), "s3", &["The staging database listens on 5434 now."]);
    let changed = |text: String| assert!(text.contains("5434") && !text.contains("5433"), "{text}");
    changed(recalled("s4"));
    // Notes about superseded messages are derived from the entries.
    let file = sandbox.state().join("messages/cited");
    let superseded = || fs::read_to_string(&file).unwrap().matches("superseded").count();
    assert_eq!(superseded(), 1);
    fs::remove_file(&file).unwrap();
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    assert_eq!(superseded(), 1);
    changed(recalled("s5"));
    // An explicit search for messages still finds them.
    let arguments = ["recall", "staging database", "--source", "message", "--project", "all"];
    assert!(sandbox.rekindle(&arguments).run().ok().stdout.contains("5433"));
}

#[test]
fn b_02_b_03_neither_secrets_nor_escape_sequences_are_shown() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let rule =
        format!("Always deploy with \u{1b}[31mthe red\u{1b}[0m script and the token {TOKEN} from now on.");
    assert_eq!(says(&sandbox, cwd.clone(), "s1", &[&rule]).len(), 1);
    assert_eq!(sandbox.find_bytes(TOKEN), Vec::<PathBuf>::new());
    // The notice file contains a line from another program.
    let file = sandbox.state().join("notices/kept.jsonl");
    let bent =
        fs::read_to_string(&file).unwrap().replace("Always deploy", "Always\\u001b]0;owned\\u0007 deploy");
    fs::write(&file, bent).unwrap();
    let line = told(&sandbox, "SessionStart", "s2", &cwd).unwrap();
    assert!(line.contains("the red script") && !line.contains(TOKEN), "{line}");
    assert!(!line.chars().any(char::is_control) && !line.contains("[31m"), "{line:?}");
}

#[test]
fn r_14_what_is_gone_before_it_was_told_is_not_told() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    says(&sandbox, cwd.clone(), "s1", &["From now on always run the tests with --release."]);
    let log = sandbox.rekindle(&["log", "--all", "--json"]).run().ok().json();
    let save = log.as_array().unwrap().iter().find(|change| change["verb"] == "save").unwrap().clone();
    sandbox.rekindle(&["undo", text(&save, "id")]).run().ok();
    assert_eq!(told(&sandbox, "SessionStart", "s2", &cwd), None);
    let saved = says(&sandbox, cwd.clone(), "s3", &["Always use the turquoise crane for heavy parts."]);
    sandbox.rekindle(&["forget", &saved[0], "--yes"]).run().ok();
    assert_eq!(sandbox.find_bytes("turquoise crane"), Vec::<PathBuf>::new());
    assert_eq!(told(&sandbox, "SessionStart", "s4", &cwd), None);
}

#[test]
fn brf_10_a_notice_that_cannot_be_read_is_in_nobodys_way() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let folder = sandbox.state().join("notices");
    fs::create_dir_all(&folder).unwrap();
    for bytes in [&b"rubbish\n"[..], &[0; 4096], b"{\"project\":null,\"kept\":[{\"change\":1}]}\n"] {
        fs::write(folder.join("kept.jsonl"), bytes).unwrap();
        assert_eq!(told(&sandbox, "Stop", "s1", &cwd), None);
    }
    fs::remove_file(folder.join("kept.jsonl")).unwrap();
    fs::create_dir(folder.join("kept.jsonl")).unwrap();
    assert_eq!(told(&sandbox, "Stop", "s1", &cwd), None);
}

fn status(sandbox: &Sandbox) -> (Value, String) {
    let shown = sandbox.rekindle(&["status"]).run().ok().stdout;
    (sandbox.rekindle(&["status", "--json"]).run().ok().json(), shown)
}

fn learning(sandbox: &Sandbox) -> (String, String) {
    let doctor = sandbox.rekindle(&["doctor", "--json"]).run().ok().json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "learning").unwrap();
    let finding = &check["findings"][0];
    let hint = finding["hint"].as_str().unwrap_or_default();
    (text(finding, "level").to_owned(), format!("{} {hint}", text(finding, "what")))
}

#[test]
fn r_13_b_04_status_and_doctor_say_why_sessions_were_skipped() {
    let sandbox = sandbox();
    let (empty, shown) = status(&sandbox);
    assert_eq!((&empty["sessions"]["seen"], &empty["learnt_this_week"]["count"]), (&json!(0), &json!(0)));
    assert!(shown.contains("none connected; connect agents with `rekindle install`"), "{shown}");
    assert_eq!(learning(&sandbox).0, "ok");

    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "5"]).run().ok();
    for (id, turns) in [("a", 2), ("b", 3)] {
        let mut session = ClaudeTranscript::new(&sandbox, id);
        session.goes_on_for(turns);
        session.hook(&sandbox, "SessionEnd");
    }
    work(&sandbox, &[]);
    let (counted, shown) = status(&sandbox);
    let sessions = &counted["sessions"];
    assert_eq!(
        (&sessions["seen"], &sessions["learnt"], &sessions["skipped"]),
        (&json!(2), &json!(0), &json!(2))
    );
    let reason = "too few messages of yours: 5 are needed (capture.min_user_messages)";
    assert_eq!(sessions["skipped_because"], json!([{"reason": reason, "count": 2}]));
    assert!(shown.contains("2 in 30 days: 0 learnt from, 2 skipped\n"), "{shown}");
    assert!(shown.contains(&format!("2 skipped: {reason}\n")), "{shown}");
    let (level, said) = learning(&sandbox);
    assert_eq!(level, "warning", "{said}");
    assert!(said.contains(reason) && said.contains("config set capture.min_user_messages 1"), "{said}");

    // By default the noise gate skips an empty session and names the reason.
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "1"]).run().ok();
    let mut greeting = ScriptedSession::new(project(&sandbox, "pumps"), "hello");
    greeting.user("hi there").agent("Hello!");
    greeting.ends(&sandbox);
    let (counted, shown) = status(&sandbox);
    assert_eq!(counted["sessions"]["skipped"], 3);
    assert!(shown.contains("1 skipped: hardly a word was said and no file was changed\n"), "{shown}");
    assert_eq!(learning(&sandbox).0, "warning");

    says(&sandbox, project(&sandbox, "pumps"), "s1", &["From now on always run the tests with --release."]);
    let (counted, shown) = status(&sandbox);
    assert_eq!((&counted["sessions"]["learnt"], &counted["sessions"]["skipped"]), (&json!(1), &json!(3)));
    assert!(shown.contains("4 in 30 days: 1 learnt from, 3 skipped\n"), "{shown}");
    assert_eq!(learning(&sandbox).0, "ok");
}

#[test]
fn r_13_status_shows_the_agents_and_what_was_learnt_this_week() {
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    let cwd = project(&sandbox, "pumps");
    // Statements of today count for this week; old statements do not, whenever they are read.
    let session = |id: &str, rule: &str, today: bool| {
        let mut told = ScriptedSession::new(cwd.clone(), id);
        told.user(rule).agent("Understood.").user("and fix the imports").edits("src/main.rs").agent("Fixed.");
        let path = told.path(&sandbox);
        let date = if today {
            Timestamp::now().to_zoned(TimeZone::UTC).date()
        } else {
            "2020-02-03".parse().unwrap()
        };
        let dated = fs::read_to_string(&path).unwrap().replace("2026-11-14T", &format!("{}T", day(date)));
        fs::write(&path, dated).unwrap();
        let input = json!({"session_id": id, "transcript_path": path, "cwd": cwd});
        assert_eq!(fires(&sandbox, "claude", "SessionEnd", &input), Value::Null);
        work(&sandbox, &[]);
    };
    session("old", "Always squash the commits before merging a branch.", false);
    session("new", "From now on always run the tests with --release.", true);
    let (counted, shown) = status(&sandbox);
    assert_eq!(counted["agents"][0]["connected"], true, "{counted}");
    assert_eq!(counted["agents"][1]["connected"], false, "{counted}");
    assert!(shown.lines().any(|line| line.starts_with("agents") && line.contains("Claude Code")), "{shown}");
    assert_eq!((&counted["sessions"]["seen"], &counted["sessions"]["learnt"]), (&json!(2), &json!(2)));
    let week = &counted["learnt_this_week"];
    assert_eq!((&week["count"], &week["newest"][0]["project"]), (&json!(1), &json!("github.com/acme/pumps")));
    assert!(shown.contains("1 memory this week"), "{shown}");
    let line = shown.lines().find(|line| line.contains("--release")).unwrap();
    assert!(line.ends_with("(github.com/acme/pumps)"), "{line}");
}
