//! Parses a published model: a folder of files.
//!
//! `rekindle_embed::pack` handles tensors and vocabularies. This module handles the conventions around them:
//! the location of the vocabulary, the spelling of the pooling, and the prefixes of texts. A model that would
//! run incorrectly is refused, because vectors that differ from its publisher's are worse than none.

use std::path::{Path, PathBuf};

use rekindle_core::base::hash::ContentHash;
use rekindle_embed::{ModelFiles, pack};
use serde_json::{Value, json};

use super::error::{Error, MAX_PREFIX_BYTES};
use crate::platform::disk::{self, FileContent};

/// The maximum size in bytes of the weights: half a billion parameters in f32.
const MAX_WEIGHTS_BYTES: u64 = 2 << 30;
/// The maximum size in bytes of any other file; vocabularies have a few hundred kilobytes.
const MAX_OTHER_BYTES: u64 = 32 << 20;

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const VOCABULARY: &str = "vocab.txt";
const TOKENIZER: &str = "tokenizer.json";
const VOCABULARY_OR_TOKENIZER: &str = "vocab.txt or tokenizer.json";
const PROMPTS: &str = "config_sentence_transformers.json";
const MODULES: &str = "modules.json";
const POOLING: &str = "1_Pooling/config.json";

/// Files of other formats, which a folder may have in place of [`WEIGHTS`].
const OTHER_FORMATS: [&str; 5] =
    ["model.safetensors.index.json", "pytorch_model.bin", "model.onnx", "onnx/model.onnx", "tf_model.h5"];

/// Prefixes from the person, which override those of the folder.
#[derive(Clone, Debug, Default)]
pub struct ModelPrefixes {
    /// The prefix of a query.
    pub query: Option<String>,
    /// The prefix of a memory.
    pub passage: Option<String>,
}

/// The parsed files of a model.
pub(super) struct ModelSource {
    folder: PathBuf,
    config: Vec<u8>,
    weights: Vec<u8>,
    vocabulary: Vec<u8>,
    tokenizer: Option<Vec<u8>>,
    sentence: Option<Vec<u8>>,
    /// The pooling in the form that [`pack`] reads.
    pooling: Option<Vec<u8>>,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
}

impl ModelSource {
    pub(super) fn read(folder: &Path, prefixes: &ModelPrefixes) -> Result<Self, Error> {
        let files = ModelFolder { folder };
        let config = files.read(CONFIG)?;
        let weights = files.read_part(WEIGHTS, MAX_WEIGHTS_BYTES)?;
        let vocabulary = files.read(VOCABULARY)?;
        let fast = files.json(TOKENIZER)?;
        if let Some(kind) = fast.as_ref().and_then(|file| file["model"]["type"].as_str())
            && kind != "WordPiece"
        {
            return Err(files
                .unusable_error(TOKENIZER, &format!("the vocabulary is {kind}, only WordPiece can be run")));
        }
        let found = [
            (CONFIG, config.is_some()),
            (WEIGHTS, weights.is_some()),
            (VOCABULARY_OR_TOKENIZER, vocabulary.is_some() || fast.is_some()),
        ];
        let names: Vec<&str> = found.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
        let (Some(config), Some(weights), [], fast) = (config, weights, names.as_slice(), fast) else {
            let instead = OTHER_FORMATS.into_iter().find(|name| folder.join(name).exists());
            return Err(Error::Missing { folder: folder.to_owned(), names, instead });
        };
        let vocabulary = match (vocabulary, &fast) {
            (Some(vocabulary), _) => vocabulary,
            (None, fast) => vocabulary_lines(fast.as_ref().unwrap_or(&Value::Null))
                .map_err(|problem| files.unusable_error(TOKENIZER, &problem))?
                .into_bytes(),
        };
        let tokenizer = match (files.read("tokenizer_config.json")?, &fast) {
            (None, Some(fast)) => {
                Some(letters(fast).map_err(|problem| files.unusable_error(TOKENIZER, &problem))?.into_bytes())
            }
            (tokenizer, _) => tokenizer,
        };
        if let Some(layer) = files.json(MODULES)?.as_ref().and_then(further_layer) {
            return Err(
                files.unusable_error(MODULES, &format!("it ends in a layer `{layer}`, which cannot be run"))
            );
        }
        let pooling = match files.json(POOLING)? {
            Some(config) => Some(
                pooling(&config).map_err(|problem| files.unusable_error(POOLING, &problem))?.into_bytes(),
            ),
            None => None,
        };
        let prompts = files.json(PROMPTS)?.unwrap_or_default();
        let (query, passage) = prompted(&prompts);
        let source = Self {
            folder: folder.to_owned(),
            config,
            weights,
            vocabulary,
            tokenizer,
            sentence: files.read("sentence_bert_config.json")?,
            pooling,
            query_prefix: prefixes.query.clone().unwrap_or(query),
            passage_prefix: prefixes.passage.clone().unwrap_or(passage),
        };
        for (what, prefix) in [("questions", &source.query_prefix), ("memories", &source.passage_prefix)] {
            if prefix.len() > MAX_PREFIX_BYTES || prefix.contains('\0') {
                return Err(Error::LongPrefix { what });
            }
        }
        Ok(source)
    }

    /// True if the folder specifies the pooling.
    pub(super) fn has_pooling(&self) -> bool {
        self.pooling.is_some()
    }

    /// An id for these exact vectors: the person's name for the model, and a hash of its files. A removed
    /// model and another one added under its name must not share an index (STO-11).
    pub(super) fn id(&self, name: &str) -> String {
        let parts: [&[u8]; 8] = [
            &self.config,
            &self.weights,
            &self.vocabulary,
            self.tokenizer.as_deref().unwrap_or_default(),
            self.sentence.as_deref().unwrap_or_default(),
            self.pooling.as_deref().unwrap_or_default(),
            self.query_prefix.as_bytes(),
            self.passage_prefix.as_bytes(),
        ];
        format!("{name}#{}", ContentHash::of_parts(&parts).short_hex(8))
    }

    /// Packs the model file.
    pub(super) fn pack(&self, id: &str) -> Result<Vec<u8>, Error> {
        let packed = pack(&ModelFiles {
            id,
            config: &self.config,
            weights: &self.weights,
            vocabulary: &self.vocabulary,
            tokenizer: self.tokenizer.as_deref(),
            pooling: self.pooling.as_deref(),
            sentence: self.sentence.as_deref(),
            query_prefix: &self.query_prefix,
            passage_prefix: &self.passage_prefix,
        });
        packed.map_err(|error| Error::Unfit { folder: self.folder.clone(), why: error.to_string() })
    }
}

struct ModelFolder<'a> {
    folder: &'a Path,
}

impl ModelFolder<'_> {
    fn read_part(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let path = self.folder.join(name);
        match disk::read(&path, limit).map_err(Error::io("read", &path))? {
            FileContent::Missing => Ok(None),
            FileContent::Bytes(bytes) => Ok(Some(bytes)),
            FileContent::TooLarge(bytes) => Err(Error::TooLarge { path, bytes, limit }),
            FileContent::NotAFile => Err(self.unusable_error(name, "not a file")),
        }
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.read_part(name, MAX_OTHER_BYTES)
    }

    fn json(&self, name: &str) -> Result<Option<Value>, Error> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let parsed = serde_json::from_slice(&bytes);
        Ok(Some(
            parsed.map_err(|error| self.unusable_error(name, &format!("not JSON: line {}", error.line())))?,
        ))
    }

    fn unusable_error(&self, name: &str, problem: &str) -> Error {
        Error::Unfit { folder: self.folder.to_owned(), why: format!("{name}: {problem}") }
    }
}

/// Converts the vocabulary of a `tokenizer.json` to the format of `vocab.txt`, one word per line.
fn vocabulary_lines(fast: &Value) -> Result<String, String> {
    let listed = fast["model"]["vocab"].as_object().ok_or("it has no vocabulary")?;
    let listed = listed.iter().filter_map(|(word, id)| Some((id.as_u64()?, word.as_str())));
    let added = fast["added_tokens"].as_array().into_iter().flatten();
    let added = added.filter_map(|token| Some((token["id"].as_u64()?, token["content"].as_str()?)));
    let mut words: Vec<(u64, &str)> = listed.chain(added).collect();
    words.sort_unstable();
    words.dedup();
    if !words.iter().map(|(id, _)| *id).eq(0..words.len() as u64) {
        return Err("the ids of its vocabulary do not go from 0 without gaps".to_owned());
    }
    if words.iter().any(|(_, word)| word.contains(['\n', '\r'])) {
        return Err("a word of its vocabulary has a line break".to_owned());
    }
    Ok(words.iter().flat_map(|(_, word)| [*word, "\n"]).collect())
}

/// Converts the normalizer of a `tokenizer.json` to the format of `tokenizer_config.json`.
fn letters(fast: &Value) -> Result<String, String> {
    let rules = &fast["normalizer"];
    match rules["type"].as_str() {
        Some("BertNormalizer") => {}
        other => {
            let other = other.unwrap_or("missing");
            return Err(format!("the normalizer is {other}, only BertNormalizer can be run"));
        }
    }
    let letters = json!({
        "do_lower_case": rules["lowercase"],
        "strip_accents": rules["strip_accents"],
        "tokenize_chinese_chars": rules["handle_chinese_chars"],
    });
    Ok(letters.to_string())
}

/// Finds a layer after the pooling that changes the vectors.
fn further_layer(modules: &Value) -> Option<&str> {
    let kinds = modules.as_array()?.iter().filter_map(|module| module["type"].as_str());
    let mut kinds = kinds.map(|kind| kind.rsplit('.').next().unwrap_or(kind));
    // Normalisation is ignored: vectors are normalised in any case, which changes no ranking.
    kinds.find(|kind| !["Transformer", "Pooling", "Normalize"].contains(kind))
}

/// Converts the pooling, in either published spelling, to the form that [`pack`] reads. Two modes together
/// mean a concatenation of two vectors.
fn pooling(config: &Value) -> Result<String, String> {
    let marked = config.as_object().into_iter().flatten();
    let mut modes: Vec<&str> = marked
        .filter(|(key, value)| key.starts_with("pooling_mode_") && value.as_bool() == Some(true))
        .map(|(key, _)| key.trim_start_matches("pooling_mode_"))
        .collect();
    modes.extend(config["pooling_mode"].as_str());
    let key = match modes.as_slice() {
        ["mean" | "mean_tokens"] => "pooling_mode_mean_tokens",
        ["cls" | "cls_token"] => "pooling_mode_cls_token",
        _ => {
            let modes = if modes.is_empty() { "nothing".to_owned() } else { modes.join(" and ") };
            return Err(format!("it pools by {modes}, only mean or cls alone can be run"));
        }
    };
    Ok(json!({key: true}).to_string())
}

/// The prefixes of a query and of a memory.
fn prompted(config: &Value) -> (String, String) {
    let prompt = |name: &str| config["prompts"][name].as_str();
    let usual = config["default_prompt_name"].as_str().and_then(prompt);
    let first = |names: &[&str]| {
        let named = names.iter().find_map(|name| prompt(name));
        named.or(usual).unwrap_or_default().to_owned()
    };
    (first(&["query"]), first(&["document", "passage", "corpus"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_of_a_tokenizer_file_is_in_the_order_of_its_ids() {
        let fast = json!({
            "model": {"vocab": {"b": 2, "[PAD]": 0, "##c": 1}},
            "added_tokens": [{"id": 0, "content": "[PAD]"}, {"id": 3, "content": "[NEW]"}],
        });
        assert_eq!(vocabulary_lines(&fast).unwrap(), "[PAD]\n##c\nb\n[NEW]\n");
        let gap = json!({"model": {"vocab": {"a": 0, "b": 2}}});
        assert!(vocabulary_lines(&gap).unwrap_err().contains("without gaps"));
        let twice = json!({"model": {"vocab": {"a": 0, "b": 0}}});
        assert!(vocabulary_lines(&twice).unwrap_err().contains("without gaps"));
        assert!(
            vocabulary_lines(&json!({"model": {"vocab": {"a\nb": 0}}})).unwrap_err().contains("line break")
        );
        assert!(vocabulary_lines(&json!([])).unwrap_err().contains("no vocabulary"));
    }

    #[test]
    fn pooling_is_read_in_both_spellings_and_two_at_once_are_refused() {
        let mean = r#"{"pooling_mode_mean_tokens":true}"#;
        let first = r#"{"pooling_mode_cls_token":true}"#;
        let old = json!({"word_embedding_dimension": 64, "pooling_mode_cls_token": false,
            "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false});
        assert_eq!(pooling(&old).unwrap(), mean);
        assert_eq!(pooling(&json!({"pooling_mode": "mean"})).unwrap(), mean);
        assert_eq!(pooling(&json!({"pooling_mode": "cls"})).unwrap(), first);
        assert_eq!(pooling(&json!({"pooling_mode_cls_token": true})).unwrap(), first);
        for (bad, named) in [
            (
                json!({"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}),
                "mean_tokens and max_tokens",
            ),
            (json!({"pooling_mode_lasttoken": true}), "lasttoken"),
            (json!({"pooling_mode": "max"}), "max"),
            (json!({}), "nothing"),
            (json!([1]), "nothing"),
        ] {
            assert!(pooling(&bad).unwrap_err().contains(named), "{bad}");
        }
    }

    #[test]
    fn prefixes_come_from_the_prompts() {
        let pair = |query: &str, passage: &str| (query.to_owned(), passage.to_owned());
        assert_eq!(prompted(&json!({"__version__": {}})), pair("", ""));
        assert_eq!(
            prompted(&json!({"prompts": {"query": "query: ", "passage": "passage: "}})),
            pair("query: ", "passage: ")
        );
        assert_eq!(
            prompted(&json!({"prompts": {"query": "q", "document": "d", "passage": "p"}})),
            pair("q", "d")
        );
        let usual = json!({"prompts": {"query": "q", "sts": "s"}, "default_prompt_name": "sts"});
        assert_eq!(prompted(&usual), pair("q", "s"));
        assert_eq!(prompted(&json!({"prompts": ["query"], "default_prompt_name": null})), pair("", ""));
    }

    #[test]
    fn a_layer_after_the_pooling_is_found() {
        let module = |kind: &str| json!({"type": format!("sentence_transformers.models.{kind}")});
        let usual = json!([module("Transformer"), module("Pooling"), module("Normalize")]);
        assert_eq!(further_layer(&usual), None);
        assert_eq!(
            further_layer(&json!([module("Transformer"), module("Pooling"), module("Dense")])),
            Some("Dense")
        );
        assert_eq!(further_layer(&json!({})), None);
    }

    #[test]
    fn letters_come_from_the_normalizer() {
        let fast = json!({"normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": null,
            "handle_chinese_chars": true}});
        assert_eq!(
            letters(&fast).unwrap(),
            r#"{"do_lower_case":false,"strip_accents":null,"tokenize_chinese_chars":true}"#
        );
        assert!(letters(&json!({"normalizer": {"type": "NFKC"}})).unwrap_err().contains("NFKC"));
        assert!(letters(&json!({})).unwrap_err().contains("missing"));
    }
}
