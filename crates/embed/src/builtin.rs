//! The bytes of the built-in models, compiled in at an aligned address.

use crate::layout::CHECKSUM_OFFSET;

/// Sections are used in place, so the file itself must start at a multiple of their alignment.
#[repr(C, align(64))]
struct AlignedBytes<Bytes: ?Sized> {
    bytes: Bytes,
}

static MODEL_BYTES: &AlignedBytes<[u8]> =
    &AlignedBytes { bytes: *include_bytes!("../../../models/all-minilm-l6-v2.rkm") };
static CROSS_ENCODER: &AlignedBytes<[u8]> =
    &AlignedBytes { bytes: *include_bytes!("../../../models/reader.rkr") };
static CLASSIFIER_BYTES: &AlignedBytes<[u8]> =
    &AlignedBytes { bytes: *include_bytes!("../../../models/statements.rkc") };

static MULTILINGUAL_BYTES: &AlignedBytes<[u8]> =
    &AlignedBytes { bytes: *include_bytes!("../../../models/multilingual.rkw") };

/// The checksum in the header of the multilingual vocabulary, known at build time, so that asking for it maps no page.
pub(crate) const MULTILINGUAL_CHECKSUM: u64 = {
    let bytes = include_bytes!("../../../models/multilingual.rkw");
    let mut checksum = [0; 8];
    let mut at = 0;
    while at < checksum.len() {
        checksum[at] = bytes[CHECKSUM_OFFSET + at];
        at += 1;
    }
    u64::from_le_bytes(checksum)
};

pub(crate) fn multilingual() -> &'static [u8] {
    &MULTILINGUAL_BYTES.bytes
}

pub(crate) fn model() -> &'static [u8] {
    &MODEL_BYTES.bytes
}

pub(crate) fn cross_encoder() -> &'static [u8] {
    &CROSS_ENCODER.bytes
}

pub(crate) fn classifier_bytes() -> &'static [u8] {
    &CLASSIFIER_BYTES.bytes
}
