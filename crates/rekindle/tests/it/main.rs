//! Integration tests: the real binary in a sandboxed home.
#![expect(
    clippy::disallowed_methods,
    reason = "tests play the person and other programs, who write as they like"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a fault test says how many breaks it went through")]

#[cfg(unix)]
mod abandoned_files;
#[cfg(unix)]
mod agent_shell;
mod backfill;
mod backup;
mod bad_input;
mod bench;
mod blocks;
mod capture;
mod capture_crash;
mod commands;
mod config;
mod conflicts;
#[cfg(unix)]
mod contradictions;
mod daily_use;
#[cfg(unix)]
mod distil;
mod distil_bad_input;
mod documents;
#[cfg(unix)]
mod edge_cases;
mod engines;
mod entries;
mod eval;
mod faults;
mod feedback;
mod forget;
mod friction;
mod fusion;
mod gate;
mod health;
mod hot_list;
mod house;
mod ideas;
mod identity;
mod inbox;
mod index_at_start;
mod index_crash;
mod init;
mod inject;
mod install;
#[cfg(unix)]
mod install_terminal;
#[cfg(unix)]
mod llm;
#[cfg(unix)]
mod mcp;
mod merged_observations;
mod milestones;
mod model;
mod model_command;
mod models;
#[cfg(unix)]
mod month_of_use;
#[cfg(unix)]
mod notices;
mod obsidian;
mod otel;
#[cfg(unix)]
mod plugin;
mod project;
#[cfg(unix)]
mod project_tracking;
#[cfg(unix)]
mod provenance;
mod races;
mod recall;
mod recall_bad_input;
mod recall_changes;
mod recall_quality;
mod reflect;
#[cfg(unix)]
mod reindex_terminal;
mod repair;
mod requirements;
mod review;
mod review_model;
mod review_patches;
#[cfg(unix)]
mod review_terminal;
#[cfg(unix)]
mod scopes;
#[cfg(unix)]
mod sessions_bad_input;
mod structure;
mod surfaces;
mod surfaces_buttons;
#[cfg(unix)]
mod typed_only;
mod undo;
#[cfg(unix)]
mod web;
#[cfg(unix)]
mod web_actions;
#[cfg(unix)]
mod web_pages;
mod week;
mod weekly;

use rekindle_testkit::Sandbox;

/// Sets up an initialised home.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init()
}

/// Saves a memory and returns the output of `--json`.
fn save(sandbox: &Sandbox, kind: &str, slug: &str, body: &str) -> serde_json::Value {
    sandbox.rekindle(&["save", kind, slug, "--body", body, "--json"]).run().ok().json()
}

fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

/// Returns the answer of `recall QUERY --json` with more arguments.
fn recall(sandbox: &Sandbox, query: &str, more: &[&str]) -> serde_json::Value {
    sandbox.rekindle(&[&["recall", query, "--json"], more].concat()).run().ok().json()
}

fn results(answer: &serde_json::Value) -> &[serde_json::Value] {
    answer["results"].as_array().unwrap_or_else(|| panic!("no results in {answer}"))
}

/// The ids of the results, in order.
fn found(answer: &serde_json::Value) -> Vec<&str> {
    results(answer).iter().map(|result| text(result, "id")).collect()
}

/// Arguments that make two answers comparable: all results whatever their score, and no age factor, which
/// changes with the clock.
const COMPARABLE: [&str; 5] = ["--k=10", "--anyway", "--project=all", "-c", "recall.decay=off"];

/// The fields that every rebuild must reproduce: ids, order, scores and their parts.
fn order(answer: &serde_json::Value) -> Vec<serde_json::Value> {
    let part = |result: &serde_json::Value| {
        let mut kept = serde_json::Map::new();
        for key in ["id", "score", "parts", "factors", "doubts", "text", "lines", "created"] {
            kept.insert(key.to_owned(), result[key].clone());
        }
        kept.into()
    };
    results(answer).iter().map(part).collect()
}

/// Creates the folder of a project: a repository with this remote.
fn project(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    let folder = sandbox.work().join(name);
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let remote = format!("[remote \"origin\"]\n\turl = git@github.com:acme/{name}.git\n");
    std::fs::write(folder.join(".git/config"), remote).unwrap();
    folder
}
