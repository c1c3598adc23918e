//! Statements in a project stay there, even after its folder is gone, and keep their date (B-05, R-15, R-17).

use std::fs;
use std::path::{Path, PathBuf};

use rekindle_core::base::scope::ProjectId;
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence};
use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::{ClaudeTranscript, hook, work};
use crate::inject::{context, fire};
use crate::review::{hand_in_as, memory, propose, quiet};
use crate::{project, results, sandbox, text};

/// The project of the person's memory with this text; `None` for a global one.
#[track_caller]
fn project_of(sandbox: &Sandbox, words: &str) -> Option<String> {
    let holds = |(path, bytes): (String, Vec<u8>)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (path.starts_with("personal-private/") && text.contains(words)).then_some(text)
    };
    let all: Vec<String> = sandbox.files().into_iter().filter_map(holds).collect();
    let [text] = &all[..] else { panic!("{words}: {all:?}") };
    text.lines().find_map(|line| line.strip_prefix("project: ")).map(str::to_owned)
}

/// Creates a linked worktree of a repository.
fn worktree(main: &Path, folder: PathBuf) -> PathBuf {
    let git = main.join(".git/worktrees/feature");
    fs::create_dir_all(&git).unwrap();
    fs::create_dir_all(&folder).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/feature\n").unwrap();
    fs::write(git.join("commondir"), "../..\n").unwrap();
    fs::write(folder.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    folder
}

fn session(sandbox: &Sandbox, id: &str, cwd: &Path) -> ClaudeTranscript {
    let mut session = ClaudeTranscript::new(sandbox, id);
    session.cwd = cwd.to_owned();
    session
}

/// Runs a session with this statement; `then` runs before its end.
fn told(sandbox: &Sandbox, mut session: ClaudeTranscript, words: &str, then: impl FnOnce()) {
    session.says("Please rename the valve module.");
    session.says(words);
    session.says("thanks");
    then();
    session.hook(sandbox, "SessionEnd");
    work(sandbox, &[]);
}

fn begin(sandbox: &Sandbox, session: &ClaudeTranscript) {
    fire(
        sandbox,
        "SessionStart",
        &json!({"session_id": session.id, "source": "startup", "cwd": session.cwd}),
    );
    work(sandbox, &[]);
}

fn briefing(sandbox: &Sandbox, name: &str) -> String {
    let input =
        json!({"session_id": format!("look-{name}"), "source": "startup", "cwd": project(sandbox, name)});
    let answer = fire(sandbox, "SessionStart", &input);
    if answer["hookSpecificOutput"].is_null() { String::new() } else { context(&answer).to_owned() }
}

#[test]
fn b_05_a_removed_worktree_keeps_its_project() {
    let sandbox = sandbox();
    let main = project(&sandbox, "pumps");
    for (id, folder, words) in [
        ("w1", sandbox.work().join("pumps-feature"), "Always run zbeside before pushing."),
        ("w2", main.join(".worktrees/feature"), "Never edit zinside by hand."),
    ] {
        let folder = worktree(&main, folder);
        let session = session(&sandbox, id, &folder);
        begin(&sandbox, &session);
        told(&sandbox, session, words, || fs::remove_dir_all(&folder).unwrap());
        let word = words.split(' ').nth(2).unwrap();
        assert_eq!(project_of(&sandbox, word).as_deref(), Some("github.com/acme/pumps"), "{words}");
    }
    assert!(briefing(&sandbox, "pumps").contains("zbeside"));
}

#[test]
fn b_05_a_repository_that_is_moved_during_its_first_session_keeps_what_was_said() {
    let sandbox = sandbox();
    let before = project(&sandbox, "before");
    fs::write(before.join(".git/config"), "").unwrap();
    let after = sandbox.work().join("after");
    let session = session(&sandbox, "m1", &before);
    begin(&sandbox, &session);
    told(&sandbox, session, "Always run zmoved before pushing.", || fs::rename(&before, &after).unwrap());
    let now = sandbox.rekindle(&["project", "--json"]).cwd(&after).run().ok().json();
    assert_eq!(project_of(&sandbox, "zmoved").as_deref(), Some(text(&now, "id")));
}

#[test]
fn b_05_the_repository_that_codex_notes_tells_whose_a_gone_folder_was() {
    let sandbox = sandbox();
    let (id, cwd) = ("01a1dc96-b6d5-7330-b151-30f61722aaaa", sandbox.work().join("nowhere"));
    let git = json!({"branch": "main", "repository_url": "git@github.com:acme/pumps.git"});
    let head = json!({"id": id, "cwd": cwd, "originator": "codex_cli_rs", "source": "cli", "git": git});
    let said = |role: &str, words: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]});
    let line = |minute: usize, kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({"timestamp": format!("2026-11-14T09:{minute:02}:00Z"), "type": kind, "payload": payload})
        )
    };
    let mut lines = line(0, "session_meta", head);
    for (minute, words) in ["Please rename the valve module.", "Always run zcodex before merging.", "thanks"]
        .into_iter()
        .enumerate()
    {
        lines += &line(2 * minute + 1, "response_item", said("user", words));
        lines += &line(2 * minute + 2, "response_item", said("assistant", "Done."));
    }
    let path = sandbox.work().join(format!("rollout-{id}.jsonl"));
    fs::write(&path, lines).unwrap();
    let input = json!({"session_id": id, "transcript_path": path, "cwd": cwd, "reason": "exit"});
    hook(&sandbox, "codex", "SessionEnd", &input);
    work(&sandbox, &[]);
    assert_eq!(project_of(&sandbox, "zcodex").as_deref(), Some("github.com/acme/pumps"));
}

#[test]
fn r_15_a_session_that_changes_its_folder_belongs_to_each_messages_project() {
    let sandbox = sandbox();
    let (pumps, kettles) = (project(&sandbox, "pumps"), project(&sandbox, "kettles"));
    let deeper = pumps.join("src/valves");
    let outside = sandbox.work().join("elsewhere");
    fs::create_dir_all(&deeper).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let mut session = session(&sandbox, "s1", &pumps);
    session.says("Please rename the valve module.");
    session.cwd = deeper;
    session.says("Always run zpumps before pushing.");
    session.cwd = outside;
    session.says("Never edit zoutside by hand.");
    session.cwd = kettles;
    session.says("Never touch zkettles by hand.");
    session.says("thanks");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    for (word, name) in [("zpumps", "pumps"), ("zoutside", "pumps"), ("zkettles", "kettles")] {
        let expected = format!("github.com/acme/{name}");
        assert_eq!(project_of(&sandbox, word), Some(expected), "{word}");
    }
    sandbox.rekindle(&["reindex"]).run().ok();
    let found = |name: &str, word: &str| {
        let asks = ["recall", word, "--anyway", "--k=10", "--json"];
        let answer = sandbox.rekindle(&asks).cwd(project(&sandbox, name)).run().ok().json();
        results(&answer).iter().any(|hit| text(hit, "text").contains(word))
    };
    assert!(found("pumps", "zpumps") && found("kettles", "zkettles"));
    assert!(!found("kettles", "zpumps") && !found("pumps", "zkettles"), "nor do the messages themselves");
}

#[test]
fn r_15_the_open_work_and_the_handoff_of_a_project_stay_there() {
    let sandbox = sandbox();
    let (pumps, kettles) = (project(&sandbox, "pumps"), project(&sandbox, "kettles"));
    told(&sandbox, session(&sandbox, "p1", &pumps), "Tomorrow we have to clean up the zheron ledger.", || {});
    told(
        &sandbox,
        session(&sandbox, "k1", &kettles),
        "Tomorrow we have to descale the zotter kettle.",
        || {},
    );
    for (name, own, other) in [("pumps", "zheron", "zotter"), ("kettles", "zotter", "zheron")] {
        let told = briefing(&sandbox, name);
        assert!(told.contains(own), "{name}: {told}");
        assert!(!told.contains(other), "{name}: {told}");
    }
}

#[test]
fn r_15_an_idea_is_shown_in_its_project_only() {
    let sandbox = sandbox();
    let pumps = project(&sandbox, "pumps");
    let add = ["ideas", "add", "Heron index", "--summary", "A zheron ledger by year."];
    sandbox.rekindle(&add).cwd(&pumps).run().ok();
    sandbox.rekindle(&["ideas", "add", "Otter index", "--summary", "A zotter ledger by year."]).run().ok();
    let page = fs::read_to_string(sandbox.vault().parent().unwrap().join("Ideas.md")).unwrap();
    assert!(page.contains("A zheron ledger by year. (project: github.com/acme/pumps)\n"), "{page}");
    sandbox.rekindle(&["reindex"]).run().ok();
    let found = |name: &str| {
        let asks = ["recall", "ledger by year", "--anyway", "--k=10", "--json"];
        let answer = sandbox.rekindle(&asks).cwd(project(&sandbox, name)).run().ok().json();
        results(&answer).iter().map(|hit| text(hit, "text").to_owned()).collect::<Vec<_>>().join("\n")
    };
    let (here, there) = (found("pumps"), found("kettles"));
    assert!(here.contains("zheron") && here.contains("zotter") && !here.contains("(project:"), "{here}");
    assert!(!there.contains("zheron") && there.contains("zotter"), "{there}");
    let listed = |agent: bool| {
        let command = sandbox.rekindle(&["ideas"]).cwd(project(&sandbox, "kettles"));
        if agent { command.env("CLAUDECODE", "1").run().ok().stdout } else { command.run().ok().stdout }
    };
    assert!(listed(false).contains("Heron index [github.com/acme/pumps]"), "a person sees all of theirs");
    assert!(!listed(true).contains("Heron") && listed(true).contains("Otter"));
}

#[test]
fn brf_03_proposals_with_nothing_else_are_told_to_the_person() {
    let sandbox = quiet();
    for words in ["Use tabs.", "Deploy on Mondays."] {
        propose(&sandbox, words, 0);
    }
    work(&sandbox, &[]);
    let answer = fire(
        &sandbox,
        "SessionStart",
        &json!({"session_id": "s1", "source": "startup", "cwd": sandbox.work()}),
    );
    let expected = json!({"systemMessage": "Rekindle: 2 proposals to review (`rekindle review`)"});
    assert_eq!(answer, expected);
}

#[test]
fn r_17_a_line_of_memory_has_the_day_on_which_it_was_said() {
    let sandbox = quiet();
    let id = hand_in_as(&sandbox, |one| Proposal {
        title: "Use tabs.".to_owned(),
        text: "Use tabs.".to_owned(),
        project: Some(ProjectId::new("github.com/acme/pumps")),
        evidence: ProposalEvidence { said: "2026-03-02T10:00:00Z".parse().ok(), ..one.evidence },
        ..one
    });
    let listed = sandbox.rekindle(&["review", "--list"]).run().ok().stdout;
    assert!(listed.contains("said 2026-03-02"), "{listed}");
    sandbox.rekindle(&["approve", &id]).run().ok();
    assert!(memory(&sandbox).contains("- (2026-03-02) Use tabs."), "{}", memory(&sandbox));
}

#[test]
fn r_17_a_wish_of_a_short_session_has_its_day_in_the_vault_and_in_the_briefing() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "5"]).run().ok();
    let pumps = project(&sandbox, "pumps");
    let mut session = session(&sandbox, "short", &pumps);
    session.says("Remember: staging Postgres listens on port 5433.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let files = sandbox.files();
    let entry = files.iter().find(|(path, bytes)| {
        path.starts_with("personal-private/")
            && String::from_utf8_lossy(bytes).contains("listens on port 5433")
    });
    let (_, bytes) = entry.unwrap();
    let entry = String::from_utf8_lossy(bytes);
    assert!(entry.contains("created: 2026-11-14"), "{entry}");
    let line = briefing(&sandbox, "pumps");
    let line = line.lines().find(|line| line.contains("listens on port 5433")).unwrap_or_default().to_owned();
    assert!(line.contains("11-14"), "{line}");
}

#[test]
fn r_17_a_call_belongs_to_the_day_on_which_it_was_held() {
    let sandbox = sandbox();
    let transcript =
        "[09:31] [User]: From now on always run zvoice before pushing.\n[09:32] [Assistant]: Understood.";
    let call = json!({"callId": "c1", "transcript": transcript, "startedAt": "2026-03-02T09:30:00Z"});
    sandbox.rekindle(&["send", "voice/call.completed", "--data", "-"]).stdin(call.to_string()).run().ok();
    work(&sandbox, &[]);
    let log = sandbox.read("memory/2026-03-02.md");
    assert!(log.contains("zvoice"), "{log}");
}

#[test]
fn r_17_a_session_past_midnight_is_in_the_logs_of_both_days() {
    let sandbox = sandbox();
    let mut session = session(&sandbox, "night", &project(&sandbox, "pumps"));
    session.says("Please rename the valve module.");
    session.says("From now on always run zbefore before pushing.");
    session.says("From now on never touch zafter by hand.");
    let text = fs::read_to_string(&session.path).unwrap();
    let text = text
        .replace("2026-11-14T10:00", "2026-11-14T23:50")
        .replace("2026-11-14T10:01", "2026-11-14T23:55")
        .replace("2026-11-14T10:02", "2026-11-15T00:10");
    fs::write(&session.path, text).unwrap();
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let (before, after) = (sandbox.read("memory/2026-11-14.md"), sandbox.read("memory/2026-11-15.md"));
    assert!(before.contains("zbefore") && !before.contains("zafter"), "{before}");
    assert!(after.contains("zafter") && !after.contains("zbefore"), "{after}");
}
