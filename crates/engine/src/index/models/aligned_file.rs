//! The bytes of a model file at an aligned address, as the weights require.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The alignment of the first byte.
const ALIGNMENT_BYTES: usize = 64;

/// The number of bytes of a model file that identify it.
const HEAD_BYTES: u64 = 512;

/// Reads the first bytes of the file.
pub(super) fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.0.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        // Opening a pipe would block forever.
        return Err(io::Error::other("it is not a file"));
    }
    Ok((File::open(path)?, metadata.len()))
}

/// A file in memory at an aligned address.
pub(super) struct AlignedFile {
    room: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedFile {
    /// Reads the file. Copying it costs 15 ms of processor time for a model of the built-in one's size, which
    /// itself takes 5 ms from start to vector. A mapping would avoid the copy; this is the only place to
    /// change for it.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let (mut file, length) = open(path)?;
        let mut memory = Self::with_room(usize::try_from(length).map_err(io::Error::other)?);
        file.read_exact(memory.bytes_mut())?;
        Ok(memory)
    }

    /// Copies `bytes`, for a model without a file.
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

    /// Leaks the bytes, so that they live until the process ends.
    pub(super) fn leak(self) -> &'static [u8] {
        let Self { room, start, length } = self;
        &room.leak()[start..start + length]
    }
}
