//! Benchmarks capture: the hook beside an empty program, and the worker under load. Ratios against anchors
//! measured in the same run; `scripts/bench.sh` builds the anchors and runs this.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its numbers")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, anchors};
use serde_json::{Value, json};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

const HOOKS: usize = 200;
/// The numbers of ended sessions that wait for the worker; `REKINDLE_BENCH_LOAD=300,1000` sets others.
const LOADS: [usize; 4] = [300, 1_000, 3_000, 10_000];

fn main() {
    let (Some(empty), Some(write_one)) = (anchors::find("empty"), anchors::find("write_one")) else {
        eprintln!("the anchors are not built: run scripts/bench.sh");
        std::process::exit(2);
    };
    hooks(&empty, &write_one);
    load(&empty, &write_one);
}

fn middle(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn timed(command: &mut Command, input: Option<&str>) -> Duration {
    let start = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.unwrap_or_default().as_bytes()).ignore_failure("it may have ended");
    drop(stdin);
    let status = child.wait().expect("it ends");
    let took = start.elapsed();
    assert!(status.success(), "{command:?}");
    took
}

fn rekindle(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekindle"));
    command.args(args).env("REKINDLE_HOME", sandbox.home()).env("HOME", sandbox.user_home());
    command.env("REKINDLE_INDEX_BACKGROUND", "false").current_dir(sandbox.work());
    command
}

fn input(session: &str, transcript: &Path) -> String {
    json!({"session_id": session, "transcript_path": transcript, "cwd": "/home/dev/project", "reason": "exit"}).to_string()
}

/// A cold capture hook, for a short transcript and a long one, alone and starting a worker.
fn hooks(empty: &Path, write_one: &Path) {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init();
    let folder = sandbox.work().join("anchor");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (short, long) = (sandbox.work().join("short.jsonl"), sandbox.work().join("long.jsonl"));
    std::fs::write(&short, "{}\n").expect("written");
    std::fs::write(&long, vec![b'x'; 90_000_000]).expect("written");
    let other = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init();
    let mut times: [Vec<Duration>; 6] = Default::default();
    for number in 0..HOOKS {
        let session = format!("bench-{number}");
        let hook = |event: &str, transcript: &Path, background: bool| {
            let sandbox = if background { &other } else { &sandbox };
            let mut command = rekindle(sandbox, &["hook", "claude", event]);
            command.env("REKINDLE_CAPTURE_BACKGROUND", background.to_string());
            timed(&mut command, Some(&input(&session, transcript)))
        };
        times[0].push(timed(&mut Command::new(empty), None));
        times[1].push(timed(Command::new(write_one).arg(folder.join(format!("{number}.md"))), None));
        times[2].push(hook("SessionEnd", &short, false));
        times[3].push(hook("SessionEnd", &long, false));
        times[4].push(hook("UserPromptSubmit", &short, false));
        if number % 10 == 0 {
            times[5].push(hook("Stop", &short, true));
            // The worker it started must not share the processor with the next round.
            timed(&mut rekindle(&other, &["worker", "--once"]), None);
        }
    }
    let [nothing, one, short, long, prompt, waking] = times.map(middle);
    let beyond = |ours: f64| (ours - (one - nothing)) / nothing;
    println!("cold capture hook, p50 of {HOOKS}");
    println!("  empty program                     {nothing:7.2} ms");
    println!("  write, fsync, rename              {one:7.2} ms");
    println!(
        "  hook, short transcript            {short:7.2} ms   {:.2} x empty beyond the sync (target: at most 5 x)",
        beyond(short)
    );
    println!(
        "  hook, transcript of 90 MB         {long:7.2} ms   {:.2} x of the short one (target: 1)",
        long / short
    );
    println!("  hook that keeps nothing (prompt)  {prompt:7.2} ms   {:.2} x empty", prompt / nothing);
    println!(
        "  hook that starts a worker         {waking:7.2} ms   {:.2} x empty beyond the sync",
        beyond(waking)
    );
}

/// The resources that a process used: the peak memory in MB, in total and without mapped files, which the system
/// can reclaim at any time.
#[derive(Clone, Copy, Default)]
struct ProcessUsage {
    all: f64,
    own: f64,
    /// The processor time in seconds, which does not depend on other load.
    processor: f64,
}

/// Watches a process to its end.
fn watch(child: &mut Child, start: Instant) -> (ProcessUsage, Duration) {
    let mut peak = ProcessUsage::default();
    loop {
        let times = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let fields = times.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let hundredths: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
        peak.processor = peak.processor.max(hundredths / 100.0);
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let megabytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.trim().split(' ').next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
        };
        peak.all = peak.all.max(megabytes("VmHWM:"));
        peak.own = peak.own.max(megabytes("RssAnon:"));
        if let Some(status) = child.try_wait().expect("it can be asked") {
            assert!(status.success());
            return (peak, start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn transcript(folder: &Path, number: usize) -> PathBuf {
    let path = folder.join(format!("t{number}.jsonl"));
    let mut text = String::new();
    let mut parent = Value::Null;
    for turn in 0..6 {
        // Something to observe, which is a memory once, and something to talk about.
        let said = match turn {
            0 => "We decided to use port 8080 for staging because port 80 is taken.",
            _ => "Please look at the pump again and tell me what is wrong.",
        };
        for (kind, words) in [("user", said), ("assistant", "Done.")] {
            let id = format!("{number}-{turn}-{kind}");
            let line = json!({"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "version": "2.1.325",
                "sessionId": format!("s{number}"), "cwd": "/home/dev/project",
                "timestamp": format!("2026-11-14T10:{turn:02}:00.000Z"), "message": {"role": kind, "content": words}});
            text.push_str(&format!("{line}\n"));
            parent = json!(id);
        }
    }
    std::fs::write(&path, text).expect("written");
    path
}

/// Fills the spool with ended sessions, as their hooks would have left them.
fn fill(sandbox: &Sandbox, count: usize) {
    let transcripts: Vec<PathBuf> = (0..50).map(|number| transcript(sandbox.work(), number)).collect();
    let spool = sandbox.state().join("spool");
    let mut hook = rekindle(sandbox, &["hook", "claude", "SessionEnd"]);
    hook.env("REKINDLE_CAPTURE_BACKGROUND", "false");
    timed(&mut hook, Some(&input("template", &transcripts[0])));
    let template = std::fs::read_dir(&spool)
        .expect("a spool")
        .map(|file| file.expect("a file").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "json"))
        .expect("what the hook left");
    let one: Value = serde_json::from_slice(&std::fs::read(template).expect("read")).expect("JSON");
    for number in 0..count {
        let mut one = one.clone();
        let id = format!("01M{number:023}");
        let path = &transcripts[number % transcripts.len()];
        one["id"] = json!(id);
        one["what"]["signal"]["signal"]["session"] = json!(format!("load-{number}"));
        one["what"]["signal"]["signal"]["transcript"] = json!(path);
        one["what"]["signal"]["position"] = json!(std::fs::metadata(path).expect("there").len());
        std::fs::write(spool.join(format!("{id}.json")), one.to_string()).expect("written");
    }
}

/// Thousands of ended sessions at once: memory stays flat, and a hook does not notice.
fn load(empty: &Path, write_one: &Path) {
    println!(
        "a worker draining ended sessions (each is read, becomes an event, a handoff and an observation)"
    );
    let chosen = std::env::var("REKINDLE_BENCH_LOAD").unwrap_or_default();
    let mut loads: Vec<usize> = chosen.split(',').filter_map(|count| count.trim().parse().ok()).collect();
    if loads.is_empty() {
        loads = LOADS.to_vec();
    }
    let most = loads.iter().copied().max().unwrap_or_default();
    let mut measured = Vec::new();
    for count in loads {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init();
        fill(&sandbox, count);
        // The anchor of this load, before it: others may be at the machine.
        let folder = sandbox.work().join("anchor");
        std::fs::create_dir_all(&folder).expect("a folder");
        let one =
            |number: usize| timed(Command::new(write_one).arg(folder.join(format!("{number}.md"))), None);
        let anchor = middle((0..100).map(one).collect());
        let mut worker = rekindle(&sandbox, &["worker", "--once"]);
        let start = Instant::now();
        let mut child = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let (mut hooks, mut nothing) = (Vec::new(), Vec::new());
        if count == most {
            std::thread::sleep(Duration::from_millis(500));
            for number in 0..100 {
                let mut hook = rekindle(&sandbox, &["hook", "claude", "Stop"]);
                let none = sandbox.work().join("t0.jsonl");
                hooks.push(timed(&mut hook, Some(&input(&format!("busy-{number}"), &none))));
                nothing.push(timed(&mut Command::new(empty), None));
            }
        }
        let (peak, took) = watch(&mut child, start);
        let each = took.as_secs_f64() * 1e3 / count as f64;
        println!(
            "  {count:6} sessions   {:7.1} s   {each:5.1} ms each ({:.1} ms of a processor), {:.1} x write, fsync, rename   peak {:.1} MB of its own, {:.1} MB with mapped files",
            took.as_secs_f64(),
            peak.processor * 1e3 / count as f64,
            each / anchor,
            peak.own,
            peak.all
        );
        if !hooks.is_empty() {
            let (hook, nothing) = (middle(hooks), middle(nothing));
            println!("  hooks meanwhile  {hook:7.2} ms, {:.1} x an empty program meanwhile", hook / nothing);
        }
        measured.push((count, peak, each));
    }
    let base = measured.iter().find(|(count, ..)| *count >= 1_000).copied();
    let (Some((few, small, quick)), Some((many, large, slow))) = (base, measured.last().copied()) else {
        return;
    };
    println!(
        "  at {many} against {few}: its own memory {:.2} x (target: 1), {:.2} x with mapped files; time for each {:.2} x (target: 1), {:.2} x of a processor",
        large.own / small.own,
        large.all / small.all,
        slow / quick,
        (large.processor / many as f64) / (small.processor / few as f64)
    );
}
