//! More line formats that contain secrets: input piped into a command, passwords of routers and web servers,
//! keys in JSON.

use super::line_window::{FormScanner, command_word, line_after, line_before};
use super::names::{SecretFamily, secret_family};
use super::values::{is_literal, is_password, looks_random};
use super::walk::judged_part;

pub(super) const FORMS: [(&str, FormScanner); 17] = [
    ("| base64", encoded),
    ("|base64", encoded),
    ("sudo -S", piped),
    ("password-stdin", piped),
    ("passwd --stdin", piped),
    ("snmp-server community ", community),
    ("password 7 ", type_7),
    ("key 7 ", type_7),
    ("secret 7 ", type_7),
    ("htpasswd -", htpasswd),
    (" /p:", remote_desktop),
    ("ConvertTo-SecureString", secure_string),
    ("VALUES", inserted),
    ("values", inserted),
    ("oracle:thin:", sqlplus),
    ("oracle:oci:", sqlplus),
    ("\"kty\"", json_web_key),
];

/// Oracle logins: `sqlplus bob/…@db`, `jdbc:oracle:thin:bob/…@db`.
pub(super) fn sqlplus(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let line = line_after(text, end);
    let (start, stop) = command_word(text, end, end + line.len());
    let word = &text[start..stop];
    let Some((user, rest)) = word.split_once('/') else { return Vec::new() };
    let password = rest.rsplit_once('@').map_or(rest, |(password, _)| password);
    let start = start + user.len() + 1;
    let secret = !user.is_empty() && !user.contains('@') && is_literal(judged_part(password), 3, true);
    if secret { vec![(start, start + password.len())] } else { Vec::new() }
}

/// The arguments of the `echo` or `printf` before `at`, with their positions.
fn echoed(text: &str, at: usize) -> Vec<(usize, usize)> {
    let command = line_before(text, at);
    let Some(begin) = command.rfind("echo ").or_else(|| command.rfind("printf ")) else { return Vec::new() };
    let mut from = at - command.len() + begin;
    let mut words = Vec::new();
    for word in command[begin..].split(' ') {
        let inner = word.trim_matches(['"', '\'']);
        let start = from + word.find(inner).unwrap_or(0);
        if !inner.is_empty() && !inner.starts_with('-') {
            words.push((start, start + inner.len()));
        }
        from += word.len() + 1;
    }
    words.split_off(1.min(words.len()))
}

/// Input of an encoder: `echo -n 'bob:…' | base64`.
fn encoded(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let decodes = line_after(text, end).trim_start().starts_with(['-']) && {
        let option = line_after(text, end).trim_start().trim_start_matches('-');
        option.starts_with(['d', 'D'])
    };
    if decodes {
        return Vec::new();
    }
    let words = echoed(text, at).into_iter();
    let secrets = words.map(|(start, end)| match text[start..end].rfind(':') {
        Some(colon) => (start + colon + 1, end),
        None => (start, end),
    });
    secrets.filter(|(start, end)| is_password(judged_part(&text[*start..*end]), 6)).collect()
}

/// Input of a login: `echo … | sudo -S`, `echo … | docker login --password-stdin`.
fn piped(text: &str, at: usize, _: usize) -> Vec<(usize, usize)> {
    let command = line_before(text, at);
    let Some(pipe) = command.rfind('|') else { return Vec::new() };
    let words = echoed(text, at - command.len() + pipe);
    let last = words.into_iter().next_back();
    last.filter(|(start, end)| is_literal(judged_part(&text[*start..*end]), 4, true)).into_iter().collect()
}

/// An SNMP community: `snmp-server community … RO`.
fn community(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let word = line_after(text, end).split(' ').next().unwrap_or_default();
    if is_literal(judged_part(word), 5, false) && word != "string" && is_password(judged_part(word), 5) {
        return vec![(end, end + word.len())];
    }
    Vec::new()
}

/// Cisco's type 7 passwords, which are only obfuscated: `username bob password 7 …`.
fn type_7(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let word = line_after(text, end).split(' ').next().unwrap_or_default();
    let hidden =
        word.len() >= 6 && word.len().is_multiple_of(2) && word.bytes().all(|b| b.is_ascii_hexdigit());
    if hidden { vec![(end, end + word.len())] } else { Vec::new() }
}

/// `xfreerdp /u:bob /p:… /v:host`
fn remote_desktop(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let word = line_after(text, end).split(' ').next().unwrap_or_default();
    let inner = word.trim_matches(['"', '\'']);
    let start = end + word.find(inner).unwrap_or(0);
    let has_account = line_before(text, at).contains(" /u:") || line_after(text, end).contains(" /u:");
    let secret = has_account && is_literal(judged_part(inner), 4, true);
    if secret { vec![(start, start + inner.len())] } else { Vec::new() }
}

/// `ConvertTo-SecureString "…" -AsPlainText`
fn secure_string(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let line = line_after(text, end);
    let Some(open) = line.find(['"', '\'']).filter(|_| line.to_ascii_lowercase().contains("-asplaintext"))
    else {
        return Vec::new();
    };
    let quoted = &line[open + 1..];
    let Some(length) = quoted.find(&line[open..=open]) else { return Vec::new() };
    let start = end + open + 1;
    let secret = length > 0 && is_literal(judged_part(&quoted[..length]), 4, true);
    if secret { vec![(start, start + length)] } else { Vec::new() }
}

/// `INSERT INTO users (name, password) VALUES ('bob', '…'), …`
fn inserted(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let before = line_before(text, at).trim_end();
    let Some((head_of, columns)) = before.strip_suffix(')').and_then(|before| before.rsplit_once('(')) else {
        return Vec::new();
    };
    if !head_of.to_ascii_lowercase().contains("insert ") {
        return Vec::new();
    }
    let is_password = |name: &str| {
        secret_family(name.trim_matches([' ', '`', '"', '[', ']'])) == Some(SecretFamily::Password)
    };
    let announced: Vec<bool> = columns.split(',').map(is_password).collect();
    let values = line_after(text, end);
    let (mut found, mut number, mut quote) = (Vec::new(), 0, None);
    for (place, c) in values.char_indices() {
        match (quote, c) {
            (None, '\'') => quote = Some(place + 1),
            (Some(start), '\'') => {
                let value = &values[start..place];
                if announced.get(number) == Some(&true) && is_literal(judged_part(value), 4, true) {
                    found.push((end + start, end + place));
                }
                quote = None;
            }
            (None, ',') => number += 1,
            (None, '(') => number = 0,
            _ => {}
        }
    }
    found
}

/// `htpasswd -b FILE bob …`, `htpasswd -nb bob …`
fn htpasswd(text: &str, _: usize, end: usize) -> Vec<(usize, usize)> {
    let line = line_after(text, end);
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let options = words.next().unwrap_or_default();
    let operands: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
    let expected = if options.contains('n') { 1 } else { 2 };
    let Some(word) = operands.get(expected).filter(|_| options.contains('b')) else { return Vec::new() };
    let Some(at) = line.find(word) else { return Vec::new() };
    let (start, stop) = command_word(text, end + at, end + line.len());
    if is_literal(judged_part(&text[start..stop]), 4, true) { vec![(start, stop)] } else { Vec::new() }
}

/// The private members of a JSON Web Key.
fn json_web_key(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    const MAX_JWK_DISTANCE: usize = 4000;
    const PRIVATE_JWK_FIELDS: [&str; 7] = ["\"d\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\"", "\"k\""];
    let before = &text[text.ceil_char_boundary(at.saturating_sub(MAX_JWK_DISTANCE))..at];
    let from = at - before.len() + before.rfind('{').unwrap_or(before.len());
    let ahead = &text[end..text.floor_char_boundary(end + MAX_JWK_DISTANCE)];
    let to = end + ahead.find('}').unwrap_or(ahead.len());
    let object = &text[from..to];
    let members = PRIVATE_JWK_FIELDS.iter().filter_map(|member| {
        let name = object.find(member)? + member.len();
        let value = object[name..].trim_start_matches([' ', ':', '\n']).strip_prefix('"')?;
        let length = value.find('"')?;
        let start = from + object.len() - value.len();
        looks_random(judged_part(&value[..length])).then_some((start, start + length))
    });
    let mut members: Vec<_> = members.collect();
    members.sort_unstable();
    members
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_commands_and_files_are_known_by_their_form() {
        for (text, expected) in [
            ("echo -n 'ann:winter-Falcon-19' | base64", "echo -n 'ann:[redacted:secret]' | base64"),
            ("echo -n 'hello:world' | base64", "echo -n 'hello:world' | base64"),
            ("echo -n \"$USER:$PASS\" | base64", "echo -n \"$USER:$PASS\" | base64"),
            ("echo \"kestrel\" | sudo -S true", "echo \"[redacted:secret]\" | sudo -S true"),
            ("snmp-server community n3tw0rkRO RO", "snmp-server community [redacted:secret] RO"),
            ("snmp-server community public RO", "snmp-server community public RO"),
            ("username bob password 7 0822455D0A16", "username bob password 7 [redacted:secret]"),
            ("htpasswd -b .htpasswd bob kestrel", "htpasswd -b .htpasswd bob [redacted:secret]"),
            ("htpasswd -nb bob kestrel", "htpasswd -nb bob [redacted:secret]"),
            ("htpasswd -c .htpasswd bob", "htpasswd -c .htpasswd bob"),
            ("jdbc:oracle:thin:bob/kestrel@db:1521/x", "jdbc:oracle:thin:bob/[redacted:secret]@db:1521/x"),
            ("jdbc:oracle:thin:@db:1521/x", "jdbc:oracle:thin:@db:1521/x"),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
