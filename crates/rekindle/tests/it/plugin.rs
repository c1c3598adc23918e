//! `rekindle install --as-plugin`: one folder for every agent; a rewrite leaves no trace of the previous one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rekindle_testkit::{Sandbox, TestCommand};
use serde_json::{Value, json};

use crate::capture::hook_command;
use crate::{sandbox, text};

/// Reads every file of a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, std::fs::read_to_string(path).unwrap());
                }
            }
        }
    }
    found
}

fn write(sandbox: &Sandbox, folder: &Path) -> Value {
    let folder = folder.to_str().unwrap();
    sandbox.rekindle(&["install", "--as-plugin", folder, "--json"]).run().ok().json()
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.work().join("my plugin")
}

#[test]
fn b_15_a_plugin_calls_us_as_install_does() {
    let sandbox = sandbox();
    let folder = folder(&sandbox);
    let said = write(&sandbox, &folder);
    let made = files(&folder);
    assert_eq!(said["files"].as_u64().unwrap() as usize + 1, made.len(), "and the list of them: {said}");
    assert_eq!(said["changed"].as_array().unwrap().len(), made.len() - 1);
    assert_eq!(Path::new(text(&said, "home")), sandbox.home());
    // The plugin contains the same hooks that `install` writes into settings.
    sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--yes"]).run().ok();
    let there = |path: &str| std::fs::read_to_string(sandbox.user_home().join(path)).unwrap();
    assert_eq!(made["plugin/hooks/hooks.json"], there(".claude/settings.json"));
    assert_eq!(made["plugin/hooks/codex.json"], there(".codex/hooks.json"));
    assert_eq!(made["pi/extensions/rekindle.ts"], there(".pi/agent/extensions/rekindle.ts"));
    assert_eq!(made["plugin/.mcp.json"], there(".claude.json"));
    let gemini: Value = serde_json::from_str(&there(".gemini/settings.json")).unwrap();
    let hooks: Value = serde_json::from_str(&made["gemini/hooks/hooks.json"]).unwrap();
    let extension: Value = serde_json::from_str(&made["gemini/gemini-extension.json"]).unwrap();
    assert_eq!((&gemini["hooks"], &gemini["mcpServers"]), (&hooks["hooks"], &extension["mcpServers"]));
    assert_eq!(extension["version"], env!("CARGO_PKG_VERSION"));
    // The skill is the same for all agents, and its commands name this program and this home.
    let skill = &made["plugin/skills/memory/SKILL.md"];
    assert!(made["gemini/skills/memory/SKILL.md"] == *skill && made["pi/skills/memory/SKILL.md"] == *skill);
    for verb in ["save", "evolve", "reflect", "recall", "ask", "inbox", "ideas"] {
        assert!(skill.contains(&format!("\n## {verb}\n")), "{skill}");
    }
    let home = format!("--home {}", sandbox.home().display());
    assert!(skill.contains(env!("CARGO_BIN_EXE_rekindle")) && skill.contains(&home), "{skill}");
    // The output warns about agents that have both.
    let screen = sandbox.rekindle(&["install", "--as-plugin", folder.to_str().unwrap()]).run().ok();
    assert!(
        screen.stdout.contains("there ") && screen.stderr.contains("`rekindle uninstall codex`"),
        "{screen:?}"
    );
}

#[test]
fn b_15_a_plugin_is_written_again_and_only_what_is_ours_goes() {
    let sandbox = sandbox();
    let folder = folder(&sandbox);
    write(&sandbox, &folder);
    let once = files(&folder);
    let again = write(&sandbox, &folder);
    assert_eq!((&again["changed"], &again["removed"]), (&json!([]), &json!([])), "{again}");
    assert_eq!(files(&folder), once);
    // A lost file is restored, the person's file stays, and a file of an older version is removed.
    std::fs::remove_file(folder.join("plugin/.mcp.json")).unwrap();
    std::fs::write(folder.join("plugin/mine.md"), "mine").unwrap();
    let list = folder.join(".rekindle-plugin.json");
    let mut old: Value = serde_json::from_str(&once[".rekindle-plugin.json"]).unwrap();
    for (path, text) in [("old/a.md", "theirs now"), ("old/deep/b.md", "b")] {
        std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.join(path), text).unwrap();
    }
    let hash = |text: &str| json!([rekindle_core::base::hash::ContentHash::of_bytes(text.as_bytes())]);
    old["files"]["old/a.md"] = hash("a");
    old["files"]["old/deep/b.md"] = hash("b");
    old["files"]["../../outside.md"] = hash("outside");
    std::fs::write(&list, old.to_string()).unwrap();
    let outside = folder.join("../../outside.md");
    std::fs::write(&outside, "outside").unwrap();
    let mended = write(&sandbox, &folder);
    assert_eq!(mended["changed"], json!(["plugin/.mcp.json"]));
    assert_eq!(mended["removed"], json!(["old/deep/b.md"]));
    assert!(!folder.join("old/deep").exists() && outside.exists());
    let mut expected = once.clone();
    expected.insert("plugin/mine.md".to_owned(), "mine".to_owned());
    expected.insert("old/a.md".to_owned(), "theirs now".to_owned());
    assert_eq!(files(&folder), expected);
}

#[test]
fn b_15_a_folder_that_is_not_ours_is_left_alone() {
    let sandbox = sandbox();
    let theirs = sandbox.work().join("theirs");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("README.md"), "theirs").unwrap();
    let refused = sandbox.rekindle(&["install", "--as-plugin", theirs.to_str().unwrap()]).run().fails(1);
    assert!(refused.stderr.contains("is not empty and not a Rekindle plugin"), "{}", refused.stderr);
    assert_eq!(files(&theirs), BTreeMap::from([("README.md".to_owned(), "theirs".to_owned())]));
    let file = theirs.join("README.md");
    sandbox.rekindle(&["install", "--as-plugin", file.to_str().unwrap()]).run().fails(1);
    // A modified file of ours is not overwritten without a message.
    let folder = folder(&sandbox);
    write(&sandbox, &folder);
    let skill = folder.join("plugin/skills/memory/SKILL.md");
    std::fs::write(&skill, "my own").unwrap();
    let refused = sandbox.rekindle(&["install", "--as-plugin", folder.to_str().unwrap()]).run().fails(1);
    assert!(refused.stderr.contains("SKILL.md was changed since Rekindle wrote it"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&skill).unwrap(), "my own");
    sandbox.rekindle(&["install", "claude", "--as-plugin", folder.to_str().unwrap()]).run().fails(2);
}

#[test]
fn a_plugins_hooks_run_as_they_are_written() {
    let sandbox = sandbox();
    // The plugin's command runs without the variables of the sandbox.
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    sandbox.rekindle(&["config", "set", "index.background", "false"]).run().ok();
    sandbox.rekindle(&["memory", "add", "Never push to main.", "--section", "Hard Rules"]).run().ok();
    let folder = folder(&sandbox);
    write(&sandbox, &folder);
    let made = files(&folder);
    for (agent, path) in [
        ("claude", "plugin/hooks/hooks.json"),
        ("codex", "plugin/hooks/codex.json"),
        ("gemini", "gemini/hooks/hooks.json"),
    ] {
        let hooks: Value = serde_json::from_str(&made[path]).unwrap();
        let line = text(&hooks["hooks"]["SessionStart"][0]["hooks"][0], "command");
        // Agents pass on only part of the environment, so the command contains every needed value.
        let input = json!({"session_id": format!("{agent}-1"), "source": "startup", "cwd": sandbox.work()});
        let shell = TestCommand::new("/bin/sh", sandbox.work()).args(&["-c", line]);
        let output = shell.env("HOME", sandbox.user_home()).stdin(input.to_string()).run().ok();
        let context = output.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert!(context.contains("Never push to main."), "{agent}: {context}");
    }
}

#[test]
fn b_15_an_agent_that_has_both_is_told_once() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    sandbox.rekindle(&["memory", "add", "Never push to main.", "--section", "Hard Rules"]).run().ok();
    let fire = |event: &str, input: &Value| hook_command(&sandbox, "claude", event, input).run().ok().stdout;
    let start = json!({"session_id": "s1", "source": "startup"});
    assert!(fire("SessionStart", &start).contains("Never push"));
    assert_eq!(fire("SessionStart", &start), "", "by the plugin as well");
    let log = std::fs::read_to_string(sandbox.state().join("logs/hooks.jsonl")).unwrap();
    assert!(log.lines().last().unwrap().contains("another hook of ours"), "{log}");
    // Another session, and later events of this one, get their context.
    assert!(fire("SessionStart", &json!({"session_id": "s2", "source": "startup"})).contains("Never push"));
    assert!(fire("SessionStart", &json!({"session_id": "s1", "source": "compact"})).contains("Never push"));
    // Data that only our hooks record is recorded once.
    let prompt = json!({"session_id": "s3", "prompt": "From now on, always use tabs."});
    let before = std::fs::read_dir(sandbox.state().join("spool")).unwrap().count();
    fire("UserPromptSubmit", &prompt);
    fire("UserPromptSubmit", &prompt);
    assert_eq!(std::fs::read_dir(sandbox.state().join("spool")).unwrap().count(), before + 1);
}

#[test]
fn doctor_says_when_an_agent_calls_twice() {
    let sandbox = sandbox();
    let home = sandbox.user_home();
    let put = |path: &str, text: &str| {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(".claude/settings.json", r#"{"enabledPlugins": {"rekindle@rekindle": true}}"#);
    put(".codex/config.toml", "[plugins.\"rekindle@rekindle\"]\nenabled = true\n");
    put(".gemini/extensions/rekindle/gemini-extension.json", "{}");
    put("elsewhere/pi/package.json", r#"{"name": "rekindle"}"#);
    put(".pi/agent/settings.json", r#"{"packages": ["../../elsewhere/pi"]}"#);
    let list = sandbox.rekindle(&["install", "--list", "--json"]).run().ok().json();
    for agent in list["agents"].as_array().unwrap() {
        assert_eq!((&agent["plugin"], &agent["state"]), (&json!(true), &json!("absent")), "{agent}");
    }
    let doctor = sandbox.rekindle(&["doctor"]).run().stdout;
    assert!(!doctor.contains("twice"), "{doctor}");
    let install =
        sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--yes", "--trust"]).run().ok();
    assert_eq!(install.stderr.matches("calls Rekindle twice").count(), 4, "{}", install.stderr);
    let doctor = sandbox.rekindle(&["doctor"]).run().stdout;
    assert_eq!(doctor.matches("it calls Rekindle twice").count(), 4, "{doctor}");
    put(".claude/settings.json", r#"{"enabledPlugins": {"rekindle@rekindle": false}}"#);
    let list = sandbox.rekindle(&["install", "--list", "--json"]).run().ok().json();
    assert_eq!(list["agents"][0]["plugin"], false);
}
