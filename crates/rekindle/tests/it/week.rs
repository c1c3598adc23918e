//! `rekindle week`: what a week brought, on a page (O11-16).

use std::fs;

use rekindle_core::base::time::{Timestamp, format_utc};
use serde_json::json;

use crate::capture::{ClaudeTranscript, work};
use crate::review::{propose, quiet};
use crate::{recall, results, text};

fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    Timestamp::now()
}

/// O11-16: the page counts what was learnt, used, said again and what waits, each from its store.
#[test]
fn o11_16_a_week_is_told_from_what_happened() {
    let sandbox = quiet();
    crate::save(&sandbox, "rule", "linter", "Always run the linter before a push.");
    let id = text(&recall(&sandbox, "linter before a push", &[])["results"][0], "id").to_owned();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Never commit generated files to the pump repository.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    propose(&sandbox, "Deploy on Mondays.", 0);
    let usage = sandbox.state().join("usage.jsonl");
    let mut lines = fs::read_to_string(&usage).unwrap_or_default();
    for signal in ["used", "used", "ignored", "missed"] {
        lines += &format!("{}\n", json!({"at": format_utc(now()), "id": id, "signal": signal}));
    }
    // Before the week.
    lines += &format!("{}\n", json!({"at": "2020-01-01T00:00:00Z", "id": id, "signal": "used"}));
    fs::write(&usage, lines).unwrap();
    let week = sandbox.rekindle(&["week", "--json"]).run().ok().json();
    assert_eq!(
        (week["shown"].as_u64(), week["used"].as_u64(), week["ignored"].as_u64()),
        (Some(3), Some(2), Some(1))
    );
    assert_eq!((week["recalls"].as_u64(), week["recallsWithHits"].as_u64()), (Some(1), Some(1)));
    assert_eq!(week["waiting"]["proposals"], 1, "{week}");
    assert_eq!(week["repeated"].as_array().unwrap().len(), 1, "{week}");
    let page = sandbox.rekindle(&["week"]).run().ok().stdout;
    for part in
        ["# Week from ", "2 used, 1 ignored, 0 unclear.", "linter", "- 1 proposal (`rekindle review`)"]
    {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    let before = sandbox.rekindle(&["week", "--ago", "2", "--json"]).run().ok().json();
    assert_eq!((before["shown"].as_u64(), before["recalls"].as_u64()), (Some(0), Some(0)));
}

/// O11-16, R-18: the page is in the vault, and nothing recalls it.
#[test]
fn o11_16_r_18_the_page_is_in_the_vault_and_never_recalled() {
    let sandbox = quiet();
    crate::save(&sandbox, "rule", "linter", "Always run the linter before a push.");
    let said = sandbox.rekindle(&["week", "--save"]).run().ok();
    assert!(said.stderr.starts_with("Written to "), "{}", said.stderr);
    let pages = || -> Vec<String> {
        sandbox.files().into_keys().filter(|name| name.starts_with("_meta/week-")).collect()
    };
    let [page] = &pages()[..] else { panic!("{:?}", pages()) };
    assert!(sandbox.read(page).starts_with("# Week from "));
    sandbox.rekindle(&["week", "--save"]).run().ok();
    assert_eq!(pages().len(), 1);
    sandbox.rekindle(&["reindex"]).run().ok();
    let answer = recall(&sandbox, "week learnt from sessions, shown to agents, used, ignored", &["--anyway"]);
    assert!(results(&answer).iter().all(|result| !text(result, "path").contains("_meta")), "{answer}");
    assert_eq!(sandbox.rekindle(&["doctor", "--json"]).run().ok().json()["ok"], true);
}

/// O11-16: the weekly maintenance leaves the page by itself, once.
#[test]
fn o11_16_the_page_comes_by_itself_once_a_week() {
    let sandbox = quiet();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let due = now().as_millisecond() - 8 * 24 * 3600 * 1000;
    let mut db = rekindle_engine::platform::db::Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    db.change(|t| t.execute("UPDATE schedule SET last = ?1 WHERE function = 'weekly-maintenance'", [due]))
        .unwrap();
    drop(db);
    for _ in 0..2 {
        work(&sandbox, &[]);
        let pages = sandbox.files().into_keys().filter(|name| name.starts_with("_meta/week-")).count();
        assert_eq!(pages, 1);
    }
}
