//! Finds explicit requests to remember something, in the user's own sentence: "remember …", "note for later
//! …", "always …", "never …", in eight languages.
//!
//! Precision comes before recall, because a match is kept even if the rest of a session is dropped.
//! Questions, quotations and pasted text never match. "Always" and "never" count only as part of an order.

#[cfg(test)]
mod tests;
mod words;

use super::pasted;
use crate::text::sentences;
use crate::text::sentences::{split_phrases, strip_words};

/// The maximum number of requests per message. A text with more is a document.
pub const MAX_REQUESTS: usize = 5;
/// The maximum length of a sentence; longer text is not one.
const MAX_SENTENCE_CHARS: usize = 600;
/// A longer message probably contains pasted rules. In it only explicit requests count, at its beginning and
/// its end.
const LONG_MESSAGE_CHARS: usize = 2_000;

/// A request to remember something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberRequest {
    /// The sentence, word for word.
    pub text: String,
    /// True if the user certainly typed it. Otherwise they are asked first.
    pub certain: bool,
}

/// The sentences in which the user asks to remember something, word for word.
pub fn find(message: &str) -> Vec<String> {
    remember_requests(message).into_iter().map(|wish| wish.text).collect()
}

/// The same as [`find`], with the certainty that the user typed each.
pub fn remember_requests(message: &str) -> Vec<RememberRequest> {
    let long = message.chars().count() > LONG_MESSAGE_CHARS;
    let typed = pasted::lines(message);
    let lines: Vec<&str> = typed.iter().map(|line| line.text).collect();
    let mut found: Vec<RememberRequest> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let inside = number > 2 && number + 3 < lines.len();
        if long && (inside || line.len() > LONG_MESSAGE_CHARS) {
            continue;
        }
        for sentence in sentences::split_sentences(line) {
            let Some(cue) = request_cue(sentence) else { continue };
            if cue == RequestCue::Rule && long {
                continue;
            }
            let mut wish = sentence.to_owned();
            // "Remember this:" refers to what follows.
            if sentence.ends_with([':', '：']) {
                let rest = lines[number + 1..].iter().take_while(|line| !line.is_empty());
                rest.for_each(|line| {
                    wish.push('\n');
                    wish.push_str(line);
                });
                if wish.len() == sentence.len() {
                    continue;
                }
            }
            let is_known = found.iter().any(|known| known.text == wish);
            if wish.chars().count() <= MAX_SENTENCE_CHARS && !is_known && found.len() < MAX_REQUESTS {
                found.push(RememberRequest { text: wish, certain: typed[number].certain });
            }
        }
    }
    found
}

/// The meaning of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestCue {
    /// Remember a single thing.
    Wish,
    /// Always or never do something.
    Rule,
}

/// The request that a sentence makes, if any.
pub(crate) fn request_cue(sentence: &str) -> Option<RequestCue> {
    let folded = sentences::fold(sentence);
    let text = folded.as_str();
    if sentences::asks_or_quotes(text) {
        return None;
    }
    dense(text).or_else(|| order(strip_lead(text))).or_else(|| pleaded(text).find_map(order))
}

/// The request in the first words of `text`.
fn order(text: &str) -> Option<RequestCue> {
    starts_with_any(text, words::WISHES, words::NOT_WISHES)
        .then_some(RequestCue::Wish)
        .or_else(|| starts_with_any(text, words::RULES, words::NOT_RULES).then_some(RequestCue::Rule))
}

/// The text after each "please" in the middle of a sentence, outside of quotations.
fn pleaded(text: &str) -> impl Iterator<Item = &str> {
    const PLEASE: &[&str] =
        &["please ", "pls ", "bitte ", "por favor ", "por favor, ", "пожалуйста, ", "пожалуйста "];
    PLEASE.iter().flat_map(move |please| {
        text.match_indices(please).filter_map(move |(at, _)| {
            let before = &text[..at];
            let apart = before.ends_with([' ', ',', ';']);
            let quoted = before.matches(['"', '`', '“', '”', '„']).count() % 2 == 1;
            (apart && !quoted).then(|| text[at + please.len()..].trim_start())
        })
    })
}

/// Strips filler words in front of an order.
pub(crate) fn strip_lead(text: &str) -> &str {
    let mut text = text;
    // Nobody says more than three of them.
    for _ in 0..3 {
        let lead = split_phrases(words::LEADS)
            .filter_map(|lead| strip_words(text, lead))
            .min_by_key(|rest| rest.len());
        match lead {
            Some(rest) if !rest.is_empty() => text = rest,
            _ => break,
        }
    }
    text
}

fn starts_with_any(text: &str, cues: &'static str, but_not: &'static str) -> bool {
    split_phrases(cues)
        .any(|cue| strip_words(text, cue).is_some_and(|rest| !rest.is_empty() || text.ends_with([':', '：'])))
        && !split_phrases(but_not).any(|words| strip_words(text, words).is_some())
}

/// Finds a request in a language without spaces, where it may be anywhere in the sentence.
fn dense(text: &str) -> Option<RequestCue> {
    let body = text.trim_end_matches(['。', '！', '!', '.', '、', '～', '~']);
    if !sentences::is_dense(body) || split_phrases(words::DENSE_NOT).any(|not| body.contains(not)) {
        return None;
    }
    let quoted =
        |cue: &str| body.split(['「', '『', '“', '"']).next().is_none_or(|before| !before.contains(cue));
    if split_phrases(words::DENSE_WISHES).any(|cue| body.contains(cue) && !quoted(cue))
        || split_phrases(words::DENSE_OPENINGS).any(|cue| body.starts_with(cue))
    {
        return Some(RequestCue::Wish);
    }
    let body = ["请", "請"].iter().find_map(|please| body.strip_prefix(please)).unwrap_or(body);
    let chinese = split_phrases(words::DENSE_RULES).any(|cue| body.starts_with(cue));
    let japanese = split_phrases(words::DENSE_ADVERBS).any(|adverb| body.contains(adverb) && !quoted(adverb))
        && split_phrases(words::DENSE_ORDERS).any(|order| body.ends_with(order));
    (chinese || japanese).then_some(RequestCue::Rule)
}
