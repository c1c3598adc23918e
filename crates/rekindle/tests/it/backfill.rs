//! Backfill: sessions from before the installation are read, learnt from and recalled (B-14, DIS-01).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rekindle_core::base::time::parse;
use rekindle_testkit::Sandbox;
use rekindle_testkit::faults::{self, PlannedFault};
use serde_json::{Value, json};

use crate::capture::{hook, hook_command, runs, work};
use crate::{project, recall, results, sandbox, save, text};

/// The time limit of a backfill, generous for a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

/// Writes a finished session as Claude Code keeps it: the person's messages, an hour apart, each with an
/// answer.
pub(crate) fn past(sandbox: &Sandbox, cwd: &Path, id: &str, day: &str, said: &str) -> PathBuf {
    let at = |hour: usize, minute: usize| format!("{day}T{:02}:{minute:02}:00.000Z", 9 + hour);
    let mut lines = String::new();
    for (number, words) in said.lines().enumerate() {
        let uuid = |part: &str| format!("{id}-{number}-{part}");
        let parent = number.checked_sub(1).map(|before| format!("{id}-{before}-a"));
        let common = json!({"isSidechain": false, "sessionId": id, "cwd": cwd, "version": "2.1.325"});
        for (kind, part, parent, minute, content) in [
            ("user", "u", parent, 1, json!(words)),
            (
                "assistant",
                "a",
                Some(uuid("u")),
                5,
                json!([{"type": "text", "text": "Done, the tests pass."}]),
            ),
        ] {
            let mut line = common.clone();
            line["type"] = json!(kind);
            line["uuid"] = json!(uuid(part));
            line["parentUuid"] = json!(parent);
            line["timestamp"] = json!(at(number, minute));
            line["message"] = json!({"role": kind, "content": content});
            lines.push_str(&format!("{line}\n"));
        }
    }
    let path = sandbox.user_home().join(format!(".claude/projects/p/{id}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, lines).unwrap();
    let ended = parse(&at(said.lines().count(), 0)).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::from(ended)).unwrap();
    path
}

/// Returns the briefing of a session that starts in a folder.
fn briefing(sandbox: &Sandbox, cwd: &Path) -> String {
    let input = json!({"session_id": "next", "cwd": cwd, "source": "startup"});
    let start = sandbox.rekindle(&["hook", "claude", "SessionStart"]).stdin(input.to_string());
    start.cwd(cwd).run().ok().stdout
}

/// The bodies of all memories outside the archive.
fn memories(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let files = sandbox.files().into_iter();
    let live =
        files.filter(|(path, _)| path.starts_with("personal-private/") && !path.contains("/_archive/"));
    live.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

/// Sets up a home with the recorded sessions, moved into the folder of an existing project.
fn recorded(sandbox: &Sandbox) -> PathBuf {
    let folder = project(sandbox, "widgets");
    rekindle_testkit::transcripts::copy_into(sandbox.user_home()).unwrap();
    let mut folders = vec![sandbox.user_home().to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                std::fs::write(&path, text.replace("/home/dev/project", folder.to_str().unwrap())).unwrap();
            }
        }
    }
    folder
}

fn backfill(sandbox: &Sandbox, more: &[&str]) -> Value {
    sandbox.rekindle(&[&["backfill", "--json"], more].concat()).limit(LIMIT).run().ok().json()
}

/// Lists every stored message, by session.
fn kept(sandbox: &Sandbox) -> BTreeMap<String, Vec<String>> {
    let mut kept = BTreeMap::new();
    for agent in ["claude", "codex", "gemini", "pi"] {
        let folder = sandbox.state().join("messages").join(agent);
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let id =
                |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            kept.insert(format!("{agent}/{name}"), text.lines().map(id).collect());
        }
    }
    kept
}

#[test]
fn dis_01_a_dry_run_counts_and_changes_nothing() {
    let sandbox = sandbox();
    recorded(&sandbox);
    let before = sandbox.everything();
    let plan = backfill(&sandbox, &[]);
    assert_eq!((plan["dryRun"].as_bool(), plan["sessions"].as_u64()), (Some(true), Some(12)));
    let shares = plan["shares"].as_array().unwrap();
    assert_eq!(shares.len(), 4, "{plan}");
    assert!(shares.iter().all(|share| share["project"] == "github.com/acme/widgets"), "{plan}");
    assert!(plan["bytes"].as_u64().unwrap() > 100_000);
    let said = sandbox.rekindle(&["backfill"]).run().ok();
    assert!(
        said.stderr.contains("12 sessions of Claude Code, Codex, Gemini CLI and pi in 1 project"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("`rekindle backfill --yes`"), "{}", said.stderr);
    let dry = sandbox.rekindle(&["backfill", "--dry-run"]).run().ok();
    assert_eq!(dry.stdout, said.stdout);
    assert!(said.stdout.contains("github.com/acme/widgets"), "{}", said.stdout);
    let one = backfill(&sandbox, &["--agent", "pi"]);
    assert_eq!(one["sessions"], 2);
    assert_eq!(backfill(&sandbox, &["--since", "2099-01-01"])["sessions"], 0);
    assert!(!sandbox.state().join("messages").exists());
    assert_eq!(sandbox.everything().len(), before.len());
}

#[test]
fn b_14_the_past_is_found_at_once_and_last() {
    let sandbox = sandbox();
    let folder = recorded(&sandbox);
    save(&sandbox, "fix", "lamp", "The lighthouse lamp turns every ten seconds.");
    let done = backfill(&sandbox, &["--yes"]);
    assert_eq!(done["done"]["sessions"], 12, "{done}");
    assert_eq!(done["done"]["added"], done["done"]["found"]);
    let ask = |query: &str, more: &[&str]| {
        let arguments = [&["recall", query, "--json"], more].concat();
        sandbox.rekindle(&arguments).cwd(&folder).run().ok().json()
    };
    let answer = ask("heights are in metres", &[]);
    assert!(results(&answer).iter().any(|hit| text(hit, "text").contains("metres")), "{answer}");
    let raw = ask("heights are in metres", &["--source", "message"]);
    let first = &results(&raw)[0];
    assert_eq!((&first["source"], &first["kind"]), (&"message".into(), &"message".into()), "{raw}");
    assert_eq!(first["reviewed"], false);
    assert!(results(&raw).len() <= 5);
    // `--origin user` finds only the person's words, and a note of equal relevance ranks before them.
    let mine = ask("heights are in metres", &["--origin", "user", "--source", "message"]);
    assert!(results(&mine).iter().all(|hit| hit["origin"] == "user") && !results(&mine).is_empty(), "{mine}");
    let both = ask("how is the lighthouse list sorted", &["--anyway"]);
    let sources: Vec<&str> = results(&both).iter().map(|hit| text(hit, "source")).collect();
    let raw = sources.iter().position(|source| *source == "message");
    assert!(raw.is_none_or(|raw| sources[raw..].iter().all(|source| *source == "message")), "{both}");
    assert!(sources.iter().any(|source| *source != "message"), "{both}");
    let scores: Vec<f64> = results(&both).iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // An unrelated question and another project find nothing.
    assert_eq!(results(&ask("quarterly tax declaration form", &[])).len(), 0);
    assert_eq!(results(&recall(&sandbox, "heights are in metres", &[])).len(), 0);
    // A second run changes nothing; a deleted index is rebuilt.
    let again = backfill(&sandbox, &["--yes"]);
    assert_eq!((&again["done"]["added"], &again["alreadyDone"]), (&0.into(), &12.into()));
    let checked = |level: &str| {
        let report = sandbox.rekindle(&["doctor", "--json"]).run().json();
        let check =
            report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "messages").unwrap();
        check["findings"].as_array().unwrap().iter().any(|finding| finding["level"] == level)
    };
    assert!(checked("ok") && !checked("warning"));
    std::fs::remove_dir_all(sandbox.state().join("messages/index")).unwrap();
    assert!(checked("warning"));
    assert_eq!(results(&ask("heights are in metres", &["--source", "message"])).len(), 0);
    sandbox.rekindle(&["reindex", "--no-embed"]).run().ok();
    assert_eq!(
        results(&ask("heights are in metres", &[])).iter().map(|hit| &hit["id"]).collect::<Vec<_>>(),
        results(&answer).iter().map(|hit| &hit["id"]).collect::<Vec<_>>()
    );
}

#[test]
fn b_08_forget_reaches_what_was_said() {
    let sandbox = sandbox();
    recorded(&sandbox);
    backfill(&sandbox, &["--yes"]);
    let said = "Remember that heights are in metres. The tide table shows feet, please fix it.";
    let gone = sandbox.rekindle(&["forget", "--text", said, "--yes", "--json"]).run().ok().json();
    let places: BTreeMap<String, u64> = serde_json::from_value(Value::Object(
        gone["places"].as_array().unwrap().iter().map(|pair| (text_of(&pair[0]), pair[1].clone())).collect(),
    ))
    .unwrap();
    assert!(places["messages"] >= 4, "{gone}");
    // Other statements about the same topic stay.
    let state: Vec<_> = sandbox
        .find_bytes("in metres. The tide table shows feet")
        .into_iter()
        .filter(|path| path.starts_with(sandbox.state()))
        .collect();
    assert_eq!(state, Vec::<PathBuf>::new());
    // The transcripts still contain the text; a new backfill does not bring it back.
    std::fs::remove_file(sandbox.state().join("messages/backfill.jsonl")).unwrap();
    backfill(&sandbox, &["--yes"]);
    let answer = recall(&sandbox, said, &["--project=all", "--source", "message"]);
    assert!(
        results(&answer).iter().all(|hit| !text(hit, "text").contains("in metres. The tide table")),
        "{answer}"
    );
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn fnd_06_formats_that_are_not_known_are_told_once() {
    let sandbox = sandbox();
    let folder = sandbox.user_home().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["a", "b"] {
        std::fs::write(folder.join(format!("{name}.jsonl")), "{\"v\":9}\n").unwrap();
    }
    let first = sandbox.rekindle(&["backfill", "--yes"]).limit(LIMIT).run().ok();
    assert_eq!(first.stderr.matches("unknown format, skipped").count(), 1, "{}", first.stderr);
    assert!(first.stderr.contains("and 1 more of Claude Code"), "{}", first.stderr);
    let again = sandbox.rekindle(&["backfill", "--yes"]).run().ok();
    assert!(!again.stderr.contains("unknown format"), "{}", again.stderr);
}

#[test]
fn ops_03_switched_off_nothing_is_read_in() {
    let sandbox = sandbox();
    recorded(&sandbox);
    sandbox.rekindle(&["backfill", "--yes", "-c", "memory.enabled=false"]).run().fails(1);
    assert!(!sandbox.state().join("messages").exists());
}

/// A backfill that is killed at any step and run again ends like an undisturbed one.
#[test]
fn dis_01_a_killed_backfill_loses_and_doubles_nothing() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "widgets");
    past(
        &sandbox,
        &folder,
        "s1",
        "2026-03-02",
        "Always use pnpm in this repository, never npm.\nPlease fix the login form.",
    );
    let fill = sandbox.rekindle(&["backfill", "--yes", "--json"]).limit(LIMIT);
    let before = sandbox.snapshot();
    fill.run().ok();
    let names = |sandbox: &Sandbox| sandbox.files().into_keys().collect::<BTreeSet<_>>();
    let log = |sandbox: &Sandbox| sandbox.read("memory/2026-03-02.md").matches("pnpm").count();
    let whole = (kept(&sandbox), names(&sandbox), log(&sandbox));
    assert!(whole.2 > 0 && memories(&sandbox).values().any(|text| text.contains("pnpm")), "{whole:?}");
    let mut step = 3;
    loop {
        sandbox.restore(&before);
        if faults::run(&fill, PlannedFault::kill(step)).fault.is_none() {
            assert!(step > 10, "it takes more than {step} steps");
            break;
        }
        fill.run().ok();
        assert_eq!((kept(&sandbox), names(&sandbox), log(&sandbox)), whole, "killed at step {step}");
        step += 1 + step / 3;
    }
}

#[test]
fn dis_01_the_past_is_learnt_with_its_own_dates_and_is_on_the_next_card() {
    let sandbox = sandbox();
    let (widgets, gadgets) = (project(&sandbox, "widgets"), project(&sandbox, "gadgets"));
    let pnpm = "Always use pnpm in this repository, never npm.";
    past(&sandbox, &widgets, "s1", "2026-03-02", &format!("{pnpm}\nPlease fix the login form."));
    past(
        &sandbox,
        &widgets,
        "s2",
        "2026-04-05",
        "Add a logout button.\nI said it before: always use pnpm in this repository, never npm.",
    );
    past(
        &sandbox,
        &gadgets,
        "s3",
        "2026-05-06",
        "The staging server of the gadgets is called hermes.\nPlease restart it.",
    );
    past(&sandbox, &gadgets, "s4", "2026-05-07", "hi");
    let done = &backfill(&sandbox, &["--yes"])["done"];
    assert_eq!((&done["sessions"], &done["problems"]), (&4.into(), &json!([])), "{done}");
    let learnt = |name: &str| {
        let projects = done["projects"].as_array().unwrap();
        projects.iter().find(|learnt| text(learnt, "project").ends_with(name)).cloned().unwrap_or_default()
    };
    assert_eq!(learnt("widgets")["sessions"], 2, "{done}");
    assert_eq!(learnt("widgets")["saved"].as_array().unwrap().len(), 1, "{done}");
    // The statement made twice is the most frequent one, and a greeting is skipped with its reason.
    assert_eq!(done["frequent"][0]["sessions"], 2, "{done}");
    assert!(text(&done["frequent"][0], "text").contains("pnpm"), "{done}");
    assert_eq!(
        done["skipped"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>(),
        1,
        "{done}"
    );
    // Log entries have the day on which they were said.
    assert!(sandbox.read("memory/2026-03-02.md").contains("pnpm"));
    let logs = sandbox.files().into_keys().filter(|path| path.starts_with("memory/"));
    let days =
        ["memory/2026-03-02.md", "memory/2026-04-05.md", "memory/2026-05-06.md", "memory/2026-05-07.md"];
    let others: Vec<String> = logs.filter(|path| !days.contains(&path.as_str())).collect();
    assert_eq!(others, [""; 0], "nothing of it was said on another day");
    let memory = memories(&sandbox).into_values().find(|text| text.contains("pnpm")).unwrap();
    assert!(memory.contains("created: 2026-0"), "{memory}");
    // The next session in each project gets the memories of that project.
    let (told, other) = (briefing(&sandbox, &widgets), briefing(&sandbox, &gadgets));
    assert!(told.contains("pnpm") && !told.contains("hermes"), "{told}");
    assert!(!other.contains("pnpm"), "{other}");
    let said = sandbox.rekindle(&["backfill"]).run().ok();
    assert!(said.stderr.contains("No new sessions."), "{}", said.stderr);
}

#[test]
fn r_17_an_older_session_that_is_read_later_ends_nothing_newer() {
    let sandbox = sandbox();
    let widgets = project(&sandbox, "widgets");
    past(
        &sandbox,
        &widgets,
        "old",
        "2026-03-02",
        "Staging Postgres listens on port 5433.\nPlease add a migration.",
    );
    past(
        &sandbox,
        &widgets,
        "new",
        "2026-06-02",
        "Staging Postgres listens on port 5434 now, not on 5433.\nPlease add a test.",
    );
    backfill(&sandbox, &["--yes"]);
    let order: Vec<String> = runs(&sandbox, &[])
        .iter()
        .filter(|run| run["function"] == "capture")
        .map(|run| text(run, "sessionId").to_owned())
        .collect();
    assert_eq!(order, ["new", "old"], "the newest first");
    let told = briefing(&sandbox, &widgets);
    assert!(told.contains("5434"), "{told}");
    let live: Vec<String> =
        memories(&sandbox).into_values().filter(|text| text.contains("Postgres")).collect();
    assert!(live.iter().all(|text| text.contains("5434")) && live.len() == 1, "{live:#?}");
    let said_in_june = live[0].contains("created: 2026-06-02") || live[0].contains("updated: 2026-06-02");
    assert!(said_in_june, "{live:#?}");
}

#[test]
fn dis_01_a_session_is_learnt_from_once_whoever_comes_first() {
    let sandbox = sandbox();
    let widgets = project(&sandbox, "widgets");
    let rule = "Always use pnpm in this repository, never npm.\nPlease fix the login form.";
    let input = |id: &str, path: &Path| json!({"session_id": id, "transcript_path": path, "cwd": widgets});
    let first = past(&sandbox, &widgets, "s1", "2026-03-02", rule);
    backfill(&sandbox, &["--yes"]);
    let before = memories(&sandbox);
    // The agent resumes the session and ends it with no new message.
    hook(&sandbox, "claude", "SessionEnd", &input("s1", &first));
    work(&sandbox, &[]);
    let last = runs(&sandbox, &[]).into_iter().rfind(|run| run["function"] == "capture").unwrap();
    assert_eq!(last["status"], "SKIPPED", "{last}");
    assert_eq!(memories(&sandbox), before);
    // A hook has already captured this session, so nothing is left to read.
    let second =
        past(&sandbox, &widgets, "s2", "2026-04-05", "Never commit to main directly.\nPlease add a test.");
    hook(&sandbox, "claude", "SessionEnd", &input("s2", &second));
    work(&sandbox, &[]);
    let plan = backfill(&sandbox, &[]);
    assert_eq!((&plan["sessions"], &plan["alreadyDone"]), (&0.into(), &2.into()), "{plan}");
    // A running session is left to its hooks.
    let third = past(&sandbox, &widgets, "s3", "2026-05-06", "Use tabs.");
    let stop = hook_command(&sandbox, "claude", "Stop", &input("s3", &third)).run().ok();
    let told = stop.stdout;
    assert!(told.contains("commit to main") && !told.contains("pnpm"), "a backfill tells it itself: {told}");
    work(&sandbox, &[]);
    let plan = backfill(&sandbox, &["--yes"]);
    assert_eq!((&plan["sessions"], &plan["stillOpen"]), (&0.into(), &1.into()), "{plan}");
}

#[test]
fn dis_01_what_hooks_left_is_not_kept_waiting() {
    let sandbox = sandbox();
    let widgets = project(&sandbox, "widgets");
    past(
        &sandbox,
        &widgets,
        "s1",
        "2026-03-02",
        "Always use pnpm in this repository, never npm.\nPlease fix the login form.",
    );
    let mut live = crate::capture::ClaudeTranscript::new(&sandbox, "live");
    live.says("Never push to main without a review.");
    live.hook(&sandbox, "SessionEnd");
    backfill(&sandbox, &["--yes"]);
    let done: Vec<String> = runs(&sandbox, &[])
        .iter()
        .filter(|run| run["function"] == "capture" && run["status"] == "COMPLETED")
        .map(|run| text(run, "sessionId").to_owned())
        .collect();
    assert_eq!(done, ["live", "s1"], "the session that ended now came first");
    assert_eq!(
        std::fs::read_dir(sandbox.state().join("spool"))
            .unwrap()
            .flatten()
            .filter(|e| e.path().is_file())
            .count(),
        0
    );
}

#[test]
fn b_05_what_was_said_in_a_folder_that_is_gone_stays_there_or_in_its_project() {
    let sandbox = sandbox();
    let widgets = project(&sandbox, "widgets");
    // The first project was known before its folder moved; the second was never seen.
    sandbox.rekindle(&["save", "fix", "x", "--body", "The crane is blue."]).cwd(&widgets).run().ok();
    let moved = sandbox.work().join("moved");
    std::fs::rename(&widgets, &moved).unwrap();
    past(
        &sandbox,
        &widgets,
        "s1",
        "2026-03-02",
        "Always use pnpm in this repository, never npm.\nPlease fix the login form.",
    );
    let lost = sandbox.work().join("lost");
    past(
        &sandbox,
        &lost,
        "s2",
        "2026-04-05",
        "Always use bun in this repository, never node.\nPlease add a test.",
    );
    let done = &backfill(&sandbox, &["--yes"])["done"];
    let places: Vec<&str> =
        done["projects"].as_array().unwrap().iter().map(|learnt| text(learnt, "project")).collect();
    assert_eq!(places.len(), 2, "{done}");
    assert!(places.contains(&"github.com/acme/widgets"), "{done}");
    assert!(places.iter().any(|place| place.starts_with("gone/lost-")), "{done}");
    assert_eq!(done["folderGone"], 1, "{done}");
    let told = briefing(&sandbox, &moved);
    assert!(told.contains("pnpm") && !told.contains("bun"), "{told}");
    assert!(!briefing(&sandbox, sandbox.work()).contains("bun"));
}

/// OPS-05: after the notes were rolled back, the sessions of a time span are learnt from again, with other thresholds if
/// the person says so, and nothing is there twice.
#[test]
fn ops_05_a_time_span_is_replayed_with_other_thresholds() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "pumps");
    past(
        &sandbox,
        &folder,
        "early",
        "2026-10-05",
        "The gauges service listens on port 5021 in staging.\nthanks\nnow the docs",
    );
    past(
        &sandbox,
        &folder,
        "late",
        "2026-10-20",
        "From now on never use sleep in tests, poll instead.\nthanks\nnow the docs",
    );
    backfill(&sandbox, &["--yes"]);
    let learnt = memories(&sandbox);
    let bodies = |of: &BTreeMap<String, String>| {
        let has = |word: &str| of.values().filter(|body| body.contains(word)).count();
        (has("gauges"), has("sleep"))
    };
    assert_eq!(bodies(&learnt), (1, 1), "{learnt:?}");
    // The notes come from an older version of a sync service, which knows nothing of the database.
    std::fs::remove_dir_all(sandbox.vault().join("personal-private")).unwrap();
    std::fs::remove_dir_all(sandbox.vault().join("memory")).unwrap();
    assert_eq!(backfill(&sandbox, &["--yes"])["sessions"], 0);
    let span = ["--again", "--since", "2026-10-01", "--until", "2026-10-10", "--yes"];
    // A stricter threshold leaves it out.
    let strict = backfill(&sandbox, &[&span[..], &["-c", "capture.min_user_messages=9"]].concat());
    assert_eq!((strict["sessions"].as_u64(), bodies(&memories(&sandbox))), (Some(1), (0, 0)), "{strict}");
    let replayed = backfill(&sandbox, &span);
    assert_eq!((replayed["sessions"].as_u64(), bodies(&memories(&sandbox))), (Some(1), (1, 0)), "{replayed}");
    // A second replay adds nothing, and the other session comes back with a replay of its own.
    let before = sandbox.files();
    backfill(&sandbox, &span);
    let memory = |files: &BTreeMap<String, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, _)| path.starts_with("personal-private/"))
            .map(|(path, _)| path.clone())
            .collect::<Vec<_>>()
    };
    let sections = |files: &BTreeMap<String, Vec<u8>>| {
        let logs = files.iter().filter(|(path, _)| path.starts_with("memory/"));
        logs.map(|(_, bytes)| String::from_utf8_lossy(bytes).matches("gauges").count()).sum::<usize>()
    };
    let after = sandbox.files();
    assert_eq!((memory(&after), sections(&after)), (memory(&before), sections(&before)));
    backfill(&sandbox, &["--again", "--since", "2026-10-11", "--yes"]);
    assert_eq!(bodies(&memories(&sandbox)), (1, 1));
}
