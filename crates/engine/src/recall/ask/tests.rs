use rekindle_core::config::DecayMode;
use rekindle_core::recall::fusion::FusionMethod;
use rekindle_embed::EmbeddingModel;

use super::*;
use crate::index::OldBytes;
use crate::index::embedding::VectorCache;
use crate::test_notes::TestNotes;

fn embedder() -> Embedder<'static> {
    Embedder::new("test", EmbeddingModel::builtin())
}

/// A vault of notes, and its index.
struct AskFixture {
    notes: TestNotes,
    index: RecallIndex,
}

impl AskFixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let notes = TestNotes::new();
        let index = RecallIndex::in_folder(notes.places.index());
        let trial = Self { notes, index };
        for (path, text) in files {
            trial.notes.write(path, text);
        }
        let read =
            |(path, _): &(&str, &str)| PreparedUnit::from(sources::read(&trial.notes.vault, path).unwrap());
        let mut units: Vec<PreparedUnit> = files.iter().map(read).collect();
        assert_eq!(embedder().fill_missing(&mut units, &VectorCache::default(), Duration::MAX), 0);
        let writer = trial.index.writer(Duration::ZERO).unwrap();
        writer.publish(&embedder().space(), units, None, None, OldBytes::Removed).unwrap();
        drop(writer);
        trial
    }

    /// The best hit for a prompt, and its shown passage.
    fn best(&self, prompt: &str, embedder: Option<Embedder<'_>>) -> (Document, ShownPassage) {
        let (filters, held) = (RecallFilters::default(), HashSet::new());
        let rules = SearchRules {
            method: FusionMethod::Measured,
            decay: DecayMode::Off,
            include_inbox: false,
            project: None,
            all_projects: false,
            inactive: false,
            until: None,
            now: 1_794_734_000,
        };
        let request = RecallRequest {
            prompt,
            rewritten: None,
            filters: &filters,
            rules,
            k: 1,
            anyway: true,
            reading: RescoringMode::Never,
            held_ids: &held,
            mentions: false,
            messages: None,
            reserved_messages: 0,
            leave_out: |_| false,
        };
        let mut answer =
            ask(&self.notes.vault, &self.index, embedder, &UsageSummary::default(), &request).unwrap();
        (answer.selection.hits.remove(0).document, answer.passages.remove(0))
    }
}

/// The topics of a long note: two lines that repeat, one line that occurs once, and a question about that
/// one.
const TOPICS: [([&str; 2], &str, &str); 3] = [
    (
        [
            "the espresso machine in the kitchen was descaled with vinegar.",
            "Its filter was rinsed under warm water for a minute.",
        ],
        "The vinegar for it stands below the sink, behind the blue bucket.",
        "where is the vinegar for the espresso machine?",
    ),
    (
        [
            "the replica of the staging database had fallen behind.",
            "Its replication slot was dropped and made again at night.",
        ],
        "The replica listens on port 5433, and only inside the tunnel.",
        "on which port does the replica of the staging database listen?",
    ),
    (
        [
            "the lamp of the lighthouse was cleaned by the keeper.",
            "The range of its beam was written into the big book.",
        ],
        "The keeper of the lighthouse has the only key, on a red string.",
        "who has the key of the lighthouse?",
    ),
];

/// The long note. Each topic has about as many words as a window.
fn long() -> String {
    let paragraph = |([first, second], once, _): &([&str; 2], &str, &str)| {
        let round = |number: usize| format!("Round {number}: {first}\n{second}");
        let (before, after): (Vec<String>, Vec<String>) =
            ((1..=3).map(round).collect(), (4..=6).map(round).collect());
        [before.join("\n"), (*once).to_owned(), after.join("\n")].join("\n")
    };
    let body: Vec<String> = TOPICS.iter().map(paragraph).collect();
    format!("---\ntags: [house, sea]\n---\n\n{}\n", body.join("\n\n"))
}

#[test]
fn sto_13_of_a_long_hit_the_part_that_answers_is_shown_with_its_lines() {
    let file = long();
    let trial = AskFixture::new(&[("rounds.md", file.as_str())]);
    let lines: Vec<&str> = file.lines().collect();
    for (_, once, prompt) in TOPICS {
        let (document, shown) = trial.best(prompt, Some(embedder()));
        assert!(document.text.len() > MAX_WHOLE_BYTES && !shown.refreshed);
        assert!(
            document.searched_text().len() > document.text.len(),
            "the words that name it are no lines of it"
        );
        assert!(shown.text.len() < document.text.len());
        assert!(shown.text.contains(once), "{prompt} {}", shown.text);
        let (from, to) = shown.lines.unwrap();
        assert_eq!(lines[from as usize - 1..to as usize].join("\n"), shown.text, "cut at whole lines");
    }
}

#[test]
fn sto_13_a_short_hit_and_one_found_by_words_alone_are_shown_whole() {
    let file = long();
    let gulls = "Seagulls nest on the roof of the boat house in spring.";
    let trial = AskFixture::new(&[("rounds.md", file.as_str()), ("gulls.md", gulls)]);
    let (_, shown) = trial.best("where do the seagulls nest?", Some(embedder()));
    assert_eq!((shown.text.as_str(), shown.lines, shown.refreshed), (gulls, Some((1, 1)), false));
    let (document, shown) = trial.best("espresso machine vinegar", None);
    assert_eq!((shown.text, shown.lines), (document.text, document.lines));
    assert_eq!(shown.lines, Some((5, file.lines().count() as u32)));
}
