//! Memory-mapped files, read in place.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file that is never changed in place.
#[derive(Debug)]
pub struct MappedFile(MappedBytes);

#[derive(Debug)]
enum MappedBytes {
    /// The bytes read into memory: for empty files, and systems without mmap.
    Read(Vec<u8>),
    #[cfg(unix)]
    Mapped(pages::MappedPages),
}

impl MappedFile {
    /// Maps the current content of a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Self::of(&file, length)
    }

    #[cfg(unix)]
    fn of(file: &File, length: usize) -> io::Result<Self> {
        match length {
            0 => Ok(Self(MappedBytes::Read(Vec::new()))),
            _ => Ok(Self(MappedBytes::Mapped(pages::MappedPages::new(file, length)?))),
        }
    }

    #[cfg(not(unix))]
    fn of(mut file: &File, length: usize) -> io::Result<Self> {
        let mut bytes = Vec::with_capacity(length);
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(Self(MappedBytes::Read(bytes)))
    }

    /// Advises the system to load a part of the file at once instead of page by page.
    pub fn will_need(&self, from: usize, length: usize) {
        #[cfg(unix)]
        if let MappedBytes::Mapped(pages) = &self.0 {
            pages.populate(from, length);
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
            #[cfg(unix)]
            MappedBytes::Mapped(pages) => pages.bytes(),
        }
    }
}

#[cfg(unix)]
mod pages {
    #![expect(unsafe_code, reason = "the system hands out mapped memory as a pointer")]

    use std::ffi::c_void;
    use std::fs::File;
    use std::io;
    use std::ptr::NonNull;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

    /// The mapped pages of a file, unmapped on drop.
    #[derive(Debug)]
    pub(super) struct MappedPages {
        start: NonNull<c_void>,
        length: usize,
    }

    // SAFETY: the pages are only read, and live as long as this value.
    unsafe impl Send for MappedPages {}
    // SAFETY: as for `Send`, the pages are only read.
    unsafe impl Sync for MappedPages {}

    impl MappedPages {
        pub(super) fn new(file: &File, length: usize) -> io::Result<Self> {
            // SAFETY: a fresh, read-only mapping. Writers of such a file create it under another name first
            // and never change its length again, so no page of it disappears under a reader.
            let start =
                unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0)? };
            let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
            let pages = Self { start, length };
            #[cfg(target_os = "linux")]
            pages.in_large_pieces();
            Ok(pages)
        }

        /// Asks for huge pages for the parts that are not in memory yet. A freshly written file stays in such
        /// pages, but only until the system reclaims its memory: with normal pages, 60 MB take 0.6 to 3.4 ms
        /// to map (docs/adr/0029).
        #[cfg(target_os = "linux")]
        fn in_large_pieces(&self) {
            // SAFETY: the range is within the mapping, and advice changes nothing that can be observed.
            let advised = unsafe { madvise(self.start.as_ptr(), self.length, Advice::LinuxHugepage) };
            // Not every kernel supports huge pages.
            advised.unwrap_or_default();
        }

        pub(super) fn bytes(&self) -> &[u8] {
            // SAFETY: `new` mapped `length` bytes from `start`, and they stay until this value is dropped.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length) }
        }

        pub(super) fn populate(&self, from: usize, length: usize) {
            let from = (from.min(self.length) / 4096) * 4096;
            let length = length.min(self.length - from);
            #[cfg(target_os = "linux")]
            let advice = Advice::LinuxPopulateRead;
            #[cfg(not(target_os = "linux"))]
            let advice = Advice::WillNeed;
            // SAFETY: the range is within the mapping, and advice changes nothing that can be observed.
            let advised = unsafe { madvise(self.start.as_ptr().byte_add(from), length, advice) };
            // An older kernel does not support the advice; it then loads page by page.
            advised.unwrap_or_default();
        }
    }

    impl Drop for MappedPages {
        fn drop(&mut self) {
            // SAFETY: `new` made the mapping, and no reference to a part of it remains.
            let unmapped = unsafe { munmap(self.start.as_ptr(), self.length) };
            unmapped.unwrap_or_default();
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
            crate::platform::disk::write_whole(&file, &bytes).unwrap();
            let mapped = MappedFile::open(&file).unwrap();
            mapped.will_need(0, length);
            mapped.will_need(length + 1, 5);
            mapped.will_need(length / 2, usize::MAX / 2);
            assert_eq!(*mapped, bytes[..]);
        }
        assert!(MappedFile::open(&folder.path().join("missing")).is_err());
    }
}
