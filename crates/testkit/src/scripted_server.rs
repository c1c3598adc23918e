//! A real server on loopback with scripted answers, including bad ones: late, in pieces, truncated.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// One scripted answer of the server.
#[derive(Clone, Debug)]
pub struct ServerReply {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<(Duration, Vec<u8>)>,
    cut: bool,
    chunked: bool,
}

impl ServerReply {
    /// A complete JSON body with its length.
    pub fn json(status: u16, body: impl Into<String>) -> Self {
        let body = body.into().into_bytes();
        Self { pieces: vec![(Duration::ZERO, body)], ..Self::empty(status) }
            .header("content-type", "application/json")
    }

    /// Server-sent events, one chunk per event.
    pub fn events(events: &[&str]) -> Self {
        let piece = |event: &&str| (Duration::ZERO, format!("data: {event}\n\n").into_bytes());
        Self { pieces: events.iter().map(piece).collect(), chunked: true, ..Self::empty(200) }
            .header("content-type", "text/event-stream")
    }

    fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), pieces: Vec::new(), cut: false, chunked: false }
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Breaks the connection near the end of the body: the last byte is missing, and so is the final chunk.
    #[must_use]
    pub fn cut(self) -> Self {
        Self { cut: true, ..self }
    }

    /// Waits before every chunk.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.pieces.iter_mut().for_each(|piece| piece.0 = delay);
        self
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", self.status);
        let length: usize = self.pieces.iter().map(|(_, bytes)| bytes.len()).sum();
        head += &match self.chunked {
            true => "transfer-encoding: chunked\r\n".to_owned(),
            false => format!("content-length: {length}\r\n"),
        };
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        for (number, (delay, bytes)) in self.pieces.iter().enumerate() {
            thread::sleep(*delay);
            let last = number + 1 == self.pieces.len();
            if self.chunked {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
                stream.write_all(bytes)?;
                stream.write_all(b"\r\n")?;
            } else {
                let end = bytes.len() - usize::from(self.cut && last);
                stream.write_all(&bytes[..end])?;
            }
            stream.flush()?;
        }
        if self.chunked && !self.cut {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(())
    }
}

/// A request that the server received.
#[derive(Clone, Debug, Default)]
pub struct ReceivedRequest {
    /// The method and path: `POST /v1/messages`.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it was received.
    pub body: String,
}

impl ReceivedRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// A server that computes an answer for each request: from a queue of replies, or from its own state.
#[derive(Debug)]
pub struct ScriptedServer {
    url: String,
    port: u16,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl ScriptedServer {
    /// A server with one reply per request. At the end of the script it answers 599.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn new(replies: impl IntoIterator<Item = ServerReply>) -> Self {
        let mut replies = replies.into_iter().collect::<VecDeque<_>>();
        Self::answering(move |_| replies.pop_front().unwrap_or_else(|| ServerReply::json(599, "{}")))
    }

    /// Listens on a free loopback port and answers with a function.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn answering(mut answer: impl FnMut(&ReceivedRequest) -> ServerReply + Send + 'static) -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("no port on loopback: {error}"),
        };
        let port = listener.local_addr().map_or(0, |address| address.port());
        let received = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let (log, stop) = (Arc::clone(&received), Arc::clone(&over));
        let serve = move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(mut stream) = stream else { continue };
                let Some(question) = read(&stream) else { continue };
                lock(&log).push(question.clone());
                let reply = answer(&question);
                // A client that hangs up early is not an error.
                reply.send(&mut stream).ok();
            }
        };
        let thread = Some(thread::spawn(serve));
        Self { url: format!("http://127.0.0.1:{port}"), port, received, over, thread }
    }

    /// The server's address: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        lock(&self.received).clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the accept loop, so that it sees the flag.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut received = ReceivedRequest::default();
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    received.line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        received.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = received.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    received.body = String::from_utf8_lossy(&body).into_owned();
    Some(received)
}

/// Locks a mutex, ignoring poison: a test that failed while holding the lock has reported its failure
/// already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
