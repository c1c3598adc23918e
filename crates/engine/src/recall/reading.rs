//! Reading a prompt together with its hits (B-06), by the model that is part of the program. It takes some milliseconds for
//! each hit, so it is done for a few, on two threads, and no longer than it can change what is decided.

use rekindle_core::recall::abstain::{Evidence, is_open};
use rekindle_embed::{Prompt, Reader, Scratch};

/// Whether hits are read together with the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// They are not: what is asked for is near to a text that is no prompt, or nobody wants to know.
    Never,
    /// As far as it can change whether something is said.
    AsNeeded,
    /// All of them, so that the numbers are whole.
    Thorough,
}

/// How many are read at the same time.
const AT_ONCE: usize = 2;

/// The evidence with the best reading among `texts`, as far as it matters: hits are read in their order until one settles it.
pub(super) fn read<Text: AsRef<str>>(
    prompt: &str,
    texts: impl IntoIterator<Item = Text>,
    evidence: Evidence,
    reading: Reading,
) -> Evidence {
    let mut found = evidence;
    let is_wanted = |found: &Evidence| match reading {
        Reading::Never => false,
        Reading::AsNeeded => is_open(found, found.reading.unwrap_or(f64::NEG_INFINITY)),
        Reading::Thorough => true,
    };
    if !is_wanted(&found) {
        return found;
    }
    let reader = Reader::builtin();
    let prompt = reader.prompt(prompt);
    let mut texts = texts.into_iter();
    while is_wanted(&found) {
        let some: Vec<Text> = texts.by_ref().take(AT_ONCE).collect();
        let Some(best) = best_of(reader, &prompt, &some) else { break };
        found.reading = Some(found.reading.map_or(best, |before| before.max(best)));
    }
    found
}

/// The log-odds that each text answers the prompt. For whoever shows passages and can wait for them to be read.
pub fn odds(prompt: &str, texts: &[&str]) -> Vec<f64> {
    let reader = Reader::builtin();
    let prompt = &reader.prompt(prompt);
    let read = |text: &str| f64::from(reader.read(&mut Scratch::new(), prompt, text));
    let mut odds = Vec::with_capacity(texts.len());
    for some in texts.chunks(AT_ONCE) {
        odds.extend(std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|text| scope.spawn(move || read(text))).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, f64>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect::<Vec<f64>>()
        }));
    }
    odds
}

/// The best of a few, each on a thread of its own.
fn best_of(reader: &Reader<'_>, prompt: &Prompt, texts: &[impl AsRef<str>]) -> Option<f64> {
    let read = |text: &str| f64::from(reader.read(&mut Scratch::new(), prompt, text));
    let (first, others) = texts.split_first()?;
    let texts: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
    std::thread::scope(|scope| {
        let others: Vec<_> = texts.iter().map(|text| scope.spawn(|| read(text))).collect();
        let mut best = read(first.as_ref());
        for other in others {
            match other.join() {
                Ok(reading) => best = best.max(reading),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Some(best)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rekindle_core::recall::abstain::decide;

    use super::*;

    const PROMPT: &str = "the export fails at night, when does the bank send its files?";
    const ANSWER: &str = "The export job starts at 03:10 because the bank delivers its files at three; before that it finds nothing and fails.";
    const OTHERS: [&str; 4] = [
        "Colours of the dashboard come from tokens.json; never write a hex value into a component.",
        "Releases are tagged on Tuesdays, after the nightly suite was green twice.",
        "The tests of the importer need a Postgres with the btree_gist extension.",
        "Ada prefers short commit messages in the imperative.",
    ];

    fn near(best_cosine: f64) -> Evidence {
        Evidence { best_cosine, tenth_cosine: 0.2, store_size: 100, ..Evidence::default() }
    }

    /// What was found, and how many texts were asked for.
    fn counted(texts: &[&str], evidence: Evidence, reading: Reading) -> (Evidence, usize) {
        let asked = Cell::new(0);
        let texts = texts.iter().inspect(|_| asked.set(asked.get() + 1));
        (read(PROMPT, texts, evidence, reading), asked.get())
    }

    #[test]
    fn b_06_an_answer_is_told_from_what_is_about_something_else() {
        let (answer, _) = counted(&[ANSWER], near(0.3), Reading::Thorough);
        let (other, _) = counted(&OTHERS, near(0.3), Reading::Thorough);
        assert!(answer.reading > Some(0.0) && other.reading < Some(-1.0), "{answer:?} {other:?}");
    }

    #[test]
    fn b_06_no_more_is_read_than_decides() {
        let all = [&[ANSWER][..], &OTHERS].concat();
        let (found, asked) = counted(&all, near(0.3), Reading::AsNeeded);
        assert_eq!((decide(Some(&found)).silent(), asked), (false, AT_ONCE), "the first settles it");
        let (found, asked) = counted(&OTHERS, near(0.3), Reading::AsNeeded);
        assert_eq!((decide(Some(&found)).silent(), asked), (true, OTHERS.len()));
        for settled in [1.5, -0.2, -0.5] {
            let (found, asked) = counted(&all, near(settled), Reading::AsNeeded);
            assert_eq!((found.reading, asked), (None, 0), "{settled}");
        }
        assert_eq!(counted(&all, near(1.5), Reading::Thorough).1, all.len(), "unless somebody wants to know");
        assert_eq!(counted(&[], near(0.3), Reading::AsNeeded), (near(0.3), 0));
        assert_eq!(counted(&all, near(0.3), Reading::Never), (near(0.3), 0));
    }

    #[test]
    fn b_06_reading_less_decides_the_same() {
        let all = [&OTHERS[..2], &[ANSWER], &OTHERS[2..]].concat();
        for step in -10..=20 {
            let evidence = near(f64::from(step) / 20.0);
            let [lazily, thoroughly] = [Reading::AsNeeded, Reading::Thorough]
                .map(|how| decide(Some(&counted(&all, evidence, how).0)));
            assert_eq!(lazily.silent(), thoroughly.silent(), "{evidence:?}");
        }
    }
}
