//! Server-sent events: reads an answer as it arrives. Data received before a broken connection is kept.

use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::time::Duration;

use rekindle_core::llm::Error;

use super::failure_report;
use super::http::{AnswerDeadline, LlmResponse, StreamBreak};

/// The maximum size of an answer.
const MAX_ANSWER_BYTES: u64 = 8 * 1024 * 1024;

/// A provider's parser of an answer in progress.
pub(super) trait AnswerParser: Default {
    /// Handles the next event of a stream; says whether to continue.
    fn event(&mut self, data: &str) -> ControlFlow<()>;

    /// Handles a complete answer, from a server that does not stream.
    fn parse_whole(&mut self, bytes: &[u8]);
}

/// Reads an answer until it ends. Returns the reason if it ended early.
pub(super) fn read_stream<H: AnswerParser>(
    response: LlmResponse,
    deadline: AnswerDeadline,
) -> (H, Option<StreamBreak>) {
    let mut answer = H::default();
    if !response.is_stream {
        let mut bytes = Vec::new();
        return match response.body.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes) {
            Ok(_) => {
                answer.parse_whole(&bytes);
                (answer, None)
            }
            Err(error) => (answer, Some(StreamBreak::from_error(&error))),
        };
    }
    for event in EventStream::new(response.body) {
        match event {
            Ok(data) if answer.event(&data).is_break() => return (answer, None),
            Ok(_) if deadline.remaining().is_zero() => return (answer, Some(StreamBreak::Late)),
            Ok(_) => {}
            Err(broken) => return (answer, Some(broken)),
        }
    }
    (answer, None)
}

/// The error for an empty answer, if the server gave no reason.
pub(super) fn missing_answer_error(
    broken: Option<StreamBreak>,
    nonsense: bool,
    host: &str,
    deadline: Duration,
) -> Error {
    match broken {
        Some(StreamBreak::Late) => Error::timed_out(deadline),
        Some(StreamBreak::Cut) => failure_report::provider(
            Duration::ZERO,
            format!("lost the connection to {host} before the answer"),
        ),
        None if nonsense => {
            failure_report::provider(Duration::ZERO, format!("{host} sent an invalid answer"))
        }
        None => failure_report::provider(Duration::ZERO, "the answer is empty"),
    }
}

/// An iterator over the data of a stream's events.
struct EventStream<R> {
    lines: BufReader<std::io::Take<R>>,
}

impl<R: Read> EventStream<R> {
    fn new(body: R) -> Self {
        Self { lines: BufReader::new(body.take(MAX_ANSWER_BYTES)) }
    }
}

impl<R: Read> Iterator for EventStream<R> {
    type Item = Result<String, StreamBreak>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut data: Option<String> = None;
        loop {
            let mut line = Vec::new();
            match self.lines.read_until(b'\n', &mut line) {
                // An unfinished event is dropped, unless only the blank line is missing.
                Ok(0) => return data.map(Ok),
                Ok(_) => {}
                Err(error) => return Some(Err(StreamBreak::from_error(&error))),
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() {
                if let Some(data) = data.take() {
                    return Some(Ok(data));
                }
            } else if let Some(value) = line.strip_prefix("data:") {
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => data = Some(value.to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<String> {
        EventStream::new(text.as_bytes()).map(Result::unwrap).collect()
    }

    #[test]
    fn events_are_their_data() {
        let text =
            ": hello\nevent: a\ndata: {\"x\":1}\n\ndata:two\r\ndata: lines\r\n\r\n\n\nid: 3\ndata: last";
        assert_eq!(all(text), ["{\"x\":1}", "two\nlines", "last"]);
        assert!(all("").is_empty() && all("event: ping\n\n").is_empty());
    }

    proptest! {
        #[test]
        fn what_is_sent_arrives(texts in prop::collection::vec("[^\r\n]{1,30}(\n[^\r\n]{1,30}){0,2}", 0..6)) {
            let sent: String = texts.iter().map(|text| {
                let lines: String = text.split('\n').map(|line| format!("data: {line}\n")).collect();
                format!("event: x\n{lines}\n")
            }).collect();
            prop_assert_eq!(all(&sent), texts);
        }
    }
}
