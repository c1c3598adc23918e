//! Memory-mapped files, read in place.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

#[cfg(unix)]
use memmap2::Advice;
use memmap2::{Mmap, MmapOptions};
use rekindle_core::base::ignore_failure::IgnoreFailure as _;

/// The bytes of a file that never changes its length.
#[derive(Debug)]
pub struct MappedFile(MappedBytes);

#[derive(Debug)]
enum MappedBytes {
    /// Bytes in memory that have no file.
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl MappedFile {
    /// Maps the current content of a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        #[expect(unsafe_code, reason = "the mapping is sound only while nobody shortens the file")]
        // SAFETY: a fresh, read-only mapping. Writers of such a file create it under another name first and never
        // change its length again, so no page of it disappears under a reader. Only the erasure of forgotten text
        // changes its bytes, and readers check every access.
        let pages = unsafe { MmapOptions::new().map_copy_read_only(&File::open(path)?)? };
        // Huge pages for the parts that are not in memory yet. A freshly written file stays in such pages, but
        // only until the system reclaims its memory: with normal pages, 60 MB take 0.6 to 3.4 ms to map
        // (docs/adr/0029).
        #[cfg(target_os = "linux")]
        pages.advise(Advice::HugePage).ignore_failure("not every kernel supports huge pages");
        Ok(Self(MappedBytes::Mapped(pages)))
    }

    /// Advises the system to load a part of the file at once instead of page by page.
    pub fn advise_will_need(&self, from: usize, length: usize) {
        #[cfg(unix)]
        if let MappedBytes::Mapped(pages) = &self.0 {
            let from = from.min(pages.len());
            let length = length.min(pages.len() - from);
            #[cfg(target_os = "linux")]
            let advice = Advice::PopulateRead;
            #[cfg(not(target_os = "linux"))]
            let advice = Advice::WillNeed;
            pages
                .advise_range(advice, from, length)
                .ignore_failure("an older kernel does not support the advice and loads page by page");
        }
        #[cfg(not(unix))]
        let _ = (from, length);
    }

    /// Returns the memory of a part that was read. It is loaded again when somebody reads it, so this changes no
    /// result: it keeps a process small that reads a large file once.
    pub fn release(&self, from: usize, length: usize) {
        #[cfg(unix)]
        if let MappedBytes::Mapped(pages) = &self.0 {
            let from = from.min(pages.len());
            let length = length.min(pages.len() - from);
            #[expect(unsafe_code, reason = "the advice is sound only for a mapping that nobody writes to")]
            // SAFETY: the mapping is read-only, so its pages have no content but that of the file.
            let released =
                unsafe { pages.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, length) };
            released.ignore_failure("the system takes the memory back later");
        }
        #[cfg(not(unix))]
        let _ = (from, length);
    }
}

impl From<Vec<u8>> for MappedFile {
    fn from(bytes: Vec<u8>) -> Self {
        Self(MappedBytes::Read(bytes))
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            MappedBytes::Read(bytes) => bytes,
            MappedBytes::Mapped(pages) => pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        for length in [0, 1, 4095, 4096, 10_000, 5_000_000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
            crate::platform::disk::write_atomic(&file, &bytes).unwrap();
            let mapped = MappedFile::open(&file).unwrap();
            mapped.advise_will_need(0, length);
            mapped.advise_will_need(length + 1, 5);
            mapped.advise_will_need(length / 2, usize::MAX / 2);
            mapped.release(0, length);
            mapped.release(length / 3, usize::MAX / 2);
            assert_eq!(*mapped, bytes[..]);
        }
        assert!(MappedFile::open(&folder.path().join("missing")).is_err());
    }
}
