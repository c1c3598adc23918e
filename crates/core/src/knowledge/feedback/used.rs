//! Whether an agent made use of a memory (FBK-01). Words that both happen to say prove nothing: what counts is something
//! specific to the memory that the agent said or did *before* anybody else in the session had said it.

use std::collections::{BTreeMap, HashSet};

use super::{Judged, Verdict};
use crate::session::{Message, Role};
use crate::text::domain_stopwords::is_commonplace;
use crate::text::specifics::{self, is_clock, is_count, plain, stands_in};
use crate::text::terms;

/// What is looked at of one message or output: where something came from is told by its beginning.
const MAX_PIECE: usize = 64 * 1024;
/// From here on it was used.
const ENOUGH: f64 = 1.0;
/// Without anything specific: so many of its own words have to come up …
const FEWEST_WORDS: usize = 3;
/// … that are so rare together …
const WORDS_WEIGHT: f64 = 1.2;
/// … and are so much of all its own words.
const WORDS_SHARE: f64 = 0.4;
/// A word as rare as this is a name of something.
const NAME: f64 = 0.98;
/// What a name is worth that is only mentioned. In a call it is worth all.
const MENTIONED: f64 = 0.5;
/// What a round number or a date is worth: they come up by themselves.
const ROUND: f64 = 0.5;
/// What every programmer's word is worth of its rarity.
const COMMONPLACE: f64 = 0.2;
/// What a pair of signs is worth in scripts without spaces.
const PAIR: f64 = 0.4;
/// The most that a verdict names as its grounds.
const MOST_GROUNDS: usize = 5;

/// A memory as it was shown.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// Its name.
    pub id: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Whether it can be heeded without a trace: a rule, a preference. Then nothing in the answer means nothing.
    pub silent: bool,
}

/// What somebody said, did or printed.
struct Piece {
    /// Whose: the agent's words, the agent's calls, or anything that the agent could read.
    by: By,
    plain: String,
    terms: HashSet<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Words,
    Calls,
    Others,
}

/// A turn, ready to be held against memories.
pub struct Turn {
    pieces: Vec<Piece>,
}

impl Turn {
    /// `known` is what the session held before: the prompt, and what was said earlier. `messages` are what follows the
    /// prompt.
    pub fn new(known: &[&str], messages: &[Message]) -> Self {
        let mut pieces: Vec<Piece> = known.iter().map(|text| piece(By::Others, text)).collect();
        for message in messages {
            match message.role {
                Role::Assistant => {
                    pieces.push(piece(By::Words, &message.text));
                    let calls = message.calls.iter().map(|call| {
                        let files: Vec<&str> =
                            call.reads.iter().chain(&call.writes).map(String::as_str).collect();
                        format!("{}\n{}", call.input, files.join("\n"))
                    });
                    let calls: Vec<String> = calls.collect();
                    if !calls.is_empty() {
                        pieces.push(piece(By::Calls, &calls.join("\n")));
                    }
                }
                Role::User | Role::Tool | Role::Summary => pieces.push(piece(By::Others, &message.text)),
            }
        }
        Self { pieces }
    }

    /// Whether the agent said or did anything at all.
    pub fn is_answered(&self) -> bool {
        self.pieces.iter().any(|piece| piece.by != By::Others && !piece.plain.is_empty())
    }

    /// Who came up with something first: the agent in words, in a call, or somebody else.
    fn first(&self, holds: impl Fn(&Piece) -> bool) -> Option<By> {
        self.pieces.iter().find(|piece| holds(piece)).map(|piece| piece.by)
    }
}

fn piece(by: By, text: &str) -> Piece {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at < MAX_PIECE).last();
    let text = if text.len() > MAX_PIECE { &text[..end.unwrap_or(0)] } else { text };
    Piece { by, plain: plain(text), terms: specifics::words(text) }
}

/// The verdict on a memory that stood in front of a turn. `rarity` says how rare a word is in general, from 0 to 1.
pub fn judge(memory: &Memory<'_>, turn: &Turn, rarity: &dyn Fn(&str) -> f64) -> Judged {
    let mut grounds: Vec<String> = Vec::new();
    let (mut score, mut could) = (0.0, 0.0);
    let mut known_before = false;
    for specific in specifics::specifics(memory.text) {
        let weight = weight(&specific);
        if weight <= 0.0 {
            continue;
        }
        known_before = true;
        match turn.first(|piece| stands_in(&specific, &piece.plain)) {
            Some(By::Others) => {}
            Some(By::Words | By::Calls) => {
                score += weight;
                could += weight;
                grounds.push(specific);
            }
            None => could += weight,
        }
    }
    let (mut said, mut own, mut found) = (0.0, 0.0, Vec::new());
    let mut words = 0;
    for (term, word) in distinct(memory.text, rarity) {
        match turn.first(|piece| piece.terms.contains(&term)) {
            Some(By::Others) => {}
            Some(by @ (By::Words | By::Calls)) => {
                words += 1;
                own += word.weight;
                said += word.weight;
                if word.weight >= NAME && !word.part {
                    score += if by == By::Calls { ENOUGH } else { MENTIONED };
                }
                found.push(word.text);
            }
            None => {
                words += 1;
                own += word.weight;
            }
        }
    }
    // All that is specific to it was said by others before.
    known_before &= could == 0.0;
    let by_words = found.len() >= FEWEST_WORDS && said >= WORDS_WEIGHT && said >= WORDS_SHARE * own;
    let by_both = score >= ROUND && found.len() >= 2 && said >= WORDS_SHARE * own;
    let verdict = if score >= ENOUGH || by_words || by_both {
        Verdict::Used
    } else if memory.silent || known_before || !turn.is_answered() || (could < ENOUGH && words < FEWEST_WORDS)
    {
        Verdict::Unclear
    } else {
        Verdict::Ignored
    };
    let mut by = Vec::new();
    if verdict == Verdict::Used {
        by.extend(grounds.into_iter().chain(found));
        by.dedup();
        by.truncate(MOST_GROUNDS);
    }
    Judged { id: memory.id.to_owned(), verdict, by }
}

/// What a specific is worth as proof.
fn weight(specific: &str) -> f64 {
    let digits = specific.bytes().filter(u8::is_ascii_digit).count();
    let number = digits == specific.len();
    let year = number && digits == 4 && (specific.starts_with("19") || specific.starts_with("20"));
    let date = digits == 8 && specific.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_count(specific) || is_clock(specific) || matches!(specific, "e.g" | "i.e") {
        0.0
    } else if year || date || (number && specific.ends_with("00")) {
        ROUND
    } else if specific.chars().all(char::is_alphabetic) {
        // A name without anything that only code writes is weighed among the words.
        0.0
    } else if specific.contains(' ') {
        let long = specific.split(' ').count() >= 3 || specific.chars().count() >= 12;
        if long { ENOUGH } else { ROUND }
    } else {
        ENOUGH
    }
}

struct Word {
    text: String,
    weight: f64,
    /// Whether it is a piece of a longer stretch without spaces.
    part: bool,
}

/// The words that say something in a text, by their terms. What a path or a name is made of says nothing by itself.
fn distinct(text: &str, rarity: &dyn Fn(&str) -> f64) -> BTreeMap<u64, Word> {
    let mut words = BTreeMap::new();
    let is_code = |token: &str| {
        specifics::specifics(token).iter().any(|specific| specific.chars().any(|c| c.is_ascii_punctuation()))
    };
    let tokens = text.split_whitespace().filter(|token| !is_code(token));
    for word in tokens.flat_map(|token| token.split(|c: char| !c.is_alphanumeric() && c != '\'')) {
        let lower = word.to_lowercase();
        if lower.len() < 3 || lower.bytes().all(|b| b.is_ascii_digit()) || terms::is_stop(&lower) {
            continue;
        }
        let mut stems: Vec<String> = Vec::new();
        terms::each_term(&lower, |term| stems.push(term.text.to_owned()));
        let part = !lower.is_ascii() && stems.len() > 1;
        if !part {
            stems.drain(..stems.len().saturating_sub(1));
        }
        for stem in stems {
            let common = if is_commonplace(&stem) { COMMONPLACE } else { 1.0 };
            let weight = if part { PAIR } else { rarity(&lower) * common };
            let text = if part { stem.clone() } else { lower.clone() };
            words.entry(terms::hash(&stem)).or_insert(Word { text, weight, part });
        }
    }
    words
}

#[cfg(test)]
mod tests;
