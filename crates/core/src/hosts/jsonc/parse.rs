//! Parses JSON with the position of every value.

use std::ops::Range;

use serde_json::Value;

use super::{BOM, Error, JsonDialect, JsonMember, JsonNode, JsonNodeKind};

/// The maximum nesting depth: deeper than any settings, shallow enough for any stack.
const MAX_DEPTH: usize = 128;

/// A comma or comment between two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsoncToken {
    pub(super) span: Range<usize>,
    pub(super) kind: JsoncTokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsoncTokenKind {
    Comma,
    Line,
    Block,
}

/// The commas and comments from `from` up to the first other token. The text must have been parsed before.
pub(super) fn trivia_from(text: &str, from: usize) -> Vec<JsoncToken> {
    let mut reader = JsoncParser { text, at: from, dialect: JsonDialect::Commented };
    let mut tokens = Vec::new();
    loop {
        reader.white();
        let start = reader.at;
        let kind = match reader.comment() {
            Ok(Some(kind)) => kind,
            Ok(None) if reader.consume_byte(b',') => JsoncTokenKind::Comma,
            Ok(None) | Err(_) => return tokens,
        };
        tokens.push(JsoncToken { span: start..reader.at, kind });
    }
}

pub(super) fn parse(text: &str, dialect: JsonDialect) -> Result<JsonNode, Error> {
    let at = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut reader = JsoncParser { text, at, dialect };
    reader.skip()?;
    let root = reader.value(0)?;
    reader.skip()?;
    match reader.peek() {
        None => Ok(root),
        Some(_) => Err(reader.unexpected("nothing more")),
    }
}

struct JsoncParser<'a> {
    text: &'a str,
    at: usize,
    dialect: JsonDialect,
}

impl JsoncParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn consume_byte(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn fail(&self, offset: usize, what: impl Into<String>) -> Error {
        Error::error_at(self.text, offset, what)
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.text[self.at..].chars().next() {
            Some(character) => format!("`{}`", character.escape_debug()),
            None => "the end".to_owned(),
        };
        self.fail(self.at, format!("expected {wanted}, found {found}"))
    }

    fn white(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads one comment, if there is one at this position.
    fn comment(&mut self) -> Result<Option<JsoncTokenKind>, Error> {
        let rest = &self.text[self.at..];
        let (kind, length) = if rest.starts_with("//") {
            let line = rest.find('\n').unwrap_or(rest.len());
            // A carriage return belongs to the line end.
            (JsoncTokenKind::Line, rest[..line].trim_end_matches('\r').len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            let end = inside.find("*/").ok_or_else(|| self.fail(self.at, "a comment is never closed"))?;
            (JsoncTokenKind::Block, end + 4)
        } else {
            return Ok(None);
        };
        if self.dialect == JsonDialect::Plain {
            return Err(self.fail(self.at, "a comment is not allowed in this file"));
        }
        self.at += length;
        Ok(Some(kind))
    }

    fn skip(&mut self) -> Result<(), Error> {
        loop {
            self.white();
            if self.comment()?.is_none() {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode, Error> {
        if depth > MAX_DEPTH {
            return Err(self.fail(self.at, "it is too deeply nested"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsonNodeKind::Scalar(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => self.parse_word()?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(JsonNode { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<JsonNodeKind, Error> {
        let mut members = Vec::new();
        self.list(b'}', "`,` or `}`", |reader| {
            let start = reader.at;
            if reader.peek() != Some(b'"') {
                return Err(reader.unexpected("a key in double quotes"));
            }
            let key = reader.string()?;
            reader.skip()?;
            if !reader.consume_byte(b':') {
                return Err(reader.unexpected("`:`"));
            }
            reader.skip()?;
            let value = reader.value(depth + 1)?;
            members.push(JsonMember { key, span: start..reader.at, value });
            Ok(())
        })?;
        Ok(JsonNodeKind::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<JsonNodeKind, Error> {
        let mut items = Vec::new();
        self.list(b']', "`,` or `]`", |reader| {
            items.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(JsonNodeKind::Array(items))
    }

    fn list(
        &mut self,
        end: u8,
        wanted: &str,
        mut one: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.at += 1;
        self.skip()?;
        if self.consume_byte(end) {
            return Ok(());
        }
        loop {
            one(self)?;
            self.skip()?;
            if self.consume_byte(end) {
                return Ok(());
            }
            if !self.consume_byte(b',') {
                return Err(self.unexpected(wanted));
            }
            self.skip()?;
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b'\n') | None => return Err(self.fail(start, "a string is never closed")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let token = self.text.get(start..self.at);
        token
            .and_then(|token| serde_json::from_str(token).ok())
            .ok_or_else(|| self.fail(start, "this is not a valid string"))
    }

    fn parse_word(&mut self) -> Result<JsonNodeKind, Error> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let value = serde_json::from_str(word);
        value.map(JsonNodeKind::Scalar).map_err(|_| self.fail(start, format!("`{word}` is not a value")))
    }
}
