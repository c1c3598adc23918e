//! What can be wrong with a model.

/// Why bytes are not a model, or files cannot be made into one. Every message names the place.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The file does not begin as a model file does.
    #[error("not a model file: it does not begin with the magic bytes; make one with `rekindle model add`")]
    Foreign,
    /// The file is of a layout this program does not read.
    #[error("model file of version {found}, this program reads version {supported}; add the model again")]
    Version {
        /// What the file says.
        found: u32,
        /// What this program reads.
        supported: u32,
    },
    /// The file ends too early, or goes on for too long.
    #[error("model file of {found} bytes, but {part} needs it to be {expected}; copy or add the model again")]
    Length {
        /// The part that was being read.
        part: &'static str,
        /// How long the file would have to be.
        expected: u64,
        /// How long it is.
        found: u64,
    },
    /// A number in the header makes no sense.
    #[error("model file is damaged: {field} is {value} (byte {at}); copy or add the model again")]
    Header {
        /// The name of the number.
        field: &'static str,
        /// What it is.
        value: u64,
        /// Where it is.
        at: usize,
    },
    /// The bytes do not start at a multiple of 64, so the weights cannot be used where they are.
    #[error(
        "model bytes start at an address that is not a multiple of 64; map the file instead of slicing it"
    )]
    Misaligned,
    /// The checksum over the weights does not match.
    #[error(
        "model file is damaged: its checksum is {found:016x}, the header says {expected:016x}; copy it again"
    )]
    Checksum {
        /// What the header says.
        expected: u64,
        /// What the bytes give.
        found: u64,
    },
    /// A reader that was made for another vocabulary, or for other vectors of words.
    #[error("reader {reader:?} was not made for the words of {model:?}; make it again over that model")]
    OtherWords {
        /// The name of the reader.
        reader: String,
        /// The name of the model.
        model: String,
    },
    /// A source file cannot be made into a model.
    #[error("{file}: {problem}")]
    Source {
        /// The file, by its usual name.
        file: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}
