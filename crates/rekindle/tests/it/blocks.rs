//! Snapshots of every block that hooks give to each agent, so that a review shows every change. They are in
//! `tests/blocks/`; `REKINDLE_UPDATE_BLOCKS=1` rewrites them.

use std::path::Path;

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::hook_command;
use crate::{sandbox, save};

/// Sets up a vault with content for every part of a briefing.
fn vault() -> Sandbox {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    std::fs::write(sandbox.home().join("agents/SOUL.md"), "# Soul\n\nBe brief and exact.\n").unwrap();
    std::fs::write(sandbox.home().join("agents/USER.md"), "# User\n\nAda builds pumps.\n").unwrap();
    let memory = |section: &str, words: &str| {
        sandbox.rekindle(&["memory", "add", words, "--section", section]).run().ok();
    };
    memory("Hard Rules", "Never push to main.");
    memory("Patterns", "Small commits; the body says why.");
    memory("Lessons", "Read the log before restarting a service.");
    let body = "Keep answers short.";
    sandbox.rekindle(&["save", "preference", "answers", "--always-load", "--body", body]).run().ok();
    save(
        &sandbox,
        "decision",
        "ledger-port",
        "The ledger database listens on port 7410 because 5432 was taken.",
    );
    save(&sandbox, "fix", "kettle", "The kettle whistles when its lid is loose; press it down.");
    sandbox.rekindle(&["daily", "add", "Staging moved to the new host."]).run().ok();
    sandbox.rekindle(&["reindex"]).run().ok();
    sandbox
}

/// Each agent's name for the prompt event.
const AGENTS: [(&str, &str); 4] = [
    ("claude", "UserPromptSubmit"),
    ("codex", "UserPromptSubmit"),
    ("gemini", "BeforeAgent"),
    ("pi", "UserPromptSubmit"),
];

fn fire(sandbox: &Sandbox, agent: &str, event: &str, input: &Value) -> String {
    let output = hook_command(sandbox, agent, event, input).run().ok();
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() {
        return "(nothing)\n".to_owned();
    }
    let mut answer = output.json();
    let context = answer["hookSpecificOutput"]["additionalContext"].take();
    format!("{}\n\n{}", masked(&format!("{answer:#}")), masked(context.as_str().unwrap()))
}

/// Replaces values that differ on every run, by their shape: markers, ids, dates and times.
fn masked(text: &str) -> String {
    let shapes = [
        ("rekindle-memory-", "################", "rekindle-memory-MARKER"),
        ("", "####-##-##", "DATE"),
        ("", "##:##", "TIME"),
        ("- ", "##-##", "- DAY"),
    ];
    let mut text = text.to_owned();
    for (before, shape, instead) in shapes {
        text = replaced(&text, before, shape, instead);
    }
    // The card shows a shortened id.
    let text: String = text
        .split_inclusive(']')
        .map(|part| match part.rsplit_once(" [m-") {
            Some((line, id)) if id.len() == 5 || id.len() == 9 => format!("{line} [ID]"),
            _ => part.to_owned(),
        })
        .collect();
    // An id is `m-` and twelve characters.
    let parts: Vec<&str> = text.split("m-").collect();
    let id = |part: &str| {
        let word: String = part.chars().take_while(char::is_ascii_alphanumeric).collect();
        word.len() == 12
    };
    let rest = parts[1..]
        .iter()
        .map(|part| if id(part) { format!("ID{}", &part[12..]) } else { format!("m-{part}") });
    std::iter::once(parts[0].to_owned()).chain(rest).collect()
}

/// Replaces a shape; `#` stands for a hexadecimal digit.
fn replaced(text: &str, before: &str, shape: &str, instead: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        let fits = |tail: &str| {
            tail.len() >= shape.len()
                && tail.bytes().zip(shape.bytes()).all(|(is, wanted)| match wanted {
                    b'#' => is.is_ascii_digit() || (shape.len() == 16 && is.is_ascii_hexdigit()),
                    _ => is == wanted,
                })
        };
        match rest.strip_prefix(before).filter(|tail| fits(tail)) {
            Some(tail) => {
                out.push_str(instead);
                rest = &tail[shape.len()..];
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}

#[expect(
    clippy::disallowed_methods,
    reason = "the person who runs the tests says whether they are to be written anew"
)]
fn compare(name: &str, block: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blocks").join(name);
    if std::env::var_os("REKINDLE_UPDATE_BLOCKS").is_some() {
        std::fs::write(&path, block).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(block, known, "{name} is not what it was; look at it, then run with REKINDLE_UPDATE_BLOCKS=1");
}

#[test]
fn brf_01_brf_07_every_block_is_as_it_was() {
    let sandbox = vault();
    for (agent, prompt) in AGENTS {
        let session = |name: &str| format!("{agent}-{name}");
        let start =
            |source: &str| json!({"session_id": session("s"), "source": source, "cwd": sandbox.work()});
        // A session without a briefing at its start.
        let ask = |words: &str| json!({"session_id": session("p"), "prompt": words, "cwd": sandbox.work()});
        compare(&format!("{agent}-start.txt"), &fire(&sandbox, agent, "SessionStart", &start("startup")));
        let needs = ask("which port does the ledger database listen on?");
        compare(&format!("{agent}-prompt.txt"), &fire(&sandbox, agent, prompt, &needs));
        let unrelated = ask("write a poem about autumn leaves");
        compare(&format!("{agent}-nothing.txt"), &fire(&sandbox, agent, prompt, &unrelated));
        compare(&format!("{agent}-compacted.txt"), &fire(&sandbox, agent, "SessionStart", &start("compact")));
        compare(&format!("{agent}-resumed.txt"), &fire(&sandbox, agent, "SessionStart", &start("resume")));
    }
}

#[test]
fn what_memory_costs_a_session_is_told() {
    let sandbox = vault();
    let none = sandbox.rekindle(&["cost", "--memory"]).run().ok().stdout;
    assert!(none.contains("No agent has called Rekindle"), "{none}");
    let start = |session: &str| json!({"session_id": session, "source": "startup", "cwd": sandbox.work()});
    let given = fire(&sandbox, "claude", "SessionStart", &start("s1")).len();
    fire(&sandbox, "codex", "SessionStart", &start("s2"));
    let ask = json!({"session_id": "s3", "prompt": "which port does the ledger database listen on?", "cwd": sandbox.work()});
    fire(&sandbox, "codex", "UserPromptSubmit", &ask);
    let model = ["cost", "--memory", "--model", "anthropic/claude-opus-5-5"];
    let told = sandbox.rekindle(&[&model[..], &["--json"]].concat()).run().ok().json();
    assert_eq!((&told["sessions"], &told["days"][0]["blocks"]), (&json!(3), &json!(3)), "{told}");
    let [claude, codex] =
        ["claude", "codex"].map(|agent| told["days"][0]["byAgent"][agent].as_u64().unwrap());
    assert!(codex > claude && claude as usize > given / 8 && (claude as usize) < given, "{told}");
    assert_eq!(told["tokens"], claude + codex);
    // The record of each session agrees.
    let injected = |session: &str| {
        let one = sandbox.rekindle(&["inspect", "--session", session, "--json"]).run().ok().json();
        one["tokens"]["injected"].as_u64().unwrap()
    };
    assert_eq!((injected("s1"), injected("s2") + injected("s3")), (claude, codex));
    let dollars = told["dollarsPerSession"]["mean"].as_f64().unwrap();
    let mean = told["perSession"]["mean"].as_f64().unwrap();
    assert!((dollars - mean * 4.0 / 1e6).abs() < 1e-5, "{told}");
    let screen = sandbox.rekindle(&model).run().ok();
    assert!(
        screen.stdout.contains("Tokens injected per session") && screen.stderr.contains("per session, $0.00"),
        "{screen:?}"
    );
    let unknown = sandbox.rekindle(&["cost", "--memory", "--model", "some/thing"]).run().ok().stderr;
    assert!(unknown.contains("The price of some/thing is unknown"), "{unknown}");
    sandbox.rekindle(&["cost", "--model", "some/thing"]).run().fails(2);
}
