//! The bytes of the built-in model, compiled in at an address where they can be used.

/// Sections are read in place, so the file itself must start at a multiple of their alignment.
#[repr(C, align(64))]
struct Aligned<Bytes: ?Sized> {
    bytes: Bytes,
}

static FILE: &Aligned<[u8]> = &Aligned { bytes: *include_bytes!("../../../models/all-minilm-l6-v2.rkm") };

pub(crate) fn bytes() -> &'static [u8] {
    &FILE.bytes
}
