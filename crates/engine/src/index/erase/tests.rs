use std::time::Duration;

use proptest::prelude::*;
use rekindle_core::recall::document::SourceUnit;
use rekindle_core::text::terms;

use super::*;
use crate::index::tests::{append, change, document, everything, fold, more, publish, space, unit};
use crate::index::{OldBytes, PreparedDocument, PreparedUnit};

const SECRET: &str = "the vanishing lighthouse sentence of nobody";

/// A unit in which some documents say the secret, each in other words around it.
fn telling(path: &str, seed: usize, count: usize, says: impl Fn(usize) -> bool) -> PreparedUnit {
    let mut unit = unit(path, seed, count);
    // An erased document still separates its neighbours until its file is read again, so none of them are a thread.
    unit.documents.iter_mut().for_each(|prepared| prepared.document.thread = None);
    let vector = unit.documents.first().and_then(|prepared| prepared.windows.first()?.1.clone());
    for (n, prepared) in unit.documents.iter_mut().enumerate().filter(|(n, _)| says(*n)) {
        *prepared = PreparedDocument::new(document(path, n, &format!("w1 w2\n\n{SECRET}\n\nw{seed}")));
        prepared.windows.iter_mut().chain(&mut prepared.fine).for_each(|(_, own)| *own = vector.clone());
    }
    unit
}

/// The unit without the documents that hold the secret; `None` if its file is gone or nothing remains.
fn without_secret(mut unit: PreparedUnit, paths: &BTreeSet<String>) -> Option<PreparedUnit> {
    let before = unit.documents.len();
    unit.documents.retain(|prepared| !prepared.document.text.contains(SECRET));
    (!paths.contains(&unit.unit.path) && (before == 0 || !unit.documents.is_empty())).then_some(unit)
}

fn erase(index: &RecallIndex, paths: &BTreeSet<String>, target: &ErasureTarget) -> usize {
    let scope = ErasureScope { paths, target, is_changed: &|_, _| false };
    let erased = index.erase(&scope).unwrap();
    assert!(index.files_with(&scope).is_empty());
    assert_eq!(index.erase(&scope).unwrap(), 0);
    erased
}

/// Fails if any file holds the secret, or the hash of a word of it.
fn assert_gone(index: &RecallIndex, names: &[&str]) {
    for file in std::fs::read_dir(index.folder()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let holds = |wanted: &[u8]| memchr::memmem::find(&bytes, wanted).is_some();
        assert!(!holds(b"vanishing") && !holds(b"lighthouse"));
        assert!(!holds(&terms::hash("lighthouse").to_le_bytes()));
        assert!(names.iter().all(|name| !holds(name.as_bytes())));
    }
}

fn publish_all(index: &RecallIndex) {
    let writer = index.writer(Duration::ZERO).unwrap();
    let (all, basis) = writer.load(&space());
    writer.publish(&space(), all.into_values().collect(), basis.as_ref(), None, OldBytes::Removed).unwrap();
}

#[test]
fn b_08_what_is_erased_is_in_no_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    let secret = telling("s.md", 1, 2, |n| n == 1);
    publish(
        &index,
        &[unit("a.md", 1, 3), secret.clone(), telling("alone.md", 1, 1, |_| true), unit("empty.md", 1, 0)],
    );
    append(&index, vec![secret], &change(1));
    assert_eq!(erase(&index, &BTreeSet::new(), &ErasureTarget::new(&[SECRET])), 3);
    assert_gone(&index, &["alone.md"]);
    let snapshot = index.open().unwrap().unwrap();
    assert_eq!(snapshot.stamps().into_keys().collect::<Vec<_>>(), ["a.md", "empty.md", "s.md"]);
    assert_eq!(snapshot.stamp("s.md"), Some(UNKNOWN_STAMP), "the rest of the file is read again");
    assert_eq!(everything(&snapshot).len(), 4);
    assert_eq!(snapshot.size().pending, 0, "what is left keeps its vectors");
    assert_eq!(snapshot.last_seen_change(), Some(&change(1)));
}

#[test]
fn b_08_a_text_too_short_to_search_for_goes_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    publish(&index, &[unit("a.md", 1, 3), unit("b.md", 2, 4), unit("c.md", 3, 5)]);
    let paths = BTreeSet::from(["b.md".to_owned()]);
    assert_eq!(erase(&index, &paths, &ErasureTarget::new(&["x"])), 4);
    let snapshot = index.open().unwrap().unwrap();
    assert_eq!(snapshot.stamps().into_keys().collect::<Vec<_>>(), ["a.md", "c.md"]);
    assert_gone(&index, &["b.md"]);
}

#[test]
fn b_08_a_shortened_copy_of_a_changed_file_goes_too() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    let mut copy = unit("s.md", 1, 1);
    copy.documents[0] = PreparedDocument::new(document("s.md", 0, "the vanishing lighthouse se…"));
    publish(&index, &[unit("a.md", 1, 3), copy]);
    let (paths, target) = (BTreeSet::new(), ErasureTarget::new(&[SECRET]));
    let scope = ErasureScope { paths: &paths, target: &target, is_changed: &|_, _| false };
    assert_eq!(index.erase(&scope).unwrap(), 0, "another memory may share a fragment");
    let scope = ErasureScope { is_changed: &|path, _| path == "s.md", ..scope };
    assert_eq!(index.files_with(&scope).len(), 1);
    assert_eq!(index.erase(&scope).unwrap(), 1);
    assert_gone(&index, &[]);
}

#[test]
fn b_08_an_interrupted_erasure_is_finished_by_the_next_writer() {
    let target = ErasureTarget::new(&[SECRET]);
    let units = [unit("a.md", 1, 30), telling("s.md", 2, 6, |n| n % 2 == 0), telling("t.md", 3, 1, |_| true)];
    let made = |folder: &std::path::Path| {
        let index = RecallIndex::in_folder(folder.to_owned());
        publish(&index, &units);
        index
    };
    let folder = tempfile::tempdir().unwrap();
    let whole = made(&folder.path().join("whole"));
    let before = std::fs::read(whole.base(1)).unwrap();
    erase(&whole, &BTreeSet::new(), &target);
    let after = std::fs::read(whole.base(1)).unwrap();
    assert_eq!(before.len(), after.len());
    let mut edits: Vec<FileEdit> = before
        .iter()
        .zip(&after)
        .enumerate()
        .filter(|(_, (old, new))| old != new)
        .map(|(at, (_, new))| (at as u64, vec![*new]))
        .collect();
    // The header comes last.
    edits.sort_by_key(|(at, _)| *at < 1024);
    for done in [0, 1, edits.len() / 2, edits.len()] {
        let index = made(&folder.path().join(format!("{done}")));
        let plan = index.folder().join(ERASURE_FILE);
        disk::write_atomic(&plan, &frames::frame(&encode(&vec![(1, edits.clone())]))).unwrap();
        disk::overwrite(&index.base(1), &edits[..done]).unwrap();
        // A reader may come at any time.
        drop(index.open().unwrap().map(|snapshot| everything(&snapshot)));
        drop(index.writer(Duration::ZERO).unwrap());
        assert!(std::fs::read(index.base(1)).unwrap() == after && !plan.exists());
        assert!(index.open().unwrap().unwrap().verify().is_ok());
    }
    // A plan that is not ours is removed, and changes nothing.
    disk::write_atomic(&whole.folder().join(ERASURE_FILE), b"something else").unwrap();
    drop(whole.writer(Duration::ZERO).unwrap());
    assert!(std::fs::read(whole.base(1)).unwrap() == after);
}

proptest! {
    #[test]
    fn b_08_an_index_with_erased_documents_is_one_without_them(
        sizes in prop::collection::vec((0_usize..6, 0_usize..64), 3..9),
        changed in prop::collection::vec((0_usize..9, 0_usize..6, 0_usize..64), 0..6),
        grown in prop::option::of((0_usize..9, 0_usize..4)),
        folded in any::<bool>(),
        paths in prop::collection::btree_set(0_usize..9, 0..3),
        others in prop::collection::vec(0_usize..9, 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |n: usize| format!("{n}.md");
        let made = |n: usize, count: usize, seed: usize, says: usize| telling(&path(n), seed, count, |at| says >> at & 1 == 1);
        let mut truth: std::collections::BTreeMap<String, PreparedUnit> = Default::default();
        let index = RecallIndex::in_folder(folder.path().join("index"));
        let mut units: Vec<PreparedUnit> =
            sizes.iter().enumerate().map(|(n, (count, says))| made(n, *count, n, *says)).collect();
        truth.extend(units.iter().map(|unit| (unit.unit.path.clone(), unit.clone())));
        publish(&index, &units);
        for (round, (n, count, says)) in changed.iter().enumerate() {
            let mut unit = made(*n, *count, 20 + round, *says);
            if *says == 0 {
                unit = SourceUnit { path: path(*n), stamp: None, documents: Vec::new() }.into();
                truth.remove(&path(*n));
            } else {
                truth.insert(path(*n), unit.clone());
            }
            append(&index, vec![unit], &change(1));
            if folded && round % 2 == 0 {
                fold(&index);
            }
        }
        if let Some((n, from)) = grown
            && let Some(unit) = truth.get(&path(n)).filter(|unit| unit.documents.len() >= from)
        {
            append(&index, vec![more(unit, from, from as u32)], &change(2));
        }
        let paths: BTreeSet<String> = paths.into_iter().map(path).collect();
        erase(&index, &paths, &ErasureTarget::new(&[SECRET]));
        let names: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_gone(&index, &names);
        // More is erased later, beside what was.
        let mut gone = paths;
        for other in others {
            let other = BTreeSet::from([path(other)]);
            erase(&index, &other, &ErasureTarget::new(&["x"]));
            gone.extend(other);
        }
        units = truth.into_values().filter_map(|unit| without_secret(unit, &gone)).collect();
        let fresh = RecallIndex::in_folder(folder.path().join("fresh"));
        publish(&fresh, &units);
        let expected = fresh.open().unwrap().unwrap();
        let snapshot = index.open().unwrap().unwrap();
        prop_assert!(snapshot.verify().is_ok());
        prop_assert_eq!(everything(&snapshot), everything(&expected));
        let live: Vec<String> = expected.stamps().into_keys().map(str::to_owned).collect();
        prop_assert_eq!(snapshot.stamps().into_keys().map(str::to_owned).collect::<Vec<_>>(), live.clone());
        for path in &live {
            prop_assert_eq!(snapshot.count_of(path), expected.count_of(path));
        }
        // Everything is found wherever it moves.
        fold(&index);
        prop_assert_eq!(everything(&index.open().unwrap().unwrap()), everything(&expected));
        publish_all(&index);
        prop_assert_eq!(everything(&index.open().unwrap().unwrap()), everything(&expected));
        prop_assert_eq!(index.open().unwrap().unwrap().size().documents, expected.size().documents);
    }
}
