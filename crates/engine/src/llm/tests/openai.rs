use rekindle_core::llm::TokenUsage;
use rekindle_testkit::{ReceivedRequest, ScriptedServer, ServerReply};

use super::*;

fn ask(
    replies: Vec<ServerReply>,
    request: &LlmRequest,
    key: Option<&str>,
) -> (Result<LlmAnswer, Error>, ScriptedServer) {
    ask_with("MY_KEY", replies, request, key)
}

fn ask_with(
    variable: &str,
    replies: Vec<ServerReply>,
    request: &LlmRequest,
    key: Option<&str>,
) -> (Result<LlmAnswer, Error>, ScriptedServer) {
    let server = ScriptedServer::new(replies);
    let url = format!("{}/v1/", server.url());
    let of = [
        ("llm.provider", "openai"),
        ("llm.openai.url", url.as_str()),
        ("llm.observer_model", "ollama/qwen3:8b"),
        ("llm.openai.key_variable", variable),
    ];
    let variables: Vec<_> = key.map(|key| (variable, key)).into_iter().collect();
    let model = model(&settings(&of), ModelJob::Observer, &around(Path::new("/nowhere"), &variables))
        .unwrap()
        .unwrap();
    (checked(model.answer(request)), server)
}

fn answer(replies: Vec<ServerReply>) -> Result<LlmAnswer, Error> {
    ask(replies, &request(), Some(KEY)).0
}

fn says(words: &str) -> String {
    text(&json!({"choices": [{"index": 0, "delta": {"content": words}, "finish_reason": null}]}))
}

fn stop(why: &str) -> String {
    text(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]}))
}

fn usage() -> String {
    text(&json!({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 9}}))
}

fn stream(events: &[String]) -> ServerReply {
    ServerReply::events(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn error(status: u16, message: &str) -> ServerReply {
    ServerReply::json(
        status,
        text(&json!({"error": {"message": message, "type": "invalid_request_error", "code": null}})),
    )
}

#[test]
fn r_07_an_answer_is_put_together_from_its_pieces() {
    let role =
        json!({"choices": [{"delta": {"role": "assistant", "content": null, "reasoning_content": "hm"}}]});
    let events = [text(&role), says("<word>gar"), says("den</word>"), stop("stop"), usage(), "[DONE]".into()];
    let (answer, server) = ask(vec![stream(&events)], &request(), Some(KEY));
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.whole), ("<word>garden</word>", true));
    assert_eq!((answer.usage, answer.cost), (Some(TokenUsage { input: 40, output: 9 }), None));
    let sent = &server.received()[0];
    assert_eq!(sent.line, "POST /v1/chat/completions");
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = sent.json();
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["temperature"]),
        (&json!("qwen3:8b"), &json!(100), &json!(0))
    );
    assert_eq!(body["messages"][1], json!({"role": "user", "content": ASKED}));
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body.get("response_format").is_none() && body.get("tools").is_none());
}

#[test]
fn r_07_local_servers_need_no_key_and_may_not_count() {
    let whole =
        json!({"choices": [{"message": {"content": "<think>hm</think>hi"}, "finish_reason": "stop"}]});
    let (local, server) = ask(vec![ServerReply::json(200, text(&whole))], &request(), None);
    let local = local.unwrap();
    assert_eq!((local.text.as_str(), local.whole, local.usage), ("hi", true, None));
    assert_eq!(server.received()[0].header("authorization"), None);
    // A stream that ends without a stop reason.
    let done = answer(vec![stream(&[says("hi"), "[DONE]".into()])]).unwrap();
    assert!(done.whole);
}

#[test]
fn r_07_a_schema_is_passed_on_and_left_out_where_it_is_not_understood() {
    let good = || stream(&[says("{}"), stop("stop")]);
    let (_, server) = ask(vec![good()], &with_schema(), None);
    let format = &server.received()[0].json()["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["required"], json!(["word"]));
    for refusal in [
        error(400, "response_format is not supported"),
        error(400, "bad request"),
        ServerReply::json(422, "{}"),
    ] {
        let (answer, server) = ask(vec![refusal, good()], &with_schema(), None);
        assert_eq!(answer.unwrap().text, "{}");
        assert!(server.received()[1].json().get("response_format").is_none());
    }
    // Newer models expect another field for the maximum length, and reject a temperature.
    let tokens = error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    let temperature = error(400, "Unsupported value: 'temperature' does not support 0 with this model.");
    let options = error(400, "unknown field stream_options");
    let (answer, server) = ask(vec![tokens, temperature, options, good()], &request(), None);
    assert!(answer.is_ok());
    let bodies: Vec<Value> = server.received().iter().map(ReceivedRequest::json).collect();
    assert_eq!((bodies[1].get("max_tokens"), &bodies[1]["max_completion_tokens"]), (None, &json!(100)));
    assert!(bodies[3].get("temperature").is_none() && bodies[3].get("stream_options").is_none());
    // The number of concessions is limited.
    let stubborn = || error(400, "temperature, max_tokens, schema, stream_options");
    let (fault, after, _) = failed(ask((0..9).map(|_| stubborn()).collect(), &with_schema(), None).0);
    assert_eq!((fault, after), (FailureOwner::Ours, None));
}

#[test]
fn r_07_an_answer_cut_off_by_the_budget_or_the_line_is_kept_as_a_part() {
    for reply in [
        stream(&[says("half an"), stop("length")]),
        stream(&[says("half an")]).cut(),
        stream(&[says("half an")]),
        stream(&[says("half an"), r#"{"error":{"message":"CUDA"}}"#.into()]),
    ] {
        let answer = answer(vec![reply]).unwrap();
        assert_eq!((answer.text.as_str(), answer.whole), ("half an", false));
    }
    let slow = stream(&[says("half an"), says(" answer"), stop("stop")]).slow(Duration::from_millis(400));
    let late = ask(vec![slow], &within(600), None).0.unwrap();
    assert!(late.text.starts_with("half an") && !late.whole);
}

#[test]
fn r_07_an_invalid_answer_is_a_failure() {
    let zero = Some(Duration::ZERO);
    let refusal = json!({"choices": [{"delta": {"refusal": "SAID BY THE MODEL"}}]});
    let (fault, after, message) = failed(answer(vec![stream(&[text(&refusal), stop("stop")])]));
    assert_eq!(
        (fault, after, message.as_str()),
        (FailureOwner::Provider, None, "the model declined to answer")
    );
    let (fault, after, message) =
        failed(answer(vec![stream(&[says("SAID BY THE MODEL"), stop("content_filter")])]));
    assert_eq!((fault, after), (FailureOwner::Provider, None));
    assert!(message.contains("filter"), "{message}");
    let (fault, after, message) = failed(answer(vec![stream(&[says("\n"), stop("stop")])]));
    assert_eq!((fault, after, message.as_str()), (FailureOwner::Provider, zero, "the answer is empty"));
    let (fault, ..) = failed(answer(vec![stream(&[stop("length")])]));
    assert_eq!(fault, FailureOwner::Ours);
    for nonsense in [
        ServerReply::json(200, "hello"),
        ServerReply::json(200, "{}"),
        stream(&["no".into()]),
        ServerReply::json(200, ""),
    ] {
        let (fault, after, message) = failed(answer(vec![nonsense]));
        assert_eq!((fault, after), (FailureOwner::Provider, zero));
        assert!(message.contains("an invalid answer"), "{message}");
    }
    assert!(
        failed(answer(vec![ServerReply::json(200, "{\"choices\":[]}").cut()]))
            .2
            .contains("before the answer")
    );
    let late = failed(ask(vec![stream(&[says("x")]).slow(Duration::from_secs(2))], &within(300), None).0);
    assert_eq!(late, (FailureOwner::Provider, zero, "no answer within 300 ms".to_owned()));
}

#[test]
fn r_07_refusals_have_an_owner_and_a_retry_delay() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let quota =
        json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    for (reply, fault, after, says) in [
        (
            error(401, &format!("Incorrect API key provided: {KEY}")),
            FailureOwner::Person,
            None,
            "rejected the key in MY_KEY",
        ),
        (
            error(404, "model 'x' not found"),
            FailureOwner::Person,
            None,
            "does not know this model, or llm.openai.url is wrong: model 'x' not found",
        ),
        (ServerReply::json(429, text(&quota)), FailureOwner::Person, None, "reports no credit"),
        (
            error(429, "slow").header("retry-after", "3"),
            FailureOwner::Provider,
            seconds(3),
            "reports a rate limit",
        ),
        (
            error(429, "slow").header("retry-after-ms", "1500"),
            FailureOwner::Provider,
            Some(Duration::from_millis(1500)),
            "reports a rate limit",
        ),
        (error(503, "loading model"), FailureOwner::Provider, seconds(60), "is overloaded: loading model"),
        (
            error(500, &format!("cannot parse {ASKED}")),
            FailureOwner::Provider,
            seconds(20),
            "repeats the question",
        ),
        (error(418, "tea"), FailureOwner::Ours, None, "rejected the request"),
    ] {
        let (got, wait, message) = failed(answer(vec![reply]));
        assert_eq!((got, wait), (fault, after), "{message}");
        assert!(message.contains(says), "{message}");
    }
    let (_, _, message) = failed(ask(vec![error(401, "")], &request(), None).0);
    assert!(message.contains("requires an API key: set MY_KEY"), "{message}");
    let (_, _, message) = failed(ask_with("OPENAI_API_KEY", vec![error(401, "")], &request(), Some(KEY)).0);
    assert!(message.contains("a variable other than OPENAI_API_KEY"), "{message}");
}

#[test]
fn sec_04_a_makers_key_is_not_shown_to_a_server_of_ones_own() {
    let good = stream(&[says("hi"), stop("stop")]);
    let (answer, server) = ask_with("OPENAI_API_KEY", vec![good], &request(), Some(KEY));
    assert!(answer.is_ok());
    assert_eq!(server.received()[0].header("authorization"), None);
}
