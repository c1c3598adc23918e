//! What embedding costs: a cold process for one question, a warm one by length, and memories in bulk.
//!
//! `cargo build --release --package rekindle-testkit --examples && cargo bench --package rekindle-embed`.
//! Cold runs alternate with the empty program, so that both see the same machine; the ratio is what counts.
#![expect(clippy::print_stdout, reason = "a benchmark is there to print")]

use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use rekindle_embed::{EmbeddingModel, EncoderScratch, KernelPath, TextRole};
use rekindle_testkit::anchors;

/// Twenty tokens with the two at the ends.
const QUESTION: &str =
    "why did the nightly backup of the staging database fail after the upgrade last tuesday evening";
const COLD_RUNS: usize = 200;
const WORDS: &str = "the a to of and we in it that was on for with because not when after before index memory backup \
    server database release test branch deploy login token cache config timeout error retry queue worker lock file \
    parser customer invoice meeting decided learned remember prefers fixed broke moved slow fast twice nightly \
    weekly monday friday region staging production certificate rollback migration schema vector query latency";

fn main() {
    // Run by this very program, as a process of its own.
    match std::env::args().nth(1).as_deref() {
        Some("--cold-embed") => {
            std::hint::black_box(EmbeddingModel::builtin().embed(
                &mut EncoderScratch::new(),
                TextRole::Query,
                QUESTION,
            ));
        }
        Some("--cold-tokenize") => {
            std::hint::black_box(EmbeddingModel::builtin().tokenize(QUESTION));
        }
        _ => report(),
    }
}

fn report() {
    println!("paths: {:?}", KernelPath::available());
    cold();
    let started = Instant::now();
    std::hint::black_box(EmbeddingModel::builtin());
    println!("first use of the built-in model: {:.1} us", started.elapsed().as_secs_f64() * 1e6);
    warm();
    bulk();
}

fn cold() {
    let (Some(empty), Ok(me)) = (anchors::find("empty"), std::env::current_exe()) else {
        println!("cold: the empty program is not built (see the head of this file)");
        return;
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..COLD_RUNS {
        times[0].push(process(&empty, &[]));
        times[1].push(process(&me, &["--cold-tokenize"]));
        times[2].push(process(&me, &["--cold-embed"]));
    }
    let floor = median(&mut times[0]);
    for (name, times) in ["empty program", "cold, tokens only", "cold, 20 tokens"].iter().zip(&mut times) {
        let p50 = median(times);
        let p90 = times[times.len() * 9 / 10];
        let ratio = p50.as_secs_f64() / floor.as_secs_f64();
        println!("{name:18} p50 {:.2} ms  p90 {:.2} ms  {ratio:.2} x empty", millis(p50), millis(p90));
    }
}

#[expect(clippy::disallowed_methods, reason = "cold starts can only be measured by starting")]
fn process(program: &FilePath, arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let status = std::process::Command::new(program).args(arguments).status();
    let took = started.elapsed();
    assert!(status.is_ok_and(|status| status.success()), "{} failed", program.display());
    took
}

fn warm() {
    let mut numbers = BenchRng(7);
    for path in KernelPath::available() {
        let Some(mut scratch) = EncoderScratch::for_path(path) else { continue };
        let mut line = format!("warm {:10}", format!("{path:?}"));
        for tokens in [8, 20, 64, 256] {
            let text = text_of(&mut numbers, tokens);
            let runs = if path == KernelPath::Scalar { 3 } else { 2000 / tokens + 20 };
            let mut times: Vec<Duration> = (0..runs)
                .map(|_| {
                    let started = Instant::now();
                    std::hint::black_box(EmbeddingModel::builtin().embed(
                        &mut scratch,
                        TextRole::Query,
                        &text,
                    ));
                    started.elapsed()
                })
                .collect();
            line += &format!("  {tokens} tokens {:.2} ms", millis(median(&mut times)));
        }
        println!("{line}");
    }
}

fn bulk() {
    let mut numbers = BenchRng(11);
    let memories: Vec<String> = (0..1000)
        .map(|_| {
            let words = 60 + numbers.below(61);
            (0..words).map(|_| word(&mut numbers)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let memories: Vec<&str> = memories.iter().map(String::as_str).collect();
    let tokens: usize = memories.iter().map(|memory| EmbeddingModel::builtin().tokenize(memory).len()).sum();
    for threads in [1, 2] {
        let started = Instant::now();
        std::hint::black_box(EmbeddingModel::builtin().embed_batch(TextRole::Passage, &memories, threads));
        let rate = memories.len() as f64 / started.elapsed().as_secs_f64();
        let each = tokens / memories.len();
        println!("bulk, {threads} threads: {rate:.0} memories/s of 60-120 words ({each} tokens on average)");
    }
}

/// A text of exactly so many tokens, from words that are one each.
fn text_of(numbers: &mut BenchRng, tokens: usize) -> String {
    let whole = |word: &&str| EmbeddingModel::builtin().tokenize(word).len() == 3;
    let words = std::iter::repeat_with(|| word(numbers)).filter(whole);
    let text = words.take(tokens - 2).collect::<Vec<_>>().join(" ");
    assert_eq!(EmbeddingModel::builtin().tokenize(&text).len(), tokens, "words that are one token each");
    text
}

fn word(numbers: &mut BenchRng) -> &'static str {
    let words = WORDS.split_whitespace();
    let count = words.clone().count();
    words.clone().nth(numbers.below(count)).unwrap_or_default()
}

struct BenchRng(u64);

impl BenchRng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
