//! Scanner for command lines: long options by their name, short ones if the command makes them unambiguous.

use super::Kind;
use super::literal::{Literal, bare, quoted};
use super::marks::Marks;
use super::names::{Family, family, kind};
use super::values::{is_literal, is_password, is_template, is_token};
use super::walk::{MASK, Openings, RunEnds, Span, head, skip_blanks};

/// The form in which an option takes its secret.
#[derive(Clone, Copy, PartialEq)]
enum Form {
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
    form: Form,
}

const fn option(
    command: &'static str,
    verb: &'static str,
    option: &'static str,
    form: Form,
) -> CommandOption {
    CommandOption { command, verb, option, form }
}

const OPTIONS: [CommandOption; 43] = [
    option("mysql", "", "-p", Form::Attached),
    option("mysqldump", "", "-p", Form::Attached),
    option("mysqladmin", "", "-p", Form::Attached),
    option("mariadb", "", "-p", Form::Attached),
    option("sshpass", "", "-p", Form::Either),
    option("redis-cli", "", "-a", Form::Next),
    option("mongo", "", "-p", Form::Either),
    option("mongosh", "", "-p", Form::Either),
    option("mongodump", "", "-p", Form::Either),
    option("sqlcmd", "", "-P", Form::Either),
    option("docker", "login", "-p", Form::Next),
    option("podman", "login", "-p", Form::Next),
    option("helm", "login", "-p", Form::Next),
    option("oc", "login", "-p", Form::Next),
    option("az", "login", "-p", Form::Next),
    option("curl", "", "-u", Form::Pair),
    option("curl", "", "--user", Form::Pair),
    option("curl", "", "--proxy-user", Form::Pair),
    option("curl", "", "-b", Form::Cookie),
    option("curl", "", "--cookie", Form::Cookie),
    option("wget", "", "--user", Form::Pair),
    option("http", "", "-a", Form::Pair),
    option("https", "", "-a", Form::Pair),
    option("ldapsearch", "", "-w", Form::Next),
    option("ldapmodify", "", "-w", Form::Next),
    option("ldapadd", "", "-w", Form::Next),
    option("7z", "", "-p", Form::Attached),
    option("zip", "", "-P", Form::Next),
    option("unzip", "", "-P", Form::Next),
    option("openssl", "", "-passin", Form::Pair),
    option("openssl", "", "-passout", Form::Pair),
    option("openssl", "", "-pass", Form::Pair),
    option("openssl", "", "-K", Form::Next),
    option("openssl", "", "-k", Form::Next),
    option("oathtool", "", "-b", Form::Next),
    option("oathtool", "", "--base32", Form::Next),
    option("smbclient", "", "--user", Form::Pair),
    option("smbclient", "", "-U", Form::Percent),
    option("rpcclient", "", "-U", Form::Percent),
    option("snmpwalk", "", "-A", Form::Next),
    option("snmpwalk", "", "-c", Form::Next),
    option("snmpget", "", "-c", Form::Next),
    option("snmpset", "", "-c", Form::Next),
];

static COMMANDS: Openings<{ OPTIONS.len() }> = {
    let mut openings = Openings::none();
    let mut at = OPTIONS.len();
    while at > 0 {
        at -= 1;
        openings = openings.with(at, OPTIONS[at].command);
    }
    openings
};

/// Scans all words in one pass. It remembers the last command and subcommand on the line.
pub(super) fn scan(text: &str, marks: &Marks, found: &mut Vec<Span>) {
    // Without any option no command can receive a secret.
    if !marks.options {
        return;
    }
    let bytes = text.as_bytes();
    let mut ends = RunEnds::default();
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
    let mut near = COMMANDS.with_pair(first, second).map(|number| OPTIONS[number].command);
    near.find(|command| command.as_bytes() == name)
}

fn option_secret(
    text: &str,
    at: usize,
    end: usize,
    command: &str,
    verb: bool,
    ends: &mut RunEnds,
) -> Option<Span> {
    let bytes = text.as_bytes();
    let after = skip_blanks(bytes, end);
    // An option at the end of its line or quotation has no value.
    let has_next =
        after > end && after < bytes.len() && !matches!(bytes[after], b'-' | b'\n' | b'|' | b'>' | MASK);
    for option in
        OPTIONS.iter().filter(|option| option.command == command && (option.verb.is_empty() || verb))
    {
        if !text[at..end].starts_with(option.option) {
            continue;
        }
        let inner = at + option.option.len();
        let attached = inner < end && option.option.len() == 2;
        let start = match option.form {
            Form::Attached | Form::Either | Form::Pair if attached => inner,
            Form::Either | Form::Next | Form::Pair | Form::Cookie | Form::Percent
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
    let known = family(name)
        .filter(|_| has_next && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)))?;
    let value = value_at(text, after, ends);
    let literal = head(&text[value.start..value.end]);
    let secret = match known {
        Family::Password => holds_password(text, value, literal),
        Family::Secret | Family::Token => is_token(literal, 6),
        Family::Key => is_token(literal, 16),
        Family::Number => false,
    };
    secret.then_some(Span { kind: kind(name, known), start: value.start, end: value.end })
}

fn value_at(text: &str, at: usize, ends: &mut RunEnds) -> Literal {
    quoted(text, at).unwrap_or_else(|| bare(text, at, ends))
}

fn secret_of(text: &str, value: Literal, form: Form) -> Option<Span> {
    let whole = &text[value.start..value.end];
    let (skipped, kind) = match form {
        // `-passin file:key.pem` refers to a file.
        Form::Pair if ["file:", "env:", "fd:"].iter().any(|source| whole.starts_with(source)) => return None,
        Form::Pair => (whole.find(':')? + 1, Kind::Password),
        Form::Percent => (whole.find('%')? + 1, Kind::Password),
        Form::Cookie => (whole.find('=')? + 1, Kind::Cookie),
        _ => (0, Kind::Password),
    };
    let secret = &whole[skipped..];
    let literal = match form {
        Form::Pair | Form::Cookie | Form::Percent => {
            !secret.is_empty() && !is_template(head(secret)) && !secret.starts_with("//")
        }
        _ => is_literal(head(secret), 3, true),
    };
    literal.then_some(Span { kind, start: value.start + skipped, end: value.end })
}

/// True if the plain word after `--password` is a password: the command goes on or ends behind it. In a
/// sentence about the option it would be the next word.
fn holds_password(text: &str, value: Literal, literal: &str) -> bool {
    let rest = &text.as_bytes()[value.end..];
    let closes = matches!(
        rest[skip_blanks(rest, 0)..],
        [] | [b'\n' | b'-' | b'|' | b'&' | b';' | b'\\' | b'"' | b'\'' | b'`' | b'>', ..]
    );
    is_password(literal, 4)
        || (value.quoted && is_literal(literal, 3, true))
        || (closes && is_literal(literal, 4, false))
}
