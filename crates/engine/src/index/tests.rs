//! Tests of the whole index: everything that was added is found, whatever the history of the index.

use std::collections::BTreeMap;
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::recall::collection::DocumentColumns;
use rekindle_core::recall::document::{Document, DocumentSource, FileStamp, SourceUnit};
use rekindle_core::recall::fusion::RescoredSimilarity;
use rekindle_core::recall::lexical;
use rekindle_core::text::terms;
use rekindle_embed::QuantisedVector;

use super::*;

pub(super) fn document(path: &str, n: usize, text: &str) -> Document {
    Document {
        id: format!("{path}#{n}"),
        lines: Some((1, 2)),
        title: format!("Note {n}"),
        tags: vec!["tag".to_owned()],
        group: "personal-private".to_owned(),
        kind: "fix".to_owned(),
        created: Timestamp::from_second(1_000_000 + n as i64).ok(),
        project: n.is_multiple_of(3).then(|| ProjectId::new(format!("p{}", n % 2))),
        thread: (n % 4 < 2).then(|| "thread".to_owned()),
        ..Document::unannotated(DocumentSource::Note, path, text)
    }
}

/// A file with some documents of generated words.
pub(super) fn unit(path: &str, seed: usize, count: usize) -> PreparedUnit {
    let word = |at: usize| format!("w{}", (seed * 7 + at * 13) % 40);
    let documents = (0..count)
        .map(|n| document(path, n, &(0..20).map(|at| word(at * (n + 1))).collect::<Vec<_>>().join(" ")))
        .collect();
    let stamp =
        FileStamp { modified: seed as i64, size: count as u64, hash: ContentHash::of_bytes(&[seed as u8]) };
    let mut unit = PreparedUnit::from(SourceUnit { path: path.to_owned(), stamp: Some(stamp), documents });
    for prepared in &mut unit.documents {
        let text = prepared.document.searched_text();
        for (window, vector) in prepared.windows.iter_mut().chain(&mut prepared.fine) {
            *vector = Some(made_up(&text[window.start..window.end]));
        }
    }
    unit
}

/// A vector that depends on the text alone.
fn made_up(text: &str) -> QuantisedVector {
    let hash = ContentHash::of_bytes(text.as_bytes()).bytes();
    QuantisedVector { steps: hash.iter().map(|byte| byte.cast_signed()).collect(), scale: 0.01 }
}

pub(super) fn space() -> VectorSpace {
    VectorSpace { model: "test/model".to_owned(), dimension: 32 }
}

pub(super) fn change(n: u8) -> ChangeId {
    ChangeId::new(Timestamp::from_second(i64::from(n)).unwrap(), [n; 10])
}

/// The similarity of one document after rescoring.
fn looked_at(snapshot: &IndexSnapshot, number: u32, query: &QuantisedVector) -> RescoredSimilarity {
    snapshot.pick_for_rescoring(&[number], query.steps.len()).close(query).next().unwrap().1
}

/// Everything that a reader can observe, by the id of each document.
pub(super) fn everything(snapshot: &IndexSnapshot) -> BTreeMap<String, String> {
    let columns = snapshot.columns(|_| true);
    let query = made_up("a question");
    let cosines = snapshot.cosines(&query);
    let words = ["w1", "w2", "w13", "w39", "nowhere", "note"];
    let postings: Vec<_> = words.iter().map(|word| snapshot.postings(terms::hash(word))).collect();
    let scores = lexical::score(&columns, &postings);
    let of = |at: usize| {
        let number = at as u32;
        let document = snapshot.document(number)?;
        let DocumentColumns { words, lengths, created, flags, .. } = &columns;
        let said = (
            words[at],
            lengths[at],
            created[at],
            flags[at],
            cosines[at],
            looked_at(snapshot, number, &query),
        );
        let scores = (scores.context[at], scores.thread.get(at));
        Some((document.id.clone(), format!("{document:?} {said:?} {scores:?}")))
    };
    (0..columns.len()).filter(|at| columns.visible[*at]).filter_map(of).collect()
}

pub(super) fn publish(index: &RecallIndex, units: &[PreparedUnit]) {
    let all = units.to_vec();
    index.writer(Duration::ZERO).unwrap().publish(&space(), all, None, None, OldBytes::Removed).unwrap();
}

pub(super) fn append(index: &RecallIndex, units: Vec<PreparedUnit>, seen: &ChangeId) {
    assert!(index.appender().unwrap().append(&space(), units, Some(seen)).unwrap());
}

#[test]
fn fnd_10_a_rebuilt_index_is_the_same_to_the_last_score() {
    let folder = tempfile::tempdir().unwrap();
    let (grown, fresh) =
        (RecallIndex::in_folder(folder.path().join("a")), RecallIndex::in_folder(folder.path().join("b")));
    publish(&grown, &[unit("a.md", 1, 3), unit("b.md", 2, 5), unit("gone.md", 3, 4)]);
    append(&grown, vec![unit("c.md", 4, 2)], &change(1));
    append(&grown, vec![unit("b.md", 5, 1), unit("d.md", 6, 6)], &change(2));
    let absent = SourceUnit { path: "gone.md".to_owned(), stamp: None, documents: Vec::new() };
    append(&grown, vec![absent.into()], &change(3));
    append(&grown, vec![unit("c.md", 7, 4)], &change(4));
    publish(&fresh, &[unit("a.md", 1, 3), unit("b.md", 5, 1), unit("c.md", 7, 4), unit("d.md", 6, 6)]);

    let (before, truth) = (grown.open().unwrap().unwrap(), fresh.open().unwrap().unwrap());
    assert_eq!(everything(&before), everything(&truth));
    assert_eq!(before.last_seen_change(), Some(&change(4)));
    assert_eq!((before.size().documents, before.size().segments), (14, 4));
    assert_eq!(before.stamps(), truth.stamps());
    assert!(before.stamp("gone.md").is_none());

    // Folding changes only the layout; after it, the bytes equal those of a fresh index.
    let writer = grown.writer(Duration::ZERO).unwrap();
    let (all, basis) = writer.load(&space());
    writer.publish(&space(), all.into_values().collect(), basis.as_ref(), None, OldBytes::Removed).unwrap();
    let base = |index: &RecallIndex| {
        let mut files: Vec<_> =
            std::fs::read_dir(index.folder()).unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "base"));
        assert_eq!(files.len(), 1);
        std::fs::read(&files[0]).unwrap()
    };
    assert_eq!(base(&grown), base(&fresh));
}

/// The documents of `unit` from `from` on, as an append after its first `behind` documents.
pub(super) fn more(unit: &PreparedUnit, from: usize, behind: u32) -> PreparedUnit {
    PreparedUnit { documents: unit.documents[from..].to_vec(), behind: Some(behind), ..unit.clone() }
}

pub(super) fn up_to(unit: &PreparedUnit, count: usize) -> PreparedUnit {
    PreparedUnit { documents: unit.documents[..count].to_vec(), ..unit.clone() }
}

pub(super) fn fold(index: &RecallIndex) {
    index.writer(Duration::ZERO).unwrap().fold(&space()).unwrap();
}

#[test]
fn fnd_10_a_file_that_grew_is_the_same_as_one_that_was_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = RecallIndex::in_folder(folder.path().join("fresh"));
    let (long, other) = (unit("log.md", 3, 40), unit("z.md", 5, 3));
    publish(&fresh, &[unit("a.md", 1, 3), long.clone(), other.clone()]);
    let truth = everything(&fresh.open().unwrap().unwrap());
    // Folds after every `every` additions; 0 means never.
    for every in [0, 1, 2, 5] {
        let grown = RecallIndex::in_folder(folder.path().join(format!("{every}")));
        publish(&grown, &[unit("a.md", 1, 3), up_to(&long, 2)]);
        append(&grown, vec![unit("gone.md", 9, 2)], &change(1));
        // Threads of the generated documents start at 0, 1, 4, 5 …, so that no thread is cut here.
        for (number, count) in (2..=40).step_by(2).enumerate() {
            let mut step = more(&up_to(&long, count), count - 2, count as u32 - 2);
            // Some appends repeat the last documents.
            if number % 3 == 1 {
                step = more(&up_to(&long, count), count - 4, count as u32 - 4);
            }
            append(&grown, vec![step], &change(2));
            if every > 0 && number % every == 0 {
                fold(&grown);
            }
        }
        append(&grown, vec![unit("z.md", 8, 9)], &change(3));
        let absent = SourceUnit { path: "gone.md".to_owned(), stamp: None, documents: Vec::new() };
        append(&grown, vec![absent.into(), other.clone()], &change(4));
        let snapshot = grown.open().unwrap().unwrap();
        assert_eq!(everything(&snapshot), truth, "folded every {every}");
        assert_eq!(snapshot.stamps(), fresh.open().unwrap().unwrap().stamps());
        assert_eq!((snapshot.count_of("log.md"), snapshot.unit("log.md").unwrap().documents.len()), (40, 40));
        fold(&grown);
        let snapshot = grown.open().unwrap().unwrap();
        assert_eq!(everything(&snapshot), truth, "folded every {every}, and in the end");
        assert_eq!(snapshot.last_seen_change(), Some(&change(4)));
        let publish_all = grown.writer(Duration::ZERO).unwrap();
        let (all, basis) = publish_all.load(&space());
        publish_all
            .publish(&space(), all.into_values().collect(), basis.as_ref(), None, OldBytes::Removed)
            .unwrap();
        assert_eq!(everything(&grown.open().unwrap().unwrap()), truth);
        assert!(grown.abandoned_files().is_empty());
    }
}

#[test]
fn sto_15_a_fold_leaves_large_segments_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("large.md", 1, 3000)]);
    let bases = || {
        let mut files: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "base"));
        files.sort();
        files
    };
    let large = bases();
    for round in 0..6 {
        append(&index, vec![unit(&format!("{round}.md"), round, 4)], &change(1));
        fold(&index);
        assert!((2..=3).contains(&bases().len()), "the small ones become few");
        assert!(bases().contains(&large[0]), "the large one is not written again");
    }
    assert_eq!(everything(&index.open().unwrap().unwrap()).len(), 3000 + 24);
    // Replaced documents are removed eventually.
    append(&index, vec![unit("large.md", 2, 1)], &change(2));
    fold(&index);
    assert_eq!((bases().len(), everything(&index.open().unwrap().unwrap()).len()), (1, 25));
}

#[test]
fn what_is_appended_while_a_generation_is_made_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 2)]);
    append(&index, vec![unit("b.md", 2, 2)], &change(1));
    let writer = index.writer(Duration::ZERO).unwrap();
    let (all, basis) = writer.load(&space());
    append(&index, vec![unit("c.md", 3, 2), unit("a.md", 9, 1)], &change(2));
    writer
        .publish(&space(), all.into_values().collect(), basis.as_ref(), Some(&change(1)), OldBytes::Removed)
        .unwrap();
    let snapshot = index.open().unwrap().unwrap();
    assert_eq!(snapshot.last_seen_change(), Some(&change(2)));
    assert_eq!(everything(&snapshot).len(), 1 + 2 + 2);
}

#[test]
fn a_reader_keeps_its_generation_while_others_are_published() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 3)]);
    let reader = index.open().unwrap().unwrap();
    let before = everything(&reader);
    publish(&index, &[unit("b.md", 2, 9)]);
    publish(&index, &[unit("c.md", 2, 1)]);
    assert_eq!(everything(&reader), before);
    assert_eq!(everything(&index.open().unwrap().unwrap()).len(), 1);
    assert_eq!(std::fs::read_dir(index.folder()).unwrap().count(), 3 + 2);
}

#[test]
fn readers_and_writers_do_not_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 3)]);
    std::thread::scope(|scope| {
        for writer in 0..2_usize {
            let index = index.clone();
            scope.spawn(move || {
                for n in 0..40 {
                    append(&index, vec![unit(&format!("{writer}-{n}.md"), n, 1)], &change(n as u8));
                    if n % 10 == 9 {
                        let Ok(right) = index.writer(Duration::from_secs(5)) else { continue };
                        let (all, basis) = right.load(&space());
                        right
                            .publish(
                                &space(),
                                all.into_values().collect(),
                                basis.as_ref(),
                                None,
                                OldBytes::Removed,
                            )
                            .unwrap();
                    }
                }
            });
        }
        for _ in 0..200 {
            let snapshot = index.open().unwrap().unwrap();
            assert!(everything(&snapshot).len() >= 3);
        }
    });
    assert_eq!(everything(&index.open().unwrap().unwrap()).len(), 3 + 80);
}

#[test]
fn b_05_another_projects_documents_cannot_be_seen() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 8)]);
    let snapshot = index.open().unwrap().unwrap();
    let visible = |sees: &dyn Fn(Option<&str>) -> bool| {
        snapshot.columns(sees).visible.iter().filter(|visible| **visible).count()
    };
    assert_eq!(visible(&|_| true), 8);
    assert_eq!(visible(&|project| project.is_none()), 5);
    assert_eq!(visible(&|project| project.is_none_or(|project| project == "p1")), 6);
    let members = snapshot.project_members(Some("p0"));
    assert_eq!((0..8).filter(|number| members.contains(*number)).collect::<Vec<_>>(), [0, 6]);
}

#[test]
fn sto_11_vectors_of_another_model_are_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 3)]);
    let snapshot = index.open().unwrap().unwrap();
    let other = VectorSpace { model: "other/model".to_owned(), dimension: 16 };
    assert!(snapshot.is_from_model(&space()) && !snapshot.is_from_model(&other));
    let all = snapshot.all_units(&other);
    assert!(
        all["a.md"]
            .documents
            .iter()
            .all(|prepared| prepared.windows.iter().all(|(_, vector)| vector.is_none()))
    );
    let wide = QuantisedVector { steps: vec![1; 16], scale: 1.0 };
    assert!(snapshot.cosines(&wide).iter().all(|cosine| *cosine == f32::NEG_INFINITY));
}

#[test]
fn without_an_index_nothing_is_appended() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().join("deep").join("index"));
    assert!(index.open().unwrap().is_none());
    assert!(!index.appender().unwrap().append(&space(), vec![unit("a.md", 1, 1)], None).unwrap());
    assert!(index.open().unwrap().is_none());
}

#[test]
fn damage_is_named_and_never_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 30), unit("b.md", 2, 3)]);
    append(&index, vec![unit("c.md", 3, 2)], &change(1));
    let good: BTreeMap<_, _> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    let restore =
        || good.iter().for_each(|(path, bytes)| crate::platform::disk::write_atomic(path, bytes).unwrap());
    let query = made_up("x");
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for round in 0..600 {
        let (path, bytes) = good.iter().nth(random(good.len())).unwrap();
        let mut bytes = bytes.clone();
        match round % 4 {
            0 => bytes.truncate(random(bytes.len() + 1)),
            1 => bytes.fill(0),
            2 => {
                let (from, length) = (random(bytes.len()), random(200));
                bytes.iter_mut().skip(from).take(length).for_each(|byte| *byte = 0);
            }
            _ => {
                for _ in 0..8 {
                    let at = random(bytes.len());
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random(256) as u8;
                    }
                }
            }
        }
        crate::platform::disk::write_atomic(path, &bytes).unwrap();
        // Damage may give any result but must not panic.
        if let Ok(Some(snapshot)) = index.open() {
            let columns = snapshot.columns(|_| true);
            let postings: Vec<_> =
                (0..40).map(|n| snapshot.postings(terms::hash(&format!("w{n}")))).collect();
            if columns.words.len() == columns.len() && columns.flags.len() == columns.len() {
                let _ = lexical::score(&columns, &postings);
            }
            snapshot.cosines(&query);
            for number in 0..snapshot.len() {
                drop((
                    snapshot.document(number),
                    looked_at(&snapshot, number, &query),
                    snapshot.best_window(number, &query),
                ));
            }
            drop((snapshot.stamps(), snapshot.all_units(&space()), snapshot.verify()));
        }
        restore();
    }
    let current = index.folder().join("CURRENT");
    crate::platform::disk::write_atomic(&current, br#"{"format":99,"generation":"x"}"#).unwrap();
    let error = index.open().unwrap_err();
    assert!(matches!(error, Error::Damaged { damage: SegmentDamage::Version(99), .. }), "{error}");
}
