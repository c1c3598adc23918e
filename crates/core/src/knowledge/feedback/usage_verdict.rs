//! Detects use of a memory by an agent (FBK-01). Shared words prove nothing: proof is something specific to
//! the memory that the agent said or did *before* anybody else in the session.

use std::collections::{BTreeMap, HashSet};

use super::{JudgedMemory, UsageVerdict};
use crate::session::{Message, MessageRole};
use crate::text::domain_stopwords::is_domain_stopword;
use crate::text::specific_terms::{self, is_clock, is_count, normalise_for_specifics, normalised_contains};
use crate::text::terms;

/// The number of bytes examined of one message or output, from its start.
const MAX_PIECE_BYTES: usize = 64 * 1024;
/// The score from which a memory counts as used.
const MIN_USED_WEIGHT: f64 = 1.0;
/// Without specifics: the minimum number of the memory's own words that must come up …
const MIN_SHARED_WORDS: usize = 3;
/// … their minimum total weight …
const MIN_SHARED_RARITY: f64 = 1.2;
/// … and their minimum share of all its own words.
const MIN_SHARED_SHARE: f64 = 0.4;
/// The rarity from which a word is a name.
const MIN_NAME_RARITY: f64 = 0.98;
/// The weight of a name that is only mentioned. In a call it has full weight.
const MENTIONED_NAME_WEIGHT: f64 = 0.5;
/// The weight of a round number or a date: they often come up by chance.
const ROUND_NUMBER_WEIGHT: f64 = 0.5;
/// The weight of a common programming word, relative to its rarity.
const COMMON_WORD_FACTOR: f64 = 0.2;
/// The weight of a pair of characters in scripts without spaces.
const DENSE_PAIR_WEIGHT: f64 = 0.4;
/// The maximum number of grounds listed.
const MAX_GROUNDS: usize = 5;

/// A memory as it was shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownMemory<'a> {
    /// The name of the memory.
    pub id: &'a str,
    /// The text of the memory.
    pub text: &'a str,
    /// True if it can be followed without a trace, such as a rule or a preference. Then an answer without it
    /// proves nothing.
    pub silent: bool,
}

/// A message, call or output.
struct TurnPiece {
    /// The source: the agent's words, the agent's calls, or anything that the agent could read.
    by: PieceAuthor,
    plain: String,
    terms: HashSet<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceAuthor {
    Words,
    Calls,
    Others,
}

/// A turn, prepared for comparison with memories.
pub struct FeedbackTurn {
    pieces: Vec<TurnPiece>,
}

impl FeedbackTurn {
    /// Prepares a turn. `known` is the earlier content of the session: the prompt and the messages before.
    /// `messages` follow the prompt.
    pub fn new(known: &[&str], messages: &[Message]) -> Self {
        let mut pieces: Vec<TurnPiece> =
            known.iter().map(|text| turn_piece(PieceAuthor::Others, text)).collect();
        for message in messages {
            match message.role {
                MessageRole::Assistant => {
                    pieces.push(turn_piece(PieceAuthor::Words, &message.text));
                    let calls = message.calls.iter().map(|call| {
                        let files: Vec<&str> =
                            call.reads.iter().chain(&call.writes).map(String::as_str).collect();
                        format!("{}\n{}", call.input, files.join("\n"))
                    });
                    let calls: Vec<String> = calls.collect();
                    if !calls.is_empty() {
                        pieces.push(turn_piece(PieceAuthor::Calls, &calls.join("\n")));
                    }
                }
                MessageRole::User | MessageRole::Tool | MessageRole::Summary => {
                    pieces.push(turn_piece(PieceAuthor::Others, &message.text));
                }
            }
        }
        Self { pieces }
    }

    /// True if the agent said or did anything.
    pub fn is_answered(&self) -> bool {
        self.pieces.iter().any(|piece| piece.by != PieceAuthor::Others && !piece.plain.is_empty())
    }

    /// The source that first contained something: the agent's words, its calls, or others.
    fn first(&self, holds: impl Fn(&TurnPiece) -> bool) -> Option<PieceAuthor> {
        self.pieces.iter().find(|piece| holds(piece)).map(|piece| piece.by)
    }
}

fn turn_piece(by: PieceAuthor, text: &str) -> TurnPiece {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at < MAX_PIECE_BYTES).last();
    let text = if text.len() > MAX_PIECE_BYTES { &text[..end.unwrap_or(0)] } else { text };
    TurnPiece { by, plain: normalise_for_specifics(text), terms: specific_terms::content_words(text) }
}

/// Judges a memory that was shown before a turn. `rarity` returns the general rarity of a word, from 0 to 1.
pub fn judge_usage(
    memory: &ShownMemory<'_>,
    turn: &FeedbackTurn,
    rarity: &dyn Fn(&str) -> f64,
) -> JudgedMemory {
    let mut grounds: Vec<String> = Vec::new();
    let (mut score, mut could) = (0.0, 0.0);
    let mut known_before = false;
    for specific in specific_terms::specifics(memory.text) {
        let weight = weight(&specific);
        if weight <= 0.0 {
            continue;
        }
        known_before = true;
        match turn.first(|piece| normalised_contains(&specific, &piece.plain)) {
            Some(PieceAuthor::Others) => {}
            Some(PieceAuthor::Words | PieceAuthor::Calls) => {
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
            Some(PieceAuthor::Others) => {}
            Some(by @ (PieceAuthor::Words | PieceAuthor::Calls)) => {
                words += 1;
                own += word.weight;
                said += word.weight;
                if word.weight >= MIN_NAME_RARITY && !word.part {
                    score += if by == PieceAuthor::Calls { MIN_USED_WEIGHT } else { MENTIONED_NAME_WEIGHT };
                }
                found.push(word.text);
            }
            None => {
                words += 1;
                own += word.weight;
            }
        }
    }
    // Others had said everything specific to it before.
    known_before &= could == 0.0;
    let by_words =
        found.len() >= MIN_SHARED_WORDS && said >= MIN_SHARED_RARITY && said >= MIN_SHARED_SHARE * own;
    let by_both = score >= ROUND_NUMBER_WEIGHT && found.len() >= 2 && said >= MIN_SHARED_SHARE * own;
    let verdict = if score >= MIN_USED_WEIGHT || by_words || by_both {
        UsageVerdict::Used
    } else if memory.silent
        || known_before
        || !turn.is_answered()
        || (could < MIN_USED_WEIGHT && words < MIN_SHARED_WORDS)
    {
        UsageVerdict::Unclear
    } else {
        UsageVerdict::Ignored
    };
    let mut by = Vec::new();
    if verdict == UsageVerdict::Used {
        by.extend(grounds.into_iter().chain(found));
        by.dedup();
        by.truncate(MAX_GROUNDS);
    }
    JudgedMemory { id: memory.id.to_owned(), verdict, by }
}

/// The weight of a specific as proof.
fn weight(specific: &str) -> f64 {
    let digits = specific.bytes().filter(u8::is_ascii_digit).count();
    let number = digits == specific.len();
    let year = number && digits == 4 && (specific.starts_with("19") || specific.starts_with("20"));
    let date = digits == 8 && specific.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_count(specific) || is_clock(specific) || matches!(specific, "e.g" | "i.e") {
        0.0
    } else if year || date || (number && specific.ends_with("00")) {
        ROUND_NUMBER_WEIGHT
    } else if specific.chars().all(char::is_alphabetic) {
        // A name without code characters is weighed among the words.
        0.0
    } else if specific.contains(' ') {
        let long = specific.split(' ').count() >= 3 || specific.chars().count() >= 12;
        if long { MIN_USED_WEIGHT } else { ROUND_NUMBER_WEIGHT }
    } else {
        MIN_USED_WEIGHT
    }
}

struct WeightedWord {
    text: String,
    weight: f64,
    /// True if it is a part of a longer stretch without spaces.
    part: bool,
}

/// The significant words of a text, by their terms. Parts of a path or a name are not significant alone.
fn distinct(text: &str, rarity: &dyn Fn(&str) -> f64) -> BTreeMap<u64, WeightedWord> {
    let mut words = BTreeMap::new();
    let is_code = |token: &str| {
        specific_terms::specifics(token)
            .iter()
            .any(|specific| specific.chars().any(|c| c.is_ascii_punctuation()))
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
            let common = if is_domain_stopword(&stem) { COMMON_WORD_FACTOR } else { 1.0 };
            let weight = if part { DENSE_PAIR_WEIGHT } else { rarity(&lower) * common };
            let text = if part { stem.clone() } else { lower.clone() };
            words.entry(terms::hash(&stem)).or_insert(WeightedWord { text, weight, part });
        }
    }
    words
}

#[cfg(test)]
mod tests;
