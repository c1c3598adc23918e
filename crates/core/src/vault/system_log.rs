//! `system-log.jsonl` (FND-05): infrastructure changes, one JSON object per line, append-only.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::lines::newline_of;
use crate::base::time;

/// One change of the infrastructure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemLogLine {
    /// The time, to the second.
    #[serde(
        alias = "ts",
        alias = "timestamp",
        serialize_with = "write_instant",
        deserialize_with = "read_instant"
    )]
    pub at: Timestamp,
    /// The action: `deploy`, `memory.phase.kickoff`, …
    pub action: String,
    /// The tool or object of the action.
    #[serde(default)]
    pub tool: String,
    /// The details of the change.
    #[serde(default)]
    pub detail: String,
    /// The reason for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A line that is not a log entry. The error does not repeat its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column} of the system log is not a log entry; it was skipped")]
pub struct UnreadableLine {
    /// The line number, starting at 1.
    pub line: usize,
    /// The column at which parsing failed.
    pub column: usize,
}

/// A parsed log with the lines that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemLog {
    /// The valid lines, in order.
    pub lines: Vec<SystemLogLine>,
    /// The lines that could not be parsed.
    pub unreadable: Vec<UnreadableLine>,
}

/// Renders one JSON line, including its ending.
pub fn render(line: &SystemLogLine) -> String {
    // A struct of strings and one instant always serialises.
    serde_json::to_string(line).map(|json| json + "\n").unwrap_or_default()
}

/// Formats a change as one line of text.
pub fn describe_change(line: &SystemLogLine) -> String {
    let what = [&line.action, &line.tool].map(String::as_str);
    let what: Vec<&str> = what.into_iter().filter(|part| !part.trim().is_empty()).collect();
    let detail = if line.detail.trim().is_empty() { String::new() } else { format!(": {}", line.detail) };
    let reason = line.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!("{}{detail}{reason}", what.join(" "))
}

/// Appends a line. The old text stays as a prefix.
pub fn append(text: &str, line: &SystemLogLine) -> String {
    let newline = if newline_of(text) == "\r\n" { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}{}", render(line).replace('\n', newline))
}

/// Parses each line separately, so that a broken line loses only itself.
pub fn parse(text: &str) -> SystemLog {
    let mut log = SystemLog::default();
    for (index, line) in text.trim_start_matches('\u{feff}').split('\n').enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(line) => log.lines.push(line),
            Err(error) => log.unreadable.push(UnreadableLine { line: index + 1, column: error.column() }),
        }
    }
    log
}

fn write_instant<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time::format_utc(*at))
}

fn read_instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    time::parse(&text).ok_or_else(|| de::Error::custom("not an instant"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines() -> impl Strategy<Value = SystemLogLine> {
        let text = any::<String>;
        (0..4_000_000_000i64, text(), text(), text(), prop::option::of(text())).prop_map(
            |(at, action, tool, detail, reason)| SystemLogLine {
                at: Timestamp::from_second(at).unwrap(),
                action,
                tool,
                detail,
                reason,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn fnd_05_lines_read_back_around_broken_ones(before in "[^\r]{0,40}|[{}a\r\n]{0,20}", lines in prop::collection::vec(lines(), 1..4)) {
            let broken = parse(&before);
            let mut text = before.clone();
            for line in &lines {
                let longer = append(&text, line);
                prop_assert!(longer.starts_with(&text));
                text = longer;
            }
            let log = parse(&text);
            prop_assert_eq!(log.lines, lines);
            prop_assert_eq!(log.unreadable.len(), broken.unreadable.len());
        }
    }

    #[test]
    fn fnd_05_a_line_looks_like_this() {
        let line = SystemLogLine {
            at: "2026-11-15T02:13:08.5Z".parse().unwrap(),
            action: "deploy".to_owned(),
            tool: "systemd".to_owned(),
            detail: "two\nlines".to_owned(),
            reason: None,
        };
        let json =
            r#"{"at":"2026-11-15T02:13:08Z","action":"deploy","tool":"systemd","detail":"two\nlines"}"#;
        assert_eq!(render(&line), format!("{json}\n"));
        assert_eq!(append("{}\r\n", &line), format!("{{}}\r\n{json}\r\n"));
    }

    #[test]
    fn fnd_05_a_broken_line_is_named_and_skipped() {
        let text = "\u{feff}{\"ts\":\"2026-11-15\",\"action\":\"a\"}\r\n\n{\"secret\": tru\n[1]\n{\"at\":\"2026-11-15T00:00:00Z\",\"action\":\"b\",\"more\":1}";
        let log = parse(text);
        assert_eq!(log.lines.iter().map(|line| line.action.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(log.unreadable.iter().map(|broken| broken.line).collect::<Vec<_>>(), [3, 4]);
        assert!(!log.unreadable[0].to_string().contains("secret"));
    }
}
