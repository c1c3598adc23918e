//! Placeholders: values that stand for a secret (`${API_KEY}`, `<token>`, `changeme`).

use super::vocabulary::is_stand_in;
use super::walk::{MASK_BYTE, each_word};

/// True for placeholder syntax and for a value that was removed already: `${X}`, `<token>`, `{{ x }}`, `%s`,
/// `***`, `…`.
pub(super) fn is_template(value: &str) -> bool {
    let bytes = value.as_bytes();
    let [first, rest @ ..] = bytes else { return true };
    let identifier = |bytes: &[u8]| {
        !bytes.is_empty()
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.'))
    };
    let crossed = ["...", "…", "***", "xxxxxx", "XXXXXX"].iter().any(|mark| value.contains(mark));
    if crossed || bytes.contains(&MASK_BYTE) {
        return true;
    }
    let all_same = bytes.iter().all(|b| b == first) && !first.is_ascii_digit();
    let crossed_out =
        bytes.iter().all(|b| matches!(b, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'#' | b'?'));
    all_same
        || crossed_out
        || match first {
            b'$' => match rest {
                [b'{' | b'(' | b'@' | b'*', ..] => true,
                [digit] => digit.is_ascii_digit(),
                [second, ..] => {
                    (second.is_ascii_alphabetic() || *second == b'_')
                        && identifier(rest)
                        && is_variable_name(rest)
                }
                [] => true,
            },
            b'<' => bytes.contains(&b'>') || rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-'),
            b'{' => bytes.ends_with(b"}") || bytes.starts_with(b"{{") || identifier(rest),
            b'[' => bytes.ends_with(b"]"),
            b'%' => {
                rest == b"s"
                    || rest == b"v"
                    || rest.starts_with(b"(")
                    || rest.strip_suffix(b"%").is_some_and(identifier)
            }
            b'#' => rest.starts_with(b"{"),
            _ => value.contains("${") || value.contains("{{"),
        }
}

/// True if the text after a `$` is a variable: `$password1` and `$API_KEY2` are, `$ecret123` is a password.
fn is_variable_name(name: &[u8]) -> bool {
    let letters = name.iter().position(u8::is_ascii_digit).unwrap_or(name.len());
    let screaming = !name.iter().any(u8::is_ascii_lowercase);
    let word = String::from_utf8_lossy(&name[..letters]).to_ascii_lowercase();
    letters == name.len() || screaming || is_stand_in(word.trim_matches('_'))
}

/// True if `value` is a placeholder: a template, or only words such as `your-api-key` and `changeme`.
pub(super) fn is_placeholder(value: &str) -> bool {
    // `required|min:8` is a form's validation rule.
    const DEMANDS: [&str; 6] = ["required|", "nullable|", "sometimes|", "optional|", "string|", "confirmed|"];
    DEMANDS.iter().any(|demand| value.starts_with(demand)) || is_template(value) || {
        let mut any = false;
        let known = each_word(value, |word| {
            any = true;
            is_stand_in(word)
        });
        known && any
    }
}
