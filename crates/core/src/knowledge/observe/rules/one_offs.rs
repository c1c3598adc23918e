//! One-off instructions: sentences that say that they hold once, and the values they name.

use std::collections::BTreeSet;

use super::session_view::SessionView;
use super::words::gate;
use crate::text::phrases::{contains_dense, has};
use crate::text::sentences;
use crate::text::specific_terms::{is_count, specifics};

/// The maximum number of words within "for this flash only".
const MAX_ONLY_WORDS: usize = 4;
const TODAY: &str = "today | tonight | heute | hoy | aujourd'hui | hoje";
const SINCE_TODAY: &str = "\
    since today | from today | as of today | starting today | seit heute | ab heute | desde hoy | depuis aujourd'hui | desde hoje";

/// True if a sentence says that it is a one-off.
pub(super) fn is_one_off(text: &str) -> bool {
    let folded = sentences::fold(text);
    has(&folded, gate::ONCE) || contains_dense(&folded, gate::DENSE_ONCE) || is_for_this_only(&folded)
}

/// True for "for this flash only".
fn is_for_this_only(folded: &str) -> bool {
    folded.match_indices("for this ").any(|(at, lead)| {
        let rest = folded[at + lead.len()..].split_whitespace().take(MAX_ONLY_WORDS);
        rest.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).any(|word| word == "only")
    })
}

/// The values in the user's one-off instructions: ports, paths, versions.
pub(super) fn one_off_values(view: &SessionView<'_>) -> BTreeSet<String> {
    let said = view.person_messages.iter().flat_map(|said| sentences::lines(&said.text));
    let once = said
        .flat_map(sentences::split_sentences)
        .filter(|sentence| is_one_off(sentence) || is_for_today(sentence));
    once.flat_map(specifics).filter(|value| !is_count(value)).collect()
}

/// True if a sentence of the user concerns only today: "on 8899 today", but not "since today".
fn is_for_today(text: &str) -> bool {
    let folded = sentences::fold(text);
    has(&folded, TODAY) && !has(&folded, SINCE_TODAY)
}
