//! Servers that machines share, seen from the command line: none by default, one that is away, and one that answers
//! nonsense. `scripts/engines-e2e.sh` has the tests with a real server.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, ScriptedServer, ServerReply};
use serde_json::Value;

use crate::capture::{ClaudeTranscript, work};
use crate::review::{memory, propose, quiet};

/// The address of a port that nobody listens to.
fn nobody() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("redis://127.0.0.1:{port}/0")
}

fn shared(url: &str) -> Sandbox {
    let sandbox = quiet();
    sandbox.rekindle(&["config", "set", "engines.redis.url", url]).run().ok();
    sandbox.rekindle(&["config", "set", "engines.shared", "redis"]).run().ok();
    sandbox
}

fn check(sandbox: &Sandbox, name: &str) -> String {
    let checks = sandbox.rekindle(&["doctor", "--json"]).run().ok().json();
    let found = checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == name);
    found.map_or_else(String::new, Value::to_string)
}

#[test]
fn gen_03_nothing_is_shared_until_somebody_says_so() {
    let sandbox = quiet();
    let shown = sandbox.rekindle(&["engines"]).run().ok();
    assert!(shown.stdout.starts_with("Nothing is shared"), "{}", shown.stdout);
    let answer = sandbox.rekindle(&["engines", "--check", "--json"]).run().ok().json();
    assert_eq!((&answer["shared"], &answer["servers"]), (&"embedded".into(), &Value::Array(Vec::new())));
    let refused = sandbox.rekindle(&["engines", "share"]).run();
    assert!(refused.stderr.contains("engines.shared redis"), "{}", refused.stderr);
    assert_eq!(check(&sandbox, "engines"), "");
}

#[test]
fn gen_03_b_16_with_the_server_away_everything_works_and_decisions_wait() {
    let url = nobody();
    let sandbox = shared(&url);
    let checked = sandbox.rekindle(&["engines", "--check"]).run();
    assert!(checked.code != Some(0) && checked.stdout.contains("cannot be reached"), "{}", checked.stdout);
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let recalled = sandbox.rekindle(&["recall", "what about the linter"]).run().ok();
    assert!(recalled.stdout.contains("linter"), "{}", recalled.stdout);
    assert!(check(&sandbox, "engines").contains("cannot be reached"), "{}", check(&sandbox, "engines"));

    let id = propose(&sandbox, "Use tabs.", 0);
    let approved = sandbox.rekindle(&["approve", &id]).run().ok();
    assert!(
        format!("{}{}", approved.stdout, approved.stderr).contains("waits for the shared server"),
        "{}",
        approved.stdout
    );
    assert!(!memory(&sandbox).contains("Use tabs."));
    let checked = sandbox.rekindle(&["review", "--check"]).run().ok();
    assert!(!checked.stdout.contains("no run is left"), "{}", checked.stdout);
    sandbox.rekindle(&["config", "set", "engines.shared", "embedded"]).run().ok();
    work(&sandbox, &[]);
    assert!(memory(&sandbox).contains("Use tabs."), "{}", memory(&sandbox));
    let gone = check(&sandbox, "engines");
    assert!(gone.contains("is not used any more") && gone.contains("rekindle engines clear"), "{gone}");
}

#[test]
fn gen_03_a_hook_does_not_wait_for_a_server() {
    // This one accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sandbox = shared(&format!("redis://{}/0", silent.local_addr().unwrap()));
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    silent.set_nonblocking(true).unwrap();
    for hook in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
        session.hook(&sandbox, hook);
    }
    assert!(silent.accept().is_err(), "no hook has asked the server");
}

#[test]
fn gen_03_another_program_on_the_port_is_a_sentence_within_the_deadline() {
    let web = ScriptedServer::new(vec![ServerReply::json(200, "{}"); 8]);
    let url = web.url().replace("http://", "redis://") + "/0";
    let sandbox = shared(&url);
    let began = Instant::now();
    let checked = sandbox.rekindle(&["engines", "--check", "--json"]).run();
    assert!(began.elapsed() < Duration::from_secs(20));
    let error = &checked.json()["servers"][0]["answer"]["error"];
    assert!(error.as_str().is_some_and(|error| error.contains(&url)), "{error}");
}

#[test]
fn sec_04_sec_02_settings_take_no_password_and_no_open_connection() {
    let sandbox = quiet();
    for bad in
        ["redis://:secret@127.0.0.1/0", "http://127.0.0.1", "redis://127.0.0.1/first", "127.0.0.1:6379"]
    {
        let refused = sandbox.rekindle(&["config", "set", "engines.redis.url", bad]).run();
        assert!(
            refused.code != Some(0) && refused.stderr.contains("redis:// or rediss://"),
            "{bad}: {}",
            refused.stderr
        );
    }
    let sandbox = shared("redis://redis.example:6379/0");
    let checked = sandbox.rekindle(&["engines", "--check"]).run();
    assert!(checked.stdout.contains("without encryption"), "{}", checked.stdout);
}
