//! Reflection through the seam, with a scripted model (REF-12…14, VER-07).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::observe::FindingKind;
use rekindle_core::knowledge::reflect::check::{check, check_summary};
use rekindle_core::knowledge::reflect::compress::{MAX_COMPRESSION_LEVEL, is_compressed, reflect};
use rekindle_core::knowledge::reflect::prompt::retry_guidance;
use rekindle_core::knowledge::reflect::{DraftDropReason, Observation, ReflectionPeriod, TargetSection};
use rekindle_core::llm::{Error, FailureOwner, LlmAnswer, RetryAdvice};
use rekindle_testkit::ScriptedLlm;
use rekindle_testkit::fixtures::{finding, observed};

const FACT: &str = "Staging Postgres listens on port 5432";

fn observations() -> Vec<Observation> {
    let decided = |text| finding(FindingKind::Decision, Origin::User, text);
    let findings = vec![decided(FACT), decided("Never amend a pushed commit, whatever the review says")];
    vec![Observation {
        key: "k".to_owned(),
        session: "s".to_owned(),
        project: None,
        day: Date::constant(2026, 11, 14),
        at: Timestamp::UNIX_EPOCH,
        observed: observed("Looked at the staging database.", findings),
    }]
}

fn period(observations: &[Observation]) -> ReflectionPeriod<'_> {
    ReflectionPeriod { today: Date::constant(2026, 11, 15), user: "Ada", memory: "", observations }
}

fn answer(lines: usize) -> String {
    let lines = format!("- (2026-11-14) {FACT}\n").repeat(lines);
    format!(
        "<proposals>\n## Proposed for: System Architecture\n{lines}</proposals>\n<summary>Ports.</summary>"
    )
}

/// The guidance in each request, in order.
fn levels(model: &ScriptedLlm) -> Vec<Option<String>> {
    let material = |request: rekindle_core::llm::LlmRequest| {
        let sent: serde_json::Value = serde_json::from_str(request.prompt.material()).unwrap();
        sent["guidance"].as_str().map(str::to_owned)
    };
    model.requests().into_iter().map(material).collect()
}

fn wanted(level: u8) -> Option<String> {
    retry_guidance(level).map(str::to_owned)
}

#[test]
fn ver_07_a_short_answer_is_taken_at_once() {
    let (observations, model) = (observations(), ScriptedLlm::new().says(&answer(1)));
    let reflected = reflect(&model, &period(&observations), None).unwrap();
    assert_eq!((reflected.level, reflected.flagged, reflected.answer.claims.len()), (0, false, 1));
    assert!(is_compressed(reflected.input, reflected.output));
    assert_eq!(levels(&model), [None]);
}

#[test]
fn ver_07_ref_13_a_long_answer_is_asked_for_again_with_more_guidance() {
    let observations = observations();
    let model = ScriptedLlm::new().says(&answer(9)).says(&answer(8)).says(&answer(1));
    let reflected = reflect(&model, &period(&observations), None).unwrap();
    assert_eq!((reflected.level, reflected.flagged), (2, false));
    assert_eq!(levels(&model), [None, wanted(1), wanted(2)]);
    let model = ScriptedLlm::new().says(&answer(9)).says(&answer(1));
    assert_eq!(reflect(&model, &period(&observations), None).unwrap().level, 1);
    assert_eq!(levels(&model), [None, wanted(1)]);
}

#[test]
fn ver_07_ref_14_if_nothing_helps_the_shortest_is_kept_and_flagged() {
    let observations = observations();
    let model = ScriptedLlm::new().says(&answer(9)).says(&answer(7)).says(&answer(8)).says(&answer(1));
    let reflected = reflect(&model, &period(&observations), None).unwrap();
    assert_eq!(
        (reflected.level, reflected.flagged, reflected.answer.claims.len()),
        (MAX_COMPRESSION_LEVEL, true, 7)
    );
    assert_eq!(model.left(), 1, "it is asked three times and no more");
    // A failure on a later call keeps the earlier answer.
    let model = ScriptedLlm::new().says(&answer(9)).fails(Error::timed_out(Duration::ZERO));
    let reflected = reflect(&model, &period(&observations), None).unwrap();
    assert_eq!((reflected.flagged, reflected.answer.claims.len()), (true, 9));
}

#[test]
fn ref_12_the_input_is_the_measure_and_equal_is_not_less() {
    assert!(is_compressed(10, 9));
    assert!(!is_compressed(10, 10) && !is_compressed(10, 11) && !is_compressed(0, 0));
}

#[test]
fn nonsense_is_asked_for_again_and_then_given_up() {
    let observations = observations();
    let model = ScriptedLlm::new().says("I'm sorry, I can't.").says("").says(&answer(1));
    assert_eq!(reflect(&model, &period(&observations), None).unwrap().level, 2);
    let model = ScriptedLlm::new().says("I'm sorry, I can't.").says("lorem").says("ipsum");
    let error = reflect(&model, &period(&observations), None).unwrap_err();
    assert_eq!((error.fault, error.retry), (FailureOwner::Provider, RetryAdvice::Never));
}

#[test]
fn a_model_that_fails_says_whether_to_try_again() {
    let observations = observations();
    for error in [
        Error::timed_out(Duration::from_secs(1)),
        Error::new(FailureOwner::Person, RetryAdvice::Never, "no key"),
    ] {
        let model = ScriptedLlm::new().fails(error.clone());
        assert_eq!(reflect(&model, &period(&observations), None), Err(error));
    }
}

#[test]
fn an_answer_that_was_cut_off_counts_as_far_as_it_is_whole() {
    let observations = observations();
    let text = answer(1).replace("</proposals>", "- (2026-11-14) Never amend a pus");
    let text = text.split("<summary>").next().unwrap();
    let cut = LlmAnswer { text: text.to_owned(), whole: false, usage: None, cost: None };
    let reflected = reflect(&ScriptedLlm::new().answers(cut), &period(&observations), None).unwrap();
    assert_eq!((reflected.answer.claims.len(), reflected.answer.summary), (1, None));
}

#[test]
fn ref_11_what_a_model_says_is_checked_on_its_way() {
    let observations = observations();
    let said = format!(
        "<proposals>\n## Proposed for: Databases\n- (2026-11-14) {FACT}.\n- (2026-11-14) Redis listens on port 6379.\n\
         </proposals>\n<summary>Staging and port 5432.</summary>"
    );
    let period = period(&observations);
    let reflected = reflect(&ScriptedLlm::new().says(&said), &period, None).unwrap();
    let checked = check(&reflected.answer.claims, &period);
    assert_eq!(checked.drafts.len(), 1);
    assert_eq!(
        (checked.drafts[0].section.clone(), checked.drafts[0].origin),
        (TargetSection::Unknown, Origin::User)
    );
    assert_eq!(
        checked.dropped.count(DraftDropReason::Unsupported)
            + checked.dropped.count(DraftDropReason::Invented),
        1
    );
    assert_eq!(check_summary("Staging and port 5432.", &period).as_deref(), Some("Staging and port 5432."));
    assert_eq!(check_summary("Staging and port 5433.", &period), None);
    assert_eq!(check_summary("</summary> Staging", &period), None);
}
