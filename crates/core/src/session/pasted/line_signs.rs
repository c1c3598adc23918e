//! Detects single lines that somebody else wrote.

use super::words;
use crate::session::{clean, remember_requests};
use crate::text::common_words;
use crate::text::phrases::{contains_dense, has};
use crate::text::sentences;
use crate::text::sentences::split_phrases;

/// The minimum length of a hard-wrapped line. Nobody types this much and then breaks the line in the middle
/// of a sentence.
const MIN_WRAPPED_CHARS: usize = 55;
/// The maximum length of a line that is checked for being a heading, a greeting or a request. A longer one is
/// a paragraph.
const MAX_SIGN_CHARS: usize = 1_000;
/// The maximum number of words in a heading.
const MAX_TITLE_WORDS: usize = 6;
/// The maximum number of words in the name below a letter.
const MAX_NAME_WORDS: usize = 4;
/// The maximum length of a field name.
const MAX_FIELD_CHARS: usize = 24;

/// True for a line that only a document, a page, a diff, a log, a terminal or a chat has.
pub(super) fn is_foreign(line: &str) -> bool {
    let indented = line.starts_with([' ', '\t']);
    let line = line.trim();
    let rest = line.trim_start_matches('#');
    let heading = rest.len() < line.len() && rest.starts_with(' ');
    let tag = line.starts_with("</")
        || line
            .strip_prefix('<')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!'));
    let printed = words::PRINTED.iter().any(|start| line.starts_with(start));
    let page = line.starts_with("![") || line.starts_with("[![") || line.starts_with("* * *");
    let table = line.starts_with('|') && line.len() > 1;
    let quoted = line.ends_with("wrote:") || line.ends_with("schrieb:");
    let ruled = line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    let commit = line.strip_prefix("commit ").is_some_and(|hash| {
        let hash = hash.split(' ').next().unwrap_or_default();
        hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit())
    });
    let chat = is_chat_head(line) || is_clock(line) || is_stamped(line);
    let indented_json = indented && line.starts_with('"') && line.contains("\":");
    heading
        || tag
        || printed
        || page
        || table
        || quoted
        || ruled
        || commit
        || chat
        || indented_json
        || is_prompt(line)
        || opens_tag(line)
        || has_log_prefix(line)
}

/// True for a shell prompt: `$ make`, `ada@host:~/src$ make`.
fn is_prompt(line: &str) -> bool {
    let bare = |sign: &str| line == sign || line.strip_prefix(sign).is_some_and(|rest| rest.starts_with(' '));
    if ["$", "❯", "➜", "PS>"].iter().any(|sign| bare(sign)) || line.starts_with("PS C:\\") {
        return true;
    }
    let Some(host) = line.split([' ', '$', '#', '%']).next().filter(|host| host.contains('@')) else {
        return false;
    };
    host.contains(':') && line[host.len()..].starts_with(['$', '#', '%'])
}

/// True for `Message: <notice>`: an opening non-HTML tag at the end of a line encloses the following text.
fn opens_tag(line: &str) -> bool {
    let Some(at) = line.rfind('<').filter(|_| line.ends_with('>')) else { return false };
    let apart = line[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == ':');
    let opens = clean::parse_unknown_tag(&line[at + 1..]).is_some_and(|(name, length)| {
        at + 1 + length == line.len() && !line.ends_with("/>") && !clean::is_html(name)
    });
    apart && opens
}

/// True for the head of a chat message: `Ada Lovelace  10:42 AM`.
fn is_chat_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_half = |word: &str| matches!(word, "AM" | "PM" | "am" | "pm");
    let words = words.strip_suffix(&["AM"]).or_else(|| words.strip_suffix(&["PM"])).unwrap_or(&words);
    let Some((time, name)) = words.split_last() else { return false };
    let named = (1..=3).contains(&name.len())
        && name.iter().all(|word| word.starts_with(char::is_uppercase) && !is_half(word));
    is_time(time) && named
}

/// True for a time alone on its line: `9:41 AM`, as chats show it below a name.
fn is_clock(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let time = words.next().is_some_and(is_time);
    time && words.next().is_none_or(|half| matches!(half, "AM" | "PM" | "am" | "pm"))
        && words.next().is_none()
}

/// True for a time of day: `10:42`, `[9:41PM]`.
fn is_time(word: &str) -> bool {
    let time = word.trim_matches(['[', ']', '(', ')']);
    let time = ["AM", "PM", "am", "pm"].iter().find_map(|half| time.strip_suffix(half)).unwrap_or(time);
    time.split_once(':').is_some_and(|(hour, minute)| {
        let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        hour.len() <= 2 && minute.len() == 2 && digits(hour) && digits(minute)
    })
}

/// True for a chat export line: `[02.03.26, 09:41:12] Ada:`, `3/2/26, 9:41 - Ada:`.
fn is_stamped(line: &str) -> bool {
    let mut words = line.trim_start_matches(['[', '(']).split_whitespace();
    let Some(date) = words.next().map(|word| word.trim_end_matches(',')) else { return false };
    let parts: Vec<&str> = date.split(['.', '/', '-']).collect();
    let is_date = parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    let is_hour = |word: &str| word.split(':').next().is_some_and(|hour| hour.parse::<u8>().is_ok());
    is_date && words.next().is_some_and(|word| word.contains(':') && is_hour(word))
}

/// Parses a header field into its name and a flag for a value: `Subject: the release`.
fn field(line: &str) -> Option<(String, bool)> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let (name, value) = line.trim().trim_start_matches('*').split_once(':')?;
    let name = name.trim_end_matches('*').trim().to_lowercase();
    (name.chars().count() <= MAX_FIELD_CHARS).then(|| (name, !value.trim().is_empty()))
}

/// True for a field of a mail or ticket: `Subject: the release`, `Reporter: Ada`.
pub(super) fn is_field(line: &str) -> bool {
    field(line)
        .is_some_and(|(name, valued)| valued && split_phrases(words::FIELDS).any(|field| field == name))
        || is_issue_key(line)
}

/// True for an issue key with a colon: `ABC-123: payments`.
fn is_issue_key(line: &str) -> bool {
    let key = line.trim().split([':', ' ']).next().unwrap_or_default();
    key.len() < line.trim().len()
        && line.trim()[key.len()..].starts_with(':')
        && key.split_once('-').is_some_and(|(project, number)| {
            project.len() >= 2
                && project.chars().all(|c| c.is_ascii_uppercase())
                && !number.is_empty()
                && number.chars().all(|c| c.is_ascii_digit())
        })
}

/// True for a field that may be the user's own: `to: the team`.
pub(super) fn is_weak_field(line: &str) -> bool {
    field(line)
        .is_some_and(|(name, valued)| valued && split_phrases(words::WEAK_FIELDS).any(|field| field == name))
}

/// True for a YAML key with a nested block below it.
pub(super) fn opens_list(line: &str, next: &str) -> bool {
    let key = line.trim_end().strip_suffix(':').is_some_and(|key| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        !key.is_empty() && key.chars().all(plain)
    });
    key && next.starts_with([' ', '\t']) && !next.trim().is_empty()
}

/// True if a program wrapped the line: it is long, ends in the middle of a sentence, and the next line
/// continues it.
pub(super) fn is_wrapped(line: &str, next: &str) -> bool {
    let (line, next) = (line.trim_end(), next.trim());
    let goes_on = next.starts_with(|c: char| c.is_lowercase());
    let ends = line.ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
    line.chars().count() >= MIN_WRAPPED_CHARS
        && !ends
        && goes_on
        && !line.trim_start().starts_with(['-', '*', '•'])
}

/// True for a heading or a name by itself: `Key Principles`.
pub(super) fn is_title(line: &str) -> bool {
    let line = line.trim();
    if line.len() > MAX_SIGN_CHARS {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let small = |word: &&str| matches!(*word, "of" | "and" | "the" | "for" | "in" | "to" | "a" | "&" | "or");
    let large = words.iter().filter(|word| word.starts_with(char::is_uppercase)).count();
    (2..=MAX_TITLE_WORDS).contains(&words.len())
        && large >= 2
        && words.iter().all(|word| word.starts_with(char::is_uppercase) || small(word))
        && line.ends_with(char::is_alphanumeric)
        && !is_order(line)
}

fn is_order(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default().to_lowercase().replace('’', "'");
    split_phrases(words::ORDERS).any(|order| order == first)
}

/// True for the greeting of a letter: `Hi Ada,`.
pub(super) fn is_greeting(line: &str) -> bool {
    let line = line.trim();
    if line.len() > MAX_SIGN_CHARS {
        return false;
    }
    let folded = sentences::fold(line);
    let named = line.split_whitespace().next_back().is_some_and(|name| name.starts_with(char::is_uppercase));
    if !line.ends_with(',') && !named {
        return false;
    }
    split_phrases(words::GREETINGS).filter_map(|greeting| sentences::strip_words(&folded, greeting)).any(
        |name| {
            let name = name.trim_end_matches([',', '!', '.', ' ']);
            let words = name.split_whitespace().count();
            (1..MAX_NAME_WORDS).contains(&words)
                && !name.contains([',', '.', '?', ':'])
                && !split_phrases(words::ADDRESSEES).any(|known| known == name)
        },
    )
}

/// True if a message ends like a letter or a page, or begins like instructions for an agent. Then all of it
/// may be one.
pub(super) fn ends_document(lines: &[&str]) -> bool {
    let short = |line: &&str| !line.is_empty() && line.len() <= MAX_SIGN_CHARS;
    let filled: Vec<&str> = lines.iter().map(|line| line.trim()).filter(short).collect();
    let Some((first, rest)) = filled.split_first().filter(|(_, rest)| !rest.is_empty()) else { return false };
    let is_footer = |line: &&str| {
        let lower = line.to_lowercase();
        line.starts_with('©')
            || lower.starts_with("(c) 2")
            || lower.contains("all rights reserved")
            || *line == "--"
    };
    let is_persona =
        ["You are a ", "You are an ", "You are the "].iter().any(|start| first.starts_with(start));
    let is_signed = rest.windows(2).any(|pair| closes_letter(pair[0]) && is_name(pair[1]));
    is_signed || is_persona || rest.iter().any(is_footer)
}

/// True for the closing of a letter: `Best regards,`.
fn closes_letter(line: &str) -> bool {
    let line = line.trim_end_matches([',', '!', '.']).to_lowercase();
    split_phrases(words::CLOSINGS).any(|closing| closing == line)
}

/// True for a person's name: `Ada Lovelace`.
fn is_name(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    (1..=MAX_NAME_WORDS).contains(&words.len())
        && words.iter().all(|word| word.starts_with(char::is_uppercase))
        && !line.ends_with(['!', '?', ':'])
        && !is_order(line)
}

/// True for a line of code outside of fences.
pub(super) fn is_code(line: &str) -> bool {
    let line = line.trim();
    let ends = ["{", "};", ");", "):", "})", "],", "},"].iter().any(|end| line.ends_with(end));
    let opens = matches!(line, "{" | "}" | "[" | "]") || line.starts_with("{\"") || line.starts_with("[{");
    let begins = words::CODE.iter().any(|start| line.starts_with(start));
    let signs = line.contains(['=', ';', '{']) || line.ends_with(':');
    ends || opens || begins && signs
}

/// True if a line asks to do something with the text below it: "summarise this", "answer this mail". `apart`
/// means that the text does not follow at once. A line that states a rule does not count.
pub(super) fn is_handover(line: &str, apart: bool) -> bool {
    if line.len() > MAX_SIGN_CHARS || remember_requests::request_cue(line.trim()).is_some() {
        return false;
    }
    let folded = sentences::fold(line.trim());
    let bare = folded.trim_end_matches([':', '.', '!', '?', ',', ' ']);
    let last = bare.rsplit(' ').next().unwrap_or_default();
    let perhaps = || words::POINTS_BELOW.contains(&last) || has(&folded, words::PERHAPS_HANDS_OVER);
    has(&folded, words::HANDS_OVER) || contains_dense(&folded, words::DENSE_HANDS_OVER) || apart && perhaps()
}

/// True for an announcement: `Here is the log:`.
pub(super) fn is_announcement(line: &str) -> bool {
    if !line.ends_with([':', '：']) {
        return false;
    }
    let folded = sentences::fold(line);
    has(&folded, common_words::QUOTE_INTRODUCTIONS)
        || contains_dense(&folded, common_words::DENSE_QUOTE_INTRODUCTIONS)
}

/// True for a line that starts with a time, a log level, a speaker's name or a source location.
pub(super) fn has_log_prefix(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '-', ' ', '\\']);
    let first = line.split_whitespace().next().unwrap_or("");
    let time = first.trim_matches(['[', ']', '(', ')']);
    let dated = time.len() >= 5
        && time.starts_with(|c: char| c.is_ascii_digit())
        && time.contains([':', '-'])
        && time
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '-' | '.' | 'T' | 'Z' | '/' | '+' | ','));
    let bare = line.trim_start_matches(['[', '(', '<', '*']);
    let name_end = bare.find([']', ':', ')', '>', '*']).filter(|end| *end < 24);
    let speaker = name_end.is_some_and(|end| {
        let name = bare[..end].to_lowercase();
        let marked = bare[end..].starts_with(':') || bare[end..].contains("]:") || line.starts_with('[');
        marked && split_phrases(common_words::SPEAKERS).any(|speaker| speaker == name.trim())
    });
    let place = first.contains('.')
        && first.split(':').nth(1).is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let code = line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("--")
        || line.starts_with("at ") && line.contains('(');
    dated || speaker || place || code
}
