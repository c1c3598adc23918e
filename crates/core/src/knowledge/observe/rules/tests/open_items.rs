//! Tests of texts that a session leaves behind, and of open work.

use super::SessionScript;
use crate::base::provenance::Origin;
use crate::knowledge::observe::FindingKind;

fn kept(session: &SessionScript, kind: FindingKind) -> Vec<String> {
    let findings = session.findings().into_iter().filter(|finding| finding.kind == kind);
    findings
        .inspect(|finding| assert_ne!((finding.kind, finding.origin), (FindingKind::Fact, Origin::User)))
        .map(|finding| finding.text)
        .collect()
}

#[test]
fn obs_05_pull_requests_and_issues_are_kept_with_their_reasons() {
    let body = "## Summary\n- Tables are read once and kept, because parsing took 40 ms a request.\n\n## Test plan\n- [x] cargo test";
    let session = SessionScript::new()
        .user("open a pull request for the cache")
        .ran(
            &format!("gh pr create --title \"Cache parsed tables\" --body \"$(cat <<'EOF'\n{body}\nEOF\n)\""),
            "https://example.com/o/shop/pull/12",
        )
        .agent("Opened https://example.com/o/shop/pull/12.")
        .user("and file the leak")
        .ran(
            "gh issue create -t 'Pool leaks a connection on timeout' -b 'The guard is dropped before the query ends.'",
            "https://example.com/o/shop/issues/7",
        )
        .wrote("mcp__github__create_issue", &[], "Docs name the old port\nThe README says 5433.", "{}")
        .agent("Filed.");
    assert_eq!(
        kept(&session, FindingKind::Commit),
        [
            "Opened pull request #12 “Cache parsed tables”: Tables are read once and kept, because parsing took 40 ms a request.",
            "Filed issue #7 “Pool leaks a connection on timeout”: The guard is dropped before the query ends.",
            "Filed issue “Docs name the old port”: The README says 5433.",
        ]
    );
    assert_eq!(kept(&session, FindingKind::Change), Vec::<String>::new(), "said once");
    let refused =
        SessionScript::new().user("open it").failed("gh pr create --title 'Cache it' --body 'x'", "HTTP 422");
    assert_eq!(kept(&refused, FindingKind::Commit), Vec::<String>::new());
}

#[test]
fn b_01_project_notes_count_as_the_agents_statement() {
    let notes = "## Commands\n\n- Always run `make gen` before `make test`.\n- Redis listens on 6380 in development.\n```\nmake\n```";
    let session = SessionScript::new()
        .user("write down what you found")
        .wrote("Edit", &["/home/dev/shop/CLAUDE.md"], notes, "The file was updated.")
        .wrote("save_memory", &[], "Ports of services start at 7000.", "ok")
        .agent("Done.");
    assert_eq!(
        kept(&session, FindingKind::Fact),
        [
            "Noted in CLAUDE.md: Always run `make gen` before `make test`. Redis listens on 6380 in development.",
            "Noted in GEMINI.md: Ports of services start at 7000.",
        ]
    );
    assert!(session.findings().iter().all(|finding| finding.origin != Origin::User));
}

#[test]
fn plans_are_kept_when_the_person_approves_them() {
    let plan = "# Cache parsed tables\n\nTables are read once at the start.\n\n1. Add a map.\n";
    let approved = SessionScript::new()
        .user("plan the cache")
        .wrote("ExitPlanMode", &[], plan, "User has approved your plan. You can now start coding.")
        .agent("Starting.");
    assert_eq!(
        kept(&approved, FindingKind::Decision),
        ["The user approved the plan “Cache parsed tables”. Tables are read once at the start."]
    );
    let gemini = SessionScript::new()
        .user("plan the cache")
        .wrote("write_file", &["/home/dev/.gemini/tmp/x/plans/cache.md"], plan, "ok")
        .wrote("exit_plan_mode", &[], "", "The approved implementation plan is stored at: /p/cache.md")
        .agent("Starting.");
    assert_eq!(kept(&gemini, FindingKind::Decision).len(), 1);
    let codex = SessionScript::new()
        .user("plan the cache")
        .agent("Here it is.\n<proposed_plan>\n# Cache parsed tables\n\nTables are read once at the start.\n</proposed_plan>")
        .user("Implement the plan.")
        .agent("Starting.");
    assert_eq!(kept(&codex, FindingKind::Decision).len(), 1);
    assert_eq!(codex.observe().parts.len(), 1, "approving a plan asks for nothing new");
    let sent_back = SessionScript::new()
        .user("plan the cache")
        .wrote("ExitPlanMode", &[], plan, "Plan rejected.")
        .agent("Ok.");
    assert_eq!(kept(&sent_back, FindingKind::Decision), Vec::<String>::new());
    // A host passes the agent's own plan back as a user message.
    let handed = SessionScript::new()
        .user("Implement the following plan:\n\n# Cache parsed tables\n\nAlways use redis for everything.")
        .agent("Parsing is cached now and takes two milliseconds.");
    assert_eq!(handed.told(), Vec::<String>::new());
    assert!(handed.observe().parts[0].narrative.starts_with("“Cache parsed tables”."));
}

fn next(session: &SessionScript) -> (Option<String>, String) {
    let observed = session.observe();
    (observed.current_task, observed.suggested_response.unwrap_or_default())
}

#[test]
fn obs_16_a_session_is_complete_only_if_it_is() {
    let asking = SessionScript::new()
        .user("fix the login page")
        .edited("/home/dev/shop/a.rs")
        .ran("cargo test", "ok")
        .agent("It works. Shall I also change the signup page?");
    let (task, why) = next(&asking);
    assert_eq!(task.as_deref(), Some("fix the login page"), "a check that passed answers no question");
    assert_eq!(why, "The agent asked and got no answer: “Shall I also change the signup page?”");

    let failing = SessionScript::new()
        .user("fix the login page")
        .failed("cargo test", "error: boom")
        .agent("It fails.")
        .user("ok thanks, enough")
        .agent("Good night.");
    assert_eq!(next(&failing).1, "`cargo test` still failed at the end.");

    let cut_off = SessionScript::new()
        .user("fix the login page")
        .ran("cargo test", "ok")
        .agent("Now the page itself.")
        .ran("cat a.rs", "fn a() {}");
    assert_eq!(next(&cut_off).1, "The agent was still at work on the last request.");
}

#[test]
fn obs_16_open_work_is_listed_with_branch_and_plan() {
    let session = SessionScript::new()
        .user("build the cache")
        .ran("git checkout -b feat/cache", "Switched to a new branch")
        .wrote("Write", &["/home/dev/shop/docs/cache-plan.md"], "# Cache tables", "ok")
        .edited("/home/dev/shop/a.rs")
        .ran("git commit -am 'Cache tables'", "1 file changed")
        .edited("/home/dev/shop/b.rs")
        .ran("cargo test", "ok")
        .wrote("TodoWrite", &[], "- [x] add the map\n- [ ] measure it", "ok")
        .agent("The cache works.");
    assert_eq!(
        next(&session),
        (
            None,
            "Not committed: b.rs. Left on the agent's list: “measure it”. Plan: docs/cache-plan.md. Branch: `feat/cache`.".to_owned()
        )
    );
    let plan =
        SessionScript::new().user("plan it").agent("<proposed_plan>\n# Cache tables\n</proposed_plan>");
    assert_eq!(next(&plan).1, "The agent's plan waits for an answer.");
    let without_git = SessionScript::new()
        .user("fix it please now")
        .edited("/home/dev/shop/a.rs")
        .ran("cargo test", "ok")
        .agent("Done.");
    assert_eq!(next(&without_git), (None, "Session completed normally.".to_owned()));
}

#[test]
fn obs_07_postponed_work_has_its_time_and_target_day() {
    let session = SessionScript::new()
        .user("fix the login page")
        .agent("Done.")
        .user("good. tomorrow we migrate the orders table to the new schema")
        .agent("Noted.");
    assert_eq!(
        kept(&session, FindingKind::Work),
        ["Open: tomorrow we migrate the orders table to the new schema (meaning 2026-03-03)"]
    );
    for sentence in [
        "should we migrate the table tomorrow?",
        "guten morgen, fix the login page",
        "see you tomorrow and thanks",
    ] {
        let session = SessionScript::new().user(sentence).agent("Done.");
        assert_eq!(kept(&session, FindingKind::Work), Vec::<String>::new(), "{sentence}");
    }
}

#[test]
fn obs_06_postponed_work_names_its_task() {
    let after = |answer: &str, sentence: &str| {
        let session = SessionScript::new().user("check staging").agent(answer).user(sentence).agent("Fine.");
        kept(&session, FindingKind::Work)
    };
    let stale = "Staging still answers 0, it runs on the old index.";
    for sentence in
        ["we'll get to that another day", "on verra ça la semaine prochaine", "das machen wir nächste Woche"]
    {
        let named = format!("Open: {sentence} (about: Staging still answers 0, it runs on the old index.)");
        assert_eq!(after(stale, sentence), [named]);
        assert_eq!(after("", sentence), Vec::<String>::new(), "nothing that it could mean: {sentence}");
    }
    assert_eq!(after(stale, "the es locale comes next week"), ["Open: the es locale comes next week"]);
    let theirs = "leave the changelog for now, I'm going to write it on monday in one go";
    assert_eq!(after(stale, theirs), Vec::<String>::new());
    let shared = "leave the es locale for now, we add it next week";
    assert_eq!(after(stale, shared), [format!("Open: {shared}")]);
}

#[test]
fn obs_06_items_of_a_list_stay_open_until_they_are_ticked() {
    let session = SessionScript::new()
        .user("write down what is left")
        .wrote(
            "Write",
            &["/home/dev/shop/TODO.md"],
            "# Todo\n- [ ] measure the cache\n- [ ] rename the old reader",
            "ok",
        )
        .wrote("Edit", &["/home/dev/shop/TODO.md"], "- [x] measure the cache", "ok")
        .agent("Done.");
    assert_eq!(kept(&session, FindingKind::Work), ["Open: rename the old reader"]);
}
