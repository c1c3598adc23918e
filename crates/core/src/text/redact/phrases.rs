//! Scanner for secrets of several words or groups: passphrases, wallet seed phrases, app passwords,
//! authenticator keys.

use super::cue_words::is_eastern;
use super::values::is_base32;
use super::walk::{MASK_BYTE, prefix_in_any_case};
use super::words::{holds_plain_words, is_word_list};

/// The maximum length of a phrase.
const MAX_PHRASE_BYTES: usize = 240;

/// The words from `at` to the end of the line or sentence, if the cue at `cue` announces a phrase.
pub(super) fn read_phrase(text: &str, cue: usize, at: usize) -> Option<(usize, usize)> {
    let window = &text[at..text.floor_char_boundary(at + MAX_PHRASE_BYTES)];
    let line = &window[..window
        .find(['\n', '.', ',', ';', '!', '?', '"', '`', char::from(MASK_BYTE)])
        .unwrap_or(window.len())];
    let words = line.trim();
    let start = at + (line.len() - line.trim_start().len());
    let named = |names: &[&str]| names.iter().any(|name| prefix_in_any_case(&text[cue..], name).is_some());
    let phrase = named(&["passphrase", "pass phrase", "seed phrase", "recovery phrase", "mnemonic"]);
    let wallet = named(&["seed", "recovery", "mnemonic", "wallet words", "12 words", "24 words"]);
    if (phrase || is_grouped(words)) && is_word_list(words, ' ') || (wallet && is_wallet(words)) {
        return Some((start, start + words.len()));
    }
    let wireless =
        named(&["psk"]) && ["wpa", "wpa2", "wifi", "wi-fi"].contains(&word_before(text, cue).as_str());
    if wireless && at + line.len() == line_end(text, at) && holds_plain_words(words, ' ', 3) {
        return Some((start, start + words.len()));
    }
    if named(&["ssn", "social security"]) && is_spaced_number(words) {
        return Some((start, start + SPACED_SSN_CHARS));
    }
    if named(&["recovery key", "backup key"]) && is_key_in_groups(words) {
        return Some((start, start + words.len()));
    }
    if named(&["totp", "setup key", "secret key", "2fa", "mfa", "otp"]) && words.split(' ').count() >= 4 {
        let key: String = words.split(' ').filter(|group| group.len() <= 4).collect();
        return is_base32(&key).then_some((start, start + words.len()));
    }
    let group = words
        .get(..19)
        .filter(|_| is_for_app(&text[text.ceil_char_boundary(cue.saturating_sub(24))..cue]))?;
    let ended = !words[19..].starts_with(|c: char| c.is_alphanumeric());
    (ended && is_grouped(group) && is_word_list(group, ' ')).then_some((start, start + 19))
}

/// [`phrase`] with only a space between the cue and the words. Accepts only words that cannot be a sentence.
pub(super) fn phrase_directly_behind(text: &str, cue: usize, cue_end: usize) -> Option<(usize, usize)> {
    let (start, end) = text[cue_end..].starts_with(' ').then(|| read_phrase(text, cue, cue_end)).flatten()?;
    let words = &text[start..end];
    let drawn = words.split(' ').filter(|word| is_unpronounceable(word)).count() >= 2;
    let key = words.bytes().any(|b| b.is_ascii_digit());
    (drawn || key || is_wallet(words)).then_some((start, end))
}

/// Finds a password in a script without spaces that ends in digits: `바다사자77`. Without the digits it would be
/// the next word of the sentence.
pub(super) fn eastern_password(text: &str, at: usize) -> Option<(usize, usize)> {
    const MAX_PASSWORD_CHARS: usize = 20;
    let rest = &text[at..text.floor_char_boundary(at + 4 * (MAX_PASSWORD_CHARS + 1))];
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..end];
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let eastern = letters.chars().count() >= 2 && letters.chars().all(is_eastern);
    (eastern && letters.len() < word.len() && word.chars().count() <= MAX_PASSWORD_CHARS)
        .then_some((at, at + end))
}

fn line_end(text: &str, at: usize) -> usize {
    let window = &text[at..text.floor_char_boundary(at + MAX_PHRASE_BYTES + 1)];
    at + window.find('\n').unwrap_or(window.len())
}

/// The word before `at`, in lower case.
fn word_before(text: &str, at: usize) -> String {
    let before = &text[text.ceil_char_boundary(at.saturating_sub(24))..at];
    before.split([' ', '-', '\n', ':']).rfind(|word| !word.is_empty()).unwrap_or_default().to_lowercase()
}

/// The length of `219 09 9999`.
const SPACED_SSN_CHARS: usize = 11;

/// True for a social security number with spaces.
fn is_spaced_number(words: &str) -> bool {
    let groups: Vec<&str> = words.split(' ').take(3).collect();
    let digits = groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_digit()));
    digits && matches!(groups[..], [a, b, c] if (a.len(), b.len(), c.len()) == (3, 2, 4))
}

/// True for four or more groups of the same length with letters and digits: the key of an encrypted disk or
/// mailbox.
fn is_key_in_groups(words: &str) -> bool {
    let groups: Vec<&str> = words.split(' ').collect();
    let even =
        groups.iter().all(|group| group.len() == 4 && group.bytes().all(|b| b.is_ascii_alphanumeric()));
    let mixed = groups.iter().filter(|group| group.bytes().any(|b| b.is_ascii_digit()));
    groups.len() >= 4 && even && mixed.count() * 3 >= groups.len()
}

/// True if letters look random: no vowel, or three consonants in a row.
fn is_unpronounceable(word: &str) -> bool {
    let vowel = |b: &u8| b"aeiouy".contains(b);
    !word.bytes().any(|b| vowel(&b)) || word.as_bytes().windows(3).any(|three| !three.iter().any(vowel))
}

/// True for four groups of four letters, the form of Google's app passwords.
fn is_grouped(words: &str) -> bool {
    words.len() == 19 && words.split(' ').all(|group| group.len() == 4)
}

/// True if the words before a cue make it the password of an app.
fn is_for_app(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    words.next().is_some_and(|word| ["app", "app-specific", "apps"].contains(&word.to_lowercase().as_str()))
}

/// True for a seed phrase: twelve to twenty-four words of three to eight letters, with few function words
/// among them.
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
