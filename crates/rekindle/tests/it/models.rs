//! Custom models, through the binary: added, listed, used, removed and refused (R-04, STO-10, STO-11).

use std::fs;
use std::path::{Path, PathBuf};

use rekindle_testkit::faults::{self, EIO, PlannedFault};
use rekindle_testkit::{Sandbox, TinyBert};
use serde_json::Value;

use crate::{sandbox, text};

const BUILTIN: &str = "builtin/all-minilm-l6-v2";

fn folder(sandbox: &Sandbox, name: &str, bert: &TinyBert) -> PathBuf {
    let folder = sandbox.work().join(name);
    bert.write(&folder);
    folder
}

fn listed(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.rekindle(&["model", "list", "--json"]).run().ok().json().as_array().unwrap().clone()
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    listed(sandbox).iter().map(|model| text(model, "name").to_owned()).collect()
}

fn in_use(sandbox: &Sandbox) -> Vec<String> {
    let used = listed(sandbox).into_iter().filter(|model| model["in_use"] == true);
    used.map(|model| text(&model, "name").to_owned()).collect()
}

/// Requirements: OPS-14.
#[test]
fn r_04_a_model_is_added_listed_used_and_removed() {
    let sandbox = sandbox();
    folder(&sandbox, "Tiny Bert v1.5", &TinyBert::new(1));
    let run = |args: &[&str]| sandbox.rekindle(&[&["model"], args].concat()).run();

    let added = run(&["add", "Tiny Bert v1.5"]).ok();
    assert!(
        added.stdout.starts_with("added local/tiny-bert-v1-5  64 dimensions, 64 tokens, mean pooling, 0."),
        "{}",
        added.stdout
    );
    assert!(added.stderr.contains("check its licence"), "{}", added.stderr);
    // An added model no longer needs its folder.
    fs::remove_dir_all(sandbox.work().join("Tiny Bert v1.5")).unwrap();
    folder(&sandbox, "first", &TinyBert::cls(2));
    let added = run(&["add", "first", "--name", "local/other", "--json"]).ok().json();
    assert_eq!((text(&added, "name"), text(&added, "pooling")), ("local/other", "cls"));
    assert_eq!((&added["dimension"], &added["licence"]), (&64.into(), &Value::Null));
    assert!(text(&added, "id").starts_with("local/other#"));

    assert_eq!(names(&sandbox), [BUILTIN, "local/other", "local/tiny-bert-v1-5"]);
    assert_eq!(in_use(&sandbox), [BUILTIN]);
    let shown = run(&["list"]).ok().stdout;
    assert!(
        shown.lines().next().unwrap().ends_with(", in use") && shown.contains("cls pooling, 0."),
        "{shown}"
    );

    let used = run(&["use", "other"]).ok();
    assert_eq!(used.stdout, "Now using local/other\n");
    assert!(used.stderr.contains("`rekindle reindex`"), "{}", used.stderr);
    assert_eq!(in_use(&sandbox), ["local/other"]);
    assert_eq!(sandbox.rekindle(&["config", "get", "embed.model"]).run().ok().stdout, "local/other\n");
    let compared = run(&["compare", "backup", "cake", "--json"]).ok().json();
    assert_eq!(text(&compared, "model"), text(&added, "id"));

    let refused = run(&["remove", "other"]).fails(2);
    assert!(refused.stderr.contains("local/other is in use"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: `rekindle model use "), "{}", refused.stderr);
    assert_eq!(run(&["remove", "local/tiny-bert-v1-5"]).ok().stdout, "removed local/tiny-bert-v1-5\n");
    run(&["use", BUILTIN]).ok();
    run(&["remove", "other"]).ok();
    assert_eq!(names(&sandbox), [BUILTIN]);
    assert_eq!(fs::read_dir(sandbox.home().join("models")).unwrap().count(), 0);
    assert!(run(&["remove", BUILTIN]).fails(2).stderr.contains("part of the program"));
    assert!(run(&["remove", "all-minilm-l6-v2"]).fails(2).stderr.contains("part of the program"));
    assert!(run(&["remove", "other"]).fails(2).stderr.contains("there is no model local/other"));
    assert!(run(&["use", "other"]).fails(2).stderr.contains("there is no model local/other"));
}

#[test]
fn sec_01_a_model_is_the_owners_and_needs_no_vault() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    folder(&sandbox, "tiny", &TinyBert::new(3));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    let everything: Vec<PathBuf> = sandbox.everything().into_keys().collect();
    assert_eq!(everything, [sandbox.home().join("models/tiny.rkm")]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&everything[0]), mode(&sandbox.home().join("models"))), (0o600, 0o700));
    }
    // `.` takes the name of the folder.
    let here = sandbox.rekindle(&["model", "add", "."]).cwd(sandbox.work().join("tiny")).run().fails(2);
    assert!(here.stderr.contains("there is already a model local/tiny"), "{}", here.stderr);
}

#[test]
fn r_04_both_poolings_and_prefixes_reach_the_vectors() {
    let sandbox = sandbox();
    folder(&sandbox, "mean", &TinyBert::new(4));
    folder(&sandbox, "cls", &TinyBert::cls(4));
    let e5 = folder(&sandbox, "e5", &TinyBert::new(4));
    fs::write(e5.join("config_sentence_transformers.json"), r#"{"prompts":{"passage":"passage: "}}"#)
        .unwrap();
    for name in ["mean", "cls", "e5"] {
        sandbox.rekindle(&["model", "add", name]).run().ok();
    }
    let own =
        sandbox.rekindle(&["model", "add", "mean", "--name", "own", "--passage-prefix", "passage: "]).run();
    assert!(own.ok().stderr.contains(r#"prefix for memories: "passage: ""#));
    let compare = |name: &str, one: &str, other: &str| {
        let setting = format!("embed.model=local/{name}");
        let said =
            sandbox.rekindle(&["-c", &setting, "model", "compare", one, other, "--json"]).run().ok().json();
        said["cosine"].as_f64().unwrap()
    };
    let (one, other) = ("the backup failed", "apple cake");
    let mean = compare("mean", one, other);
    assert_ne!(mean, compare("cls", one, other));
    assert_ne!(mean, compare("e5", one, other));
    let spelled = compare("mean", &format!("passage: {one}"), &format!("passage: {other}"));
    assert_eq!(spelled, compare("e5", one, other));
    assert_eq!(spelled, compare("own", one, other));
}

#[test]
fn what_cannot_be_added_is_refused_with_the_reason_and_leaves_nothing() {
    let sandbox = sandbox();
    let tiny = folder(&sandbox, "tiny", &TinyBert::new(5));
    let whole: Vec<(&str, Vec<u8>)> = ["config.json", "model.safetensors", "vocab.txt", "tokenizer.json"]
        .into_iter()
        .map(|name| (name, fs::read(tiny.join(name)).unwrap()))
        .collect();
    let refused = |args: &[&str], expected: &str| {
        let output = sandbox.rekindle(&[&["model", "add"], args].concat()).run().fails(2);
        let spaced = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(spaced.contains(expected), "{args:?}: {}", output.stderr);
        assert!(output.stdout.is_empty() && output.stderr.contains("hint: "), "{}", output.stderr);
    };
    refused(&["nowhere"], "nowhere is not a folder");
    refused(&["tiny/config.json"], "tiny/config.json is not a folder");
    for name in ["Tiny", "ti ny", "ti--ny", "../x", "", "con", "é", &"x".repeat(41)] {
        refused(&["tiny", "--name", name], "cannot be a model's name: lower-case letters");
    }
    refused(&["tiny", "--name", "all-minilm-l6-v2"], "already a model builtin/all-minilm-l6-v2");
    refused(&["tiny", "--query-prefix", &"x".repeat(64)], "the prefix for questions has more than 63 bytes");

    let with = |name: &str, bytes: &[u8], expected: &str| {
        let path = tiny.join(name);
        let before = fs::read(&path).ok();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        refused(&["tiny"], expected);
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    };
    let config = String::from_utf8(whole[0].1.clone()).unwrap();
    let config = |from: &str, to: &str| config.replace(from, to).into_bytes();
    with(
        "config.json",
        &config(r#""bert""#, r#""roberta""#),
        r#"config.json: model_type is "roberta", only "bert""#,
    );
    with("config.json", &config(":64", ":128"), "has the shape [");
    with("config.json", &config(r#""gelu""#, r#""relu""#), r#"hidden_act is "relu""#);
    with("config.json", b"{", "config.json: not JSON: line 1");
    with("model.safetensors", &whole[1].1[..4000], "model.safetensors: ");
    with("tokenizer.json", br#"{"model":{"type":"Unigram"}}"#, "the vocabulary is Unigram, only WordPiece");
    with("vocab.txt", b"one\ntwo\n", "no [CLS] in it: not a BERT vocabulary");
    with("modules.json", br#"[{"type":"x.Transformer"},{"type":"x.Dense"}]"#, "it ends in a layer `Dense`");
    with("1_Pooling/config.json", br#"{"pooling_mode_max_tokens":true}"#, "it pools by max_tokens");
    with("config_sentence_transformers.json", b"nonsense", "not JSON: line 1");

    let without = |gone: &[&str], expected: &str| {
        for name in gone {
            fs::rename(tiny.join(name), tiny.join(format!("{name}.away"))).unwrap();
        }
        refused(&["tiny"], expected);
        for name in gone {
            fs::rename(tiny.join(format!("{name}.away")), tiny.join(name)).unwrap();
        }
    };
    without(&["config.json"], "tiny has no config.json hint");
    without(&["vocab.txt", "tokenizer.json"], "tiny has no vocab.txt or tokenizer.json hint");
    without(&["config.json", "model.safetensors"], "tiny has no config.json and no model.safetensors hint");
    fs::write(tiny.join("pytorch_model.bin"), b"").unwrap();
    without(&["model.safetensors"], "it has pytorch_model.bin; only safetensors are read");

    // The file is sparse, so it takes no disk space, and it is refused before it is read.
    let weights = tiny.join("model.safetensors");
    fs::rename(&weights, tiny.join("kept")).unwrap();
    fs::File::create(&weights).unwrap().set_len((2 << 30) + (1 << 20)).unwrap();
    refused(&["tiny"], "model.safetensors is 2049 MB; the most that is taken is 2048 MB");
    fs::remove_file(&weights).unwrap();
    fs::create_dir(&weights).unwrap();
    refused(&["tiny"], "model.safetensors: not a file");
    fs::remove_dir(&weights).unwrap();
    fs::rename(tiny.join("kept"), &weights).unwrap();

    assert!(!sandbox.home().join("models").exists());
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    refused(&["tiny"], "there is already a model local/tiny");
    refused(&["tiny", "--name", "local/tiny"], "there is already a model local/tiny");
    assert_eq!(names(&sandbox), [BUILTIN, "local/tiny"]);
}

#[test]
fn rec_11_a_damaged_or_missing_model_is_listed_with_what_to_do() {
    let sandbox = sandbox();
    folder(&sandbox, "tiny", &TinyBert::new(6));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    let path = sandbox.home().join("models/tiny.rkm");
    let whole = fs::read(&path).unwrap();
    let doctor = |sandbox: &Sandbox| sandbox.rekindle(&["doctor", "--all"]).run().ok().stdout;
    assert!(doctor(&sandbox).contains("local/tiny is in use"));
    sandbox.rekindle(&["save", "Releases are tagged on Tuesdays."]).run().ok();

    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x40;
    let mut newer = whole.clone();
    newer[8] = 9;
    let cases = [
        (&whole[..whole.len() / 2], "the model file has "),
        (&flipped, "checksum"),
        (&newer, "the model file has version 9"),
        (b"x", "not a model file"),
        (b"", "not a model file"),
    ];
    for (bytes, why) in cases {
        fs::write(&path, bytes).unwrap();
        // Words alone decide, and the answer says so; only `verify` reads all of a file, so a flipped bit is found later.
        let answer = sandbox.rekindle(&["recall", "tagged on Tuesdays", "--json"]).run().ok().json();
        assert!(text(&answer["results"][0], "text").contains("Releases are tagged"), "{answer}");
        assert_eq!(answer["degraded"].as_array().unwrap().is_empty(), why == "checksum", "{answer}");
        let model = &listed(&sandbox)[1];
        assert_eq!((text(model, "name"), &model["in_use"]), ("local/tiny", &true.into()));
        assert!(text(model, "damaged").contains(why), "{model}");
        assert!(text(model, "hint").contains("`rekindle model remove local/tiny`"), "{model}");
        assert!(sandbox.rekindle(&["model"]).run().ok().stdout.contains("damaged: "));
        let refused = sandbox.rekindle(&["model", "use", "tiny"]).run().fails(1).stderr;
        assert!(
            refused.contains(why) && refused.contains(&format!("`rekindle model use {BUILTIN}`")),
            "{refused}"
        );
        assert!(doctor(&sandbox).contains(why));
    }

    fs::remove_file(&path).unwrap();
    let list = sandbox.rekindle(&["model", "list"]).run().ok();
    assert!(list.stderr.contains("embed.model is local/tiny ("), "{}", list.stderr);
    assert!(list.stderr.contains(&format!("`rekindle model use {BUILTIN}`")), "{}", list.stderr);
    assert!(doctor(&sandbox).contains("recall uses keywords only"));
    let compared = sandbox.rekindle(&["model", "compare", "a", "b"]).run().fails(2).stderr;
    assert!(compared.contains("there is no model local/tiny on this machine"), "{compared}");
    sandbox.rekindle(&["model", "use", BUILTIN]).run().ok();
    assert_eq!(in_use(&sandbox), [BUILTIN]);
}

#[test]
fn sto_10_a_stronger_setting_is_not_overlooked() {
    let sandbox = sandbox();
    folder(&sandbox, "tiny", &TinyBert::new(7));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    let stronger = |args: &[&str], name: &str| {
        sandbox.rekindle(&[&["model"], args].concat()).env("EMBEDDING_MODEL", name)
    };
    let used = stronger(&["use", "tiny"], BUILTIN).run().ok();
    assert_eq!(used.stdout, "config.toml now selects local/tiny\n");
    assert!(used.stderr.contains("environment variable EMBEDDING_MODEL overrides it"), "{}", used.stderr);
    // A model in use by the file cannot be removed, whatever the variable says, and vice versa.
    stronger(&["remove", "tiny"], BUILTIN).run().fails(2);
    sandbox.rekindle(&["model", "use", BUILTIN]).run().ok();
    let refused = stronger(&["remove", "tiny"], "local/tiny").run().fails(2);
    assert!(refused.stderr.contains("(environment variable EMBEDDING_MODEL)"), "{}", refused.stderr);
    // A model name of another program gets a warning.
    let foreign = stronger(&["list"], "nomic-ai/nomic-embed-text-v1.5").run().ok();
    assert!(foreign.stderr.contains("embed.model is nomic-ai/nomic-embed-text-v1.5"), "{}", foreign.stderr);
    // `model use` replaces an invalid setting.
    fs::write(sandbox.home().join("config.toml"), "embed.model = 'minilm'\n").unwrap();
    sandbox.rekindle(&["model", "list"]).run().fails(2);
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    assert_eq!(in_use(&sandbox), ["local/tiny"]);
}

#[test]
fn a_model_is_whole_or_not_there_wherever_adding_it_breaks() {
    if let Err(reason) = faults::available() {
        rekindle_testkit::skipped(reason);
        return;
    }
    let sandbox = sandbox();
    folder(&sandbox, "tiny", &TinyBert::new(8));
    let add = sandbox.rekindle(&["model", "add", "tiny"]);
    let start = sandbox.snapshot();
    let kinds: [fn(usize) -> PlannedFault; 4] = [
        PlannedFault::kill,
        PlannedFault::kill_after,
        |at| PlannedFault::errno(at, EIO),
        PlannedFault::full_disk_from,
    ];
    let mut broken = 0;
    for kind in kinds {
        for at in 1.. {
            sandbox.restore(&start);
            let output = faults::run(&add, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let listed = listed(&sandbox);
            let what = format!("{:?} at {at} ({call})\n{}\n{listed:?}", kind(at).kind, output.stderr);
            assert!(listed.iter().all(|model| model["damaged"].is_null()), "{what}");
            match listed.len() {
                1 => {
                    assert_ne!(output.code, Some(0), "{what}");
                    add.run().ok();
                }
                _ => {
                    add.run().fails(2);
                }
            }
        }
    }
    assert!(broken >= 20, "only {broken} steps were broken");
}
