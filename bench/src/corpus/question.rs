//! Generated prompts of 8 to 25 words, each made for one memory.

use super::memory::{GeneratedMemory, TextGenerator};
use super::random::SplitMix64;
use super::words;

/// The fewest words of a prompt.
pub const MIN_WORDS: usize = 8;
/// The largest number of words of a prompt.
pub const MAX_WORDS: usize = 25;

/// The number of memories, from the first one, that questions are made for. The same questions fit a corpus
/// of any size.
pub const MAX_ASKED_MEMORIES: usize = 1000;

/// A generated prompt.
#[derive(Clone, Debug)]
pub struct GeneratedQuestion {
    /// The type of the question: `keyword`, `identifier` or `paraphrase`.
    pub kind: &'static str,
    /// The index of the memory that it was made for.
    pub gold: usize,
    /// The text of the prompt.
    pub text: String,
}

/// Returns question number `number` of the corpus of `seed`; keywords, identifiers and paraphrases take
/// turns.
pub fn question(voice: &TextGenerator, seed: u64, number: usize) -> GeneratedQuestion {
    let random = &mut SplitMix64::of(!seed, number as u64);
    let (kind, from): (_, &[&str]) = match number % 3 {
        0 => ("keyword", &words::KEYWORD_QUESTIONS),
        1 => ("identifier", &words::IDENTIFIER_QUESTIONS),
        _ => ("paraphrase", &words::OTHER_WORDS_QUESTIONS),
    };
    // Nearly every second draw fits. The bound prevents an endless loop after a change of the word lists.
    let mut drawn = (voice.memory(seed, random.below(MAX_ASKED_MEMORIES)), random.pick(from));
    for _ in 0..1000 {
        if answers(&drawn.0, drawn.1) {
            break;
        }
        drawn = (voice.memory(seed, random.below(MAX_ASKED_MEMORIES)), random.pick(from));
    }
    let (memory, template) = drawn;
    GeneratedQuestion { kind, gold: memory.index, text: said(voice, template, &memory, random) }
}

/// True if the memory contains every name that the question would ask for.
fn answers(memory: &GeneratedMemory, template: &str) -> bool {
    let about = &memory.about;
    let names = [
        ("{id}", &about.identifier),
        ("{path}", &about.path),
        ("{err}", &about.error),
        ("{ver}", &about.version),
        ("{name}", &about.name),
    ];
    let things = [("{s", about.subject), ("{o", about.object)];
    let named = |slot: &str, said: &str| !template.contains(slot) || memory.text.contains(said);
    names.iter().all(|(slot, said)| named(slot, said)) && things.iter().all(|(slot, said)| named(slot, said))
}

fn said(voice: &TextGenerator, template: &str, memory: &GeneratedMemory, random: &mut SplitMix64) -> String {
    // Questions use only words of the memory's subject, never words drawn by chance.
    let about = &memory.about;
    let template = template
        .replace("{a}", about.adjective)
        .replace("{v}", about.verb[0])
        .replace("{vd}", about.verb[1])
        .replace("{who}", about.who);
    voice.fill(&template, memory.topic, about, random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_eight_to_twenty_five_words() {
        let voice = TextGenerator::default();
        for number in 0..2000 {
            let question = question(&voice, 7, number);
            let words = question.text.split_whitespace().count();
            assert!((MIN_WORDS..=MAX_WORDS).contains(&words), "{words}: {}", question.text);
            assert!(!question.text.contains(['{', '}']), "{}", question.text);
            assert!(question.gold < MAX_ASKED_MEMORIES);
        }
    }
}
