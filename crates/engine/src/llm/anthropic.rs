//! Anthropic's Messages API, streamed: text received before a broken connection is kept and counted.

use std::ops::ControlFlow;
use std::time::Duration;

use rekindle_core::config::ModelName as Name;
use rekindle_core::llm::{Error, LanguageModel, LlmAnswer, LlmRequest, TokenUsage};
use serde_json::{Map, Value, json};

use super::http::{self, AnswerDeadline, LlmServer, OptionalField, StreamBreak};
use super::prices::{self, ModelPrice};
use super::stream::{self, AnswerParser};
use super::{answer_format, failure_report, within_budget};

const API_VERSION: &str = "2023-06-01";
/// The retry delay for an overloaded server. It may report this in the middle of a stream as well.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Request fields that newer models and compatible servers may reject.
const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField { field: "temperature", words: &["temperature"], instead: None },
    OptionalField {
        field: "output_config",
        words: &["output_config", "output config", "schema"],
        instead: None,
    },
];

pub(super) struct AnthropicModel {
    server: LlmServer,
    name: Name,
    limit: Duration,
    price: Option<ModelPrice>,
}

impl AnthropicModel {
    pub(super) fn new(server: LlmServer, name: &Name, limit: Duration) -> Self {
        let official = server.host() == "api.anthropic.com";
        let price = prices::vendor_price("anthropic", name.name()).filter(|_| official);
        Self { server, name: name.clone(), limit, price }
    }

    fn body(&self, request: &LlmRequest) -> Map<String, Value> {
        let mut body = json!({
            "model": self.name.name(),
            "max_tokens": request.budget.tokens,
            "system": answer_format::instructions_with_schema(request, true),
            "messages": [{"role": "user", "content": request.prompt.material()}],
            "stream": true,
            "temperature": 0,
        });
        if let Some(schema) = answer_format::schema(request) {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
        }
        match body {
            Value::Object(body) => body,
            _ => Map::new(),
        }
    }
}

impl LanguageModel for AnthropicModel {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        within_budget(self.price, request)?;
        let deadline = AnswerDeadline::new(request, self.limit);
        let mut headers = vec![("anthropic-version", API_VERSION.to_owned())];
        headers.extend(self.server.key().map(|key| ("x-api-key", key.to_owned())));
        let mut body = self.body(request);
        let response =
            self.server.ask("/v1/messages", &headers, &mut body, OPTIONAL_FIELDS, request, deadline)?;
        let (stream, broken) = stream::read_stream::<AnthropicStream>(response, deadline);
        stream.answer(broken, self, request, deadline.length)
    }
}

/// The part of the answer received so far.
#[derive(Debug, Default)]
struct AnthropicStream {
    text: String,
    input: Option<u64>,
    output: Option<u64>,
    /// The server's stop reason.
    stop: Option<String>,
    /// The error event of the server: type and message.
    failed: Option<(String, String)>,
    /// True if an event was not a valid answer.
    nonsense: bool,
}

impl AnswerParser for AnthropicStream {
    fn parse_whole(&mut self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else {
            self.nonsense = true;
            return;
        };
        for block in message["content"].as_array().into_iter().flatten() {
            self.text.push_str(block["text"].as_str().unwrap_or_default());
        }
        self.usage(&message["usage"]);
        self.stop = message["stop_reason"].as_str().map(str::to_owned);
        self.nonsense = message.get("content").is_none();
    }

    fn event(&mut self, data: &str) -> ControlFlow<()> {
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            self.nonsense = true;
            return ControlFlow::Continue(());
        };
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.usage(&event["message"]["usage"]),
            "content_block_start" => {
                self.text.push_str(event["content_block"]["text"].as_str().unwrap_or_default());
            }
            // Only text: thinking is not part of the answer.
            "content_block_delta" => self.text.push_str(event["delta"]["text"].as_str().unwrap_or_default()),
            "message_delta" => {
                self.usage(&event["usage"]);
                self.stop = event["delta"]["stop_reason"].as_str().map(str::to_owned).or(self.stop.take());
            }
            "error" => {
                self.failed = Some(http::parse_error_body(data));
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl AnthropicStream {
    fn usage(&mut self, usage: &Value) {
        let of = |name: &str| usage[name].as_u64();
        let cached =
            of("cache_creation_input_tokens").unwrap_or(0) + of("cache_read_input_tokens").unwrap_or(0);
        self.input = of("input_tokens").map(|input| input + cached).or(self.input);
        self.output = of("output_tokens").or(self.output);
    }

    fn answer(
        self,
        broken: Option<StreamBreak>,
        model: &AnthropicModel,
        request: &LlmRequest,
        deadline: Duration,
    ) -> Result<LlmAnswer, Error> {
        let host = model.server.host();
        // Text received before a break is billed, even if the server did not report its usage.
        let estimate = prices::estimate_usage(request, &self.text);
        let output = match (self.output, &self.stop) {
            (Some(output), Some(_)) => output,
            (output, _) => output.unwrap_or(0).max(estimate.output),
        };
        let usage = self.input.map(|input| TokenUsage { input, output });
        let cost = model.price.map(|price| price.cost_of(usage.unwrap_or(estimate)));
        let lost = |error: Error| Err(error.with_usage(usage, cost));
        match self.stop.as_deref() {
            Some("refusal") => return lost(failure_report::refusal_error("the model declined to answer")),
            Some("max_tokens" | "model_context_window_exceeded") if self.text.trim().is_empty() => {
                return lost(failure_report::internal_error(
                    "the model reached its token limit before it answered",
                ));
            }
            _ => {}
        }
        if self.text.trim().is_empty() {
            return lost(match self.failed {
                Some((kind, said)) => {
                    let said = failure_report::reported_text(&said, request, model.server.key());
                    let word = if kind.contains("overloaded") {
                        "is overloaded"
                    } else {
                        "failed during the answer"
                    };
                    failure_report::provider(BUSY_RETRY_AFTER, format!("{host} {word}{said}"))
                }
                None => stream::missing_answer_error(broken, self.nonsense, host, deadline),
            });
        }
        let whole = matches!(self.stop.as_deref(), Some("end_turn" | "stop_sequence"))
            && self.failed.is_none()
            && broken.is_none();
        Ok(LlmAnswer { text: self.text, whole, usage, cost })
    }
}
