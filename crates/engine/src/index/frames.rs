//! An append-only file of frames with checksums. Readers skip a torn last frame after a crash, and the next
//! writer cuts it off.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use rekindle_core::base::hash::checksum;

const FRAME_HEAD_BYTES: usize = 12;

/// Finds the frames in a file, and the end of the last complete one.
pub(super) fn frames(bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(head) = bytes.get(at..at + FRAME_HEAD_BYTES) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let start = at + FRAME_HEAD_BYTES;
        let Some(payload) = bytes.get(start..start + length) else { break };
        if length == 0 || checksum(payload).to_le_bytes() != head[4..FRAME_HEAD_BYTES] {
            break;
        }
        found.push(start..start + length);
        at = start + length;
    }
    (found, at)
}

/// Frames a payload with its length and checksum.
pub(super) fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FRAME_HEAD_BYTES + payload.len());
    bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&checksum(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Reads a file of frames; a missing file is empty.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// Appends frames after the last complete one. The caller must hold the file's lock. The data is not synced:
/// it can be recomputed, and a torn tail is detected.
pub(super) fn append(path: &Path, whole: usize, framed: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(framed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
        frames(bytes).0.into_iter().map(|range| bytes[range].to_vec()).collect()
    }

    proptest! {
        #[test]
        fn what_was_whole_is_read_back_wherever_it_is_cut(
            written in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 0..6),
            cut in 0.0_f64..1.0,
        ) {
            let bytes: Vec<u8> = written.iter().flat_map(|payload| frame(payload)).collect();
            prop_assert_eq!(payloads(&bytes), written.clone());
            let cut = (bytes.len() as f64 * cut) as usize;
            let (found, whole) = frames(&bytes[..cut]);
            prop_assert!(whole <= cut);
            prop_assert_eq!(payloads(&bytes[..cut]), written[..found.len()].to_vec());
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (found, whole) = frames(&bytes);
            prop_assert!(whole <= bytes.len() && found.iter().all(|range| range.end <= whole));
        }
    }

    #[test]
    fn a_torn_end_is_cut_off_by_the_next_writer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("delta");
        append(&file, 0, &frame(b"one")).unwrap();
        let first = read(&file).unwrap();
        append(&file, first.len(), &frame(b"two")[..9]).unwrap();
        let torn = read(&file).unwrap();
        let (found, whole) = frames(&torn);
        assert_eq!((found.len(), whole), (1, first.len()));
        append(&file, whole, &frame(b"three")).unwrap();
        assert_eq!(payloads(&read(&file).unwrap()), [b"one".to_vec(), b"three".to_vec()]);
    }
}
