//! A seeded model test: random commands, hand edits and broken runs against a model in memory. After every
//! step the vault on disk equals the model.

use std::collections::BTreeMap;

use rekindle_testkit::Sandbox;

use crate::{sandbox, text};

/// A deterministic random generator, so that a seed gives the same sequence on every machine.
struct VaultModelRng(u64);

impl VaultModelRng {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// The expected vault: for each slug the current body and the archived ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct VaultModel {
    current: BTreeMap<String, String>,
    archived: BTreeMap<String, Vec<String>>,
}

fn body_of(note: &str) -> String {
    note.split_once("\n---\n\n").map_or("", |(_, body)| body).to_owned()
}

fn on_disk(sandbox: &Sandbox) -> VaultModel {
    let mut model = VaultModel::default();
    for (path, bytes) in sandbox.files() {
        let note = String::from_utf8(bytes).unwrap();
        if let Some(slug) =
            path.strip_prefix("personal-private/fix/").and_then(|name| name.strip_suffix(".md"))
        {
            model.current.insert(slug.to_owned(), body_of(&note));
        } else if let Some(rest) = path.strip_prefix("personal-private/_archive/personal-private/fix/") {
            let slug = rest.split(".md.").next().unwrap().to_owned();
            model.archived.entry(slug).or_default().push(body_of(&note));
        }
    }
    model.archived.values_mut().for_each(|bodies| bodies.sort());
    model
}

fn play(seed: u64, steps: usize) {
    let sandbox = sandbox();
    let mut dice = VaultModelRng(seed);
    let mut model = VaultModel::default();
    // The model before each change, for undo. A hand edit or a forget clears the history.
    let mut history: Vec<VaultModel> = Vec::new();
    for step in 0..steps {
        let slug = format!("s{}", dice.roll(6));
        let body = format!("Seed {seed} step {step}: {} is a fact of its own.\n", dice.roll(1000));
        let there = model.current.contains_key(&slug);
        let what = dice.roll(10);
        let context = format!("seed {seed}, step {step}, {what}, {slug}");
        match what {
            0..=3 => {
                let output = sandbox.rekindle(&["save", "fix", &slug, "--body", &body]).run();
                assert_eq!(output.code, Some(if there { 2 } else { 0 }), "{context}: {}", output.stderr);
                if !there {
                    history.push(model.clone());
                    model.current.insert(slug, body);
                }
            }
            4..=5 => {
                let output = sandbox.rekindle(&["evolve", &slug, "--body", &body, "--reason", "r"]).run();
                assert_eq!(output.code, Some(if there { 0 } else { 2 }), "{context}: {}", output.stderr);
                if there {
                    history.push(model.clone());
                    let old = model.current.insert(slug.clone(), body).unwrap();
                    let bodies = model.archived.entry(slug).or_default();
                    bodies.push(old);
                    bodies.sort();
                }
            }
            6 if there => {
                let path = format!("personal-private/fix/{slug}.md");
                let edited = sandbox.read(&path) + "By hand.\n";
                sandbox.write(&path, &edited);
                model.current.get_mut(&slug).unwrap().push_str("By hand.\n");
                history.clear();
            }
            7 => {
                let output = sandbox.rekindle(&["forget", &slug]).run();
                assert_eq!(output.code, Some(if there { 0 } else { 2 }), "{context}: {}", output.stderr);
                if there {
                    model.current.remove(&slug);
                    model.archived.remove(&slug);
                    history.clear();
                }
            }
            8 => {
                if let Some(previous) = history.pop() {
                    sandbox.rekindle(&["undo"]).run().ok();
                    model = previous;
                }
            }
            _ => {
                // A restart that lost the lock file of the state folder, which must not matter.
                std::fs::remove_file(sandbox.state().join("locks/vault.lock")).unwrap_or_default();
            }
        }
        assert_eq!(on_disk(&sandbox), model, "{context}");
    }
    let listed = sandbox.rekindle(&["list", "--json"]).run().ok().json();
    let mut slugs: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| text(entry, "path").rsplit('/').next().unwrap())
        .collect();
    slugs.sort_unstable();
    let expected: Vec<String> = model.current.keys().map(|slug| format!("{slug}.md")).collect();
    assert_eq!(slugs, expected);
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn random_lives_end_as_the_model_says() {
    let rounds = std::env::var("REKINDLE_MODEL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    for seed in 1..=rounds {
        play(seed, 80);
    }
}
