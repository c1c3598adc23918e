//! A sentence transformer in a few thousand lines: bytes in, vectors out, no I/O and nothing to load.
//!
//! A hook is a new process on every prompt, so what a query costs is what it costs cold. The weights are eight
//! bits wide and lie in one flat file that is used where it is ([`Model::builtin`] is part of the program, others
//! are mapped); the first query reads what it needs and nothing is parsed, copied or allocated for it. `docs/adr`
//! has the measurements.
//!
//! Every path through the processor gives the same vectors to the bit: integers are exact, and floats are added
//! in one fixed order. An index made on one machine can be searched on another.

mod builtin;
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
