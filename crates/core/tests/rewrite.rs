//! Rewording through the seam, with a scripted model (REC-05, VER-12).

use std::time::Duration;

use rekindle_core::llm::{Error, FailureOwner, LanguageModel, LlmAnswer, LlmRequest, RetryAdvice};
use rekindle_core::recall::rewrite::{
    DEADLINE, RejectedRewrite, RewriteFailure, RewriteMessage, RewriteOutcome, rewrite,
};
use rekindle_testkit::ScriptedLlm;

const QUERY: &str = "what was that redis thing";
const TALK: [RewriteMessage<'static>; 2] = [
    RewriteMessage { from_user: true, text: "Our sessions vanish every morning." },
    RewriteMessage { from_user: false, text: "They are in Redis, with a TTL of eight hours." },
];

#[test]
fn ver_12_disabled_asks_nobody() {
    let rewritten = rewrite(QUERY, &TALK, None);
    assert_eq!(rewritten, RewriteOutcome::Disabled);
    assert_eq!((rewritten.query(QUERY), rewritten.rewritten()), (QUERY, None));
}

#[test]
fn ver_12_success_searches_with_the_new_words() {
    let model = ScriptedLlm::new().says("<query>redis session TTL eight hours</query>");
    let rewritten = rewrite(QUERY, &TALK, Some(&model));
    assert_eq!(rewritten, RewriteOutcome::Done { query: "redis session TTL eight hours".to_owned() });
    assert_eq!(rewritten.query(QUERY), "redis session TTL eight hours");
    assert_eq!(rewritten.rewritten(), Some("redis session TTL eight hours"));
    let [asked] = model.requests().try_into().unwrap();
    assert!(asked.prompt.material().contains("a TTL of eight hours"));
    assert!(asked.prompt.material().contains(QUERY));
    assert_eq!((asked.prompt.template().name, asked.deadline), ("rewrite", DEADLINE));
    assert_eq!(model.left(), 0);
}

#[test]
fn ver_12_every_failure_falls_back_to_the_original() {
    let overloaded =
        Error::new(FailureOwner::Provider, RetryAdvice::After(Duration::from_secs(30)), "overloaded");
    let no_key = Error::new(FailureOwner::Person, RetryAdvice::Never, "no key: set ANTHROPIC_API_KEY");
    let cut = LlmAnswer { text: "redis ses".to_owned(), whole: false, usage: None, cost: None };
    let cases = [
        (ScriptedLlm::new().fails(overloaded.clone()), RewriteFailure::Model(overloaded)),
        (ScriptedLlm::new().fails(no_key.clone()), RewriteFailure::Model(no_key)),
        (
            ScriptedLlm::new(),
            RewriteFailure::Model(Error::new(FailureOwner::Ours, RetryAdvice::Never, "the script is over")),
        ),
        (ScriptedLlm::new().says(""), RewriteFailure::Answer(RejectedRewrite::Empty)),
        (ScriptedLlm::new().answers(cut), RewriteFailure::Answer(RejectedRewrite::CutOff)),
        (
            ScriptedLlm::new().says("I can't look into your redis."),
            RewriteFailure::Answer(RejectedRewrite::Refusal),
        ),
        (
            ScriptedLlm::new().says("A haiku:\nleaves fall"),
            RewriteFailure::Answer(RejectedRewrite::SeveralLines),
        ),
        (ScriptedLlm::new().says("what was the weather"), RewriteFailure::Answer(RejectedRewrite::Unrelated)),
    ];
    for (model, why) in cases {
        let rewritten = rewrite(QUERY, &TALK, Some(&model));
        assert_eq!(rewritten, RewriteOutcome::Failed { why });
        assert_eq!((rewritten.query(QUERY), rewritten.rewritten()), (QUERY, None));
        assert_eq!(model.requests().len(), 1, "asked once, never again by itself");
    }
}

/// A model that shortens the deadline of each request, so that the test does not wait for the real one.
struct HurriedModel(ScriptedLlm);

impl LanguageModel for HurriedModel {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        self.0.answer(&LlmRequest { deadline: Duration::from_millis(20), ..request.clone() })
    }
}

#[test]
fn ver_12_a_slow_model_is_a_failure_at_the_deadline() {
    let slow = HurriedModel(ScriptedLlm::new().says_after(Duration::from_secs(600), "redis TTL"));
    let late = RewriteFailure::Model(Error::timed_out(Duration::from_millis(20)));
    assert_eq!(rewrite(QUERY, &TALK, Some(&slow)), RewriteOutcome::Failed { why: late });
    let quick = HurriedModel(ScriptedLlm::new().says_after(Duration::from_millis(1), "redis TTL"));
    assert_eq!(rewrite(QUERY, &TALK, Some(&quick)), RewriteOutcome::Done { query: "redis TTL".to_owned() });
}

#[test]
fn rec_05_what_is_no_question_reaches_no_model() {
    let log = "error: connection reset\n".repeat(50_000);
    for (query, why) in [
        ("", RewriteFailure::Empty),
        (" \n\u{200b}", RewriteFailure::Empty),
        (log.as_str(), RewriteFailure::Long),
    ] {
        let model = ScriptedLlm::new();
        assert_eq!(rewrite(query, &TALK, Some(&model)), RewriteOutcome::Failed { why });
        assert!(model.requests().is_empty());
    }
}

#[test]
fn rec_05_the_same_answer_gives_the_same_words() {
    let words = |_| {
        let model = ScriptedLlm::new().says("Thinking…\n<query>\"redis  session TTL\"</query>");
        rewrite(QUERY, &TALK, Some(&model))
    };
    let done: Vec<RewriteOutcome> = (0..3).map(words).collect();
    assert!(done.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(done[0].query(QUERY), "redis session TTL");
}

#[test]
fn the_double_counts_what_it_reads_and_writes() {
    let model = ScriptedLlm::new().says("redis TTL").says("redis");
    assert_eq!(rewrite(QUERY, &[], Some(&model)).query(QUERY), "redis TTL");
    let [request] = model.requests().try_into().unwrap();
    let usage = model.answer(&request).unwrap().usage.unwrap();
    assert_eq!(usage.output, 2);
    assert!(usage.input > 200, "{usage:?}");
}
