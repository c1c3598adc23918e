//! Errors of model files.

/// The reason why bytes are not a model, or why files cannot be converted into one. Every message names the
/// position.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The file does not begin with the magic bytes.
    #[error("not a model file: it does not begin with the magic bytes; create one with `rekindle model add`")]
    Foreign,
    /// The file has an unsupported layout version.
    #[error(
        "the model file has version {found}, but this program supports version {supported}; add the model again"
    )]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that this program supports.
        supported: u32,
    },
    /// The file is too short or too long.
    #[error("the model file has {found} bytes, but {part} requires {expected}; copy or add the model again")]
    Length {
        /// The part that was being read.
        part: &'static str,
        /// The expected length of the file.
        expected: u64,
        /// The actual length of the file.
        found: u64,
    },
    /// A number in the header is out of range.
    #[error("model file is damaged: {field} is {value} (byte {at}); copy or add the model again")]
    Header {
        /// The name of the number.
        field: &'static str,
        /// The value of the number.
        value: u64,
        /// Its byte offset in the file.
        at: usize,
    },
    /// The bytes do not start at a multiple of 64, so the weights cannot be used in place.
    #[error(
        "model bytes start at an address that is not a multiple of 64; map the file instead of slicing it"
    )]
    Misaligned,
    /// The checksum of the weights does not match.
    #[error(
        "model file is damaged: its checksum is {found:016x}, the header says {expected:016x}; copy it again"
    )]
    Checksum {
        /// The checksum in the header.
        expected: u64,
        /// The checksum of the bytes.
        found: u64,
    },
    /// A cross-encoder belongs to a different vocabulary or to different word embeddings.
    #[error(
        "cross-encoder {reader:?} does not use the vocabulary of {model:?}; build it again for that model"
    )]
    OtherWords {
        /// The id of the cross-encoder.
        reader: String,
        /// The id of the model.
        model: String,
    },
    /// A source file cannot be converted into a model.
    #[error("{file}: {problem}")]
    Source {
        /// The file, by its usual name.
        file: &'static str,
        /// The error in words.
        problem: String,
    },
}
