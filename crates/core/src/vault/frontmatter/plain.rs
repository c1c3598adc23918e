//! A fast path for frontmatter: one `key: value` per line, without YAML syntax in the values. It is much
//! faster than the YAML parser, which handles all other blocks.

use std::borrow::Cow;
use std::ops::Range;

use super::{PropertyField, PropertyValue};

/// The properties between two offsets of `text`, which are whole lines. `None` if the block needs the YAML
/// parser.
pub(super) fn fields(text: &str, range: Range<usize>) -> Option<Vec<PropertyField<'_>>> {
    let mut fields: Vec<PropertyField<'_>> = Vec::with_capacity(16);
    let mut at = range.start;
    for (number, line) in text[range].split_inclusive('\n').enumerate() {
        let (key, value) = line.strip_suffix('\n')?.split_once(':')?;
        let value = value.strip_prefix(' ')?;
        if !is_key(key) || fields.iter().any(|field| field.key == key) {
            return None;
        }
        let start = at + key.len() + ": ".len();
        let (value, at_value) = match value.strip_prefix('[') {
            Some(list) => (items(list.strip_suffix(']')?)?, None),
            None if !is_plain(value) => return None,
            None if matches!(value, "null" | "Null" | "NULL") => {
                (PropertyValue::Null, Some(start..start + value.len()))
            }
            None => (PropertyValue::Scalar(value.into()), Some(start..start + value.len())),
        };
        // The first line of the block is the second of the file.
        fields.push(PropertyField { key: key.into(), value, line: number + 2, at: at_value });
        at += line.len();
    }
    (!fields.is_empty()).then_some(fields)
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// True for words, numbers, times and paths.
fn is_plain(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().enumerate().all(|(at, b)| match b {
            b'-' | b'_' | b'.' | b'/' | b' ' => true,
            b':' => bytes[at + 1..].first().is_some_and(u8::is_ascii_alphanumeric),
            _ => b.is_ascii_alphanumeric(),
        })
}

fn items(list: &str) -> Option<PropertyValue<'_>> {
    let items =
        list.split(", ").map(|item| (is_plain(item) && !item.contains(':')).then_some(Cow::Borrowed(item)));
    items.collect::<Option<Vec<_>>>().map(PropertyValue::List)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::parsed_fields;
    use super::*;

    fn line() -> impl Strategy<Value = String> {
        let key = prop_oneof![
            4 => "[a-z_]{1,6}",
            1 => select(vec!["tags", "null", "true", "y", "_a", "a1", "1a", "a b", "A"]).prop_map(String::from),
        ];
        let value = prop_oneof![
            3 => "[A-Za-z0-9]([A-Za-z0-9 ._/:-]{0,14}[A-Za-z0-9])?",
            2 => "[ -~]{0,12}",
            1 => "\\[[a-z0-9]{1,4}(, [a-z0-9 ._/:-]{1,6}){0,3}\\]",
            1 => select(vec![
                "null", "~", "[]", "2025-08-03T20:07:02Z", "a: b", "a #b", "- a", "a:", ": a", "'a'", "|", "0x1f", "a, b", "[a,b]",
                "é", "a\\tb", "? a", "*a", "&a b", "!!str a", "---", "...",
            ])
            .prop_map(String::from),
        ];
        let sign = select(vec![": ", ": ", ": ", ":", ":  ", " : "]);
        let end = select(vec!["\n", "\n", "\n", "\n", " \n", "\r\n", "\n  "]);
        (key, sign, value, end).prop_map(|(key, sign, value, end)| format!("{key}{sign}{value}{end}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_read_here_the_parser_reads_the_same(lines in proptest::collection::vec(line(), 0..5)) {
            let text = format!("---\n{}", lines.concat());
            if let Some(found) = fields(&text, 4..text.len()) {
                let parsed = parsed_fields(&text, 4..text.len());
                prop_assert_eq!(format!("{:?}", Ok::<_, super::super::Error>(found)), format!("{parsed:?}"));
            }
        }
    }

    #[test]
    fn a_note_of_ours_takes_no_parser() {
        let text = "---\nid: m-k4w7xw5xrxy2\ncreated: 2025-08-03T20:07:02Z\ntags: [embedded, firmware]\nalways_load: false\n\
                    supersedes: null\nscope: global\n";
        let fields = fields(text, 4..text.len()).unwrap();
        assert_eq!(fields.len(), 6);
        assert_eq!(fields[2].value, PropertyValue::List(vec!["embedded".into(), "firmware".into()]));
        assert_eq!(fields[4].value, PropertyValue::Null);
        assert_eq!(&text[fields[1].at.clone().unwrap()], "2025-08-03T20:07:02Z");
    }
}
