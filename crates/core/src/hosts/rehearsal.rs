//! A rehearsed session: a short conversation as each agent records it in a transcript and reports it to hooks.
//!
//! `rekindle gate` plays it through the installed hooks. Only fields that we read are written; a test parses
//! every transcript with the agent's own parser.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::base::agent::Agent;
use crate::base::hash::ContentHash;
use crate::base::time::Timestamp;
use crate::hosts::hook::HookKind;

/// The versions of the agents whose formats are written.
const CLAUDE_VERSION: &str = "2.1.325";
const CODEX_VERSION: &str = "0.166.0";
/// The version of pi's transcript format.
const PI_FORMAT: u64 = 3;

/// A prompt and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RehearsedTurn {
    prompt: String,
    answer: String,
}

/// A session that a person might have had with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearsedSession {
    /// The agent that reports it.
    pub agent: Agent,
    /// The id of the session.
    pub id: String,
    /// The working folder of the agent.
    pub cwd: String,
    /// The time of the first prompt.
    pub started: Timestamp,
    turns: Vec<RehearsedTurn>,
}

impl RehearsedSession {
    /// A session without turns.
    pub fn new(agent: Agent, id: impl Into<String>, cwd: impl Into<String>, started: Timestamp) -> Self {
        Self { agent, id: id.into(), cwd: cwd.into(), started, turns: Vec::new() }
    }

    /// Adds a prompt and its answer.
    pub fn add_turn(&mut self, prompt: impl Into<String>, answer: impl Into<String>) {
        self.turns.push(RehearsedTurn { prompt: prompt.into(), answer: answer.into() });
    }

    /// The transcript so far, in the agent's format.
    pub fn transcript(&self) -> String {
        let lines = match self.agent {
            Agent::Claude => self.claude_lines(),
            Agent::Codex => self.codex_lines(),
            Agent::Gemini => self.gemini_lines(),
            Agent::Pi => self.pi_lines(),
        };
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// What the agent sends to the hook for `event` on its stdin. A prompt or an answer is the one of the last
    /// turn.
    pub fn hook_input(&self, event: &str, transcript: &str) -> Value {
        let mut input = json!({
            "session_id": self.id,
            "transcript_path": transcript,
            "cwd": self.cwd,
            "hook_event_name": event,
        });
        let (prompt, answer) =
            self.turns.last().map_or(("", ""), |turn| (turn.prompt.as_str(), turn.answer.as_str()));
        let more = match HookKind::from_event(self.agent, event) {
            Some(HookKind::Start) => json!({"source": "startup"}),
            Some(HookKind::Prompt) => json!({"prompt": prompt}),
            Some(HookKind::Stop) if self.agent == Agent::Gemini => {
                json!({"prompt": prompt, "prompt_response": answer, "stop_hook_active": false})
            }
            Some(HookKind::Stop) => json!({"stop_hook_active": false, "last_assistant_message": answer}),
            Some(HookKind::BeforeCompaction | HookKind::AfterCompaction) => json!({"trigger": "manual"}),
            Some(HookKind::End) => json!({"reason": if self.agent == Agent::Pi { "quit" } else { "exit" }}),
            Some(HookKind::BeforeTool) | None => json!({}),
        };
        let of_agent = match self.agent {
            Agent::Claude => json!({"prompt_id": self.part_id("prompt"), "permission_mode": "default"}),
            Agent::Codex => {
                json!({"turn_id": self.part_id("turn"), "model": "rehearsal", "permission_mode": "default"})
            }
            Agent::Gemini => json!({"timestamp": self.at(2 * self.turns.len()).to_string()}),
            Agent::Pi => json!({"mode": "interactive", "has_ui": false}),
        };
        for fields in [more, of_agent] {
            if let (Value::Object(input), Value::Object(fields)) = (&mut input, fields) {
                input.extend(fields);
            }
        }
        input
    }

    /// An id that belongs to this session.
    fn part_id(&self, part: &str) -> String {
        ContentHash::of_parts(&[self.id.as_bytes(), part.as_bytes()]).short_hex(32)
    }

    /// The time of a message: one second after the one before.
    fn at(&self, number: usize) -> Timestamp {
        self.started + SignedDuration::from_secs(i64::try_from(number).unwrap_or(0))
    }

    /// The messages in order, each with its number: true for the person's.
    fn messages(&self) -> impl Iterator<Item = (usize, bool, &str)> {
        let pairs = self.turns.iter().flat_map(|turn| [(true, &turn.prompt), (false, &turn.answer)]);
        pairs.enumerate().map(|(number, (is_prompt, text))| (number, is_prompt, text.as_str()))
    }

    fn claude_lines(&self) -> Vec<Value> {
        let id = |number: usize| self.part_id(&format!("message-{number}"));
        let line = |(number, is_prompt, text): (usize, bool, &str)| {
            let (role, content) = match is_prompt {
                true => ("user", json!(text)),
                false => ("assistant", json!([{"type": "text", "text": text}])),
            };
            json!({
                "type": role,
                "uuid": id(number),
                "parentUuid": number.checked_sub(1).map(id),
                "isSidechain": false,
                "userType": "external",
                "entrypoint": "cli",
                "sessionId": self.id,
                "cwd": self.cwd,
                "version": CLAUDE_VERSION,
                "timestamp": self.at(number).to_string(),
                "message": {"role": role, "content": content},
            })
        };
        self.messages().map(line).collect()
    }

    fn codex_lines(&self) -> Vec<Value> {
        let record = |number: usize, kind: &str, payload: Value| json!({"timestamp": self.at(number).to_string(), "type": kind, "payload": payload});
        let meta = json!({
            "id": self.id,
            "session_id": self.id,
            "timestamp": self.started.to_string(),
            "cwd": self.cwd,
            "originator": "codex_cli_rs",
            "cli_version": CODEX_VERSION,
            "source": "cli",
            "thread_source": "user",
        });
        let mut lines = vec![record(0, "session_meta", meta)];
        for (number, is_prompt, text) in self.messages() {
            if is_prompt {
                let turn = json!({"type": "task_started", "turn_attribution": {"turn_trigger": "user"}});
                lines.push(record(number, "event_msg", turn));
            }
            let (role, part) = if is_prompt { ("user", "input_text") } else { ("assistant", "output_text") };
            let message = json!({
                "type": "message",
                "id": self.part_id(&format!("message-{number}")),
                "role": role,
                "content": [{"type": part, "text": text}],
            });
            lines.push(record(number, "response_item", message));
        }
        lines
    }

    fn gemini_lines(&self) -> Vec<Value> {
        let mut lines = vec![json!({
            "sessionId": self.id,
            "projectHash": self.part_id("project"),
            "startTime": self.started.to_string(),
            "lastUpdated": self.started.to_string(),
            "kind": "main",
        })];
        lines.extend(self.messages().map(|(number, is_prompt, text)| {
            json!({
                "id": self.part_id(&format!("message-{number}")),
                "timestamp": self.at(number).to_string(),
                "type": if is_prompt { "user" } else { "gemini" },
                "content": if is_prompt { json!([{"text": text}]) } else { json!(text) },
            })
        }));
        lines
    }

    fn pi_lines(&self) -> Vec<Value> {
        let id = |number: usize| self.part_id(&format!("message-{number}"));
        let mut lines = vec![json!({
            "type": "session",
            "version": PI_FORMAT,
            "id": self.id,
            "timestamp": self.started.to_string(),
            "cwd": self.cwd,
        })];
        lines.extend(self.messages().map(|(number, is_prompt, text)| {
            json!({
                "type": "message",
                "id": id(number),
                "parentId": number.checked_sub(1).map(id),
                "timestamp": self.at(number).to_string(),
                "message": {
                    "role": if is_prompt { "user" } else { "assistant" },
                    "content": [{"type": "text", "text": text}],
                },
            })
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::hook;
    use crate::hosts::install::events;
    use crate::session::host::{LineVerdict, transcript_parser};
    use crate::session::{Message, MessageRole};

    fn session(agent: Agent) -> RehearsedSession {
        let started = "2026-11-19T10:00:00Z".parse().unwrap();
        let mut session = RehearsedSession::new(agent, "rehearsal-1", "/project", started);
        session.add_turn("Remember that the staging database listens on port 5433.", "Noted.");
        session.add_turn("Which files did you change?", "None.");
        session
    }

    /// B-10, R-19: the parser of each agent reads a rehearsed transcript as typed by a person.
    #[test]
    fn b_10_r_19_every_agents_parser_reads_its_rehearsed_transcript() {
        for agent in Agent::ALL {
            let mut messages: Vec<Message> = Vec::new();
            let mut parser = transcript_parser(agent);
            for line in session(agent).transcript().lines() {
                let verdict = parser.line(line.as_bytes(), &mut |message| messages.push(message));
                assert_eq!(verdict, LineVerdict::Known, "{agent}: {line}");
            }
            let said: Vec<(MessageRole, &str, bool)> = messages
                .iter()
                .map(|message| (message.role, message.text.as_str(), message.automated))
                .collect();
            let expected = [
                (MessageRole::User, "Remember that the staging database listens on port 5433.", false),
                (MessageRole::Assistant, "Noted.", false),
                (MessageRole::User, "Which files did you change?", false),
                (MessageRole::Assistant, "None.", false),
            ];
            assert_eq!(said, expected, "{agent}");
            let head = parser.head();
            assert_eq!(head.session.as_deref(), Some("rehearsal-1"), "{agent}");
            assert!(!head.headless && !head.subagent, "{agent}");
        }
    }

    /// B-10: each hook understands what is sent to it.
    #[test]
    fn b_10_every_hook_reads_its_rehearsed_input() {
        for agent in Agent::ALL {
            for event in events(agent, true) {
                let kind = HookKind::from_event(agent, event.event).unwrap();
                let input = session(agent).hook_input(event.event, "/t.jsonl");
                let signal = hook::read(agent, kind, input.to_string().as_bytes()).unwrap();
                assert_eq!(
                    (signal.session.as_str(), signal.cwd.as_deref()),
                    ("rehearsal-1", Some("/project"))
                );
                assert_eq!(signal.transcript.as_deref(), Some("/t.jsonl"));
                assert!(!signal.subagent);
                let said = match kind {
                    HookKind::Prompt => signal.prompt.as_deref(),
                    HookKind::Stop => signal.answer.as_deref(),
                    _ => continue,
                };
                assert_eq!(
                    said,
                    Some(if kind == HookKind::Prompt { "Which files did you change?" } else { "None." })
                );
            }
        }
    }
}
