//! A sentence transformer: embeds texts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::forward::{EncoderScratch, WordTables, run};
use crate::layout::{EmbedderSections, HEADER_BYTES, ModelHeader, ModelKind, Pooling, checksum};
use crate::multilingual::MultilingualWords;
use crate::tokenize::{MULTILINGUAL_ID, TokenizerRules, tokenize};
use crate::{Error, builtin};

/// The number of tokens per run of a batch: enough to use each weight many times while it is in the cache,
/// few enough that the rows stay there too.
const MAX_RUN_TOKENS: usize = 256;
/// The number of texts per work item of a thread.
const TEXTS_PER_THREAD_SHARE: usize = 16;

/// The role of a text. Some models require a prefix for it; the built-in one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// A text to search with.
    Query,
    /// A text to find.
    Passage,
}

/// The vocabulary that a text is read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextVocabulary {
    /// The vocabulary of the model itself.
    English,
    /// The vocabulary for German, Spanish, French and Portuguese; a model without one reads the text as English.
    Multilingual,
}

/// A sentence transformer. The weights are used in place.
#[derive(Debug)]
pub struct EmbeddingModel<'a> {
    header: ModelHeader,
    sections: EmbedderSections<'a>,
    /// Opens the multilingual vocabulary, when the first text needs it.
    multilingual: Option<fn() -> &'static MultilingualWords<'static>>,
    bytes: &'a [u8],
}

impl<'a> EmbeddingModel<'a> {
    /// The built-in model, all-MiniLM-L6-v2. The first call reads a few hundred bytes.
    pub fn builtin() -> &'static EmbeddingModel<'static> {
        static MODEL: OnceLock<EmbeddingModel<'static>> = OnceLock::new();
        MODEL.get_or_init(|| match EmbeddingModel::from_bytes(builtin::model()) {
            Ok(model) => EmbeddingModel { multilingual: Some(MultilingualWords::builtin), ..model },
            Err(error) => unreachable!("the tests read the same bytes: {error}"),
        })
    }

    /// A model from a file's bytes, which must start at a multiple of 64, as a mapped file does. Checks only
    /// the header and the sizes; see [`EmbeddingModel::verify`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = ModelHeader::read(ModelKind::Embedder, bytes)?;
        let sections = EmbedderSections::read(&header, bytes)?;
        Ok(Self { header, sections, multilingual: None, bytes })
    }

    /// Reads the whole file and verifies its checksum. This takes longer than embedding a query, so use it
    /// only when a model is added or in doubt.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER_BYTES..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// The id under which vectors of this model are stored (STO-11).
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The checksum of its bytes, which distinguishes two models with the same id.
    pub fn checksum(&self) -> u64 {
        self.header.checksum
    }

    /// The number of dimensions of a vector.
    pub fn dimension(&self) -> usize {
        self.header.hidden
    }

    /// The maximum number of tokens of a text, including the two special ones.
    pub fn max_tokens(&self) -> usize {
        self.header.max_tokens
    }

    /// The pooling of token vectors.
    pub fn pooling(&self) -> Pooling {
        self.header.pooling
    }

    /// The token ids of `text` without a prefix, at most [`EmbeddingModel::max_tokens`] of them.
    pub fn tokenize(&self, text: &str) -> Vec<u32> {
        self.tokenize_as(TextVocabulary::English, text)
    }

    /// The same with a vocabulary.
    pub(crate) fn tokenize_as(&self, vocabulary: TextVocabulary, text: &str) -> Vec<u32> {
        let multilingual = self.multilingual.filter(|_| vocabulary == TextVocabulary::Multilingual);
        let rules = TokenizerRules {
            vocabulary: self.sections.vocabulary,
            multilingual: multilingual.map(|open| open().vocabulary()),
            special: self.header.special,
            uncased: self.header.uncased,
            max_tokens: self.header.max_tokens,
        };
        tokenize(&rules, text)
    }

    /// The word embeddings that `ids` refer to, also for a cross-encoder that shares them.
    pub(crate) fn word_tables<'i>(&self, mut ids: impl Iterator<Item = &'i u32>) -> WordTables<'_> {
        let is_multilingual = ids.any(|id| id & MULTILINGUAL_ID != 0);
        let multilingual = self.multilingual.filter(|_| is_multilingual);
        WordTables { english: &self.sections.words, multilingual: multilingual.map(|open| open().words()) }
    }

    /// The checksum of the multilingual vocabulary, which tells its vectors from those of another one. It is known
    /// without reading the vocabulary.
    pub fn multilingual_checksum(&self) -> Option<u64> {
        self.multilingual.map(|_| builtin::MULTILINGUAL_CHECKSUM)
    }

    /// The vocabulary size and the hidden size, which a cross-encoder must match.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.header.vocabulary, self.header.hidden)
    }

    /// The embedding of `text`, of unit length. It is bit-identical on every processor, alone or in a batch.
    pub fn embed(&self, scratch: &mut EncoderScratch, role: TextRole, text: &str) -> Vec<f32> {
        self.embed_as(scratch, role, TextVocabulary::English, text)
    }

    /// The same with a vocabulary.
    pub fn embed_as(
        &self,
        scratch: &mut EncoderScratch,
        role: TextRole,
        vocabulary: TextVocabulary,
        text: &str,
    ) -> Vec<f32> {
        self.run(scratch, &[self.ids(role, vocabulary, text)]).pop().unwrap_or_default()
    }

    fn run(&self, scratch: &mut EncoderScratch, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        run(&self.header, &self.sections, self.word_tables(texts.iter().flatten()), scratch, texts)
    }

    /// Touches the layers, so that a thread that is embedding a text in a new process finds them mapped.
    pub fn prefetch_layers(&self) {
        self.sections.encoder.prefetch();
    }

    /// The embeddings of `texts` in order, computed by up to `threads` threads.
    pub fn embed_batch(&self, role: TextRole, texts: &[&str], threads: usize) -> Vec<Vec<f32>> {
        let texts: Vec<(TextVocabulary, &str)> =
            texts.iter().map(|text| (TextVocabulary::English, *text)).collect();
        self.embed_batch_as(role, &texts, threads)
    }

    /// The same with a vocabulary for each text.
    pub fn embed_batch_as(
        &self,
        role: TextRole,
        texts: &[(TextVocabulary, &str)],
        threads: usize,
    ) -> Vec<Vec<f32>> {
        let shares: Vec<&[(TextVocabulary, &str)]> = texts.chunks(TEXTS_PER_THREAD_SHARE).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch = EncoderScratch::new();
            let mut done = Vec::new();
            while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                // The position of the share, to restore the order of results.
                let place = share.as_ptr() as usize;
                done.push((place, self.embed_share(&mut scratch, role, share)));
            }
            done
        };
        let helpers = threads.min(shares.len()).saturating_sub(1);
        let mut done = std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for helper in helpers {
                match helper.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        done.sort_unstable_by_key(|&(place, _)| place);
        done.into_iter().flat_map(|(_, vectors)| vectors).collect()
    }

    fn embed_share(
        &self,
        scratch: &mut EncoderScratch,
        role: TextRole,
        share: &[(TextVocabulary, &str)],
    ) -> Vec<Vec<f32>> {
        let mut vectors = Vec::with_capacity(share.len());
        let mut waiting = Vec::new();
        let mut tokens = 0;
        for &(vocabulary, text) in share {
            let ids = self.ids(role, vocabulary, text);
            if tokens + ids.len() > MAX_RUN_TOKENS && !waiting.is_empty() {
                vectors.extend(self.run(scratch, &waiting));
                waiting.clear();
                tokens = 0;
            }
            tokens += ids.len();
            waiting.push(ids);
        }
        if !waiting.is_empty() {
            vectors.extend(self.run(scratch, &waiting));
        }
        vectors
    }

    fn ids(&self, role: TextRole, vocabulary: TextVocabulary, text: &str) -> Vec<u32> {
        let prefix = match role {
            TextRole::Query => &self.header.query_prefix,
            TextRole::Passage => &self.header.passage_prefix,
        };
        if prefix.is_empty() {
            self.tokenize_as(vocabulary, text)
        } else {
            self.tokenize_as(vocabulary, &format!("{prefix}{text}"))
        }
    }
}
