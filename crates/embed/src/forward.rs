//! The forward pass of the encoder: token ids in, one vector per text out.

use std::ops::Range;

use crate::kernels::{self, KernelPath, Kernels, MatrixProduct, NormParameters, QuantisedRows};
use crate::layout::{
    EmbedderSections, ModelHeader, NormLayer, PANEL_WIDTH, Pooling, ScoringHead, TransformerEncoder,
    WordEmbeddings,
};
use crate::tokenize::MULTILINGUAL_ID;

/// The buffers of a forward pass. They grow with the longest run and are reused; use one per thread.
#[derive(Debug)]
pub struct EncoderScratch {
    kernels: &'static Kernels,
    /// One row per token of every text in the run, one text after the other, without padding.
    x: Vec<f32>,
    /// Outputs of the matrices as wide as `x`, and the attention context before that.
    y: Vec<f32>,
    /// Query, key and value side by side, then the intermediate layer.
    wide: Vec<f32>,
    bytes: QuantisedRows,
    keys: Vec<f32>,
    scores: Vec<f32>,
    inverse: Vec<f32>,
}

impl EncoderScratch {
    /// Creates buffers for the best path of this processor.
    pub fn new() -> Self {
        Self::with(kernels::best_kernels())
    }

    /// Creates buffers for a given path, if this processor supports it.
    pub fn for_path(path: KernelPath) -> Option<Self> {
        kernels::kernels_for(path).map(Self::with)
    }

    /// The path in use.
    pub fn path(&self) -> KernelPath {
        self.kernels.path()
    }

    fn with(kernels: &'static Kernels) -> Self {
        Self {
            kernels,
            x: Vec::new(),
            y: Vec::new(),
            wide: Vec::new(),
            bytes: QuantisedRows::default(),
            keys: Vec::new(),
            scores: Vec::new(),
            inverse: Vec::new(),
        }
    }
}

impl Default for EncoderScratch {
    fn default() -> Self {
        Self::new()
    }
}

/// The word embeddings that token ids refer to.
#[derive(Clone, Copy)]
pub(crate) struct WordTables<'a> {
    pub(crate) english: &'a WordEmbeddings<'a>,
    /// The rows of ids with [`MULTILINGUAL_ID`].
    pub(crate) multilingual: Option<&'a WordEmbeddings<'a>>,
}

/// The embeddings, of unit length, of texts given by their token ids.
pub(crate) fn run(
    header: &ModelHeader,
    sections: &EmbedderSections<'_>,
    words: WordTables<'_>,
    scratch: &mut EncoderScratch,
    texts: &[Vec<u32>],
) -> Vec<Vec<f32>> {
    let hidden = header.hidden;
    scratch.x.clear();
    let spans: Vec<Range<usize>> = texts
        .iter()
        .map(|ids| embed_words(hidden, words, sections.encoder.positions, ids, &mut scratch.x))
        .collect();
    encode(header, &sections.encoder, scratch, &spans);
    let vector = |span: &Range<usize>| {
        pool(header.pooling, hidden, &scratch.x[span.start * hidden..span.end * hidden])
    };
    spans.iter().map(vector).collect()
}

/// The outputs of a cross-encoder or a classifier for pairs of texts given by their ids, each read as one: a logit for each
/// output. One pass reads all pairs.
pub(crate) fn score_pair(
    header: &ModelHeader,
    words: WordTables<'_>,
    verdict: &ScoringHead<'_>,
    scratch: &mut EncoderScratch,
    pairs: &[(&[u32], &[u32])],
) -> Vec<Vec<f32>> {
    let hidden = header.hidden;
    scratch.x.clear();
    let mut spans = Vec::with_capacity(pairs.len());
    for (first, second) in pairs {
        let ids = [*first, *second].concat();
        let span = embed_words(hidden, words, verdict.encoder.positions, &ids, &mut scratch.x);
        let own = &mut scratch.x[span.start * hidden..span.end * hidden];
        for row in own.chunks_exact_mut(hidden).skip(first.len()) {
            for (value, kind) in row.iter_mut().zip(verdict.second) {
                *value += kind;
            }
        }
        spans.push(span);
    }
    encode(header, &verdict.encoder, scratch, &spans);
    let outputs = |span: &Range<usize>| {
        let own = &scratch.x[span.start * hidden..span.end * hidden];
        let output = |(weights, bias): (&[f32], &f32)| {
            let dot =
                |row: &[f32]| row.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>();
            own.chunks_exact(hidden).map(dot).sum::<f32>() / span.len().max(1) as f32 + bias
        };
        verdict.weight.chunks_exact(hidden).zip(verdict.bias).map(output).collect()
    };
    spans.iter().map(outputs).collect()
}

/// Runs the layers over the rows of `x`. `spans` separates the texts.
fn encode(
    header: &ModelHeader,
    encoder: &TransformerEncoder<'_>,
    scratch: &mut EncoderScratch,
    spans: &[Range<usize>],
) {
    let (hidden, intermediate) = (header.hidden, header.intermediate);
    let EncoderScratch { kernels, x, y, wide, bytes, keys, scores, inverse } = scratch;
    let rows = x.len() / hidden;
    let norm = |norm: NormLayer<'_>, x: &mut [f32], y: &[f32]| {
        let norms = NormParameters { weight: norm.weight, bias: norm.bias, epsilon: header.epsilon };
        kernels.add_norm(x, y, &norms);
    };
    norm(encoder.norm, x, &[]);
    y.resize(rows * hidden, 0.0);
    wide.resize(rows * intermediate.max(3 * hidden), 0.0);
    for layer in &encoder.layers {
        let qkv = &mut wide[..rows * 3 * hidden];
        kernels.quantise(x, hidden, bytes);
        kernels.linear(bytes, &layer.qkv, qkv);
        for span in spans {
            let mut attention = AttentionPass { kernels, hidden, qkv, context: y, keys, scores, inverse };
            attention.attend(header.heads, span);
        }
        kernels.quantise(y, hidden, bytes);
        kernels.linear(bytes, &layer.context, y);
        norm(layer.attention_norm, x, y);

        let up = &mut wide[..rows * intermediate];
        kernels.quantise(x, hidden, bytes);
        kernels.linear(bytes, &layer.up, up);
        kernels.gelu(up);
        kernels.quantise(up, intermediate, bytes);
        kernels.linear(bytes, &layer.down, y);
        norm(layer.norm, x, y);
    }
}

/// Appends one row per token and returns their range.
fn embed_words(
    hidden: usize,
    words: WordTables<'_>,
    positions: &[f32],
    ids: &[u32],
    x: &mut Vec<f32>,
) -> Range<usize> {
    let start = x.len() / hidden;
    for (&id, position) in ids.iter().zip(positions.chunks_exact(hidden)) {
        let table = match words.multilingual {
            Some(multilingual) if id & MULTILINGUAL_ID != 0 => multilingual,
            _ => words.english,
        };
        // The tokenizer emits no id beyond the vocabulary.
        let id = (id & !MULTILINGUAL_ID) as usize;
        let scale = table.scale[id];
        let word = &table.steps[id * hidden..][..hidden];
        x.extend(word.iter().zip(position).map(|(&step, &place)| f32::from(step) * scale + place));
    }
    start..x.len() / hidden
}

/// The attention within one text.
struct AttentionPass<'a> {
    kernels: &'static Kernels,
    hidden: usize,
    qkv: &'a [f32],
    context: &'a mut [f32],
    keys: &'a mut Vec<f32>,
    scores: &'a mut Vec<f32>,
    inverse: &'a mut Vec<f32>,
}

impl AttentionPass<'_> {
    fn attend(&mut self, heads: usize, span: &Range<usize>) {
        let (hidden, head) = (self.hidden, self.hidden / heads);
        let (rows, stride) = (span.len(), 3 * self.hidden);
        let padded = rows.next_multiple_of(PANEL_WIDTH);
        let qkv = &self.qkv[span.start * stride..span.end * stride];
        let context = &mut self.context[span.start * hidden..span.end * hidden];
        self.scores.resize(rows * padded, 0.0);
        self.inverse.resize(rows, 0.0);
        self.keys.clear();
        self.keys.resize(head * padded, 0.0);
        for first in (0..hidden).step_by(head) {
            for (row, all) in qkv.chunks_exact(stride).enumerate() {
                for (line, &key) in self.keys.chunks_exact_mut(padded).zip(&all[hidden + first..][..head]) {
                    line[row] = key;
                }
            }
            self.kernels.product(MatrixProduct {
                left: &qkv[first..],
                left_stride: stride,
                right: self.keys,
                right_stride: padded,
                out: self.scores,
                out_stride: padded,
                rows,
                inner: head,
                columns: padded,
            });
            self.kernels.softmax(self.scores, padded, rows, self.inverse);
            self.kernels.product(MatrixProduct {
                left: self.scores,
                left_stride: padded,
                right: &qkv[2 * hidden + first..],
                right_stride: stride,
                out: &mut context[first..],
                out_stride: hidden,
                rows,
                inner: rows,
                columns: head,
            });
            // Dividing the result is cheaper than dividing the scores.
            for (row, &inverse) in context.chunks_exact_mut(hidden).zip(self.inverse.iter()) {
                for value in &mut row[first..first + head] {
                    *value *= inverse;
                }
            }
        }
    }
}

fn pool(pooling: Pooling, hidden: usize, rows: &[f32]) -> Vec<f32> {
    let mut vector = vec![0.0; hidden];
    let take = match pooling {
        Pooling::Mean => rows.len(),
        Pooling::First => hidden,
    };
    for row in rows[..take].chunks_exact(hidden) {
        for (sum, value) in vector.iter_mut().zip(row) {
            *sum += value;
        }
    }
    // Normalising the length cancels the mean's divisor.
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    let factor = if length > 0.0 { (1.0 / length) as f32 } else { 0.0 };
    for value in &mut vector {
        *value *= factor;
    }
    vector
}
