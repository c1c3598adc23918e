//! The names that memories speak of, and which of them occur together.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::text::domain_stopwords::is_domain_stopword;
use rekindle_core::text::specific_terms::{is_clock, is_count, specifics};
use rekindle_core::vault::link::link_targets;
use rekindle_engine::vault::ScannedEntry;

use super::CommandContext;
use crate::error::CliError;

/// The most memories that are read for the map: reading the words of a hundred thousand takes seconds.
const MAX_MEMORIES: usize = 5_000;
/// The most names on the map.
const MAX_ENTITIES: usize = 36;
/// The smallest number of memories that speak of a name.
const MIN_MEMORIES: usize = 2;
/// The largest share of memories: a name that nearly all share says nothing.
const MAX_SHARE: f64 = 0.4;
const MIN_WORD_CHARS: usize = 4;
const MAX_NAME_CHARS: usize = 28;
/// The number of memories from which a share is meaningful.
const MIN_FOR_SHARE: usize = 12;
/// Words of many sentences that no list of the core has.
const PLAIN_WORDS: [&str; 44] = [
    "about", "after", "again", "also", "always", "because", "been", "before", "change", "changes", "could",
    "does", "done", "every", "from", "have", "into", "just", "like", "more", "must", "never", "only", "over",
    "should", "some", "than", "that", "their", "them", "then", "there", "these", "they", "this", "uses",
    "using", "when", "where", "which", "while", "will", "with", "your",
];

/// A name that memories speak of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entity {
    pub(crate) name: String,
    /// The number of memories that speak of it.
    pub(crate) memories: usize,
}

/// The names and the pairs that occur together: two indices and the number of memories.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EntityMap {
    pub(crate) entities: Vec<Entity>,
    pub(crate) pairs: Vec<(usize, usize, usize)>,
}

/// The map of the newest current memories.
pub(crate) fn entity_map(context: &CommandContext<'_>) -> Result<EntityMap, CliError> {
    let mut entries = context.vault()?.scan(false)?.entries;
    entries.sort_by_key(|found| std::cmp::Reverse(found.entry.updated.or(found.entry.created)));
    entries.truncate(MAX_MEMORIES);
    Ok(map_of(&entries.iter().map(names).collect::<Vec<_>>()))
}

/// The names in a memory: identifiers, links, tags, and the words of its title that are not everybody's.
fn names(found: &ScannedEntry) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = found.entry.tags.iter().map(|tag| tag.to_lowercase()).collect();
    let is_name = |name: &String| {
        let has_letter = name.chars().any(char::is_alphabetic);
        has_letter && name.chars().count() <= MAX_NAME_CHARS && !is_count(name) && !is_clock(name)
    };
    names.extend(specifics(&found.title).into_iter().filter(is_name));
    names.extend(link_targets(&found.title).map(str::to_lowercase).filter(|name| is_name(name)));
    let words = found.title.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    names.extend(words.map(str::to_lowercase).filter(|word| is_name(word) && is_telling(word)));
    names
}

fn is_telling(word: &str) -> bool {
    word.chars().count() >= MIN_WORD_CHARS && !is_domain_stopword(word) && !PLAIN_WORDS.contains(&word)
}

fn map_of(memories: &[BTreeSet<String>]) -> EntityMap {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in memories.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let most = match memories.len() {
        few if few < MIN_FOR_SHARE => few,
        many => (many as f64 * MAX_SHARE) as usize,
    };
    let mut named: Vec<(&str, usize)> =
        counts.into_iter().filter(|(_, count)| (MIN_MEMORIES..=most).contains(count)).collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    named.truncate(MAX_ENTITIES);
    let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for memory in memories {
        let held: Vec<usize> = named
            .iter()
            .enumerate()
            .filter(|(_, (name, _))| memory.contains(*name))
            .map(|(at, _)| at)
            .collect();
        for (number, first) in held.iter().enumerate() {
            for second in &held[number + 1..] {
                *pairs.entry((*first, *second)).or_default() += 1;
            }
        }
    }
    EntityMap {
        entities: named
            .into_iter()
            .map(|(name, memories)| Entity { name: name.to_owned(), memories })
            .collect(),
        pairs: pairs.into_iter().map(|((first, second), count)| (first, second, count)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_11_the_map_links_names_that_occur_together() {
        let memory = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let map = map_of(&[
            memory(&["billing", "postgres"]),
            memory(&["billing", "postgres", "once"]),
            memory(&["billing", "redis"]),
            memory(&["redis"]),
        ]);
        let names: Vec<(&str, usize)> =
            map.entities.iter().map(|one| (one.name.as_str(), one.memories)).collect();
        assert_eq!(names, [("billing", 3), ("postgres", 2), ("redis", 2)]);
        assert_eq!(map.pairs, [(0, 1, 2), (0, 2, 1)]);
    }
}
