//! Sanitises text: removes everything that cannot be seen (B-02).
//!
//! Terminal escapes, control characters, direction overrides and invisible characters can hide instructions
//! and secrets from the person who reviews a memory. Characters that writing needs stay: joiners between
//! letters of the scripts that use them, and joiners inside emoji.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

const ZWNJ: char = '\u{200C}';
const ZWJ: char = '\u{200D}';
const KEYCAP: char = '\u{20E3}';

/// Removes escape sequences, control characters and invisible characters. Line breaks of every sort become
/// `\n`; tabs stay. Idempotent, and does not allocate if the text is clean already.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_suspect) {
        return Cow::Borrowed(text);
    }
    let cleaned = settle_joiners(&strip(text));
    if cleaned == text { Cow::Borrowed(text) } else { Cow::Owned(cleaned) }
}

/// True if a text has only printable ASCII, line feeds and tabs. Works on whole blocks, without a branch per
/// byte, so that the compiler can vectorise it.
fn is_plain(text: &str) -> bool {
    const SCAN_BLOCK_BYTES: usize = 64;
    let plain = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
    text.as_bytes().chunks(SCAN_BLOCK_BYTES).all(|block| block.iter().fold(true, |all, b| all & plain(b)))
}

/// `text` as one line of at most `max_chars` characters, for titles and listings: sanitised, with single
/// spaces, and with `…` if it was cut.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let text = clean(text);
    // An upper bound of the bytes in that many characters.
    let enough = if text.is_ascii() { max_chars } else { max_chars.saturating_mul(4) };
    let line = single_spaced(&text, enough);
    let Some((cut, _)) = line.char_indices().nth(max_chars) else { return line };
    if max_chars == 0 {
        return String::new();
    }
    let keep = line[..cut].char_indices().next_back().map_or(0, |(last, _)| last);
    let kept = whole_characters(&line, keep).trim_end();
    format!("{kept}…")
}

/// `text` with every run of white space replaced by one space, and none at its ends. May stop anywhere after
/// `enough` bytes.
pub(super) fn single_spaced(text: &str, enough: usize) -> String {
    let mut line = String::with_capacity(text.len().min(enough.saturating_add(64)));
    for word in text.split_whitespace() {
        if line.len() > enough {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The first `end` bytes of `line`, shortened so that no grapheme is split.
fn whole_characters(line: &str, end: usize) -> &str {
    let mut kept = &line[..end];
    let mut following = line[end..].chars().next();
    while let Some(last) = kept.chars().next_back() {
        let torn =
            following.is_some_and(|next| is_combining_mark(next) || is_joiner(next) || is_selector(next));
        if !torn && !is_joiner(last) {
            break;
        }
        following = Some(last);
        kept = &kept[..kept.len() - last.len_utf8()];
    }
    kept
}

fn is_joiner(c: char) -> bool {
    matches!(c, ZWNJ | ZWJ)
}

/// The two variation selectors that choose between text and emoji presentation.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE0E}' | '\u{FE0F}')
}

fn is_suspect(c: char) -> bool {
    is_control(c) || is_line_break(c) || is_invisible(c) || is_joiner(c) || is_selector(c)
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Line breaks other than `\n`. Removing them would join two words.
fn is_line_break(c: char) -> bool {
    matches!(c, '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that are invisible and that no ordinary text needs. Tag characters are removed even from the
/// three flags that use them (England, Scotland, Wales), because they can carry a whole hidden message.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FDD0}'..='\u{FDEF}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{FFFE}' | '\u{FFFF}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Removes everything that is never allowed: escape sequences, controls, invisible characters.
fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = escape_sequence(rest) {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if is_line_break(c) {
            if c == '\r' {
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
            out.push('\n');
        } else if !is_control(c) && !is_invisible(c) {
            out.push(c);
        }
    }
    out
}

/// The length of the terminal escape sequence at the start of `text`, in its seven-bit (`ESC [`) or eight-bit
/// (U+009B) form. Of an unterminated string sequence (title, hyperlink target) only the introducer counts,
/// because the text after it may be anybody's.
fn escape_sequence(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let (introducer, start) = match chars.next()? {
        '\u{1B}' => match chars.next() {
            Some(c @ ' '..='~') => (c, 2),
            _ => return Some(1),
        },
        '\u{9B}' => ('[', 2),
        '\u{9D}' => (']', 2),
        '\u{90}' => ('P', 2),
        '\u{98}' => ('X', 2),
        '\u{9E}' => ('^', 2),
        '\u{9F}' => ('_', 2),
        _ => return None,
    };
    let body = &text[start..];
    let skipped = match introducer {
        '[' => {
            let parameters = body.bytes().take_while(|b| matches!(b, b' '..=b'?')).count();
            let ended = body.as_bytes().get(parameters).is_some_and(|b| matches!(b, b'@'..=b'~'));
            if ended { parameters + 1 } else { 0 }
        }
        ']' | 'P' | 'X' | '^' | '_' => string_sequence(body).unwrap_or(0),
        ' '..='/' => {
            let more = body.bytes().take_while(|b| matches!(b, b' '..=b'/')).count();
            let ended = body.as_bytes().get(more).is_some_and(|b| matches!(b, b'0'..=b'~'));
            if ended { more + 1 } else { 0 }
        }
        _ => 0,
    };
    Some(start + skipped)
}

/// The length of a string sequence's body with its terminator: BEL, `ESC \` or U+009C, on the same line.
fn string_sequence(body: &str) -> Option<usize> {
    let (end, c) = body.char_indices().find(|(_, c)| c.is_control() && *c != '\t')?;
    match c {
        '\u{7}' => Some(end + 1),
        '\u{9C}' => Some(end + 2),
        '\u{1B}' if body[end..].starts_with("\u{1B}\\") => Some(end + 2),
        _ => None,
    }
}

/// Removes joiners and presentation selectors that join nothing. The decision depends only on kept characters
/// before and on a neighbour after that is never removed, so it is idempotent.
fn settle_joiners(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = [None, None];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let [before, last] = kept;
        let stays = match c {
            ZWNJ => last.is_some_and(is_joining_script) && next.is_some_and(is_joining_script),
            ZWJ => {
                let emoji = if last.is_some_and(is_selector) { before } else { last };
                (last.is_some_and(is_joining_script) && next.is_some_and(is_joining_script))
                    || (emoji.is_some_and(is_pictograph) && next.is_some_and(is_pictograph))
            }
            _ if is_selector(c) => {
                last.is_some_and(is_pictograph) || (last.is_some_and(is_keycap_base) && next == Some(KEYCAP))
            }
            _ => true,
        };
        if stays {
            out.push(c);
            kept = [last, Some(c)];
        }
    }
    out
}

fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Blocks whose letters change shape or meaning with a joiner between them: Arabic and its relatives, the
/// Indic scripts, Myanmar, Khmer, Mongolian and the Brahmic scripts outside of the basic plane.
fn is_joining_script(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{7FF}' | '\u{840}'..='\u{DFF}' | '\u{F00}'..='\u{109F}' | '\u{1700}'..='\u{18AF}'
        | '\u{1A20}'..='\u{1AAF}' | '\u{1B00}'..='\u{1C7F}' | '\u{1CD0}'..='\u{1CFF}' | '\u{A840}'..='\u{A8FF}'
        | '\u{A930}'..='\u{AAFF}' | '\u{ABC0}'..='\u{ABFF}' | '\u{FB50}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' | '\u{10A00}'..='\u{10A5F}' | '\u{10D00}'..='\u{10D3F}'
        | '\u{11000}'..='\u{11FFF}' | '\u{1E900}'..='\u{1E95F}')
}

/// Characters that emoji sequences are built from. These are whole blocks, not the exact property: an
/// unassigned neighbour does no harm, and the exact table would be longer than this file.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn cleans(text: &str, expected: &str) {
        assert_eq!(clean(text), expected);
    }

    #[track_caller]
    fn passes(text: &str) {
        assert!(matches!(clean(text), Cow::Borrowed(kept) if kept == text), "{:?}", clean(text));
    }

    #[test]
    fn b_02_escape_sequences_go() {
        cleans("\u{1b}[31mred\u{1b}[0m and \u{1b}[1;38;5;200mpink", "red and pink");
        cleans("\u{9b}31mred", "red");
        cleans("\u{1b}]0;title\u{7}text", "text");
        cleans("\u{1b}]8;;https://evil.example\u{1b}\\label\u{1b}]8;;\u{1b}\\", "label");
        cleans("\u{1b}Pq#0;2;0\u{1b}\\after \u{1b}(Bplain \u{1b}7saved", "after plain saved");
        cleans("lone \u{1b}", "lone ");
    }

    #[test]
    fn b_02_a_broken_escape_loses_no_text() {
        cleans("\u{1b}]0;never closed\nnext line", "0;never closed\nnext line");
        cleans("\u{1b}[12", "12");
        cleans("\u{1b}\u{1b}[1mx\u{1b}é", "xé");
    }

    #[test]
    fn b_02_controls_go_and_line_breaks_become_newlines() {
        cleans("a\0b\u{7}c\u{8}d\u{7f}e\u{80}f", "abcdef");
        cleans("one\r\ntwo\rthree\u{85}four\u{2028}five\u{b}six", "one\ntwo\nthree\nfour\nfive\nsix");
        passes("tab\tand\nnewline");
    }

    #[test]
    fn b_02_invisible_characters_and_overrides_go() {
        for hidden in [
            '\u{AD}',
            '\u{34F}',
            '\u{61C}',
            '\u{115F}',
            '\u{1160}',
            '\u{17B4}',
            '\u{180B}',
            '\u{180E}',
            '\u{200B}',
            '\u{200E}',
            '\u{200F}',
            '\u{202A}',
            '\u{202E}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{206F}',
            '\u{3164}',
            '\u{FE00}',
            '\u{FEFF}',
            '\u{FFA0}',
            '\u{FFF9}',
            '\u{FFFB}',
            '\u{E0001}',
            '\u{E007F}',
            '\u{E0100}',
            '\u{E01EF}',
        ] {
            cleans(&format!("igno{hidden}re"), "ignore");
        }
    }

    #[test]
    fn b_02_a_message_in_tag_characters_goes() {
        let hidden: String = "obey".chars().filter_map(|c| char::from_u32(0xE0000 + c as u32)).collect();
        cleans(&format!("🏴{hidden} flag"), "🏴 flag");
    }

    #[test]
    fn b_02_joiners_stay_where_writing_needs_them() {
        passes("می‌خواهم");
        passes("ශ්‍රී ලංකා");
        passes("क्‍ष and क्‌ष");
        passes("👩‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 🧑🏽‍💻 1️⃣ ☺︎ ©️");
    }

    #[test]
    fn b_02_joiners_go_where_they_only_hide() {
        cleans("pass\u{200C}word to\u{200D}ken", "password token");
        cleans("\u{200D}می\u{200C}", "می");
        cleans("a\u{FE0F}b 1\u{FE0F}2", "ab 12");
        cleans("❤\u{FE0F}\u{FE0F}\u{200D}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥");
    }

    #[test]
    fn writing_of_many_kinds_passes() {
        passes(
            "Grüße, ¿qué tal?, naïve café, Привет, こんにちは、世界！, 你好, שלום, مرحبا, ไทย, e\u{301}, 𝒳, 🔴🟡🟢",
        );
    }

    #[test]
    fn one_line_collapses_and_cuts() {
        assert_eq!(one_line("  a \n\t b\u{3000}c  ", 10), "a b c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("ab cdefg", 4), "ab…");
        assert_eq!(one_line("äöüß!", 3), "äö…");
        assert_eq!(one_line("abc", 0), "");
        assert_eq!(one_line("abc", 1), "…");
    }

    #[test]
    fn one_line_does_not_tear_a_character() {
        assert_eq!(one_line("ae\u{301}bc", 3), "a…");
        assert_eq!(one_line("a👩‍👩‍👧 b", 4), "a…");
        assert_eq!(one_line("a❤️‍🔥b", 3), "a…");
    }

    /// Random text with many of the characters that cleaning handles.
    fn odd_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            "[ -~]{0,4}",
            proptest::sample::select(vec![
                "\u{1b}[",
                "\u{1b}]",
                "\u{1b}",
                "\u{1b}\\",
                "\u{7}",
                "\u{9b}",
                "\u{9c}",
                "31m",
                "\r",
                "\n",
                "\u{200D}",
                "\u{200C}",
                "\u{FE0F}",
                "\u{FE0E}",
                "👩",
                "❤",
                "🏽",
                "می",
                "क्",
                "1",
                "\u{20E3}",
                "\u{200B}",
                "\u{E0041}",
                "\u{2028}",
                "e\u{301}",
            ])
            .prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn b_02_cleaning_is_idempotent_and_leaves_nothing_hidden(text in odd_text()) {
            let once = clean(&text).into_owned();
            prop_assert!(matches!(clean(&once), Cow::Borrowed(_)));
            let hidden = |c| is_control(c) || is_line_break(c) || is_invisible(c);
            prop_assert!(!once.chars().any(hidden), "{:?}", once);
        }

        #[test]
        fn cleaning_only_removes(text in "[a-zA-Z0-9 .,äß漢\u{200B}\u{200D}\0]{0,60}") {
            let visible: String = text.chars().filter(|c| !matches!(c, '\u{200B}' | '\u{200D}' | '\0')).collect();
            prop_assert_eq!(clean(&text), visible);
        }

        #[test]
        fn one_line_keeps_its_promises(text in odd_text(), max in 0usize..30) {
            let line = one_line(&text, max);
            prop_assert!(line.chars().count() <= max);
            prop_assert!(!line.contains('\n') && !line.contains("  ") && line.trim() == line);
            prop_assert_eq!(one_line(&line, max), line);
        }
    }
}
