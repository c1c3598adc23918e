//! What a person asked to be remembered, in their own sentence: "remember …", "note for later …", "always …",
//! "never …", in eight languages.
//!
//! It would rather miss a wish than invent one: what it finds is kept even where the rest of a session is dropped. A
//! question, a quotation and pasted text ask for nothing; "always" and "never" count only where they give an order.

#[cfg(test)]
mod tests;
mod words;

use super::pasted;
use crate::text::sentences;
use crate::text::sentences::{after_words, phrases};

/// Nobody asks for more at once; a text with more of it is a document.
pub const MOST: usize = 5;
/// A longer sentence is not one.
const MAX_SENTENCE: usize = 600;
/// In a longer message, rules are pasted: only plain wishes to remember count, at its beginning and its end.
const LONG_MESSAGE: usize = 2_000;

/// Something that the person asked to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Word for word.
    pub text: String,
    /// Whether it is certain that the person typed it; otherwise they are asked first.
    pub certain: bool,
}

/// The sentences in which the person asks for something to be remembered, word for word.
pub fn find(message: &str) -> Vec<String> {
    wishes(message).into_iter().map(|wish| wish.text).collect()
}

/// The same, with how certain it is that they are the person's.
pub fn wishes(message: &str) -> Vec<Wish> {
    let long = message.chars().count() > LONG_MESSAGE;
    let typed = pasted::lines(message);
    let lines: Vec<&str> = typed.iter().map(|line| line.text).collect();
    let mut found: Vec<Wish> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let inside = number > 2 && number + 3 < lines.len();
        if long && (inside || line.len() > LONG_MESSAGE) {
            continue;
        }
        for sentence in sentences::sentences(line) {
            let Some(cue) = cue(sentence) else { continue };
            if cue == Cue::Rule && long {
                continue;
            }
            let mut wish = sentence.to_owned();
            // "Remember this:" is about what comes next.
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
            if wish.chars().count() <= MAX_SENTENCE && !is_known && found.len() < MOST {
                found.push(Wish { text: wish, certain: typed[number].certain });
            }
        }
    }
    found
}

/// What a sentence asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    /// To remember something.
    Wish,
    /// To do something always, or never.
    Rule,
}

/// What a sentence asks for, if it does.
pub(crate) fn cue(sentence: &str) -> Option<Cue> {
    let folded = sentences::folded(sentence);
    let text = folded.as_str();
    if sentences::asks_or_quotes(text) {
        return None;
    }
    dense(text).or_else(|| order(without_lead(text))).or_else(|| pleaded(text).find_map(order))
}

/// What `text` orders with its first words.
fn order(text: &str) -> Option<Cue> {
    starts_with_any(text, words::WISHES, words::NOT_WISHES)
        .then_some(Cue::Wish)
        .or_else(|| starts_with_any(text, words::RULES, words::NOT_RULES).then_some(Cue::Rule))
}

/// What follows a "please" in the middle of a sentence, outside of quotations.
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

/// `text` without the words in front of an order that change nothing about it.
pub(crate) fn without_lead(text: &str) -> &str {
    let mut text = text;
    // Three of them is more than anybody says.
    for _ in 0..3 {
        let lead =
            phrases(words::LEADS).filter_map(|lead| after_words(text, lead)).min_by_key(|rest| rest.len());
        match lead {
            Some(rest) if !rest.is_empty() => text = rest,
            _ => break,
        }
    }
    text
}

fn starts_with_any(text: &str, cues: &'static str, but_not: &'static str) -> bool {
    phrases(cues)
        .any(|cue| after_words(text, cue).is_some_and(|rest| !rest.is_empty() || text.ends_with([':', '：'])))
        && !phrases(but_not).any(|words| after_words(text, words).is_some())
}

/// Languages that put no spaces between words: the order may stand anywhere in the sentence.
fn dense(text: &str) -> Option<Cue> {
    let body = text.trim_end_matches(['。', '！', '!', '.', '、', '～', '~']);
    if !sentences::is_dense(body) || phrases(words::DENSE_NOT).any(|not| body.contains(not)) {
        return None;
    }
    let quoted =
        |cue: &str| body.split(['「', '『', '“', '"']).next().is_none_or(|before| !before.contains(cue));
    if phrases(words::DENSE_WISHES).any(|cue| body.contains(cue) && !quoted(cue))
        || phrases(words::DENSE_OPENINGS).any(|cue| body.starts_with(cue))
    {
        return Some(Cue::Wish);
    }
    let body = ["请", "請"].iter().find_map(|please| body.strip_prefix(please)).unwrap_or(body);
    let chinese = phrases(words::DENSE_RULES).any(|cue| body.starts_with(cue));
    let japanese = phrases(words::DENSE_ADVERBS).any(|adverb| body.contains(adverb) && !quoted(adverb))
        && phrases(words::DENSE_ORDERS).any(|order| body.ends_with(order));
    (chinese || japanese).then_some(Cue::Rule)
}
