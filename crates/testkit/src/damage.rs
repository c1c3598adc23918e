//! Simulates file damage by disks, crashes and editors.

use proptest::prelude::*;

/// The size of the start of a file, which contains headers and tables. Half of the damage goes there.
const BEGINNING: usize = 900;

/// Damage to a file: some changed bytes, and sometimes a truncated end.
#[derive(Clone, Debug)]
pub struct ByteDamage {
    changes: Vec<(prop::sample::Index, u8, bool)>,
    end: Option<prop::sample::Index>,
}

/// A strategy for random damage.
pub fn damage() -> impl Strategy<Value = ByteDamage> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..16);
    let end = prop::option::weighted(0.3, any::<prop::sample::Index>());
    (changes, end).prop_map(|(changes, end)| ByteDamage { changes, end })
}

impl ByteDamage {
    /// The damaged file. `file` must not be empty.
    pub fn to(&self, file: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        for (at, value, early) in &self.changes {
            let reach = if *early { file.len().min(BEGINNING) } else { file.len() };
            file[at.index(reach)] = *value;
        }
        if let Some(end) = self.end {
            file.truncate(end.index(file.len()));
        }
        file
    }
}

/// The indexes, from 0, of the lines that are unchanged at the same position.
pub fn intact_lines(before: &[u8], after: &[u8]) -> Vec<usize> {
    let (mut start, mut intact) = (0_usize, Vec::new());
    for (number, line) in before.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let place = start.max(1) - 1..start + line.len();
        if after.get(place.clone()) == before.get(place) {
            intact.push(number);
        }
        start += line.len();
    }
    intact
}
