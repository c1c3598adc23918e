//! `observations show FOLDER…`: prints what the rules find in the transcripts below, each finding beside its
//! messages. `scripts/observations.sh` runs it.
//!
//! `observations time AGENT FILE`: measures the speed and the memory of observing a transcript.
//! `scripts/bench-observe.sh` uses it.
#![expect(clippy::print_stdout, reason = "a developer's program, printing what it was asked for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::TimeZone;
use rekindle_core::knowledge::observe;
use rekindle_core::knowledge::observe::evidence::MessageEvidence;
use rekindle_core::knowledge::observe::write_gate::judge_finding;
use rekindle_core::knowledge::observe::{Finding, ObservedSession};
use rekindle_core::session::Message;
use rekindle_engine::agents::transcripts::{self, SessionHead};

type ObservationsResult = Result<(), Box<dyn Error>>;

fn main() -> ObservationsResult {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["show", folders @ ..] if !folders.is_empty() => show(folders),
        ["time", agent, file] => time(agent.parse()?, Path::new(file)),
        _ => Err("usage: observations show FOLDER… | time AGENT FILE".into()),
    }
}

/// Reads a transcript in the format of the agent that fits best; returns its messages and its head.
fn read(path: &Path) -> Option<(Agent, SessionHead, Vec<Message>)> {
    let mut best: Option<(u64, Agent, SessionHead, Vec<Message>)> = None;
    for agent in Agent::ALL {
        let mut messages = Vec::new();
        let read = transcripts::read(agent, path, None, &mut |message| {
            messages.push(message);
            ControlFlow::Continue(())
        });
        let Ok(read) = read else { continue };
        let odd = read.unknown + read.damaged;
        if !messages.is_empty() && best.as_ref().is_none_or(|(known, ..)| odd < *known) {
            best = Some((odd, agent, read.head, messages));
        }
    }
    best.map(|(_, agent, head, messages)| (agent, head, messages))
}

fn below(place: &Path, found: &mut Vec<PathBuf>) {
    if place.is_file() {
        found.push(place.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(place) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            below(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "jsonl" || end == "json") {
            found.push(entry);
        }
    }
}

fn show(folders: &[&str]) -> ObservationsResult {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| below(Path::new(folder), &mut files));
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut sessions, mut silent) = (0, 0);
    for file in files {
        let Some((agent, head, messages)) = read(&file) else {
            println!("# {}: no transcript", file.display());
            continue;
        };
        let began = Instant::now();
        let observed = observe::observe(&messages, &TimeZone::UTC, head.cwd.as_deref());
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        println!("# {} ({agent}, {} messages, {milliseconds:.1} ms)", file.display(), messages.len());
        sessions += 1;
        silent += usize::from(observed.is_empty());
        print(&observed, &messages, &mut kinds);
    }
    println!(
        "{sessions} sessions, {silent} of them without a finding; {} findings:",
        kinds.iter().filter(|(kind, _)| !kind.starts_with("the gate")).map(|(_, count)| count).sum::<usize>()
    );
    kinds.iter().for_each(|(kind, count)| println!("  {kind}: {count}"));
    Ok(())
}

fn print(observed: &ObservedSession, messages: &[Message], kinds: &mut BTreeMap<String, usize>) {
    let evidence = MessageEvidence::new(messages, &TimeZone::UTC);
    for part in &observed.parts {
        println!("\n## {}", part.narrative);
        for finding in &part.findings {
            *kinds.entry(format!("{:?}", finding.kind)).or_default() += 1;
            let passes = finding_beside(finding, messages, &evidence);
            *kinds.entry(format!("the gate {}", if passes { "passes" } else { "doubts" })).or_default() += 1;
        }
    }
    println!("\ntask: {:?}\nnext: {:?}\n", observed.current_task, observed.suggested_response);
}

fn finding_beside(finding: &Finding, messages: &[Message], evidence: &MessageEvidence<'_>) -> bool {
    let when = finding.when.map(|when| when.to_string()).unwrap_or_default();
    let feels = finding.sentiment.map(|feels| format!(" {feels:?}")).unwrap_or_default();
    println!(
        "* {} {when} [{:?}, {}, {:?}{feels}] {}",
        finding.priority.emoji(),
        finding.kind,
        finding.origin,
        finding.strength,
        finding.text
    );
    let verdict = judge_finding(finding, evidence, &[]);
    if !verdict.is_passing() {
        println!("      the gate doubts it: {:?}", verdict.doubts);
    }
    for message in messages.iter().filter(|message| finding.messages.contains(&message.id)) {
        let calls: Vec<String> =
            message.calls.iter().map(|call| format!("{}({})", call.tool, call.input)).collect();
        let text = format!("{} {}", message.text, calls.join("; "));
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(240).collect();
        println!("      {:?}: {text}", message.role);
    }
    verdict.is_passing()
}

fn time(agent: Agent, path: &Path) -> ObservationsResult {
    let mut messages = Vec::new();
    let read = transcripts::read(agent, path, None, &mut |message| {
        messages.push(message);
        ControlFlow::Continue(())
    })?;
    let before = peak();
    let began = Instant::now();
    let observed = observe::observe(&messages, &TimeZone::UTC, read.head.cwd.as_deref());
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{agent}: {:.0} MB, {} messages observed in {seconds:.2} s, {} findings, {} more kB than the messages take",
        read.bytes as f64 / 1e6,
        messages.len(),
        observed.findings().count(),
        peak().saturating_sub(before)
    );
    Ok(())
}

/// The peak memory of this program, in kB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
