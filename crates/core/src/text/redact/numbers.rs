//! Scanner for secret numbers: cards, social security numbers, disk recovery keys, tokens that begin with an
//! account's number.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::walk::{MASK_BYTE, SecretSpan, run_end, starts_word};

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for &at in &marks.words {
        // Requires two digits in a row, which rejects nearly all words.
        let [first, second, ..] = bytes[at..] else { continue };
        if at < from || !first.is_ascii_digit() || !second.is_ascii_digit() || !stands_alone(bytes, at) {
            continue;
        }
        let number = DigitRun::read_digits(bytes, at);
        let hit = card(text, at, &number)
            .or_else(|| social_security(bytes, at))
            .or_else(|| disk_key(bytes, at))
            .or_else(|| app_token(bytes, at));
        from = hit.as_ref().map_or(number.end, |span| span.end);
        found.extend(hit);
    }
}

/// True if a number may begin at `at`: not inside of another number, a decimal fraction or a name.
fn stands_alone(bytes: &[u8], at: usize) -> bool {
    let separated = match bytes[..at] {
        [.., digit, b'-' | b'.' | b',' | b' '] => !digit.is_ascii_digit(),
        _ => true,
    };
    separated && !matches!(bytes[..at], [.., b'_' | b'#' | b'.']) && starts_word(bytes, at)
}

/// Digits in groups with the same separator.
struct DigitRun {
    digits: [u8; 20],
    count: usize,
    grouped: bool,
    end: usize,
}

impl DigitRun {
    fn read_digits(bytes: &[u8], at: usize) -> Self {
        let mut number = Self { digits: [0; 20], count: 0, grouped: false, end: at };
        let mut sign = 0;
        while let Some(byte) = bytes.get(number.end) {
            if byte.is_ascii_digit() && number.count < 20 {
                number.digits[number.count] = byte - b'0';
                number.count += 1;
            } else if matches!(byte, b' ' | b'-')
                && (sign == 0 || sign == *byte)
                && bytes.get(number.end + 1).is_some_and(u8::is_ascii_digit)
                && number.count >= 4
            {
                (sign, number.grouped) = (*byte, true);
            } else {
                break;
            }
            number.end += 1;
        }
        number
    }

    fn digits(&self) -> &[u8] {
        &self.digits[..self.count]
    }

    /// The first `count` digits as one number.
    fn leading_number(&self, count: usize) -> usize {
        self.digits[..count].iter().fold(0, |number, digit| number * 10 + usize::from(*digit))
    }

    /// True if a card issuer uses this prefix with this length.
    fn is_issued(&self) -> bool {
        match self.count {
            13 | 19 => self.digits[0] == 4,
            14 => matches!(self.leading_number(3), 300..=305 | 360..=369 | 380..=399),
            15 => matches!(self.leading_number(2), 34 | 37),
            16 => {
                self.digits[0] == 4
                    || matches!(self.leading_number(2), 51..=55 | 65)
                    || matches!(self.leading_number(3), 644..=649)
                    || matches!(self.leading_number(4), 2221..=2720 | 3528..=3589 | 6011)
            }
            _ => false,
        }
    }

    /// True if the Luhn check digit is right.
    fn is_checked(&self) -> bool {
        let sum = self.digits().iter().rev().enumerate().map(|(place, digit)| {
            let doubled = usize::from(*digit) * if place % 2 == 1 { 2 } else { 1 };
            doubled / 10 + doubled % 10
        });
        sum.sum::<usize>().is_multiple_of(10)
    }
}

/// Finds a card number, by its grouping or by a word nearby. About one in ten numbers of sixteen digits has
/// the right check digit by chance.
fn card(text: &str, at: usize, number: &DigitRun) -> Option<SecretSpan> {
    let after = text.as_bytes().get(number.end).copied().unwrap_or(b' ');
    let whole = !after.is_ascii_alphanumeric() && after != b'_' && after != b'-';
    let fits = whole && number.is_issued() && number.is_checked();
    let groups = || {
        let lengths: Vec<usize> = text[at..number.end].split([' ', '-']).map(str::len).collect();
        matches!(lengths[..], [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4])
    };
    let known = fits && if number.grouped { groups() } else { is_about_cards(text, at, number.end) };
    known.then_some(SecretSpan { kind: SecretKind::CardNumber, start: at, end: number.end })
}

/// True if a word about cards is nearby.
fn is_about_cards(text: &str, start: usize, end: usize) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 19] = [
        "card", "visa", "amex", "american express", "discover", "cvc", "cvv", "exp_", "expir", "karte", "carte",
        "tarjeta", "cartão", "cartao", "carta ", "kaart", "karta", "карт", "카드",
    ];
    let mask = char::from(MASK_BYTE);
    let before = &text[text.ceil_char_boundary(start.saturating_sub(40))..start];
    let after = &text[end..text.floor_char_boundary(end + 40)];
    let before = before.rsplit(mask).next().unwrap_or_default().to_lowercase();
    let after = after.split(mask).next().unwrap_or_default().to_lowercase();
    WORDS.iter().any(|word| before.contains(word) || after.contains(word))
}

/// Finds a social security number: three, two and four digits, in the ranges that are issued.
fn social_security(bytes: &[u8], at: usize) -> Option<SecretSpan> {
    let shape = bytes.get(at..at + 11)?;
    let digits = |range: std::ops::Range<usize>| shape[range].iter().all(u8::is_ascii_digit);
    let shaped = digits(0..3) && shape[3] == b'-' && digits(4..6) && shape[6] == b'-' && digits(7..11);
    let issued = !matches!(&shape[..3], b"000" | b"666") && shape[0] != b'9';
    let used = &shape[4..6] != b"00" && &shape[7..] != b"0000";
    let whole = !bytes.get(at + 11).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    (shaped && issued && used && whole).then_some(SecretSpan {
        kind: SecretKind::SocialSecurityNumber,
        start: at,
        end: at + 11,
    })
}

/// Finds a BitLocker recovery key: eight groups of six digits.
fn disk_key(bytes: &[u8], at: usize) -> Option<SecretSpan> {
    const RECOVERY_KEY_CHARS: usize = 8 * 7 - 1;
    let shape = bytes.get(at..at + RECOVERY_KEY_CHARS)?;
    let shaped = shape
        .iter()
        .enumerate()
        .all(|(place, b)| if place % 7 == 6 { *b == b'-' } else { b.is_ascii_digit() });
    let whole = !bytes.get(at + RECOVERY_KEY_CHARS).is_some_and(u8::is_ascii_alphanumeric);
    (shaped && whole).then_some(SecretSpan {
        kind: SecretKind::Secret,
        start: at,
        end: at + RECOVERY_KEY_CHARS,
    })
}

/// Finds an app token: the number of an application, a bar, and its secret.
fn app_token(bytes: &[u8], at: usize) -> Option<SecretSpan> {
    let most = bytes.len().min(at + 60);
    let bar = run_end(&bytes[..most], at, |b| b.is_ascii_digit());
    if !matches!(bar - at, 15 | 16) || bytes.get(bar) != Some(&b'|') {
        return None;
    }
    let end = run_end(&bytes[..most], bar + 1, |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let varied = bytes[bar + 1..end].iter().any(u8::is_ascii_alphabetic);
    (varied && (27..=40).contains(&(end - bar - 1))).then_some(SecretSpan {
        kind: SecretKind::VendorToken,
        start: at,
        end,
    })
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_numbers_need_their_check_digit_and_an_issuer() {
        for (text, expected) in [
            ("4111 1111 1111 1111", "[redacted:card-number]"),
            ("4111 1111 1111 1112", "4111 1111 1111 1112"),
            ("1111 1111 1111 1117", "1111 1111 1111 1117"),
            ("order 4111111111111111", "order 4111111111111111"),
            ("card 4111111111111111", "card [redacted:card-number]"),
            ("0.4111111111111111 visa", "0.4111111111111111 visa"),
            ("457-55-5462", "[redacted:social-security-number]"),
            ("000-55-5462 900-55-5462", "000-55-5462 900-55-5462"),
            ("1457-55-5462", "1457-55-5462"),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
