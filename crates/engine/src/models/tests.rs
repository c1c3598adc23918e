#![expect(clippy::disallowed_methods, reason = "the test plays the person and the disk")]

use std::fs;

use rekindle_testkit::TinyBert;

use super::*;

/// A home, and room for folders to add models from.
struct Trial {
    root: tempfile::TempDir,
    models: Models,
}

impl Trial {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = Home::choose(Some(&root.path().join("home")), None, None).unwrap();
        Self { models: Models::open(&home), root }
    }

    fn folder(&self, name: &str, bert: &TinyBert) -> PathBuf {
        let folder = self.root.path().join(name);
        bert.write(&folder);
        folder
    }

    fn add(&self, name: &str, bert: &TinyBert) -> Added {
        self.models.add(&self.folder(name, bert), None, &Prefixes::default()).unwrap()
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
    let trial = Trial::new();
    for (name, bert, pooling) in
        [("mean", TinyBert::new(1), Pooling::Mean), ("first", TinyBert::cls(1), Pooling::First)]
    {
        trial.add(name, &bert);
        let model = trial.models.load(name).unwrap();
        assert_eq!((model.name(), model.pooling()), (format!("local/{name}").as_str(), pooling));
        let mut scratch = Scratch::new();
        for text in TEXTS {
            let vector = model.embed(&mut scratch, Role::Passage, text);
            let alike = cosine(&vector, &bert.embed(&model.tokenize(text)));
            assert!(alike > 0.995, "{name}, {text:?}: {alike}");
        }
    }
}

#[test]
fn r_04_prefixes_go_before_questions_and_memories() {
    let trial = Trial::new();
    let bert = TinyBert::new(2);
    let folder = trial.folder("e5", &bert);
    let prompts = r#"{"prompts":{"query":"query: ","passage":"passage: "},"default_prompt_name":null}"#;
    fs::write(folder.join("config_sentence_transformers.json"), prompts).unwrap();
    let added = trial.models.add(&folder, None, &Prefixes::default()).unwrap();
    assert_eq!((added.query_prefix.as_str(), added.passage_prefix.as_str()), ("query: ", "passage: "));
    let own = Prefixes { query: Some("what ".to_owned()), passage: Some(String::new()) };
    trial.models.add(&folder, Some("own"), &own).unwrap();

    let mut scratch = Scratch::new();
    for (name, query, passage) in [("e5", "query: ", "passage: "), ("own", "what ", "")] {
        let model = trial.models.load(name).unwrap();
        for text in TEXTS {
            for (role, prefix) in [(Role::Query, query), (Role::Passage, passage)] {
                let vector = model.embed(&mut scratch, role, text);
                let reference = bert.embed(&model.tokenize(&format!("{prefix}{text}")));
                assert!(cosine(&vector, &reference) > 0.995, "{name}, {prefix}{text}");
            }
        }
        let [query, passage] =
            [Role::Query, Role::Passage].map(|role| model.embed(&mut scratch, role, "hello"));
        assert_ne!(query, passage, "{name}");
    }
}

#[test]
fn a_folder_with_a_tokenizer_file_alone_tokenizes_the_same() {
    let trial = Trial::new();
    let folder = trial.folder("both", &TinyBert::new(3));
    trial.models.add(&folder, None, &Prefixes::default()).unwrap();
    fs::remove_file(folder.join("vocab.txt")).unwrap();
    trial.models.add(&folder, Some("fast"), &Prefixes::default()).unwrap();
    let [both, fast] = ["both", "fast"].map(|name| trial.models.load(name).unwrap());
    for text in TEXTS {
        assert_eq!(both.tokenize(text), fast.tokenize(text));
    }
    assert!(both.tokenize("Backup zebra").contains(&12), "words are found whole");
}

#[test]
fn sto_11_another_model_under_an_old_name_has_another_id() {
    let trial = Trial::new();
    let settings = config::read(&trial.models.home, None, &[]).unwrap();
    let id = |trial: &Trial| trial.models.load("same").unwrap().id().to_owned();
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
    let trial = Trial::new();
    trial.add("twice", &TinyBert::new(6));
    let [one, other] = [(); 2].map(|()| trial.models.load("local/twice").unwrap());
    assert!(std::ptr::eq(&raw const *one, &raw const *other));
    let builtin = trial.models.load(BUILTIN).unwrap();
    assert!(std::ptr::eq(&raw const *builtin, Model::builtin()));
}

#[test]
fn rec_11_what_cannot_be_loaded_says_what_to_do() {
    let trial = Trial::new();
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
    // A flipped bit is found by whoever looks at the whole file; a question has no time for that.
    let mut flipped = whole.clone();
    flipped[whole.len() - 5] ^= 1;
    fs::write(&path, flipped).unwrap();
    assert!(trial.models.load("broken").is_ok());
    let listed = trial.models.list().unwrap();
    assert!(listed[1].about.as_ref().unwrap_err().why.contains("checksum"));
    assert!(trial.models.choose("broken").unwrap_err().to_string().contains("checksum"));

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(trial.models.load("broken").unwrap_err().to_string().ends_with("it is not a file"));
}

#[test]
fn what_an_add_that_was_killed_left_is_not_a_model() {
    let trial = Trial::new();
    trial.add("whole", &TinyBert::new(8));
    let left = trial.models.folder.join(".rekindle-write-0123456789abcdef.tmp");
    fs::write(&left, b"half").unwrap();
    fs::write(trial.models.folder.join("README"), b"mine").unwrap();
    assert_eq!(trial.models.left_overs().unwrap(), [left]);
    let names: Vec<String> = trial.models.list().unwrap().into_iter().map(|model| model.name).collect();
    assert_eq!(names, [BUILTIN, "local/whole"]);
}

#[test]
fn a_model_that_says_the_same_to_everything_is_refused() {
    let trial = Trial::new();
    let folder = trial.folder("dull", &TinyBert::new(9));
    let path = folder.join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let table = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    bytes[table..].fill(0);
    fs::write(&path, bytes).unwrap();
    let error = trial.models.add(&folder, None, &Prefixes::default()).unwrap_err().to_string();
    assert!(error.contains("it gives"), "{error}");
    assert!(trial.models.files().unwrap().is_empty());
}
