//! HTTP client for a review service: the key comes from the environment, requests have a deadline, and errors
//! hold nothing of the request.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use rekindle_core::text::clean::one_line;
use rekindle_core::text::clean_and_redact;
use serde_json::Value;

use super::SYNC_TIMEOUT;
use crate::platform::environment;
use crate::platform::http::{self, HttpBody, HttpMethod};

/// The deadline of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// The size limit of a response, in bytes.
const MAX_RESPONSE_BYTES: u64 = 8 * 1024 * 1024;
/// The length limit of a service's error text.
const MAX_REPORTED_CHARS: usize = 120;

/// The reason a service call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The problem and its remedy.
    pub message: String,
    /// The pause that the service asked for.
    pub after: Option<Duration>,
    /// True if the request may have succeeded.
    pub maybe_done: bool,
}

impl ApiError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { message: what.into(), after: None, maybe_done: false }
    }

    fn maybe(what: String) -> Self {
        Self { maybe_done: true, ..Self::new(what) }
    }
}

/// A response: 2xx, or a meaningful refusal.
pub(super) struct ApiResponse {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl ApiResponse {
    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The error text of a refusal, short and on one line.
    pub(super) fn refusal_text(&self) -> String {
        let words = [self.body.get("description"), self.body.get("error")];
        let words = words.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
        one_line(&clean_and_redact(words).text, MAX_REPORTED_CHARS)
    }
}

/// A service and its key.
pub(super) struct ApiClient {
    pub(super) url: String,
    pub(super) key: String,
    host: String,
    key_variable: String,
    until: Instant,
}

impl ApiClient {
    /// Creates the client of a table of settings.
    pub(super) fn new(table: &str, url: &str, key_variable: &str) -> Result<Self, ApiError> {
        let url = url.trim_end_matches('/').to_owned();
        let host = http::host(&url);
        if host.is_empty() {
            return Err(ApiError::new(format!(
                "{table}.url is `{url}`, which is not a URL; write it as https://host/path"
            )));
        }
        if !http::is_private_url(&url) {
            return Err(ApiError::new(format!(
                "{table}.url would send proposals to {host} without encryption; use https://, or a server on this machine"
            )));
        }
        let key = environment::variable(key_variable).map(|key| key.trim().to_owned()).unwrap_or_default();
        if key.is_empty() {
            return Err(ApiError::new(format!(
                "no API key: set {key_variable} in the environment of your agents and of `rekindle worker`"
            )));
        }
        if !key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.')) {
            return Err(ApiError::new(format!("the value of {key_variable} is not a key")));
        }
        let key_variable = key_variable.to_owned();
        Ok(Self { url, key, host, key_variable, until: Instant::now() + SYNC_TIMEOUT })
    }

    /// Sends one request. `path` may hold the key, which no error shows.
    pub(super) fn ask(
        &self,
        method: HttpMethod,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&Value>,
    ) -> Result<ApiResponse, ApiError> {
        let left = self.until.saturating_duration_since(Instant::now()).min(REQUEST_TIMEOUT);
        if left.is_zero() {
            return Err(ApiError::new(format!("{} takes too long; the rest will be sent later", self.host)));
        }
        let body = body.map(Value::to_string);
        let url = format!("{}{path}", self.url);
        let mut answer = http::ask(method, &url, headers, body.as_deref().map(HttpBody::json), left)
            .map_err(|error| self.unreachable(&error))?;
        let (status, wait) = (answer.status().as_u16(), http::retry_after(answer.headers()));
        let mut bytes = Vec::new();
        let read = answer.body_mut().as_reader().take(MAX_RESPONSE_BYTES).read_to_end(&mut bytes);
        let body: Option<Value> = match bytes.is_empty() {
            true => Some(Value::Null),
            false => serde_json::from_slice(&bytes).ok(),
        };
        let answered = ApiResponse { status, body: body.clone().unwrap_or_default() };
        let host = &self.host;
        let retry_after = answered.body["parameters"]["retry_after"].as_u64().map(Duration::from_secs);
        match status {
            401 => Err(ApiError::new(format!("{host} rejected the key in {}", self.key_variable))),
            300..=399 => Err(ApiError::new(format!(
                "{host} redirects, and Rekindle follows no redirects; check its URL"
            ))),
            408 | 425 | 429 => Err(ApiError {
                after: wait.or(retry_after),
                ..ApiError::new(format!("{host} reports a rate limit"))
            }),
            500.. => Err(ApiError { after: wait, ..ApiError::maybe(format!("{host} failed ({status})")) }),
            200..=299 if read.is_err() || body.is_none() => {
                Err(ApiError::maybe(format!("{host} sent an invalid answer")))
            }
            _ => Ok(answered),
        }
    }

    /// Converts an unexpected refusal to an error.
    pub(super) fn unexpected_refusal(&self, answered: &ApiResponse) -> ApiError {
        let reason = answered.refusal_text();
        let colon = if reason.is_empty() { "" } else { ": " };
        ApiError::new(format!("{} rejected the request ({}){colon}{reason}", self.host, answered.status))
    }

    fn unreachable(&self, error: &ureq::Error) -> ApiError {
        let host = &self.host;
        match error {
            ureq::Error::Timeout(_) => ApiError::maybe(format!("{host} did not answer in time")),
            ureq::Error::HostNotFound => ApiError::new(format!("cannot resolve {host}; check the network")),
            ureq::Error::Io(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
                ApiError::new(format!("cannot connect to {host}"))
            }
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
                ApiError::new(format!("{host} has no trusted certificate"))
            }
            _ => ApiError::maybe(format!("lost the connection to {host}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rekindle_testkit::{ScriptedServer, ServerReply};

    use super::*;

    fn api(server: &ScriptedServer, patience: Duration) -> ApiClient {
        ApiClient {
            url: server.url().to_owned(),
            key: "k-123".to_owned(),
            host: "127.0.0.1".to_owned(),
            key_variable: "SOME_KEY".to_owned(),
            until: Instant::now() + patience,
        }
    }

    fn trouble(reply: ServerReply) -> ApiError {
        let server = ScriptedServer::new([reply]);
        let api = api(&server, Duration::from_secs(1));
        let asked = api.ask(HttpMethod::Post, "/botk-123/send", &[], Some(&Value::Null));
        asked.map(|answered| answered.status).unwrap_err()
    }

    #[test]
    fn what_may_have_been_done_is_told_from_what_was_not() {
        for (reply, maybe_done) in [
            (ServerReply::json(200, "{}").slow(Duration::from_secs(3)), true),
            (ServerReply::json(200, "{}").cut(), true),
            (ServerReply::json(200, "<html>"), true),
            (ServerReply::json(500, "{}"), true),
            (ServerReply::json(401, "{}"), false),
            (ServerReply::json(429, "{}"), false),
            (ServerReply::json(307, "").header("location", "http://127.0.0.1:1/"), false),
        ] {
            let trouble = trouble(reply.clone());
            assert_eq!(trouble.maybe_done, maybe_done, "{reply:?}: {trouble:?}");
            assert!(!trouble.message.contains("k-123") && !trouble.message.contains("/bot"), "{trouble:?}");
        }
    }

    #[test]
    fn both_ways_to_ask_for_a_pause_are_heard() {
        let header = ServerReply::json(429, "{}").header("retry-after", "9");
        let body = ServerReply::json(429, r#"{"ok":false,"parameters":{"retry_after":7}}"#);
        assert_eq!(trouble(header).after, Some(Duration::from_secs(9)));
        assert_eq!(trouble(body).after, Some(Duration::from_secs(7)));
    }

    #[test]
    fn no_request_is_sent_after_the_deadline() {
        let server = ScriptedServer::new([]);
        let asked = api(&server, Duration::ZERO).ask(HttpMethod::Get, "/", &[], None);
        assert!(
            asked.is_err_and(|trouble| trouble.message.contains("takes too long") && !trouble.maybe_done)
        );
        assert!(server.received().is_empty());
    }

    #[test]
    fn refusals_that_mean_something_are_handed_on() {
        let server = ScriptedServer::new([
            ServerReply::json(404, r#"{"error":"Task not found"}"#),
            ServerReply::json(409, r#"{"ok":false,"description":"Conflict:\nwebhook"}"#),
            ServerReply::json(204, ""),
        ]);
        let api = api(&server, Duration::from_secs(5));
        let said: Vec<(u16, String)> = (0..3)
            .map(|_| {
                api.ask(HttpMethod::Get, "/", &[], None)
                    .map(|answered| (answered.status, answered.refusal_text()))
                    .unwrap()
            })
            .collect();
        let expected = [(404, "Task not found"), (409, "Conflict: webhook"), (204, "")];
        assert_eq!(said, expected.map(|(status, said)| (status, said.to_owned())));
    }
}
