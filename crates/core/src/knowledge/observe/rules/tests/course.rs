//! Tests of findings from calls and their outcomes.

use super::*;
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::vault::priority::Priority;

#[test]
fn obs_04_a_failure_a_change_and_a_pass_with_the_cause() {
    let session = SessionScript::new()
        .user("the checkout test fails on my machine")
        .failed(
            "pytest tests/test_checkout.py -q 2>&1 | tail -20",
            "E   ValueError: currency must be upper case\n1 failed",
        )
        .agent("The problem is that `parse_price` passes the currency through in lower case.")
        .edited("/home/dev/shop/shop/prices.py")
        .ran("pytest -q", "12 passed")
        .agent("All green.");
    let findings = session.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        findings[0].text,
        "`pytest tests/test_checkout.py -q` failed (tool output: “E ValueError: currency must be upper case”). \
         Agent: “The problem is that `parse_price` passes the currency through in lower case.”. \
         Passed after changing shop/prices.py"
    );
    assert_eq!((findings[0].kind, findings[0].origin), (FindingKind::Fix, Origin::Agent));
    assert_eq!((findings[0].priority, findings[0].strength), (Priority::High, StatementStrength::Implied));
    assert_eq!(findings[0].messages, ["m1", "m2", "m3", "m4", "m6", "m7"].map(str::to_owned)[..].to_vec());
}

#[test]
fn failures_of_the_agents_own_edits_are_no_root_cause() {
    let session = SessionScript::new()
        .user("add a discount field to orders")
        .edited("/home/dev/shop/orders.rs")
        .failed("cargo test", "error[E0063]: missing field `discount`")
        .agent("I see the issue. The test fixture has no discount field yet.")
        .edited("/home/dev/shop/tests/orders.rs")
        .ran("cargo test", "test result: ok")
        .agent("Done.");
    assert_eq!(session.told(), Vec::<String>::new());
    assert_eq!(
        session.observe().parts[0].narrative,
        "“add a discount field to orders”. Changed orders.rs, tests/orders.rs. `cargo test` passed."
    );
}

#[test]
fn no_change_or_no_pass_is_no_fix() {
    let flaky = SessionScript::new()
        .user("the upload test fails now and then")
        .failed("cargo test upload", "error: boom")
        .agent("The problem is that the port is taken sometimes.")
        .ran("cargo test upload", "test result: ok")
        .agent("It passes now.");
    assert_eq!(flaky.told(), Vec::<String>::new());
    let open = SessionScript::new()
        .user("the upload test fails")
        .failed("cargo test upload", "error: boom")
        .agent("The problem is that the port is taken.")
        .edited("/home/dev/shop/upload.rs")
        .failed("cargo test upload", "error: boom");
    let observed = open.observe();
    assert!(observed.findings().all(|finding| finding.kind != FindingKind::Fix));
    assert_eq!(observed.current_task.as_deref(), Some("the upload test fails"));
}

#[test]
fn a_cause_belongs_to_its_own_failure() {
    let session = SessionScript::new()
        .user("lint and tests are broken")
        .failed("npm run lint", "src/a.ts:3: error no-unused-vars")
        .edited("/home/dev/shop/src/a.ts")
        .failed("npm test", "TypeError: x is not a function")
        .agent("The root cause is a circular import between cart and price.")
        .edited("/home/dev/shop/src/b.ts")
        .ran("npm run lint", "")
        .ran("npm test", "ok")
        .agent("Both pass.");
    let told = session.told();
    assert!(
        told[0].starts_with(
            "Fix: `npm run lint` failed (tool output: “src/a.ts:3: error no-unused-vars”). Passed"
        ),
        "{told:?}"
    );
    assert!(told[1].contains("circular import") && told[1].contains("`npm test` failed"), "{told:?}");
}

#[test]
fn obs_04_a_reported_problem_explained_and_mended_without_a_failing_check() {
    let session = SessionScript::new()
        .user("why do both tabs show as active?")
        .agent("Found it! Both tabs share one key in the local storage.")
        .user("yes please fix that")
        .edited("/home/dev/shop/src/tabs.ts")
        .ran("npm test", "ok")
        .agent("Done.");
    let findings = session.findings();
    assert_eq!(
        findings[0].text,
        "Asked: “why do both tabs show as active?”. Agent: “Both tabs share one key in the local storage.”. \
         Changed src/tabs.ts; then `npm test` passed"
    );
    assert_eq!(findings[0].kind, FindingKind::Fix);
}

#[test]
fn obs_09_state_changes_only_by_commands_that_went_well() {
    let session = SessionScript::new()
        .user("set up vitest for the web package")
        .ran("cd web && pnpm add -D vitest@2.1.0 2>&1 | tail -3", "Done")
        .failed("pnpm add -D jsdomm", "ERR not found")
        .ran("git config core.hooksPath .githooks", "")
        .agent("It is set up.");
    assert_eq!(
        session.told(),
        ["Change: Ran with success: `pnpm add -D vitest@2.1.0`, `git config core.hooksPath .githooks`"]
    );
    let finding = session.findings().remove(0);
    assert_eq!((finding.priority, finding.origin), (Priority::Medium, Origin::Agent));
    let scratch = SessionScript::new()
        .user("try it out in a scratch folder")
        .ran("cd /tmp/x && npm install left-pad", "ok")
        .agent("Ok.");
    assert_eq!(scratch.told(), Vec::<String>::new());
}

#[test]
fn obs_09_versions_in_the_agents_words() {
    let session = SessionScript::new()
        .user("bring tokio up to date")
        .edited("/home/dev/shop/Cargo.toml")
        .ran("cargo check", "Finished")
        .agent("Everything compiles.\n\n- Upgraded tokio from 1.38.0 to 1.44.2\n- Moved one call from a.rs to b.rs");
    assert!(
        session.told().contains(&"Change: Upgraded tokio from 1.38.0 to 1.44.2".to_owned()),
        "{:?}",
        session.told()
    );
}

#[test]
fn a_published_issue_is_named_by_its_title_or_the_agents_report() {
    let session = SessionScript::new()
        .user("file an issue about the slow thumbnails")
        .ran("gh issue create --title \"Slow thumbnails\" --body x", "https://example.com/shop/issues/41")
        .agent("Filed issue #41 about the slow thumbnails.");
    assert_eq!(session.told(), ["Commit: Filed issue #41 “Slow thumbnails”"]);
    let untitled = SessionScript::new()
        .user("open a pull request for the thumbnails")
        .ran("gh pr create --fill", "https://example.com/shop/pull/42")
        .agent("Opened pull request #42 with the faster thumbnails.");
    assert_eq!(untitled.told(), ["Change: Opened pull request #42 with the faster thumbnails."]);
}

#[test]
fn obs_05_a_commit_keeps_its_reasons() {
    let session = SessionScript::new()
        .user("cache the thumbnails")
        .edited("/home/dev/shop/a.rs")
        .agent("Done.")
        .user("commit")
        .ran(
            "git add -A && git commit -m \"Cache the thumbnails\" -m \"Drawing one took 40 ms.\"",
            "[main 1]",
        )
        .agent("Done.");
    assert_eq!(session.told(), ["Commit: Committed “Cache the thumbnails”: Drawing one took 40 ms."]);
    assert_eq!(session.findings()[0].origin, Origin::Agent);
    // Files alone are no finding: the digest names them.
    let observed = session.observe();
    assert_eq!(
        observed.parts[0].narrative,
        "“cache the thumbnails”. Changed a.rs. Committed “Cache the thumbnails”."
    );
    assert_eq!(observed.parts.len(), 1, "a word that only says go on belongs to what it is about");
}

#[test]
fn one_off_requests_are_in_no_digest() {
    let session = SessionScript::new()
        .user("restart the mail worker, use port 4010 for this run")
        .ran("worker --port 4010", "listening")
        .agent("The worker listens on port 4010 for this run. It found four mail queues with old messages.");
    assert_eq!(
        session.observe().parts[0].narrative,
        "“restart the mail worker”. It found four mail queues with old messages.",
    );
}

#[test]
fn requests_limited_to_a_run_are_in_no_digest() {
    let session = SessionScript::new()
        .user("run the client once more with vsync off, only for this run, on port 3007 this time")
        .ran("client --port 3007", "listening")
        .agent("The client runs on http://localhost:3007. It draws the finish screen in 19 ms.")
        .user("why does the finish screen take so long to load?")
        .ran("rg preload", "menu.rs")
        .agent("It listens on 3007 and loads every texture of the finish screen at once.")
        .agent("The finish screen loads its textures in one go, the menu preloads them.");
    let told: Vec<String> = session.observe().parts.into_iter().map(|part| part.narrative).collect();
    assert_eq!(
        told,
        [
            "It draws the finish screen in 19 ms.",
            "“why does the finish screen take so long to load?”. \
             The finish screen loads its textures in one go, the menu preloads them.",
        ]
    );
}

#[test]
fn a_plan_is_named_by_its_title() {
    let session = SessionScript::new()
        .user("Implement the following plan:\n\n# Cache thumbnails on disk\n\n## Context\n\nDrawing one is slow.")
        .edited("/home/dev/shop/a.rs")
        .agent("Thumbnails are cached below the data folder of the shop.");
    let narrative = session.observe().parts.remove(0).narrative;
    assert!(narrative.starts_with("“Cache thumbnails on disk”. Thumbnails are cached"), "{narrative}");
}

#[test]
fn sid_03_a_way_that_worked_twice() {
    let mut session = SessionScript::new();
    for request in ["add a price column to the order table", "rename the customer view to buyers"] {
        session = session
            .user(request)
            .edited("/home/dev/shop/orders.rs")
            .ran("cargo clippy --all-targets 2>&1 | tail -3", "Finished")
            .ran("cargo test", "test result: ok")
            .agent("Done.");
    }
    let told = session.told();
    assert!(
        told.contains(
            &"Workflow: After changes, `cargo clippy --all-targets`, then `cargo test` passed (2 times)"
                .to_owned()
        ),
        "{told:?}"
    );
}

#[test]
fn obs_14_topics_are_parted() {
    let work = |session: SessionScript, request: &str, file: &str| {
        let mut session = session.user(request);
        for _ in 0..5 {
            session = session.edited(file);
        }
        session.agent("Done.")
    };
    let session =
        work(SessionScript::new(), "cache the thumbnails of the gallery", "/home/dev/shop/gallery.rs");
    let session = work(session, "translate the invoice mail into French", "/home/dev/shop/mail.rs");
    let observed = session.observe();
    assert_eq!(observed.parts.len(), 2);
    assert_eq!(observed.parts[0].narrative, "“cache the thumbnails of the gallery”. Changed gallery.rs.");
    // After a long silence a new turn begins, even with a short message.
    let pause = SessionScript::new()
        .user("look at the gallery code")
        .agent("The gallery code draws every thumbnail twice.")
        .later(120)
        .user("continue with tests")
        .agent("The gallery tests never look at thumbnails.");
    assert_eq!(pause.observe().parts.len(), 2);
    let together = SessionScript::new()
        .user("look at the gallery code")
        .agent("The gallery code draws every thumbnail twice.")
        .user("continue with tests")
        .agent("The gallery tests never look at thumbnails.");
    assert_eq!(together.observe().parts.len(), 1);
}

#[test]
fn obs_15_no_story_where_nothing_is_certain() {
    let session = SessionScript::new().user("hi").agent("Hello!").user("thanks").agent("You're welcome.");
    assert_eq!(session.observe().parts, []);
}

#[test]
fn obs_16_how_it_ended() {
    let next = |session: &SessionScript| {
        let observed = session.observe();
        (observed.current_task, observed.suggested_response.unwrap_or_default())
    };
    let done = SessionScript::new()
        .user("fix the login page")
        .edited("/home/dev/shop/a.rs")
        .ran("cargo test", "ok")
        .agent("Done.");
    assert_eq!(next(&done), (None, "Session completed normally.".to_owned()));
    let answered = SessionScript::new().user("how does the login page work?").agent("Like this.");
    assert_eq!(next(&answered), (None, "Session completed normally.".to_owned()));
    let silent = SessionScript::new().user("fix the login page");
    assert_eq!(
        next(&silent),
        (Some("fix the login page".to_owned()), "The last request has no answer yet.".to_owned())
    );
    let failing = SessionScript::new()
        .user("fix the login page")
        .failed("cargo test", "error: boom")
        .agent("It fails.");
    let (task, why) = next(&failing);
    assert_eq!(
        (task.as_deref(), why.as_str()),
        (Some("fix the login page"), "`cargo test` still failed at the end.")
    );
    let asking = SessionScript::new()
        .user("fix the login page")
        .agent("I looked. Which of the two login pages do you mean?");
    let (task, why) = next(&asking);
    assert_eq!(task.as_deref(), Some("fix the login page"));
    assert_eq!(why, "The agent asked and got no answer: “Which of the two login pages do you mean?”");
    let unchecked =
        SessionScript::new().user("fix the login page").edited("/home/dev/shop/a.rs").agent("Done.");
    assert_eq!(next(&unchecked), (None, "Files were changed last; no check ran after that.".to_owned()));
    assert_eq!(SessionScript::new().agent("Hello").observe().suggested_response, None);
}
