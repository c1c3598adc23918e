//! Benchmarks injection: the hooks at a session's start and on a prompt, and the first answer of the MCP
//! server, cold, beside an empty program and beside a plain `recall`. Ratios against anchors measured in the
//! same run; `scripts/bench.sh inject` builds the anchors and runs this.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its numbers")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, anchors};
use serde_json::json;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

const ROUNDS: usize = 100;
/// With nothing of ours in memory every round reads the program and the index from the disk.
const COLD_ROUNDS: usize = 20;
/// The numbers of memories in the store; `REKINDLE_BENCH_MEMORIES=1000,20000` sets others.
const SIZES: &str = "1000,20000,100000";

fn main() {
    let Some(empty) = anchors::find("empty") else {
        eprintln!("the anchors are not built: run scripts/bench.sh inject");
        std::process::exit(2);
    };
    println!("what it costs to be told, a new process each time, p50 and p95");
    let sizes = std::env::var("REKINDLE_BENCH_MEMORIES").unwrap_or_else(|_| SIZES.to_owned());
    for size in sizes.split(',').map(|size| size.trim().parse().expect("a number of memories")) {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init();
        fill(&sandbox, size);
        for cache in [CacheState::Warm, CacheState::Cold] {
            told(&empty, &sandbox, size, cache);
        }
    }
}

fn spread(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
    (at(50), at(95))
}

fn timed(command: &mut Command, input: &str) -> (Duration, usize) {
    let start = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).ignore_failure("it may have ended");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let took = start.elapsed();
    assert!(output.status.success(), "{command:?}");
    (took, output.stdout.len())
}

/// From the start of the MCP server to its first answer; it ends when nobody asks any more.
fn first_answer(sandbox: &Sandbox, prompt: &str) -> Duration {
    let version = "2025-06-18";
    let client = json!({"name": "bench", "version": "1"});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": client}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "recall", "arguments": {"query": prompt}}});
    let start = Instant::now();
    let mut command = rekindle(sandbox, &["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut say = |message: &serde_json::Value| writeln!(stdin, "{message}").expect("it listens");
    say(&hello);
    let greeting = answers.next().expect("an answer").expect("text");
    assert!(greeting.contains("serverInfo"), "{greeting}");
    say(&ready);
    say(&call);
    let answer = answers.next().expect("an answer").expect("text");
    let took = start.elapsed();
    assert!(answer.contains("\"id\":2") && !answer.contains("\"isError\":true"), "{answer}");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    took
}

fn rekindle(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekindle"));
    command.args(args).env("REKINDLE_HOME", sandbox.home()).env("HOME", sandbox.user_home());
    command.env("REKINDLE_INDEX_BACKGROUND", "false").env("REKINDLE_CAPTURE_BACKGROUND", "false");
    command.current_dir(sandbox.work());
    command
}

/// Memories about things that can be told apart: a machine, a part of it, and what is the matter with it.
fn fill(sandbox: &Sandbox, size: usize) {
    let parts = ["valve", "pump", "gauge", "boiler", "kettle", "fuse", "relay", "filter", "hose", "switch"];
    let faults =
        ["leaks when it is cold", "has to be oiled weekly", "was replaced in spring", "is wired backwards"];
    let folder = sandbox.vault().join("personal-private/fix");
    std::fs::create_dir_all(&folder).expect("a folder");
    for number in 0..size {
        let (part, fault) = (parts[number % parts.len()], faults[number / 7 % faults.len()]);
        let body = format!("The {part} of machine {number} in hall {} {fault}.", number % 37);
        let text = format!(
            "---\nid: m-{number:012}\nkind: fix\nstatus: active\ncreated: 2026-11-01T02:13:08Z\ngroup: \
             personal-private\nscope: global\norigin: user\n---\n\n{body}\n"
        );
        std::fs::write(folder.join(format!("machine-{number}.md")), text).expect("written");
    }
    let rules: String =
        (0..30).map(|n| format!("- (2026-11-01) Rule {n}: check hall {n} twice.\n")).collect();
    std::fs::write(sandbox.vault().join("MEMORY.md"), format!("# Memory\n\n## Hard Rules\n\n{rules}"))
        .expect("written");
    let indexed = rekindle(sandbox, &["reindex"]).stdout(Stdio::null()).status().expect("it runs");
    assert!(indexed.success());
}

/// True if the system has our files in its page cache.
#[derive(Clone, Copy, PartialEq)]
enum CacheState {
    Warm,
    Cold,
}

/// Asks the system to let go of the program and of everything in the index; GNU's `dd` knows how.
fn let_go(sandbox: &Sandbox) {
    let index = std::fs::read_dir(sandbox.state().join("index")).expect("an index");
    let files = index.map(|file| file.expect("a file").path()).filter(|path| path.is_file());
    for file in files.chain([env!("CARGO_BIN_EXE_rekindle").into()]) {
        let mut dd = Command::new("dd");
        dd.arg(format!("if={}", file.display())).args(["iflag=nocache", "count=0", "status=none"]);
        assert!(dd.status().expect("dd runs").success());
    }
}

fn told(empty: &Path, sandbox: &Sandbox, size: usize, cache: CacheState) {
    let rounds = if cache == CacheState::Warm { ROUNDS } else { COLD_ROUNDS };
    let mut times: [Vec<Duration>; 5] = Default::default();
    let (mut said, mut briefed) = (0, 0);
    for number in 0..rounds {
        let machine = number * 13 % size;
        let prompt = format!("what is the matter with machine {machine} in hall {}?", machine % 37);
        let session = format!("bench-{number}-{}", cache == CacheState::Cold);
        let ours = |args: &[&str], input: &str| {
            if cache == CacheState::Cold {
                let_go(sandbox);
            }
            timed(&mut rekindle(sandbox, args), input)
        };
        times[0].push(timed(&mut Command::new(empty), "").0);
        times[1].push(ours(&["recall", &prompt, "--json"], "").0);
        let start = json!({"session_id": session, "source": "startup"}).to_string();
        let (took, length) = ours(&["hook", "claude", "SessionStart"], &start);
        times[2].push(took);
        briefed += usize::from(length > 0);
        let asked = json!({"session_id": session, "prompt": prompt}).to_string();
        let (took, length) = ours(&["hook", "claude", "UserPromptSubmit"], &asked);
        times[3].push(took);
        said += usize::from(length > 0);
        if cache == CacheState::Cold {
            let_go(sandbox);
        }
        times[4].push(first_answer(sandbox, &prompt));
    }
    let [nothing, recall, start, prompt, answer] = times.map(spread);
    println!("{size} memories, {} cache", if cache == CacheState::Warm { "warm" } else { "cold" });
    println!("  empty program       {:7.2} ms", nothing.0);
    println!(
        "  recall              {:7.2} ms   p95 {:7.2}   {:.1} x empty",
        recall.0,
        recall.1,
        recall.0 / nothing.0
    );
    println!(
        "  session start       {:7.2} ms   p95 {:7.2}   {:.1} x empty   {briefed} of {rounds} were told something (target: 20 ms)",
        start.0,
        start.1,
        start.0 / nothing.0
    );
    println!(
        "  prompt              {:7.2} ms   p95 {:7.2}   {:.2} x recall   {said} of {rounds} were told something (target: 30 ms)",
        prompt.0,
        prompt.1,
        prompt.0 / recall.0
    );
    println!(
        "  MCP, first answer   {:7.2} ms   p95 {:7.2}   recall and {:.1} x empty (target: 4)",
        answer.0,
        answer.1,
        (answer.0 - recall.0) / nothing.0
    );
}
