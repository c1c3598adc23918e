//! Exports events to an OpenTelemetry collector (O11-01), if the person configured one.
//!
//! The table of events is the buffer: the database remembers the last event that the collector took, so nothing is
//! lost while it is away. It may get a batch twice after a failure. Hooks never export; the worker does it last,
//! and after a failure waits before it tries again.

use std::io::Read as _;
use std::time::Duration;

use jiff::SignedDuration;
use prost::Message as _;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::Timestamp;
use rekindle_core::config::OtlpSettings;
use rekindle_core::telemetry::TelemetryEvent;
use thiserror::Error;

use super::otlp;
use crate::platform::db::{self, Database, OptionalExtension, params};
use crate::platform::environment;
use crate::platform::http::{self, HttpBody, HttpMethod};

/// The most events in a batch.
const MAX_BATCH_EVENTS: i64 = 500;
/// The most batches at a time; the next worker sends the rest.
const MAX_BATCHES: usize = 20;
/// The time limit of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The minutes after a failure before the worker tries again.
const RETRY_MINUTES: i64 = 5;
/// The most bytes of a collector's answer that are read.
const MAX_RESPONSE_BYTES: u64 = 4096;

/// The reason why events were not exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The address would send events unencrypted to another machine.
    #[error("telemetry.otlp.url would send events to {host} without encryption")]
    Unencrypted {
        /// The host of the address.
        host: String,
    },
    /// The variable of headers cannot be parsed. Its value is never shown.
    #[error("{variable} is not a list of headers like name=value,name=value")]
    Headers {
        /// The name of the variable.
        variable: String,
    },
    /// The collector could not be reached, or did not answer in time.
    #[error("the collector at {url} does not answer: {cause}")]
    Unreachable {
        /// The address.
        url: String,
        /// The error of the connection.
        cause: String,
    },
    /// The collector refused a request.
    #[error("the collector at {url} answered {status}{reason}")]
    Refused {
        /// The address with its path.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it says, after a colon; empty if it says nothing.
        reason: String,
    },
    /// The database could not be read.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl ExportError {
    /// The advice to the user for each error.
    pub fn hint(&self) -> String {
        match self {
            Self::Unencrypted { .. } => "use https://, or a collector on this machine".to_owned(),
            Self::Headers { variable } => format!("set {variable} again, or unset it"),
            Self::Unreachable { .. } => {
                "start the collector, or set telemetry.otlp.url; events are kept for 30 days".to_owned()
            }
            Self::Refused { status: 401 | 403, .. } => {
                "check the headers in the variable that telemetry.otlp.headers_variable names".to_owned()
            }
            Self::Refused { status: 404, .. } => {
                "check telemetry.otlp.url: the address of OTLP over HTTP, without /v1/logs".to_owned()
            }
            Self::Refused { .. } => {
                "the log of the collector says more; events are kept for 30 days".to_owned()
            }
            Self::Database(error) => error.hint(),
        }
    }
}

/// What was sent to the collector, and the last failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportState {
    /// The number of stored events that the collector has not taken.
    pub waiting: u64,
    /// The last time the collector took a batch.
    pub sent_at: Option<Timestamp>,
    /// The last failure after that.
    pub failed_at: Option<Timestamp>,
    /// Why it failed.
    pub error: Option<String>,
    /// The number in the table of the last event that the collector took.
    number: i64,
}

/// Reads the state of the export to the configured collector.
pub fn state(db: &Database, settings: &OtlpSettings) -> Result<ExportState, db::Error> {
    db.run(|connection| {
        let known = connection
            .query_row(
                "SELECT number, sent_at, failed_at, error FROM otel_export WHERE url = ?1",
                [&settings.url],
                |row| {
                    Ok((
                        row.get(0)?,
                        row.get::<_, Option<i64>>(1)?,
                        row.get::<_, Option<i64>>(2)?,
                        row.get(3)?,
                    ))
                },
            )
            .optional()?;
        let (number, sent, failed, error) = known.unwrap_or_default();
        let waiting: i64 =
            connection.query_row("SELECT count(*) FROM otel_events WHERE number > ?1", [number], |row| {
                row.get(0)
            })?;
        let time = |at: Option<i64>| Timestamp::from_millisecond(at?).ok();
        Ok(ExportState {
            waiting: u64::try_from(waiting).unwrap_or(0),
            sent_at: time(sent),
            failed_at: time(failed),
            error,
            number,
        })
    })
}

/// Exports what is new, unless the last try failed a moment ago. The state keeps a failure.
pub fn export_in_background(db: &mut Database, settings: &OtlpSettings, now: Timestamp) {
    let Ok(state) = state(db, settings) else { return };
    let recently = SignedDuration::from_mins(RETRY_MINUTES);
    // A failure in the future is from a clock that was wrong.
    if !settings.enabled || state.failed_at.is_some_and(|at| now.duration_since(at).abs() < recently) {
        return;
    }
    export(db, settings, now).ignore_failure("the state has it, and `health` and `doctor` show it");
}

/// Exports what is new. Returns the number of events.
pub fn export(db: &mut Database, settings: &OtlpSettings, now: Timestamp) -> Result<u64, ExportError> {
    let sent = send_new(db, settings, now);
    if let Err(error) = &sent {
        let (url, at, error) = (&settings.url, now.as_millisecond(), error.to_string());
        db.change(|transaction| {
            transaction.execute(
                "INSERT INTO otel_export (url, number, failed_at, error) VALUES (?1, 0, ?2, ?3)
                 ON CONFLICT (url) DO UPDATE SET failed_at = ?2, error = ?3",
                params![url, at, error],
            )
        })
        .ignore_failure("the caller reports the failure itself");
    }
    sent
}

fn send_new(db: &mut Database, settings: &OtlpSettings, now: Timestamp) -> Result<u64, ExportError> {
    let collector = Collector::new(settings)?;
    let mut last = state(db, settings)?.number;
    let mut sent = 0;
    for _ in 0..MAX_BATCHES {
        let (events, number) = next_batch(db, last)?;
        if number == last {
            break;
        }
        if !events.is_empty() {
            collector.send("/v1/logs", &otlp::logs(&events).encode_to_vec())?;
            collector.send("/v1/traces", &otlp::spans(&events).encode_to_vec())?;
            // Last, because it is the one that counts twice if it is sent twice.
            collector.send("/v1/metrics", &otlp::metrics(&events).encode_to_vec())?;
        }
        db.change(|transaction| {
            transaction.execute(
                "INSERT INTO otel_export (url, number, sent_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (url) DO UPDATE SET number = ?2, sent_at = ?3, failed_at = NULL, error = NULL",
                params![settings.url, number, now.as_millisecond()],
            )
        })?;
        (last, sent) = (number, sent + events.len() as u64);
    }
    Ok(sent)
}

/// The next events, and the number of the last row. A damaged row is passed over.
fn next_batch(db: &Database, after: i64) -> Result<(Vec<TelemetryEvent>, i64), db::Error> {
    let rows: Vec<(i64, String)> = db.run(|connection| {
        connection
            .prepare("SELECT number, data FROM otel_events WHERE number > ?1 ORDER BY number LIMIT ?2")?
            .query_map([after, MAX_BATCH_EVENTS], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    })?;
    let last = rows.last().map_or(after, |(number, _)| *number);
    Ok((rows.iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect(), last))
}

/// A collector of OTLP over HTTP.
struct Collector<'a> {
    url: &'a str,
    headers: Vec<(String, String)>,
}

impl<'a> Collector<'a> {
    fn new(settings: &'a OtlpSettings) -> Result<Self, ExportError> {
        let url = settings.url.trim_end_matches('/');
        if !http::is_private_url(url) {
            return Err(ExportError::Unencrypted { host: http::host(url) });
        }
        let variable = &settings.headers_variable;
        let headers = parse_headers(&environment::variable(variable).unwrap_or_default())
            .ok_or_else(|| ExportError::Headers { variable: variable.clone() })?;
        Ok(Self { url, headers })
    }

    fn send(&self, path: &str, message: &[u8]) -> Result<(), ExportError> {
        let url = format!("{}{path}", self.url);
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let body = HttpBody { content_type: "application/x-protobuf", bytes: message };
        let mut answer =
            http::ask(HttpMethod::Post, &url, &headers, Some(body), REQUEST_TIMEOUT).map_err(|error| {
                ExportError::Unreachable { url: self.url.to_owned(), cause: error.to_string() }
            })?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        answer
            .body_mut()
            .as_reader()
            .take(MAX_RESPONSE_BYTES)
            .read_to_end(&mut bytes)
            .map(drop)
            .ignore_failure("the status says enough");
        Err(ExportError::Refused { url, status, reason: reason(&bytes) })
    }
}

/// The first words of an answer that is text, after a colon.
fn reason(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let words: String = text.lines().next().unwrap_or_default().chars().take(120).collect();
    let is_text =
        !words.is_empty() && !words.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER);
    if is_text { format!(": {words}") } else { String::new() }
}

/// Parses headers like `name=value,name=value`. Values may have `%XX` for bytes (W3C Baggage).
fn parse_headers(text: &str) -> Option<Vec<(String, String)>> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (name, value) = entry.split_once('=')?;
            let (name, value) = (name.trim(), decode_percent(value.trim())?);
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let is_valid =
                !name.is_empty() && name.chars().all(is_name) && !value.chars().any(char::is_control);
            is_valid.then(|| (name.to_ascii_lowercase(), value))
        })
        .collect()
}

fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = match first {
            b'%' => {
                let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, tail.get(2..)?)
            }
            byte => (*byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed_as_opentelemetry_writes_them() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let parsed = parse_headers("Authorization=Bearer%20abc==, x-scope = a ,").unwrap();
        assert_eq!(parsed, [pair("authorization", "Bearer abc=="), pair("x-scope", "a")]);
        assert_eq!(parse_headers(""), Some(Vec::new()));
        for bad in ["authorization", "=x", "a b=c", "a=%0d%0a", "a=%zz", "a=%2"] {
            assert_eq!(parse_headers(bad), None, "{bad}");
        }
    }
}
