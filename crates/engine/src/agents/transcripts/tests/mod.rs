//! Tests of the readers, on sessions recorded with the real agents.
#![expect(clippy::disallowed_methods, reason = "transcripts are written as an agent, or a crash, would")]

mod contract;
mod damage;
mod shapes;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::session::{Message, MessageRole};

use super::{Error, TranscriptSummary, find, read};

/// A recorded transcript whose file name contains `name`.
fn recorded(agent: Agent, name: &str) -> PathBuf {
    let found = find(agent, &rekindle_testkit::transcripts::home());
    let path = found.into_iter().map(|found| found.path).find(|path| path.to_string_lossy().contains(name));
    path.unwrap_or_else(|| panic!("no transcript {name} of {agent}"))
}

/// All messages of a transcript, and the result of reading it.
fn all(agent: Agent, path: &Path, upto: Option<u64>) -> Result<(Vec<Message>, TranscriptSummary), Error> {
    let mut messages = Vec::new();
    let read = read(agent, path, upto, &mut |message| {
        messages.push(message);
        ControlFlow::Continue(())
    })?;
    Ok((messages, read))
}

/// A message in short: speaker, text, calls and outcome.
fn short(message: &Message) -> String {
    let who = match message.role {
        MessageRole::User => "user",
        MessageRole::Assistant => "agent",
        MessageRole::Tool => "tool",
        MessageRole::Summary => "summary",
    };
    let text: String = message.text.chars().take(48).collect();
    let mut short = format!("{who}: {}", text.replace('\n', "|"));
    for call in &message.calls {
        let files = |sign: &str, files: &[String]| -> String {
            files
                .iter()
                .map(|file| format!(" {sign}{}", file.rsplit('/').next().unwrap_or_default()))
                .collect()
        };
        let input: String = call.input.chars().take(20).collect();
        let files = [files("<", &call.reads), files(">", &call.writes)].concat();
        short.push_str(&format!(" [{}({input}){files}]", call.tool));
    }
    if let Some(outcome) = &message.outcome {
        let tool = outcome.tool.as_deref().unwrap_or("?");
        let code = outcome.exit_code.map(|code| format!(" {code}")).unwrap_or_default();
        short.push_str(&format!(" ({tool}{}{code})", if outcome.failed { " failed" } else { "" }));
    }
    short
}

fn shorts(agent: Agent, name: &str) -> Vec<String> {
    let (messages, read) = all(agent, &recorded(agent, name), None).unwrap();
    assert_eq!((read.unknown, read.damaged, read.oversized, read.missing), (0, 0, 0, 0), "{name}");
    assert_eq!(read.messages, messages.len() as u64);
    assert_eq!(read.bytes, recorded(agent, name).metadata().unwrap().len());
    messages.iter().map(short).collect()
}
