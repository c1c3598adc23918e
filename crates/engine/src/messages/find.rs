//! What was said that answers a prompt. Words alone decide, so they have to cover what the prompt is about: a message is
//! shown for want of something better, never for want of anything (B-06).

use rekindle_core::provenance::Origin;
use rekindle_core::recall::abstain::rarity;
use rekindle_core::recall::collection::NO_TIME;
use rekindle_core::recall::commonplace::is_commonplace;
use rekindle_core::recall::document::{Document, Source};
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::rank::Ranked;
use rekindle_core::text::normal::normalised;
use rekindle_core::time::Timestamp;

use super::store::KIND;
use crate::index::{Embedder, Snapshot};
use crate::recall::search::{Found as Searched, Rules, search};

/// How much of what a prompt is about a message has to hold.
pub const ENOUGH: f64 = 0.6;
/// And how much that has to be: one word that is said all the time is no match.
const LEAST: f64 = 0.5;
/// What a prompt is about: so many of its words, those that say most.
const TELLING: usize = 6;
/// What a word that every programmer says counts for.
const COMMONPLACE: f64 = 0.25;
/// So many are looked at for each that is shown: people say the same more than once.
const LOOKED_AT: usize = 8;

/// Which messages are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only of these; none named: of everybody.
    pub origins: Vec<Origin>,
    /// Said at this time or later.
    pub since: Option<Timestamp>,
    /// Said at this time or earlier.
    pub until: Option<Timestamp>,
    /// Not from this session: it has them already.
    pub except: Option<String>,
}

impl Wanted {
    /// What filters leave of the messages; `None` if they leave nothing: a message has no group, tag or priority, and
    /// nobody has reviewed it.
    pub fn by(filters: &Filters) -> Option<Self> {
        let possible = filters.groups.is_empty()
            && filters.tags.is_empty()
            && filters.priority.is_none()
            && filters.reviewed != Some(true)
            && filters.stale != Some(true)
            && (filters.kinds.is_empty() || filters.kinds.iter().any(|kind| kind == KIND))
            && (filters.sources.is_empty() || filters.sources.contains(&Source::Message));
        possible.then(|| Self {
            origins: filters.origins.clone(),
            since: filters.since,
            until: filters.until,
            except: None,
        })
    }
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The message.
    pub document: Document,
    /// Why it is here.
    pub ranked: Ranked,
    /// How much of what the prompt is about it holds, from 0 to 1.
    pub coverage: f64,
}

/// The best `most` messages for a prompt, each text once. `embedder` only tells how rare words are.
pub fn find(
    snapshot: &Snapshot,
    embedder: Option<Embedder<'_>>,
    prompt: &str,
    also: Option<&str>,
    rules: &Rules<'_>,
    wanted: &Wanted,
    most: usize,
) -> Vec<Found> {
    if snapshot.is_empty() || most == 0 {
        return Vec::new();
    }
    let admitted = admitted(snapshot, wanted);
    let admits =
        |number: u32| admitted.as_ref().is_none_or(|admitted| admitted.get(number as usize) == Some(&true));
    let searched = search(snapshot, None, prompt, also, rules, &admits, most * LOOKED_AT);
    let weights = weights(&searched, embedder);
    let mut found: Vec<Found> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for ranked in &searched.ranked {
        let Some(coverage) = coverage(&searched, &weights, ranked.document) else { continue };
        let Some(document) = snapshot.document(ranked.document) else { continue };
        if wanted.except.is_some() && document.thread == wanted.except {
            continue;
        }
        let text = normalised(&document.text);
        if said.contains(&text) {
            continue;
        }
        said.push(text);
        found.push(Found { document, ranked: *ranked, coverage });
        if found.len() == most {
            break;
        }
    }
    found
}

/// For each message whether it is wanted; `None` if all are.
fn admitted(snapshot: &Snapshot, wanted: &Wanted) -> Option<Vec<bool>> {
    if wanted.origins.is_empty() && wanted.since.is_none() && wanted.until.is_none() {
        return None;
    }
    let since = wanted.since.map_or(NO_TIME, Timestamp::as_second);
    let until = wanted.until.map_or(i64::MAX, Timestamp::as_second);
    let of = |origin: Origin| wanted.origins.is_empty() || wanted.origins.contains(&origin);
    let times = snapshot.created();
    Some(
        snapshot
            .flags()
            .zip(times)
            .map(|(flags, at)| of(flags.origin()) && (since..=until).contains(&at))
            .collect(),
    )
}

/// The words that say what a prompt is about: the place of each among its terms, and what it says.
fn weights(searched: &Searched, embedder: Option<Embedder<'_>>) -> Vec<(usize, f64)> {
    let rarest = searched.terms.iter().map(|(_, idf)| *idf).fold(f32::MIN_POSITIVE, f32::max);
    let weight = |(place, (term, idf)): (usize, &(rekindle_core::recall::query::QueryTerm, f32))| {
        // Without a vocabulary, what is rare among the messages is rare.
        let rare = embedder.map_or(f64::from(idf / rarest), |embedder| rarity(embedder.word(&term.word)));
        let rare = if term.identifier { 1.0 } else { rare };
        (place, if is_commonplace(&term.text) && !term.identifier { COMMONPLACE * rare } else { rare })
    };
    let mut weights: Vec<(usize, f64)> = searched.terms.iter().enumerate().map(weight).collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights.truncate(TELLING);
    weights
}

/// How much of it a message holds, if that is enough.
fn coverage(searched: &Searched, weights: &[(usize, f64)], number: u32) -> Option<f64> {
    let holds = |place: usize| {
        let postings = searched.postings.get(place);
        postings.is_some_and(|postings| postings.binary_search_by_key(&number, |(at, _)| *at).is_ok())
    };
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let held: f64 = weights.iter().filter(|(place, _)| holds(*place)).map(|(_, weight)| weight).sum();
    let coverage = if all > 0.0 { held / all } else { 0.0 };
    (coverage >= ENOUGH && held >= LEAST.min(all)).then_some(coverage)
}
