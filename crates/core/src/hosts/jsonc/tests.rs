use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn document(text: &str) -> JsoncDocument {
    JsoncDocument::parse(text, JsonDialect::Commented).unwrap()
}

#[test]
fn errors_have_a_position() {
    let error = |text: &str| JsoncDocument::parse(text, JsonDialect::Plain).unwrap_err();
    for (text, line, column) in [
        ("", 1, 1),
        ("{", 1, 2),
        ("{\n  \"a\": 1,\n}", 3, 1),
        ("{\n  \"ä\": 1 2}", 2, 10),
        ("{\"a\" 1}", 1, 6),
        ("{'a': 1}", 1, 2),
        ("[1, tru]", 1, 5),
        ("\u{feff}{x}", 1, 2),
        ("{} {}", 1, 4),
        ("{ // no\n}", 1, 3),
        ("[\"a\n\"]", 1, 2),
        ("[\"\\x\"]", 1, 2),
        ("[01]", 1, 2),
    ] {
        let found = error(text);
        assert_eq!((found.line, found.column), (line, column), "{text:?}: {found}");
    }
    assert!(JsoncDocument::parse("[".repeat(100_000), JsonDialect::Plain).is_err());
    assert!(JsoncDocument::parse("/* open", JsonDialect::Commented).is_err());
}

#[test]
fn the_last_of_two_keys_counts() {
    let document = document(r#"{"a": 1, "a": [2]}"#);
    assert!(document.get(&[JsonPathStep::Key("a")]).unwrap().is_array());
}

#[test]
fn a_value_is_added_in_the_style_of_its_neighbours() {
    let add = |text: &str| {
        let mut document = document(text);
        document.append(&[], Some("k"), &json!({"x": [1]})).unwrap();
        document.into_text()
    };
    assert_eq!(add("{}"), "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}");
    assert_eq!(
        add("{\n\t\"a\": 1\n}\n"),
        "{\n\t\"a\": 1,\n\t\"k\": {\n\t\t\"x\": [\n\t\t\t1\n\t\t]\n\t}\n}\n"
    );
    assert_eq!(add(r#"{"a":1}"#), r#"{"a":1, "k": {"x": [1]}}"#);
    assert_eq!(
        add("{\r\n  \"a\": 1 // one\r\n}"),
        "{\r\n  \"a\": 1, // one\r\n  \"k\": {\r\n    \"x\": [\r\n      1\r\n    ]\r\n  }\r\n}"
    );
    assert_eq!(add("{ /* none */ }"), "{ /* none */\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}");
}

#[test]
fn comments_survive_removals_around_them() {
    let remove = |text: &str, index| {
        let mut document = document(text);
        document.remove(&[], index, "").unwrap();
        document.into_text()
    };
    assert_eq!(remove("[1, // one\n 2, // two\n 3]", 1), "[1, // one\n // two\n 3]");
    assert_eq!(remove("[1, // one\n 2]", 1), "[1 // one\n]");
    assert_eq!(remove("[// none\n 2]", 0), "[// none\n]");
    assert_eq!(remove("[1 /* a */, 2 /* b */]", 1), "[1 /* a */ /* b */]");
    assert_eq!(remove("[1 /* a */, 2 /* b */]", 0), "[ /* a */ 2 /* b */]");
    assert_eq!(remove("[// c\n1 /* a */, 2]", 0), "[// c\n /* a */ 2]");
}

/// Any value, in any formatting, with comments in every legal position.
fn any_text(commented: bool) -> impl Strategy<Value = String> {
    let gap = match commented {
        true => prop_oneof![
            4 => Just(String::new()),
            3 => Just(" ".to_owned()),
            3 => Just("\n    ".to_owned()),
            1 => Just("\r\n\t".to_owned()),
            1 => Just(" // x, } ] \"\n".to_owned()),
            1 => Just(" /* , \n ] */ ".to_owned()),
        ]
        .boxed(),
        false => prop_oneof![Just(String::new()), Just(" ".to_owned()), Just("\n  ".to_owned())].boxed(),
    };
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        "[a-z/*,\\]}]{0,6}".prop_map(|text| Value::from(text).to_string()),
    ];
    let value = scalar.prop_recursive(3, 24, 4, move |inner| {
        let (g1, g2, g3) = (gap.clone(), gap.clone(), gap.clone());
        let one = (gap.clone(), inner, gap.clone());
        let items = prop::collection::vec(one.clone(), 0..4);
        let array = (items, g1).prop_map(|(items, blank)| {
            if items.is_empty() {
                return format!("[{blank}]");
            }
            let items: Vec<String> = items.iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
            format!("[{}]", items.join(","))
        });
        let members = prop::collection::vec(("[a-d]", g2, one), 0..4);
        let object = (members, g3).prop_map(|(members, blank)| {
            if members.is_empty() {
                return format!("{{{blank}}}");
            }
            let members: Vec<String> = members
                .iter()
                .map(|(key, gap, (a, value, b))| format!("{a}\"{key}\"{gap}:{gap}{value}{b}"))
                .collect();
            format!("{{{}}}", members.join(","))
        });
        prop_oneof![array, object]
    });
    (prop::bool::ANY, value, prop::sample::select(vec!["", "\n", "\r\n", "  \n\n"]))
        .prop_map(|(mark, value, end)| format!("{}{value}{end}", if mark { "\u{feff}" } else { "" }))
}

/// The paths of all objects and arrays in a value.
fn containers(value: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return found,
    };
    found.push(Vec::new());
    for (step, value) in inside {
        found.extend(containers(value).into_iter().map(|mut path| {
            path.insert(0, step.clone());
            path
        }));
    }
    found
}

fn steps<'a>(value: &Value, path: &'a [String]) -> Vec<JsonPathStep<'a>> {
    let mut at = value;
    path.iter()
        .map(|step| match at {
            Value::Array(items) => {
                let index: usize = step.parse().unwrap();
                at = &items[index];
                JsonPathStep::Index(index)
            }
            _ => {
                at = &at[step];
                JsonPathStep::Key(step)
            }
        })
        .collect()
}

fn added(value: &Value, path: &[String], key: &str, new: &Value) -> Value {
    let mut value = value.clone();
    let at = path.iter().fold(&mut value, |at, step| match at {
        Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
        at => &mut at[step],
    });
    match at {
        Value::Array(items) => items.push(new.clone()),
        at => at[key] = new.clone(),
    }
    value
}

proptest! {
    #[test]
    fn plain_json_is_read_as_everybody_reads_it(text in any_text(false)) {
        let document = JsoncDocument::parse(text.as_str(), JsonDialect::Plain).unwrap();
        let expected: Value = serde_json::from_str(text.trim_start_matches(BOM)).unwrap();
        prop_assert_eq!(document.root().value(), expected);
    }

    /// The core of B-15: in any file, an insertion is removed without a trace, and changes nothing else
    /// meanwhile.
    #[test]
    fn b_15_an_insertion_is_removed_without_a_trace(text in any_text(true), at in any::<prop::sample::Index>()) {
        let before = document(&text);
        let value = before.root().value();
        let paths = containers(&value);
        if paths.is_empty() {
            return Ok(());
        }
        let path = &paths[at.index(paths.len())];
        let steps = steps(&value, path);
        let node = before.get(&steps).unwrap();
        let new = json!({"hooks": [{"command": "x // y", "timeout": 5}]});
        let key = node.is_object().then_some("new");
        let mut document = before.clone();
        let blank = document.append(&steps, key, &new).unwrap();
        prop_assert_eq!(document.root().value(), added(&value, path, "new", &new));
        let last = document.get(&steps).unwrap().len() - 1;
        document.remove(&steps, last, blank.as_deref().unwrap_or_default()).unwrap();
        prop_assert_eq!(document.text(), &text);
    }

    #[test]
    fn a_removal_changes_nothing_else(text in any_text(true), at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>()) {
        let mut document = document(&text);
        let value = document.root().value();
        let paths = containers(&value);
        if paths.is_empty() {
            return Ok(());
        }
        let path = &paths[at.index(paths.len())];
        let steps = steps(&value, path);
        let length = document.get(&steps).unwrap().len();
        if length == 0 {
            return Ok(());
        }
        let comments = text.matches("// x").count() + text.matches("/* ,").count();
        let inside = document.get(&steps).unwrap().children()[which.index(length)].clone();
        let inside = &text[inside];
        let gone = inside.matches("// x").count() + inside.matches("/* ,").count();
        let keys: Vec<String> = document.get(&steps).unwrap().keys().map(str::to_owned).collect();
        document.remove(&steps, which.index(length), "").unwrap();
        prop_assert_eq!(document.get(&steps).unwrap().len(), length - 1);
        let mut left = keys;
        if !left.is_empty() {
            left.remove(which.index(length));
        }
        prop_assert_eq!(document.get(&steps).unwrap().keys().collect::<Vec<_>>(), left);
        let after = document.text().matches("// x").count() + document.text().matches("/* ,").count();
        prop_assert_eq!(after, comments - gone);
    }

    #[test]
    fn no_text_is_too_odd(text in "[\\[\\]{},:\"/* \n1a\\\\é]{0,40}") {
        if let Ok(mut document) = JsoncDocument::parse(text.as_str(), JsonDialect::Commented) {
            prop_assert_eq!(document.text(), &text);
            document.append(&[], Some("k"), &json!(1)).ok();
        }
    }
}
