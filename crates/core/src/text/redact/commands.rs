//! Scanner for command lines: long options by their name, short ones if the command makes them unambiguous.

use super::SecretKind;
use super::literal::{SecretLiteral, read_bare, read_quoted};
use super::names::{SecretFamily, kind, secret_family};
use super::placeholders::is_template;
use super::prescan::ScanMarks;
use super::values::{is_literal, is_password, is_token};
use super::walk::{MASK_BYTE, PrefixTable, RunEndCache, SecretSpan, judged_part, skip_blanks};

/// The form in which an option takes its secret.
#[derive(Clone, Copy, PartialEq)]
enum OptionForm {
    /// Attached to the option: `-pSECRET`.
    Attached,
    /// Separate or attached: `-p SECRET` or `-pSECRET`.
    Either,
    /// In the next word: `-p SECRET`.
    Next,
    /// After the user's name: `-u user:SECRET`.
    Pair,
    /// In a cookie: `-b name=SECRET`.
    Cookie,
    /// After a percent sign: `-U user%SECRET`.
    Percent,
}

struct CommandOption {
    command: &'static str,
    /// A subcommand that must come first, because `docker run -p` publishes a port.
    verb: &'static str,
    option: &'static str,
    form: OptionForm,
}

const fn option(
    command: &'static str,
    verb: &'static str,
    option: &'static str,
    form: OptionForm,
) -> CommandOption {
    CommandOption { command, verb, option, form }
}

const OPTIONS: [CommandOption; 43] = [
    option("mysql", "", "-p", OptionForm::Attached),
    option("mysqldump", "", "-p", OptionForm::Attached),
    option("mysqladmin", "", "-p", OptionForm::Attached),
    option("mariadb", "", "-p", OptionForm::Attached),
    option("sshpass", "", "-p", OptionForm::Either),
    option("redis-cli", "", "-a", OptionForm::Next),
    option("mongo", "", "-p", OptionForm::Either),
    option("mongosh", "", "-p", OptionForm::Either),
    option("mongodump", "", "-p", OptionForm::Either),
    option("sqlcmd", "", "-P", OptionForm::Either),
    option("docker", "login", "-p", OptionForm::Next),
    option("podman", "login", "-p", OptionForm::Next),
    option("helm", "login", "-p", OptionForm::Next),
    option("oc", "login", "-p", OptionForm::Next),
    option("az", "login", "-p", OptionForm::Next),
    option("curl", "", "-u", OptionForm::Pair),
    option("curl", "", "--user", OptionForm::Pair),
    option("curl", "", "--proxy-user", OptionForm::Pair),
    option("curl", "", "-b", OptionForm::Cookie),
    option("curl", "", "--cookie", OptionForm::Cookie),
    option("wget", "", "--user", OptionForm::Pair),
    option("http", "", "-a", OptionForm::Pair),
    option("https", "", "-a", OptionForm::Pair),
    option("ldapsearch", "", "-w", OptionForm::Next),
    option("ldapmodify", "", "-w", OptionForm::Next),
    option("ldapadd", "", "-w", OptionForm::Next),
    option("7z", "", "-p", OptionForm::Attached),
    option("zip", "", "-P", OptionForm::Next),
    option("unzip", "", "-P", OptionForm::Next),
    option("openssl", "", "-passin", OptionForm::Pair),
    option("openssl", "", "-passout", OptionForm::Pair),
    option("openssl", "", "-pass", OptionForm::Pair),
    option("openssl", "", "-K", OptionForm::Next),
    option("openssl", "", "-k", OptionForm::Next),
    option("oathtool", "", "-b", OptionForm::Next),
    option("oathtool", "", "--base32", OptionForm::Next),
    option("smbclient", "", "--user", OptionForm::Pair),
    option("smbclient", "", "-U", OptionForm::Percent),
    option("rpcclient", "", "-U", OptionForm::Percent),
    option("snmpwalk", "", "-A", OptionForm::Next),
    option("snmpwalk", "", "-c", OptionForm::Next),
    option("snmpget", "", "-c", OptionForm::Next),
    option("snmpset", "", "-c", OptionForm::Next),
];

static COMMANDS: PrefixTable<{ OPTIONS.len() }> = {
    let mut openings = PrefixTable::empty();
    let mut at = OPTIONS.len();
    while at > 0 {
        at -= 1;
        openings = openings.with_word(at, OPTIONS[at].command);
    }
    openings
};

/// Scans all words in one pass. It remembers the last command and subcommand on the line.
pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    // Without any option no command can receive a secret.
    if !marks.options {
        return;
    }
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let (mut command, mut verb) = ("", false);
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            if bytes[at] == b'\n' && !bytes[..at].ends_with(b"\\") {
                (command, verb) = ("", false);
            }
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - at);
        let word = &bytes[at..end];
        let mut next = end;
        if let Some(dash) = option_start(word) {
            let hit = option_secret(text, at + dash, end, command, verb, &mut ends);
            if let Some(span) = hit {
                next = end.max(span.end);
                found.push(span);
            }
        } else if let Some(named) = command_name(word) {
            (command, verb) = (named, false);
        } else if word == b"login" {
            verb = true;
        } else if matches!(word, b"|" | b"||" | b"&&" | b";") || word.ends_with(b";") {
            (command, verb) = ("", false);
        }
        at = next;
    }
}

/// The start of an option in a word, behind an opening quote or bracket.
fn option_start(word: &[u8]) -> Option<usize> {
    let lead =
        word.iter().take(4).take_while(|b| matches!(b, b'"' | b'\'' | b'`' | b'(' | b'[' | b'\\')).count();
    let dashes = word[lead..].iter().take(3).take_while(|b| **b == b'-').count();
    let named = word.get(lead + dashes).is_some_and(u8::is_ascii_alphabetic);
    (matches!(dashes, 1 | 2) && named).then_some(lead)
}

fn command_name(word: &[u8]) -> Option<&'static str> {
    let name = word.rsplit(|b| matches!(b, b'/' | b'"' | b'\'' | b'`' | b'(' | b'[' | b'$')).next()?;
    let [first, second, ..] = *name else { return None };
    let mut near = COMMANDS.words_with_pair(first, second).map(|number| OPTIONS[number].command);
    near.find(|command| command.as_bytes() == name)
}

fn option_secret(
    text: &str,
    at: usize,
    end: usize,
    command: &str,
    verb: bool,
    ends: &mut RunEndCache,
) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    let after = skip_blanks(bytes, end);
    // An option at the end of its line or quotation has no value.
    let has_next =
        after > end && after < bytes.len() && !matches!(bytes[after], b'-' | b'\n' | b'|' | b'>' | MASK_BYTE);
    for option in
        OPTIONS.iter().filter(|option| option.command == command && (option.verb.is_empty() || verb))
    {
        if !text[at..end].starts_with(option.option) {
            continue;
        }
        let inner = at + option.option.len();
        let attached = inner < end && option.option.len() == 2;
        let start = match option.form {
            OptionForm::Attached | OptionForm::Either | OptionForm::Pair if attached => inner,
            OptionForm::Either
            | OptionForm::Next
            | OptionForm::Pair
            | OptionForm::Cookie
            | OptionForm::Percent
                if inner == end && has_next =>
            {
                after
            }
            _ => continue,
        };
        let value = value_at(text, start, ends);
        return secret_of(text, value, option.form);
    }
    let name = text[at..end].trim_start_matches('-');
    let known = secret_family(name)
        .filter(|_| has_next && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)))?;
    let value = value_at(text, after, ends);
    let literal = judged_part(&text[value.start..value.end]);
    let secret = match known {
        SecretFamily::Password => holds_password(text, value, literal),
        SecretFamily::Secret | SecretFamily::Token => is_token(literal, 6),
        SecretFamily::Key => is_token(literal, 16),
        SecretFamily::Number => false,
    };
    secret.then_some(SecretSpan { kind: kind(name, known), start: value.start, end: value.end })
}

fn value_at(text: &str, at: usize, ends: &mut RunEndCache) -> SecretLiteral {
    read_quoted(text, at).unwrap_or_else(|| read_bare(text, at, ends))
}

fn secret_of(text: &str, value: SecretLiteral, form: OptionForm) -> Option<SecretSpan> {
    let whole = &text[value.start..value.end];
    // `curl -u KEY:` sends a key without a password.
    if form == OptionForm::Pair {
        let key = whole.strip_suffix(':').unwrap_or(whole);
        let colon = text.as_bytes().get(value.start + key.len()) == Some(&b':');
        if colon && !key.contains(':') && is_token(key, 20) {
            let end = value.start + key.len();
            return Some(SecretSpan { kind: SecretKind::Secret, start: value.start, end });
        }
    }
    let (skipped, kind) = match form {
        // `-passin file:key.pem` refers to a file.
        OptionForm::Pair if ["file:", "env:", "fd:"].iter().any(|source| whole.starts_with(source)) => {
            return None;
        }
        OptionForm::Pair => (whole.find(':')? + 1, SecretKind::Password),
        OptionForm::Percent => (whole.find('%')? + 1, SecretKind::Password),
        OptionForm::Cookie => (whole.find('=')? + 1, SecretKind::Cookie),
        _ => (0, SecretKind::Password),
    };
    let secret = &whole[skipped..];
    let literal = match form {
        OptionForm::Pair | OptionForm::Cookie | OptionForm::Percent => {
            !secret.is_empty() && !is_template(judged_part(secret)) && !secret.starts_with("//")
        }
        _ => is_literal(judged_part(secret), 3, true),
    };
    literal.then_some(SecretSpan { kind, start: value.start + skipped, end: value.end })
}

/// True if the plain word after `--password` is a password: the command goes on or ends behind it. In a
/// sentence about the option it would be the next word.
fn holds_password(text: &str, value: SecretLiteral, literal: &str) -> bool {
    let rest = &text.as_bytes()[value.end..];
    let closes = matches!(
        rest[skip_blanks(rest, 0)..],
        [] | [b'\n' | b'-' | b'|' | b'&' | b';' | b'\\' | b'"' | b'\'' | b'`' | b'>', ..]
    );
    is_password(literal, 4)
        || (value.quoted && is_literal(literal, 3, true))
        || (closes && is_literal(literal, 4, false))
}
