//! Scores the best passages with the cross-encoder (B-06). A passage takes a millisecond or more. It
//! therefore scores a few, on two threads, and stops when the decision will not change or the time is over.

use std::path::Path;
use std::time::Instant;

use rekindle_core::recall::relevance_gate::{RelevanceEvidence, can_reading_change, is_reading_unpromising};
use rekindle_embed::{CrossEncoder, Passage};

use super::pace::ReadingCost;
use super::passage::windows;
use crate::index::vocabulary_for;

/// The use of the cross-encoder in a decision.
#[derive(Clone, Copy, Debug)]
pub enum RescoringMode<'a> {
    /// Never: the query is not a prompt, or no decision is needed.
    Never,
    /// Until the decision cannot change, or probably will not.
    AsNeeded,
    /// As needed, as long as the deadline can probably be met; otherwise the other measures decide.
    Until(ReadingBudget<'a>),
    /// All passages, for complete numbers. Passages that would not be scored as needed do not count.
    Thorough,
}

/// The time budget of the cross-encoder.
#[derive(Clone, Copy, Debug)]
pub struct ReadingBudget<'a> {
    /// The deadline of the decision.
    pub end: Instant,
    /// The file with the stored cost.
    pub pace_file: &'a Path,
}

/// The number of threads that score passages.
const THREADS: usize = 2;

/// Adds the best score among `passages` to the evidence. Each thread scores one passage at a time, in order,
/// until the decision will not change. If the time does not suffice, no score counts.
pub(super) fn read<Text: AsRef<str>>(
    prompt: &str,
    passages: impl IntoIterator<Item = Text>,
    evidence: RelevanceEvidence,
    reading: &RescoringMode<'_>,
) -> RelevanceEvidence {
    let mut found = evidence;
    let is_wanted = |found: &RelevanceEvidence| match reading {
        RescoringMode::Never => false,
        RescoringMode::AsNeeded | RescoringMode::Until(_) => {
            can_reading_change(found) && !is_reading_unpromising(found)
        }
        RescoringMode::Thorough => true,
    };
    if !is_wanted(&found) {
        return found;
    }
    let mut budget = match reading {
        RescoringMode::Until(budget) => Some((budget.end, ReadingCost::read(budget.pace_file))),
        _ => None,
    };
    let cross_encoder = CrossEncoder::builtin();
    let prompt = cross_encoder.prompt_as(vocabulary_for(prompt), prompt);
    let mut passages = passages.into_iter();
    let mut is_settled = false;
    while is_wanted(&found) {
        let some: Vec<Passage> =
            passages.by_ref().take(THREADS).map(|text| passage_of(text.as_ref())).collect();
        let Some(tokens) = some.iter().map(|passage| prompt.tokens() + passage.tokens()).max() else { break };
        let start = Instant::now();
        if let Some((end, pace)) = &mut budget
            && start + pace.estimate(tokens) > *end
        {
            if start < *end && found.passages_read == 0 {
                pace.too_slow();
            }
            return RelevanceEvidence { out_of_time: true, ..evidence };
        }
        let scores = cross_encoder.score_batch(&prompt, &some, THREADS);
        if let Some((_, pace)) = &mut budget {
            pace.measured(tokens, start.elapsed());
        }
        found.passages_read += some.len();
        let best = scores.into_iter().map(f64::from).fold(f64::NEG_INFINITY, f64::max);
        if !is_settled {
            found.reading = Some(found.reading.map_or(best, |before| before.max(best)));
            is_settled = is_reading_unpromising(&found);
        }
    }
    found
}

/// Tokenizes a passage in its language.
fn passage_of(text: &str) -> Passage {
    CrossEncoder::builtin().passage_as(vocabulary_for(text), text)
}

/// The log odds that each text answers the prompt, by its best window. It scores all of them, for callers
/// that can wait.
pub fn answer_log_odds(prompt: &str, texts: &[&str]) -> Vec<f64> {
    let cross_encoder = CrossEncoder::builtin();
    let prompt = cross_encoder.prompt_as(vocabulary_for(prompt), prompt);
    let passages: Vec<Vec<Passage>> =
        texts.iter().map(|text| windows(text).map(passage_of).collect()).collect();
    let mut scores = cross_encoder.score_batch(&prompt, &passages.concat(), THREADS).into_iter();
    let mut best_of =
        |count: usize| scores.by_ref().take(count).map(f64::from).fold(f64::NEG_INFINITY, f64::max);
    passages.iter().map(|windows| best_of(windows.len())).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use rekindle_core::recall::relevance_gate::{DecisionBasis, decide};

    use super::*;

    const PROMPT: &str = "the export fails at night, when does the bank send its files?";
    const ANSWER: &str = "The export job starts at 03:10 because the bank delivers its files at three; before that it finds nothing and fails.";
    const OTHERS: [&str; 4] = [
        "Colours of the dashboard come from tokens.json; never write a hex value into a component.",
        "Releases are tagged on Tuesdays, after the nightly suite was green twice.",
        "The tests of the importer need a Postgres with the btree_gist extension.",
        "Ada prefers short commit messages in the imperative.",
    ];

    fn near(best_cosine: f64) -> RelevanceEvidence {
        RelevanceEvidence { best_cosine, ..RelevanceEvidence::default() }
    }

    /// The evidence, and the number of texts that were taken.
    fn counted(
        texts: &[&str],
        evidence: RelevanceEvidence,
        reading: &RescoringMode<'_>,
    ) -> (RelevanceEvidence, usize) {
        let asked = Cell::new(0);
        let texts = texts.iter().inspect(|_| asked.set(asked.get() + 1));
        (read(PROMPT, texts, evidence, reading), asked.get())
    }

    #[test]
    fn b_06_an_answer_is_told_from_what_is_about_something_else() {
        let (answer, _) = counted(&[ANSWER], near(0.3), &RescoringMode::Thorough);
        let (other, _) = counted(&OTHERS, near(0.3), &RescoringMode::Thorough);
        assert!(answer.reading > Some(0.0) && other.reading < Some(-1.0), "{answer:?} {other:?}");
    }

    #[test]
    fn b_06_no_more_is_read_than_decides() {
        let all = [&[ANSWER][..], &OTHERS].concat();
        let (found, asked) = counted(&all, near(0.3), &RescoringMode::AsNeeded);
        assert_eq!((decide(Some(&found)).is_silent(), asked), (false, THREADS), "the first settles it");
        let (found, asked) = counted(&OTHERS, near(0.3), &RescoringMode::AsNeeded);
        assert_eq!((decide(Some(&found)).is_silent(), asked), (true, THREADS), "two score too low");
        assert_eq!(
            counted(&all, near(0.9), &RescoringMode::Thorough).1,
            all.len(),
            "unless somebody wants to know"
        );
        assert_eq!(counted(&[], near(0.3), &RescoringMode::AsNeeded), (near(0.3), 0));
        assert_eq!(counted(&all, near(0.3), &RescoringMode::Never), (near(0.3), 0));
    }

    #[test]
    fn b_06_reading_less_decides_the_same() {
        for place in 0..=OTHERS.len() {
            let all = [&OTHERS[..place], &[ANSWER], &OTHERS[place..]].concat();
            for step in -10..=20 {
                let evidence = near(f64::from(step) / 20.0);
                let [lazily, thoroughly] = [RescoringMode::AsNeeded, RescoringMode::Thorough]
                    .map(|how| decide(Some(&counted(&all, evidence, &how).0)));
                assert_eq!(lazily.is_silent(), thoroughly.is_silent(), "{evidence:?}");
            }
        }
    }

    #[test]
    fn b_06_hits_after_two_that_score_low_do_not_count() {
        let all = [&OTHERS[..2], &[ANSWER], &OTHERS[2..]].concat();
        let (found, asked) = counted(&all, near(0.3), &RescoringMode::Thorough);
        assert_eq!((asked, found.passages_read), (all.len(), all.len()));
        assert!(found.reading < Some(-3.0), "{found:?}");
    }

    #[test]
    fn b_06_without_time_to_read_the_unread_rule_decides_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let pace_file = &*folder.path().join("reading-pace");
        let within = |time| RescoringMode::Until(ReadingBudget { end: Instant::now() + time, pace_file });
        let (found, _) = counted(&OTHERS, near(0.6), &within(Duration::ZERO));
        assert_eq!((found.out_of_time, found.reading, found.passages_read), (true, None, 0));
        assert_eq!(decide(Some(&found)).basis, DecisionBasis::Unread);
        assert!(!pace_file.exists(), "nothing was measured");
        let (found, _) = counted(&OTHERS, near(0.6), &within(Duration::from_secs(600)));
        assert_eq!((found.out_of_time, found.passages_read), (false, THREADS));
        assert!(pace_file.exists());
        // On a processor that is known to be too slow, scoring does not start.
        crate::platform::disk::write_atomic(pace_file, b"60000000\n").unwrap();
        let (found, _) = counted(&OTHERS, near(0.6), &within(Duration::from_secs(600)));
        assert!(found.out_of_time && found.reading.is_none(), "{found:?}");
    }
}
