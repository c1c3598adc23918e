//! Converts a published model (safetensors, vocabulary, configuration) into a model file.
//!
//! Both the built-in file (`models/make.sh`) and `rekindle model add` use it, so only one piece of code knows
//! the layout.

use serde_json::Value;

use crate::Error;
use crate::classifier;
use crate::layout::{
    ALIGNMENT_BYTES, CHANNELS_PER_BLOCK, HEADER_BYTES, HEADER_TEXT_BYTES, INPUTS_PER_STEP, ModelHeader,
    ModelKind, Pooling, checksum,
};
use crate::safetensors::SafeTensors;
use crate::vocabulary;

/// The files of a model folder in the usual layout, as bytes, plus settings that no file contains.
#[derive(Debug, Clone, Copy)]
pub struct ModelFiles<'a> {
    /// The id under which vectors of this model are stored; at most 63 bytes.
    pub id: &'a str,
    /// The content of `config.json`.
    pub config: &'a [u8],
    /// The content of `model.safetensors`.
    pub weights: &'a [u8],
    /// The content of `vocab.txt`.
    pub vocabulary: &'a [u8],
    /// The content of `tokenizer_config.json`; without it the model is uncased.
    pub tokenizer: Option<&'a [u8]>,
    /// The content of `1_Pooling/config.json`; the default is the mean.
    pub pooling: Option<&'a [u8]>,
    /// The content of `sentence_bert_config.json`; without it the token limit is the number of positions, but
    /// at most 512.
    pub sentence: Option<&'a [u8]>,
    /// The prefix of a query (E5, BGE); empty for most models.
    pub query_prefix: &'a str,
    /// The prefix of a passage (E5); empty for most models.
    pub passage_prefix: &'a str,
}

const CONFIG_FILE: &str = "config.json";
const VOCABULARY_FILE: &str = "vocab.txt";
/// The special tokens, in the order of the header.
const SPECIAL_TOKENS: [&str; 5] = ["[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"];

/// Builds the model file for `folder`. The same input gives the same bytes on every machine.
pub fn pack(folder: &ModelFiles<'_>) -> Result<Vec<u8>, Error> {
    let config = json(CONFIG_FILE, folder.config)?;
    check_architecture(&config)?;
    check_texts(&[folder.id, folder.query_prefix, folder.passage_prefix])?;
    let spelled = std::str::from_utf8(folder.vocabulary)
        .map_err(|error| source(VOCABULARY_FILE, format!("not UTF-8 from byte {}", error.valid_up_to())))?;
    let words: Vec<&str> = spelled.lines().collect();
    let (slots, offsets, spelling) = vocabulary::build(&words);
    let mut special = [0; SPECIAL_TOKENS.len()];
    for (id, name) in special.iter_mut().zip(SPECIAL_TOKENS) {
        let place = words.iter().position(|&word| word == name);
        *id = place
            .ok_or_else(|| source(VOCABULARY_FILE, format!("no {name} in it: not a BERT vocabulary")))?
            as u32;
    }
    let hidden = size(&config, "hidden_size")?;
    let heads = size(&config, "num_attention_heads")?;
    let positions = size(&config, "max_position_embeddings")?;
    let asked = folder.sentence.map(|bytes| json("sentence_bert_config.json", bytes)).transpose()?;
    let asked = asked.and_then(|sentence| sentence.get("max_seq_length")?.as_u64()).unwrap_or(512);
    let header = ModelHeader {
        file_length: 0,
        checksum: 0,
        hidden,
        layers: size(&config, "num_hidden_layers")?,
        heads,
        intermediate: size(&config, "intermediate_size")?,
        vocabulary: words.len(),
        max_tokens: positions.min(asked as usize),
        pooling: pooling(folder.pooling)?,
        uncased: uncased(folder.tokenizer)?,
        epsilon: config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12) as f32,
        special,
        slots: slots.len(),
        spelling: spelling.len(),
        id: folder.id.to_owned(),
        query_prefix: folder.query_prefix.to_owned(),
        passage_prefix: folder.passage_prefix.to_owned(),
    };
    let tensors = SafeTensors::read(folder.weights)?;
    let mut file = ModelFileBuilder(vec![0; HEADER_BYTES]);
    file.section(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    file.section(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    file.section(spelling);
    embeddings(&mut file, &tensors, &header)?;
    for layer in 0..header.layers {
        encoder_layer(&mut file, &tensors, &header, layer)?;
    }
    file.close(ModelKind::Embedder, header)
}

/// Builds the file of a cross-encoder from the weights of a BERT for pairs with any number of layers. It was
/// trained on the word embeddings of `model`, which it shares. Its output layer is a `classifier` with one
/// output over the mean of all vectors.
pub fn pack_cross_encoder(model: &[u8], id: &str, weights: &[u8]) -> Result<Vec<u8>, Error> {
    pack_verdict(ModelKind::CrossEncoder, 1, model, id, weights)
}

/// Builds the file of a statement classifier, trained and packed like a cross-encoder, with as many outputs as the classifier has.
pub fn pack_classifier(model: &[u8], id: &str, weights: &[u8]) -> Result<Vec<u8>, Error> {
    pack_verdict(ModelKind::Classifier, classifier::OUTPUT_COUNT, model, id, weights)
}

/// Builds the file of a multilingual vocabulary for `model`: `words` in id order, and a row for each under `words.weight`.
pub fn pack_words(model: &[u8], id: &str, words: &str, weights: &[u8]) -> Result<Vec<u8>, Error> {
    let base = ModelHeader::read(ModelKind::Embedder, model)?;
    let words: Vec<&str> = words.lines().collect();
    let (slots, offsets, spelling) = vocabulary::build(&words);
    let header = ModelHeader {
        id: id.to_owned(),
        vocabulary: words.len(),
        slots: slots.len(),
        spelling: spelling.len(),
        passage_prefix: format!("{:016x}", base.checksum),
        ..base
    };
    check_texts(&[id])?;
    let tensors = SafeTensors::read(weights)?;
    let mut file = ModelFileBuilder(vec![0; HEADER_BYTES]);
    file.section(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    file.section(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    file.section(spelling);
    file.word_rows(&tensors.floats("words.weight", &[header.vocabulary, header.hidden])?, header.hidden);
    file.close(ModelKind::Words, header)
}

fn pack_verdict(
    kind: ModelKind,
    outputs: usize,
    model: &[u8],
    id: &str,
    weights: &[u8],
) -> Result<Vec<u8>, Error> {
    check_texts(&[id])?;
    let tensors = SafeTensors::read(weights)?;
    let layers = tensors.layers().max(1);
    let header = ModelHeader { id: id.to_owned(), layers, ..ModelHeader::read(ModelKind::Embedder, model)? };
    let hidden = header.hidden;
    let mut file = ModelFileBuilder(vec![0; HEADER_BYTES]);
    places(&mut file, &tensors, &header)?;
    for layer in 0..header.layers {
        encoder_layer(&mut file, &tensors, &header, layer)?;
    }
    let kinds = tensors.floats("embeddings.token_type_embeddings.weight", &[2, hidden])?;
    let (first, second) = kinds.split_at(hidden);
    file.floats(&second.iter().zip(first).map(|(second, first)| second - first).collect::<Vec<_>>());
    file.floats(&tensors.floats("classifier.weight", &[outputs, hidden])?);
    file.floats(&tensors.floats("classifier.bias", &[outputs])?);
    file.close(kind, header)
}

/// Checks that texts fit into their fixed size in the header.
fn check_texts(texts: &[&str]) -> Result<(), Error> {
    let fits = |text: &&str| text.len() < HEADER_TEXT_BYTES && !text.contains('\0');
    let problem =
        || source(CONFIG_FILE, format!("a name or prefix is longer than {} bytes", HEADER_TEXT_BYTES - 1));
    if texts.iter().all(fits) { Ok(()) } else { Err(problem()) }
}

fn check_architecture(config: &Value) -> Result<(), Error> {
    let text = |key: &str| config.get(key).and_then(Value::as_str);
    let known = [
        ("model_type", "bert", text("model_type")),
        ("hidden_act", "gelu", text("hidden_act")),
        ("position_embedding_type", "absolute", text("position_embedding_type")),
    ];
    for (key, wanted, found) in known {
        if found.unwrap_or(wanted) != wanted {
            let found = found.unwrap_or_default();
            return Err(source(CONFIG_FILE, format!("{key} is {found:?}, only {wanted:?} can be run")));
        }
    }
    Ok(())
}

fn pooling(bytes: Option<&[u8]>) -> Result<Pooling, Error> {
    let Some(bytes) = bytes else { return Ok(Pooling::Mean) };
    let config = json("1_Pooling/config.json", bytes)?;
    let is = |key: &str| config.get(key).and_then(Value::as_bool).unwrap_or(false);
    match (is("pooling_mode_mean_tokens"), is("pooling_mode_cls_token")) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(source("1_Pooling/config.json", "neither mean nor CLS pooling".to_owned())),
    }
}

fn uncased(bytes: Option<&[u8]>) -> Result<bool, Error> {
    let Some(bytes) = bytes else { return Ok(true) };
    let config = json("tokenizer_config.json", bytes)?;
    let flag = |key: &str| config.get(key).and_then(Value::as_bool);
    let lower = flag("do_lower_case").unwrap_or(true);
    // By default accents are stripped from uncased models only. No known model says otherwise.
    if flag("strip_accents").is_some_and(|strip| strip != lower)
        || flag("tokenize_chinese_chars") == Some(false)
    {
        let problem = "strip_accents apart from do_lower_case, or CJK not split: not supported";
        return Err(source("tokenizer_config.json", problem.to_owned()));
    }
    Ok(lower)
}

fn embeddings(
    file: &mut ModelFileBuilder,
    tensors: &SafeTensors<'_>,
    header: &ModelHeader,
) -> Result<(), Error> {
    let hidden = header.hidden;
    let words = tensors.floats("embeddings.word_embeddings.weight", &[header.vocabulary, hidden])?;
    file.word_rows(&words, hidden);
    places(file, tensors, header)
}

fn places(file: &mut ModelFileBuilder, tensors: &SafeTensors<'_>, header: &ModelHeader) -> Result<(), Error> {
    let hidden = header.hidden;
    let mut positions = tensors.rows("embeddings.position_embeddings.weight", header.max_tokens, hidden)?;
    let kind = tensors.rows("embeddings.token_type_embeddings.weight", 1, hidden)?;
    for (place, kind) in positions.iter_mut().zip(kind.iter().cycle()) {
        *place += kind;
    }
    file.floats(&positions);
    norm(file, tensors, "embeddings.LayerNorm", hidden)
}

fn encoder_layer(
    file: &mut ModelFileBuilder,
    tensors: &SafeTensors<'_>,
    header: &ModelHeader,
    layer: usize,
) -> Result<(), Error> {
    let (hidden, intermediate) = (header.hidden, header.intermediate);
    let name = |rest: &str| format!("encoder.layer.{layer}.{rest}");
    let head = (hidden / header.heads.max(1)) as f32;
    let mut qkv = QuantisedMatrix::default();
    for (part, factor) in [("query", 1.0 / head.sqrt()), ("key", 1.0), ("value", 1.0)] {
        qkv.add(tensors, &name(&format!("attention.self.{part}")), hidden, hidden, factor)?;
    }
    file.matrix(&qkv, hidden);
    file.linear(tensors, &name("attention.output.dense"), hidden, hidden)?;
    norm(file, tensors, &name("attention.output.LayerNorm"), hidden)?;
    file.linear(tensors, &name("intermediate.dense"), intermediate, hidden)?;
    file.linear(tensors, &name("output.dense"), hidden, intermediate)?;
    norm(file, tensors, &name("output.LayerNorm"), hidden)
}

fn norm(
    file: &mut ModelFileBuilder,
    tensors: &SafeTensors<'_>,
    name: &str,
    hidden: usize,
) -> Result<(), Error> {
    file.floats(&tensors.floats(&format!("{name}.weight"), &[hidden])?);
    file.floats(&tensors.floats(&format!("{name}.bias"), &[hidden])?);
    Ok(())
}

/// Quantises a row: the largest value becomes 127 steps, and the scale is the value of one step.
fn quantise(row: &[f32]) -> (f32, Vec<i8>) {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    (scale, row.iter().map(|value| (value / scale).round_ties_even().clamp(-127.0, 127.0) as i8).collect())
}

/// QuantisedRows rows, one per output channel, with their scales and biases.
#[derive(Default)]
struct QuantisedMatrix {
    rows: Vec<Vec<i8>>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl QuantisedMatrix {
    /// Adds a matrix. `factor` goes into scale and bias; the steps stay as they are.
    fn add(
        &mut self,
        tensors: &SafeTensors<'_>,
        name: &str,
        outputs: usize,
        inputs: usize,
        factor: f32,
    ) -> Result<(), Error> {
        let weights = tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?;
        for row in weights.chunks_exact(inputs) {
            let (scale, steps) = quantise(row);
            self.scale.push(scale * factor);
            self.rows.push(steps);
        }
        let bias = tensors.floats(&format!("{name}.bias"), &[outputs])?;
        self.bias.extend(bias.iter().map(|bias| bias * factor));
        Ok(())
    }
}

struct ModelFileBuilder(Vec<u8>);

impl ModelFileBuilder {
    fn close(mut self, kind: ModelKind, mut header: ModelHeader) -> Result<Vec<u8>, Error> {
        header.file_length = self.0.len() as u64;
        header.checksum = checksum(&self.0[HEADER_BYTES..]);
        self.0[..HEADER_BYTES].copy_from_slice(&header.write(kind));
        // The checks for reading also reject unusual models here.
        ModelHeader::read(kind, &self.0)?;
        Ok(self.0)
    }

    fn section(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT_BYTES), 0);
        self.0.extend(bytes);
    }

    fn word_rows(&mut self, words: &[f32], hidden: usize) {
        let (scale, steps): (Vec<f32>, Vec<Vec<i8>>) = words.chunks_exact(hidden).map(quantise).unzip();
        self.floats(&scale);
        self.section(steps.iter().flatten().map(|&step| step as u8));
    }

    fn floats(&mut self, floats: &[f32]) {
        self.section(floats.iter().flat_map(|float| float.to_le_bytes()));
    }

    fn linear(
        &mut self,
        tensors: &SafeTensors<'_>,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<(), Error> {
        let mut matrix = QuantisedMatrix::default();
        matrix.add(tensors, name, outputs, inputs, 1.0)?;
        self.matrix(&matrix, inputs);
        Ok(())
    }

    fn matrix(&mut self, matrix: &QuantisedMatrix, inputs: usize) {
        let blocks = matrix.rows.chunks(CHANNELS_PER_BLOCK);
        let quadruples = blocks.flat_map(|block| {
            (0..inputs)
                .step_by(INPUTS_PER_STEP)
                .flat_map(move |k| block.iter().flat_map(move |row| &row[k..k + INPUTS_PER_STEP]))
        });
        self.section(quadruples.map(|&step| step as u8));
        self.floats(&matrix.scale);
        let sums = matrix.rows.iter().map(|row| row.iter().map(|&step| i32::from(step)).sum::<i32>());
        self.section(sums.flat_map(i32::to_le_bytes));
        self.floats(&matrix.bias);
    }
}

fn json(file: &'static str, bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|error| source(file, format!("not JSON: line {}", error.line())))
}

/// Reads a size from the configuration, limited so that products of sizes cannot overflow.
fn size(config: &Value, key: &str) -> Result<usize, Error> {
    let value = config.get(key).and_then(Value::as_u64).filter(|value| (1..=1 << 20).contains(value));
    let value = value.ok_or_else(|| source(CONFIG_FILE, format!("{key} is missing or makes no sense")))?;
    // Rows are processed four inputs at a time.
    if key.ends_with("_size") && !value.is_multiple_of(CHANNELS_PER_BLOCK as u64) {
        return Err(source(CONFIG_FILE, format!("{key} is {value}, not a multiple of {CHANNELS_PER_BLOCK}")));
    }
    Ok(value as usize)
}

fn source(file: &'static str, problem: String) -> Error {
    Error::Source { file, problem }
}
