use rekindle_embed::EmbeddingModel;

use super::*;
use crate::test_notes::TestNotes;

/// STO-14, STO-15: a long run publishes the vectors of whole windows before it computes the fine ones.
#[test]
fn sto_14_a_long_run_publishes_whole_windows_first() {
    let notes = TestNotes::new();
    for number in 0..MIN_STAGED_WINDOWS / 2 {
        let text = format!(
            "Pump {number} runs at night. Filter {number} is changed in spring, before the valves are opened. The spare \
             parts lie in the shed behind the mill, on shelf {number}. Whoever takes one writes down {number} and \
             orders another from the same dealer. Meter {number} is read on the first Monday of each month.\n"
        );
        notes.write(&format!("pumps/{number}.md"), text);
    }
    let index = RecallIndex::in_folder(notes.places.index());
    let embedder = Embedder::new("test", EmbeddingModel::builtin());
    let indexer = Indexer { vault: &notes.vault, index: &index, embedder };
    let read = indexer.refresh(RefreshExtent::Everything, &mut |_| true).unwrap();
    assert!(read.pending > MIN_STAGED_WINDOWS, "{read:?}");

    let query = embedder.query("when does pump 21 run?");
    let found = || {
        let snapshot = index.open().unwrap().unwrap();
        snapshot.cosines(&query).iter().filter(|cosine| cosine.is_finite()).count()
    };
    // Those that fit into the budget of a save.
    let few = found();
    assert!(few < read.documents / 2, "{few}");
    let (mut at_fine, mut last) = (None, 0);
    let report = indexer
        .embed(Duration::ZERO, &mut |step| {
            let IndexingProgress::Embedding(done, of) = step else { return true };
            assert!(done >= last && done <= of && of == read.pending, "{last} {done} {of}");
            last = done;
            // The first call of the second stage: what was published before it.
            if at_fine.is_none() && found() > few {
                at_fine = Some((done, index.open().unwrap().unwrap().size().pending));
                return false;
            }
            true
        })
        .unwrap();
    let (done, pending) = at_fine.expect("whole windows are published in between");
    assert_eq!((found(), done + pending), (read.documents, read.pending));
    assert!(report.stopped && pending > 0, "{report:?}");

    let rest = indexer.embed(Duration::ZERO, &mut |_| true).unwrap();
    assert_eq!((rest.pending, rest.embedded), (0, pending), "{rest:?}");
}
