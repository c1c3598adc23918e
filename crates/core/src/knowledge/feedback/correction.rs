//! Corrections by the user: "no, I told you …" (FBK-05). Only their own words count, typed and not pasted,
//! and only after the agent said or did something.

use std::collections::HashSet;

use crate::knowledge::observe::rules;
use crate::knowledge::observe::rules::UserCorrection;
use crate::session::{Message, MessageRole};
use crate::text::sentences::split_phrases;
use crate::text::specific_terms::{
    contains_specific, content_words, coverage, is_clock, is_count, specifics,
};
use crate::text::terms;
use crate::text::word_sets::WordSet;

/// The word overlap at which a memory already contained the correction …
const MIN_COVERAGE: f64 = 0.6;
/// … and the lower overlap if both name the same thing.
const MIN_NAMED_COVERAGE: f64 = 0.4;
/// The word overlap at which two statements have the same subject.
const MIN_SAME_SUBJECT_OVERLAP: f64 = 0.5;
/// The number of words behind a "not" that are denied.
const MAX_NEGATED_WORDS: usize = 4;

/// Words that introduce the denied part.
const NEGATION_PHRASES: &str = "\
not | instead of | rather than | no longer | never
nicht | statt | anstatt | kein | keine | keinen
no | en vez de | en lugar de | ya no
pas | au lieu de | plutôt que
não | em vez de | ao invés de
не | вместо
";
/// The same for languages without spaces.
const DENSE_NEGATION_PHRASES: &str = "ではなく | じゃなくて | 不是 | 而不是 | 不要用 | 别用";

/// True if a prompt sounds like a correction, regardless of the message before it.
pub fn looks_like_correction(prompt: &str) -> bool {
    let messages = [
        Message::new("a", None, MessageRole::Assistant, "Done."),
        Message::new("u", None, MessageRole::User, prompt),
    ];
    !rules::corrections(&messages).is_empty()
}

/// The corrections in the user's last message.
pub fn corrections(messages: &[Message]) -> Vec<UserCorrection> {
    rules::corrections(messages)
}

/// True if a memory already contains a correction.
pub fn states_correction(memory: &str, correction: &UserCorrection) -> bool {
    let right = &correction.right;
    if contradicts_correction(memory, correction) {
        return false;
    }
    let share = coverage(&content_words(right), &content_words(memory));
    let named = telling_specifics(right).iter().any(|specific| contains_specific(specific, memory));
    share >= MIN_COVERAGE || (named && share >= MIN_NAMED_COVERAGE)
}

/// True if a memory says the opposite of a correction.
pub fn contradicts_correction(memory: &str, correction: &UserCorrection) -> bool {
    let right = &correction.right;
    let affirmed = affirmed(right);
    contains_denied(memory, right)
        || has_other_specifics(memory, affirmed)
        || WordSet::from_text(affirmed).contradicts(&WordSet::from_text(memory))
}

/// The text before the denial ("…, not 7410"), if it makes sense by itself.
fn affirmed(right: &str) -> &str {
    let cues = split_phrases(NEGATION_PHRASES).filter_map(|cue| right.find(&format!(" {cue} ")));
    let end = cues.chain(split_phrases(DENSE_NEGATION_PHRASES).filter_map(|cue| right.find(cue))).min();
    end.map(|end| &right[..end]).filter(|before| content_words(before).len() >= 2).unwrap_or(right)
}

/// True if the memory contains the denied part ("…, not 7410") and not the right one.
fn contains_denied(memory: &str, right: &str) -> bool {
    let there = content_words(memory);
    let lower = right.to_lowercase();
    let spaced = split_phrases(NEGATION_PHRASES).flat_map(|cue| {
        let cue = format!(" {cue} ");
        let at: Vec<usize> = lower.match_indices(&cue).map(|(at, _)| at + cue.len()).collect();
        at
    });
    let dense = split_phrases(DENSE_NEGATION_PHRASES)
        .flat_map(|cue| lower.match_indices(cue).map(|(at, _)| at + cue.len()).collect::<Vec<_>>());
    spaced.chain(dense).any(|at| {
        let behind: Vec<&str> = lower[at..].split_whitespace().take(MAX_NEGATED_WORDS).collect();
        let denied = content_words(&behind.join(" "));
        let instead = content_words(&lower[..at]);
        let held = denied.iter().any(|term| there.contains(term));
        held && instead.difference(&denied).any(|term| !there.contains(term))
    })
}

/// True if the memory has the same subject with another number or name.
fn has_other_specifics(memory: &str, right: &str) -> bool {
    let (ours, theirs) = (telling_specifics(right), telling_specifics(memory));
    let only_ours = ours.iter().any(|specific| !contains_specific(specific, memory));
    let only_theirs = theirs.iter().any(|specific| !contains_specific(specific, right));
    let shared = ours.iter().any(|specific| contains_specific(specific, memory));
    let subject: HashSet<u64> = content_words(right)
        .into_iter()
        .filter(|term| !ours.iter().any(|specific| terms::terms(specific).iter().any(|(own, _)| own == term)))
        .collect();
    only_ours
        && only_theirs
        && !shared
        && subject.len() >= 2
        && coverage(&subject, &content_words(memory)) >= MIN_SAME_SUBJECT_OVERLAP
}

/// The specifics that identify a statement.
fn telling_specifics(text: &str) -> Vec<String> {
    specifics(text).into_iter().filter(|specific| !is_count(specific) && !is_clock(specific)).collect()
}

#[cfg(test)]
mod tests;
