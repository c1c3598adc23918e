//! HTTP access to a model server: its address, the request and the meaning of its refusals.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::config;
use rekindle_core::llm::{Error, LlmRequest};
use serde_json::{Map, Value};

use super::{ProviderEnvironment, failure_report};
use crate::platform::http::{self, HttpBody, HttpMethod, retry_after};
pub(super) use crate::platform::http::{host, is_encrypted, is_local};

/// The maximum length of a refusal.
const MAX_ERROR_BYTES: u64 = 64 * 1024;
/// The variables that hold keys to the makers' own servers. They are never sent without encryption: a
/// self-hosted server has no use for them.
const VENDOR_KEY_VARIABLES: [&str; 2] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];
/// The maximum number of fields left out of a request after refusals.
const MAX_OMITTED_FIELDS: usize = 4;
/// The default retry delays: the server is busy, broken, or not reachable.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(60);
const SERVER_ERROR_RETRY_AFTER: Duration = Duration::from_secs(20);
const UNREACHABLE_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A server and its key.
pub(super) struct LlmServer {
    url: String,
    host: String,
    key: Option<String>,
    key_variable: String,
    /// The settings table of the server, such as `llm.openai`.
    table: &'static str,
}

/// The time limit of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerDeadline {
    until: Instant,
    pub(super) length: Duration,
}

impl AnswerDeadline {
    /// Starts now and ends with the caller's deadline or the settings' limit, whichever is earlier.
    pub(super) fn new(request: &LlmRequest, limit: Duration) -> Self {
        let length = request.deadline.min(limit);
        Self { until: Instant::now() + length, length }
    }

    pub(super) fn remaining(self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// The reason why a connection ended before the answer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamBreak {
    /// The deadline passed before the end.
    Late,
    /// The connection broke before the end.
    Cut,
}

impl StreamBreak {
    pub(super) fn from_error(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match (error.kind(), inner) {
            (io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock, _) | (_, Some(ureq::Error::Timeout(_))) => {
                Self::Late
            }
            _ => Self::Cut,
        }
    }
}

/// A request field that some servers reject.
pub(super) struct OptionalField {
    /// The name of the field.
    pub(super) field: &'static str,
    /// The words that name the field in a refusal.
    pub(super) words: &'static [&'static str],
    /// The field to send instead.
    pub(super) instead: Option<&'static str>,
}

/// A response whose body has not been read.
pub(super) struct LlmResponse {
    /// True if the body is a stream of events.
    pub(super) is_stream: bool,
    /// The body, not read yet.
    pub(super) body: Box<dyn Read>,
}

impl LlmServer {
    /// The server of a settings table. Its key comes from the environment only (SEC-04).
    pub(super) fn new(
        table: &'static str,
        settings: &config::ServerSettings,
        around: &ProviderEnvironment,
    ) -> Result<Self, Error> {
        let (url, variable) = (settings.url.trim_end_matches('/'), &settings.key_variable);
        let host = host(url);
        if host.is_empty() {
            return Err(failure_report::user_error(format!(
                "{table}.url is `{url}`, which is not a URL; write it as https://host/path"
            )));
        }
        let local = is_local(&host);
        if !is_encrypted(url) && !local {
            return Err(failure_report::user_error(format!(
                "{table}.url would send session text to {host} without encryption; use https://, or a server on this machine or a private network"
            )));
        }
        let shown = is_encrypted(url) || !VENDOR_KEY_VARIABLES.contains(&variable.as_str());
        let key = around.variable(variable).filter(|_| shown).map(|key| key.trim().to_owned());
        match &key {
            None if !local => {
                return Err(failure_report::user_error(format!(
                    "no API key: set {variable} in the environment"
                )));
            }
            Some(key) if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) => {
                return Err(failure_report::user_error(format!("the value of {variable} is not a key")));
            }
            _ => {}
        }
        Ok(Self { url: url.to_owned(), host, key, key_variable: variable.clone(), table })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Sends a request, and again without each optional field that the server rejects.
    pub(super) fn ask(
        &self,
        path: &str,
        headers: &[(&str, String)],
        body: &mut Map<String, Value>,
        optional: &[OptionalField],
        request: &LlmRequest,
        deadline: AnswerDeadline,
    ) -> Result<LlmResponse, Error> {
        for _ in 0..MAX_OMITTED_FIELDS {
            let sent = Value::Object(body.clone()).to_string();
            let mut response = self.post(path, headers, &sent, deadline)?;
            let status = response.status().as_u16();
            if (200..300).contains(&status) {
                let is_stream = response.body().mime_type() == Some("text/event-stream");
                return Ok(LlmResponse { is_stream, body: Box::new(response.into_body().into_reader()) });
            }
            let wait = retry_after(response.headers());
            let text = refusal(&mut response);
            if matches!(status, 400 | 422 | 501)
                && let Some(objection) = rejected_field(body, optional, &text)
            {
                let value = body.remove(objection.field);
                if let (Some(instead), Some(value)) = (objection.instead, value) {
                    body.insert(instead.to_owned(), value);
                }
                continue;
            }
            return Err(self.refusal_error(status, wait, &text, request));
        }
        Err(failure_report::internal_error(format!("{} rejects every form of the request", self.host)))
    }

    fn post(
        &self,
        path: &str,
        headers: &[(&str, String)],
        body: &str,
        deadline: AnswerDeadline,
    ) -> Result<http::HttpResponse, Error> {
        let left = deadline.remaining();
        if left.is_zero() {
            return Err(Error::timed_out(deadline.length));
        }
        let url = format!("{}{path}", self.url);
        http::ask(HttpMethod::Post, &url, headers, Some(HttpBody::json(body)), left)
            .map_err(|error| self.unreachable(&error, deadline.length))
    }

    fn unreachable(&self, error: &ureq::Error, deadline: Duration) -> Error {
        let (host, table) = (&self.host, self.table);
        match error {
            ureq::Error::Timeout(_) => Error::timed_out(deadline),
            ureq::Error::HostNotFound => failure_report::provider(
                UNREACHABLE_RETRY_AFTER,
                format!("cannot resolve {host}; check the network and {table}.url"),
            ),
            ureq::Error::Io(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
                failure_report::provider(
                    UNREACHABLE_RETRY_AFTER,
                    format!("cannot connect to {}; check that the server is running", self.url),
                )
            }
            ureq::Error::Io(cause) => failure_report::provider(
                SERVER_ERROR_RETRY_AFTER,
                format!("lost the connection to {host}: {}", cause.kind()),
            ),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
                failure_report::user_error(format!("{host} has no trusted certificate"))
            }
            ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => failure_report::provider(
                SERVER_ERROR_RETRY_AFTER,
                format!("{host} does not answer with valid HTTP"),
            ),
            _ => failure_report::provider(SERVER_ERROR_RETRY_AFTER, format!("the request to {host} failed")),
        }
    }

    /// Maps a refusal to an error.
    fn refusal_error(&self, status: u16, wait: Option<Duration>, text: &str, request: &LlmRequest) -> Error {
        let host = &self.host;
        let (kind, words) = parse_error_body(text);
        let said = failure_report::reported_text(&words, request, self.key());
        let no_credit = ["insufficient_quota", "billing_error", "credit balance"];
        if no_credit.iter().any(|sign| kind.contains(sign) || words.contains(sign)) {
            return failure_report::user_error(format!("{host} reports no credit{said}"));
        }
        match status {
            401 | 403 if self.key.is_none() => {
                let variable = &self.key_variable;
                let what = match VENDOR_KEY_VARIABLES.contains(&variable.as_str()) {
                    true => format!(
                        "put it in a variable other than {variable}, and name that variable in {}.key_variable",
                        self.table
                    ),
                    false => format!("set {variable} in the environment"),
                };
                failure_report::user_error(format!("{host} requires an API key: {what}{said}"))
            }
            401 | 403 => failure_report::user_error(format!(
                "{host} rejected the key in {} ({status}){said}",
                self.key_variable
            )),
            402 => failure_report::user_error(format!("{host} reports no credit{said}")),
            404 => failure_report::user_error(format!(
                "{host} does not know this model, or {}.url is wrong{said}",
                self.table
            )),
            300..=399 => failure_report::user_error(format!(
                "{host} redirects, and Rekindle follows no redirects; set {}.url to the final address",
                self.table
            )),
            413 => failure_report::internal_error(format!("the request is too long for {host}{said}")),
            408 | 409 | 425 | 429 => failure_report::provider(
                wait.unwrap_or(BUSY_RETRY_AFTER),
                format!("{host} reports a rate limit{said}"),
            ),
            503 | 529 => failure_report::provider(
                wait.unwrap_or(BUSY_RETRY_AFTER),
                format!("{host} is overloaded{said}"),
            ),
            500.. => failure_report::provider(
                wait.unwrap_or(SERVER_ERROR_RETRY_AFTER),
                format!("{host} failed ({status}){said}"),
            ),
            _ => failure_report::internal_error(format!("{host} rejected the request ({status}){said}")),
        }
    }
}

/// The field that a refusal is about. If none is named, the schema is the most likely: it comes first in the
/// list.
fn rejected_field<'a>(
    body: &Map<String, Value>,
    optional: &'a [OptionalField],
    text: &str,
) -> Option<&'a OptionalField> {
    let there: Vec<&OptionalField> = optional.iter().filter(|part| body.contains_key(part.field)).collect();
    let text = text.to_lowercase();
    let is_named = |part: &&&OptionalField| part.words.iter().any(|word| text.contains(word));
    let schema = |part: &&&OptionalField| part.instead.is_none() && part.words.contains(&"schema");
    there.iter().find(is_named).or_else(|| there.iter().find(schema)).copied()
}

fn refusal(response: &mut http::HttpResponse) -> String {
    let mut bytes = Vec::new();
    response
        .body_mut()
        .as_reader()
        .take(MAX_ERROR_BYTES)
        .read_to_end(&mut bytes)
        .ignore_failure("a partial refusal is still useful");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The error type and message of a refusal, in the formats that servers use.
pub(super) fn parse_error_body(text: &str) -> (String, String) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        // The HTML page of a proxy is no use in a message.
        let plain = if text.trim_start().starts_with('<') { "" } else { text };
        return (String::new(), plain.to_owned());
    };
    let error = value.get("error").unwrap_or(&value);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind =
        [error.get("code"), error.get("type")].into_iter().flatten().find_map(text).unwrap_or_default();
    let messages = [error.get("message"), value.get("message"), value.get("detail"), Some(error)];
    (kind, messages.into_iter().flatten().find_map(text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_in_all_their_forms() {
        for (text, kind, said) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "overloaded_error",
                "Overloaded",
            ),
            (
                r#"{"error":{"message":"m","type":"t","code":"insufficient_quota"}}"#,
                "insufficient_quota",
                "m",
            ),
            (r#"{"error":"model not found"}"#, "", "model not found"),
            (r#"{"detail":"nope"}"#, "", "nope"),
            ("plain", "", "plain"),
            ("<html><body>502</body></html>", "", ""),
            ("{\"error\":{}}", "", ""),
            ("[1]", "", ""),
        ] {
            assert_eq!(parse_error_body(text), (kind.to_owned(), said.to_owned()), "{text}");
        }
    }
}
