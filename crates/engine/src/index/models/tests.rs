#![expect(clippy::disallowed_methods, reason = "the test plays the person and the disk")]

use std::fs;

use proptest::prelude::*;
use rekindle_testkit::TinyBert;
use serde_json::{Value, json};

use super::*;
use rekindle_testkit::damage::damage;

/// A home, and a folder for models to add.
struct ModelsFixture {
    root: tempfile::TempDir,
    models: ModelStore,
}

impl ModelsFixture {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = HomeFolder::find_with(Some(&root.path().join("home")), None, None).unwrap();
        Self { models: ModelStore::open(&home), root }
    }

    fn folder(&self, name: &str, bert: &TinyBert) -> PathBuf {
        let folder = self.root.path().join(name);
        bert.write(&folder);
        folder
    }

    fn add(&self, name: &str, bert: &TinyBert) -> AddedModel {
        self.models.add(&self.folder(name, bert), None, &ModelPrefixes::default()).unwrap()
    }
}

const TEXTS: [&str; 5] = [
    "the nightly backup failed",
    "What port does the staging database use?",
    "hello",
    "zebra-42: rollback, rollback, rollback the release when the deploy failed.",
    "",
];

fn cosine(vector: &[f32], reference: &[f64]) -> f64 {
    vector.iter().zip(reference).map(|(a, b)| f64::from(*a) * b).sum()
}

#[test]
fn r_04_an_added_model_gives_the_vectors_of_its_weights_by_either_pooling() {
    let trial = ModelsFixture::new();
    for (name, bert, pooling) in
        [("mean", TinyBert::new(1), Pooling::Mean), ("first", TinyBert::cls(1), Pooling::First)]
    {
        trial.add(name, &bert);
        let model = trial.models.load(name).unwrap();
        assert_eq!((model.name(), model.pooling()), (format!("local/{name}").as_str(), pooling));
        let mut scratch = EncoderScratch::new();
        for text in TEXTS {
            let vector = model.embed(&mut scratch, TextRole::Passage, text);
            let alike = cosine(&vector, &bert.embed(&model.tokenize(text)));
            assert!(alike > 0.995, "{name}, {text:?}: {alike}");
        }
    }
}

#[test]
fn r_04_prefixes_go_before_questions_and_memories() {
    let trial = ModelsFixture::new();
    let bert = TinyBert::new(2);
    let folder = trial.folder("e5", &bert);
    let prompts = r#"{"prompts":{"query":"query: ","passage":"passage: "},"default_prompt_name":null}"#;
    fs::write(folder.join("config_sentence_transformers.json"), prompts).unwrap();
    let added = trial.models.add(&folder, None, &ModelPrefixes::default()).unwrap();
    assert_eq!((added.query_prefix.as_str(), added.passage_prefix.as_str()), ("query: ", "passage: "));
    let own = ModelPrefixes { query: Some("what ".to_owned()), passage: Some(String::new()) };
    trial.models.add(&folder, Some("own"), &own).unwrap();

    let mut scratch = EncoderScratch::new();
    for (name, query, passage) in [("e5", "query: ", "passage: "), ("own", "what ", "")] {
        let model = trial.models.load(name).unwrap();
        for text in TEXTS {
            for (role, prefix) in [(TextRole::Query, query), (TextRole::Passage, passage)] {
                let vector = model.embed(&mut scratch, role, text);
                let reference = bert.embed(&model.tokenize(&format!("{prefix}{text}")));
                assert!(cosine(&vector, &reference) > 0.995, "{name}, {prefix}{text}");
            }
        }
        let [query, passage] =
            [TextRole::Query, TextRole::Passage].map(|role| model.embed(&mut scratch, role, "hello"));
        assert_ne!(query, passage, "{name}");
    }
}

#[test]
fn a_folder_with_a_tokenizer_file_alone_tokenizes_the_same() {
    let trial = ModelsFixture::new();
    let folder = trial.folder("both", &TinyBert::new(3));
    trial.models.add(&folder, None, &ModelPrefixes::default()).unwrap();
    fs::remove_file(folder.join("vocab.txt")).unwrap();
    trial.models.add(&folder, Some("fast"), &ModelPrefixes::default()).unwrap();
    let [both, fast] = ["both", "fast"].map(|name| trial.models.load(name).unwrap());
    for text in TEXTS {
        assert_eq!(both.tokenize(text), fast.tokenize(text));
    }
    assert!(both.tokenize("Backup zebra").contains(&12), "words are found whole");
}

#[test]
fn sto_11_another_model_under_an_old_name_has_another_id() {
    let trial = ModelsFixture::new();
    let settings = config::read(&trial.models.home, None, &[]).unwrap();
    let id = |trial: &ModelsFixture| trial.models.load("same").unwrap().id().to_owned();
    trial.add("same", &TinyBert::new(4));
    let first = id(&trial);
    assert!(first.starts_with("local/same#") && first.len() == "local/same#".len() + 8, "{first}");
    for bert in [TinyBert::new(5), TinyBert::cls(4)] {
        trial.models.remove("same", &settings).unwrap();
        trial.add("same", &bert);
        assert_ne!(id(&trial), first);
    }
    trial.models.remove("same", &settings).unwrap();
    trial.add("same", &TinyBert::new(4));
    assert_eq!(id(&trial), first, "the same files are the same model");
}

#[test]
fn sto_12_a_second_load_is_the_first_ones_memory() {
    let trial = ModelsFixture::new();
    trial.add("twice", &TinyBert::new(6));
    let [one, other] = [(); 2].map(|()| trial.models.load("local/twice").unwrap());
    assert!(std::ptr::eq(&raw const *one, &raw const *other));
    let builtin = trial.models.load(BUILTIN_MODEL).unwrap();
    assert!(std::ptr::eq(&raw const *builtin, EmbeddingModel::builtin()));
}

#[test]
fn rec_11_what_cannot_be_loaded_says_what_to_do() {
    let trial = ModelsFixture::new();
    for (name, message) in [
        ("local/gone", "there is no model local/gone on this machine"),
        ("gone", "there is no model local/gone on this machine"),
        (
            "nomic-ai/nomic-embed-text-v1.5",
            "there is no model nomic-ai/nomic-embed-text-v1.5 on this machine",
        ),
        ("builtin/other", "there is no model builtin/other on this machine"),
    ] {
        let error = trial.models.load(name).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().unwrap().contains("`rekindle model use builtin/all-minilm-l6-v2`"));
    }
    for name in ["", "..", "../x", "A", "a b", "a--b", "-a", "con", "é", &"x".repeat(41)] {
        assert!(trial.models.load(name).is_err(), "{name:?}");
    }

    trial.add("broken", &TinyBert::new(7));
    let path = trial.models.path("local/broken");
    let whole = fs::read(&path).unwrap();
    for damaged in [&whole[..whole.len() - 1], &whole[..100], b"", &[0; 4096]] {
        fs::write(&path, damaged).unwrap();
        let error = trial.models.load("broken").unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }) && !error.is_usage(), "{error}");
        assert!(error.hint().unwrap().starts_with("`rekindle model use builtin/all-minilm-l6-v2`"));
    }
    // Only a complete read detects a flipped bit; loading for a query does not.
    let mut flipped = whole.clone();
    flipped[whole.len() - 5] ^= 1;
    fs::write(&path, flipped).unwrap();
    assert!(trial.models.load("broken").is_ok());
    let listed = trial.models.list().unwrap();
    assert!(listed[1].info.as_ref().unwrap_err().why.contains("checksum"));
    assert!(trial.models.use_model("broken").unwrap_err().to_string().contains("checksum"));

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(trial.models.load("broken").unwrap_err().to_string().ends_with("it is not a file"));
}

#[test]
fn what_an_add_that_was_killed_left_is_not_a_model() {
    let trial = ModelsFixture::new();
    trial.add("whole", &TinyBert::new(8));
    let left = trial.models.folder.join(".rekindle-write-0123456789abcdef.tmp");
    fs::write(&left, b"half").unwrap();
    fs::write(trial.models.folder.join("README"), b"mine").unwrap();
    assert_eq!(trial.models.abandoned_files().unwrap(), [left]);
    let names: Vec<String> = trial.models.list().unwrap().into_iter().map(|model| model.name).collect();
    assert_eq!(names, [BUILTIN_MODEL, "local/whole"]);
}

#[test]
fn a_model_that_says_the_same_to_everything_is_refused() {
    let trial = ModelsFixture::new();
    let folder = trial.folder("dull", &TinyBert::new(9));
    let path = folder.join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let table = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    bytes[table..].fill(0);
    fs::write(&path, bytes).unwrap();
    let error = trial.models.add(&folder, None, &ModelPrefixes::default()).unwrap_err().to_string();
    assert!(error.contains("it gives"), "{error}");
    assert!(trial.models.files().unwrap().is_empty());
}

/// The files of a model folder.
const FILES: [&str; 5] =
    ["model.safetensors", "config.json", "vocab.txt", "tokenizer.json", "1_Pooling/config.json"];

impl ModelsFixture {
    /// Copies the folder with one file changed. The vocabulary may come from either of two files, so the
    /// other one is removed.
    fn changed(&self, name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> PathBuf {
        let folder = self.folder("changed", &TinyBert::new(10));
        if name == "tokenizer.json" {
            fs::remove_file(folder.join("vocab.txt")).unwrap();
        }
        let path = folder.join(name);
        fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
        folder
    }

    /// Tries to add a folder: the result is a complete model, or no file is left.
    fn try_to_add(&self, folder: &Path) -> bool {
        let added = self.models.add(folder, None, &ModelPrefixes::default());
        let files = self.models.files().unwrap();
        match &added {
            Ok(_) => assert!(self.models.list().unwrap().iter().all(|listed| listed.info.is_ok())),
            Err(_) => assert_eq!(files, Vec::<String>::new()),
        }
        added.is_ok()
    }
}

/// Unexpected values in a configuration file.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(vec![
            json!(null),
            json!(true),
            json!([]),
            json!({}),
            json!("WordPiece"),
            json!([{"id": 0, "content": "a"}]),
            json!({"a": 0, "b": u64::MAX}),
        ]),
        any::<u64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(vec![0_u64, 1, 2, 3, 63, 64, 128, 4096, 1 << 20])
            .prop_map(|number| json!(number)),
        "\\PC{0,20}".prop_map(|text| json!(text)),
    ]
}

#[test]
fn r_04_a_folder_as_it_was_published_is_added_whichever_vocabulary_is_read() {
    for name in FILES {
        let trial = ModelsFixture::new();
        assert!(trial.try_to_add(&trial.changed(name, |bytes| bytes)), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r_04_a_damaged_folder_is_refused_or_is_a_model(
        name in prop::sample::select(FILES.to_vec()), damage in damage(),
    ) {
        let trial = ModelsFixture::new();
        trial.try_to_add(&trial.changed(name, |bytes| damage.to(&bytes)));
    }

    #[test]
    fn r_04_any_bytes_in_a_folder_are_refused_or_a_model(
        name in prop::sample::select(FILES.to_vec()), bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let trial = ModelsFixture::new();
        trial.try_to_add(&trial.changed(name, |_| bytes));
    }

    #[test]
    fn r_04_settings_that_say_something_odd_are_refused_or_a_model(
        (name, place) in prop::sample::select(vec![
            ("config.json", "/hidden_size"),
            ("config.json", "/num_hidden_layers"),
            ("config.json", "/num_attention_heads"),
            ("config.json", "/intermediate_size"),
            ("config.json", "/max_position_embeddings"),
            ("config.json", "/layer_norm_eps"),
            ("config.json", ""),
            ("tokenizer.json", "/model/type"),
            ("tokenizer.json", "/model/vocab"),
            ("tokenizer.json", "/model/vocab/the"),
            ("tokenizer.json", "/normalizer"),
            ("tokenizer.json", "/normalizer/lowercase"),
            ("tokenizer.json", ""),
            ("1_Pooling/config.json", "/pooling_mode_mean_tokens"),
        ]),
        odd in odd(),
    ) {
        let trial = ModelsFixture::new();
        let folder = trial.changed(name, |bytes| {
            let mut settings: Value = serde_json::from_slice(&bytes).unwrap();
            *settings.pointer_mut(place).unwrap() = odd;
            settings.to_string().into_bytes()
        });
        trial.try_to_add(&folder);
    }
}
