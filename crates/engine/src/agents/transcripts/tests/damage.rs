//! Tests of transcripts that are truncated, overwritten or of another program.

use proptest::prelude::*;
use serde_json::json;

use super::super::HEAD_BYTES;
use super::*;

fn copy_of(bytes: &[u8], name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// All recorded transcripts that do not depend on other files.
fn recordings() -> Vec<(Agent, Vec<u8>)> {
    let mut all = Vec::new();
    for agent in Agent::ALL {
        for found in find(agent, &rekindle_testkit::transcripts::home()) {
            let bytes = std::fs::read(&found.path).unwrap();
            if !String::from_utf8_lossy(&bytes).contains("history_base") {
                all.push((agent, bytes));
            }
        }
    }
    all
}

#[test]
fn a_transcript_that_is_not_there_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("none.jsonl");
    assert!(matches!(all(Agent::Claude, &nowhere, None), Err(Error::Missing(path)) if path == nowhere));
    assert!(matches!(all(Agent::Claude, folder.path(), None), Err(Error::Unreadable { .. })));
    for agent in Agent::ALL {
        assert_eq!(find(agent, folder.path()), []);
        let (_folder, empty) = copy_of(b"", "empty.jsonl");
        assert_eq!(all(agent, &empty, None).unwrap(), (Vec::new(), TranscriptSummary::default()));
    }
}

#[test]
fn fnd_06_a_format_that_is_not_known_is_named_and_not_guessed() {
    for (agent, bytes, line, seen) in [
        (Agent::Claude, "{\"role\":\"user\",\"content\":\"hi\"}\n", 1, "no type"),
        (Agent::Claude, "{\"type\":\"user\",\"uuid\":\"1\",\"said\":\"hi\"}\n", 1, "user without a message"),
        (Agent::Claude, "# notes\nmore\n", 1, "no JSON"),
        (Agent::Codex, "{\"id\":\"1\",\"instructions\":\"x\"}\n{\"record_type\":\"state\"}\n", 1, "no type"),
        (Agent::Codex, "{\"type\":\"message\",\"role\":\"user\"}\n", 1, "message"),
        (Agent::Gemini, "{\"turns\":[]}\n", 1, "no type"),
        (
            Agent::Pi,
            "{\"type\":\"session\",\"version\":4,\"id\":\"1\"}\n{\"type\":\"message\",\"id\":\"2\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
            1,
            "version 4",
        ),
    ] {
        let (_folder, path) = copy_of(bytes.as_bytes(), "t.jsonl");
        match all(agent, &path, None) {
            Err(Error::UnknownFormat { agent: whose, line: at, seen: what, .. }) => {
                assert_eq!((whose, at, what.as_str()), (agent, line, seen));
            }
            other => panic!("{bytes}: {other:?}"),
        }
    }
}

#[test]
fn fnd_06_a_long_file_of_which_nothing_is_known_is_not_read_to_its_end() {
    let (agent, known) = recordings().swap_remove(0);
    let foreign = b"{\"shape\":\"of somebody else\"}\n";
    let mut bytes = foreign.repeat(2 * HEAD_BYTES as usize / foreign.len());
    bytes.extend_from_slice(&known);
    let (_folder, path) = copy_of(&bytes, "t.jsonl");
    assert!(matches!(all(agent, &path, None), Err(Error::UnknownFormat { line: 1, .. })));
    // A known beginning is read, with any content after it.
    bytes = [known.as_slice(), &bytes].concat();
    let (_folder, path) = copy_of(&bytes, "t.jsonl");
    assert!(all(agent, &path, None).unwrap().1.messages > 0);
}

#[test]
fn fnd_06_kinds_that_are_not_known_are_counted_and_left_alone() {
    for (agent, bytes) in recordings() {
        let mut more = bytes.clone();
        more.extend_from_slice(b"{\"type\":\"from-the-future\",\"payload\":{}}\n{ half\n");
        let (_folder, path) = copy_of(&more, "t.jsonl");
        let (messages, read) = all(agent, &path, None).unwrap();
        assert_eq!((read.unknown, read.damaged), (1, 1), "{agent}");
        let (_folder, path) = copy_of(&bytes, "t.jsonl");
        assert_eq!(all(agent, &path, None).unwrap().0, messages);
    }
}

#[test]
fn fnd_06_a_transcript_can_be_read_at_every_byte_of_its_growth() {
    for (agent, bytes) in recordings() {
        // Cut a short file at every byte, a long one around its line ends.
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let cuts: Vec<usize> = if bytes.len() < 5_000 {
            (0..=bytes.len()).step_by(7).collect()
        } else {
            ends.step_by(3).flat_map(|end| [end - 1, end, end + 1]).collect()
        };
        let (_folder, path) = copy_of(&bytes, "t.jsonl");
        for cut in cuts {
            let (messages, read) = all(agent, &path, Some(cut as u64)).unwrap();
            assert_eq!((read.unknown, read.damaged), (0, 0), "{agent} cut at {cut}");
            assert!(read.bytes <= cut as u64);
            // The part read is complete, and reading up to there again gives the same.
            assert!(
                bytes[..usize::try_from(read.bytes).unwrap()]
                    .iter()
                    .next_back()
                    .is_none_or(|b| matches!(b, b'\n' | b'}'))
            );
            assert_eq!(all(agent, &path, Some(read.bytes)).unwrap().0, messages);
            // A limited read equals the read of a file that ends there.
            let (_folder, short) = copy_of(&bytes[..cut], "t.jsonl");
            assert_eq!(all(agent, &short, None).unwrap(), (messages, read));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_happens_to_a_transcript_it_is_read_or_refused(
        which in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0_u8..4, 1_usize..200), 1..12),
    ) {
        let recordings = recordings();
        let (agent, mut bytes) = recordings[which.index(recordings.len())].clone();
        for (at, byte, kind, length) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(at..end)),
                2 => bytes[at..end].fill(0),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        let (_folder, path) = copy_of(&bytes, "t.jsonl");
        match all(agent, &path, None) {
            Ok((messages, read)) => {
                prop_assert_eq!(messages.len() as u64, read.messages);
                prop_assert!(read.bytes <= bytes.len() as u64);
            }
            Err(Error::UnknownFormat { .. }) => {}
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
    }

    #[test]
    fn a_lost_line_loses_that_line_only(which in any::<proptest::sample::Index>(), line in any::<proptest::sample::Index>()) {
        let recordings = recordings();
        let (agent, bytes) = &recordings[which.index(recordings.len())];
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        // The last lines determine the current branch, so damage only an earlier one.
        let lost = line.index(lines.len() * 3 / 4);
        let kept: Vec<u8> = lines.iter().enumerate().filter(|(at, _)| *at != lost).flat_map(|(_, line)| line.to_vec()).collect();
        let (_folder, whole) = copy_of(bytes, "t.jsonl");
        let (_other, holed) = copy_of(&kept, "t.jsonl");
        let (all_messages, _) = all(*agent, &whole, None).unwrap();
        let (messages, _) = all(*agent, &holed, None).unwrap();
        let text = String::from_utf8_lossy(lines[lost]).into_owned();
        // A rewind is a line of its own; without it, the withdrawn messages return.
        prop_assume!(!text.contains("rewindTo"));
        for message in &all_messages {
            let id = message.id.split('/').next().unwrap();
            // The result of a call is lost with the call.
            let call = message.outcome.as_ref().is_some_and(|outcome| text.contains(&outcome.call));
            if !text.contains(id) && !call {
                prop_assert!(messages.iter().any(|other| other.id == message.id), "{} of {agent} is gone with line {lost}", message.id);
            }
        }
    }
}

/// Opening a pipe without a writer would wait for ever.
#[test]
#[cfg(unix)]
fn a_pipe_as_transcript_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for agent in Agent::ALL {
        assert!(matches!(all(agent, &pipe, None), Err(Error::Unreadable { .. })));
    }
}

/// The messages of a session after a malformed last line.
fn with_last(agent: Agent, lines: &[serde_json::Value], last: &str) -> Vec<String> {
    let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (_folder, path) = copy_of(format!("{whole}{last}\n").as_bytes(), "session-t.jsonl");
    let (messages, _) = all(agent, &path, None).unwrap();
    let whose = crate::agents::transcripts::recognise_agent(&path).unwrap();
    assert_eq!(whose, (!messages.is_empty()).then_some(agent), "{last}");
    messages.into_iter().map(|message| message.text).collect()
}

#[test]
fn fnd_06_a_malformed_last_message_costs_one_message_claude() {
    let entry = |id: &str, parent: serde_json::Value, content: serde_json::Value| json!({"type": "user", "uuid": id, "parentUuid": parent, "message": {"role": "user", "content": content}});
    let lines = [entry("a", json!(null), json!("one")), entry("b", json!("a"), json!("two"))];
    for last in [
        r#"{"type":"user","uuid":"c","parentUuid":null,"message":null}"#,
        r#"{"type":"user","uuid":"c","parentUuid":null,"message":{"role":"user","content":42}}"#,
        r#"{"type":"user","uuid":"c","message":{"role":"user","content":42}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"gone","message":{"role":"user","content":42}}"#,
    ] {
        assert_eq!(with_last(Agent::Claude, &lines, last), ["one", "two"], "{last}");
    }
    let orphan = r#"{"type":"user","uuid":"c","message":{"role":"user","content":"three"}}"#;
    assert_eq!(with_last(Agent::Claude, &lines, orphan), ["one", "two", "three"]);
    // A line that claims to be the first one withdraws those before it.
    let first = r#"{"type":"user","uuid":"c","parentUuid":null,"message":{"role":"user","content":"three"}}"#;
    assert_eq!(with_last(Agent::Claude, &lines, first), ["three"]);
}

#[test]
fn fnd_06_a_malformed_last_message_costs_one_message_pi() {
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"});
    let entry = |id: &str, parent: serde_json::Value, text: &str| json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "user", "content": text}});
    let lines = [header, entry("a", json!(null), "one"), entry("b", json!("a"), "two")];
    for last in [
        r#"{"type":"message","id":"c","parentId":null,"message":null}"#,
        r#"{"type":"message","id":"c","parentId":null,"message":{"role":"user","content":42}}"#,
        r#"{"type":"message","id":"c","message":{"role":"user","content":42}}"#,
    ] {
        assert_eq!(with_last(Agent::Pi, &lines, last), ["one", "two"], "{last}");
    }
    let orphan = r#"{"type":"message","id":"c","message":{"role":"user","content":"three"}}"#;
    assert_eq!(with_last(Agent::Pi, &lines, orphan), ["one", "two", "three"]);
}

#[test]
fn fnd_06_a_malformed_last_message_costs_one_message_gemini() {
    let header = json!({"sessionId": "s", "projectHash": "h"});
    let said = |id: &str, text: &str| json!({"id": id, "type": "user", "content": [{"text": text}]});
    let lines = [header, said("a", "one"), said("b", "two")];
    for last in [
        r#"{"$rewindTo":"gone"}"#,
        r#"{"id":"b","type":"user","content":42}"#,
        r#"{"id":"b","content":[{"text":"x"}]}"#,
        r#"{"id":42,"type":"user","content":[{"text":"x"}]}"#,
    ] {
        assert_eq!(with_last(Agent::Gemini, &lines, last), ["one", "two"], "{last}");
    }
    assert_eq!(with_last(Agent::Gemini, &lines, r#"{"$rewindTo":"b"}"#), ["one"]);
}

#[test]
fn fnd_06_a_malformed_last_message_costs_one_message_codex() {
    let meta = json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/w", "source": "cli"}});
    let said = |text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}})
    };
    let lines = [meta, said("one"), said("two")];
    let back = |turns: u64| {
        json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}})
            .to_string()
    };
    assert_eq!(with_last(Agent::Codex, &lines, &back(99_999_999_999)), ["one", "two"]);
    assert_eq!(with_last(Agent::Codex, &lines, &back(1)), ["one"]);
    assert_eq!(with_last(Agent::Codex, &lines, &back(2)), Vec::<String>::new());
    let odd = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":42}}"#;
    assert_eq!(with_last(Agent::Codex, &lines, odd), ["one", "two"]);
}

/// Reading a pipe without a writer would hang `init`.
#[test]
#[cfg(unix)]
fn b_15_a_pipe_beside_a_gemini_transcript_is_not_read() {
    let project = tempfile::tempdir().unwrap();
    let chats = project.path().join("chats");
    std::fs::create_dir(&chats).unwrap();
    let path = chats.join("session-a.jsonl");
    std::fs::write(&path, "{\"sessionId\":\"s\",\"projectHash\":\"h\"}\n").unwrap();
    let root = project.path().join(".project_root");
    assert!(std::process::Command::new("mkfifo").arg(&root).status().unwrap().success());
    assert_eq!(crate::agents::transcripts::read_head(Agent::Gemini, &path).unwrap().cwd, None);
    std::fs::remove_file(&root).unwrap();
    std::fs::write(&root, "/home/dev/project\n").unwrap();
    let head = crate::agents::transcripts::read_head(Agent::Gemini, &path).unwrap();
    assert_eq!(head.cwd.as_deref(), Some("/home/dev/project"));
}
