//! A sentence transformer in a few thousand lines: bytes in, vectors out, without I/O or a loading step.
//!
//! A hook is a new process on every prompt, so the cold latency of a query counts. The weights have eight
//! bits and are in one flat file that is used in place ([`EmbeddingModel::builtin`] is part of the program, others are
//! mapped). The first query reads only what it needs; nothing is parsed, copied or allocated for it.
//! `docs/adr` has the measurements.
//!
//! All instruction sets give bit-identical vectors: integers are exact, and floats are added in a fixed
//! order. So an index made on one machine can be searched on another.

mod builtin;
mod cast;
mod characters;
mod classifier;
mod cross_encoder;
mod error;
mod forward;
mod kernels;
mod layout;
mod model;
mod multilingual;
mod pack;
mod safetensors;
mod scan;
mod tokenize;
mod vocabulary;

pub use classifier::{PairLabels, SentenceClassifier, SentenceLabels};
pub use cross_encoder::{CrossEncoder, MAX_PASSAGE_TOKENS, Passage, TokenizedPrompt};
pub use error::Error;
pub use forward::EncoderScratch;
pub use kernels::KernelPath;
pub use layout::Pooling;
pub use model::{EmbeddingModel, TextRole, TextVocabulary};
pub use multilingual::MultilingualWords;
pub use pack::{ModelFiles, pack, pack_classifier, pack_cross_encoder, pack_words};
pub use scan::{QuantisedVector, dots, quantise};
