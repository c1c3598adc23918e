//! Secrets of several words or groups: passphrases, the words of a wallet, passwords for apps, keys of authenticators.

use super::values::{is_base32, is_word_list};
use super::walk::{MASK, prefix_in_any_case};

/// The longest phrase that is read.
const LONGEST: usize = 240;

/// The words from `at` to the end of the line or sentence, if the cue at `cue` announces such words.
pub(super) fn phrase(text: &str, cue: usize, at: usize) -> Option<(usize, usize)> {
    let window = &text[at..text.floor_char_boundary(at + LONGEST)];
    let line = &window
        [..window.find(['\n', '.', ',', ';', '!', '?', '"', '`', char::from(MASK)]).unwrap_or(window.len())];
    let words = line.trim();
    let start = at + (line.len() - line.trim_start().len());
    let named = |names: &[&str]| names.iter().any(|name| prefix_in_any_case(&text[cue..], name).is_some());
    let phrase = named(&["passphrase", "pass phrase", "seed phrase", "recovery phrase", "mnemonic"]);
    let wallet = named(&["seed", "recovery", "mnemonic"]);
    if (phrase || is_grouped(words)) && is_word_list(words, ' ') || (wallet && is_wallet(words)) {
        return Some((start, start + words.len()));
    }
    if named(&["totp", "setup key", "secret key", "2fa", "otp"]) && words.split(' ').count() >= 4 {
        let key: String = words.split(' ').filter(|group| group.len() <= 4).collect();
        return is_base32(&key).then_some((start, start + words.len()));
    }
    let group = words
        .get(..19)
        .filter(|_| is_for_app(&text[text.ceil_char_boundary(cue.saturating_sub(24))..cue]))?;
    let ended = !words[19..].starts_with(|c: char| c.is_alphanumeric());
    (ended && is_grouped(group) && is_word_list(group, ' ')).then_some((start, start + 19))
}

/// Four groups of four letters: Google's passwords for apps.
fn is_grouped(words: &str) -> bool {
    words.len() == 19 && words.split(' ').all(|group| group.len() == 4)
}

/// Whether the words before a cue make it the password of an app.
fn is_for_app(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    words.next().is_some_and(|word| ["app", "app-specific", "apps"].contains(&word.to_lowercase().as_str()))
}

/// Twelve to twenty-four words of three to eight letters. Some of them hold sentences together too, but few.
fn is_wallet(words: &str) -> bool {
    #[rustfmt::skip]
    const GRAMMAR: [&str; 24] = [
        "and", "are", "but", "can", "for", "from", "has", "have", "its", "not", "only", "should", "that", "the", "then",
        "they", "this", "use", "was", "when", "which", "will", "with", "your",
    ];
    let all: Vec<&str> = words.split(' ').collect();
    let plain =
        all.iter().all(|word| (3..=8).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase()));
    let grammar = all.iter().filter(|word| GRAMMAR.contains(word)).count();
    matches!(all.len(), 12 | 15 | 18 | 21 | 24) && plain && grammar <= 2
}
