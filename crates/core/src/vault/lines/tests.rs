use proptest::prelude::*;

use super::*;

const PIECES: &[&str] = &[
    "# Memory",
    "## Hard Rules",
    "## 🚫 hard rules ##",
    "  ## Patterns",
    "### Sub",
    "## Ada (owner)",
    "## Proposed for: Patterns",
    "Patterns\n===",
    "Lessons\n---",
    "Two\nlines\n===",
    "<div>\n# no",
    "<pre>\n\n# no\n</pre>",
    "<pre>",
    "- (2026-01-02) keep it",
    "- (2026-01-02) kept <!-- p-20260102-001 user -->",
    "* starred",
    "+ plus  ",
    "- [x] `p-20261115-001` **T** — text",
    "- [ ] `f-20261115-002` T: text",
    "10. ten",
    "1. one",
    "-",
    "- ```sh\n  # not a heading\n  ```",
    "  - nested",
    "    continued",
    "  # in the item",
    "   three",
    "\tTabbed",
    "lazy",
    "```rust\n# code\n```",
    "~~~~\n```\n## no\n~~~~",
    "```",
    "<!-- hidden\n## no\n-->",
    "<!-- one line -->",
    "<!--",
    "> quoted\n> # no",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "[[Wiki|link]] #tag",
    "---",
    "***",
    "",
    "",
    "   ",
    "trailing  ",
    "_Last updated: 2026-11-15T02:13:08Z | 3 proposals pending_",
    "### 🔍 Observations (session: one, 10:00)",
    "* 🔴 (10:00) a fact",
];

/// Realistic documents: every line ending, a byte-order mark, fences, comments, lists, unfinished structure.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,24}",
        1 => "[-*+#>`~ \t.1\\\\<!]{0,8}",
    ];
    let ending = prop::sample::select(&["\n", "\n", "\n", "\r\n", "\r"][..]);
    let style = prop::sample::select(&["\n", "\n", "\r\n", "mixed"][..]);
    (any::<bool>(), style, prop::collection::vec((piece, ending), 0..14), any::<bool>()).prop_map(
        |(bom, style, pieces, last)| {
            let mut text = if bom { BOM.to_owned() } else { String::new() };
            let count = pieces.len();
            for (index, (piece, ending)) in pieces.into_iter().enumerate() {
                let ending = if style == "mixed" { ending } else { style };
                text.push_str(&piece.replace('\n', ending));
                if last || index + 1 < count {
                    text.push_str(ending);
                }
            }
            text
        },
    )
}

/// True if `new` is `old` with one piece inserted: every old byte is there, in order.
pub(crate) fn is_insertion(old: &str, new: &str) -> bool {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    new.len() >= old.len() && before + behind >= old.len()
}

fn headings(text: &str) -> Vec<(u8, &str)> {
    parse_lines(text)
        .lines
        .iter()
        .filter_map(|line| match line.kind {
            LineKind::Heading { level, title, .. } => Some((level, title)),
            _ => None,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn ranges_tile_the_document(text in document()) {
        let mut end = 0;
        for line in parse_lines(&text).lines {
            prop_assert_eq!(line.start, end);
            prop_assert_eq!(&text[line.text_start..line.text_end()], line.text);
            end = line.end();
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn a_new_heading_at_the_end_is_always_seen(text in document()) {
        let text = match parse_lines(&text).open {
            Some(open) => format!("{text}\n{}", open.closing_line()),
            None => text,
        };
        let before = headings(&text).len();
        let longer = format!("{text}\n\n# New\n");
        prop_assert_eq!(headings(&longer).len(), before + 1);
    }

    #[test]
    fn what_was_left_open_can_be_closed(text in document()) {
        if let Some(open) = parse_lines(&text).open {
            let closed = format!("{text}\n{}\n", open.closing_line());
            prop_assert_eq!(parse_lines(&closed).open, None);
        }
    }
}

#[test]
fn headings_in_code_comments_and_lists_are_none() {
    let text = "---\n# yaml\n---\n# A\n```\n# no\n```\n<!--\n# no\n-->\n- item\n\n  # no\n## B ##\nC\n===\n#tag\n    # no\n";
    assert_eq!(headings(text), [(1, "A"), (2, "B"), (1, "C")]);
}

#[test]
fn a_longer_fence_holds_a_shorter_one() {
    assert_eq!(headings("````\n```\n# no\n```\n# no\n````\n# yes\n"), [(1, "yes")]);
    assert_eq!(headings("~~~\n```\n# no\n~~~\n# yes\n"), [(1, "yes")]);
    assert_eq!(headings("``` a`b\n# yes\n"), [(1, "yes")]);
}

#[test]
fn a_fence_ends_with_its_list_item() {
    assert_eq!(headings("- ```\n  # no\n\n# yes\n"), [(1, "yes")]);
    assert_eq!(parse_lines("- ```\n  # no\n").open, None);
}

#[test]
fn what_never_closes_is_named_by_its_line() {
    assert_eq!(read("a\n```\n# b\n"), Err(BrokenDocument::Fence { line: 2 }));
    assert_eq!(read("a\n\n<!-- b\n# c\n"), Err(BrokenDocument::Comment { line: 3 }));
    assert_eq!(read("a\n<<<<<<< HEAD\nb\n"), Err(BrokenDocument::Conflict { line: 2 }));
    assert_eq!(read("```\n<<<<<<< HEAD\n```\n").map(|lines| lines.len()), Ok(3));
    assert!(BrokenDocument::Fence { line: 2 }.to_string().contains("line 2"));
}

#[test]
fn items_take_their_continuation_and_leave_what_follows() {
    let text = "- a\n  more\n\n  still\nlazy\n- b\n\nnot\n";
    let lines = parse_lines(text).lines;
    assert_eq!(item_lines(&lines, 0), 0..5);
    assert_eq!(item_lines(&lines, 5), 5..6);
    assert_eq!(lines[4].kind, LineKind::Text { lazy: true });
    assert_eq!(item_lines(&parse_lines("- a\n  - b\n    c\n- d\n").lines, 0), 0..3);
    assert_eq!(item_lines(&parse_lines("- a\n  - b\n    c\n- d\n").lines, 1), 1..3);
}

#[test]
fn an_underlined_heading_takes_all_lines_of_its_paragraph() {
    let text = "a\n\nHard\nRules\n---\n- b\n";
    assert_eq!(headings(text), [(2, "Hard\nRules")]);
    let lines = parse_lines(text).lines;
    assert!(matches!(lines[2].kind, LineKind::Heading { underlined: true, .. }));
    assert_eq!(lines[3].kind, LineKind::HeadingContinuation { level: 2 });
    assert_eq!(headings("[1]: https://example.org\n---\n"), []);
}

#[test]
fn a_quote_ends_an_item_and_a_list_ends_a_quote() {
    let lines = parse_lines("- a\n> b\nlazy\n2. c\n").lines;
    assert_eq!(item_lines(&lines, 0), 0..1);
    assert_eq!(lines[1].depth, 0);
    assert_eq!(lines[2].kind, LineKind::Text { lazy: true });
    assert!(matches!(lines[3].kind, LineKind::Item { depth: 1, .. }));
    assert_eq!(headings("> a\n===\n"), []);
    assert_eq!(headings("> # a\nb\n===\n"), [(1, "b")]);
}

#[test]
fn an_empty_item_ends_at_a_blank_line() {
    let lines = parse_lines("-\n\n  a\n").lines;
    assert_eq!(lines[2].depth, 0);
}

#[test]
fn headings_in_html_and_tables_are_none() {
    assert_eq!(headings("<div>\n# no\n\n# yes\n"), [(1, "yes")]);
    assert_eq!(headings("<pre>\n\n# no\n</PRE>\n# yes\n"), [(1, "yes")]);
    assert_eq!(headings("<b>words</b>\n===\n"), [(1, "<b>words</b>")]);
    assert_eq!(headings("a | b\n--|--\n1 | 2\n---\n# yes\n"), [(1, "yes")]);
    let unclosed = BrokenDocument::Html { line: 1, close: "</pre>" };
    assert_eq!(read("<pre>\n# no\n"), Err(unclosed));
}

#[test]
fn newline_style_is_the_commonest() {
    assert_eq!(newline_of("a\r\nb\r\nc\n"), "\r\n");
    assert_eq!(newline_of("a\rb\r"), "\r");
    assert_eq!(newline_of("a\r\nb\n"), "\n");
    assert_eq!(newline_of("\u{feff}"), "\n");
}

#[test]
fn heading_words_forgive_decoration() {
    assert_eq!(heading_words("🚫 **Hard  Rules**"), "hard rules");
    assert_eq!(heading_words("Ada (owner)"), "ada");
    assert_eq!(heading_words("🦊"), "🦊");
}

#[test]
fn a_line_of_nothing_but_markers_is_quick() {
    let text = format!("{}x\n{}- y\n# End\n", "* ".repeat(200_000), " ".repeat(200));
    assert_eq!(headings(&text), [(1, "End")]);
    assert_eq!(headings(&format!("{}x\n# End\n", "> ".repeat(200_000))), [(1, "End")]);
    assert!(parse_lines(&text).lines.iter().all(|line| !line.is_blank()));
}
