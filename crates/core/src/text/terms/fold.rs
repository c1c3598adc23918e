//! Folds characters to one form, and classifies them within a word.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds `text`: compatibility forms (full-width letters, ligatures), accents, typographic quotes and
/// hyphens. Case stays, because it marks the words of a camel-case name.
pub(crate) fn fold(text: &str, out: &mut String) {
    out.clear();
    let bare = text.nfkd().filter(|c| !is_accent(*c) && !is_nothing(*c));
    for c in bare.nfc() {
        match c {
            'ß' | 'ẞ' => out.push_str("ss"),
            'ø' => out.push('o'),
            'Ø' => out.push('O'),
            'æ' => out.push_str("ae"),
            'Æ' => out.push_str("Ae"),
            'œ' => out.push_str("oe"),
            'Œ' => out.push_str("Oe"),
            'ł' => out.push('l'),
            'Ł' => out.push('L'),
            'đ' => out.push('d'),
            'Đ' => out.push('D'),
            'ı' => out.push('i'),
            'þ' => out.push_str("th"),
            'Þ' => out.push_str("Th"),
            '’' | '‘' | 'ʼ' => out.push('\''),
            '\u{2010}' | '\u{2011}' | '\u{2212}' => out.push('-'),
            _ => out.push(c),
        }
    }
}

/// True for the accents of Latin, Greek and Cyrillic. Marks of other scripts count as letters.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// True for invisible characters inside of words.
fn is_nothing(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

/// True for a letter, a digit, or a combining mark.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() || is_combining_mark(c) }
}

/// True for a character that may join parts of a name: `snake_case`, `kebab-case`, `dotted.path`, `a/path`,
/// `user@host`, `don't`.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | '\\' | '@' | '\'')
}

/// True for a character of a script without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E01}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECD}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17D3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{3105}'..='\u{312F}' | '\u{3131}'..='\u{318E}' | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97C}' | '\u{AC00}'..='\u{D7FB}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        let mut out = String::new();
        fold(text, &mut out);
        out
    }

    #[test]
    fn spellings_of_one_word_meet() {
        for (text, form) in [
            ("Café", "Cafe"),
            ("Cafe\u{301}", "Cafe"),
            ("Straße", "Strasse"),
            ("ＰｏｓｔｇｒｅＳＱＬ", "PostgreSQL"),
            ("ﬁle", "file"),
            ("don’t", "don't"),
            ("co\u{AD}operate", "cooperate"),
            ("ｶﾞｲﾄﾞ", "ガイド"),
            ("한국어", "한국어"),
            ("हिन्दी", "हिन्दी"),
            ("ёлка", "елка"),
            ("Łódź", "Lodz"),
        ] {
            assert_eq!(folded(text), form, "{text}");
        }
    }

    proptest! {
        #[test]
        fn plain_ascii_is_its_own_form(text in "[ -~]{0,60}") {
            prop_assert_eq!(folded(&text), text);
        }
    }
}
