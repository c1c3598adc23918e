//! A cross-encoder: reads a prompt and a memory together and estimates if the memory is useful for the
//! prompt.
//!
//! Two embeddings show the topics of two texts but lose the details. A cross-encoder sees the words of both
//! at once, so it can tell a note about the same thing from one that answers the prompt. For every pair that
//! costs as much as embedding both, so it is used only for the few hits that cheaper signals leave undecided.

use std::sync::OnceLock;

use crate::layout::{HEADER, Header, Kind, Verdict, checksum};
use crate::pass::{Scratch, judge};
use crate::{Error, Model, builtin};

/// The maximum number of tokens of a prompt, from its start and its end; pasted text tends to be in the
/// middle.
const PROMPT: usize = 64;
/// The maximum number of tokens of a memory.
const MEMORY: usize = 120;

/// A cross-encoder over the word embeddings of a [`Model`]. The weights are used in place.
#[derive(Debug)]
pub struct Reader<'a> {
    model: &'a Model<'a>,
    header: Header,
    verdict: Verdict<'a>,
    bytes: &'a [u8],
}

/// A tokenized prompt, for use with any number of memories.
#[derive(Debug, Clone)]
pub struct Prompt(Vec<u32>);

impl<'a> Reader<'a> {
    /// The built-in cross-encoder. The first call reads a few hundred bytes.
    pub fn builtin() -> &'static Reader<'static> {
        static READER: OnceLock<Reader<'static>> = OnceLock::new();
        READER.get_or_init(|| match Reader::from_bytes(Model::builtin(), builtin::reader()) {
            Ok(reader) => reader,
            Err(error) => unreachable!("the tests read the same bytes: {error}"),
        })
    }

    /// A cross-encoder for the word embeddings of `model`, from a file's bytes, which must start at a
    /// multiple of 64.
    pub fn from_bytes(model: &'a Model<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(Kind::Reader, bytes)?;
        let verdict = Verdict::read(&header, bytes, 1)?;
        if (header.vocabulary, header.hidden) != model.shape() {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        // Two texts, with a special token before, between and after them.
        if header.max_tokens < PROMPT + MEMORY + 3 {
            return Err(header.too_few_tokens());
        }
        Ok(Self { model, header, verdict, bytes })
    }

    /// Reads the whole file and verifies its checksum.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// Tokenizes a prompt. Of a long one only the first and the last tokens count.
    pub fn prompt(&self, text: &str) -> Prompt {
        let mut ids = self.model.tokenize(text);
        if ids.len() > PROMPT + 2 {
            // A special token precedes the first half, and another follows the second.
            let halves = (1 + PROMPT / 2, ids.len() - PROMPT / 2 - 1);
            ids.drain(halves.0..halves.1);
        }
        Prompt(ids)
    }

    /// The log-odds that `memory` is useful for `prompt`. The result is bit-identical on every processor.
    pub fn read(&self, scratch: &mut Scratch, prompt: &Prompt, memory: &str) -> f32 {
        let mut ids = self.model.tokenize(memory);
        if ids.len() > MEMORY + 2 {
            ids.drain(MEMORY + 1..ids.len() - 1);
        }
        // The second text has no special token at its start.
        judge(&self.header, self.model.words(), &self.verdict, scratch, (&prompt.0, &ids[1..]))[0]
    }
}
