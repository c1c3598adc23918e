//! Model files: made, read, damaged. A small model made here stands for those a person may add.
#![expect(clippy::unwrap_used, reason = "a golden file or a small model that cannot be made fails the test")]

use std::sync::LazyLock;

use proptest::prelude::*;
use rekindle_embed::{
    CrossEncoder, EmbeddingModel, EncoderScratch, Error, ModelFiles, Pooling, TextRole, pack,
    pack_cross_encoder,
};
use rekindle_testkit::damage::damage;
use serde_json::{Value, json};

const HIDDEN: usize = 64;
const INTERMEDIATE: usize = 128;
const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\n##s\nquery\n:\n";
const CONFIG: &str = r#"{"model_type":"bert","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":2,
    "intermediate_size":128,"max_position_embeddings":32,"layer_norm_eps":1e-12,"hidden_act":"gelu"}"#;
const FIRST: &[u8] = br#"{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}"#;

/// Tensors of numbers that mean nothing but differ, under `bert.` as some models have them.
fn safetensors() -> Vec<u8> {
    tensors(32)
}

fn tensors(positions: usize) -> Vec<u8> {
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("classifier.weight".into(), vec![1, HIDDEN]),
        ("classifier.bias".into(), vec![1]),
        ("embeddings.word_embeddings.weight".into(), vec![10, HIDDEN]),
        ("embeddings.position_embeddings.weight".into(), vec![positions, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".into(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".into(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        let matrices = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INTERMEDIATE, HIDDEN),
            ("output.dense", HIDDEN, INTERMEDIATE),
        ];
        for (name, outputs, inputs) in matrices {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![HIDDEN]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![HIDDEN]));
        }
    }
    let (mut table, mut body) = (Vec::new(), Vec::new());
    for (name, shape) in shapes {
        let start = body.len();
        let count: usize = shape.iter().product();
        body.extend((0..count).flat_map(|i| (((i * 31 + start) % 97) as f32 / 97.0 - 0.45).to_le_bytes()));
        let end = body.len();
        table.push(format!(
            r#""bert.{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let table = format!("{{{}}}", table.join(","));
    let mut file = (table.len() as u64).to_le_bytes().to_vec();
    file.extend(table.as_bytes());
    file.extend(body);
    file
}

fn folder(weights: &[u8]) -> ModelFiles<'_> {
    ModelFiles {
        id: "small",
        config: CONFIG.as_bytes(),
        weights,
        vocabulary: VOCABULARY.as_bytes(),
        tokenizer: None,
        pooling: None,
        sentence: None,
        query_prefix: "",
        passage_prefix: "",
    }
}

fn small() -> Vec<u8> {
    pack(&folder(&safetensors())).unwrap()
}

/// A small model with room for two texts, and a cross-encoder over its words.
fn pair() -> (Vec<u8>, Vec<u8>) {
    let (weights, config) = (tensors(256), CONFIG.replace("32", "256"));
    let model = pack(&ModelFiles { config: config.as_bytes(), ..folder(&weights) }).unwrap();
    let cross_encoder = pack_cross_encoder(&model, "small cross-encoder", &weights).unwrap();
    (model, cross_encoder)
}

/// Bytes at an address of our choice: `shift` beyond a multiple of 64.
struct PlacedBytes {
    room: Vec<u8>,
    start: usize,
    length: usize,
}

fn placed(bytes: &[u8], shift: usize) -> PlacedBytes {
    let mut room = vec![0; bytes.len() + 128];
    let start = room.as_ptr().align_offset(64) + shift;
    room[start..start + bytes.len()].copy_from_slice(bytes);
    PlacedBytes { room, start, length: bytes.len() }
}

impl PlacedBytes {
    fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.start + self.length]
    }
}

/// The file with another byte at one place.
fn changed(file: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at] = value;
    file
}

/// Parses these bytes as a model, runs it if that succeeds, and returns the outcome.
fn say(bytes: &[u8]) -> Result<(), Error> {
    let placed = placed(bytes, 0);
    let model = EmbeddingModel::from_bytes(placed.bytes())?;
    for text in ["", "hello worlds [MASK] and more", "日本 [SEP]"] {
        assert_eq!(model.embed(&mut EncoderScratch::new(), TextRole::Query, text).len(), model.dimension());
    }
    Ok(())
}

#[test]
fn sto_11_the_built_in_model_is_whole_and_says_what_it_is() {
    let model = EmbeddingModel::builtin();
    assert_eq!((model.id(), model.dimension(), model.max_tokens()), ("all-MiniLM-L6-v2", 384, 256));
    assert_eq!(model.pooling(), Pooling::Mean);
    model.verify().unwrap();
}

#[test]
fn a_packed_model_reads_back_and_packing_again_gives_the_same_bytes() {
    let file = small();
    assert_eq!(file, small());
    let placed = placed(&file, 0);
    let model = EmbeddingModel::from_bytes(placed.bytes()).unwrap();
    model.verify().unwrap();
    assert_eq!((model.id(), model.dimension(), model.max_tokens()), ("small", 64, 32));
    assert_eq!(model.tokenize("Hello worlds, [MASK]"), [2, 5, 6, 7, 1, 4, 3]);
    let mut scratch = EncoderScratch::new();
    let [a, b] = ["hello", "world"].map(|text| model.embed(&mut scratch, TextRole::Passage, text));
    assert_ne!(a, b);
    assert!((a.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn pooling_limit_and_prefixes_come_from_the_folder() {
    let weights = safetensors();
    let plain = placed(&small(), 0);
    let plain = EmbeddingModel::from_bytes(plain.bytes()).unwrap();
    let file = pack(&ModelFiles {
        pooling: Some(FIRST),
        sentence: Some(br#"{"max_seq_length":6}"#),
        query_prefix: "query: ",
        ..folder(&weights)
    });
    let file = placed(&file.unwrap(), 0);
    let model = EmbeddingModel::from_bytes(file.bytes()).unwrap();
    assert_eq!((model.pooling(), model.max_tokens()), (Pooling::First, 6));
    let mut scratch = EncoderScratch::new();
    let mut embed = |model: &EmbeddingModel<'_>, role, text| model.embed(&mut scratch, role, text);
    assert_eq!(embed(&model, TextRole::Query, "hello"), embed(&model, TextRole::Passage, "query: hello"));
    assert_ne!(embed(&model, TextRole::Query, "hello"), embed(&model, TextRole::Passage, "hello"));
    assert_ne!(embed(&model, TextRole::Passage, "hello"), embed(&plain, TextRole::Passage, "hello"));
    assert_eq!(model.tokenize("hello hello hello hello hello").len(), 6);
}

#[test]
fn models_that_cannot_be_run_are_refused_by_name() {
    let weights = safetensors();
    let refuse = |folder: ModelFiles<'_>| pack(&folder).unwrap_err().to_string();
    let config = |from: &str, to: &str| CONFIG.replace(from, to);
    let with = |config: &str| refuse(ModelFiles { config: config.as_bytes(), ..folder(&weights) });
    assert_eq!(
        with(&config(r#""bert""#, r#""nomic_bert""#)),
        r#"config.json: model_type is "nomic_bert", only "bert" can be run"#
    );
    assert_eq!(with(&config("gelu", "relu")), r#"config.json: hidden_act is "relu", only "gelu" can be run"#);
    assert_eq!(with(&config(":64", ":65")), "config.json: hidden_size is 65, not a multiple of 64");
    assert_eq!(with(&config(":64", ":0")), "config.json: hidden_size is missing or makes no sense");
    assert_eq!(
        with(&config(":128", ":192")),
        "model.safetensors: encoder.layer.0.intermediate.dense.weight has the shape [128, 64], not [192, 64]"
    );
    assert!(with(&config(r#"heads":2"#, r#"heads":4"#)).contains("head count is 4"));
    assert_eq!(with("[]"), "config.json: hidden_size is missing or makes no sense");
    assert_eq!(with("{\n"), "config.json: not JSON: line 2");
    let vocabulary = VOCABULARY.replace("[SEP]", "</s>");
    assert_eq!(
        refuse(ModelFiles { vocabulary: vocabulary.as_bytes(), ..folder(&weights) }),
        "vocab.txt: no [SEP] in it: not a BERT vocabulary"
    );
    assert_eq!(
        refuse(ModelFiles { vocabulary: b"a\xff", ..folder(&weights) }),
        "vocab.txt: not UTF-8 from byte 1"
    );
    assert!(refuse(ModelFiles { id: &"x".repeat(64), ..folder(&weights) }).contains("longer than 63 bytes"));
    assert!(refuse(ModelFiles { pooling: Some(b"{}"), ..folder(&weights) }).contains("neither mean nor CLS"));
    assert_eq!(
        refuse(ModelFiles { weights: &weights[..weights.len() - 4], ..folder(&weights) }),
        "model.safetensors: encoder.layer.1.output.LayerNorm.bias goes beyond the end"
    );
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let file = small();
    let length = file.len() as u64;
    assert_eq!(say(b""), Err(Error::Foreign));
    assert_eq!(say(&[0; 600]), Err(Error::Foreign));
    assert_eq!(say(&file[..100]), Err(Error::Length { part: "the header", expected: 512, found: 100 }));
    let short = &file[..file.len() - 1];
    assert_eq!(say(short), Err(Error::Length { part: "the header", expected: length, found: length - 1 }));
    let changed = |at, value| changed(&file, at, value);
    assert_eq!(say(&changed(8, 9)), Err(Error::Version { found: 9, supported: 1 }));
    assert_eq!(say(&changed(32, 65)), Err(Error::Header { field: "hidden size", value: 65, at: 32 }));
    // One layer more than there is.
    assert!(matches!(say(&changed(36, 3)), Err(Error::Length { part: "query, key and value", .. })));
    assert!(matches!(say(&changed(36, 1)), Err(Error::Length { part: "the last section", .. })));
    assert_eq!(EmbeddingModel::from_bytes(placed(&file, 4).bytes()).unwrap_err(), Error::Misaligned);
    let flipped = changed(file.len() - 7, file[file.len() - 7] ^ 1);
    let flipped = placed(&flipped, 0);
    assert!(matches!(
        EmbeddingModel::from_bytes(flipped.bytes()).unwrap().verify(),
        Err(Error::Checksum { .. })
    ));
}

/// Parses these bytes as a cross-encoder, runs it if that succeeds, and returns the outcome.
fn say_cross_encoder(model: &[u8], bytes: &[u8]) -> Result<(), Error> {
    let (model, cross_encoder) = (placed(model, 0), placed(bytes, 0));
    let model = EmbeddingModel::from_bytes(model.bytes())?;
    let cross_encoder = CrossEncoder::from_bytes(&model, cross_encoder.bytes())?;
    for text in ["", "hello worlds [MASK] and more", &"worlds hello ".repeat(200)] {
        cross_encoder.score(
            &mut EncoderScratch::new(),
            &cross_encoder.prompt(text),
            &[cross_encoder.passage(text)],
        );
    }
    Ok(())
}

#[test]
fn what_is_wrong_with_a_reader_is_said() {
    let (model, file) = pair();
    let length = file.len() as u64;
    let say = |bytes: &[u8]| say_cross_encoder(&model, bytes);
    assert_eq!(say(&file), Ok(()));
    assert_eq!(say(&model), Err(Error::Foreign), "a model is no reader");
    assert_eq!(say_cross_encoder(&file, &file), Err(Error::Foreign), "and a cross-encoder no model");
    let short = &file[..file.len() - 1];
    assert_eq!(say(short), Err(Error::Length { part: "the header", expected: length, found: length - 1 }));
    let changed = |at, value| changed(&file, at, value);
    assert!(matches!(say(&changed(36, 1)), Err(Error::Length { part: "the last section", .. })));
    let other = Error::OtherWords { reader: "small cross-encoder".into(), model: "all-MiniLM-L6-v2".into() };
    let placed_file = placed(&file, 0);
    assert_eq!(CrossEncoder::from_bytes(EmbeddingModel::builtin(), placed_file.bytes()).unwrap_err(), other);
    let weights = safetensors();
    let narrow = pack_cross_encoder(&small(), "narrow", &weights).unwrap();
    assert_eq!(
        say_cross_encoder(&small(), &narrow),
        Err(Error::Header { field: "token limit", value: 32, at: 52 }),
        "no room for two texts"
    );
    assert_eq!(
        pack_cross_encoder(&model, "none", b"\x02\0\0\0\0\0\0\0{}").unwrap_err().to_string(),
        "model.safetensors: embeddings.position_embeddings.weight is missing"
    );
    let named = pack_cross_encoder(&model, &"x".repeat(64), &weights).unwrap_err().to_string();
    assert!(named.contains("longer than 63 bytes"), "{named}");
    let flipped = changed(file.len() - 7, file[file.len() - 7] ^ 1);
    let (flipped, model) = (placed(&flipped, 0), placed(&model, 0));
    let model = EmbeddingModel::from_bytes(model.bytes()).unwrap();
    let cross_encoder = CrossEncoder::from_bytes(&model, flipped.bytes()).unwrap();
    assert!(matches!(cross_encoder.verify(), Err(Error::Checksum { .. })));
    assert_eq!(CrossEncoder::builtin().verify(), Ok(()));
}

#[test]
fn a_reader_has_as_many_layers_as_it_was_taught_with() {
    let (weights, config) = (tensors(256), CONFIG.replace("32", "256"));
    let shallow = config.replace(r#""num_hidden_layers":2"#, r#""num_hidden_layers":1"#);
    let model = pack(&ModelFiles { config: shallow.as_bytes(), ..folder(&weights) }).unwrap();
    let cross_encoder = pack_cross_encoder(&model, "deeper", &weights).unwrap();
    assert_eq!((model[36], cross_encoder[36]), (1, 2), "layers, where the header has them");
    assert_eq!(say_cross_encoder(&model, &cross_encoder), Ok(()));
}

#[test]
fn a_prompt_is_read_from_both_ends_and_a_memory_from_its_beginning() {
    let cross_encoder = CrossEncoder::builtin();
    let read = |prompt: &str, memory: &str| {
        cross_encoder.score(
            &mut EncoderScratch::new(),
            &cross_encoder.prompt(prompt),
            &[cross_encoder.passage(memory)],
        )[0]
    };
    let log = "error ".repeat(100);
    let (start, end) = (format!("why does the export fail {log}"), format!("{log} why does the export fail"));
    let (other, note) =
        (format!("thanks {log}"), "The export needs the bank's file, which arrives at three.");
    assert_ne!(read(&start, note).to_bits(), read(&other, note).to_bits());
    assert_ne!(read(&end, note).to_bits(), read(&log, note).to_bits());
    let long = |last: &str| format!("{} {last}", "word ".repeat(120));
    assert_eq!(read("why", &long("here")).to_bits(), read("why", &long("there")).to_bits());
    assert!(read("", "").is_finite());
}

#[test]
fn a_megabyte_of_anything_is_cut_to_the_limit() {
    let model = EmbeddingModel::builtin();
    for (unit, tokens) in
        [("a", 3), ("[", 256), ("\u{301}", 2), ("\0", 2), ("word ", 256), ("[MASK]", 256), ("\u{ac01}", 3)]
    {
        let ids = model.tokenize(&unit.repeat((1 << 20) / unit.len()));
        assert_eq!(ids.len(), tokens, "{unit:?}");
        assert_eq!(ids[tokens - 1], 102);
    }
}

/// The files of a folder as a person may have them, with all that may be there.
struct TestModelFiles {
    weights: Vec<u8>,
    config: Vec<u8>,
    vocabulary: Vec<u8>,
    tokenizer: Vec<u8>,
    pooling: Vec<u8>,
    sentence: Vec<u8>,
}

impl TestModelFiles {
    fn new() -> Self {
        Self {
            weights: safetensors(),
            config: CONFIG.into(),
            vocabulary: VOCABULARY.into(),
            tokenizer: br#"{"do_lower_case":true,"strip_accents":null,"tokenize_chinese_chars":true}"#.into(),
            pooling: FIRST.into(),
            sentence: br#"{"max_seq_length":16}"#.into(),
        }
    }

    fn nth(&mut self, place: usize) -> &mut Vec<u8> {
        match place {
            0 => &mut self.weights,
            1 => &mut self.config,
            2 => &mut self.vocabulary,
            3 => &mut self.tokenizer,
            4 => &mut self.pooling,
            _ => &mut self.sentence,
        }
    }

    /// Packs them, runs the model if that succeeds, and returns the outcome.
    fn say(&self) -> Result<(), Error> {
        let file = pack(&ModelFiles {
            config: &self.config,
            vocabulary: &self.vocabulary,
            tokenizer: Some(&self.tokenizer),
            pooling: Some(&self.pooling),
            sentence: Some(&self.sentence),
            ..folder(&self.weights)
        })?;
        say(&file)
    }
}

/// Weights with another table of what stands where.
fn with_table(weights: &[u8], change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<u8> {
    let (length, rest) = weights.split_first_chunk::<8>().unwrap();
    let (table, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut table: serde_json::Map<String, Value> = serde_json::from_slice(table).unwrap();
    change(&mut table);
    let table = serde_json::to_vec(&table).unwrap();
    [&(table.len() as u64).to_le_bytes()[..], &table[..], body].concat()
}

/// Unexpected values for a number, a word or a shape.
fn odd() -> impl Strategy<Value = Value> {
    let numbers =
        [0_u64, 1, 2, 3, 31, 63, 64, 65, 128, 192, 4096, 16384, 1 << 20, 1 << 32, 1 << 62, u64::MAX];
    let number = prop_oneof![prop::sample::select(numbers.to_vec()), any::<u64>()].boxed();
    prop_oneof![
        prop::sample::select(vec![
            json!(null),
            json!(true),
            json!([]),
            json!({}),
            json!("F16"),
            json!("BF16")
        ]),
        number.clone().prop_map(|number| json!(number)),
        prop::collection::vec(number, 0..4).prop_map(|numbers| json!(numbers)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
    ]
}

#[test]
fn r_04_a_folder_with_all_its_files_is_a_model() {
    let files = TestModelFiles::new();
    assert_eq!(files.say(), Ok(()));
    let same = TestModelFiles { weights: with_table(&files.weights, |_| {}), ..files };
    assert_eq!(same.say(), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r_04_a_damaged_folder_is_refused_or_is_a_model(place in 0_usize..6, damage in damage()) {
        let mut files = TestModelFiles::new();
        let file = files.nth(place);
        *file = damage.to(file);
        let _refused = files.say();
    }

    #[test]
    fn r_04_any_bytes_in_a_folder_are_refused_or_a_model(
        place in 0_usize..6, bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut files = TestModelFiles::new();
        *files.nth(place) = bytes;
        let _refused = files.say();
    }

    #[test]
    fn r_04_settings_that_say_something_odd_are_refused_or_a_model(
        (place, key) in prop::sample::select(vec![
            (1_usize, "hidden_size"),
            (1, "num_hidden_layers"),
            (1, "num_attention_heads"),
            (1, "intermediate_size"),
            (1, "max_position_embeddings"),
            (1, "layer_norm_eps"),
            (1, "model_type"),
            (3, "do_lower_case"),
            (3, "strip_accents"),
            (4, "pooling_mode_mean_tokens"),
            (5, "max_seq_length"),
        ]),
        odd in odd(),
    ) {
        let mut files = TestModelFiles::new();
        let file = files.nth(place);
        let mut settings: Value = serde_json::from_slice(file).unwrap();
        settings[key] = odd;
        *file = settings.to_string().into_bytes();
        let _refused = files.say();
    }

    #[test]
    fn r_04_weights_whose_table_says_something_odd_are_refused_or_a_model(
        tensor in any::<prop::sample::Index>(),
        key in prop::sample::select(vec!["dtype", "shape", "data_offsets"]),
        odd in odd(),
    ) {
        let mut files = TestModelFiles::new();
        files.weights = with_table(&files.weights, |table| {
            let tensor = tensor.index(table.len());
            if let Some(entry) = table.values_mut().nth(tensor) {
                entry[key] = odd;
            }
        });
        let _refused = files.say();
    }
}

/// Texts that a tokenizer stumbles over: long words, marks upon marks, what cannot be seen, tokens written out in the
/// middle of a word.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,80}",
        "[\\x00-\\x{10ffff}]{0,80}",
        "[a-zA-Z]{90,220}",
        "([a-zéÅ][\u{300}-\u{36f}\u{20d0}-\u{20ff}]{0,30}){1,5}",
        "[\\x00-\\x1f\\x7f-\\x{9f}\u{ad}\u{200b}-\u{200f}\u{feff}\u{fffd}]{1,20}",
        "[a-z]{0,4}\\[(CLS|SEP|UNK|PAD|MASK|mask)\\]?[a-z#]{0,4}",
        "[ \\t\\r\\n\u{a0}\u{2028}\u{3000}]{1,10}",
        "[一-龥ぁ-ん가-힣ｱ-ﾝ]{1,60}",
        "(##|\\[|\\]|_|-|İ|ß|ﬁ|ǆ){1,40}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

static SMALL: LazyLock<PlacedBytes> = LazyLock::new(|| placed(&small(), 0));

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_tokens_of_the_vocabulary_between_two_ends(text in nasty()) {
        let small = EmbeddingModel::from_bytes(SMALL.bytes()).unwrap();
        for (model, start, end, words) in [(EmbeddingModel::builtin(), 101, 102, 30_522), (&small, 2, 3, 10)] {
            let ids = model.tokenize(&text);
            prop_assert!(ids.len() >= 2 && ids.len() <= model.max_tokens());
            prop_assert_eq!((ids[0], ids[ids.len() - 1]), (start, end));
            prop_assert!(ids.iter().all(|id| *id < words));
            prop_assert_eq!(&model.tokenize(&text), &ids);
            // Later text changes nothing before it.
            let longer = model.tokenize(&format!("{text} {text}"));
            prop_assert!(longer.starts_with(&ids[..ids.len() - 1]));
            prop_assert!(longer.len() >= ids.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_model(mut bytes in prop::collection::vec(any::<u8>(), 0..2000), magic: bool) {
        if magic {
            let start = b"RKEMBED\n\x01\0\0\0\0\x02\0\0";
            bytes.splice(..bytes.len().min(start.len()), start.iter().copied());
        }
        prop_assert!(say(&bytes).is_err());
    }

    #[test]
    fn a_damaged_file_is_refused_or_does_no_harm(damage in damage()) {
        let _refused = say(&damage.to(&small()));
    }

    #[test]
    fn a_damaged_reader_is_refused_or_does_no_harm(damage in damage()) {
        let (model, file) = pair();
        let _refused = say_cross_encoder(&model, &damage.to(&file));
    }

    #[test]
    fn any_two_texts_can_be_read(
        prompt in "\\PC{0,40}|[\\x00-\\x{10ffff}]{0,400}", memory in "\\PC{0,40}|[\\x00-\\x{10ffff}]{0,400}",
    ) {
        let cross_encoder = CrossEncoder::builtin();
        let score = cross_encoder.score(&mut EncoderScratch::new(), &cross_encoder.prompt(&prompt), &[cross_encoder.passage(&memory)]);
        prop_assert!(score[0].is_finite());
    }

    #[test]
    fn any_text_has_a_vector_of_length_one(text in "\\PC{0,40}|[\\x00-\\x{10ffff}]{0,40}") {
        let model = EmbeddingModel::builtin();
        let ids = model.tokenize(&text);
        prop_assert!(ids.len() >= 2 && ids.len() <= model.max_tokens());
        prop_assert!((ids[0], ids[ids.len() - 1]) == (101, 102));
        let vector = model.embed(&mut EncoderScratch::new(), TextRole::Query, &text);
        let length: f32 = vector.iter().map(|x| x * x).sum();
        prop_assert!((length - 1.0).abs() < 1e-5);
    }
}
