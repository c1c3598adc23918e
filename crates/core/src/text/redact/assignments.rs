//! Scanner for assignments: `.env` lines, YAML, JSON, TOML, XML, code, headers, query strings, connection
//! strings.

use super::SecretKind;
use super::headers::is_credential_pair;
use super::literal::{SecretLiteral, read_bare, read_bare_line, read_quoted};
use super::names::{SecretFamily, kind, repeats_name, secret_family};
use super::prescan::ScanMarks;
use super::values::{distinct_bytes, is_base32, is_digest, is_literal, is_password, is_token, looks_random};
use super::walk::{MASK_BYTE, RunEndCache, SecretSpan, base64, judged_part, skip_blanks};
use super::words::{holds_plain_words, is_joined_words, is_numbered_phrase, is_word_list};

/// The maximum length of a name.
const MAX_NAME_BYTES: usize = 80;

/// Calls that only wrap a literal.
#[rustfmt::skip]
const WRAPPER_CALLS: [&str; 19] = [
    "Some(", "Ok(", "String::from(", "Secret::new(", "SecretString::new(", "SecretString::from(", "Secret(",
    "SecretStr(", "new String(", "str(", "bytes.fromhex(", "bytearray.fromhex(", "binascii.unhexlify(",
    "unhexlify(", "Buffer.from(", "hex::decode(", "hex!(", "base64.b64decode(", "atob(",
];

/// Parameters of a signed URL that work like a password until they expire.
const SIGNATURE_PARAMETERS: [&str; 4] = ["sig", "signature", "x-amz-signature", "x-goog-signature"];

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let mut from = 0;
    for &at in &marks.signs {
        if at >= from
            && let Some(span) = sign_at(bytes, at).and_then(|sign| assignment(text, &sign, &mut ends))
        {
            from = span.end;
            found.push(span);
        }
    }
}

/// The sign between a name and its value.
struct AssignmentSign {
    start: usize,
    end: usize,
    symbol: u8,
    compares: bool,
}

fn sign_at(bytes: &[u8], at: usize) -> Option<AssignmentSign> {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(at + 1);
    let symbol = bytes[at];
    let sign = |length, compares| Some(AssignmentSign { start: at, end: at + length, symbol, compares });
    let compared = if bytes.get(at + 2) == Some(&b'=') { 3 } else { 2 };
    match symbol {
        b'=' if matches!(before, Some(b'=' | b':' | b'<' | b'>')) => None,
        b'=' if after == Some(&b'=') => sign(compared, true),
        b'=' if before == Some(b'!') => {
            Some(AssignmentSign { start: at - 1, end: at + 1, symbol, compares: true })
        }
        b'=' if after == Some(&b'>') => sign(2, false),
        b':' if before == Some(b':') || after == Some(&b':') || bytes[at + 1..].starts_with(b"//") => None,
        b':' if after == Some(&b'=') => sign(2, false),
        // Argument lists: `("password", "x")`, `.password("x")`.
        b',' if !matches!(before, Some(b'"' | b'\'')) => None,
        b'=' | b':' | b'>' | b',' | b'(' => sign(1, false),
        _ => None,
    }
}

/// A name that announces a secret, with its context.
struct SecretName {
    start: usize,
    end: usize,
    family: SecretFamily,
    /// True if the name is in a separate field: `name: DB_PASSWORD`, `value: x`.
    apart: bool,
}

fn secret_name(text: &str, sign: &AssignmentSign) -> Option<SecretName> {
    let bytes = text.as_bytes();
    let (start, end) = name_before(bytes, sign.start)?;
    let before = start.checked_sub(1).map(|at| bytes[at]);
    // In `https://password:…@host` the word is a user name, in `<password>` a tag.
    if bytes[..start].ends_with(b"//") || (sign.symbol == b'>' && before != Some(b'<')) {
        return None;
    }
    let name = &text[start..end];
    let argument = bytes[..start].ends_with(b"(\"") || bytes[..start].ends_with(b"('");
    if (sign.symbol == b'(' && !sets_secret(name)) || (sign.symbol == b',' && !argument) {
        return None;
    }
    if let Some(family) = secret_family(name) {
        return Some(SecretName { start, end, family, apart: false });
    }
    if name.eq_ignore_ascii_case("pass") && follows_user(text, start) {
        return Some(SecretName { start, end, family: SecretFamily::Password, apart: false });
    }
    let apart = name.eq_ignore_ascii_case("value");
    let (start, end) = match sign.symbol {
        b'=' if name == "default" => variable_apart(text, start)?,
        b'=' | b':' if apart => name_apart(text, start)?,
        b'=' => annotated_name(bytes, sign.start)?,
        _ => return None,
    };
    Some(SecretName { start, end, family: secret_family(&text[start..end])?, apart })
}

fn assignment(text: &str, sign: &AssignmentSign, ends: &mut RunEndCache) -> Option<SecretSpan> {
    if sign.symbol == b'=' && is_signature(text, sign) {
        let value = read_bare(text, sign.end, ends);
        let long = value.end - value.start >= 20 && ends.may_try();
        return (long && is_token(judged_part(&text[value.start..value.end]), 20)).then_some(SecretSpan {
            kind: SecretKind::AzureKey,
            start: value.start,
            end: value.end,
        });
    }
    let name = secret_name(text, sign)?;
    let place = AssignedValue::value_of(text, &name, sign, ends)?;
    let SecretLiteral { start, end, quoted } = place.value;
    let called = &text[name.start..name.end];
    let value = judged_part(&text[start..end]);
    let secret = (quoted || ends.may_try())
        && match name.family {
            SecretFamily::Number => place.holds_number(called, value),
            SecretFamily::Password if repeats_name(called, value) => false,
            // A keyboard shortcut in a menu: `mnemonic: alt+f`.
            SecretFamily::Password if called.ends_with("mnemonic") && !value.contains(' ') => false,
            family => place.holds_secret(family, value),
        };
    secret.then_some(SecretSpan { kind: kind(called, name.family), start, end })
}

fn is_signature(text: &str, sign: &AssignmentSign) -> bool {
    let name = SIGNATURE_PARAMETERS.iter().find(|name| {
        let start = sign.start.checked_sub(name.len());
        start
            .and_then(|start| text.get(start..sign.start))
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
    });
    name.is_some_and(|name| text[..sign.start - name.len()].ends_with(['&', '?']))
}

/// True if the line names a user before. Then `pass` is a password, not a test result.
fn follows_user(text: &str, name: usize) -> bool {
    let before = &text[text.ceil_char_boundary(name.saturating_sub(60))..name];
    let line = before.rsplit(['\n', char::from(MASK_BYTE)]).next().unwrap_or_default().to_ascii_lowercase();
    line.contains("user") || line.contains("login")
}

/// True if a call by this name receives a secret instead of returning one.
fn sets_secret(name: &str) -> bool {
    const BEGINNINGS: [&str; 10] =
        ["api", "basic", "bearer", "client", "pass", "pwd", "secret", "set", "token", "with"];
    let method = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    BEGINNINGS.iter().any(|beginning| method.starts_with(beginning))
}

/// The name in `name: DB_PASSWORD` or `key="password"`, shortly before the value at `value`.
fn name_apart(text: &str, value: usize) -> Option<(usize, usize)> {
    const MAX_NAME_DISTANCE: usize = 100;
    let window = text.ceil_char_boundary(value.saturating_sub(MAX_NAME_DISTANCE));
    let from = text[window..value].rfind(char::from(MASK_BYTE)).map_or(window, |masked| window + masked + 1);
    let before = text[from..value].to_ascii_lowercase();
    let bytes = text.as_bytes();
    let after_field = |(at, field): (usize, &str)| {
        let end = from + at + field.len();
        let dressing =
            bytes[end..value].iter().take_while(|b| matches!(b, b'"' | b'\'' | b'\\' | b' ' | b':' | b'='));
        let start = end + dressing.clone().count();
        dressing.into_iter().any(|b| matches!(b, b':' | b'=')).then_some(start)
    };
    let names = before.rmatch_indices("name").find_map(after_field);
    let start = names.max(before.rmatch_indices("key").find_map(after_field))?;
    let end = start + bytes[start..value].iter().take_while(|b| is_name(**b)).count();
    (start < end).then_some((start, end))
}

/// The name in `variable "db_pass" {`, shortly before the default at `default`.
fn variable_apart(text: &str, default: usize) -> Option<(usize, usize)> {
    const MAX_VARIABLE_DISTANCE: usize = 120;
    const OPEN: &str = "variable \"";
    let window = text.ceil_char_boundary(default.saturating_sub(MAX_VARIABLE_DISTANCE));
    let from =
        text[window..default].rfind(char::from(MASK_BYTE)).map_or(window, |masked| window + masked + 1);
    let start = from + text[from..default].rfind(OPEN)? + OPEN.len();
    let end = start + text[start..default].find('"')?;
    Some((start, end))
}

/// The name that ends before `sign`, without quotes, brackets, emphasis and markers of optional fields.
fn name_before(bytes: &[u8], sign: usize) -> Option<(usize, usize)> {
    let blanks = bytes[..sign].iter().rev().take(40).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let closers = bytes[..sign - blanks]
        .iter()
        .rev()
        .take(6)
        .take_while(|b| matches!(b, b'"' | b'\'' | b'`' | b']' | b'*' | b'?' | b'!' | b'+' | b'\\'))
        .count();
    let end = sign - blanks - closers;
    let length = bytes[..end].iter().rev().take(MAX_NAME_BYTES + 1).take_while(|b| is_name(**b)).count();
    if length == 0 || length > MAX_NAME_BYTES {
        return None;
    }
    let mut start = end - length;
    // The `n` of an escaped line break before the name.
    if matches!(bytes[..start], [.., b'\\']) && matches!(bytes[start], b'n' | b'r' | b't') {
        start += 1;
    }
    start += bytes[start..end].iter().take_while(|b| matches!(b, b'-' | b'.')).count();
    (start < end).then_some((start, end))
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// The name in `name: Type =` (Rust, TypeScript, Python) or `name string =` (Go).
fn annotated_name(bytes: &[u8], sign: usize) -> Option<(usize, usize)> {
    const MAX_TYPE_BYTES: usize = 40;
    let is_type = |b: &u8| b.is_ascii_alphanumeric() || b" _&'<>[]|?".contains(b);
    let length = bytes[..sign].iter().rev().take(MAX_TYPE_BYTES).take_while(|b| is_type(b)).count();
    let start = sign - length;
    if matches!(bytes[..start], [.., b':']) && !matches!(bytes[..start], [.., b':', b':']) {
        return name_before(bytes, start - 1);
    }
    let words = bytes[start..sign].trim_ascii_end();
    let named = words.strip_suffix(b" string")?;
    name_before(bytes, start + named.len())
}

/// A value with its context.
struct AssignedValue {
    value: SecretLiteral,
    symbol: u8,
    compares: bool,
    /// True if there is no space on either side of the sign.
    tight: bool,
    /// True if the name is all capitals, as in the environment.
    screaming: bool,
    apart: bool,
    /// True if the name begins its line and the value ends it.
    whole_line: bool,
    /// True if it is delimited as in shells, query strings and connection strings, not as an argument of a
    /// call.
    set_off: bool,
    /// True for a line of a settings file directly below the account's name.
    settings: bool,
}

impl AssignedValue {
    fn value_of(
        text: &str,
        name: &SecretName,
        sign: &AssignmentSign,
        ends: &mut RunEndCache,
    ) -> Option<Self> {
        let bytes = text.as_bytes();
        let at = skip_blanks(bytes, sign.end);
        let tight = at == sign.end && !bytes[..sign.start].ends_with(b" ");
        let letters = &bytes[name.start..name.end];
        let screaming =
            letters.iter().any(u8::is_ascii_uppercase) && !letters.iter().any(u8::is_ascii_lowercase);
        let begins = begins_line(text, name.start);
        let wrapper =
            WRAPPER_CALLS.iter().find(|wrapper| text[at..].starts_with(**wrapper)).map_or(0, |w| w.len());
        let value = if sign.symbol == b'>' {
            let end = text[at..].bytes().take(MAX_NAME_BYTES * 4).position(|b| matches!(b, b'<' | b'\n'))?;
            text[at + end..].starts_with("</").then_some(())?;
            SecretLiteral { start: at, end: at + text[at..at + end].trim_end().len(), quoted: true }
        } else if let Some(value) = read_quoted(text, at + wrapper) {
            value
        } else if wrapper > 0 {
            return None;
        } else if let Some(value) = spaced_password(text, name, sign, at) {
            value
        } else if begins && screaming && tight && sign.symbol == b'=' {
            read_bare_line(text, at)
        } else {
            read_bare(text, at, ends)
        };
        let rest = &bytes[value.end..];
        let ends_line = matches!(rest[skip_blanks(rest, 0)..], [] | [b'\n' | b'\r' | b'#', ..]);
        let before = name.start.checked_sub(1).map(|at| bytes[at]);
        let set_off = matches!(
            before,
            None | Some(b' ' | b'\n' | b'\t' | b';' | b'?' | b'&' | b'"' | b'\'' | b'`' | b'-')
        ) && matches!(
            rest,
            [] | [b' ' | b'\n' | b'\t' | b'\r' | b';' | b'&' | b'"' | b'\'' | b'`' | b'\\', ..]
        );
        Some(Self {
            value,
            symbol: sign.symbol,
            compares: sign.compares,
            tight,
            screaming,
            apart: name.apart,
            whole_line: begins && ends_line,
            set_off: set_off || (sign.symbol == b'=' && is_option_of_list(text, name.start, value.end)),
            settings: sign.symbol == b'=' && begins && ends_line && follows_account(text, name.start),
        })
    }

    fn holds_secret(&self, family: SecretFamily, value: &str) -> bool {
        if self.compares && !self.value.quoted {
            return false;
        }
        let environment = self.screaming && (self.apart || (self.tight && self.symbol == b'='));
        // An argument may also be a name or a message.
        if matches!(self.symbol, b',' | b'(') {
            let password = family == SecretFamily::Password && is_password(value, 6);
            return self.value.quoted && !value.contains(' ') && (password || is_token(value, 8));
        }
        match family {
            SecretFamily::Password => self.holds_password(value, environment),
            SecretFamily::Secret | SecretFamily::Token if environment => {
                let number = value.bytes().all(|b| b.is_ascii_digit());
                is_literal(value, if number { 8 } else { 6 }, true)
            }
            SecretFamily::Secret | SecretFamily::Token if is_base32(value) => true,
            SecretFamily::Secret if self.value.quoted => {
                let word = value.len() >= 8 && value.bytes().all(|b| b.is_ascii_alphabetic());
                (word && is_literal(value, 8, true)) || is_token(value, 6)
            }
            SecretFamily::Secret | SecretFamily::Token => {
                is_token(value, if self.value.quoted || (self.tight && self.symbol == b'=') { 6 } else { 8 })
            }
            SecretFamily::Key if environment => is_token(value, 16),
            SecretFamily::Key if is_credential_pair(value) => true,
            SecretFamily::Key => looks_random(value) && !is_digest(value) && is_token(value, 16),
            SecretFamily::Number => false,
        }
    }

    /// True for a number with a name such as `cvc` or `pin`. Code also numbers the pins of boards, with fewer
    /// digits.
    fn holds_number(&self, name: &str, value: &str) -> bool {
        if self.compares || matches!(self.symbol, b',' | b'(' | b'>') {
            return false;
        }
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        let only = value.bytes().all(|b| b.is_ascii_digit() || b == b'-') && distinct_bytes(value) > 1;
        let kept = self.value.quoted || self.screaming || self.symbol == b':';
        let name = name.to_ascii_lowercase();
        let length = match name.as_str() {
            _ if name.ends_with("ssn") => 9..=9,
            _ if name.ends_with("pin") || name.ends_with("pincode") => 4..=8,
            _ => 3..=4,
        };
        only && length.contains(&digits) && (kept || digits == 9)
    }

    fn holds_password(&self, value: &str, environment: bool) -> bool {
        if value.contains(' ') && !self.value.quoted {
            // Only [`spaced`] finds such values.
            return true;
        }
        if environment {
            return is_literal(value, 3, true);
        }
        if self.value.quoted {
            return match value.split_whitespace().count() {
                0 | 1 => is_literal(value, 4, true),
                // A sentence about passwords, or a passphrase.
                words => {
                    is_word_list(value, ' ')
                        || is_numbered_phrase(value)
                        || (words <= 4 && value.split(' ').any(|word| is_password(word, 6)))
                }
            };
        }
        let letters = value.chars().all(char::is_alphabetic);
        let word = letters && value.chars().all(char::is_lowercase);
        let string = self.tight && self.symbol == b'=' && self.set_off;
        let yaml = self.symbol == b':' && !self.tight && self.whole_line;
        // Names in code have no hyphens.
        let hyphened = string && value.contains('-') && value.bytes().any(|b| b.is_ascii_digit());
        let joined = (yaml || string || self.settings) && is_joined_words(value);
        if joined || is_encoded(value) || (hyphened && is_literal(value, 6, false)) {
            return true;
        }
        let string = string || (self.settings && !self.tight);
        // A bare word is a password only at a place for literals, not for variables or types.
        let number = (string || yaml) && value.len() >= 4 && value.bytes().all(|b| b.is_ascii_digit());
        ((string || yaml) && word && is_literal(value, 6, false)) || number || is_password(value, 4)
    }
}

/// Finds a bare password that contains spaces: of a wireless network (`psk=garden lamp seventy`), or in a
/// connection string (`Database=app;Password=Sunday Lamp 7;`).
fn spaced_password(text: &str, name: &SecretName, sign: &AssignmentSign, at: usize) -> Option<SecretLiteral> {
    const MAX_SPACED_VALUE_BYTES: usize = 80;
    if name.family != SecretFamily::Password || sign.symbol != b'=' || at != sign.end {
        return None;
    }
    let window = &text[at..text.floor_char_boundary(at + MAX_SPACED_VALUE_BYTES)];
    let end = window.find([';', '\n', '\r', '"', char::from(MASK_BYTE)]).unwrap_or(window.len());
    let value = &window[..end];
    let words = value.split(' ').count();
    let plain = value.chars().all(|c| c.is_alphanumeric() || " -_!.,#&".contains(c)) && !value.ends_with(' ');
    let listed = text[..name.start].trim_end_matches(' ').ends_with(';') && window[end..].starts_with(';');
    let wireless = text[name.start..name.end].ends_with("psk") && begins_line(text, name.start);
    let phrase = (listed && plain) || (wireless && holds_plain_words(value, ' ', 3));
    ((2..=6).contains(&words) && phrase).then_some(SecretLiteral { start: at, end: at + end, quoted: false })
}

/// True if a value is padded base64 of printable text, as npm stores passwords.
fn is_encoded(value: &str) -> bool {
    let text = base64(value).filter(|_| value.ends_with('='));
    text.is_some_and(|text| text.len() >= 4 && text.iter().all(|b| (b'!'..=b'~').contains(b)))
}

/// True if the assignment is part of an option list such as `user=bob,password=x,vers=3`, not of a call's
/// arguments.
fn is_option_of_list(text: &str, name: usize, value_end: usize) -> bool {
    let before = &text[text.ceil_char_boundary(name.saturating_sub(60))..name];
    let list =
        before.rsplit(|c: char| c.is_whitespace() || c == char::from(MASK_BYTE)).next().unwrap_or_default();
    let goes_on = matches!(text.as_bytes().get(value_end), None | Some(b',' | b' ' | b'\n'));
    goes_on && list.ends_with(',') && list.contains('=') && !list.contains(['(', '{', '[', '"'])
}

/// True if the line before sets a user or a host to a plain word in the same way. That makes it settings, not
/// code.
fn follows_account(text: &str, name: usize) -> bool {
    let before = &text[text.ceil_char_boundary(name.saturating_sub(120))..name];
    let mut lines = before.rsplit('\n').skip(1);
    let account = lines.find(|line| !line.trim().is_empty()).and_then(|line| line.split_once('='));
    account.is_some_and(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        let named =
            ["user", "username", "login", "host", "hostname", "email", "server", "database"].contains(&name);
        named && !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-@".contains(&b))
    })
}

/// True if only indentation, a list marker or a shell keyword precedes the name on its line.
fn begins_line(text: &str, name: usize) -> bool {
    const LEADS: [&str; 13] =
        ["", "-", "+", ">", "$", "#", "export", "set", "setx", "ENV", "ARG", "declare -x", "$env:"];
    let from = text.ceil_char_boundary(name.saturating_sub(40));
    let before = &text[from..name];
    let line = match before.rfind('\n') {
        Some(newline) => &before[newline + 1..],
        None if from == 0 => before,
        None => return false,
    };
    LEADS.contains(&line.trim().trim_end_matches(['"', '\'']))
}
