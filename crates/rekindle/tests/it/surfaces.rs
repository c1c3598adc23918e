//! Proposals as tasks of Todoist (REV-05…REV-07), through the real worker and a server that speaks the documented API.

use std::time::Duration;

use rekindle_engine::platform::db::Database;
use rekindle_testkit::faults::{self, PlannedFault};
use rekindle_testkit::{Sandbox, ServerReply, TODOIST_KEY, TestCommand, TodoistServer};
use serde_json::{Value, json};

use crate::review::{memory, propose, quiet, review, status};
use crate::text;

const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
/// A webhook payload, as signed with `s3cret`.
const PAYLOAD: &str = r#"{"event_name":"item:completed","user_id":"2671355","version":"10","triggered_at":"2026-11-15T12:00:00.000000Z","event_data":{"id":"6X9999","user_id":"2671355","content":"Promote: Use tabs. → Patterns","description":"Proposal: p-20261114-001-k7qe","labels":["memory-review","agent"],"checked":true,"is_deleted":false}}"#;
const SIGNATURE: &str = "ywbPgK4K1bkJxXe+MW2EbfBIdyKxmXeiISGRYFSHDlo=";

fn rekindle(sandbox: &Sandbox, args: &[&str]) -> TestCommand {
    sandbox.rekindle(args).env("TODOIST_API_TOKEN", TODOIST_KEY)
}

fn connected(server: &TodoistServer) -> Sandbox {
    let sandbox = quiet();
    rekindle(&sandbox, &["review", "connect", "todoist", "--url", server.url(), "--yes"]).run().ok();
    sandbox
}

/// Makes every surface due for a new request.
pub(crate) fn later(sandbox: &Sandbox) {
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    db.change(|t| t.execute("UPDATE surface_state SET synced = 0, not_before = 0", [])).unwrap();
}

fn work(sandbox: &Sandbox) {
    later(sandbox);
    rekindle(sandbox, &["worker", "--once"]).run().ok();
}

fn made(server: &TodoistServer) -> usize {
    server.received().iter().filter(|asked| asked.line == "POST /api/v1/tasks").count()
}

fn doctor(sandbox: &Sandbox) -> String {
    let checks = rekindle(sandbox, &["doctor", "--json"]).run().ok().json();
    let found = checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == "surfaces");
    found.map_or_else(String::new, Value::to_string)
}

fn decided_by(sandbox: &Sandbox, id: &str) -> String {
    text(&review(sandbox, &[id])["proposals"][0], "decided_by").to_owned()
}

fn send(sandbox: &Sandbox, event: &str, data: &Value) {
    rekindle(sandbox, &["send", event, "--data", &data.to_string()]).run().ok();
}

#[test]
fn rev_05_nothing_is_sent_before_confirmation() {
    let server = TodoistServer::default();
    let sandbox = quiet();
    let id = propose(&sandbox, "Use tabs.", 0);
    let refused = rekindle(&sandbox, &["review", "connect", "todoist", "--url", server.url()]).run().fails(2);
    assert!(refused.stderr.contains("Each proposal you are asked about goes, without secrets, to 127.0.0.1"));
    let project = crate::project(&sandbox, "web");
    std::fs::write(project.join(".rekindle.toml"), "review.todoist.enabled = true\n").unwrap();
    rekindle(&sandbox, &["worker", "--once"]).cwd(&project).run();
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert!(server.received().is_empty(), "{:?}", server.received());
    assert_eq!(doctor(&sandbox), "");
    // A rejected key connects nothing; a missing key is reported.
    let connect = ["review", "connect", "todoist", "--url", server.url(), "--yes"];
    let wrong = sandbox.rekindle(&connect).env("TODOIST_API_TOKEN", "wrong").run().fails(1);
    assert!(wrong.stderr.contains("rejected the key in TODOIST_API_TOKEN"), "{}", wrong.stderr);
    let none = sandbox.rekindle(&connect).run().fails(1);
    assert!(none.stderr.contains("set TODOIST_API_TOKEN in the environment"), "{}", none.stderr);
    assert!(server.tasks().is_empty());
    let said = rekindle(&sandbox, &connect).run().ok().stdout;
    assert!(said.contains("Todoist is connected as Ada"), "{said}");
    work(&sandbox);
    assert_eq!(server.open().len(), 1);
    let shown = rekindle(&sandbox, &["status"]).run().ok().stdout;
    assert!(shown.contains("Todoist: 1 open"), "{shown}");
    assert!(sandbox.find_bytes(TODOIST_KEY).is_empty(), "a key is in no file");
    // After a disconnect, nothing is sent and nothing done there counts.
    rekindle(&sandbox, &["review", "disconnect", "todoist"]).run().ok();
    server.complete(&id);
    let before = server.received().len();
    work(&sandbox);
    assert_eq!((server.received().len(), status(&sandbox, &id).as_str()), (before, "triaged"));
    let far = ["review", "connect", "todoist", "--url", "http://todoist.example", "--yes"];
    assert!(rekindle(&sandbox, &far).run().fails(1).stderr.contains("without encryption"));
}

#[test]
fn rev_05_rev_06_a_task_for_each_proposal_decides_about_it() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let words = ["Use tabs.", "Deploy on Mondays.", "Write tests first.", "Prefer rebase."];
    let ids: Vec<String> = words.iter().map(|words| propose(&sandbox, words, 0)).collect();
    work(&sandbox);
    let tasks = server.open();
    assert_eq!(tasks.len(), 4, "{tasks:?}");
    let first = tasks.iter().find(|task| text(task, "description").contains(&ids[0])).unwrap();
    assert_eq!(text(first, "content"), "Promote: Use tabs. → Patterns");
    assert_eq!(first["labels"], json!(["memory-review", "agent"]));
    let description = text(first, "description");
    let start = format!("Proposal: {}\nSection: Patterns\nObserved in: s1\n> From now on: Use tabs.", ids[0]);
    assert!(description.starts_with(&start), "{description}");
    work(&sandbox);
    assert_eq!((server.tasks().len(), made(&server)), (4, 4), "each is made once");
    // Titles are ignored; the label counts.
    server.change(&ids[0], |task| task["content"] = json!("Buy milk"));
    server.complete(&ids[0]);
    server.delete(&ids[1]);
    server.change(&ids[2], |task| task["labels"] = json!(["memory-review", "agent", "rejected"]));
    server.add(&json!({"content": "Promote: Never test. → Patterns", "labels": ["agent"], "checked": true}));
    work(&sandbox);
    let became: Vec<String> = ids.iter().map(|id| status(&sandbox, id)).collect();
    assert_eq!(became, ["promoted", "rejected", "rejected", "triaged"]);
    assert_eq!(decided_by(&sandbox, &ids[0]), "todoist");
    assert!(memory(&sandbox).contains(&format!("Use tabs. <!-- user --> ^{}", ids[0])));
    assert_eq!(server.open().len(), 1, "one that was turned down by its label is closed");
    let late = rekindle(&sandbox, &["approve", &ids[1]]).run().fails(1).stderr;
    assert!(late.contains("was rejected in Todoist on "), "{late}");
    // A task without its label decides nothing and is left alone.
    server.change(&ids[3], |task| task["labels"] = json!([]));
    server.complete(&ids[3]);
    work(&sandbox);
    work(&sandbox);
    assert_eq!(status(&sandbox, &ids[3]), "triaged");
    assert_eq!(made(&server), 4);
}

#[test]
fn rev_03_a_reworded_task_is_promoted_in_its_words() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    server.change(&id, |task| task["content"] = json!("Promote: Use tabs in Go only. → Patterns"));
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "triaged", "editing alone decides nothing");
    server.complete(&id);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "promoted");
    assert!(memory(&sandbox).contains("Use tabs in Go only."), "{}", memory(&sandbox));
}

#[test]
fn rev_10_what_is_decided_elsewhere_or_expires_is_closed() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let ids: Vec<String> = ["Use tabs.", "Deploy on Mondays.", "Old one.", "Older one."]
        .map(|words| propose(&sandbox, words, 0))
        .into();
    work(&sandbox);
    rekindle(&sandbox, &["approve", &ids[0]]).run().ok();
    rekindle(&sandbox, &["reject", &ids[1]]).run().ok();
    // There is no pause: a decision here reaches Todoist with the next worker.
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    let checked = |id: &str| {
        let tasks = server.tasks();
        let task = tasks.iter().find(|task| text(task, "description").contains(id)).unwrap();
        (task["checked"].as_bool().unwrap(), task["is_deleted"].as_bool().unwrap())
    };
    assert_eq!((checked(&ids[0]), checked(&ids[1])), ((true, false), (true, false)));
    // Two proposals expire; a person had edited one of their tasks.
    server.change(&ids[3], |task| task["priority"] = json!(4));
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    for id in &ids[2..] {
        let now = db
            .run(|c| c.query_row("SELECT max(created) FROM proposals", [], |row| row.get::<_, i64>(0)))
            .unwrap();
        let at = rekindle_core::base::time::Timestamp::from_millisecond(now).unwrap();
        assert!(rekindle_engine::review::proposals::expire(&mut db, id.parse().unwrap(), 0, at).unwrap());
    }
    drop(db);
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert_eq!(checked(&ids[2]), (false, true), "never touched: deleted");
    assert_eq!(checked(&ids[3]), (true, false), "touched: completed");
    let asked = server.received().len();
    work(&sandbox);
    assert_eq!(server.received().len(), asked, "nothing is open, so nobody is asked");
}

#[test]
fn rev_05_a_task_is_created_once_despite_lost_answers() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let lost = [
        ("Use tabs.", ServerReply::json(200, "{}").cut()),
        ("Deploy on Mondays.", ServerReply::json(502, "<html>")),
        ("Prefer rebase.", ServerReply::json(200, "not json")),
    ];
    for (number, (words, reply)) in lost.into_iter().enumerate() {
        propose(&sandbox, words, 0);
        server.lose("POST /api/v1/tasks", reply);
        for _ in 0..3 {
            work(&sandbox);
            assert_eq!(
                (server.tasks().len(), made(&server)),
                (number + 1, number + 1),
                "found, not made again"
            );
        }
    }
    // The response was lost, and the task was completed before the next look: it counts and is not created
    // again.
    let other = propose(&sandbox, "Write tests first.", 0);
    server.lose("POST /api/v1/tasks", ServerReply::json(503, "").header("retry-after", "1"));
    work(&sandbox);
    server.change(&other, |task| task["added_at"] = json!("2099-01-01T00:00:00Z"));
    server.complete(&other);
    work(&sandbox);
    work(&sandbox);
    assert_eq!((server.tasks().len(), status(&sandbox, &other).as_str()), (4, "promoted"));
}

#[test]
fn rev_05_a_killed_worker_makes_no_second_task() {
    if let Err(why) = faults::available() {
        rekindle_testkit::skipped(why);
        return;
    }
    let (server, count) = (TodoistServer::default(), {
        let server = TodoistServer::default();
        let sandbox = connected(&server);
        propose(&sandbox, "Use tabs.", 0);
        faults::count(&rekindle(&sandbox, &["worker", "--once"]).limit(Duration::from_secs(120)))
    });
    assert!(count > 5, "{count}");
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    let id = id.as_str();
    let before = sandbox.snapshot();
    let stride = (count / 12).max(1);
    for step in (1..=count).step_by(stride) {
        sandbox.restore(&before);
        // Each round has a new account, which knows no earlier request.
        let server = TodoistServer::default();
        let worker =
            rekindle(&sandbox, &["worker", "--once"]).env("REKINDLE_REVIEW_TODOIST_URL", server.url());
        let worker = worker.limit(Duration::from_secs(120));
        faults::run(&worker, PlannedFault::kill(step));
        later(&sandbox);
        worker.run().ok();
        assert_eq!(server.tasks().len(), 1, "killed at step {step}");
        server.complete(id);
        later(&sandbox);
        faults::run(&worker, PlannedFault::kill(step));
        later(&sandbox);
        worker.run().ok();
        assert_eq!(status(&sandbox, id), "promoted", "killed at step {step}");
        assert_eq!(
            (server.tasks().len(), memory(&sandbox).matches("Use tabs.").count()),
            (1, 1),
            "step {step}"
        );
    }
}

#[test]
fn rev_06_an_outage_loses_nothing_and_keeps_nobody_waiting() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    server.refuse(
        "POST /api/v1/tasks",
        ServerReply::json(429, r#"{"error":"Too many"}"#).header("retry-after", "600"),
    );
    let note = json!({"text": "the staging database is read-only on Fridays"});
    send(&sandbox, "session/observation.noted", &note);
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert!(doctor(&sandbox).contains("127.0.0.1 reports a rate limit"), "{}", doctor(&sandbox));
    let runs = rekindle(&sandbox, &["runs", "--json"]).run().ok().stdout;
    assert!(
        runs.contains("observe-session-noted") && !runs.contains("\"FAILED\"") && !runs.contains("\"DEAD\""),
        "{runs}"
    );
    let asked = server.received().len();
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    send(&sandbox, "memory/review.sync.requested", &json!({}));
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert_eq!(server.received().len(), asked, "it wants to be left alone for ten minutes");
    let replies = [
        ServerReply::json(500, "{}"),
        ServerReply::json(302, "").header("location", "http://127.0.0.1:1/"),
        ServerReply::json(403, r#"{"error":"Maximum number of items reached"}"#),
    ];
    for reply in replies {
        server.refuse("POST /api/v1/tasks", reply);
        work(&sandbox);
        assert!(server.tasks().is_empty());
    }
    work(&sandbox);
    assert_eq!(server.open().len(), 1);
    assert!(!doctor(&sandbox).contains("127.0.0.1"), "{}", doctor(&sandbox));
    // People decide elsewhere while Todoist is unavailable.
    server.refuse("GET /api/v1/tasks", ServerReply::json(503, "{}"));
    server.complete(&id);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "triaged");
    rekindle(&sandbox, &["reject", &id]).run().ok();
    work(&sandbox);
    assert_eq!((status(&sandbox, &id).as_str(), decided_by(&sandbox, &id).as_str()), ("rejected", "command"));
    assert!(!memory(&sandbox).contains("Use tabs."));
}

#[test]
fn rev_05_one_that_is_not_taken_keeps_no_other_back() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    propose(&sandbox, "Use tabs.", 0);
    propose(&sandbox, "Deploy on Mondays.", 0);
    server.refuse("POST /api/v1/tasks", ServerReply::json(400, r#"{"error":"Invalid argument value"}"#));
    work(&sandbox);
    assert_eq!((server.open().len(), made(&server)), (1, 2));
    assert!(
        doctor(&sandbox).contains("has no task: 127.0.0.1 rejected the request (400)"),
        "{}",
        doctor(&sandbox)
    );
    work(&sandbox);
    assert_eq!(made(&server), 2, "it is not sent again and again");
    assert_eq!(review(&sandbox, &[])["waiting"], 2, "everywhere else it can be decided");
}

#[test]
fn rev_06_lists_have_pages_and_completed_tasks_a_list_of_their_own() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let ids: Vec<String> = ["Use tabs.", "Deploy on Mondays.", "Write tests first."]
        .map(|words| propose(&sandbox, words, 0))
        .into();
    server.pages_of(1);
    server.hide_completed();
    work(&sandbox);
    work(&sandbox);
    assert!(ids.iter().all(|id| status(&sandbox, id) == "triaged"), "none is taken for gone");
    assert!(server.received().iter().any(|asked| asked.line.contains("cursor=2")));
    server.complete(&ids[2]);
    work(&sandbox);
    assert_eq!(status(&sandbox, &ids[2]), "promoted");
}

#[test]
fn rev_06_tasks_that_are_gone_for_another_reason_decide_nothing() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let ids: Vec<String> = ["Use tabs.", "Deploy on Mondays.", "Write tests first."]
        .map(|words| propose(&sandbox, words, 0))
        .into();
    work(&sandbox);
    for id in &ids {
        server.delete(id);
    }
    work(&sandbox);
    assert!(ids.iter().all(|id| status(&sandbox, id) == "triaged"), "all at once is nobody's decision");
    assert!(doctor(&sandbox).contains("3 of 3 tasks disappeared at once"), "{}", doctor(&sandbox));
    server.another_account();
    work(&sandbox);
    assert!(doctor(&sandbox).contains("another Todoist account"), "{}", doctor(&sandbox));
    assert!(ids.iter().all(|id| status(&sandbox, id) == "triaged"));
}

#[test]
fn rev_06_rev_07_events_come_twice_late_and_in_any_order() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let ids: Vec<String> =
        ["Use tabs.", "Deploy on Mondays."].map(|words| propose(&sandbox, words, 0)).into();
    let task = |id: &str, labels: Value| json!({"taskId": "7", "labels": labels, "description": format!("Proposal: {id}")});
    let ours = json!(["agent", "memory-review"]);
    let worker = || rekindle(&sandbox, &["worker", "--once"]).run().ok();
    send(&sandbox, "todoist/task.completed", &task(&ids[0], json!(["agent"])));
    send(&sandbox, "todoist/task.completed", &task("p-20200101-001", ours.clone()));
    send(&sandbox, "todoist/task.completed", &json!({"taskId": "8", "labels": ours, "description": "milk"}));
    worker();
    assert_eq!(status(&sandbox, &ids[0]), "triaged");
    // The task was deleted before it was completed: the first event counts.
    send(&sandbox, "todoist/task.deleted", &task(&ids[0], ours.clone()));
    worker();
    send(&sandbox, "todoist/task.completed", &task(&ids[0], ours.clone()));
    send(&sandbox, "todoist/task.deleted", &task(&ids[0], ours.clone()));
    send(&sandbox, "todoist/task.updated", &task(&ids[1], json!(["memory-review", "@rejected"])));
    worker();
    assert_eq!(
        (status(&sandbox, &ids[0]).as_str(), status(&sandbox, &ids[1]).as_str()),
        ("rejected", "rejected")
    );
    let runs = rekindle(&sandbox, &["runs", "--json"]).run().ok().stdout;
    assert!(!runs.contains("\"FAILED\"") && !runs.contains("\"DEAD\""), "{runs}");
    let wrong =
        rekindle(&sandbox, &["send", "todoist/task.deleted", "--data", r#"{"taskId":"1"}"#]).run().fails(2);
    assert!(wrong.stderr.contains("labels"), "REV-07: {}", wrong.stderr);
}

#[test]
fn rev_06_a_webhook_counts_only_with_the_right_signature() {
    let sandbox = quiet();
    // The signed payload names a proposal of the machine `k7qe` (R-20).
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    db.change(|transaction| transaction.execute("INSERT INTO machine VALUES (1, 'k7qe')", [])).unwrap();
    let id = propose(&sandbox, "Use tabs.", 0);
    assert_eq!(id, "p-20261114-001-k7qe");
    let hook = |signature: &str| {
        sandbox
            .rekindle(&["review", "webhook", "todoist", "--signature", signature])
            .env("TODOIST_CLIENT_SECRET", "s3cret")
    };
    let waiting = || sandbox.rekindle(&["worker", "--once"]).run().ok().stdout;
    waiting();
    for (payload, signature) in [(PAYLOAD, "AAAA"), (PAYLOAD, ""), (&PAYLOAD[1..], SIGNATURE)] {
        let refused = hook(signature).stdin(payload).run().fails(1);
        assert!(refused.stderr.contains("the signature is invalid"), "{}", refused.stderr);
        assert!(refused.stderr.contains("nothing was changed"), "{}", refused.stderr);
    }
    let unset = sandbox
        .rekindle(&["review", "webhook", "todoist", "--signature", SIGNATURE])
        .stdin(PAYLOAD)
        .run()
        .fails(1);
    assert!(unset.stderr.contains("TODOIST_CLIENT_SECRET is not set"), "{}", unset.stderr);
    waiting();
    assert_eq!(status(&sandbox, &id), "triaged");
    let first = hook(SIGNATURE).arg("--json").stdin(PAYLOAD).run().ok().json();
    assert_eq!(text(&first, "event"), "todoist/task.completed");
    let again = hook(SIGNATURE).arg("--json").stdin(PAYLOAD).run().ok().json();
    assert_eq!(first["id"], again["id"], "the same delivery is the same event");
    waiting();
    assert_eq!(status(&sandbox, &id), "promoted");
    let runs = sandbox.rekindle(&["runs", "--json"]).run().ok().stdout;
    assert_eq!(runs.matches("\"function\":\"surfaces\"").count(), 1, "{runs}");
}

#[test]
fn b_03_no_secret_and_nothing_forgotten_stays_there() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let words = format!("Push with {TOKEN} to the mirror.");
    propose(&sandbox, &words, 0);
    let gone = propose(&sandbox, "Call the dentist about the zirconium crown.", 0);
    work(&sandbox);
    assert_eq!(server.open().len(), 2);
    for asked in server.received() {
        assert!(!asked.body.contains("ghp_") && !asked.line.contains("ghp_"), "{asked:?}");
    }
    assert!(server.open().iter().any(|task| text(task, "content").contains("[redacted:github-token]")));
    // A forgotten proposal does not stay in Todoist.
    rekindle(&sandbox, &["forget", "--text", "Call the dentist about the zirconium crown."]).run().ok();
    work(&sandbox);
    let task = server.tasks().into_iter().find(|task| text(task, "description").contains(&gone)).unwrap();
    assert_eq!(task["is_deleted"], true, "{task}");
}

#[test]
fn rev_06_a_worker_without_the_key_does_nothing_and_says_so() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    let asked = server.received().len();
    for _ in 0..2 {
        sandbox.rekindle(&["worker", "--once"]).run().ok();
    }
    assert_eq!(server.received().len(), asked);
    assert!(doctor(&sandbox).contains("no API key: set TODOIST_API_TOKEN"), "{}", doctor(&sandbox));
    let runs = sandbox.rekindle(&["runs", "--json"]).run().ok().stdout;
    assert!(!runs.contains("\"surfaces\""), "{runs}");
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert_eq!(server.open().len(), 1, "one that has it does it at once");
    assert!(!doctor(&sandbox).contains("there is no key"), "{}", doctor(&sandbox));
    assert_eq!(status(&sandbox, &id), "triaged");
}

#[test]
fn rev_14_a_reopened_proposal_gets_a_new_task() {
    let server = TodoistServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    server.complete(&id);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "promoted");
    rekindle(&sandbox, &["undo"]).run().ok();
    assert_eq!(status(&sandbox, &id), "pending");
    work(&sandbox);
    assert_eq!((server.tasks().len(), server.open().len()), (2, 1));
    // A late event about the first task belongs to the earlier decision.
    let first = json!({"taskId": server.tasks()[0]["id"], "labels": ["memory-review"],
        "description": format!("Proposal: {id}"), "changedAt": "2026-01-01T00:00:00Z"});
    send(&sandbox, "todoist/task.completed", &first);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "pending");
    server.delete(&id);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "rejected");
}
