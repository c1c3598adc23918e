//! A BERT with a few thousand random weights, as a folder in the layout of published models, with a slow
//! reference implementation of its vectors.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

/// The number of dimensions of a vector.
pub const DIM: usize = 64;
const INNER: usize = 128;
const LAYERS: usize = 2;
const HEADS: usize = 2;
const POSITIONS: usize = 64;
const EPSILON: f64 = 1e-12;

/// Words that the vocabulary contains; every other word is split into letters.
const WORDS: [&str; 20] = [
    "the", "nightly", "backup", "failed", "staging", "database", "query", "passage", "port", "apple", "cake",
    "deploy", "release", "server", "memory", "what", "when", "hello", "world", "rollback",
];

/// The model. The seed determines its weights, so two seeds are two models.
#[derive(Clone, Debug)]
pub struct TinyBert {
    seed: u64,
    pooling: &'static str,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl TinyBert {
    /// Creates a model with mean pooling.
    pub fn new(seed: u64) -> Self {
        let mut dice = seed;
        let mut roll = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let mut tensors = BTreeMap::new();
        let mut add = |name: String, shape: &[usize], centre: f32, spread: f32| {
            let numbers = (0..shape.iter().product()).map(|_| centre + spread * roll()).collect();
            tensors.insert(name, (shape.to_vec(), numbers));
        };
        add("embeddings.word_embeddings.weight".into(), &[vocabulary().len(), DIM], 0.0, 2.0);
        add("embeddings.position_embeddings.weight".into(), &[POSITIONS, DIM], 0.0, 0.3);
        add("embeddings.token_type_embeddings.weight".into(), &[2, DIM], 0.0, 0.1);
        add("embeddings.LayerNorm.weight".into(), &[DIM], 1.0, 0.1);
        add("embeddings.LayerNorm.bias".into(), &[DIM], 0.0, 0.1);
        for layer in 0..LAYERS {
            let matrices = [
                ("attention.self.query", DIM, DIM),
                ("attention.self.key", DIM, DIM),
                ("attention.self.value", DIM, DIM),
                ("attention.output.dense", DIM, DIM),
                ("intermediate.dense", INNER, DIM),
                ("output.dense", DIM, INNER),
            ];
            for (name, outputs, inputs) in matrices {
                add(format!("encoder.layer.{layer}.{name}.weight"), &[outputs, inputs], 0.0, 0.4);
                add(format!("encoder.layer.{layer}.{name}.bias"), &[outputs], 0.0, 0.1);
            }
            for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
                add(format!("encoder.layer.{layer}.{name}.weight"), &[DIM], 1.0, 0.1);
                add(format!("encoder.layer.{layer}.{name}.bias"), &[DIM], 0.0, 0.1);
            }
        }
        Self { seed, pooling: "mean_tokens", tensors }
    }

    /// Creates a model that pools by the first token's vector.
    pub fn cls(seed: u64) -> Self {
        Self { pooling: "cls_token", ..Self::new(seed) }
    }

    /// Writes the folder as it would be downloaded: weights, configuration, vocabulary in both forms,
    /// pooling.
    ///
    /// # Panics
    /// If the system refuses.
    #[track_caller]
    pub fn write(&self, folder: &Path) {
        let vocabulary = vocabulary();
        let ids: serde_json::Map<_, _> =
            vocabulary.iter().enumerate().map(|(id, word)| (word.clone(), id.into())).collect();
        let files = [
            ("model.safetensors", self.safetensors()),
            ("config.json", config().to_string().into_bytes()),
            ("vocab.txt", (vocabulary.join("\n") + "\n").into_bytes()),
            (
                "tokenizer.json",
                json!({
                    "model": {"type": "WordPiece", "vocab": ids},
                    "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null,
                        "handle_chinese_chars": true},
                })
                .to_string()
                .into_bytes(),
            ),
            (
                "1_Pooling/config.json",
                json!({"word_embedding_dimension": DIM,
                    "pooling_mode_mean_tokens": self.pooling == "mean_tokens",
                    "pooling_mode_cls_token": self.pooling == "cls_token"})
                .to_string()
                .into_bytes(),
            ),
        ];
        for (name, bytes) in files {
            let path = folder.join(name);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(error) = written.and_then(|()| std::fs::write(&path, bytes)) {
                panic!("{}: {error}", path.display());
            }
        }
    }

    fn safetensors(&self) -> Vec<u8> {
        let (mut table, mut body) = (serde_json::Map::new(), Vec::new());
        for (name, (shape, numbers)) in &self.tensors {
            let start = body.len();
            body.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            table.insert(
                name.clone(),
                json!({"dtype": "F32", "shape": shape, "data_offsets": [start, body.len()]}),
            );
        }
        table.insert("__metadata__".into(), json!({"seed": self.seed.to_string()}));
        let table = serde_json::Value::Object(table).to_string();
        let mut file = (table.len() as u64).to_le_bytes().to_vec();
        file.extend(table.as_bytes());
        file.extend(body);
        file
    }

    /// The vector of these tokens, including `[CLS]` and `[SEP]`.
    pub fn embed(&self, ids: &[u32]) -> Vec<f64> {
        let mut rows: Vec<Vec<f64>> = (0..ids.len())
            .map(|place| {
                let word = self.row("embeddings.word_embeddings.weight", ids[place] as usize);
                let position = self.row("embeddings.position_embeddings.weight", place);
                let kind = self.row("embeddings.token_type_embeddings.weight", 0);
                self.norm("embeddings.LayerNorm", &sum(&sum(&word, &position), &kind))
            })
            .collect();
        for layer in 0..LAYERS {
            let name = |rest: &str| format!("encoder.layer.{layer}.{rest}");
            let part = |which: &str| -> Vec<Vec<f64>> {
                rows.iter().map(|row| self.linear(&name(&format!("attention.self.{which}")), row)).collect()
            };
            let context = attention(&part("query"), &part("key"), &part("value"));
            rows = rows
                .iter()
                .zip(&context)
                .map(|(row, context)| {
                    let out = self.linear(&name("attention.output.dense"), context);
                    let row = self.norm(&name("attention.output.LayerNorm"), &sum(&out, row));
                    let inner = self.linear(&name("intermediate.dense"), &row);
                    let inner: Vec<f64> = inner.into_iter().map(gelu).collect();
                    let out = self.linear(&name("output.dense"), &inner);
                    self.norm(&name("output.LayerNorm"), &sum(&out, &row))
                })
                .collect();
        }
        let pooled = match self.pooling {
            "cls_token" => rows[0].clone(),
            _ => rows.iter().fold(vec![0.0; DIM], |total, row| sum(&total, row)),
        };
        let length = pooled.iter().map(|x| x * x).sum::<f64>().sqrt();
        pooled.iter().map(|x| x / length).collect()
    }

    fn row(&self, name: &str, at: usize) -> Vec<f64> {
        let (shape, numbers) = &self.tensors[name];
        let width = shape.last().copied().unwrap_or(1);
        numbers[at * width..(at + 1) * width].iter().map(|&x| f64::from(x)).collect()
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let bias = self.row(&format!("{name}.bias"), 0);
        let weights = |output| self.row(&format!("{name}.weight"), output);
        bias.iter().enumerate().map(|(output, bias)| bias + dot(&weights(output), input)).collect()
    }

    fn norm(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let count = input.len() as f64;
        let mean = input.iter().sum::<f64>() / count;
        let variance = input.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let (weight, bias) = (self.row(&format!("{name}.weight"), 0), self.row(&format!("{name}.bias"), 0));
        let scaled = input.iter().map(|x| (x - mean) / (variance + EPSILON).sqrt());
        scaled.zip(weight.iter().zip(&bias)).map(|(x, (weight, bias))| x * weight + bias).collect()
    }
}

fn config() -> serde_json::Value {
    json!({
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": DIM, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": POSITIONS,
        "layer_norm_eps": EPSILON, "hidden_act": "gelu", "vocab_size": vocabulary().len(),
    })
}

fn vocabulary() -> Vec<String> {
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", ".", ",", "?", "-"];
    let letters = ('a'..='z').chain('0'..='9');
    let pieces = letters.flat_map(|c| [c.to_string(), format!("##{c}")]);
    special.into_iter().chain(WORDS).map(str::to_owned).chain(pieces).collect()
}

fn attention(query: &[Vec<f64>], key: &[Vec<f64>], value: &[Vec<f64>]) -> Vec<Vec<f64>> {
    const WIDTH: usize = DIM / HEADS;
    let mut context = vec![vec![0.0; DIM]; query.len()];
    for head in 0..HEADS {
        let part = head * WIDTH..(head + 1) * WIDTH;
        for (row, query) in context.iter_mut().zip(query) {
            let scores: Vec<f64> = key
                .iter()
                .map(|key| (dot(&query[part.clone()], &key[part.clone()]) / (WIDTH as f64).sqrt()).exp())
                .collect();
            let total: f64 = scores.iter().sum();
            for (score, value) in scores.iter().zip(value) {
                for at in part.clone() {
                    row[at] += score / total * value[at];
                }
            }
        }
    }
    context
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn sum(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a + b).collect()
}

/// Computes x Φ(x), with the error function as its series, which is exact enough for arguments of this size.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    if z.abs() > 5.0 {
        return if z > 0.0 { x } else { 0.0 };
    }
    let (mut term, mut series) = (z, z);
    for n in 1..200_u32 {
        term *= -z * z / f64::from(n);
        series += term / f64::from(2 * n + 1);
    }
    x * 0.5 * (1.0 + series * 2.0 / std::f64::consts::PI.sqrt())
}
