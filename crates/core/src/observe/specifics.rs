//! What in a statement can be checked: paths, names of code, numbers, versions and quotations. Whoever states them has to
//! have them from somewhere.

use std::collections::HashSet;

use crate::recall::terms;

/// Longer quotations are looked for by their beginning.
const MAX_QUOTE: usize = 120;

/// What in a text can be checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specifics {
    /// Whatever only makes sense as it is written, in lower case.
    pub names: Vec<String>,
    /// Small whole numbers: a count may be somebody's own, so a wrong one only makes the statement doubtful.
    pub counts: Vec<String>,
}

/// Words a text is made of, for telling whether another text covers them. Stop words do not count.
pub fn words(text: &str) -> HashSet<u64> {
    terms::terms(text).into_iter().map(|(term, _)| term).collect()
}

/// How much of `words` is in `there`, from 0 to 1; nothing to cover is covered.
pub fn coverage(words: &HashSet<u64>, there: &HashSet<u64>) -> f64 {
    match words.len() {
        0 => 1.0,
        all => words.iter().filter(|word| there.contains(word)).count() as f64 / all as f64,
    }
}

/// A text as it is searched for specifics: lower case, single spaces, one kind of quotation mark.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = true;
    for c in text.chars() {
        let c = match c {
            '’' | '‘' => '\'',
            '“' | '”' | '„' | '«' | '»' => '"',
            c => c,
        };
        if c.is_whitespace() {
            if !space {
                out.push(' ');
            }
            space = true;
            continue;
        }
        space = false;
        out.extend(c.to_lowercase());
    }
    out.truncate(out.trim_end().len());
    out
}

/// What can be checked in `text`. Times in the form 14:05 are left to whoever knows when things were said.
pub fn of(text: &str) -> Specifics {
    let mut found = Specifics::default();
    let rest = quotations(text, &mut found);
    for word in rest.split_whitespace() {
        let called = word.contains("()");
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/_~#$@-".contains(c));
        let word = word.trim_end_matches(['/', '#', '$', '@', '-']);
        let word = if word.starts_with("--") { word } else { word.trim_start_matches('-') };
        if word.is_empty() || is_clock(word) {
            continue;
        }
        if word.chars().all(|c| c.is_ascii_digit()) && word.len() < 3 {
            found.counts.push(word.to_owned());
        } else if called || is_name(word) {
            found.names.push(plain(word));
        }
    }
    found.names.sort();
    found.names.dedup();
    found
}

fn is_clock(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    matches!(parts.as_slice(), [hour, minute] if hour.len() <= 2 && minute.len() == 2
        && [hour, minute].iter().all(|part| part.chars().all(|c| c.is_ascii_digit())))
}

/// Whether a word is written as only names, paths, numbers and code are.
fn is_name(word: &str) -> bool {
    let inner = |sign: char| word.trim_matches(sign).contains(sign);
    let digit = word.chars().any(|c| c.is_ascii_digit());
    let signs = word.contains("::")
        || word.contains("->")
        || ['/', '\\', '_', '@'].into_iter().any(inner)
        || inner('.');
    let after_first = word.chars().skip(1);
    let mixed = word.chars().any(char::is_lowercase) && after_first.clone().any(char::is_uppercase);
    digit || signs || mixed || word.starts_with(['/', '~', '$', '-'])
}

/// Takes quotations and code spans out of a text, and returns the rest.
fn quotations(text: &str, found: &mut Specifics) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let closer = match c {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            '„' => Some('“'),
            '«' => Some('»'),
            '「' => Some('」'),
            _ => None,
        };
        let opens = closer.filter(|_| !before.is_alphanumeric());
        before = c;
        let Some(closer) = opens else {
            rest.push(c);
            continue;
        };
        let tail = chars.as_str();
        let end = tail.find(closer).or_else(|| (c == '„').then(|| tail.find('”')).flatten());
        let Some(end) = end.filter(|end| *end > 0) else {
            rest.push(' ');
            continue;
        };
        let inside = plain(tail.get(..end).unwrap_or_default());
        let inside: String = inside.chars().take(MAX_QUOTE).collect();
        if !inside.is_empty() {
            found.names.push(inside.trim_matches(['.', ',', ';', ':', '!', '?', ' ', '…']).to_owned());
        }
        chars = tail.get(end..).unwrap_or_default().chars();
        chars.next();
        before = closer;
        rest.push(' ');
    }
    found.names.retain(|name| !name.is_empty());
    rest
}

/// Whether a name stands in a plain text as a whole, not in the middle of another.
pub fn stands_in(name: &str, plain_text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (first, last) = (name.chars().next(), name.chars().next_back());
    plain_text.match_indices(name).any(|(at, _)| {
        let before = plain_text.get(..at).and_then(|text| text.chars().next_back());
        let behind = plain_text.get(at + name.len()..).and_then(|text| text.chars().next());
        let free = |edge: Option<char>, beyond: Option<char>| {
            !(edge.is_some_and(is_part) && beyond.is_some_and(is_part)) || is_dense(edge)
        };
        free(first, before) && free(last, behind)
    })
}

/// Where words are not parted by spaces.
fn is_dense(c: Option<char>) -> bool {
    c.is_some_and(|c| matches!(c as u32, 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_checked_is_found() {
        let found = of(
            "Set `max_conn = 20` in config/db.toml (v1.2.3), see parseHTTP and \"Never  again\" at 10:05.",
        );
        assert_eq!(found.names, ["config/db.toml", "max_conn = 20", "never again", "parsehttp", "v1.2.3"]);
        assert!(found.counts.is_empty());
        let found = of("Changed 3 files in 12 folders, port 8080; don't use it.");
        assert_eq!(
            (found.names, found.counts),
            (vec!["8080".to_owned()], vec!["3".to_owned(), "12".to_owned()])
        );
        assert_eq!(of("Plain words, nothing else. The person's wish."), Specifics::default());
        assert_eq!(of("„Nie wieder“ «больше» 「絶対」").names, ["nie wieder", "больше", "絶対"]);
    }

    #[test]
    fn a_name_stands_as_a_whole() {
        let text = plain("The port is 18080, see db.toml and mydb.toml2; 今後は絶対にタブ");
        assert!(!stands_in("8080", &text));
        assert!(stands_in("18080", &text));
        assert!(stands_in("db.toml", &text));
        assert!(stands_in("絶対", &text));
        assert!(!stands_in("toml3", &text));
    }

    #[test]
    fn coverage_is_by_words_that_say_something() {
        let there = words("we deploy with the blue script on Tuesdays");
        assert!(coverage(&words("the deploys are on a Tuesday"), &there) > 0.9);
        assert!(coverage(&words("databases are migrated by hand"), &there) < 0.3);
        assert_eq!(coverage(&words(""), &there), 1.0);
    }
}
