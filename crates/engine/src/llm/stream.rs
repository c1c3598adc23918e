//! Server-sent events: an answer as it comes. What has arrived when the line breaks is not lost.

use std::io::{BufRead, BufReader, Read};

use super::http::Broken;

/// More than any answer is long.
pub(super) const LARGEST: u64 = 8 * 1024 * 1024;

/// The data of the events of a stream, one after the other.
pub(super) struct Events<R> {
    lines: BufReader<std::io::Take<R>>,
}

impl<R: Read> Events<R> {
    pub(super) fn new(body: R) -> Self {
        Self { lines: BufReader::new(body.take(LARGEST)) }
    }
}

impl<R: Read> Iterator for Events<R> {
    type Item = Result<String, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut data: Option<String> = None;
        loop {
            let mut line = Vec::new();
            match self.lines.read_until(b'\n', &mut line) {
                // An event that was not finished is none, except where the blank line is all that is missing.
                Ok(0) => return data.map(Ok),
                Ok(_) => {}
                Err(error) => return Some(Err(Broken::of(&error))),
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
        Events::new(text.as_bytes()).map(Result::unwrap).collect()
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
