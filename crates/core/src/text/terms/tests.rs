use std::collections::BTreeMap;

use proptest::prelude::*;

use super::split::TermSplitter;
use super::*;

/// The terms of a text; identifiers have a `!`.
fn split(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    each_term(text, |term| all.push(format!("{}{}", term.text, if term.identifier { "!" } else { "" })));
    all
}

#[test]
fn rec_01_words_become_terms() {
    for (text, terms) in [
        ("", vec![]),
        ("The staging database listens on port 5433.", vec!["stage", "databas", "listen", "port", "5433"]),
        ("Don't use the user's tokens, it's late", vec!["use", "user", "token", "late"]),
        ("(\"Quoted\") *words* `here`:", vec!["quot", "word"]),
        ("what is this", vec![]),
        ("Café, CAFÉ and cafe\u{301}", vec!["cafe", "cafe", "cafe"]),
        ("l’équipe O'Brien", vec!["equip", "brien", "obrien"]),
        ("well-known", vec!["well", "know", "wellknown"]),
        ("and/or e.g. i.e. 10 a.m.", vec!["10"]),
        ("read/write", vec!["read", "write", "read/write"]),
    ] {
        assert_eq!(split(text), terms, "{text}");
    }
}

#[test]
fn rec_01_identifiers_are_terms_whole_and_in_parts() {
    for (text, terms) in [
        ("parse_token", vec!["pars", "token", "parsetoken!"]),
        ("parseToken", vec!["pars", "token", "parsetoken!"]),
        ("ParseToken()", vec!["pars", "token", "parsetoken!"]),
        ("PARSE_TOKEN", vec!["pars", "token", "parsetoken!"]),
        ("parse-token", vec!["pars", "token", "parsetoken"]),
        ("XMLHttpRequest", vec!["xml", "http", "request", "xmlhttprequest!"]),
        ("URLs IDs", vec!["url", "id"]),
        ("std::fs::File", vec!["std", "fs", "file", "std.fs.file!"]),
        ("src/main.rs:42", vec!["src", "main", "rs", "main.rs!", "src/main.rs!", "42"]),
        ("C:\\Users\\me", vec!["c", "user", "users/me!"]),
        ("/etc/hosts", vec!["host", "etc/hosts!"]),
        ("E0277", vec!["e0277!"]),
        ("error[E0277]:", vec!["error", "e0277!"]),
        ("1.2.3 v1.2.3", vec!["1.2.3!", "v1!", "1.2.3!"]),
        ("--force", vec!["forc", "--force!"]),
        ("--no-verify", vec!["verifi", "noverifi", "--no-verify!"]),
        ("-rf -5 - --", vec!["rf", "-rf!", "5"]),
        ("C++ c# F#, g++", vec!["c", "c++!", "c", "c#!", "f", "f#!", "g", "g++!"]),
        ("python3 sha256", vec!["python3!", "python", "sha256!", "sha"]),
        ("10am 2nd 90s", vec!["10am", "2nd", "90s"]),
        ("2026-11-15", vec!["2026", "11", "15", "20261115!"]),
        ("user@example.com", vec!["user", "exampl", "com", "user@example.com!"]),
        ("MAX_RETRIES=5", vec!["max", "retri", "maxretri!", "5"]),
        ("__init__", vec!["init"]),
        ("node.js", vec!["node", "js", "node.js!"]),
        (
            "foo_bar.rs foo-bar.rs",
            vec!["foo", "bar", "foobar!", "rs", "foobar.rs!", "foo", "bar", "foobar", "rs", "foobar.rs!"],
        ),
        ("https://docs.rs/serde", vec!["https", "doc", "rs", "docs.rs!", "serd", "docs.rs/serde!"]),
    ] {
        assert_eq!(split(text), terms, "{text}");
    }
}

#[test]
fn sto_13_scripts_without_spaces_are_terms_by_pairs() {
    for (text, terms) in [
        ("設定を変更", vec!["設定", "定を", "を変", "変更"]),
        ("猫", vec!["猫"]),
        ("Rekindleの設定", vec!["rekindl", "の設", "設定"]),
        ("설정 변경", vec!["설정", "변경"]),
        ("ｶﾞｲﾄﾞ", vec!["ガイ", "イド"]),
        ("設定、変更。", vec!["設定", "変更"]),
        ("สวัสดี", vec!["สว", "วั", "ัส", "สด", "ดี"]),
    ] {
        assert_eq!(split(text), terms, "{text}");
    }
}

#[test]
fn other_scripts_are_words() {
    assert_eq!(split("Пароль ПАРОЛЬ"), ["пароль", "пароль"]);
    assert_eq!(split("Ελληνικά"), ["ελληνικα"]);
    assert_eq!(split("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
    assert_eq!(split("مرحبا"), ["مرحبا"]);
}

#[test]
fn words_are_counted_with_those_that_are_left_out() {
    let mut places = Vec::new();
    each_term("The port of the parse_token call", |term| places.push((term.text.to_owned(), term.word)));
    let expected = [("port", 1), ("pars", 4), ("token", 5), ("parsetoken", 4), ("call", 6)];
    assert_eq!(places, expected.map(|(text, word)| (text.to_owned(), word)));
}

#[test]
fn very_long_words_are_cut_and_stay_apart() {
    let (one, other) = ("a".repeat(5000), format!("{}b", "a".repeat(4999)));
    let (one, other) = (split(&one), split(&other));
    assert_eq!((one.len(), other.len()), (1, 1));
    assert_ne!(one, other);
    assert!(one[0].len() <= MAX_TERM_BYTES + 1, "{one:?}");
}

#[test]
fn stop_words_are_known_in_any_dress() {
    assert!(["the", "The", "don't", "Don’t", "who"].iter().all(|word| is_stop(word)));
    assert!(["port", "never", "shell", ""].iter().all(|word| !is_stop(word)));
}

/// Texts of all sorts that the splitter handles.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,12}",
        "[a-z]{1,12}",
        "[A-Za-z0-9_./:@'#+-]{1,20}",
        proptest::sample::select(vec![
            " ",
            "\n",
            "設定",
            "ガイド",
            "é",
            "e\u{301}",
            "’",
            "::",
            "--",
            "C++",
            "\u{AD}",
            "ß",
            "İ",
            "ǅ",
            "한",
            "ั",
            "्",
            "🚀",
            "\u{A8}",
            "\u{1F}",
            "\0",
            "½",
            "ﬁ",
            "'s",
            "n't",
        ])
        .prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_has_terms_without_harm(text in texts()) {
        each_term(&text, |term| {
            assert!(!term.text.is_empty() && term.text.len() <= MAX_TERM_BYTES, "{:?}", term.text);
            assert!(!term.text.contains(char::is_whitespace), "{:?}", term.text);
        });
        prop_assert_eq!(terms(&text), terms(&text));
    }

    #[test]
    fn terms_of_two_texts_are_the_terms_of_both(one in texts(), other in texts()) {
        let count = |texts: &[&str]| {
            let mut counts: BTreeMap<(u64, bool), u32> = BTreeMap::new();
            for text in texts {
                each_term(text, |term| *counts.entry((hash(term.text), term.identifier)).or_default() += 1);
            }
            counts
        };
        prop_assert_eq!(count(&[&format!("{one} {other}")]), count(&[&one, &other]));
    }

    #[test]
    fn the_short_way_answers_as_the_long_way(piece in "[(\"'*`\\[]{0,3}[A-Za-z]{1,3}[a-z]{0,9}[]).,;:!?\"'*`]{0,3}") {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        TermSplitter::new(|term: TextTerm<'_>| short.push((term.text.to_owned(), term.word, term.identifier))).text(&piece);
        TermSplitter::new(|term: TextTerm<'_>| long.push((term.text.to_owned(), term.word, term.identifier))).split_piece(&piece);
        prop_assert_eq!(short, long);
    }

    #[test]
    fn case_and_accents_do_not_matter_in_prose(words in "[a-z]{2,10}( [a-z]{2,10}){0,6}") {
        let accented = words.replace('e', "é").replace('o', "ö");
        prop_assert_eq!(terms(&words), terms(&words.to_uppercase()));
        prop_assert_eq!(terms(&words), terms(&accented));
    }
}
