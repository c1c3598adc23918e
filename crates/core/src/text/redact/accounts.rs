//! Numbers of bank accounts (IBAN), known by their country's length and their check digits.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::walk::{SecretSpan, starts_word};

/// The number of characters of an account number, by country.
#[rustfmt::skip]
const LENGTHS: [(&[u8; 2], usize); 44] = [
    (b"AD", 24), (b"AE", 23), (b"AL", 28), (b"AT", 20), (b"AZ", 28), (b"BA", 20), (b"BE", 16), (b"BG", 22),
    (b"BR", 29), (b"CH", 21), (b"CY", 28), (b"CZ", 24), (b"DE", 22), (b"DK", 18), (b"EE", 20), (b"ES", 24),
    (b"FI", 18), (b"FR", 27), (b"GB", 22), (b"GE", 22), (b"GR", 27), (b"HR", 21), (b"HU", 28), (b"IE", 22),
    (b"IL", 23), (b"IS", 26), (b"IT", 27), (b"KZ", 20), (b"LI", 21), (b"LT", 20), (b"LU", 20), (b"LV", 21),
    (b"MC", 27), (b"MT", 31), (b"NL", 18), (b"NO", 15), (b"PL", 28), (b"PT", 25), (b"RO", 24), (b"RS", 22),
    (b"SA", 24), (b"SE", 24), (b"SK", 24), (b"TR", 26),
];

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for &at in &marks.words {
        let [first, second, third, fourth, ..] = bytes[at..] else { continue };
        let is_begun = first.is_ascii_uppercase()
            && second.is_ascii_uppercase()
            && third.is_ascii_digit()
            && fourth.is_ascii_digit();
        if at < from || !is_begun || !starts_word(bytes, at) {
            continue;
        }
        let Some((_, length)) = LENGTHS.iter().find(|(country, _)| **country == [first, second]) else {
            continue;
        };
        if let Some(end) = account(bytes, at, *length) {
            from = end;
            found.push(SecretSpan { kind: SecretKind::BankAccount, start: at, end });
        }
    }
}

/// The end of an account number with this many characters, if its check digits are right. Blanks may part its
/// groups.
fn account(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let mut characters = Vec::with_capacity(length);
    let mut end = at;
    while characters.len() < length {
        match *bytes.get(end)? {
            b if b.is_ascii_digit() || b.is_ascii_uppercase() => characters.push(b),
            b' ' if characters.len() >= 4 && bytes[end - 1] != b' ' => {}
            _ => return None,
        }
        end += 1;
    }
    let is_whole = !bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    characters.rotate_left(4);
    let value = |b: u8| if b.is_ascii_digit() { u32::from(b - b'0') } else { u32::from(b - b'A') + 10 };
    let rest = characters
        .into_iter()
        .map(value)
        .fold(0, |rest, value| (rest * if value > 9 { 100 } else { 10 } + value) % 97);
    (is_whole && rest == 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_bank_accounts_need_their_check_digits() {
        for (text, expected) in [
            ("DE89 3704 0044 0532 0130 00", "[redacted:bank-account]"),
            ("IBAN: GB82WEST12345698765432.", "IBAN: [redacted:bank-account]."),
            ("DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
            ("RF18 5390 0754 7034", "RF18 5390 0754 7034"),
            ("GB82WEST123456987654321", "GB82WEST123456987654321"),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
