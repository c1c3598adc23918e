//! `install`, `uninstall`, and reports of `doctor` on agents (B-15, OPS-04).

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rekindle_testkit::faults::{self, PlannedFault};
use rekindle_testkit::{Sandbox, TestCommand};
use serde_json::{Value, json};

use crate::{project, sandbox, text};

/// The settings file of an agent in the person's home.
fn settings(sandbox: &Sandbox, agent: &str) -> PathBuf {
    sandbox.user_home().join(match agent {
        "claude" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "gemini" => ".gemini/settings.json",
        "pi" => ".pi/agent/extensions/rekindle.ts",
        other => panic!("{other}"),
    })
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Copies a program with another process. If this process wrote the file, a child of another test could
/// inherit the open handle, and the program could not be started.
fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let paths = [from.as_ref(), to.as_ref()].map(|path| path.to_str().unwrap().to_owned());
    TestCommand::new("/bin/cp", "/").args(&[&paths[0], &paths[1]]).run().ok();
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads every file and folder of the person's home.
pub(crate) fn home(sandbox: &Sandbox) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![sandbox.user_home().to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path.clone());
                found.insert(path, None);
            } else {
                found.insert(path.clone(), std::fs::read(path).ok());
            }
        }
    }
    found
}

fn listed(sandbox: &Sandbox, agent: &str) -> Value {
    let list = sandbox.rekindle(&["install", "--list", "--json"]).run().ok().json();
    let agents = list["agents"].as_array().unwrap();
    agents.iter().find(|one| one["agent"] == agent).unwrap().clone()
}

const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "pi"];

/// Settings in forms found in practice, one per agent.
const WILD: [(&str, &str); 7] = [
    (
        "claude",
        "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ]\n  }\n}\n",
    ),
    ("claude", "{\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}"),
    ("claude", "\u{feff}{\r\n\t\"env\": {},\r\n\t\"hooks\": { }\r\n}\r\n"),
    ("codex", "{\n    \"hooks\": {\n        \"SessionStart\": []\n    }\n}"),
    ("codex", " \n"),
    ("gemini", "{\n  // my theme\n  \"ui\": {\"theme\": \"x\"} /* nice */\n  // the end\n}\n"),
    ("gemini", "{}"),
];

#[test]
fn b_15_uninstall_restores_existing_settings() {
    for (agent, before) in WILD {
        let sandbox = sandbox();
        let file = settings(&sandbox, agent);
        write(&file, before);
        let start = home(&sandbox);
        sandbox.rekindle(&["install", agent, "--yes"]).run().ok();
        let with = read(&file);
        assert!(with.contains(&format!("hook {agent} SessionEnd")), "{with}");
        assert_eq!(listed(&sandbox, agent)["state"], "current");
        sandbox.rekindle(&["uninstall", agent, "--yes"]).run().ok();
        assert_eq!(read(&file), before, "{agent}");
        assert_eq!(home(&sandbox), start, "{agent}");
        assert_eq!(listed(&sandbox, agent)["state"], "absent");
    }
}

#[test]
fn b_15_uninstall_removes_created_files() {
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--trust", "--yes"]).run().ok();
    for agent in AGENTS {
        assert!(settings(&sandbox, agent).exists(), "{agent}");
    }
    assert!(sandbox.user_home().join(".codex/config.toml").exists());
    sandbox.rekindle(&["uninstall", "--yes"]).run().ok();
    assert_eq!(home(&sandbox), BTreeMap::new());
    assert!(!sandbox.state().join("installed.json").exists());
    // Files that others added meanwhile stay.
    sandbox.rekindle(&["install", "claude", "pi", "--yes"]).run().ok();
    let other = sandbox.user_home().join(".pi/agent/extensions/other.ts");
    write(&other, "// theirs");
    let file = settings(&sandbox, "claude");
    let mut value: Value = serde_json::from_str(&read(&file)).unwrap();
    value["model"] = json!("opus");
    write(&file, value.to_string());
    sandbox.rekindle(&["uninstall", "claude", "pi", "--yes"]).run().ok();
    assert_eq!(read(&file), r#"{"model":"opus"}"#);
    assert_eq!(read(&other), "// theirs");
    assert!(!settings(&sandbox, "pi").exists());
}

#[test]
fn b_15_installing_twice_changes_nothing() {
    let sandbox = sandbox();
    write(&settings(&sandbox, "gemini"), "{ /* c */ }");
    sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--yes", "--trust"]).run().ok();
    let once = home(&sandbox);
    let again =
        sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--trust", "--json"]).run().ok();
    for agent in again.json()["agents"].as_array().unwrap() {
        assert_eq!((&agent["changed"], &agent["changes"]), (&json!(false), &json!([])), "{agent}");
    }
    assert_eq!(home(&sandbox), once);
    sandbox.rekindle(&["uninstall", "gemini", "--yes"]).run().ok();
    assert_eq!(read(&settings(&sandbox, "gemini")), "{ /* c */ }");
}

#[test]
fn nothing_is_written_before_confirmation() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let file = settings(&sandbox, "claude");
    write(&file, "{\n  \"env\": {\"API_KEY\": \"sk-ant-REDACTED\"}\n}\n");
    let start = home(&sandbox);
    let refused = sandbox.rekindle(&["install", "claude"]).run().fails(2);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    let shown = sandbox.rekindle(&["install", "claude", "--dry-run"]).run().ok().stdout;
    assert!(shown.contains("--- ") && shown.contains("+  \"hooks\": {"), "{shown}");
    assert!(shown.contains("hook claude SessionStart"), "{shown}");
    assert!(!shown.contains("abcdefghijklmnopqrstuvwx"), "secrets in settings are not repeated: {shown}");
    let plan = sandbox.rekindle(&["install", "claude", "--dry-run", "--json"]).run().ok().json();
    assert_eq!((&plan["dry_run"], &plan["agents"][0]["changed"]), (&json!(true), &json!(false)));
    assert!(text(&plan["agents"][0]["changes"][0], "diff").contains("+"));
    assert_eq!(home(&sandbox), start);
    assert!(!sandbox.home().exists(), "not even our own home");
}

#[test]
fn install_sets_up_what_is_not_there_yet() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let done = sandbox.rekindle(&["install", "claude", "--yes", "--json"]).run().ok().json();
    assert_eq!(done["made"], true);
    assert!(sandbox.vault().join("MEMORY.md").exists());
    sandbox.rekindle(&["doctor"]).run().ok();
    let again = sandbox.rekindle(&["install", "claude", "--json"]).run().ok().json();
    assert_eq!(again["made"], false);
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    let sandbox = sandbox();
    for (agent, bad, place) in [
        ("claude", "{\n  \"a\": 1,\n}\n", "line 3, column 1"),
        ("claude", "{\n  // no\n}\n", "line 2, column 3"),
        ("codex", "{\"hooks\": []}", "line 1, column 11"),
        ("gemini", "{ /* open", "line 1, column 3"),
    ] {
        let file = settings(&sandbox, agent);
        write(&file, bad);
        for command in [&["install", agent, "--yes"][..], &["install", agent, "--dry-run"]] {
            let refused = sandbox.rekindle(command).run().fails(1);
            assert!(refused.stderr.contains(place), "{agent}: {}", refused.stderr);
            assert!(refused.stderr.contains(file.to_str().unwrap()), "{}", refused.stderr);
        }
        assert_eq!(read(&file), bad);
        assert!(listed(&sandbox, agent)["problem"].is_string() || agent == "codex");
    }
    // One broken settings file stops the others too: all or none.
    sandbox.rekindle(&["install", "pi", "claude", "--yes"]).run().fails(1);
    assert!(!settings(&sandbox, "pi").exists());
    std::fs::write(settings(&sandbox, "claude"), [0xff, 0xfe]).unwrap();
    assert!(sandbox.rekindle(&["install", "claude", "--yes"]).run().fails(1).stderr.contains("UTF-8"));
}

#[test]
fn b_15_links_and_permissions_stay() {
    let sandbox = sandbox();
    let dotfiles = sandbox.work().join("dotfiles/claude.json");
    write(&dotfiles, "{\"a\": 1}\n");
    std::fs::set_permissions(&dotfiles, std::fs::Permissions::from_mode(0o640)).unwrap();
    let file = settings(&sandbox, "claude");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(&dotfiles, &file).unwrap();
    for command in [["install", "claude", "--yes"], ["uninstall", "claude", "--yes"]] {
        sandbox.rekindle(&command).run().ok();
        assert!(file.is_symlink());
        assert_eq!(std::fs::metadata(&dotfiles).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(
            std::fs::read_dir(dotfiles.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is there"
        );
        assert_eq!(read(&dotfiles).contains("rekindle"), command[0] == "install");
    }
    assert_eq!(read(&dotfiles), "{\"a\": 1}\n");
    std::fs::remove_file(&dotfiles).unwrap();
    assert!(sandbox.rekindle(&["install", "claude", "--yes"]).run().fails(1).stderr.contains("link"));
}

#[test]
fn agents_that_live_elsewhere_are_found_there() {
    let sandbox = sandbox();
    let at = |name: &str| sandbox.work().join(name);
    let command = sandbox
        .rekindle(&["install", "claude", "codex", "gemini", "pi", "--trust", "--yes"])
        .env("CLAUDE_CONFIG_DIR", at("c"))
        .env("CODEX_HOME", at("x"))
        .env("GEMINI_CLI_HOME", at("g"))
        .env("PI_CODING_AGENT_DIR", at("p"));
    command.run().ok();
    for file in [
        "c/settings.json",
        "c/.claude.json",
        "x/hooks.json",
        "x/config.toml",
        "g/.gemini/settings.json",
        "p/extensions/rekindle.ts",
    ] {
        assert!(at(file).exists(), "{file}");
    }
    assert_eq!(home(&sandbox), BTreeMap::new());
}

/// Copies the program to another path.
fn moved(sandbox: &Sandbox, folder: &str) -> PathBuf {
    let program = sandbox.work().join(folder).join("rekindle");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    copy_program(env!("CARGO_BIN_EXE_rekindle"), &program);
    program
}

#[test]
fn a_program_that_moved_is_called_where_it_is_now() {
    let sandbox = sandbox();
    let file = settings(&sandbox, "claude");
    write(&file, "{\"model\": \"opus\"}\n");
    sandbox.rekindle(&["install", "claude", "pi", "--yes"]).run().ok();
    let before = read(&file);
    let program = moved(&sandbox, "my tools");
    let run = |args: &[&str]| {
        let command = TestCommand::new(&program, sandbox.work()).args(args).env("HOME", sandbox.user_home());
        command.env("REKINDLE_HOME", sandbox.home()).run()
    };
    let list = run(&["install", "--list", "--json"]).ok().json();
    assert_eq!(
        (&list["agents"][0]["state"], &list["agents"][3]["state"]),
        (&json!("outdated"), &json!("outdated"))
    );
    run(&["install", "claude", "pi", "--yes"]).ok();
    let after = read(&file);
    assert_eq!(after.lines().count(), before.lines().count(), "in place, not once more");
    let line = format!("'{}' --home {} hook claude Stop", program.display(), sandbox.home().display());
    let value: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], line);
    // A shell accepts the quoted command line.
    let checks = run(&["doctor", "--json"]).ok().json();
    for agent in ["claude", "pi"] {
        let check =
            checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == agent).unwrap();
        assert_eq!(check["findings"][0]["level"], "ok", "{check}");
    }
    run(&["uninstall", "--yes"]).ok();
    assert_eq!(read(&file), "{\"model\": \"opus\"}\n");
}

#[test]
fn the_home_it_was_run_with_is_in_every_command() {
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "claude", "pi", "--yes"]).run().ok();
    let home = sandbox.home().to_str().unwrap();
    assert_eq!(read(&settings(&sandbox, "claude")).matches(&format!("--home {home}")).count(), 6);
    assert!(read(&settings(&sandbox, "pi")).contains(&format!("[\"--home\", \"{home}\"]")));
    // Another home, and the default home.
    let usual =
        sandbox.rekindle(&["install", "--list", "--json"]).without_env("REKINDLE_HOME").run().ok().json();
    assert_eq!(
        (&usual["agents"][0]["state"], &usual["agents"][0]["home"]),
        (&json!("foreign-home"), &json!(home))
    );
    sandbox.rekindle(&["install", "claude", "pi", "--yes"]).without_env("REKINDLE_HOME").run().ok();
    assert!(!read(&settings(&sandbox, "claude")).contains("--home"));
    assert_eq!(listed(&sandbox, "pi")["state"], "foreign-home");
}

#[test]
fn codex_is_told_to_trust_only_when_somebody_says_so() {
    let sandbox = sandbox();
    let config = sandbox.user_home().join(".codex/config.toml");
    write(&config, "model = \"x\" # mine");
    let silent = sandbox.rekindle(&["install", "codex", "--yes"]).run().ok();
    assert!(silent.stderr.contains("--trust"), "{}", silent.stderr);
    let registered = read(&config);
    assert!(
        registered.starts_with("model = \"x\" # mine\n\n[mcp_servers.memory]\ncommand = "),
        "{registered}"
    );
    assert!(!registered.contains("hooks"), "{registered}");
    assert_eq!(listed(&sandbox, "codex")["trusted"], false);
    let report = sandbox.rekindle(&["doctor"]).run().ok().stdout;
    assert!(report.contains("skips them"), "{report}");
    let trusting = sandbox.rekindle(&["install", "codex", "--trust", "--yes"]).run().ok().stdout;
    assert!(trusting.contains("+trusted_hash = \"sha256:"), "{trusting}");
    assert!(read(&config).starts_with(&format!("{registered}\n\n[hooks.state.")), "{}", read(&config));
    assert_eq!(listed(&sandbox, "codex")["trusted"], true);
    sandbox.rekindle(&["uninstall", "codex", "--yes"]).run().ok();
    assert_eq!(read(&config), "model = \"x\" # mine");
    write(&config, "model = ");
    assert!(sandbox.rekindle(&["install", "codex", "--yes"]).run().fails(1).stderr.contains("config.toml"));
}

/// Requirements: R-10.
#[test]
fn every_agent_is_told_where_the_tools_are() {
    let sandbox = sandbox();
    let at = |name: &str| sandbox.user_home().join(name);
    write(&at(".claude.json"), "{\n  \"numStartups\": 3\n}\n");
    write(&at(".pi/agent/settings.json"), r#"{"packages": ["npm:pi-mcp-adapter"]}"#);
    let before = home(&sandbox);
    sandbox.rekindle(&["install", "claude", "codex", "gemini", "pi", "--yes"]).run().ok();
    let args = json!(["--home", sandbox.home().to_str().unwrap(), "mcp"]);
    for (file, more) in
        [(".claude.json", "numStartups"), (".gemini/settings.json", "hooks"), (".pi/agent/mcp.json", "")]
    {
        let value: Value = serde_json::from_str(&read(&at(file))).unwrap();
        let server = &value["mcpServers"]["memory"];
        assert_eq!(
            (&server["command"], &server["args"]),
            (&json!(env!("CARGO_BIN_EXE_rekindle")), &args),
            "{file}"
        );
        assert_eq!(server["directTools"] == true, file.contains(".pi/"), "{file}");
        assert!(more.is_empty() || value.get(more).is_some(), "{file}");
    }
    let config = read(&at(".codex/config.toml"));
    assert!(config.contains(&format!("args = {}", serde_json::to_string(&args).unwrap())), "{config}");
    // `uninstall` removes the server of an agent without our hooks too.
    std::fs::remove_file(settings(&sandbox, "codex")).unwrap();
    sandbox.rekindle(&["uninstall", "claude", "codex", "gemini", "pi", "--yes"]).run().ok();
    let left: Vec<PathBuf> = home(&sandbox).into_keys().filter(|path| path.is_file()).collect();
    assert_eq!(left, before.keys().filter(|path| path.is_file()).cloned().collect::<Vec<_>>());
    assert_eq!(read(&at(".claude.json")), "{\n  \"numStartups\": 3\n}\n");
}

#[test]
fn pi_without_the_adapter_gets_no_server() {
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "pi", "--yes"]).run().ok();
    assert!(!sandbox.user_home().join(".pi/agent/mcp.json").exists());
}

#[test]
fn somebody_elses_extension_is_not_touched() {
    let sandbox = sandbox();
    let file = settings(&sandbox, "pi");
    write(&file, "export default () => {};\n");
    sandbox.rekindle(&["install", "pi", "--yes"]).run().fails(1);
    sandbox.rekindle(&["uninstall", "pi", "--yes"]).run().ok();
    assert_eq!(read(&file), "export default () => {};\n");
}

#[test]
fn ops_04_uninstall_never_touches_the_vault() {
    let sandbox = sandbox();
    crate::save(&sandbox, "preference", "tea", "Green tea.");
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    let before = sandbox.files();
    sandbox.rekindle(&["uninstall", "--yes"]).run().ok();
    assert_eq!(sandbox.files(), before);
    assert!(sandbox.home().join("config.toml").exists());
    // `uninstall` without an installation succeeds.
    let nothing = sandbox.rekindle(&["uninstall"]).run().ok().stdout;
    assert!(nothing.contains("no agent"), "{nothing}");
}

#[test]
fn b_15_nothing_is_written_into_repositories() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "app");
    write(&folder.join(".claude/settings.json"), "{}");
    sandbox
        .rekindle(&["install", "claude", "codex", "gemini", "pi", "--trust", "--yes"])
        .cwd(&folder)
        .run()
        .ok();
    assert_eq!(read(&folder.join(".claude/settings.json")), "{}");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn doctor_fires_the_hooks_and_says_what_came_back() {
    let sandbox = sandbox();
    let report = |sandbox: &Sandbox| {
        let checks = sandbox.rekindle(&["doctor", "--json"]).run().json()["checks"].clone();
        let check = checks.as_array().unwrap().iter().find(|check| check["check"] == "claude").cloned();
        check.map(|check| check["findings"].clone())
    };
    assert_eq!(report(&sandbox), None);
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    let spool = || std::fs::read_dir(sandbox.state().join("spool")).map_or(0, Iterator::count);
    let spooled = spool();
    let findings = report(&sandbox).unwrap();
    assert_eq!(findings[0]["level"], "ok", "{findings}");
    assert!(text(&findings[0], "what").starts_with("6 hooks answer within"), "{findings}");
    assert_eq!(spool(), spooled, "a probe leaves nothing behind");
    assert!(sandbox.find_bytes("rekindle-probe").is_empty());
    // Hooks with every kind of defect.
    let file = settings(&sandbox, "claude");
    let good = read(&file);
    for (program, problem) in [
        ("exit 3\n", "exited with code 3"),
        ("echo hello\n", "not a JSON object"),
        ("sleep 60\n", "did not finish"),
    ] {
        let fake = sandbox.work().join("fake/rekindle");
        write(&fake, format!("#!/bin/sh\n{program}"));
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut value: Value = serde_json::from_str(&good).unwrap();
        value["hooks"] = json!({"Stop": [{"hooks": [{"type": "command", "command": format!("{} hook claude Stop", fake.display())}]}]});
        write(&file, value.to_string());
        let findings = report(&sandbox).unwrap();
        assert!(text(&findings[0], "what").contains(problem), "{findings}");
        assert_eq!(findings[0]["level"], "error");
    }
    write(&file, json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "/gone/rekindle hook claude Stop"}]}]}}).to_string());
    let findings = report(&sandbox).unwrap().to_string();
    assert!(findings.contains("does not exist") && findings.contains("disableAllHooks"), "{findings}");
}

#[test]
fn init_names_the_agents_it_finds() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let bare = |args: &[&str]| sandbox.rekindle(args).env("PATH", sandbox.work());
    std::fs::create_dir(sandbox.user_home().join(".codex")).unwrap();
    let program = sandbox.work().join("pi");
    write(&program, "");
    let shown = bare(&["init"]).run().ok().stdout;
    assert!(shown.contains("install codex pi"), "{shown}");
    assert_eq!(bare(&["init", "--json"]).run().ok().json()["agents"], json!(["codex", "pi"]));
    let done = bare(&["install", "--yes", "--json"]).run().ok().json();
    let names: Vec<&str> = done["agents"].as_array().unwrap().iter().map(|one| text(one, "agent")).collect();
    assert_eq!(names, ["codex", "pi"]);
    assert_eq!(bare(&["init", "--json"]).run().ok().json()["agents"], json!([]));
    std::fs::remove_file(program).unwrap();
    std::fs::remove_dir_all(sandbox.user_home().join(".codex")).unwrap();
    std::fs::remove_dir_all(sandbox.user_home().join(".pi")).unwrap();
    bare(&["install", "--yes"]).run().fails(2);
}

#[test]
fn the_version_is_read_without_starting_anything() {
    let sandbox = sandbox();
    let package = sandbox.work().join("lib/node_modules/@openai/codex");
    write(&package.join("package.json"), r#"{"name": "@openai/codex", "version": "1.2.3"}"#);
    write(&package.join("bin/codex.js"), "#!/bin/sh\nexit 1\n");
    let bin = sandbox.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(package.join("bin/codex.js"), bin.join("codex")).unwrap();
    let list = sandbox.rekindle(&["install", "--list", "--json"]).env("PATH", &bin).run().ok().json();
    assert_eq!((&list["agents"][1]["found"], &list["agents"][1]["version"]), (&json!(true), &json!("1.2.3")));
    assert_eq!((&list["agents"][0]["found"], &list["agents"][0]["version"]), (&json!(false), &json!(null)));
}

#[test]
fn b_15_a_crash_leaves_the_old_settings_or_the_new() {
    if let Err(reason) = faults::available() {
        rekindle_testkit::skipped(reason);
        return;
    }
    let sandbox = sandbox();
    let file = settings(&sandbox, "codex");
    let before = "{\n  \"hooks\": {}\n}\n";
    let put_back = || {
        std::fs::remove_dir_all(file.parent().unwrap()).ok();
        write(&file, before);
        write(&file.with_file_name("config.toml"), "a = 1\n");
    };
    let start = sandbox.snapshot();
    let install = sandbox.rekindle(&["install", "codex", "--trust", "--yes"]);
    put_back();
    install.run().ok();
    let after = read(&file);
    let mut broken = 0;
    for kind in [PlannedFault::kill as fn(usize) -> PlannedFault, PlannedFault::full_disk_from] {
        for at in 1.. {
            sandbox.restore(&start);
            put_back();
            let output = faults::run(&install, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let now = read(&file);
            assert!(now == before || now == after, "after {call}:\n{now}");
            // The next `install` removes leftovers, and everything can be undone.
            install.run().ok();
            assert_eq!(read(&file), after, "after {call}");
            let names =
                |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
            let mut left: Vec<String> =
                std::fs::read_dir(file.parent().unwrap()).unwrap().map(names).collect();
            left.sort();
            assert_eq!(left, ["config.toml", "hooks.json"], "after {call}");
            sandbox.rekindle(&["uninstall", "codex", "--yes"]).run().ok();
            assert_eq!(
                (read(&file).as_str(), read(&file.with_file_name("config.toml")).as_str()),
                (before, "a = 1\n"),
                "after {call}"
            );
        }
    }
    assert!(broken > 20, "only {broken} steps");
}

#[test]
fn b_15_a_program_of_another_name_puts_nothing_in_that_it_could_not_take_out() {
    let sandbox = sandbox();
    let renamed = sandbox.work().join("rk");
    copy_program(env!("CARGO_BIN_EXE_rekindle"), &renamed);
    let before = home(&sandbox);
    for agent in ["claude", "codex", "gemini", "pi"] {
        let output = TestCommand::new(&renamed, sandbox.work())
            .args(&["install", agent, "--yes"])
            .env("HOME", sandbox.user_home())
            .env("REKINDLE_HOME", sandbox.home())
            .run()
            .fails(1);
        assert!(output.stderr.contains("is not called `rekindle`"), "{}", output.stderr);
    }
    assert_eq!(home(&sandbox), before);
}
