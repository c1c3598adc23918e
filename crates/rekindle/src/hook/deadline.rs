//! The deadline of a hook process. An agent waits until the process ends, so it must end in time even with a
//! slow disk or an open pipe.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::hosts::hook::HookKind;
use rekindle_engine::platform::background;
use serde::de::IgnoredAny;

/// The time limit of a session start, or of an event without an answer (BRF-06).
const EVENT_TIMEOUT: Duration = Duration::from_millis(500);
/// The time limit of a prompt or a tool call (BRF-07).
const PROMPT_TIMEOUT: Duration = Duration::from_millis(300);
/// The part of the time limit reserved for the hand-over of unwritten input.
const HANDOVER_RESERVE: Duration = Duration::from_millis(30);
/// The part of the time limit reserved for writing the answer and its log lines.
const ANSWER_RESERVE: Duration = Duration::from_millis(20);
/// The largest input of a hook, in bytes.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;
/// The number of bytes read from the pipe at a time.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// The agent's input, until it is durably written.
type UnspooledInput = Mutex<Option<Arc<Vec<u8>>>>;

/// Ends the process in time. Input that is not yet written goes to a background process.
pub(super) struct HookDeadline {
    end: Instant,
    owed: Arc<UnspooledInput>,
}

impl HookDeadline {
    /// Starts the deadline of an event, counted from `began`. `id` is the id under which the signal is
    /// written.
    pub(super) fn start(agent: &str, event: &str, began: Instant, id: &ChangeId) -> Self {
        let kind = agent.parse::<Agent>().ok().and_then(|agent| HookKind::from_event(agent, event));
        let budget = match kind {
            Some(HookKind::Prompt | HookKind::BeforeTool) => PROMPT_TIMEOUT,
            _ => EVENT_TIMEOUT,
        };
        let deadline = Self { end: began + budget, owed: Arc::default() };
        let (at, owed, id) = (deadline.end - HANDOVER_RESERVE, Arc::clone(&deadline.owed), id.clone());
        std::thread::spawn(move || {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            // The lock is held to the end, so that no other thread writes the input that is handed over.
            let mut owed = lock(&owed);
            if let Some(input) = owed.take() {
                background::restart_detached(&["--late", id.as_str()], &input)
                    .ignore_failure("the idle time of the session triggers the capture later");
            }
            std::process::exit(0);
        });
        deadline
    }

    /// The time left for a lookup.
    pub(super) fn remaining(&self) -> Duration {
        (self.end - HANDOVER_RESERVE - ANSWER_RESERVE).saturating_duration_since(Instant::now())
    }

    /// Cancels the hand-over, because the input is written.
    pub(super) fn disarm(&self) {
        *lock(&self.owed) = None;
    }

    /// Starts reading the agent's input on a thread of its own.
    pub(super) fn input(&self) -> Receiver<io::Result<Arc<Vec<u8>>>> {
        let (sender, received) = mpsc::channel();
        let owed = Arc::clone(&self.owed);
        std::thread::spawn(move || {
            let input = read_value(&mut io::stdin().lock()).map(Arc::new);
            if let Ok(input) = &input {
                *lock(&owed) = Some(Arc::clone(input));
            }
            sender.send(input).ignore_failure("the hook has ended");
        });
        received
    }
}

fn lock(owed: &UnspooledInput) -> MutexGuard<'_, Option<Arc<Vec<u8>>>> {
    owed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one complete JSON value, or to the end of the input: an agent may keep the pipe open.
pub(super) fn read_value(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut from = from.take(MAX_INPUT_BYTES);
    let (mut input, mut chunk) = (Vec::new(), vec![0; READ_CHUNK_BYTES]);
    loop {
        let read = match from.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        input.extend_from_slice(&chunk[..read]);
        // Agents send objects, so only a closing brace is worth a parse.
        let may_end = input.trim_ascii_end().ends_with(b"}");
        if read == 0 || (may_end && serde_json::from_slice::<IgnoredAny>(&input).is_ok()) {
            return Ok(input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns its pieces one by one and never ends.
    struct HangingReader(Vec<&'static [u8]>);

    impl Read for HangingReader {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "read behind the end of the value");
            let piece = self.0.remove(0);
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn brf_06_input_ends_with_its_value_and_not_with_the_pipe() {
        let pieces = || HangingReader(vec![b"{\"a\": {\"b\": 1}", b", \"c\": \"}", b"\"}\n"]);
        assert_eq!(read_value(&mut pieces()).unwrap(), b"{\"a\": {\"b\": 1}, \"c\": \"}\"}\n");
        assert_eq!(read_value(&mut HangingReader(vec![b"[1", b""])).unwrap(), b"[1");
    }
}
