use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::index::build::{PreparedUnit, build};
use crate::index::format::VectorSpace;
use crate::index::snapshot::IndexSnapshot;
use crate::index::tests::{more, space, unit, up_to};

/// A change to a file of the index.
#[derive(Clone, Debug)]
enum MergeStep {
    Whole(usize),
    Grown { from: usize, to: usize },
    Gone,
}

fn step() -> impl Strategy<Value = (usize, MergeStep)> {
    let step = prop_oneof![
        4 => (0_usize..12).prop_map(MergeStep::Whole),
        4 => (0_usize..12, 0_usize..6).prop_map(|(from, by)| MergeStep::Grown { from, to: from + by }),
        1 => Just(MergeStep::Gone),
    ];
    (0_usize..5, step)
}

fn applied(file: usize, seed: usize, step: &MergeStep) -> PreparedUnit {
    let path = format!("{file}.md");
    let mut unit = match step {
        MergeStep::Whole(count) => unit(&path, seed, *count),
        MergeStep::Grown { from, to } => more(&unit(&path, file, *to), *from, *from as u32),
        MergeStep::Gone => {
            let mut gone = up_to(&unit(&path, seed, 1), 0);
            gone.unit.stamp = None;
            gone
        }
    };
    // Some texts have no vector.
    for prepared in unit.documents.iter_mut().skip(seed % 7) {
        if let Some((_, vector)) = prepared.windows.first_mut().filter(|_| seed.is_multiple_of(3)) {
            *vector = None;
        }
    }
    unit
}

fn without_vectors(mut unit: PreparedUnit) -> PreparedUnit {
    for prepared in &mut unit.documents {
        prepared.windows.iter_mut().chain(&mut prepared.fine).for_each(|(_, vector)| *vector = None);
    }
    unit
}

#[test]
fn sto_15_before_the_first_vector_there_is_no_room_for_any() {
    let units = || vec![unit("a.md", 1, 20)];
    let full = build(&space(), units());
    let bare = build(&space(), units().into_iter().map(without_vectors).collect());
    assert!(bare.len() + 20 * space().dimension <= full.len(), "{} and {}", bare.len(), full.len());
    let segment = IndexSegment::open(bare.into()).unwrap();
    assert!(segment.vectors().is_empty() && segment.windows_of(3).count() == 1, "the windows are there");
    assert_eq!(segment.pending(), segment.windows() + segment.fine_windows());
    assert!(segment.windows_of(3).chain(segment.fine_of(3)).all(|stored| stored.vector().is_none()));
    assert!(segment.document(3).is_some());
}

fn written(merge: &SegmentMerge<'_>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    merge.verify().unwrap();
    merge.write(&mut bytes).unwrap();
    bytes.into_inner()
}

fn segment(units: Vec<PreparedUnit>) -> IndexSegment {
    IndexSegment::open(build(&space(), units).into()).unwrap()
}

proptest! {
    #[test]
    fn fnd_10_what_is_merged_has_the_bytes_of_what_is_built(
        history in prop::collection::vec(prop::collection::vec(step(), 0..4), 1..7),
        bare in prop::collection::vec(any::<bool>(), 7)
    ) {
        let segments = history.iter().enumerate().map(|(round, steps)| {
            let mut units: BTreeMap<usize, PreparedUnit> = BTreeMap::new();
            for (file, step) in steps {
                let unit = applied(*file, round * 5 + file, step);
                units.insert(*file, if bare[round] { without_vectors(unit) } else { unit });
            }
            segment(units.into_values().collect())
        });
        let segments: Vec<IndexSegment> = segments.collect();
        let count = segments.len();
        let snapshot = IndexSnapshot::new(1, count, segments, None, 0, false);
        for place in 0..count {
            let units = if place == 0 { snapshot.all_units(&space()) } else { snapshot.units_since(place, &space()) };
            let built = build(&space(), units.into_values().collect());
            let merge = snapshot.merge_since(place, &space());
            prop_assert!(written(&merge) == built, "from {} on", place);
        }
    }
}

#[test]
fn segments_side_by_side_keep_every_unit() {
    let parts =
        [vec![unit("b@0", 1, 5), unit("c@0", 2, 300)], vec![unit("a@0", 3, 7)], vec![unit("b@5", 4, 2)]];
    let built = build(&space(), parts.iter().flatten().cloned().collect());
    let segments: Vec<IndexSegment> = parts.into_iter().map(segment).collect();
    assert!(written(&SegmentMerge::of_distinct(segments.iter().collect())) == built);
    // Units with the same name are not merged.
    let twice: Vec<IndexSegment> = (0..2).map(|seed| segment(vec![unit("a@0", seed, 3)])).collect();
    let merged =
        IndexSegment::open(written(&SegmentMerge::of_distinct(twice.iter().collect())).into()).unwrap();
    assert_eq!((merged.units(), merged.documents()), (2, 6));
}

#[test]
fn sto_11_vectors_of_another_model_are_not_copied() {
    let snapshot = IndexSnapshot::new(1, 1, vec![segment(vec![unit("a.md", 1, 2)])], None, 0, false);
    let other = VectorSpace { model: "test/other".to_owned(), dimension: 32 };
    let bare = build(&other, vec![without_vectors(unit("a.md", 1, 2))]);
    assert!(written(&snapshot.merge_since(0, &other)) == bare);
    let wider = VectorSpace { dimension: 48, ..other };
    let bare = build(&wider, vec![without_vectors(unit("a.md", 1, 2))]);
    assert!(written(&snapshot.merge_since(0, &wider)) == bare);
}

#[test]
fn what_is_damaged_is_not_copied() {
    let mut bytes = build(&space(), vec![unit("a.md", 1, 20)]);
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(7);
    let segment = IndexSegment::open(bytes.into()).unwrap();
    assert!(SegmentMerge::of_distinct(vec![&segment]).verify().is_err());
}
