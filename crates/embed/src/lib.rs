//! A sentence transformer in a few thousand lines: bytes in, vectors out, without I/O or a loading step.
//!
//! A hook is a new process on every prompt, so the cold latency of a query counts. The weights have eight
//! bits and are in one flat file that is used in place ([`Model::builtin`] is part of the program, others are
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
mod kernels;
mod layout;
mod model;
mod pack;
mod pass;
mod safetensors;
mod scan;
mod tokenize;
mod vocabulary;

pub use classifier::{Classifier, Labels, PairLabels};
pub use cross_encoder::{CrossEncoder, MAX_PASSAGE_TOKENS, Passage, Prompt};
pub use error::Error;
pub use kernels::Path;
pub use layout::Pooling;
pub use model::{Model, Role};
pub use pack::{Folder, pack, pack_classifier, pack_cross_encoder};
pub use pass::Scratch;
pub use scan::{Quantised, dots, quantise};
