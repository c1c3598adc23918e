use super::*;
use crate::fixtures::message as said;
use crate::knowledge::observe::evidence::MessageEvidence;
use crate::session::{ToolCall, ToolOutcome};

fn session() -> Vec<Message> {
    let call = ToolCall {
        id: "c".to_owned(),
        tool: "Bash".to_owned(),
        input: "cargo test valve".to_owned(),
        reads: Vec::new(),
        writes: Vec::new(),
        ..ToolCall::default()
    };
    let failed = ToolOutcome { failed: true, exit_code: Some(101), ..ToolOutcome::default() };
    vec![
        said(0, MessageRole::User, "The valve test fails on my machine, can you look into it?"),
        Message { calls: vec![call], ..said(1, MessageRole::Assistant, "") },
        Message {
            outcome: Some(failed),
            ..said(2, MessageRole::Tool, "test valve::closes ... FAILED\nassertion failed: pressure == 0")
        },
        said(
            3,
            MessageRole::Assistant,
            "The pressure is read before it has settled; the cause is that close() does not wait.",
        ),
        said(
            4,
            MessageRole::User,
            "Good. From now on always run the tests with --release, the debug build is too slow.",
        ),
        said(5, MessageRole::Assistant, "Understood. I will change src/valve.rs now."),
        said(6, MessageRole::User, "Also write the change into CHANGELOG.md please"),
        said(7, MessageRole::User, "thanks, looks right"),
        said(8, MessageRole::Assistant, "You are welcome."),
        said(9, MessageRole::User, "The staging database lives on db-7 and is wiped every Monday."),
        said(10, MessageRole::User, "One day we should replace the poller with epoll."),
        said(11, MessageRole::Assistant, "I have linked the bundled build."),
        said(12, MessageRole::User, "no, not the bundled build, link the system library"),
    ]
}

/// The result for a statement that cites message `number`.
fn passed(text: &str, number: usize) -> Result<(), ClaimFault> {
    let messages = session();
    let support = MessageEvidence::new(&messages, &TimeZone::UTC).find_support(text, &[number + 1])?;
    NoiseDetector::new(&messages, &TimeZone::UTC).check_noise(text, &support)
}

#[test]
fn obs_13_verbatim_copies_of_messages_are_dropped() {
    for (number, copy) in [
        (0, "The valve test fails on my machine, can you look into it?"),
        (1, "Bash(cargo test valve)"),
        (2, "(failed) test valve::closes ... FAILED"),
        (2, "assertion failed: pressure == 0"),
        (5, "Understood. I will change src/valve.rs now."),
        (6, "Also write the change into CHANGELOG.md please"),
        (7, "thanks, looks right"),
        (8, "You are welcome."),
    ] {
        assert_eq!(passed(copy, number), Err(ClaimFault::Quoted), "{copy}");
    }
}

#[test]
fn obs_11_rules_and_causes_may_be_verbatim() {
    for (number, copy) in [
        (3, "The pressure is read before it has settled; the cause is that close() does not wait."),
        (4, "From now on always run the tests with --release, the debug build is too slow."),
        (4, "Always run the tests with --release"),
        (9, "The staging database lives on db-7 and is wiped every Monday."),
        (12, "no, not the bundled build, link the system library"),
    ] {
        assert_eq!(passed(copy, number), Ok(()), "{copy}");
    }
}

#[test]
fn obs_03_the_course_of_a_session_is_no_fact() {
    for (number, step) in [
        (1, "The agent runs cargo test valve on the machine"),
        (0, "The user asked to look into the valve test that fails on the machine"),
        (7, "The user thanked the agent, the change looks right"),
    ] {
        assert_eq!(passed(step, number), Err(ClaimFault::Retold), "{step}");
    }
    // Explicit statements stay, in any wording.
    assert_eq!(passed("The user requests that the tests run with --release", 4), Ok(()));
    assert_eq!(passed("`close()` in the valve does not wait until the pressure has settled", 3), Ok(()));
}

#[test]
fn idea_01_an_idea_is_for_later() {
    let messages = session();
    let noise = NoiseDetector::new(&messages, &TimeZone::UTC);
    assert!(noise.is_about_future(&[10]) && noise.is_about_future(&[0, 10]));
    for now in [0, 4, 6, 7, 9, 12] {
        assert!(!noise.is_about_future(&[now]), "{now}");
    }
}

#[test]
fn b_01_a_rule_that_the_model_omits_counts_as_passed_over() {
    let messages = session();
    let noise = NoiseDetector::new(&messages, &TimeZone::UTC);
    let over = |said: &[&str]| {
        noise.missing_findings(said).flat_map(|finding| finding.messages.clone()).collect::<Vec<_>>()
    };
    assert_eq!(over(&[]), ["m4", "m12"]);
    assert_eq!(over(&["Run the tests with --release: the debug build is too slow"]), ["m12"]);
}
