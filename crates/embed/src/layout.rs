//! The model file: a header of fixed size, then sections in a fixed order, each starting at a multiple of 64.
//!
//! There is no table of sections, because their sizes follow from the numbers in the header. So a file whose
//! length does not match its header is rejected before anything else is read.

use crate::Error;
use crate::cast::{PlainNumber, numbers};
use crate::vocabulary::Vocabulary;

/// The type of a model file, identified by its magic bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// A sentence transformer: vocabulary, word embeddings, encoder.
    Embedder,
    /// A cross-encoder: an encoder with an output layer, which shares the vocabulary and word embeddings of
    /// an embedder.
    CrossEncoder,
    /// A cross-encoder with several outputs.
    Classifier,
    /// A second vocabulary and its word embeddings for an embedder.
    Words,
}

impl ModelKind {
    fn magic(self) -> [u8; 8] {
        match self {
            Self::Embedder => *b"RKEMBED\n",
            Self::CrossEncoder => *b"RKREADS\n",
            Self::Classifier => *b"RKLABEL\n",
            Self::Words => *b"RKWORDS\n",
        }
    }
}

/// The supported layout version.
pub(crate) const LAYOUT_VERSION: u32 = 1;
/// The length of the header in bytes.
pub(crate) const HEADER_BYTES: usize = 512;
/// The alignment of sections: a cache line, and the widest vector register.
pub(crate) const ALIGNMENT_BYTES: usize = 64;
/// The number of output channels stored together in the weights of a layer (see [`LinearLayer::weights`]).
pub(crate) const CHANNELS_PER_BLOCK: usize = 64;
/// The number of inputs of one channel stored together: one dot-product instruction adds them up.
pub(crate) const INPUTS_PER_STEP: usize = 4;
/// The number of bytes that the system maps around a page fault.
const PAGE_CLUSTER_BYTES: usize = 16 * 1024;
/// The panel width of attention; the head size is a multiple of it.
pub(crate) const PANEL_WIDTH: usize = 32;
/// The number of bytes for each text in the header.
pub(crate) const HEADER_TEXT_BYTES: usize = 64;

/// The pooling of token vectors into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all vectors (MiniLM, E5, GTE).
    Mean,
    /// The first vector (BGE).
    First,
}

/// The parsed header of a model file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelHeader {
    pub(crate) file_length: u64,
    pub(crate) checksum: u64,
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) vocabulary: usize,
    pub(crate) max_tokens: usize,
    pub(crate) pooling: Pooling,
    pub(crate) uncased: bool,
    pub(crate) epsilon: f32,
    /// The ids of `[CLS]`, `[SEP]`, `[UNK]`, `[PAD]`, `[MASK]`.
    pub(crate) special: [u32; 5],
    pub(crate) slots: usize,
    pub(crate) spelling: usize,
    pub(crate) id: String,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
}

/// The numbers of the header in file order, with their minimum and maximum. The limits cover every known
/// BERT, and no product of them overflows.
const HEADER_NUMBERS: [(&str, u32, u32); 16] = [
    ("hidden size", 64, 4096),
    ("layer count", 1, 64),
    ("head count", 1, 128),
    ("intermediate size", 64, 16384),
    ("vocabulary size", 5, 1 << 20),
    ("token limit", 3, 8192),
    ("pooling", 0, 1),
    ("case flag", 0, 1),
    ("epsilon", 0, u32::MAX),
    ("[CLS] id", 0, 1 << 20),
    ("[SEP] id", 0, 1 << 20),
    ("[UNK] id", 0, 1 << 20),
    ("[PAD] id", 0, 1 << 20),
    ("[MASK] id", 0, 1 << 20),
    ("vocabulary slots", 8, 1 << 22),
    ("vocabulary bytes", 5, 1 << 26),
];
/// The offset of the checksum in the header.
pub(crate) const CHECKSUM_OFFSET: usize = 24;
/// The offset of the numbers: after magic, version, header length, file length and checksum.
const HEADER_NUMBERS_OFFSET: usize = 32;
/// The offset of the three texts.
const HEADER_TEXTS_OFFSET: usize = 256;

impl ModelHeader {
    pub(crate) fn read(kind: ModelKind, bytes: &[u8]) -> Result<Self, Error> {
        let found = bytes.len() as u64;
        let head: &[u8; HEADER_BYTES] = match bytes.first_chunk() {
            Some(head) => head,
            None if !bytes.starts_with(&kind.magic()) => return Err(Error::Foreign),
            None => return Err(Error::Length { part: "the header", expected: HEADER_BYTES as u64, found }),
        };
        if !head.starts_with(&kind.magic()) {
            return Err(Error::Foreign);
        }
        let word = |at: usize| {
            let mut word = [0; 4];
            word.copy_from_slice(&head[at..at + 4]);
            u32::from_le_bytes(word)
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if word(8) != LAYOUT_VERSION {
            return Err(Error::Version { found: word(8), supported: LAYOUT_VERSION });
        }
        let damaged = |field, value: u32, at| Error::Header { field, value: u64::from(value), at };
        if word(12) as usize != HEADER_BYTES {
            return Err(damaged("header length", word(12), 12));
        }
        let mut values = [0_u32; HEADER_NUMBERS.len()];
        for (index, (&(field, low, high), value)) in HEADER_NUMBERS.iter().zip(&mut values).enumerate() {
            *value = word(HEADER_NUMBERS_OFFSET + 4 * index);
            if *value < low || *value > high {
                return Err(damaged(field, *value, HEADER_NUMBERS_OFFSET + 4 * index));
            }
        }
        // Rules between numbers. The index is that of the number reported as wrong.
        let [hidden, layers, heads, intermediate, vocabulary, max_tokens, pooling, uncased, epsilon, ..] =
            values;
        let special = [values[9], values[10], values[11], values[12], values[13]];
        let rules = [
            (0, hidden.is_multiple_of(CHANNELS_PER_BLOCK as u32)),
            (2, hidden.is_multiple_of(heads) && (hidden / heads).is_multiple_of(PANEL_WIDTH as u32)),
            (3, intermediate.is_multiple_of(CHANNELS_PER_BLOCK as u32)),
            (8, f32::from_bits(epsilon).is_finite() && f32::from_bits(epsilon) >= 0.0),
            (9, special.iter().all(|&id| id < vocabulary)),
            (14, values[14].is_power_of_two() && values[14] > vocabulary),
        ];
        if let Some(&(index, _)) = rules.iter().find(|(_, holds)| !holds) {
            return Err(damaged(HEADER_NUMBERS[index].0, values[index], HEADER_NUMBERS_OFFSET + 4 * index));
        }
        let mut texts = [const { String::new() }; 3];
        for (index, text) in texts.iter_mut().enumerate() {
            let at = HEADER_TEXTS_OFFSET + index * HEADER_TEXT_BYTES;
            let field = &head[at..at + HEADER_TEXT_BYTES];
            let end = field.iter().position(|&byte| byte == 0).unwrap_or(HEADER_TEXT_BYTES);
            let utf8 =
                std::str::from_utf8(&field[..end]).map_err(|_| damaged("a text in the header", 0, at))?;
            utf8.clone_into(text);
        }
        let [id, query_prefix, passage_prefix] = texts;
        let header = Self {
            file_length: long(16),
            checksum: long(CHECKSUM_OFFSET),
            hidden: hidden as usize,
            layers: layers as usize,
            heads: heads as usize,
            intermediate: intermediate as usize,
            vocabulary: vocabulary as usize,
            max_tokens: max_tokens as usize,
            pooling: if pooling == 0 { Pooling::Mean } else { Pooling::First },
            uncased: uncased == 1,
            epsilon: f32::from_bits(epsilon),
            special,
            slots: values[14] as usize,
            spelling: values[15] as usize,
            id,
            query_prefix,
            passage_prefix,
        };
        if header.file_length != found {
            return Err(Error::Length { part: "the header", expected: header.file_length, found });
        }
        Ok(header)
    }

    /// The error for too few positions.
    pub(crate) fn too_few_tokens(&self) -> Error {
        let at = HEADER_NUMBERS.iter().position(|(name, ..)| *name == "token limit").unwrap_or_default();
        Error::Header {
            field: HEADER_NUMBERS[at].0,
            value: self.max_tokens as u64,
            at: HEADER_NUMBERS_OFFSET + 4 * at,
        }
    }

    pub(crate) fn write(&self, kind: ModelKind) -> [u8; HEADER_BYTES] {
        let mut head = [0; HEADER_BYTES];
        head[..8].copy_from_slice(&kind.magic());
        head[8..12].copy_from_slice(&LAYOUT_VERSION.to_le_bytes());
        head[12..16].copy_from_slice(&(HEADER_BYTES as u32).to_le_bytes());
        head[16..24].copy_from_slice(&self.file_length.to_le_bytes());
        head[24..32].copy_from_slice(&self.checksum.to_le_bytes());
        let sizes =
            [self.hidden, self.layers, self.heads, self.intermediate, self.vocabulary, self.max_tokens];
        let mut values = sizes.map(|size| size as u32).to_vec();
        values.push(u32::from(self.pooling == Pooling::First));
        values.push(u32::from(self.uncased));
        values.push(self.epsilon.to_bits());
        values.extend(self.special);
        values.extend([self.slots as u32, self.spelling as u32]);
        for (value, place) in values.iter().zip(head[HEADER_NUMBERS_OFFSET..].chunks_exact_mut(4)) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        for (index, text) in [&self.id, &self.query_prefix, &self.passage_prefix].into_iter().enumerate() {
            let at = HEADER_TEXTS_OFFSET + index * HEADER_TEXT_BYTES;
            head[at..at + text.len()].copy_from_slice(text.as_bytes());
        }
        head
    }
}

/// The scale and shift of a layer normalisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormLayer<'a> {
    pub(crate) weight: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// A matrix of `outputs` x `inputs` with a bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinearLayer<'a> {
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    /// The weights in blocks of 64 channels. Within a block, for every four inputs, come the four weights of
    /// each channel: a vector register holds the quadruples of whole channels, as dot-product instructions
    /// need them.
    pub(crate) weights: &'a [i8],
    /// The value of one step, per channel.
    pub(crate) scale: &'a [f32],
    /// The sum of the weights per channel, to subtract the zero point of the activations.
    pub(crate) sum: &'a [i32],
    pub(crate) bias: &'a [f32],
}

/// One layer of the encoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EncoderLayer<'a> {
    /// Query, key and value in one matrix. The query is already divided by the square root of the head size.
    pub(crate) qkv: LinearLayer<'a>,
    pub(crate) context: LinearLayer<'a>,
    pub(crate) attention_norm: NormLayer<'a>,
    pub(crate) up: LinearLayer<'a>,
    pub(crate) down: LinearLayer<'a>,
    pub(crate) norm: NormLayer<'a>,
}

/// The word embeddings: one byte per value, and the value of one step per row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordEmbeddings<'a> {
    pub(crate) scale: &'a [f32],
    pub(crate) steps: &'a [i8],
}

/// The encoder, which makes the vectors of words depend on their context.
#[derive(Debug)]
pub(crate) struct TransformerEncoder<'a> {
    /// The sum of position embedding and first token type. A single sentence has only that type.
    pub(crate) positions: &'a [f32],
    pub(crate) norm: NormLayer<'a>,
    pub(crate) layers: Vec<EncoderLayer<'a>>,
}

impl TransformerEncoder<'_> {
    /// Touches the layers, the last one first, so that a thread that begins with the first finds them mapped
    /// when it gets there. The system maps some pages around each one touched.
    pub(crate) fn prefetch(&self) {
        for layer in self.layers.iter().rev() {
            for weights in [&layer.down, &layer.up, &layer.context, &layer.qkv].map(|linear| linear.weights) {
                weights.iter().rev().step_by(PAGE_CLUSTER_BYTES).for_each(|weight| {
                    std::hint::black_box(*weight);
                });
            }
        }
    }
}

/// The sections of an embedder after the header, used in place.
#[derive(Debug)]
pub(crate) struct EmbedderSections<'a> {
    pub(crate) vocabulary: Vocabulary<'a>,
    pub(crate) words: WordEmbeddings<'a>,
    pub(crate) encoder: TransformerEncoder<'a>,
}

/// The sections of a cross-encoder or a classifier after the header, used in place.
#[derive(Debug)]
pub(crate) struct ScoringHead<'a> {
    pub(crate) encoder: TransformerEncoder<'a>,
    /// The difference of the second and the first token type, added for words of the second text.
    pub(crate) second: &'a [f32],
    /// The weights of the output layer, applied to the mean of all vectors: a row per output.
    pub(crate) weight: &'a [f32],
    /// The bias of the output layer: one number per output.
    pub(crate) bias: &'a [f32],
}

struct ByteCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteCursor<'a> {
    fn read_section<T: PlainNumber>(&mut self, part: &'static str, count: usize) -> Result<&'a [T], Error> {
        let start = self.at.next_multiple_of(ALIGNMENT_BYTES);
        self.at = start + count * size_of::<T>();
        let section = self.bytes.get(start..self.at).ok_or(Error::Length {
            part,
            expected: self.at as u64,
            found: self.bytes.len() as u64,
        })?;
        numbers(section).ok_or(Error::Misaligned)
    }

    fn norm(&mut self, part: &'static str, hidden: usize) -> Result<NormLayer<'a>, Error> {
        Ok(NormLayer { weight: self.read_section(part, hidden)?, bias: self.read_section(part, hidden)? })
    }

    fn linear(
        &mut self,
        part: &'static str,
        outputs: usize,
        inputs: usize,
    ) -> Result<LinearLayer<'a>, Error> {
        Ok(LinearLayer {
            outputs,
            inputs,
            weights: self.read_section(part, outputs * inputs)?,
            scale: self.read_section(part, outputs)?,
            sum: self.read_section(part, outputs)?,
            bias: self.read_section(part, outputs)?,
        })
    }
}

impl<'a> ByteCursor<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let is_aligned = bytes.as_ptr().align_offset(ALIGNMENT_BYTES) == 0;
        if is_aligned { Ok(Self { bytes, at: HEADER_BYTES }) } else { Err(Error::Misaligned) }
    }

    fn encoder(&mut self, header: &ModelHeader) -> Result<TransformerEncoder<'a>, Error> {
        let ModelHeader { hidden, intermediate, .. } = *header;
        let positions = self.read_section("the position embeddings", header.max_tokens * hidden)?;
        let norm = self.norm("the embeddings' norm", hidden)?;
        let mut layers = Vec::with_capacity(header.layers);
        for _ in 0..header.layers {
            layers.push(EncoderLayer {
                qkv: self.linear("query, key and value", 3 * hidden, hidden)?,
                context: self.linear("the attention's output", hidden, hidden)?,
                attention_norm: self.norm("the attention's norm", hidden)?,
                up: self.linear("the intermediate layer", intermediate, hidden)?,
                down: self.linear("the layer's output", hidden, intermediate)?,
                norm: self.norm("the layer's norm", hidden)?,
            });
        }
        Ok(TransformerEncoder { positions, norm, layers })
    }

    fn words(&mut self, header: &ModelHeader) -> Result<(Vocabulary<'a>, WordEmbeddings<'a>), Error> {
        let vocabulary = Vocabulary {
            slots: self.read_section("the vocabulary", header.slots)?,
            offsets: self.read_section("the vocabulary", header.vocabulary + 1)?,
            spelling: self.read_section("the vocabulary", header.spelling)?,
        };
        let words = WordEmbeddings {
            scale: self.read_section("the word embeddings", header.vocabulary)?,
            steps: self.read_section("the word embeddings", header.vocabulary * header.hidden)?,
        };
        Ok((vocabulary, words))
    }

    fn end(&self) -> Result<(), Error> {
        let (expected, found) = (self.at as u64, self.bytes.len() as u64);
        if expected == found {
            Ok(())
        } else {
            Err(Error::Length { part: "the last section", expected, found })
        }
    }
}

impl<'a> EmbedderSections<'a> {
    pub(crate) fn read(header: &ModelHeader, bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(bytes)?;
        let (vocabulary, words) = cursor.words(header)?;
        let encoder = cursor.encoder(header)?;
        cursor.end()?;
        Ok(Self { vocabulary, words, encoder })
    }
}

/// Reads the sections of a [`ModelKind::Words`] file.
pub(crate) fn read_words<'a>(
    header: &ModelHeader,
    bytes: &'a [u8],
) -> Result<(Vocabulary<'a>, WordEmbeddings<'a>), Error> {
    let mut cursor = ByteCursor::new(bytes)?;
    let both = cursor.words(header)?;
    cursor.end()?;
    Ok(both)
}

impl<'a> ScoringHead<'a> {
    pub(crate) fn read(header: &ModelHeader, bytes: &'a [u8], outputs: usize) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(bytes)?;
        let encoder = cursor.encoder(header)?;
        let second = cursor.read_section("the second token type", header.hidden)?;
        let weight = cursor.read_section("the verdict", outputs * header.hidden)?;
        let bias = cursor.read_section("the verdict", outputs)?;
        cursor.end()?;
        Ok(Self { encoder, second, weight, bias })
    }
}

/// The checksum of the sections, eight bytes at a time. It detects damage, not tampering.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = bytes.len() as u64;
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 29;
    };
    for &word in words {
        mix(u64::from_le_bytes(word));
    }
    for &byte in rest {
        mix(u64::from(byte));
    }
    sum
}
