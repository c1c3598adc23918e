//! Words inside of a value: they make it a name (`auth-service-2`) or a password composed of words
//! (`silver-anchor-9`, `Two Words 7`).

use super::placeholders::is_placeholder;
use super::vocabulary::{is_compounded, is_numeral, is_stand_in};
use super::walk::each_word;

/// True if every part of `value` is a word, perhaps with a small number: `my-secret-2`, `authToken`,
/// `test_foo2`, `prod-2024`.
pub(super) fn is_wordy(value: &str) -> bool {
    each_word(value, |word| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = word.len() - letters.len();
        let only_letters = letters.chars().all(char::is_alphabetic);
        if letters.is_empty() {
            digits <= 4
        } else {
            only_letters && letters.chars().count() >= 2 && digits <= 2
        }
    })
}

/// [`is_wordy`] without very long runs of letters.
pub(super) fn is_wordy_name(value: &str) -> bool {
    is_wordy(value) && each_word(value, |word| word.chars().count() < 20)
}

/// True for two to five plain words joined by `-` or `_`, none of which is typical of descriptions
/// (`case-sensitive`, `read-only`) or names (`user_password`).
pub(super) fn is_joined_words(value: &str) -> bool {
    let separator = if value.contains('_') { '_' } else { '-' };
    let words: Vec<&str> = value.split(separator).collect();
    (2..=5).contains(&words.len()) && are_made_up(&words)
}

/// True for joined words with one short number: `silver-anchor-9`, `copper.tree.12`, but not
/// `auth-service-2`.
pub(super) fn is_numbered_words(value: &str) -> bool {
    let Some(separator) = value.chars().find(|c| matches!(c, '-' | '_' | '.')) else { return false };
    let (numbers, words): (Vec<&str>, Vec<&str>) = value.split(separator).partition(|part| is_number(part));
    numbers.len() == 1 && (2..=4).contains(&words.len()) && are_made_up(&words)
}

/// True for two or more words in camel case: `GreenApple`, but not `hashedPassword`.
pub(super) fn is_camel_words(value: &str) -> bool {
    let mut words = Vec::new();
    let letters = value.chars().all(char::is_alphabetic);
    let whole = letters
        && each_word(value, |word| {
            words.push(word.to_owned());
            true
        });
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    whole && (2..=4).contains(&words.len()) && are_made_up(&words)
}

/// True for words with spaces and one short number, as in a passphrase: `Two Words 7`.
pub(super) fn is_numbered_phrase(value: &str) -> bool {
    let (numbers, words): (Vec<&str>, Vec<&str>) = value.split(' ').partition(|part| is_number(part));
    numbers.len() == 1 && (2..=4).contains(&words.len()) && are_made_up(&words)
}

fn is_number(part: &str) -> bool {
    (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
}

/// True if all words are plain and hardly one is part of a technical term.
fn are_made_up(words: &[&str]) -> bool {
    let plain = |word: &&str| {
        (3..=14).contains(&word.chars().count())
            && word.chars().all(char::is_alphabetic)
            && word.chars().skip(1).all(char::is_lowercase)
    };
    let technical = words.iter().enumerate().filter(|(at, word)| {
        let lower = word.to_lowercase();
        // A numeral in front makes a technical term (`two-factor`), one behind does not (`hunter_two`).
        let counts = *at > 0 && is_numeral(&lower);
        !counts && (is_compounded(&lower) || (is_stand_in(&lower) && lower != "correct"))
    });
    words.iter().all(plain) && technical.count() * 3 <= words.len()
}

/// True for a passphrase: four or more plain words, none of them a function word.
pub(super) fn is_word_list(value: &str, separator: char) -> bool {
    holds_plain_words(value, separator, 4)
}

/// [`is_word_list`] with at least `least` words, for names behind which only a passphrase can be.
pub(super) fn holds_plain_words(value: &str, separator: char, least: usize) -> bool {
    #[rustfmt::skip]
    const GRAMMAR: [&str; 64] = [
        "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do", "each",
        "every", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its", "least", "long", "may",
        "minimum", "must", "never", "no", "not", "of", "on", "only", "or", "our", "same", "set", "should",
        "so", "that", "the", "then", "there", "they", "this", "to", "up", "use", "used", "user", "was", "we",
        "when", "which", "will", "with", "without", "would", "you", "your",
    ];
    let mut count = 0;
    let plain = value.split(separator).all(|word| {
        count += 1;
        (3..=9).contains(&word.len())
            && word.bytes().all(|b| b.is_ascii_lowercase())
            && !GRAMMAR.contains(&word)
    });
    plain && count >= least && !is_placeholder(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_03_words_that_somebody_made_up_are_told_from_names() {
        for value in
            ["silver-anchor-9", "walnut_ridge_2023", "copper.tree.12", "blauw-paard-9", "синий-кит-7"]
        {
            assert!(is_numbered_words(value), "{value}");
        }
        for value in
            ["auth-service-2", "my-secret-2", "billing-db-2", "prod-2024", "user-data-v2", "1.2.3", "a.b.c"]
        {
            assert!(!is_numbered_words(value), "{value}");
        }
        assert!(is_joined_words("hunter_two") && !is_joined_words("two-factor"));
        assert!(
            is_camel_words("GreenApple") && !is_camel_words("hashedPassword") && !is_camel_words("Apple")
        );
        assert!(is_numbered_phrase("Gatto Nero 22") && !is_numbered_phrase("Minimum Length 8"));
    }
}
