//! The line walker against pulldown-cmark: both must see the same headings, list items, fences and comments.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use rekindle_core::vault::lines::{LineKind, item_lines, parse_lines};

/// The structure of a document, by line index. Lines without text are left out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outline {
    /// The level and words of each heading outside of lists and quotes.
    headings: BTreeMap<usize, (u8, String)>,
    /// The depth and last line of the outermost list item that begins on a line.
    items: BTreeMap<usize, (usize, usize)>,
    /// Lines of fenced code, except for those that begin an item.
    fences: BTreeSet<usize>,
    /// Lines of HTML comments, except for those that begin an item.
    comments: BTreeSet<usize>,
}

fn words(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn walked(text: &str) -> Outline {
    let lines = parse_lines(text).lines;
    let mut outline = Outline::default();
    for (at, line) in lines.iter().enumerate() {
        let has_text = !line.text.trim().is_empty();
        match line.kind {
            LineKind::Heading { level, title, .. } => {
                outline.headings.insert(at, (level, words(title)));
            }
            LineKind::Item { depth, .. } => {
                let own = item_lines(&lines, at);
                let last = own.rev().find(|at| !lines[*at].text.trim().is_empty());
                outline.items.insert(at, (depth, last.unwrap_or(at)));
            }
            LineKind::Fence if has_text => {
                outline.fences.insert(at);
            }
            LineKind::Comment if has_text => {
                outline.comments.insert(at);
            }
            _ => {}
        }
    }
    outline
}

fn parsed(text: &str) -> Outline {
    let lines = parse_lines(text).lines;
    let line_at =
        |byte: usize| lines.partition_point(|line| line.end() <= byte).min(lines.len().saturating_sub(1));
    let mut outline = Outline::default();
    let (mut quotes, mut items) = (0, 0);
    let mut heading: Option<(usize, u8, usize, usize)> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        // A tab that is only partly indentation makes an item start before it.
        let first = line_at(range.end - text[range.clone()].trim_start().len());
        let last = |text: &str| line_at(range.start + text[range.clone()].trim_end().len().saturating_sub(1));
        let full = |outline: &mut BTreeSet<usize>| {
            let own = first..=last(text);
            outline.extend(own.filter(|at| !lines[*at].text.trim().is_empty()));
        };
        if let Some((_, _, start, end)) = &mut heading
            && !matches!(event, Event::End(TagEnd::Heading(_)))
        {
            (*start, *end) = ((*start).min(range.start), (*end).max(range.end));
        }
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::Item) => {
                items += 1;
                if quotes == 0 {
                    outline.items.entry(first).or_insert((items, last(text)));
                }
            }
            Event::End(TagEnd::Item) => items -= 1,
            Event::Start(Tag::Heading { level, .. }) if quotes + items == 0 => {
                heading = Some((line_at(range.start), level as u8, usize::MAX, 0));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((at, level, start, end)) = heading.take() {
                    let title = text.get(start..end).unwrap_or_default();
                    outline.headings.insert(at, (level, words(title)));
                }
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if quotes == 0 => {
                full(&mut outline.fences);
            }
            Event::Start(Tag::HtmlBlock)
                if quotes == 0 && text[range.clone()].trim_start().starts_with("<!--") =>
            {
                full(&mut outline.comments);
            }
            _ => {}
        }
    }
    let starts: BTreeSet<usize> = outline.items.keys().copied().collect();
    outline.fences.retain(|at| !starts.contains(at));
    outline.comments.retain(|at| !starts.contains(at));
    outline
}

const BLOCKS: &[&str] = &[
    "# Memory",
    "## Hard Rules ##",
    "  ### Sub",
    "   #### four #",
    "    ## indented",
    "#tag",
    "#",
    "####### seven",
    "=",
    "===",
    "  ---",
    "---",
    "----",
    "- - -",
    "***",
    "_ _ _",
    "plain words",
    "  two in",
    "    code",
    "\tcode",
    "      code",
    "- item",
    "- item <!-- p-20260102-001 user -->",
    "* star",
    "+ plus",
    "-",
    "1. one",
    "2. two",
    "10) ten",
    "  - nested",
    "  continued",
    "    - deep",
    "   1. three",
    "-     code",
    "- # in an item",
    "- ```sh",
    "- > quoted",
    "- - twice",
    "\t- tabbed",
    "- <!-- noted -->",
    "```",
    "```rust",
    "````",
    "~~~",
    "~~~~ text",
    "  ```",
    "``` a`b",
    "`code`",
    "<!-- one line -->",
    "<!-- open",
    "-->",
    "words -->",
    "  <!-- in -->",
    "> quote",
    "> # quoted",
    "> - item",
    "> ```",
    ">",
    "> > twice",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "a | b",
    "--|--",
    "| 1 |",
    "[[Wiki|link]] #tag",
    "<div>",
    "</div>",
    "<details><summary>x</summary>",
    "- <div>",
    "<pre>",
    "# words</pre>",
    "<b>bold</b>",
    "<section>words",
    "<style>\n\n# no\n</style>",
    "<b class=\"x\" id=y>",
    "</span >",
    "<https://example.org>",
    "<!DOCTYPE html>",
    "<?php",
    "?>",
    "> <div>",
    "[1]: https://example.org",
    "[two]: <https://example.org> \"Title\"",
    "  [^3]: A note",
    "| a \\| b |",
    "|-|",
    ":-:|:-",
    "a | b | c\n:-:|---|--:",
    "- a | b\n  --|--\n  1 | 2",
    "<p/>",
    "<!-->",
    "<!-- a -- b",
    "\t",
    "*",
    "+",
    "-\tx",
    " -  two",
    "   - three",
    "     - five",
    ">     code",
    ">- tight",
    " > shifted",
    "1. > q",
    "   > q",
    "## ",
    "#\ttab",
    "# a \\#",
    "* * *",
    "+ + +",
    "é ünï",
    "lazy\\",
    "**bold**: words",
    "- [ ] todo",
    "1986. A year",
    "",
    "",
    "",
    "   ",
];

/// Documents without frontmatter, as pulldown-cmark has its own rule for that.
fn body() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(BLOCKS), 0..16);
    (pieces, prop::sample::select(&["\n", "\n", "\r\n"][..]), any::<bool>()).prop_map(
        |(pieces, newline, ended)| {
            let mut text = pieces.join("\n");
            if ended {
                text.push('\n');
            }
            if text.starts_with("---") {
                text.insert(0, '\n');
            }
            text.replace('\n', newline)
        },
    )
}

/// True if a table has an indented row: pulldown-cmark keeps it, and the walker ends the table.
fn has_indented_row(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let runs = lines.split(|line| line.trim().is_empty());
    runs.into_iter().any(|run| {
        let table = run.iter().position(|line| line.contains('|') && line.contains('-'));
        table.is_some_and(|at| run[at..].iter().any(|line| line.starts_with(['\t', ' '])))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn commonmark_agrees_on_generated_documents(text in body()) {
        prop_assume!(!has_indented_row(&text));
        prop_assert_eq!(walked(&text), parsed(&text));
    }

    #[test]
    fn commonmark_agrees_below_frontmatter(text in body(), crlf in any::<bool>()) {
        prop_assume!(!has_indented_row(&text));
        let head = "---\ntitle: a\n# comment\nlist:\n- one\n---\n".replace('\n', if crlf { "\r\n" } else { "\n" });
        let outline = walked(&format!("{head}{text}"));
        let blank = "\n".repeat(6);
        prop_assert_eq!(outline, parsed(&format!("{blank}{text}")));
    }
}

/// Documents as people write them.
const NOTES: &[&str] = &[
    "# MEMORY\n\n_Yours to edit._\n\n## Hard Rules\n\n- (2026-01-02) Never force-push. <!-- p-20260102-001 user -->\n- \
     Use pnpm,\nnot npm\n  - except in `legacy/`\n\n## Patterns\n\n1. First\n2. Second\n\n   ```sh\n   # not a \
     heading\n   make\n   ```\n\nArchitecture\nof the system\n----------------------\n\n* a\n* b\n",
    "Meeting\n=======\n\n> - Ada: ship it\n> - Bob: no\nlazy\n\n- [ ] ask Bob\n- [x] ask Ada\n\n\tpaste of a log\n\t# \
     no\n\n| who | what |\n|-----|------|\n| Ada | ship |\n- after the table\n",
    "## Log\r\n\r\n* 🔴 (10:00) a fact\r\n  more of it\r\n* 🟡 (10:05) ~~~ tildes\r\n\r\n~~~~md\r\n```\r\n## \
     no\r\n~~~~\r\n## Yes ##\r\n",
    "<details>\n<summary>Old</summary>\n\n## Visible\n\n- item\n\n</details>\n\n<!-- hidden\n\n## no\n-->\n\n## End\n",
    "Text before\n- a list in a paragraph\n2020. was a year\n\n---\n\n10. ten\n11. eleven\n\n    still eleven\n\n  not \
     eleven\n***\n[^1]: a note\n[ref]: https://example.org 'Title'\n---\n# End",
];

#[test]
fn commonmark_agrees_on_written_documents() {
    for note in NOTES {
        for text in
            [note.to_string(), note.replace("\r\n", "\n"), note.replace("\r\n", "\n").replace('\n', "\r\n")]
        {
            assert_eq!(walked(&text), parsed(&text), "{text}");
        }
        let outline = parsed(note);
        assert!(!outline.headings.is_empty() && !outline.items.is_empty());
    }
}

fn headings(outline: &Outline) -> Vec<&str> {
    outline.headings.values().map(|(_, title)| title.as_str()).collect()
}

/// Obsidian hides frontmatter; CommonMark sees a rule and a heading.
#[test]
fn deliberate_frontmatter_is_no_text() {
    let text = "---\ntitle: a\n---\n# Yes\n";
    assert_eq!(headings(&walked(text)), ["Yes"]);
    assert_eq!(headings(&parsed(text)), ["title: a", "Yes"]);
}

/// Indented code has no role of its own, as nothing is ever inserted between its lines.
#[test]
fn deliberate_indented_code_is_text() {
    let text = "a\n\n    # no\n    - no\n";
    assert_eq!(walked(text), Outline::default());
    assert_eq!(parsed(text), Outline::default());
    assert_eq!(parse_lines(text).lines[2].kind, LineKind::Text { lazy: false });
}

/// The structure inside of a quote is somebody else's.
#[test]
fn deliberate_a_quote_has_no_structure() {
    let text = "> # no\n> - no\n> ```\n";
    let lines = parse_lines(text).lines;
    assert!(lines.iter().all(|line| line.kind == LineKind::Text { lazy: false }));
}

/// A link definition can continue on the next line; the walker reads single lines.
#[test]
fn deliberate_a_link_definition_has_one_line() {
    let text = "[1]:\nhttps://example.org\n===\n";
    assert_eq!(headings(&walked(text)), ["[1]: https://example.org"]);
    assert!(headings(&parsed(text)).is_empty());
}

/// GFM ends a table at any block. pulldown-cmark keeps indented lines as rows.
#[test]
fn deliberate_indented_code_ends_a_table() {
    let text = "| a |\n|---|\n    code\nwords\n===\n";
    assert_eq!(headings(&walked(text)), ["words"]);
    assert!(headings(&parsed(text)).is_empty());
}

/// CommonMark ends a line at a lone carriage return; pulldown-cmark does not in code and HTML.
#[test]
fn deliberate_a_carriage_return_ends_a_line() {
    let text = "<!-- a -->\r# Yes\r";
    assert_eq!(headings(&walked(text)), ["Yes"]);
    assert!(headings(&parsed(text)).is_empty());
}

/// An element ends at its own end tag, for both. CommonMark ends it at that of any other such element too.
#[test]
fn an_element_ends_at_its_own_tag() {
    let text = "<pre>\n</style>\n# no\n</pre>\n# Yes\n";
    assert_eq!(headings(&walked(text)), ["Yes"]);
    assert_eq!(headings(&parsed(text)), ["Yes"]);
}
