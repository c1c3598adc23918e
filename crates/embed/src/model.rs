//! A model, ready for use.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::layout::{HEADER, Header, Kind, Pooling, Sections, Words, checksum};
use crate::pass::{Scratch, run};
use crate::tokenize::{Rules, tokenize};
use crate::{Error, builtin};

/// Tokens in one run of a batch: enough to use each weight many times while it is in the cache, few enough that
/// the rows stay there too.
const RUN: usize = 256;
/// Bytes that are mapped at once.
const MAPPED_AROUND: usize = 16 * 1024;
/// Texts a thread takes at a time.
const SHARE: usize = 16;

/// What a text is for. Some models want to be told by a prefix; the built-in one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Something that looks for something.
    Query,
    /// Something to be found.
    Passage,
}

/// A sentence transformer whose weights stay where the bytes are.
#[derive(Debug)]
pub struct Model<'a> {
    header: Header,
    sections: Sections<'a>,
    bytes: &'a [u8],
}

impl<'a> Model<'a> {
    /// The model in this program: all-MiniLM-L6-v2. The first call looks at a few hundred bytes.
    pub fn builtin() -> &'static Model<'static> {
        static MODEL: OnceLock<Model<'static>> = OnceLock::new();
        MODEL.get_or_init(|| match Model::from_bytes(builtin::model()) {
            Ok(model) => model,
            Err(error) => unreachable!("the tests read the same bytes: {error}"),
        })
    }

    /// A model from a file's bytes, which must start at a multiple of 64, as a mapped file does. Only the header
    /// and the sizes are looked at; see [`Model::verify`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(Kind::Embedder, bytes)?;
        let sections = Sections::read(&header, bytes)?;
        Ok(Self { header, sections, bytes })
    }

    /// Reads the whole file to see whether it is as it was made. For when a model is added or doubted: it takes
    /// longer than embedding a question.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// The name under which vectors of this model are kept apart from others (STO-11).
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The sum of its bytes: two models with one name are still two.
    pub fn checksum(&self) -> u64 {
        self.header.checksum
    }

    /// The length of a vector.
    pub fn dim(&self) -> usize {
        self.header.hidden
    }

    /// How many tokens of a text are read, the two at its ends included.
    pub fn max_tokens(&self) -> usize {
        self.header.max_tokens
    }

    /// How the vectors of the tokens become one.
    pub fn pooling(&self) -> Pooling {
        self.header.pooling
    }

    /// The ids of `text` without a prefix, at most [`Model::max_tokens`] of them.
    pub fn tokenize(&self, text: &str) -> Vec<u32> {
        let rules = Rules {
            vocabulary: self.sections.vocabulary,
            special: self.header.special,
            uncased: self.header.uncased,
            max_tokens: self.header.max_tokens,
        };
        tokenize(&rules, text)
    }

    /// Its table of words, for a reader that shares it.
    pub(crate) fn words(&self) -> &Words<'a> {
        &self.sections.words
    }

    /// The number of its words and the width of their vectors, which a reader has to have, too.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.header.vocabulary, self.header.hidden)
    }

    /// The vector of `text`, of length one. The same bits on every processor, alone or in a batch.
    pub fn embed(&self, scratch: &mut Scratch, role: Role, text: &str) -> Vec<f32> {
        let ids = self.ids(role, text);
        run(&self.header, &self.sections, scratch, &[ids]).pop().unwrap_or_default()
    }

    /// Looks at the layers, the last one first, so that a thread which is at work on a text in a new process finds them mapped
    /// when it gets there. A system maps some pages around the one that is looked at.
    pub fn warm(&self) {
        for layer in self.sections.encoder.layers.iter().rev() {
            for weights in [&layer.down, &layer.up, &layer.context, &layer.qkv].map(|linear| linear.weights) {
                weights.iter().rev().step_by(MAPPED_AROUND).for_each(|weight| {
                    std::hint::black_box(*weight);
                });
            }
        }
    }

    /// The vectors of `texts`, in their order, worked out by up to `threads` threads.
    pub fn embed_batch(&self, role: Role, texts: &[&str], threads: usize) -> Vec<Vec<f32>> {
        let shares: Vec<&[&str]> = texts.chunks(SHARE).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch = Scratch::new();
            let mut done = Vec::new();
            while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                // Where the share began, to put the threads' results in order.
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

    fn embed_share(&self, scratch: &mut Scratch, role: Role, share: &[&str]) -> Vec<Vec<f32>> {
        let mut vectors = Vec::with_capacity(share.len());
        let mut waiting = Vec::new();
        let mut tokens = 0;
        for text in share {
            let ids = self.ids(role, text);
            if tokens + ids.len() > RUN && !waiting.is_empty() {
                vectors.extend(run(&self.header, &self.sections, scratch, &waiting));
                waiting.clear();
                tokens = 0;
            }
            tokens += ids.len();
            waiting.push(ids);
        }
        if !waiting.is_empty() {
            vectors.extend(run(&self.header, &self.sections, scratch, &waiting));
        }
        vectors
    }

    fn ids(&self, role: Role, text: &str) -> Vec<u32> {
        let prefix = match role {
            Role::Query => &self.header.query_prefix,
            Role::Passage => &self.header.passage_prefix,
        };
        if prefix.is_empty() { self.tokenize(text) } else { self.tokenize(&format!("{prefix}{text}")) }
    }
}
