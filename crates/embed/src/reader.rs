//! A model that reads a prompt and a memory together and says whether the one is of use for the other.
//!
//! Two vectors tell what two texts are about, and lose what each says of it. A reader sees the words of both at once, so it
//! can tell a note on the same thing from one that answers. That costs as much as embedding both, for every pair: it
//! is for the few hits about which nothing else decides.

use std::sync::OnceLock;

use crate::layout::{HEADER, Header, Kind, Verdict, checksum};
use crate::pass::{Scratch, judge};
use crate::{Error, Model, builtin};

/// Tokens that are read of a prompt, from its beginning and its end: what is pasted stands between.
const PROMPT: usize = 64;
/// Tokens that are read of a memory.
const MEMORY: usize = 120;

/// A reader whose weights stay where the bytes are, over the words of a [`Model`].
#[derive(Debug)]
pub struct Reader<'a> {
    model: &'a Model<'a>,
    header: Header,
    verdict: Verdict<'a>,
    bytes: &'a [u8],
}

/// A prompt, made ready to be read with any number of memories.
#[derive(Debug, Clone)]
pub struct Prompt(Vec<u32>);

impl<'a> Reader<'a> {
    /// The reader in this program. The first call looks at a few hundred bytes.
    pub fn builtin() -> &'static Reader<'static> {
        static READER: OnceLock<Reader<'static>> = OnceLock::new();
        READER.get_or_init(|| match Reader::from_bytes(Model::builtin(), builtin::reader()) {
            Ok(reader) => reader,
            Err(error) => unreachable!("the tests read the same bytes: {error}"),
        })
    }

    /// A reader from a file's bytes, which must start at a multiple of 64, made over the words of `model`.
    pub fn from_bytes(model: &'a Model<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(Kind::Reader, bytes)?;
        let verdict = Verdict::read(&header, bytes, 1)?;
        if (header.vocabulary, header.hidden) != model.shape() {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        // Two texts, with a mark before, between and after them.
        if header.max_tokens < PROMPT + MEMORY + 3 {
            return Err(header.too_few_tokens());
        }
        Ok(Self { model, header, verdict, bytes })
    }

    /// Reads the whole file to see whether it is as it was made.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// Makes a prompt ready. Of a long one the first and the last words are read.
    pub fn prompt(&self, text: &str) -> Prompt {
        let mut ids = self.model.tokenize(text);
        if ids.len() > PROMPT + 2 {
            // Before the first half stands a mark, and after the second.
            let halves = (1 + PROMPT / 2, ids.len() - PROMPT / 2 - 1);
            ids.drain(halves.0..halves.1);
        }
        Prompt(ids)
    }

    /// How likely it is that `memory` is of use for `prompt`: the log of the odds. The same bits on every processor.
    pub fn read(&self, scratch: &mut Scratch, prompt: &Prompt, memory: &str) -> f32 {
        let mut ids = self.model.tokenize(memory);
        if ids.len() > MEMORY + 2 {
            ids.drain(MEMORY + 1..ids.len() - 1);
        }
        // A second text has no mark at its beginning.
        judge(&self.header, self.model.words(), &self.verdict, scratch, (&prompt.0, &ids[1..]))[0]
    }
}
