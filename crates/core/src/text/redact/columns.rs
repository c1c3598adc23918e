//! Scanner for tables with a secret column: Markdown, database output, CSV, or aligned with spaces.

use super::names::{SecretFamily, secret_family};
use super::values::{is_literal, is_password, is_token};
use super::vocabulary::is_compounded;
use super::walk::judged_part;
use super::words::{is_camel_words, is_joined_words};

/// The maximum length of a row, and the maximum number of rows.
const MAX_LINE_BYTES: usize = 1000;
const MAX_ROWS: usize = 200;

/// The values in the column whose name ends with the cue from `cue` to `cue_end`.
pub(super) fn values_below(
    text: &str,
    cue: usize,
    cue_end: usize,
    announced: SecretFamily,
) -> Vec<(usize, usize)> {
    let Some(column) = TableColumn::find_column(text, cue, cue_end, announced) else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = column.rows;
    for line in text[at..].split_inclusive('\n').take(MAX_ROWS) {
        let (start, row) = (at, line.trim_end());
        at += line.len();
        if row.bytes().all(|b| b"-|+:= ".contains(&b)) && !row.is_empty() {
            continue;
        }
        let cells = if line.len() <= MAX_LINE_BYTES { cells(row, column.delimiter) } else { Vec::new() };
        // Anything except a row or the rule below the header ends the table.
        if cells.len() != column.count {
            break;
        }
        let (from, to) = cells[column.number];
        if column.holds_value(judged_part(&row[from..to])) {
            found.push((start + from, start + to));
        }
    }
    found
}

struct TableColumn {
    delimiter: ColumnDelimiter,
    number: usize,
    count: usize,
    family: SecretFamily,
    /// True if another column names the owner, so that a plain word can be a password.
    owned: bool,
    /// True if the column is called "pass", which could also be a test result.
    pass: bool,
    /// True if the column is called "secret", which could be a password or a key.
    secret: bool,
    /// The start of the line after the header.
    rows: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum ColumnDelimiter {
    Sign(u8),
    Blanks,
}

impl TableColumn {
    fn find_column(text: &str, cue: usize, cue_end: usize, announced: SecretFamily) -> Option<Self> {
        let bytes = text.as_bytes();
        // The name of a column ends with a delimiter. This check rejects nearly every cue.
        let closed = cue_end
            + bytes[cue_end..].iter().take(3).take_while(|b| matches!(b, b'"' | b'\'' | b'*')).count();
        if !matches!(
            bytes[closed..],
            [b',' | b';' | b'\t' | b'\n' | b'\r' | b'|', ..] | [b' ', b' ' | b'|' | b'\n', ..]
        ) {
            return None;
        }
        let back = text.ceil_char_boundary(cue.saturating_sub(MAX_LINE_BYTES));
        let start =
            text[back..cue].rfind('\n').map(|newline| back + newline + 1).or((back == 0).then_some(0))?;
        let ahead = text.floor_char_boundary(cue_end + MAX_LINE_BYTES);
        let end = cue_end + text[cue_end..ahead].find('\n')?;
        let header = text[start..end].trim_end();
        let delimiter = delimiter(header)?;
        let cells = cells(header, delimiter);
        let named: Vec<&str> = cells.iter().map(|(from, to)| &header[*from..*to]).collect();
        let names = named.iter().filter(|name| !name.is_empty());
        if names.clone().count() < 2 || !names.clone().all(|name| is_name(name)) {
            return None;
        }
        let number = cells.iter().position(|(from, to)| (start + from..start + to).contains(&cue))?;
        let (from, to) = cells[number];
        let name = &header[from..to];
        if start + to != cue_end {
            return None;
        }
        // `login_password` is a complete name; `DB password` ends with the cue.
        let family = if name.contains('_') { secret_family(name)? } else { announced };
        let owned = named.iter().enumerate().any(|(at, name)| at != number && names_owner(name));
        let pass = name.eq_ignore_ascii_case("pass");
        let outcomes = named.iter().any(|name| name.to_ascii_lowercase().contains("fail"));
        if pass && (outcomes || !owned) {
            return None;
        }
        let secret = name.eq_ignore_ascii_case("secret");
        Some(Self { delimiter, number, count: cells.len(), family, owned, pass, secret, rows: end + 1 })
    }

    fn holds_value(&self, value: &str) -> bool {
        if value.contains(char::is_whitespace) {
            return false;
        }
        match self.family {
            SecretFamily::Password => {
                let word = value.chars().all(char::is_alphabetic);
                let digits = value.len() >= 4 && value.bytes().all(|b| b.is_ascii_digit());
                let plain =
                    (word && is_literal(value, 5, true) && !is_compounded(&value.to_lowercase())) || digits;
                let made_up = is_joined_words(value) || is_camel_words(value) || is_marked(value);
                is_password(value, 4) || (self.owned && ((plain && !(self.pass && digits)) || made_up))
            }
            SecretFamily::Number => false,
            _ => is_token(value, 8) || (self.secret && is_password(value, 6)),
        }
    }
}

/// True for a word with a mark behind it, as forms demand: `foxglove!`.
fn is_marked(value: &str) -> bool {
    let word = value.trim_end_matches(['!', '#', '$', '*', '?']);
    word.len() < value.len() && word.chars().all(char::is_alphabetic) && is_literal(value, 6, true)
}

fn delimiter(header: &str) -> Option<ColumnDelimiter> {
    let sign = [b'|', b'\t', b';', b','].into_iter().find(|sign| header.as_bytes().contains(sign));
    sign.map(ColumnDelimiter::Sign).or_else(|| header.contains("  ").then_some(ColumnDelimiter::Blanks))
}

/// True if a cell can be a column name.
fn is_name(cell: &str) -> bool {
    cell.chars().count() <= 32
        && cell.split(' ').count() <= 3
        && cell.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '#' | '/'))
}

fn names_owner(cell: &str) -> bool {
    #[rustfmt::skip]
    const OWNERS: [&str; 33] = [
        "user", "login", "name", "mail", "account", "host", "server", "service", "url", "site", "app", "system",
        "benutz", "dienst", "konto", "usuario", "usuário", "servicio", "serviço", "utilis", "compte", "gebruiker",
        "dienst", "utente", "servizio", "użytkownik", "kullanıcı", "пользов", "логин", "сервис", "사용자", "用户", "ユーザ",
    ];
    let cell = cell.to_lowercase();
    OWNERS.iter().any(|owner| cell.contains(owner))
}

/// The cells of a line, without surrounding blanks, quotes and emphasis.
fn cells(line: &str, delimiter: ColumnDelimiter) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let bytes = line.as_bytes();
    let mut start = 0;
    let mut quoted = false;
    let mut at = 0;
    while at < bytes.len() {
        match delimiter {
            _ if bytes[at] == b'"' => quoted = !quoted,
            ColumnDelimiter::Sign(sign) if bytes[at] == sign && !quoted => {
                ends.push((start, at));
                start = at + 1;
            }
            ColumnDelimiter::Blanks if bytes[at..].starts_with(b"  ") && at > start => {
                ends.push((start, at));
                at += bytes[at..].iter().take_while(|b| **b == b' ').count();
                start = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    ends.push((start, bytes.len()));
    let dressing = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*');
    let trimmed = ends.into_iter().map(|(from, to)| {
        let cell = line[from..to].trim_start_matches(dressing);
        let from = to - cell.len();
        (from, from + cell.trim_end_matches(dressing).len())
    });
    trimmed.collect()
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_columns_are_read_as_they_are_written() {
        for (text, expected) in [
            (
                "user,password\nbob,marigold\n\nuser,plain\n",
                "user,password\nbob,[redacted:password]\n\nuser,plain\n",
            ),
            (
                "\"user\",\"password\"\n\"a,b\",\"mari,g0ld\"",
                "\"user\",\"password\"\n\"a,b\",\"[redacted:password]\"",
            ),
            ("user;pw\nbob;marigold\n", "user;pw\nbob;[redacted:password]\n"),
            ("colour,password\nred,marigold\n", "colour,password\nred,marigold\n"),
            ("colour,password\nred,mar1gold\n", "colour,password\nred,[redacted:password]\n"),
            (
                "user, password, and role\nbob, marigold, admin\n",
                "user, password, and role\nbob, [redacted:password], admin\n",
            ),
            ("user,password_hash\nbob,marigold\n", "user,password_hash\nbob,marigold\n"),
            (
                "name,token\nci,Identifier\nx,9sKq27dLmPz0\n",
                "name,token\nci,Identifier\nx,[redacted:secret]\n",
            ),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
