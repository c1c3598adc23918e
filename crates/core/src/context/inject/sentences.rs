//! Chooses the sentences of memories in front of a prompt: the best of all memories together, under one limit.
//!
//! A memory is rarely useful as a whole: the digest of a turn has ten sentences, and one of them answers. The
//! index has a vector for every sentence or two, so their cosines with the prompt cost nothing more.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::{InjectedMemory, MAX_ENTRY_CHARS, SEGMENT_KIND, injected_line};
use crate::base::provenance::Origin;
use crate::base::time::Zoned;
use crate::recall::document::{Document, DocumentSource};
use crate::recall::windows::WindowSimilarity;
use crate::text::clean::one_line;
use crate::text::sentences;
use crate::text::specific_terms::{content_words, coverage};

/// The length from which an agent's observation is shown by its sentences, in characters.
const MIN_EPISODE_CHARS: usize = 200;
/// The maximum length of the request that a digest begins with, in characters: it names the topic.
const MAX_TOPIC_CHARS: usize = 48;
/// The weight of the memory's rank beside the cosine of its sentence.
const RELEVANCE_WEIGHT: f32 = 1.0;
/// The weight of the share of the question's words.
const WORDS_WEIGHT: f32 = 0.5;
/// The head start of the user's own statement: it is the shortest form of its fact.
const STATED_BONUS: f32 = 0.1;
/// The deduction for the request of a digest: it often only asks what the prompt asks again.
const REQUEST_MALUS: f32 = 0.3;
/// The distance from the best sentence beyond which a sentence is left out.
const MAX_DISTANCE: f32 = 0.6;
/// The overlap with the sentences shown so far above which a sentence repeats them.
const MAX_OVERLAP: f64 = 0.7;

/// A sentence, or a whole statement, that may be shown.
struct Candidate {
    /// The index of the memory.
    memory: usize,
    /// The position in the memory.
    place: usize,
    text: String,
    worth: f32,
    /// True for the request of a digest.
    is_request: bool,
}

/// The shown part of one memory.
pub(super) struct ShownMemory<'a> {
    /// The document of the memory.
    pub(super) document: &'a Document,
    /// Its line.
    pub(super) line: String,
    /// The chosen sentences.
    pub(super) text: String,
}

/// Chooses sentences of `memories`, best first, up to `room` characters and `most` lines.
pub(super) fn choose_sentences<'a>(
    memories: &[&InjectedMemory<'a>],
    question: &str,
    now: &Zoned,
    room: usize,
    most: usize,
) -> Vec<ShownMemory<'a>> {
    let asked = content_words(question);
    let best_score = memories.iter().map(|memory| memory.score).fold(0.0, f32::max).max(f32::MIN_POSITIVE);
    let mut candidates: Vec<Candidate> = Vec::new();
    for (number, memory) in memories.iter().enumerate() {
        candidates.extend(candidates_of(number, memory, memory.score / best_score, &asked));
    }
    candidates
        .sort_by(|a, b| b.worth.total_cmp(&a.worth).then((a.memory, a.place).cmp(&(b.memory, b.place))));
    let floor = candidates.first().map_or(0.0, |best| best.worth - MAX_DISTANCE);
    let mut room = room;
    let mut shown: HashSet<u64> = HashSet::new();
    // The chosen sentences of each memory, in the order of its best sentence.
    let mut chosen: Vec<(usize, Vec<Candidate>)> = Vec::new();
    for candidate in candidates.into_iter().take_while(|candidate| candidate.worth >= floor) {
        let memory = memories[candidate.memory];
        let words = content_words(&candidate.text);
        let place = chosen.iter().position(|(number, _)| *number == candidate.memory);
        let repeats = !shown.is_empty() && coverage(&words, &shown) >= MAX_OVERLAP;
        if repeats || place.is_none() && chosen.len() == most {
            continue;
        }
        let frame = match place {
            Some(_) => 0,
            None => {
                let topic = if candidate.is_request { None } else { topic(memory) };
                let topic = topic.map_or(0, |topic| topic.chars().count() + 1);
                topic + injected_line(memory.document, "", memory.doubted, now).chars().count()
            }
        };
        let mut cost = frame + candidate.text.chars().count() + 1;
        let mut candidate = candidate;
        if chosen.is_empty() && cost > room {
            // The best one is shown in any case.
            candidate.text = one_line(&candidate.text, room.saturating_sub(frame + 1));
            cost = room;
        }
        if cost > room {
            continue;
        }
        room -= cost;
        shown.extend(words);
        match place {
            Some(place) => chosen[place].1.push(candidate),
            None => chosen.push((candidate.memory, vec![candidate])),
        }
    }
    let show = |(number, mut sentences): (usize, Vec<Candidate>)| {
        let memory = memories[number];
        sentences.sort_by_key(|sentence| sentence.place);
        let topic = topic(memory).filter(|_| !sentences.iter().any(|sentence| sentence.is_request));
        let parts = topic.into_iter().chain(sentences.into_iter().map(|sentence| sentence.text));
        let text = parts.collect::<Vec<_>>().join(" ");
        let line = injected_line(memory.document, &text, memory.doubted, now);
        ShownMemory { document: memory.document, line, text }
    };
    chosen.into_iter().map(show).collect()
}

/// True if a memory is shown by its sentences: a digest, a long observation of an agent, or a long note. A
/// statement of the user is shown whole, with its reason.
fn is_episode(memory: &InjectedMemory<'_>) -> bool {
    let document = memory.document;
    let most = match (document.source, document.origin) {
        (DocumentSource::Observation, Origin::Agent | Origin::Tool) => MIN_EPISODE_CHARS,
        _ => MAX_ENTRY_CHARS,
    };
    document.kind == SEGMENT_KIND || memory.text.chars().count() > most
}

fn candidates_of(
    number: usize,
    memory: &InjectedMemory<'_>,
    relevance: f32,
    asked: &HashSet<u64>,
) -> Vec<Candidate> {
    let worth = |text: &str, cosine: f32| {
        #[expect(clippy::cast_possible_truncation, reason = "a share")]
        let words = coverage(asked, &content_words(text)) as f32;
        cosine + RELEVANCE_WEIGHT * relevance + WORDS_WEIGHT * if asked.is_empty() { 0.0 } else { words }
    };
    let stated = if memory.document.origin == Origin::User { STATED_BONUS } else { 0.0 };
    if !is_episode(memory) {
        let cosine = memory.near.iter().map(|near| near.cosine).fold(0.0, f32::max);
        let text = one_line(memory.text, MAX_ENTRY_CHARS);
        let worth = worth(&text, cosine) + stated;
        return vec![Candidate { memory: number, place: 0, text, worth, is_request: false }];
    }
    let all = sentences_of(memory.text);
    let request = request(memory, &all);
    let only_furniture =
        all.iter().skip(usize::from(request.is_some())).all(|sentence| is_furniture(sentence));
    let told = all.iter().enumerate().filter(|(_, sentence)| only_furniture || !is_furniture(sentence));
    told.map(|(place, sentence)| {
        let start = sentence.as_ptr().addr().saturating_sub(memory.text.as_ptr().addr());
        let cosine = cosine_of(memory.near, start, start + sentence.len());
        let text = one_line(sentence, MAX_ENTRY_CHARS);
        let is_request = place == 0 && request.is_some();
        let echo = if is_request { REQUEST_MALUS } else { 0.0 };
        Candidate { memory: number, place, worth: worth(&text, cosine) + stated - echo, text, is_request }
    })
    .collect()
}

/// The sentences of an episode, as parts of `text`. The request of a digest stays whole.
pub(super) fn sentences_of(text: &str) -> Vec<&str> {
    let quoted = quotation_end(text).unwrap_or(0);
    let (request, rest) = text.split_at(quoted);
    let told = sentences::lines(rest).into_iter().flat_map(sentences::split_sentences);
    (quoted > 0).then_some(request).into_iter().chain(told).collect()
}

/// The end of the quotation that a text begins with, with its full stop.
fn quotation_end(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('“')?;
    let end = '“'.len_utf8() + rest.find('”')? + '”'.len_utf8();
    Some(end + usize::from(text[end..].starts_with('.')))
}

/// The request that a digest begins with, if there is more.
fn request<'t>(memory: &InjectedMemory<'_>, sentences: &[&'t str]) -> Option<&'t str> {
    let first = sentences.first().filter(|first| first.starts_with('“') && sentences.len() > 1);
    first.copied().filter(|_| memory.document.kind == SEGMENT_KIND)
}

/// The beginning of a digest's request.
fn topic(memory: &InjectedMemory<'_>) -> Option<String> {
    request(memory, &sentences_of(memory.text)).map(|request| one_line(request, MAX_TOPIC_CHARS))
}

/// The cosine of the windows that hold most of a range, weighted by what they hold of it.
fn cosine_of(near: &[WindowSimilarity], start: usize, end: usize) -> f32 {
    let overlap = |near: &WindowSimilarity| {
        near.window.end.min(end).saturating_sub(near.window.start.max(start)) as f32
    };
    let whole: f32 = near.iter().map(overlap).sum();
    if whole <= 0.0 {
        return 0.0;
    }
    near.iter().map(|near| near.cosine * overlap(near)).sum::<f32>() / whole
}

/// True for the part of a digest that lists changed files and passed checks, and for a mark without words.
pub(super) fn is_furniture(sentence: &str) -> bool {
    sentence.starts_with("Changed ")
        || sentence.starts_with('`') && sentence.ends_with("` passed.")
        || sentence.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() < 2
}

/// The sentences of a message that share most words with a question, in order, up to `most` characters. The
/// archive of messages has no vectors.
pub(super) fn excerpt(text: &str, question: &str, most: usize) -> String {
    let asked = content_words(question);
    let sentences = sentences_of(text);
    let shared = |place: &usize| content_words(sentences[*place]).intersection(&asked).count();
    let mut places: Vec<usize> =
        (0..sentences.len()).filter(|place| !is_furniture(sentences[*place])).collect();
    if places.is_empty() {
        places = (0..sentences.len()).collect();
    }
    places.sort_by_key(|place| (Reverse(shared(place)), *place));
    let mut room = most;
    let mut kept: Vec<(usize, String)> = Vec::new();
    for place in places {
        let length = sentences[place].chars().count() + 1;
        if length <= room {
            kept.push((place, sentences[place].to_owned()));
            room -= length;
        } else if kept.is_empty() {
            kept.push((place, one_line(sentences[place], room)));
            break;
        }
    }
    kept.sort_unstable();
    one_line(&kept.into_iter().map(|(_, sentence)| sentence).collect::<Vec<_>>().join(" "), most)
}
