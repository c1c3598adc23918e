//! The multilingual vocabulary: pieces of German, Spanish, French and Portuguese words with embeddings that the layers
//! of the built-in models read like English ones (`models/README.md`).
//!
//! So one set of layers serves all languages, and vectors of texts in different languages can be compared. English texts
//! never touch it.

use std::sync::OnceLock;

use crate::layout::{HEADER_BYTES, ModelHeader, ModelKind, WordEmbeddings, checksum, read_words};
use crate::vocabulary::Vocabulary;
use crate::{EmbeddingModel, Error, builtin};

/// A multilingual vocabulary with its word embeddings, used in place.
#[derive(Debug)]
pub struct MultilingualWords<'a> {
    header: ModelHeader,
    vocabulary: Vocabulary<'a>,
    words: WordEmbeddings<'a>,
    bytes: &'a [u8],
}

impl<'a> MultilingualWords<'a> {
    /// The built-in vocabulary. The first call reads a few hundred bytes.
    pub fn builtin() -> &'static MultilingualWords<'static> {
        static WORDS: OnceLock<MultilingualWords<'static>> = OnceLock::new();
        WORDS.get_or_init(|| {
            match MultilingualWords::from_bytes(EmbeddingModel::builtin(), builtin::multilingual()) {
                Ok(words) => words,
                Err(error) => unreachable!("the tests read the same bytes: {error}"),
            }
        })
    }

    /// A vocabulary for the layers of `model`, from a file's bytes, which must start at a multiple of 64.
    pub fn from_bytes(model: &EmbeddingModel<'_>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = ModelHeader::read(ModelKind::Words, bytes)?;
        let (vocabulary, words) = read_words(&header, bytes)?;
        // Its second prefix is the checksum of the model that it was made for.
        let is_fitting = header.hidden == model.dimension()
            && header.passage_prefix == format!("{:016x}", model.checksum());
        if !is_fitting {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        Ok(Self { header, vocabulary, words, bytes })
    }

    /// Reads the whole file and verifies its checksum.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER_BYTES..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// The number of its pieces.
    pub fn pieces(&self) -> usize {
        self.header.vocabulary
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn vocabulary(&self) -> Vocabulary<'a> {
        self.vocabulary
    }

    pub(crate) fn words(&self) -> &WordEmbeddings<'a> {
        &self.words
    }
}
