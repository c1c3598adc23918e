//! The bytes of the built-in models, compiled in at an aligned address.

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

pub(crate) fn model() -> &'static [u8] {
    &MODEL_BYTES.bytes
}

pub(crate) fn cross_encoder() -> &'static [u8] {
    &CROSS_ENCODER.bytes
}

pub(crate) fn classifier_bytes() -> &'static [u8] {
    &CLASSIFIER_BYTES.bytes
}
