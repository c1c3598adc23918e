//! OpenAI's chat completions, and all compatible servers: Ollama, llama.cpp, vLLM. They differ in the fields
//! that they accept, so rejected fields are left out, and in those that they return, so only the text is
//! required.

use std::ops::ControlFlow;
use std::time::Duration;

use rekindle_core::config::ModelName as Name;
use rekindle_core::llm::{Error, LanguageModel, LlmAnswer, LlmRequest, TokenUsage};
use serde_json::{Map, Value, json};

use super::http::{self, AnswerDeadline, LlmServer, OptionalField, StreamBreak};
use super::prices::{self, ModelPrice};
use super::stream::{self, AnswerParser};
use super::{answer_format, failure_report, within_budget};

const BUSY_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Request fields that some servers reject.
const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField { field: "max_tokens", words: &["max_tokens"], instead: Some("max_completion_tokens") },
    OptionalField { field: "temperature", words: &["temperature"], instead: None },
    OptionalField { field: "stream_options", words: &["stream_options", "include_usage"], instead: None },
    OptionalField {
        field: "response_format",
        words: &["response_format", "json_schema", "schema", "grammar"],
        instead: None,
    },
];

pub(super) struct OpenAiModel {
    server: LlmServer,
    name: Name,
    limit: Duration,
    price: Option<ModelPrice>,
}

impl OpenAiModel {
    pub(super) fn new(server: LlmServer, name: &Name, limit: Duration) -> Self {
        let official = server.host() == "api.openai.com";
        let price = prices::vendor_price("openai", name.name()).filter(|_| official);
        Self { server, name: name.clone(), limit, price }
    }

    fn body(&self, request: &LlmRequest) -> Map<String, Value> {
        let mut body = json!({
            "model": self.name.name(),
            "messages": [
                {"role": "system", "content": answer_format::instructions_with_schema(request, true)},
                {"role": "user", "content": request.prompt.material()},
            ],
            "max_tokens": request.budget.tokens,
            "temperature": 0,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(schema) = answer_format::schema(request) {
            let strict = answer_format::is_strict(schema);
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": strict, "schema": schema},
            });
        }
        match body {
            Value::Object(body) => body,
            _ => Map::new(),
        }
    }
}

impl LanguageModel for OpenAiModel {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        within_budget(self.price, request)?;
        let deadline = AnswerDeadline::new(request, self.limit);
        let key = self.server.key().map(|key| ("authorization", format!("Bearer {key}")));
        let headers: Vec<_> = key.into_iter().collect();
        let mut body = self.body(request);
        let response =
            self.server.ask("/chat/completions", &headers, &mut body, OPTIONAL_FIELDS, request, deadline)?;
        let (stream, broken) = stream::read_stream::<OpenAiStream>(response, deadline);
        stream.answer(broken, self, request, deadline.length)
    }
}

/// The part of the answer received so far.
#[derive(Debug, Default)]
struct OpenAiStream {
    text: String,
    usage: Option<TokenUsage>,
    /// The server's stop reason.
    stop: Option<String>,
    declined: bool,
    failed: Option<String>,
    nonsense: bool,
}

impl AnswerParser for OpenAiStream {
    fn event(&mut self, data: &str) -> ControlFlow<()> {
        if data.trim() == "[DONE]" {
            self.stop.get_or_insert_with(|| "stop".to_owned());
            return ControlFlow::Break(());
        }
        self.parse_part(data.as_bytes(), "delta");
        if self.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn parse_whole(&mut self, bytes: &[u8]) {
        self.parse_part(bytes, "message");
    }
}

impl OpenAiStream {
    fn parse_part(&mut self, data: &[u8], field: &str) {
        let Ok(part) = serde_json::from_slice::<Value>(data) else {
            self.nonsense = true;
            return;
        };
        if part.get("error").is_some_and(|error| !error.is_null()) {
            self.failed = Some(http::parse_error_body(&part.to_string()).1);
            return;
        }
        if let (Some(input), Some(output)) =
            (part["usage"]["prompt_tokens"].as_u64(), part["usage"]["completion_tokens"].as_u64())
        {
            self.usage = Some(TokenUsage { input, output });
        }
        let choice = &part["choices"][0];
        self.text.push_str(choice[field]["content"].as_str().unwrap_or_default());
        self.declined |= choice[field]["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty());
        if let Some(stop) = choice["finish_reason"].as_str() {
            self.stop = Some(stop.to_owned());
        }
        self.nonsense |= part.get("choices").is_none() && part.get("usage").is_none();
    }

    fn answer(
        self,
        broken: Option<StreamBreak>,
        model: &OpenAiModel,
        request: &LlmRequest,
        deadline: Duration,
    ) -> Result<LlmAnswer, Error> {
        let host = model.server.host();
        let usage = self.usage.unwrap_or_else(|| prices::estimate_usage(request, &self.text));
        let cost = model.price.map(|price| price.cost_of(usage));
        let lost = |error: Error| Err(error.with_usage(self.usage, cost));
        if self.declined {
            return lost(failure_report::refusal_error("the model declined to answer"));
        }
        if self.stop.as_deref() == Some("content_filter") {
            return lost(failure_report::refusal_error(format!(
                "{host} withheld the answer: its content filter blocked it"
            )));
        }
        let text = answer_format::strip_thinking(&self.text);
        if text.trim().is_empty() {
            return lost(match &self.failed {
                Some(said) => {
                    let said = failure_report::reported_text(said, request, model.server.key());
                    failure_report::provider(
                        BUSY_RETRY_AFTER,
                        format!("{host} failed during the answer{said}"),
                    )
                }
                None if broken.is_none() && self.stop.as_deref() == Some("length") => {
                    failure_report::internal_error("the model reached its token limit before it answered")
                }
                None => stream::missing_answer_error(broken, self.nonsense, host, deadline),
            });
        }
        let whole = self.stop.as_deref() == Some("stop") && self.failed.is_none() && broken.is_none();
        Ok(LlmAnswer { text: text.to_owned(), whole, usage: self.usage, cost })
    }
}
