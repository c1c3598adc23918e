//! The kind of an error. An event never holds the message, because messages may quote notes or answers of a
//! model; `rekindle run` shows the message of the run.

use serde::{Deserialize, Serialize};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// No space left on the disk, or a quota is used up.
    DiskFull,
    /// A file may not be read or written.
    Permission,
    /// The database is damaged, of a newer version, or locked for too long.
    Database,
    /// Something took too long.
    Timeout,
    /// A daily limit of model calls is reached.
    Limit,
    /// A server refused our credentials.
    Credentials,
    /// A server or a program could not be reached or failed.
    Network,
    /// A bug: the stage panicked.
    Panic,
    /// The agent sent input that could not be parsed.
    Input,
    /// None of these.
    Other,
}

/// Phrases of error messages, in lower case, and the kind they mean. The first match counts.
const PHRASES: &[(&str, ErrorKind)] = &[
    ("no space left", ErrorKind::DiskFull),
    ("disk is full", ErrorKind::DiskFull),
    ("database or disk is full", ErrorKind::DiskFull),
    ("quota exceeded", ErrorKind::DiskFull),
    ("permission denied", ErrorKind::Permission),
    ("read-only", ErrorKind::Permission),
    ("readonly", ErrorKind::Permission),
    ("operation not permitted", ErrorKind::Permission),
    ("rekindle.db", ErrorKind::Database),
    ("malformed", ErrorKind::Database),
    ("not a database", ErrorKind::Database),
    ("database is locked", ErrorKind::Database),
    ("panic", ErrorKind::Panic),
    ("timed out", ErrorKind::Timeout),
    ("timeout", ErrorKind::Timeout),
    ("in time", ErrorKind::Timeout),
    ("took longer", ErrorKind::Timeout),
    ("daily limit", ErrorKind::Limit),
    ("daily_tokens", ErrorKind::Limit),
    ("daily_dollars", ErrorKind::Limit),
    ("unauthorized", ErrorKind::Credentials),
    ("invalid api key", ErrorKind::Credentials),
    (" 401", ErrorKind::Credentials),
    (" 403", ErrorKind::Credentials),
    ("connection", ErrorKind::Network),
    ("unreachable", ErrorKind::Network),
    ("resolve", ErrorKind::Network),
    (" 500", ErrorKind::Network),
    (" 502", ErrorKind::Network),
    (" 503", ErrorKind::Network),
    (" 529", ErrorKind::Network),
    ("json", ErrorKind::Input),
    ("expected value", ErrorKind::Input),
    ("missing field", ErrorKind::Input),
];

impl ErrorKind {
    /// The kind that a message means.
    pub fn of_message(message: &str) -> Self {
        let message = message.to_lowercase();
        PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map_or(Self::Other, |(_, kind)| *kind)
    }

    /// The name in events, in kebab case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DiskFull => "disk-full",
            Self::Permission => "permission",
            Self::Database => "database",
            Self::Timeout => "timeout",
            Self::Limit => "limit",
            Self::Credentials => "credentials",
            Self::Network => "network",
            Self::Panic => "panic",
            Self::Input => "input",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O11-02: an error has a structure, and its message stays where the run is.
    #[test]
    fn o11_02_an_error_is_known_by_its_kind() {
        let kind = ErrorKind::of_message;
        assert_eq!(kind("keep: /v/a.md: No space left on device (os error 28)"), ErrorKind::DiskFull);
        assert_eq!(kind("/s/rekindle.db: database disk image is malformed"), ErrorKind::Database);
        assert_eq!(kind("nothing was found in time"), ErrorKind::Timeout);
        assert_eq!(kind("a panic; this is a bug"), ErrorKind::Panic);
        assert_eq!(kind("the user likes tea"), ErrorKind::Other);
    }

    #[test]
    fn a_kind_is_written_as_it_is_named() {
        for (_, kind) in PHRASES {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
