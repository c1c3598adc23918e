//! Search of messages for a prompt. It reads only the postings of the words that every answer must hold, so
//! its cost depends on their frequency, not on the size of the archive.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Timestamp;
use rekindle_core::recall::bm25::Bm25;
use rekindle_core::recall::citation::Cited;
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::fusion::RelevanceParts;
use rekindle_core::recall::message_match::{MAX_RARITY, MessageMatch, MessageQuery, PromptWord};
use rekindle_core::recall::query::RecallQuery;
use rekindle_core::recall::rank::RankedDocument;
use rekindle_core::recall::score_factors::{ScoreFactors, decay_factor};
use rekindle_core::text::domain_stopwords::is_domain_stopword;
use rekindle_core::text::normalise::normalise;
use rekindle_core::text::word_rarity::rarity;

use super::message_index::MESSAGE_KIND;
use crate::index::{Embedder, IndexSnapshot};
use crate::recall::search::SearchRules;

/// The number of messages read per result: people repeat themselves.
const READ_FACTOR: usize = 8;

/// The filter of a message search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// The accepted origins; empty accepts all.
    pub origins: Vec<Origin>,
    /// The earliest time of a message.
    pub since: Option<Timestamp>,
    /// The latest time of a message.
    pub until: Option<Timestamp>,
    /// The session to leave out: it has its own messages already.
    pub except: Option<String>,
    /// The messages to leave out because entries replace them.
    pub cited: Cited,
}

impl MessageFilter {
    /// Converts filters; `None` if no message can match: a message has no group, tag or priority, and is
    /// never reviewed.
    pub fn from_filters(filters: &RecallFilters) -> Option<Self> {
        let possible = filters.groups.is_empty()
            && filters.tags.is_empty()
            && filters.priority.is_none()
            && filters.reviewed != Some(true)
            && filters.stale != Some(true)
            && (filters.kinds.is_empty() || filters.kinds.iter().any(|kind| kind == MESSAGE_KIND))
            && (filters.sources.is_empty() || filters.sources.contains(&DocumentSource::Message));
        possible.then(|| Self {
            origins: filters.origins.clone(),
            since: filters.since,
            until: filters.until,
            except: None,
            cited: Cited::default(),
        })
    }

    fn admits(&self, origin: Origin, created: i64, rules: &SearchRules<'_>) -> bool {
        let until = [self.until.map(Timestamp::as_second), rules.until].into_iter().flatten().min();
        (self.origins.is_empty() || self.origins.contains(&origin))
            && self.since.is_none_or(|since| created >= since.as_second())
            && until.is_none_or(|until| created <= until)
    }
}

/// A message found by a search.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMessage {
    /// The message as a document.
    pub document: Document,
    /// Its rank and the reasons for it.
    pub ranked: RankedDocument,
    /// The share of the prompt's topic that it covers, from 0 to 1.
    pub coverage: f64,
}

/// Finds the best `most` messages for a prompt, each text once. `embedder` only supplies word rarity.
pub fn find(
    snapshot: &IndexSnapshot,
    embedder: Option<Embedder<'_>>,
    prompt: &str,
    also: Option<&str>,
    rules: &SearchRules<'_>,
    wanted: &MessageFilter,
    most: usize,
) -> Vec<FoundMessage> {
    if snapshot.is_empty() || most == 0 {
        return Vec::new();
    }
    let mut query = RecallQuery::new(prompt, also);
    query.retain_rarest(|term| 1.0 / (1.0 + snapshot.frequency(term) as f32));
    let frequencies: Vec<usize> = query.terms.iter().map(|term| snapshot.frequency(term.hash)).collect();
    let words = query.terms.iter().zip(&frequencies).map(|(term, frequency)| {
        let word = |rare| {
            PromptWord::new(
                rare,
                is_domain_stopword(&term.text),
                term.identifier,
                *frequency,
                snapshot.len() as usize,
            )
        };
        match embedder {
            Some(embedder) => word(rarity(embedder.word_id(&term.word))),
            None => word((f64::from(word(1.0).idf) / MAX_RARITY).min(1.0)),
        }
    });
    let question = MessageQuery::new(words.collect());
    // Count each selective word per message side by side: the postings of common words are long, and one pass
    // over them is cheaper than a lookup per message.
    let mut counts: Vec<Option<Vec<u8>>> = vec![None; query.terms.len()];
    for place in question.telling_words() {
        let mut often = vec![0; snapshot.len() as usize];
        snapshot.each_posting(query.terms[*place].hash, |number, count| often[number as usize] = count.all);
        counts[*place] = Some(often);
    }
    let column = |place: usize| counts[place].as_deref().unwrap_or_default();
    let telling: Vec<&[u8]> = question.telling_words().iter().map(|place| column(*place)).collect();
    let needed: Vec<&[u8]> =
        question.required_words(|place| frequencies[place]).into_iter().map(column).collect();
    let rest: Vec<_> = query.terms.iter().map(|term| snapshot.term(term.hash)).collect();
    let often = |place: usize, number: u32| match &counts[place] {
        Some(often) => often[number as usize],
        None => rest[place].count_in(number).map_or(0, |count| count.all),
    };
    let bm25 = Bm25::with_average_length(snapshot.mean_length().max(1.0));
    let mut held = vec![0; query.terms.len()];
    let mut answers: Vec<MessageHit> = Vec::new();
    for number in 0..snapshot.len() {
        let at = number as usize;
        if !needed.iter().any(|counts| counts[at] > 0) || !question.covers(|word| telling[word][at] > 0) {
            continue;
        }
        let Some(about) = snapshot.document_info(number) else { continue };
        let visible =
            about.project.is_none_or(|project| rules.all_projects || rules.project == Some(project));
        if !visible || !wanted.admits(about.flags.origin(), about.created, rules) {
            continue;
        }
        held.iter_mut().enumerate().for_each(|(place, held)| *held = often(place, number));
        if let Some(found) = question.match_message(&held, about.length, bm25, about.flags.origin()) {
            let decay = decay_factor(rules.decay, rules.now, about.created);
            answers.push(MessageHit { number, created: about.created, found_match: found, decay });
        }
    }
    // Of two equal answers, prefer the later one.
    let order = |a: &MessageHit, b: &MessageHit| {
        b.score().total_cmp(&a.score()).then(b.created.cmp(&a.created)).then(a.number.cmp(&b.number))
    };
    if answers.len() > most * READ_FACTOR {
        answers.select_nth_unstable_by(most * READ_FACTOR, order);
        answers.truncate(most * READ_FACTOR);
    }
    answers.sort_by(order);
    deduplicate_messages(snapshot, answers.into_iter(), wanted).take(most).collect()
}

/// A matching message before its text is read.
struct MessageHit {
    number: u32,
    created: i64,
    found_match: MessageMatch,
    decay: f32,
}

impl MessageHit {
    /// Relevance times decay, as for notes (REC-03).
    fn score(&self) -> f32 {
        self.found_match.worth as f32 * self.decay
    }
}

/// Reads messages and drops repeated texts.
fn deduplicate_messages<'a>(
    snapshot: &'a IndexSnapshot,
    answers: impl Iterator<Item = MessageHit> + 'a,
    wanted: &'a MessageFilter,
) -> impl Iterator<Item = FoundMessage> + 'a {
    let mut said: Vec<String> = Vec::new();
    answers.filter_map(move |answer| {
        let document = snapshot.document(answer.number)?;
        let is_excepted = wanted.except.is_some() && document.thread == wanted.except;
        if is_excepted || wanted.cited.stands_for(&document) {
            return None;
        }
        let text = normalise(&document.text);
        if said.contains(&text) {
            return None;
        }
        said.push(text);
        let factors = ScoreFactors { decay: answer.decay, usage: 1.0, stale: 1.0, trust: 1.0, project: 1.0 };
        let words = answer.found_match.worth as f32;
        let parts = RelevanceParts { words, relevance: words, ..RelevanceParts::default() };
        let ranked = RankedDocument { document: answer.number, score: answer.score(), parts, factors };
        Some(FoundMessage { document, ranked, coverage: answer.found_match.coverage })
    })
}
