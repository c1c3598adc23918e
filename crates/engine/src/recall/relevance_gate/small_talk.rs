//! The built-in small-talk classifier (B-06). `models/README.md` describes its training data, and the example
//! `everyday` of this crate trains it. It works only on vectors of its own model.

use rekindle_core::recall::relevance_gate::small_talk::SmallTalkClassifier;
use rekindle_embed::{QuantisedVector, dots};

use crate::index::Embedder;

static MODEL_BYTES: &[u8] = include_bytes!("../../../../../models/everyday.rke");

/// The margin by which a prompt looks like small talk; `None` for vectors of another model.
pub fn small_talk_margin(embedder: Embedder<'_>, prompt: &str, vector: &QuantisedVector) -> Option<f64> {
    let machine =
        SmallTalkClassifier::read(MODEL_BYTES).filter(|machine| machine.model() == embedder.model_name())?;
    if vector.steps.len() != machine.width() {
        return None;
    }
    let mut products = vec![0; machine.steps().len() / machine.width()];
    dots(&vector.steps, machine.steps(), &mut products);
    Some(machine.small_talk_margin(prompt, &products, unit(&vector.steps)))
}

/// The scale that gives the vector unit length.
pub fn unit(steps: &[i8]) -> f32 {
    let square: i32 = steps.iter().map(|step| i32::from(*step).pow(2)).sum();
    #[expect(clippy::cast_precision_loss, reason = "a sum of a few hundred squares of bytes is exact")]
    let length = (square as f32).sqrt();
    if length > 0.0 { 1.0 / length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use rekindle_embed::EmbeddingModel;
    use rekindle_testkit::training_data;

    use super::*;
    use crate::index::models::BUILTIN_MODEL;

    const EVERYDAY: &str = include_str!("../../../../../models/everyday.txt");
    const WORK: &str = include_str!("../../../../../models/work.txt");
    /// The sampling interval of the training lines.
    const SAMPLING_INTERVAL: usize = 40;
    /// The same value as in the example that trains it.
    const ANSWERED: usize = 5;

    #[test]
    fn b_06_what_is_shipped_knows_what_it_was_taught() {
        let embedder = Embedder::new(BUILTIN_MODEL, EmbeddingModel::builtin());
        let pairs = lines(&training_data("pairs.jsonl.gz"));
        let right = |prompts: &str, more: &str, is_right: fn(f64) -> bool| {
            let more = pairs.iter().filter(|pair| pair["type"] == more).step_by(ANSWERED);
            let more = more.filter_map(|pair| pair["prompt"].as_str());
            let prompts: Vec<&str> = prompts.lines().chain(more).step_by(SAMPLING_INTERVAL).collect();
            let margin = |prompt: &&&str| small_talk_margin(embedder, prompt, &embedder.query(prompt));
            let right = prompts.iter().filter(|prompt| {
                is_right(
                    margin(prompt)
                        .expect("`cargo run -p rekindle-engine --example train_small_talk` teaches it"),
                )
            });
            (right.count() * 100) / prompts.len()
        };
        let everyday = right(EVERYDAY, "off topic", |margin| margin > 0.0);
        let work = right(WORK, "answerable", |margin| margin < 0.0);
        assert!(everyday >= 95 && work >= 95, "{everyday} and {work} per cent");
        let other = Embedder::new("another", EmbeddingModel::builtin());
        assert_eq!(small_talk_margin(other, "thanks!", &other.query("thanks!")), None);
    }

    fn lines(set: &str) -> Vec<serde_json::Value> {
        set.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn words(text: &str) -> HashSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    }

    /// The values of the lines of some sets for one key.
    #[derive(Default)]
    struct EvaluatedTexts {
        lengths: Vec<usize>,
        by_word: HashMap<String, Vec<usize>>,
    }

    impl EvaluatedTexts {
        fn new(sets: &[&str], name: &str) -> Self {
            let mut said = Self::default();
            for line in sets.iter().flat_map(|set| lines(set)) {
                let words = words(line[name].as_str().unwrap());
                said.lengths.push(words.len());
                for word in words {
                    said.by_word.entry(word).or_default().push(said.lengths.len() - 1);
                }
            }
            said
        }

        /// True if a text has six of ten words in common with one of these.
        fn is_nearly(&self, text: &str) -> bool {
            let (words, mut common) = (words(text), vec![0; self.lengths.len()]);
            for at in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
                common[*at] += 1;
            }
            let all = self.lengths.iter().map(|length| length + words.len());
            common.iter().zip(all).any(|(common, all)| *common > 0 && common * 10 >= (all - common) * 6)
        }
    }

    const EVALUATED_PROMPTS: [&str; 5] = [
        include_str!("../../../../../eval/asked.jsonl"),
        include_str!("../../../../../eval/typed.jsonl"),
        include_str!("../../../../../eval/prompts.jsonl"),
        include_str!("../../../../../eval/balanced.jsonl"),
        include_str!("../../../../../eval/named.jsonl"),
    ];
    const EVALUATED_MEMORIES: [&str; 3] = [
        include_str!("../../../../../eval/memories.jsonl"),
        include_str!("../../../../../eval/balanced-memories.jsonl"),
        include_str!("../../../../../eval/named-memories.jsonl"),
    ];

    /// The training data of the cross-encoder: memories and prompts of invented projects.
    fn pairs() -> Vec<serde_json::Value> {
        ["pairs.jsonl.gz", "named-pairs.jsonl.gz"]
            .iter()
            .flat_map(|name| lines(&training_data(name)))
            .collect()
    }

    #[test]
    fn b_06_training_and_evaluation_share_no_text() {
        let asked = EvaluatedTexts::new(&EVALUATED_PROMPTS, "prompt");
        assert!(asked.lengths.len() > 7_000);
        let pairs = pairs();
        let read: HashSet<&str> = pairs.iter().filter_map(|pair| pair["prompt"].as_str()).collect();
        assert!(read.len() > 50_000);
        let trained = EVERYDAY.lines().chain(WORK.lines()).chain(read);
        let shared = trained.filter(|prompt| asked.is_nearly(prompt));
        assert_eq!(shared.collect::<Vec<_>>(), Vec::<&str>::new());
        let remembered = EvaluatedTexts::new(&EVALUATED_MEMORIES, "text");
        assert!(remembered.lengths.len() > 2_400);
        let known: HashSet<&str> = pairs.iter().filter_map(|pair| pair["text"].as_str()).collect();
        assert_eq!(
            known.into_iter().filter(|text| remembered.is_nearly(text)).collect::<Vec<_>>(),
            Vec::<&str>::new()
        );
    }

    const LANGUAGES: [&str; 5] = [
        include_str!("../../../../../eval/languages/de.jsonl"),
        include_str!("../../../../../eval/languages/es.jsonl"),
        include_str!("../../../../../eval/languages/fr.jsonl"),
        include_str!("../../../../../eval/languages/pt.jsonl"),
        include_str!("../../../../../eval/languages/xx.jsonl"),
    ];

    #[test]
    fn b_06_translations_and_the_sets_in_other_languages_share_no_text() {
        let asked = EvaluatedTexts::new(&LANGUAGES, "prompt");
        assert!(asked.lengths.len() > 600);
        let translations = lines(&training_data("translations.jsonl.gz"));
        assert!(translations.len() > 5_000);
        let prompts = translations.iter().filter(|row| row["type"] != "memory");
        let shared = prompts.filter_map(|row| row["xx"].as_str()).filter(|prompt| asked.is_nearly(prompt));
        assert_eq!(shared.collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn b_06_training_and_evaluation_share_no_project() {
        let projects = |rows: Vec<serde_json::Value>| -> HashSet<String> {
            rows.iter().filter_map(|row| Some(row["project"].as_str()?.to_owned())).collect()
        };
        let trained = projects(pairs());
        let evaluated = projects(
            EVALUATED_PROMPTS.iter().chain(&EVALUATED_MEMORIES).flat_map(|set| lines(set)).collect(),
        );
        assert!(trained.len() > 450 && evaluated.len() >= 68, "{} {}", trained.len(), evaluated.len());
        assert_eq!(trained.intersection(&evaluated).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
