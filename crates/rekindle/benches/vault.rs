//! Benchmarks the vault, in ratios against anchors measured in the same run.
//!
//! `scripts/bench.sh` builds the anchors and runs this. Numbers of one machine mean little; the ratio to a
//! program that only writes, syncs and renames one file says what Rekindle adds.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its numbers")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, anchors};

const SAVES: usize = 300;
const ENTRIES: usize = 20_000;
const LISTS: usize = 9;

fn main() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init();
    save(&sandbox);
    list(&sandbox);
}

fn timed(command: &mut Command) -> Duration {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("it starts");
    let took = start.elapsed();
    assert!(status.success(), "{command:?}");
    took
}

fn middle(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn rekindle(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekindle"));
    command.args(args).env("REKINDLE_HOME", sandbox.home()).current_dir(sandbox.work());
    command
}

/// A cold `rekindle save` beside an empty program and one that only writes, syncs and renames a file. The three take
/// turns, so that whatever else the machine does hits them alike.
fn save(sandbox: &Sandbox) {
    let (Some(empty), Some(write_one)) = (anchors::find("empty"), anchors::find("write_one")) else {
        eprintln!("the anchors are not built: run scripts/bench.sh");
        std::process::exit(2);
    };
    let folder = sandbox.work().join("anchor");
    std::fs::create_dir_all(&folder).expect("a folder");
    let body = "Staging Postgres listens on 5433, not 5432; the pooler is on 6433. ".repeat(5);
    let (mut nothing, mut one, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..SAVES {
        nothing.push(timed(&mut Command::new(&empty)));
        one.push(timed(Command::new(&write_one).arg(folder.join(format!("{number}.md")))));
        let slug = format!("bench-{number}");
        ours.push(timed(&mut rekindle(sandbox, &["save", "fix", &slug, "--body", &body])));
    }
    let (nothing, one, ours) = (middle(nothing), middle(one), middle(ours));
    println!("cold save, p50 of {SAVES}");
    println!("  empty program            {nothing:7.2} ms");
    println!("  write, fsync, rename     {one:7.2} ms");
    println!("  rekindle save            {ours:7.2} ms   {:.2} x (target: at most 4 x)", ours / one);
}

fn list(sandbox: &Sandbox) {
    for number in 0..ENTRIES {
        let text = format!(
            "---\nid: m-{number:012}\nkind: fix\nstatus: active\ncreated: 2026-11-15T02:13:08Z\nupdated: 2026-11-15T02:13:08Z\ntags: [db, staging]\ngroup: personal-private\nscope: project\nproject: github.com/acme/widgets\nalways_load: false\nsupersedes: null\nsuperseded_by: null\nconfidence_rating_at_capture: high\norigin: user\n---\n\n# Memory {number}\n\n{}\n",
            "Some words about a thing that happened. ".repeat(10)
        );
        sandbox.write(format!("personal-private/kind-{}/entry-{number}.md", number % 20), text);
    }
    let times = (0..LISTS).map(|_| timed(&mut rekindle(sandbox, &["list", "--json"]))).collect();
    println!("list of {ENTRIES} entries, p50 of {LISTS}");
    println!("  rekindle list            {:7.0} ms   (target: under 1000 ms)", middle(times));
}
