//! A generated data set that tests if a fusion of lexical and vector search keeps the hits of each arm.
//!
//! It has a thousand memories and two hundred questions, the same on every machine:
//!
//! - `keyword`: three ordinary words of one memory, each of which is in many others
//! - `identifier`: a name, path, flag, code or version in one memory, with similar names in others
//! - `paraphrase`: the content of a memory, asked in almost entirely different words
//!
//! BM25 alone finds the first two types and none of the third; a sentence transformer finds a part of the
//! third. The lines are in the format of `rekindle bench ingest` and `rekindle bench query`, the answers in
//! that of a scorer.

mod concepts;

use serde_json::{Value, json};

use concepts::{CONCEPTS, PARTS};

/// The namespace of the memories.
const NAMESPACE: &str = "fusion";
/// A seed for which no two keyword memories share the same three topics; a test checks it.
const SEED: u64 = 11;
const KEYWORD_MEMORIES: usize = 200;
const IDENTIFIER_MEMORIES: usize = 200;
const KEYWORD_QUESTIONS: usize = 50;
const IDENTIFIER_QUESTIONS: usize = 50;
const PARAPHRASE_QUESTIONS: usize = 100;

const THINGS: [&str; 40] = [
    "lantern", "ladder", "ferry", "orchard", "kettle", "anchor", "violin", "bridge", "saddle", "compass",
    "barrel", "chimney", "basket", "glacier", "harvest", "pigeon", "quarry", "ribbon", "tunnel", "wagon",
    "acorn", "beacon", "cellar", "dagger", "engine", "falcon", "garden", "hammer", "island", "jacket",
    "kitchen", "lemon", "marble", "needle", "oyster", "pepper", "rocket", "silver", "turnip", "valley",
];
const PLACES: [&str; 8] = [
    "front desk",
    "north gate",
    "loading dock",
    "first floor",
    "post office",
    "back yard",
    "town hall",
    "workshop",
];
const ACTS: [&str; 12] = [
    "follows", "blocks", "feeds", "hides", "replaces", "warns", "mirrors", "carries", "delays", "opens",
    "checks", "repairs",
];
const VERBS: [&str; 12] =
    ["retry", "flush", "lease", "drain", "probe", "merge", "trim", "seal", "pin", "sweep", "warm", "shard"];
const NOUNS: [&str; 12] = [
    "queue", "cache", "token", "cursor", "batch", "ledger", "frame", "quota", "bucket", "worker", "socket",
    "index",
];
const UNITS: [&str; 4] = ["ms", "max", "limit", "count"];

/// Opening sentences of memories with an identifier.
const ASIDES: [&str; 8] = [
    "After the outage in spring we agreed to leave the old behaviour for a while and to look again in summer.",
    "Nobody remembers why it was done like that, and the person who knew has moved to another team.",
    "It took two days to see that the fault was in the test machine and not in the program at all.",
    "The vendor answered after three weeks that this is intended and will not be changed before next year.",
    "We tried the obvious thing first, and it made matters worse for everybody who was still on the old version.",
    "This was decided in the meeting on planning, against one vote, and may be reopened with new numbers.",
    "A customer found it; we could not see it ourselves, since our own accounts are all in the new layout.",
    "The documentation says otherwise, but it was written for the first edition and never looked at since.",
];
/// Questions that ask for an identifier.
const FRAMES: [&str; 6] = [
    "my colleague mentioned {} over coffee this morning, remind me what it was about",
    "the dashboard is red again and all it tells me is {}",
    "before I go on holiday, is there anything I should hand over on {}?",
    "{} showed up in the console while I was working on something else entirely",
    "please write the release notes and mention {} with one sentence",
    "can I ignore {} for today and finish the other task first",
];

/// The data set as three lists of JSON lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionSet {
    /// The input of `rekindle bench ingest`.
    pub memories: Vec<String>,
    /// The input of `rekindle bench query`.
    pub queries: Vec<String>,
    /// The expected memory for each question, with the type of the question.
    pub answers: Vec<String>,
}

/// One memory with a question for it.
struct FusionMemory {
    text: String,
    kind: &'static str,
    question: String,
}

/// Generates the data set.
pub fn generate() -> FusionSet {
    let mut dice = FusionRng(SEED);
    let mut memories: Vec<FusionMemory> = paraphrases();
    memories.extend((0..KEYWORD_MEMORIES).map(|n| keyword(n, &mut dice)));
    memories.extend((0..IDENTIFIER_MEMORIES).map(|n| identifier(n, &mut dice)));
    // Shuffle, so that neighbours in time are not neighbours in meaning.
    for last in (1..memories.len()).rev() {
        memories.swap(last, dice.below(last + 1));
    }
    let wanted = [
        ("keyword", KEYWORD_QUESTIONS),
        ("identifier", IDENTIFIER_QUESTIONS),
        ("paraphrase", PARAPHRASE_QUESTIONS),
    ];
    let mut set = FusionSet { memories: Vec::new(), queries: Vec::new(), answers: Vec::new() };
    for (n, memory) in memories.iter().enumerate() {
        set.memories.push(line(&json!({
            "ns": NAMESPACE, "session": session(n), "id": id(n), "ts": time(n), "role": "user", "text": memory.text,
        })));
    }
    for (kind, count) in wanted {
        let asked = memories.iter().enumerate().filter(|(_, memory)| memory.kind == kind).take(count);
        for (n, memory) in asked {
            let qid = format!("{kind}-{n}");
            set.queries.push(line(&json!({
                "ns": NAMESPACE, "qid": qid, "ts": "2026-01-01T00:00:00Z", "query": memory.question,
            })));
            set.answers.push(line(&json!({
                "qid": qid, "type": kind, "gold": [id(n)], "gold_sessions": [session(n)], "scored": true,
            })));
        }
    }
    set
}

/// Every concept combined with every part, so that a question has to match both.
fn paraphrases() -> Vec<FusionMemory> {
    let of_part = |&(memory, question): &(&str, &str)| FusionMemory {
        text: memory.to_owned(),
        kind: "paraphrase",
        question: question.to_owned(),
    };
    CONCEPTS
        .iter()
        .flat_map(|concept| {
            PARTS.iter().map(move |&(stated, asked)| {
                let memory = of_part(concept);
                FusionMemory {
                    text: memory.text.replace("{}", stated),
                    question: memory.question.replace("{}", asked),
                    ..memory
                }
            })
        })
        .collect()
}

fn keyword(n: usize, dice: &mut FusionRng) -> FusionMemory {
    let first = THINGS[n % THINGS.len()];
    let second = dice.other(&THINGS, &[first]);
    let third = dice.other(&THINGS, &[first, second]);
    let (act, place) = (dice.of(&ACTS), dice.of(&PLACES));
    FusionMemory {
        text: format!(
            "The {first} {act} the {second} unless the {third} is away; ask at the {place} when in doubt."
        ),
        kind: "keyword",
        question: format!("{third} {first} {second}"),
    }
}

fn identifier(n: usize, dice: &mut FusionRng) -> FusionMemory {
    let (verb, noun) = (VERBS[n % VERBS.len()], NOUNS[(n / VERBS.len()) % NOUNS.len()]);
    // The number makes the name unique; the words give it similar neighbours.
    let number = 1000 + 37 * n;
    let name = match n % 5 {
        0 => format!("{verb}_{noun}_{}_{number}", UNITS[dice.below(UNITS.len())]),
        1 => format!("src/{noun}/{verb}{number}.rs"),
        2 => format!("--{verb}-{noun}-{number}"),
        3 => format!("E{number}"),
        _ => format!("{}.{}.{number}", 1 + n % 7, n % 11),
    };
    // Surround the name with other words in memory and question, so that it contributes little to the vector.
    let (aside, frame) = (dice.of(&ASIDES), dice.of(&FRAMES));
    let (value, thing, act) = (10 * (1 + dice.below(90)), dice.of(&NOUNS), dice.of(&VERBS));
    FusionMemory {
        text: format!("{aside} In short: {act} the {thing} within {value} seconds, as noted for {name}."),
        kind: "identifier",
        question: frame.replace("{}", &name),
    }
}

fn id(n: usize) -> String {
    format!("m{n:04}")
}

/// A separate session per memory, because this set does not measure the effect of neighbours in a session.
fn session(n: usize) -> String {
    format!("s{n:04}")
}

fn time(n: usize) -> String {
    format!("2025-{:02}-{:02}T{:02}:00:00Z", 1 + n / 100, 1 + n % 28, n % 24)
}

fn line(value: &Value) -> String {
    value.to_string()
}

/// A small random number generator (splitmix64), so that the set is the same everywhere.
struct FusionRng(u64);

impl FusionRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn other<'a>(&mut self, words: &[&'a str], not: &[&str]) -> &'a str {
        loop {
            let word = self.of(words);
            if !not.contains(&word) {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Function words in the templates.
    const FUNCTION_WORDS: &str = "a about after am an and are as at be been before being by can could do does for from \
        get gets had has have how i if in into is it its last many may more must my new no not nothing of off old on \
        once one only our out over per so some that the their them then things to two under used was we what when \
        where which while who whoever why will with within without";

    fn words(text: &str) -> HashSet<String> {
        let function: HashSet<&str> = FUNCTION_WORDS.split_whitespace().collect();
        text.split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .filter(|word| !word.is_empty() && !function.contains(word.as_str()))
            .collect()
    }

    #[test]
    fn a_thousand_memories_and_two_hundred_questions_always_the_same() {
        let set = generate();
        assert_eq!((set.memories.len(), set.queries.len(), set.answers.len()), (1000, 200, 200));
        assert_eq!(set, generate());
        let texts: HashSet<String> = set
            .memories
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(texts.len(), 1000, "no two memories say the same");
        for (kind, count) in [("keyword", 50), ("identifier", 50), ("paraphrase", 100)] {
            let of_kind =
                set.answers.iter().filter(|line| line.contains(&format!("\"type\":\"{kind}\""))).count();
            assert_eq!(of_kind, count, "{kind}");
        }
    }

    #[test]
    fn a_paraphrase_shares_no_content_word_with_its_memory() {
        for memory in paraphrases() {
            let (stated, asked) = (words(&memory.text), words(&memory.question));
            let shared: Vec<_> = stated.intersection(&asked).collect();
            assert!(shared.is_empty(), "{shared:?}: {} / {}", memory.text, memory.question);
        }
    }

    #[test]
    fn keywords_and_identifiers_are_in_one_memory_only() {
        let mut dice = FusionRng(SEED);
        let keywords: Vec<_> = (0..KEYWORD_MEMORIES).map(|n| keyword(n, &mut dice)).collect();
        let names: Vec<_> = (0..IDENTIFIER_MEMORIES).map(|n| identifier(n, &mut dice)).collect();
        for memory in &keywords {
            let asked: Vec<&str> = memory.question.split(' ').collect();
            let holding =
                keywords.iter().filter(|other| asked.iter().all(|word| other.text.contains(word))).count();
            assert_eq!(holding, 1, "{}", memory.question);
        }
        for memory in &names {
            let name = memory.text.rsplit(' ').next().unwrap().trim_end_matches('.');
            assert!(memory.question.contains(name), "{name}");
            assert_eq!(names.iter().filter(|other| other.text.contains(name)).count(), 1, "{name}");
        }
    }
}
