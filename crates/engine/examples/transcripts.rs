//! `transcripts make AGENT MEGABYTES FILE [SESSION]`: a made-up transcript of that size, with tools, bulk and rewinds.
//! `transcripts read AGENT FILE`: its messages as JSON, one a line.
//! `transcripts time AGENT FILE`: how fast it is read, and in how much memory. `scripts/bench-transcripts.sh` uses both.
#![expect(clippy::print_stdout, reason = "a developer's program, printing what it was asked for")]
#![expect(clippy::disallowed_methods, reason = "what it writes is thrown away")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use rekindle_core::base::agent::Agent;
use rekindle_engine::agents::transcripts;
use serde_json::{Value, json};

type TranscriptsResult = Result<(), Box<dyn Error>>;

fn main() -> TranscriptsResult {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["make", agent, megabytes, file] => make(agent.parse()?, megabytes.parse()?, Path::new(file), "s"),
        ["make", agent, megabytes, file, session] => {
            make(agent.parse()?, megabytes.parse()?, Path::new(file), session)
        }
        ["read", agent, file] => read(agent.parse()?, Path::new(file)),
        ["time", agent, file] => time(agent.parse()?, Path::new(file)),
        _ => {
            Err("usage: transcripts make AGENT MEGABYTES FILE [SESSION] | read AGENT FILE | time AGENT FILE"
                .into())
        }
    }
}

fn read(agent: Agent, path: &Path) -> TranscriptsResult {
    let read = transcripts::read(agent, path, None, &mut |message| {
        println!("{}", json!(message));
        ControlFlow::Continue(())
    })?;
    println!("{read:?}");
    Ok(())
}

fn time(agent: Agent, path: &Path) -> TranscriptsResult {
    let began = Instant::now();
    let mut characters = 0_u64;
    let read = transcripts::read(agent, path, None, &mut |message| {
        characters += message.text.len() as u64;
        ControlFlow::Continue(())
    })?;
    let megabytes = read.bytes as f64 / 1e6;
    let seconds = began.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map_or("?", str::trim);
    println!(
        "{agent}: {megabytes:.0} MB in {seconds:.1} s ({:.0} MB/s), {} messages of {:.0} MB, peak memory {peak}",
        megabytes / seconds,
        read.messages,
        characters as f64 / 1e6
    );
    Ok(())
}

/// A deterministic random generator.
struct TranscriptRng(u64);

impl TranscriptRng {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Draws words of a made-up language with a skewed distribution.
    fn words(&mut self, most: u64) -> String {
        const SYLLABLES: &[&str] = &[
            "ka", "to", "mi", "ren", "sol", "va", "du", "pel", "ni", "gor", "ash", "lu", "fen", "bri", "ox",
            "yel",
        ];
        let count = 5 + self.roll(most);
        let mut text = String::new();
        for _ in 0..count {
            let rank = self.roll(VOCABULARY).min(self.roll(VOCABULARY)).min(self.roll(VOCABULARY));
            let mut number = rank + 16;
            while number > 0 {
                text.push_str(SYLLABLES[usize::try_from(number % 16).unwrap_or(0)]);
                number /= 16;
            }
            text.push(' ');
        }
        text
    }
}

/// The number of words of the language.
const VOCABULARY: u64 = 30_000;

struct TranscriptMaker {
    out: BufWriter<File>,
    bytes: u64,
    dice: TranscriptRng,
    count: u64,
    session: String,
}

impl TranscriptMaker {
    fn line(&mut self, line: &Value) -> TranscriptsResult {
        let text = line.to_string();
        self.bytes += text.len() as u64 + 1;
        writeln!(self.out, "{text}")?;
        Ok(())
    }

    fn id(&mut self) -> String {
        self.count += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", self.count, self.dice.roll(1 << 31))
    }
}

const TIME: &str = "2026-11-15T09:00:00.000Z";

fn make(agent: Agent, megabytes: u64, path: &Path, session: &str) -> TranscriptsResult {
    let mut maker = TranscriptMaker {
        out: BufWriter::new(File::create(path)?),
        bytes: 0,
        dice: TranscriptRng(7 + session.len() as u64),
        count: 0,
        session: session.to_owned(),
    };
    match agent {
        Agent::Claude => {}
        Agent::Codex => maker.line(&json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": session, "timestamp": TIME, "cwd": "/home/dev"}}))?,
        Agent::Gemini => maker.line(&json!({"sessionId": session, "projectHash": "h", "startTime": TIME, "kind": "main"}))?,
        Agent::Pi => maker.line(&json!({"type": "session", "version": 3, "id": session, "timestamp": TIME, "cwd": "/home/dev"}))?,
    }
    let mut leaf: Option<String> = None;
    let mut turn = 0_u64;
    while maker.bytes < megabytes * 1_000_000 {
        turn += 1;
        // One turn in fifty is rewound.
        let before = leaf.clone();
        leaf = self::turn(agent, &mut maker, leaf)?;
        if turn.is_multiple_of(50) {
            match agent {
                Agent::Claude | Agent::Pi => leaf = before,
                Agent::Codex => maker.line(&json!({"timestamp": TIME, "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}))?,
                Agent::Gemini => {}
            }
        }
    }
    maker.out.flush()?;
    Ok(())
}

/// Writes one turn: a question, a call, its output, bulk and an answer.
fn turn(
    agent: Agent,
    maker: &mut TranscriptMaker,
    leaf: Option<String>,
) -> Result<Option<String>, Box<dyn Error>> {
    let ids: Vec<String> = (0..5).map(|_| maker.id()).collect();
    let (question, answer) = (maker.dice.words(40), maker.dice.words(200));
    let (output, bulk) = (maker.dice.words(1500), maker.dice.words(900));
    match agent {
        Agent::Claude => {
            let session = maker.session.clone();
            let mut parent = leaf;
            let entry = |kind: &str, id: &str, parent: &Option<String>, content: Value| {
                json!({"parentUuid": parent, "isSidechain": false, "type": kind, "uuid": id, "timestamp": TIME,
                    "sessionId": session, "cwd": "/home/dev", "version": "2.1.325", "message": {"role": kind, "id": id, "content": content}})
            };
            let call =
                json!([{"type": "tool_use", "id": ids[1], "name": "Bash", "input": {"command": "make"}}]);
            let result = json!([{"type": "tool_result", "tool_use_id": ids[1], "content": output}]);
            for (kind, id, content) in [
                ("user", 0, json!(question)),
                ("assistant", 1, call),
                ("user", 2, result),
                ("attachment", 3, json!(bulk)),
                ("assistant", 4, json!([{"type": "text", "text": answer}])),
            ] {
                maker.line(&entry(kind, &ids[id], &parent, content))?;
                parent = Some(ids[id].clone());
            }
            return Ok(parent);
        }
        Agent::Pi => {
            let mut parent = leaf;
            let call = json!({"role": "assistant", "content": [{"type": "toolCall", "id": ids[1], "name": "bash", "arguments": {"command": "make"}}]});
            for (id, message) in [
                (0, json!({"role": "user", "content": question})),
                (1, call),
                (
                    2,
                    json!({"role": "toolResult", "toolCallId": ids[1], "toolName": "bash", "content": output}),
                ),
                (3, json!({"role": "system", "content": bulk})),
                (4, json!({"role": "assistant", "content": answer})),
            ] {
                maker.line(&json!({"type": "message", "id": ids[id], "parentId": parent, "timestamp": TIME, "message": message}))?;
                parent = Some(ids[id].clone());
            }
            return Ok(parent);
        }
        Agent::Codex => {
            for payload in [
                json!({"type": "message", "id": ids[0], "role": "user", "content": [{"type": "input_text", "text": question}]}),
                json!({"type": "function_call", "id": ids[1], "call_id": ids[1], "name": "exec_command", "arguments": "{\"cmd\":\"make\"}"}),
                json!({"type": "function_call_output", "id": ids[2], "call_id": ids[1], "output": output}),
                json!({"type": "message", "id": ids[3], "role": "developer", "content": [{"type": "input_text", "text": bulk}]}),
                json!({"type": "message", "id": ids[4], "role": "assistant", "content": [{"type": "output_text", "text": answer}]}),
            ] {
                maker.line(&json!({"timestamp": TIME, "type": "response_item", "payload": payload}))?;
            }
        }
        Agent::Gemini => {
            let call = json!([{"id": ids[2], "name": "run_shell_command", "args": {"command": "make"}, "status": "success",
                "result": [{"functionResponse": {"id": ids[2], "name": "run_shell_command", "response": {"output": output}}}]}]);
            maker.line(
                &json!({"id": ids[0], "timestamp": TIME, "type": "user", "content": [{"text": question}]}),
            )?;
            maker.line(&json!({"id": ids[1], "timestamp": TIME, "type": "gemini", "content": ""}))?;
            maker.line(
                &json!({"id": ids[1], "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": call}),
            )?;
            maker.line(&json!({"id": ids[3], "timestamp": TIME, "type": "info", "content": bulk}))?;
            maker.line(&json!({"id": ids[4], "timestamp": TIME, "type": "gemini", "content": answer}))?;
        }
    }
    Ok(None)
}
