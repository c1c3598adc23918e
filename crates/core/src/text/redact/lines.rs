//! Scanner for line formats that contain secrets: `.pgpass`, input of `base64 -d` or `chpasswd`, recovery
//! codes.

use super::SecretKind;
use super::connectors::CONNECTORS;
use super::line_forms::{self, sqlplus};
use super::line_window::{FormScanner, MAX_LINE_BYTES, command_word, line_after, line_before};
use super::names::{SecretFamily, secret_family};
use super::placeholders::is_template;
use super::prescan::ScanMarks;
use super::values::{is_literal, is_password, is_token};
use super::walk::{MASK_BYTE, SecretSpan, base64, judged_part};
use super::words::is_joined_words;

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let mut push = |kind, (start, end): (usize, usize)| found.push(SecretSpan { kind, start, end });
    pgpass(text, marks).into_iter().for_each(|place| push(SecretKind::Password, place));
    for &(needle, read) in FORMS.iter().chain(&line_forms::FORMS) {
        // Testing for presence is much faster than finding the position.
        if !text.contains(needle) {
            continue;
        }
        let mut from = 0;
        while let Some(at) = text[from..].find(needle).map(|at| from + at) {
            from = at + needle.len();
            for place in read(text, at, from) {
                from = from.max(place.1);
                push(SecretKind::Secret, place);
            }
        }
    }
}

const FORMS: [(&str, FormScanner); 13] = [
    ("base64 -", decoded),
    ("chpasswd", chpasswd),
    ("net use ", net_use),
    ("sqlplus ", sqlplus),
    ("--from-literal", from_literal),
    (" set ", configured),
    ("odes", codes),
    (" / ", pair),
    ("in with ", colon_pair),
    ("creds: ", colon_pair),
    ("redentials: ", colon_pair),
    ("creds are ", colon_pair),
    ("redentials are ", colon_pair),
];

/// A pgpass entry alone on its line: `host:port:database:user:password`.
fn pgpass(text: &str, marks: &ScanMarks) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let ports = marks.signs.iter().filter(|at| {
        bytes[**at] == b':' && bytes.get(**at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'*')
    });
    let places = ports.filter_map(|at| {
        let host = line_before(text, *at);
        let rest = line_after(text, at + 1).trim_end();
        if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_*/".contains(&b)) {
            return None;
        }
        let mut fields = rest.splitn(4, ':');
        let (port, database, user, password) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let is_port =
            port == "*" || ((2..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit()));
        let is_name = |name: &str| {
            name == "*"
                || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        let secret = !password.contains([' ', ':']) && is_literal(judged_part(password), 4, true);
        let end = at + 1 + rest.len();
        (is_port && is_name(database) && is_name(user) && secret).then(|| (end - password.len(), end))
    });
    places.collect()
}

/// Input of a decoder, and output of a command that decodes a secret: `echo … | base64 -d`.
fn decoded(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let option = line_after(text, end);
    let decodes = ["d", "D", "-decode"].iter().any(|name| {
        option.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    if !decodes {
        return Vec::new();
    }
    let command = line_before(text, at);
    let line = at - command.len();
    let echoed = command.rfind("echo ").map(|echo| line + echo + "echo ".len());
    if let Some(start) = echoed {
        let place = command_word(text, start, at);
        let hidden = base64(&text[place.0..place.1]).and_then(|bytes| String::from_utf8(bytes).ok());
        return hidden.filter(|hidden| is_hidden_secret(hidden)).map(|_| place).into_iter().collect();
    }
    let lower = command.to_ascii_lowercase();
    let asked = ["secret", "password", "token"].iter().any(|word| lower.contains(word));
    let ends = option.trim_end().len() + end;
    let printed = text[ends..].strip_prefix('\n').filter(|_| asked);
    let Some(printed) = printed else { return Vec::new() };
    let word = line_after(printed, 0).trim_end_matches(['%', ' ']);
    let start = text.len() - printed.len();
    let secret = is_password(judged_part(word), 6) || is_token(judged_part(word), 8);
    if secret && !word.contains(' ') { vec![(start, start + word.len())] } else { Vec::new() }
}

/// True if a decoded text is a secret: a password, a token, or a URL with one.
fn is_hidden_secret(hidden: &str) -> bool {
    let hidden = judged_part(hidden.trim_end());
    let mixed = hidden.bytes().any(|b| b.is_ascii_digit()) && hidden.bytes().any(|b| b.is_ascii_alphabetic());
    let plain = hidden.len() >= 6 && !hidden.contains([' ', '{', '<', '\n']);
    (mixed && plain && is_literal(hidden, 6, true)) || (hidden.contains("://") && hidden.contains('@'))
}

/// Input of chpasswd: `echo "bob:…" | chpasswd`, `chpasswd <<< "bob:…"`.
fn chpasswd(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let before = line_before(text, at);
    let (piece, start) = match before.rfind("echo ") {
        Some(echo) => (&before[echo..], at - before.len() + echo),
        None => (line_after(text, end), end),
    };
    let Some(colon) = piece.find(':') else { return Vec::new() };
    let value = &piece[colon + 1..];
    let value = &value[..value.find(['"', '\'', ' ', '|']).unwrap_or(value.len())];
    let start = start + colon + 1;
    if is_literal(judged_part(value), 4, true) { vec![(start, start + value.len())] } else { Vec::new() }
}

/// Arguments of `net use z: \\host\share … /user:bob`, in either order.
fn net_use(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let line = line_after(text, end);
    let Some(share) = line.find("\\\\") else { return Vec::new() };
    let Some(blank) = line[share..].find(' ') else { return Vec::new() };
    let mut from = end + share + blank + 1;
    let options = text[from..end + line.len()].split_inclusive(' ').take_while(|word| word.starts_with('/'));
    from += options.map(str::len).sum::<usize>();
    let (start, stop) = command_word(text, from, end + line.len());
    let word = &text[start..stop];
    let secret = !word.starts_with(['/', '*']) && is_literal(judged_part(word), 4, true);
    if secret { vec![(start, stop)] } else { Vec::new() }
}

/// Literals in `kubectl create secret generic x --from-literal=name=…`.
fn from_literal(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let word = &line_after(text, end);
    let word = &word[..word.get(1..).and_then(|rest| rest.find(' ')).map_or(word.len(), |blank| blank + 1)];
    let Some((name, value)) = word.get(1..).and_then(|pair| pair.split_once('=')) else { return Vec::new() };
    let value = value.trim_matches(['"', '\'']);
    let start = end + 1 + name.len() + 1 + usize::from(word[name.len() + 2..].starts_with(['"', '\'']));
    let kept =
        line_before(text, at).contains(" secret ") && value.len() >= 3 && !is_template(judged_part(value));
    if kept { vec![(start, start + value.len())] } else { Vec::new() }
}

/// Configured values: `aws configure set aws_secret_access_key …`, `npm config set …:_authToken …`.
fn configured(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    if !["config", "configure"].iter().any(|command| text[..at].ends_with(command)) {
        return Vec::new();
    }
    let line = line_after(text, end);
    let Some((name, rest)) = line.split_once(' ') else { return Vec::new() };
    let announced =
        name.rsplit([':', '.']).next().filter(|name| name.contains(['_', '-'])).and_then(secret_family);
    let Some(announced) = announced else { return Vec::new() };
    let (start, stop) = command_word(text, end + name.len() + 1, end + name.len() + 1 + rest.len());
    let word = judged_part(&text[start..stop]);
    let secret = if announced == SecretFamily::Password { is_password(word, 4) } else { is_token(word, 8) };
    if secret { vec![(start, stop)] } else { Vec::new() }
}

/// A user and a password with a slash between them: `credentials: bob / …`.
fn pair(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    #[rustfmt::skip]
    const CUES: [&str; 17] = [
        "login", "creds", "credentials", "zugangsdaten", "logindaten", "anmeldedaten", "identifiants", "credenciales",
        "credenciais", "credenziali", "inloggegevens", "accesso", "logowania", "bilgileri", "доступы", "доступ", "계정",
    ];
    let mut before = line_before(text, at).split([' ', ':', '*']).filter(|word| !word.is_empty()).rev();
    let mut cue = before.nth(1).unwrap_or_default().to_lowercase();
    let handed = cue == "with";
    if handed {
        cue = before.next().unwrap_or_default().to_lowercase();
    }
    let value = line_after(text, end);
    let value = value.split(' ').next().unwrap_or_default().trim_end_matches(['.', ',', ')']);
    let ends = line_after(text, end + value.len()).trim_matches(['.', ' ']).is_empty();
    let word = handed && value.chars().all(char::is_alphabetic) && is_literal(judged_part(value), 8, false);
    let secret =
        is_password(judged_part(value), 6) || (ends && (word || is_joined_words(judged_part(value))));
    let known = secret && CUES.contains(&cue.as_str());
    // "creds for staging: bob / …", "the creds are bob / …"
    let led = || {
        let line = line_before(text, at).to_lowercase();
        let words: Vec<&str> = line.split([' ', '*', '(']).filter(|word| !word.is_empty()).collect();
        let (_, before) = words.split_last()?;
        let cue = before.iter().rposition(|word| CUES.contains(&word.trim_end_matches(':')))?;
        let between = &before[cue..];
        let leads = |word: &&str| word.ends_with(':') || CONNECTORS.contains(word) || PLURALS.contains(word);
        (between.len() <= MOST_BETWEEN && between.iter().any(leads)).then_some(())
    };
    let value_is_secret = is_password(judged_part(value), 6) || is_joined_words(judged_part(value));
    let goes_on = line_after(text, end + value.len()).starts_with([' ', ')', '.', ',']);
    if known || (value_is_secret && (ends || goes_on) && led().is_some()) {
        return vec![(end, end + value.len())];
    }
    Vec::new()
}

/// The most words between "credentials" and the name of the account.
const MOST_BETWEEN: usize = 5;
/// Connectors from "credentials" to an account.
const PLURALS: [&str; 6] = ["sind", "sono", "son", "sont", "zijn", "są"];

/// `creds: bob:…`
fn colon_pair(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let line = line_after(text, end);
    let pair = line.trim_start_matches([':', ' ', '*', '`']);
    let word = pair.split([' ', '`', '"', '\'']).next().unwrap_or_default().trim_end_matches(['.', ',', ')']);
    let Some((user, value)) = word.split_once(':') else { return Vec::new() };
    let plain = !user.is_empty() && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-@".contains(&b));
    let start = end + (line.len() - pair.len()) + user.len() + 1;
    let value_is_secret = is_password(judged_part(value), 6) || is_joined_words(judged_part(value));
    let secret = plain && !value.starts_with('/') && value_is_secret;
    if secret { vec![(start, start + value.len())] } else { Vec::new() }
}

/// Codes below or behind "recovery codes:", as services issue them for a lost phone.
fn codes(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    const MAX_CODES: usize = 24;
    if !text[..at].ends_with(['c', 'C']) {
        return Vec::new();
    }
    let before = line_before(text, at).to_lowercase();
    let named =
        ["recovery c", "backup c", "scratch c", "backup-c", "recovery-c", "wiederherstellungsc", "backupc"];
    let window = &text[end..text.floor_char_boundary(end + 2 * MAX_LINE_BYTES)];
    let window = window.split(char::from(MASK_BYTE)).next().unwrap_or_default();
    let lead = window.find([':', '\n']).filter(|lead| *lead <= 40);
    let Some(lead) = lead.filter(|_| named.iter().any(|name| before.ends_with(name))) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut from = end + lead + 1;
    for word in window[lead + 1..].split([' ', '\n', ',', '\t', '\r']) {
        let code = word.trim_matches(['`', '*', '"']);
        let start = from + word.find(code).unwrap_or(0);
        from += word.len() + 1;
        let marker =
            code.is_empty() || code == "-" || code.trim_end_matches(['.', ')']).parse::<u8>().is_ok();
        if is_code(code) && found.len() < MAX_CODES {
            found.push((start, start + code.len()));
        } else if !marker {
            break;
        }
    }
    found
}

fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let groups = word.split('-').map(str::len);
    let even = groups.clone().max() == groups.min();
    (8..=24).contains(&word.len())
        && digits >= 2
        && even
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_lines_are_known_by_their_form() {
        for (text, expected) in [
            ("db:5432:app:bob:kestrel", "db:5432:app:bob:[redacted:password]"),
            ("*:*:*:bob:kestrel\nnext", "*:*:*:bob:[redacted:password]\nnext"),
            ("src/a.rs:12:5:use:kestrel", "src/a.rs:12:5:use:kestrel"),
            ("at 12:30:00:bob:kestrel", "at 12:30:00:bob:kestrel"),
            ("sqlplus bob/kestrel@db", "sqlplus bob/[redacted:secret]@db"),
            ("echo 'c3dvcmRmaXNoMQ==' | base64 -d", "echo '[redacted:secret]' | base64 -d"),
            (
                "kubectl create configmap x --from-literal=a=kestrel",
                "kubectl create configmap x --from-literal=a=kestrel",
            ),
            (
                "backup codes:\n1. 4f9k2-x8d1m\n2. q7w3e-r5t9y\nkeep them",
                "backup codes:\n1. [redacted:secret]\n2. [redacted:secret]\nkeep them",
            ),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
