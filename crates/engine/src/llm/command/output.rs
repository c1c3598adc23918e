//! Parses agents' output into an answer. Missing values stay missing.

use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::llm::{Cost, Error, LlmRequest, TokenUsage};
use serde_json::Value;

use crate::llm::failure_report;

const BUSY_RETRY_AFTER: Duration = Duration::from_secs(60);
const FAILURE_RETRY_AFTER: Duration = Duration::from_secs(30);

/// The parsed output of a program.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CommandOutput {
    pub(super) text: String,
    pub(super) whole: bool,
    pub(super) usage: Option<TokenUsage>,
    pub(super) cost: Option<Cost>,
    /// The failure in the program's own words, if there is no answer.
    pub(super) failure: Option<CommandFailure>,
}

/// The reason for a missing answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CommandFailure {
    status: Option<u64>,
    words: String,
}

impl CommandFailure {
    fn new(words: &Value) -> Self {
        let words = words.as_str().unwrap_or_default().to_owned();
        Self { status: None, words }
    }

    /// Maps the failure to an error of the right kind. Programs report failures in words, so this searches
    /// for known words.
    pub(super) fn to_error(&self, program: &str, request: &LlmRequest) -> Error {
        let said = failure_report::reported_text(&self.words, request, None);
        let words = self.words.to_lowercase();
        let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        let status = |codes: &[u64]| self.status.is_some_and(|status| codes.contains(&status));
        if says(&["budget"]) {
            return failure_report::internal_error(format!(
                "{program} would exceed the budget of this request"
            ));
        }
        if status(&[401, 403])
            || says(&[
                "log in",
                "login",
                "logged in",
                "unauthorized",
                "api key",
                "authentication",
                "credit balance",
            ])
        {
            return failure_report::user_error(format!(
                "{program} is not logged in, or its key was rejected{said}"
            ));
        }
        if status(&[404]) || says(&["issue with the selected model", "model_not_found", "model not found"]) {
            return failure_report::user_error(format!("{program} does not know this model{said}"));
        }
        if status(&[429, 503, 529])
            || says(&["overloaded", "rate limit", "usage limit", "too many requests", "quota"])
        {
            return failure_report::provider(
                BUSY_RETRY_AFTER,
                format!("{program} reports a rate limit{said}"),
            );
        }
        failure_report::provider(FAILURE_RETRY_AFTER, format!("{program} failed{said}"))
    }
}

/// Parses the output of a program.
pub(super) fn read(agent: Option<Agent>, stdout: &[u8]) -> CommandOutput {
    let text = String::from_utf8_lossy(stdout);
    match agent {
        Some(Agent::Claude) => claude(&text),
        Some(Agent::Codex) => codex(&text),
        Some(Agent::Gemini) => gemini(&text),
        Some(Agent::Pi) => pi(&text),
        None => CommandOutput { text: text.trim().to_owned(), whole: true, ..CommandOutput::default() },
    }
}

fn lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().filter_map(|line| serde_json::from_str(line).ok())
}

fn micro_dollars(dollars: &Value) -> Option<Cost> {
    let dollars = dollars.as_f64().filter(|dollars| (0.0..1e6).contains(dollars))?;
    Some(Cost { micro_dollars: (dollars * 1e6).round() as u64 })
}

/// Parses Claude Code's output: one object, printed last.
fn claude(text: &str) -> CommandOutput {
    let Some(result) = lines(text).filter(|line| line["type"] == "result").last() else {
        return CommandOutput::default();
    };
    let used = |name: &str| result["usage"][name].as_u64();
    let input = used("input_tokens").map(|input| {
        input
            + used("cache_creation_input_tokens").unwrap_or(0)
            + used("cache_read_input_tokens").unwrap_or(0)
    });
    let usage = input.zip(used("output_tokens")).map(|(input, output)| TokenUsage { input, output });
    let structured = &result["structured_output"];
    let text = match structured.is_null() {
        false => structured.to_string(),
        true => result["result"].as_str().unwrap_or_default().to_owned(),
    };
    let subtype = result["subtype"].as_str().unwrap_or_default();
    let refused = result["stop_reason"] == "refusal";
    let failed = result["is_error"] == true || subtype.starts_with("error") || refused;
    let failure = failed.then(|| CommandFailure {
        status: result["api_error_status"].as_u64(),
        words: match refused {
            true => "the model declined".to_owned(),
            false => format!("{subtype} {}", result["result"].as_str().unwrap_or_default()),
        },
    });
    // A text taken for a slash command never reached the model.
    let asked = result["num_turns"].as_u64() != Some(0);
    CommandOutput {
        text: if asked { text } else { String::new() },
        whole: matches!(result["stop_reason"].as_str(), Some("end_turn" | "stop_sequence" | "tool_use")),
        usage,
        cost: micro_dollars(&result["total_cost_usd"]),
        failure,
    }
}

/// Parses Codex's output: one line per event.
fn codex(text: &str) -> CommandOutput {
    let mut output = CommandOutput::default();
    for line in lines(text) {
        match line["type"].as_str().unwrap_or_default() {
            "item.completed" if line["item"]["type"] == "agent_message" => {
                output.text = line["item"]["text"].as_str().unwrap_or_default().to_owned();
            }
            "turn.completed" => {
                let used = |name: &str| line["usage"][name].as_u64();
                output.whole = true;
                output.usage = used("input_tokens")
                    .zip(used("output_tokens"))
                    .map(|(input, output)| TokenUsage { input, output });
            }
            "turn.failed" => output.failure = Some(CommandFailure::new(&line["error"]["message"])),
            // Codex also sends this event before a retry.
            "error" if output.failure.is_none() && !output.whole => {
                output.failure = Some(CommandFailure::new(&line["message"]));
            }
            _ => {}
        }
    }
    if output.whole {
        output.failure = None;
    }
    output
}

/// Parses Gemini CLI's output: one object, with possible warnings around it.
fn gemini(text: &str) -> CommandOutput {
    let Some(start) = text.find('{') else { return CommandOutput::default() };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let Some(Ok(result)) = values.next() else { return CommandOutput::default() };
    let mut usage = None;
    for model in result["stats"]["models"].as_object().into_iter().flat_map(serde_json::Map::values) {
        let used = |name: &str| model["tokens"][name].as_u64().unwrap_or(0);
        let so_far: TokenUsage = usage.unwrap_or_default();
        usage = Some(TokenUsage {
            input: so_far.input + used("prompt"),
            output: so_far.output + used("candidates") + used("thoughts"),
        });
    }
    let error = &result["error"];
    let failure = (!error.is_null())
        .then(|| CommandFailure { status: error["code"].as_u64(), ..CommandFailure::new(&error["message"]) });
    let text = result["response"].as_str().unwrap_or_default().to_owned();
    CommandOutput { text, whole: true, usage, cost: None, failure }
}

/// Parses Pi's output: one line per event; the last message of the model is the answer.
fn pi(text: &str) -> CommandOutput {
    let mut output = CommandOutput::default();
    let ended = lines(text).filter(|line| line["type"] == "message_end");
    for line in ended.filter(|line| line["message"]["role"] == "assistant") {
        let message = &line["message"];
        let blocks = message["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = blocks
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect();
        let used = |name: &str| message["usage"][name].as_u64();
        let input = used("input")
            .map(|input| input + used("cacheRead").unwrap_or(0) + used("cacheWrite").unwrap_or(0));
        let stop = message["stopReason"].as_str().unwrap_or_default();
        output = CommandOutput {
            text: texts.concat(),
            whole: stop == "stop",
            usage: input.zip(used("output")).map(|(input, output)| TokenUsage { input, output }),
            cost: micro_dollars(&message["usage"]["cost"]["total"]),
            failure: matches!(stop, "error" | "aborted")
                .then(|| CommandFailure::new(&message["errorMessage"])),
        };
    }
    output
}

#[cfg(test)]
mod tests {
    use rekindle_core::llm::prompts;
    use rekindle_core::llm::{AnswerFormat, FailureOwner, LlmBudget, LlmPrompt, RetryAdvice};

    use super::*;

    fn blamed(failure: &CommandFailure) -> (FailureOwner, bool) {
        let request = LlmRequest {
            prompt: LlmPrompt::new(prompts::REWRITE, "where is the pump"),
            expects: AnswerFormat::Tags(&["query"]),
            deadline: Duration::from_secs(1),
            budget: LlmBudget { tokens: 10, cost: Cost::default() },
        };
        let error = failure.to_error("claude", &request);
        (error.fault, error.retry != RetryAdvice::Never)
    }

    #[test]
    fn r_07_what_claude_prints() {
        let text = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"stop_reason":"end_turn",
            "result":"hi","total_cost_usd":0.000135,"usage":{"input_tokens":100,"cache_read_input_tokens":5,"output_tokens":7}}"#
            .replace('\n', "");
        let heard = read(Some(Agent::Claude), text.as_bytes());
        assert_eq!((heard.text.as_str(), heard.whole), ("hi", true));
        assert_eq!(heard.usage, Some(TokenUsage { input: 105, output: 7 }));
        assert_eq!(heard.cost, Some(Cost { micro_dollars: 135 }));
        let cut = read(Some(Agent::Claude), text.replace("end_turn", "max_tokens").as_bytes());
        assert!(!cut.whole);
        let structured = text.replace(r#""result":"hi""#, r#""result":"hi","structured_output":{"a":1}"#);
        assert_eq!(read(Some(Agent::Claude), structured.as_bytes()).text, r#"{"a":1}"#);
        let command =
            read(Some(Agent::Claude), text.replace(r#""num_turns":1"#, r#""num_turns":0"#).as_bytes());
        assert_eq!(command.text, "", "a text that was taken for a command has no answer");
    }

    #[test]
    fn r_07_a_failed_program_maps_to_an_owner() {
        let claude = |fields: &str| {
            let text = format!(r#"{{"type":"result","is_error":true,{fields}}}"#);
            blamed(&read(Some(Agent::Claude), text.as_bytes()).failure.unwrap())
        };
        assert_eq!(claude(r#""result":"Not logged in · Please run /login""#), (FailureOwner::Person, false));
        assert_eq!(claude(r#""api_error_status":401,"result":"API Error""#), (FailureOwner::Person, false));
        assert_eq!(claude(r#""api_error_status":529,"result":"API Error""#), (FailureOwner::Provider, true));
        assert_eq!(claude(r#""subtype":"error_max_budget_usd""#), (FailureOwner::Ours, false));
        assert_eq!(claude(r#""result":"something else""#), (FailureOwner::Provider, true));
        let codex = "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n\
            {\"type\":\"turn.failed\",\"error\":{\"message\":\"401 Unauthorized\"}}";
        assert_eq!(
            blamed(&read(Some(Agent::Codex), codex.as_bytes()).failure.unwrap()),
            (FailureOwner::Person, false)
        );
        let gemini = r#"{"session_id":"x","error":{"type":"Error","message":"quota exhausted","code":429}}"#;
        assert_eq!(
            blamed(&read(Some(Agent::Gemini), gemini.as_bytes()).failure.unwrap()),
            (FailureOwner::Provider, true)
        );
        let pi = r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"No API key"}}"#;
        assert_eq!(
            blamed(&read(Some(Agent::Pi), pi.as_bytes()).failure.unwrap()),
            (FailureOwner::Person, false)
        );
    }

    #[test]
    fn r_07_what_codex_gemini_and_pi_print() {
        let codex = r#"{"type":"thread.started","thread_id":"1"}
            {"type":"item.completed","item":{"type":"error","message":"not known"}}
            {"type":"error","message":"Reconnecting... 1/5"}
            {"type":"item.completed","item":{"type":"agent_message","text":"hi"}}
            {"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":7}}"#;
        let usage = Some(TokenUsage { input: 100, output: 7 });
        let heard = read(Some(Agent::Codex), codex.as_bytes());
        assert_eq!((heard.text.as_str(), heard.whole, heard.usage, heard.failure), ("hi", true, usage, None));
        let gemini = "Warning: x\n{\"response\":\"hi\",\"stats\":{\"models\":{\"a\":{\"tokens\":{\"prompt\":60,\"candidates\":3}},\
            \"b\":{\"tokens\":{\"prompt\":40,\"candidates\":3,\"thoughts\":1}}}}}\n";
        let heard = read(Some(Agent::Gemini), gemini.as_bytes());
        assert_eq!((heard.text.as_str(), heard.usage), ("hi", usage));
        let pi = r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"no"}]}}
            {"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"hi"}],"usage":{"input":90,"cacheRead":10,"output":7,"cost":{"total":0.0001}},"stopReason":"stop"}}"#;
        let heard = read(Some(Agent::Pi), pi.as_bytes());
        assert_eq!((heard.text.as_str(), heard.whole, heard.usage), ("hi", true, usage));
        assert_eq!(heard.cost, Some(Cost { micro_dollars: 100 }));
        for agent in Agent::ALL {
            for nothing in ["", "oops", "{}", "[]", "{\"type\":\"result\"}", "null"] {
                assert_eq!(read(Some(agent), nothing.as_bytes()).text, "", "{agent} {nothing}");
            }
        }
    }
}
