//! Standard input and output as a transport: a thread reads lines, and every answer is written whole.

use std::collections::HashSet;
use std::future::{Future, ready};
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

use super::input_filter::{self, LineDecision};

/// The longest message, in bytes. A memory has at most a megabyte, and JSON escapes a byte with up to six.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// The number of lines buffered while others are judged.
const MAX_WAITING_LINES: usize = 16;

/// An event of the reader.
enum StdinLine {
    Line(Vec<u8>),
    TooLong,
    End,
}

/// The connection to the client.
pub(super) struct StdioTransport {
    input: Receiver<StdinLine>,
    /// Ends the server once the client stops reading.
    end: Sender<StdinLine>,
    open: bool,
    /// The ids of unanswered requests, in their original form.
    open_requests: Arc<Mutex<HashSet<String>>>,
}

impl StdioTransport {
    pub(super) fn stdio() -> Self {
        let (sender, input) = channel(MAX_WAITING_LINES);
        let end = sender.clone();
        std::thread::spawn(move || read(&mut io::stdin().lock(), &sender));
        Self { input, end, open: false, open_requests: Arc::default() }
    }
}

fn read(input: &mut impl BufRead, to: &Sender<StdinLine>) {
    loop {
        // A read error ends the input.
        let next = next_line(input).unwrap_or(StdinLine::End);
        let is_end = matches!(next, StdinLine::End);
        if to.blocking_send(next).is_err() || is_end {
            return;
        }
    }
}

/// Reads the next line without its end. A line that is too long is skipped, not buffered.
fn next_line(input: &mut impl BufRead) -> io::Result<StdinLine> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let chunk = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            let nothing = line.is_empty() && !too_long;
            return Ok(if nothing { StdinLine::End } else { line_or_too_long(line, too_long) });
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long |= line.len() + part.len() > MAX_LINE_BYTES;
        match too_long {
            true => line.clear(),
            false => line.extend_from_slice(part),
        }
        let used = end.map_or(chunk.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(line_or_too_long(line, too_long));
        }
    }
}

fn line_or_too_long(line: Vec<u8>, too_long: bool) -> StdinLine {
    if too_long { StdinLine::TooLong } else { StdinLine::Line(line) }
}

fn lock(asked: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes one message. Lines of concurrent answers never mix.
fn write(message: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

impl StdioTransport {
    /// Handles a line; returns the message for the SDK, if there is one.
    fn accept_line(&mut self, line: &[u8]) -> io::Result<Option<ClientJsonRpcMessage>> {
        match input_filter::decide_line(line, self.open) {
            LineDecision::Ignore => Ok(None),
            LineDecision::Answer(answer) => write(&answer).map(|()| None),
            LineDecision::Pass(message) => {
                match &*message {
                    JsonRpcMessage::Request(request) => {
                        if !lock(&self.open_requests).insert(request.id.to_string()) {
                            let id = serde_json::to_value(&request.id).unwrap_or(Value::Null);
                            return write(&input_filter::duplicate_id_error(&id)).map(|()| None);
                        }
                        self.open |= input_filter::is_initialize(&message);
                    }
                    JsonRpcMessage::Notification(notification) => {
                        if let ClientNotification::CancelledNotification(cancelled) =
                            &notification.notification
                            && let Some(id) = &cancelled.params.request_id
                        {
                            lock(&self.open_requests).remove(&id.to_string());
                        }
                    }
                    _ => {}
                }
                Ok(Some(*message))
            }
        }
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &item {
            JsonRpcMessage::Response(response) => {
                lock(&self.open_requests).remove(&response.id.to_string());
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    lock(&self.open_requests).remove(&id.to_string());
                }
            }
            _ => {}
        }
        let written = write(&item);
        if written.is_err() {
            // The client stopped reading.
            self.end
                .try_send(StdinLine::End)
                .ignore_failure("if the channel is full, the next answer fails here again");
        }
        ready(written)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let taken = match self.input.recv().await? {
                StdinLine::End => return None,
                StdinLine::TooLong => write(&input_filter::too_long_error(MAX_LINE_BYTES)).map(|()| None),
                StdinLine::Line(line) => self.accept_line(&line),
            };
            match taken {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], chunk: usize) -> Vec<Option<Vec<u8>>> {
        let mut input = io::BufReader::with_capacity(chunk, bytes);
        let mut all = Vec::new();
        loop {
            match next_line(&mut input).unwrap() {
                StdinLine::End => return all,
                StdinLine::Line(line) => all.push(Some(line)),
                StdinLine::TooLong => all.push(None),
            }
        }
    }

    #[test]
    fn lines_are_read_whole_whatever_pieces_they_come_in() {
        for chunk in [1, 2, 7, 100] {
            let read = lines(b"one\n\ntwo two\nlast", chunk);
            let expected: Vec<Option<Vec<u8>>> =
                ["one", "", "two two", "last"].map(|line| Some(line.into())).to_vec();
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let mut bytes = vec![b'x'; MAX_LINE_BYTES + 1];
        bytes.extend(b"\nnext\n");
        assert_eq!(lines(&bytes, 8192), [None, Some(b"next".to_vec())]);
    }
}
