//! The bytes of a model file, where the weights can be used: at a multiple of 64.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// What the first byte's address has to be a multiple of.
const ALIGNMENT_BYTES: usize = 64;

/// What tells one model file from another.
const HEAD_BYTES: u64 = 512;

/// The first bytes of the file.
pub(super) fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.0.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        // Opening a pipe would wait for ever.
        return Err(io::Error::other("it is not a file"));
    }
    Ok((File::open(path)?, metadata.len()))
}

/// A whole file in memory.
pub(super) struct AlignedFile {
    room: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedFile {
    /// Reads the file. The whole of it is copied before the first question: 15 ms of processor for a model of the
    /// built-in one's size, where that one takes 5 ms from start to vector. A mapping would not do that; this is the one
    /// place to change for it.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let (mut file, length) = open(path)?;
        let mut memory = Self::with_room(usize::try_from(length).map_err(io::Error::other)?);
        file.read_exact(memory.bytes_mut())?;
        Ok(memory)
    }

    /// A copy of `bytes`, for a model that is no file yet.
    pub(super) fn copy(bytes: &[u8]) -> Self {
        let mut memory = Self::with_room(bytes.len());
        memory.bytes_mut().copy_from_slice(bytes);
        memory
    }

    fn with_room(length: usize) -> Self {
        let room = vec![0; length + ALIGNMENT_BYTES];
        let start = room.as_ptr().align_offset(ALIGNMENT_BYTES);
        Self { room, start, length }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.length]
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.start + self.length]
    }

    /// The same bytes until the process ends.
    pub(super) fn forever(self) -> &'static [u8] {
        let Self { room, start, length } = self;
        &room.leak()[start..start + length]
    }
}
