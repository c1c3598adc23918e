//! The frontmatter of a note: a block of properties at the top.
//!
//! A YAML parser locates each top-level property. Changes are then made in the text itself, one value at a
//! time, so that unknown keys, their order, comments, quoting and line endings stay as the person left them.
//! Parsing to a tree and writing it out again was rejected: no YAML writer returns the bytes it was given.

mod plain;

use std::borrow::Cow;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::lines::newline_of;

/// The maximum size between the two `---` lines. Ours are under 1 KiB.
pub const MAX_BYTES: usize = 64 * 1024;

/// The reason why frontmatter could not be read or changed. Lines count from 1 in the whole file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// An opening `---` is never closed.
    #[error("line 1: the frontmatter that starts here is never closed by a `---` line")]
    Unclosed,
    /// The block exceeds [`MAX_BYTES`].
    #[error("line 1: the frontmatter is longer than {} KiB", MAX_BYTES / 1024)]
    TooLong,
    /// The block is not valid YAML.
    #[error("line {line}: the frontmatter is not valid YAML: {why}")]
    Yaml {
        /// The line of the error.
        line: usize,
        /// The parser's error message.
        why: String,
    },
    /// The block is YAML, but not `key: value` lines.
    #[error("line {line}: the frontmatter is not a list of `key: value` lines")]
    NotAMapping {
        /// The line of the error.
        line: usize,
    },
    /// A key occurs twice.
    #[error("line {line}: the key `{key}` occurs twice in the frontmatter")]
    Twice {
        /// The line of the second one.
        line: usize,
        /// The key that occurs twice.
        key: String,
    },
    /// The value to change spans several lines or is a list.
    #[error("line {line}: the value of `{key}` is not a single word or line, so it was not changed")]
    NotEditable {
        /// The line of the value.
        line: usize,
        /// The key of the value.
        key: String,
    },
}

/// The value of one property as text; the caller interprets types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyValue<'a> {
    /// An empty value, `~` or `null`.
    Null,
    /// A single value as text.
    Scalar(Cow<'a, str>),
    /// A list of single values.
    List(Vec<Cow<'a, str>>),
    /// A nested value, which is kept but never interpreted.
    Other,
}

/// One property at the top level.
#[derive(Clone, Debug)]
struct PropertyField<'a> {
    key: Cow<'a, str>,
    value: PropertyValue<'a>,
    line: usize,
    /// The byte range of a single value on the line of its key.
    at: Option<Range<usize>>,
}

/// A note, split into properties and body. Borrows the text; changes return a new text.
#[derive(Clone, Debug)]
pub struct ParsedNote<'a> {
    text: &'a str,
    fields: Vec<PropertyField<'a>>,
    /// The insertion point of a new property: the start of the closing `---` line, or of the text if there is
    /// no block.
    end_of_fields: usize,
    /// True if the note has a block.
    has_block: bool,
    body: usize,
}

const BOM: char = '\u{feff}';

impl<'a> ParsedNote<'a> {
    /// Splits `text` into properties and body. A text that does not begin with a `---` line is all body.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        let Some(first) = text[start..].split_inclusive('\n').next().filter(|line| line.trim_end() == "---")
        else {
            return Ok(Self::body_only(text));
        };
        let yaml = start + first.len();
        let mut at = yaml;
        for line in text[yaml..].split_inclusive('\n') {
            if at - yaml > MAX_BYTES {
                return Err(Error::TooLong);
            }
            if matches!(line.trim_end(), "---" | "...") {
                let fields = parse_fields(text, yaml..at)?;
                return Ok(Self { text, fields, end_of_fields: at, has_block: true, body: at + line.len() });
            }
            at += line.len();
        }
        Err(if at - yaml > MAX_BYTES { Error::TooLong } else { Error::Unclosed })
    }

    /// A note without properties: all of `text` is body, however it begins.
    pub fn body_only(text: &'a str) -> Self {
        let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        Self { text, fields: Vec::new(), end_of_fields: start, has_block: false, body: start }
    }

    /// The exact text after the properties.
    pub fn body(&self) -> &'a str {
        &self.text[self.body..]
    }

    /// The exact text before the body.
    pub fn head(&self) -> &'a str {
        &self.text[..self.body]
    }

    /// True if the note has a block of properties.
    pub fn has_block(&self) -> bool {
        self.has_block
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&PropertyValue<'a>> {
        self.fields.iter().find(|field| field.key == key).map(|field| &field.value)
    }

    /// The single value of `key`. `None` if it is missing, empty or a list.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            PropertyValue::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The values of `key`, one or several.
    pub fn list_of(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(PropertyValue::List(items)) => items.iter().map(|item| item.clone().into_owned()).collect(),
            Some(PropertyValue::Scalar(text)) => vec![text.clone().into_owned()],
            _ => Vec::new(),
        }
    }

    /// The line number of `key`.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        self.fields.iter().find(|field| field.key == key).map(|field| field.line)
    }

    /// The head with these properties set and everything else unchanged. A known key gets its value replaced
    /// in place, a new one gets a line at the end. A value of `None` writes `null`.
    ///
    /// The result is checked to read back as requested. A block without room for another line (`{a: b}`) is
    /// an error.
    pub fn head_with(&self, changes: &[(&str, Option<&str>)]) -> Result<String, Error> {
        let head = self.edited(changes)?;
        let again = ParsedNote::parse(&head)?;
        let reads_back = |(key, value): &(&str, Option<&str>)| match value {
            Some(value) => again.text_of(key) == Some(value),
            None => again.get(key) == Some(&PropertyValue::Null),
        };
        match changes.iter().all(reads_back) {
            true => Ok(head),
            false => Err(Error::NotAMapping { line: 1 + usize::from(self.has_block) }),
        }
    }

    /// The indentation of the existing properties, for a new one in the same block.
    fn indentation(&self) -> &'a str {
        let at_first =
            self.fields.first().and_then(|field| self.text.split_inclusive('\n').nth(field.line - 1));
        at_first.map_or("", |line| &line[..line.len() - line.trim_start_matches(' ').len()])
    }

    fn edited(&self, changes: &[(&str, Option<&str>)]) -> Result<String, Error> {
        let (newline, indentation) = (newline_of(self.text), self.indentation());
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut added = String::new();
        for (key, value) in changes {
            let rendered = value.map_or(Cow::Borrowed("null"), render_scalar);
            match self.fields.iter().find(|field| field.key == *key) {
                Some(field) => {
                    let at = field.at.clone().ok_or_else(|| Error::NotEditable {
                        line: field.line,
                        key: field.key.clone().into_owned(),
                    })?;
                    let space = if self.text[..at.start].ends_with(':') { " " } else { "" };
                    edits.push((at, format!("{space}{rendered}")));
                }
                None => added.push_str(&format!("{indentation}{key}: {rendered}{newline}")),
            }
        }
        if !self.has_block {
            added = format!("---{newline}{added}---{newline}");
        }
        edits.push((self.end_of_fields..self.end_of_fields, added));
        edits.sort_by_key(|(at, _)| at.start);
        let mut head = String::with_capacity(self.body + 256);
        let mut done = 0;
        for (at, new) in edits {
            head.push_str(&self.text[done..at.start]);
            head.push_str(&new);
            done = at.end;
        }
        head.push_str(&self.text[done..self.body]);
        Ok(head)
    }
}

/// Parses the top-level `key: value` pairs between two offsets of `text`.
fn parse_fields(text: &str, range: Range<usize>) -> Result<Vec<PropertyField<'_>>, Error> {
    match plain::fields(text, range.clone()) {
        Some(fields) => Ok(fields),
        None => parsed_fields(text, range),
    }
}

fn parsed_fields(text: &str, range: Range<usize>) -> Result<Vec<PropertyField<'_>>, Error> {
    let yaml = &text[range.clone()];
    let mut reader = FrontmatterParser {
        places: PositionMap::new(yaml, range.start),
        fields: Vec::new(),
        depth: 0,
        key: None,
    };
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event
            .map_err(|error| Error::Yaml { line: error.marker().line() + 1, why: error.info().to_owned() })?;
        reader.handle_event(event, span)?;
    }
    Ok(reader.fields)
}

/// Converts the parser's positions (line, column in characters) to byte offsets of the whole text.
struct PositionMap<'a> {
    yaml: &'a str,
    yaml_start: usize,
    lines: Vec<usize>,
    ascii: bool,
}

impl<'a> PositionMap<'a> {
    fn new(yaml: &'a str, yaml_start: usize) -> Self {
        let mut lines = vec![0];
        lines.extend(yaml.match_indices('\n').map(|(at, _)| at + 1));
        Self { yaml, yaml_start, lines, ascii: yaml.is_ascii() }
    }

    /// The rest of the line from a byte offset of the whole text.
    fn line_from(&self, byte: usize) -> &'a str {
        self.yaml[byte - self.yaml_start..].split('\n').next().unwrap_or("").trim_end_matches('\r')
    }

    fn byte(&self, marker: saphyr_parser::Marker) -> usize {
        let line = self.lines.get(marker.line().saturating_sub(1)).copied().unwrap_or(0);
        let column = match self.ascii {
            true => marker.col(),
            false => self.yaml[line..].chars().take(marker.col()).map(char::len_utf8).sum(),
        };
        self.yaml_start + line + column
    }
}

struct FrontmatterParser<'a> {
    places: PositionMap<'a>,
    fields: Vec<PropertyField<'a>>,
    depth: usize,
    /// The key of the current value: name, line, and the byte offset of its end.
    key: Option<(Cow<'a, str>, usize, usize)>,
}

impl<'a> FrontmatterParser<'a> {
    fn handle_event(&mut self, event: Event<'a>, span: Span) -> Result<(), Error> {
        // The parser counts from the line after the opening `---`, which is line 1 of the file.
        let line = span.start.line() + 1;
        match (event, self.depth) {
            (Event::MappingStart(..), 0) => self.depth = 1,
            (Event::SequenceStart(..), 0) => return Err(Error::NotAMapping { line }),
            // An empty block parses as one empty scalar.
            (Event::Scalar(value, style, ..), 0)
                if !(value.is_empty() || value == "~") || style != ScalarStyle::Plain =>
            {
                return Err(Error::NotAMapping { line });
            }
            (Event::Scalar(key, ..), 1) if self.key.is_none() => {
                if self.fields.iter().any(|field| field.key == *key) {
                    return Err(Error::Twice { line, key: key.into_owned() });
                }
                self.key = Some((key, line, self.places.byte(span.end)));
            }
            (Event::Scalar(value, style, ..), 1) => {
                let null =
                    style == ScalarStyle::Plain && matches!(&*value, "" | "~" | "null" | "Null" | "NULL");
                let at = self.value_place(&value, style, span);
                self.finish(if null { PropertyValue::Null } else { PropertyValue::Scalar(value) }, at);
            }
            // A key that is itself a list, a mapping or an alias.
            (Event::Alias(..) | Event::SequenceStart(..) | Event::MappingStart(..), 1)
                if self.key.is_none() =>
            {
                return Err(Error::NotAMapping { line });
            }
            (Event::Alias(..), 1) => self.finish(PropertyValue::Other, None),
            (Event::SequenceStart(..), 1) => {
                self.depth = 2;
                self.finish(PropertyValue::List(Vec::new()), None);
            }
            (Event::MappingStart(..), 1) => {
                self.depth = 2;
                self.finish(PropertyValue::Other, None);
            }
            (Event::Scalar(value, ..), 2) => {
                if let Some(PropertyField { value: PropertyValue::List(items), .. }) = self.fields.last_mut()
                {
                    items.push(value);
                }
            }
            (Event::MappingStart(..) | Event::SequenceStart(..), depth) => {
                if let Some(field) = self.fields.last_mut() {
                    field.value = PropertyValue::Other;
                }
                self.depth = depth + 1;
            }
            (Event::MappingEnd | Event::SequenceEnd, depth) => self.depth = depth.saturating_sub(1),
            _ => {}
        }
        Ok(())
    }

    /// The byte range of a single-line value. The range of an absent value is empty, directly behind the
    /// colon.
    fn value_place(&self, value: &str, style: ScalarStyle, span: Span) -> Option<Range<usize>> {
        let (_, line, key_end) = self.key.as_ref()?;
        let absent = value.is_empty() && style == ScalarStyle::Plain;
        if absent {
            return Some(key_end + 1..key_end + 1);
        }
        if span.start.line() + 1 != *line {
            return None;
        }
        let start = self.places.byte(span.start);
        let rest = self.places.line_from(start);
        // The parser's range of a quoted value includes a trailing comment, so find the closing quote here.
        let length = match style {
            ScalarStyle::Plain if span.end.line() == span.start.line() => {
                rest.get(..self.places.byte(span.end) - start)?.trim_end().len()
            }
            ScalarStyle::SingleQuoted => closing_quote(rest, '\'', None)?,
            ScalarStyle::DoubleQuoted => closing_quote(rest, '"', Some('\\'))?,
            _ => return None,
        };
        Some(start..start + length)
    }

    fn finish(&mut self, value: PropertyValue<'a>, at: Option<Range<usize>>) {
        if let Some((key, line, _)) = self.key.take() {
            self.fields.push(PropertyField { key, value, line, at });
        }
    }
}

/// The length of the quoted value that begins `rest` and ends on the same line. A quote inside is doubled or
/// escaped.
fn closing_quote(rest: &str, quote: char, escape: Option<char>) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if Some(c) == escape {
            chars.next();
        } else if c == quote {
            let doubled = escape.is_none() && chars.peek().is_some_and(|(_, next)| *next == quote);
            if !doubled {
                return Some(at + quote.len_utf8());
            }
            chars.next();
        }
    }
    None
}

/// Renders a scalar: plain if every YAML reader takes it for text, double-quoted otherwise.
pub fn render_scalar(text: &str) -> Cow<'_, str> {
    let plain_char =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' ' | '@' | '+' | '(' | ')');
    let speaks_of_something_else = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | ".nan" | ".inf"
    ) || text.starts_with(|c: char| !c.is_alphabetic())
        || text.ends_with(' ');
    // Note apps recognise an unquoted timestamp.
    let is_time = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'.' | b'T' | b'Z'))
        && crate::base::time::parse(text).is_some();
    if is_time || (text.chars().all(plain_char) && !speaks_of_something_else) {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::with_capacity(text.len() + 8);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | BOM) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// Renders a list: `[a, "b c: d"]`.
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<_> = items.iter().map(|item| render_scalar(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOTE: &str = "---\nkind: fix # mine\nstatus:   'active'\nmy_key:\n  - a\n  - b\n\n# a comment\ntags: [x, \"y z\"]\nempty:\n---\n\nBody\n";

    #[test]
    fn values_are_read_and_the_body_is_what_follows() {
        let note = ParsedNote::parse(NOTE).unwrap();
        assert_eq!(note.text_of("kind"), Some("fix"));
        assert_eq!(note.text_of("status"), Some("active"));
        assert_eq!(note.list_of("my_key"), ["a", "b"]);
        assert_eq!(note.list_of("tags"), ["x", "y z"]);
        assert_eq!(note.get("empty"), Some(&PropertyValue::Null));
        assert_eq!(note.line_of("tags"), Some(9));
        assert_eq!(note.body(), "\nBody\n");
    }

    #[test]
    fn a_change_touches_one_value_and_nothing_else() {
        let note = ParsedNote::parse(NOTE).unwrap();
        let head = note
            .head_with(&[
                ("status", Some("superseded")),
                ("kind", Some("howto")),
                ("empty", Some("a: b")),
                ("new", None),
            ])
            .unwrap();
        assert_eq!(
            head,
            "---\nkind: howto # mine\nstatus:   superseded\nmy_key:\n  - a\n  - b\n\n# a comment\ntags: [x, \"y z\"]\nempty: \"a: b\"\nnew: null\n---\n"
        );
    }

    #[test]
    fn crlf_and_bom_and_foreign_letters_survive() {
        let text = "\u{feff}---\r\nüber: \"ß\" # ü\r\nstatus: \"aktiv ü\" # ü\r\n---\r\nText\r\n";
        let note = ParsedNote::parse(text).unwrap();
        let head = note.head_with(&[("status", Some("resolved")), ("x", Some("1"))]).unwrap();
        assert_eq!(head, "\u{feff}---\r\nüber: \"ß\" # ü\r\nstatus: resolved # ü\r\nx: \"1\"\r\n---\r\n");
        assert_eq!(note.body(), "Text\r\n");
    }

    #[test]
    fn a_note_without_properties_gets_a_block_of_its_own() {
        let note = ParsedNote::parse("Just text\n---\nnot yaml").unwrap();
        assert!(!note.has_block());
        assert_eq!(note.head_with(&[("a", Some("b"))]).unwrap(), "---\na: b\n---\n");
        assert_eq!(note.body(), "Just text\n---\nnot yaml");
        assert_eq!(
            ParsedNote::parse("---\n---\nx").unwrap().head_with(&[("a", Some("b"))]).unwrap(),
            "---\na: b\n---\n"
        );
    }

    #[test]
    fn a_new_property_stands_where_the_others_do() {
        for (text, expected) in [
            ("---\n -:\n---\n", "---\n -:\n status: x\n---\n"),
            ("---\n  a: b\n\n  # c\n---\n", "---\n  a: b\n\n  # c\n  status: x\n---\n"),
        ] {
            let head = ParsedNote::parse(text).unwrap().head_with(&[("status", Some("x"))]).unwrap();
            assert_eq!(head, expected);
            assert_eq!(ParsedNote::parse(&head).unwrap().text_of("status"), Some("x"));
        }
        // Braces have no room for another line, and nothing invalid is written.
        let braces = ParsedNote::parse("---\n{a: b}\n---\n").unwrap();
        assert!(braces.head_with(&[("status", Some("x"))]).is_err());
        assert_eq!(braces.head_with(&[("a", Some("c"))]).unwrap(), "---\n{a: c}\n---\n");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        let error = |text: &str| ParsedNote::parse(text).unwrap_err();
        assert_eq!(error("---\na: b\n"), Error::Unclosed);
        assert_eq!(error("---\na: b\nc: d\na: e\n---\n"), Error::Twice { line: 4, key: "a".into() });
        assert_eq!(error("---\n- a\n---\n"), Error::NotAMapping { line: 2 });
        assert_eq!(error("---\njust words\n---\n"), Error::NotAMapping { line: 2 });
        assert!(matches!(error("---\na: b\nc: [d\n---\n"), Error::Yaml { line, .. } if line >= 3));
        let long = format!("---\n{}---\n", "key: value\n".repeat(10_000));
        assert_eq!(error(&long), Error::TooLong);
        let list = ParsedNote::parse("---\nstatus:\n  - a\n---\n").unwrap();
        assert!(matches!(list.head_with(&[("status", None)]), Err(Error::NotEditable { line: 2, .. })));
    }

    #[test]
    fn nested_values_are_kept_and_never_read_as_lists() {
        let note = ParsedNote::parse("---\na:\n  b: [c, d]\ne:\n  - f: g\n  - h\ni: j\n---\n").unwrap();
        assert_eq!(
            (note.get("a"), note.get("e")),
            (Some(&PropertyValue::Other), Some(&PropertyValue::Other))
        );
        assert_eq!(note.text_of("i"), Some("j"));
    }

    proptest! {
        #[test]
        fn any_value_reads_back(value in any::<String>(), items in prop::collection::vec(any::<String>(), 0..4)) {
            let text = format!("---\na: {}\nb: {}\n---\nbody", render_scalar(&value), list(&items));
            let note = ParsedNote::parse(&text).unwrap();
            let expected = if value.is_empty() { Some("") } else { Some(value.as_str()) };
            prop_assert_eq!(note.text_of("a"), expected);
            let items = items.into_iter().map(Cow::Owned).collect();
            prop_assert_eq!(note.get("b"), Some(&PropertyValue::List(items)));
            prop_assert_eq!(note.body(), "body");
        }

        #[test]
        fn a_set_value_reads_back_and_the_rest_stays(value in any::<String>(), other in "[ -~]{0,20}", body in any::<String>()) {
            let text = format!("---\nfirst: {}\nstatus: active\n# note\nlast: x\n---\n{body}", render_scalar(&other));
            let note = ParsedNote::parse(&text).unwrap();
            let changed = note.head_with(&[("status", Some(&value))]).unwrap() + note.body();
            let again = ParsedNote::parse(&changed).unwrap();
            prop_assert_eq!(again.text_of("status"), Some(value.as_str()));
            let expected = text.replacen("status: active", &format!("status: {}", render_scalar(&value)), 1);
            prop_assert_eq!(changed, expected);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), yaml in "[a-z:\\- \\[\\]{}#&*!|>'\"%@\n]{0,80}") {
            let _parsed = ParsedNote::parse(&text).is_ok();
            let framed = format!("---\n{yaml}\n---\n{text}");
            if let Ok(note) = ParsedNote::parse(&framed) {
                prop_assert!(framed.ends_with(note.body()));
                if let Ok(head) = note.head_with(&[("status", Some("x"))]) {
                    let changed = head + note.body();
                    prop_assert_eq!(ParsedNote::parse(&changed).map(|n| n.text_of("status").map(str::to_owned)), Ok(Some("x".to_owned())));
                }
            }
        }
    }
}
