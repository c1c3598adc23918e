//! Capture hooks: each writes its event to the spool and exits (CAP-16, CAP-18, CAP-21). It reads no
//! transcript, opens no database and calls no model; the worker does the rest.

use std::path::Path;
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::Timestamp;
use rekindle_core::hosts::hook::duplicate_calls::HookCall;
use rekindle_core::hosts::hook::{HookKind, HookSignal};
use rekindle_core::session::{Message, MessageRole, serialise};

use crate::jobs::sessions;
use crate::jobs::spool::{Error, Spool, SpoolPayload};
use crate::jobs::worker_lock;
use crate::platform::background;
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};

/// The longest wait of a hook for the check for duplicates.
const DUPLICATE_CHECK_TIMEOUT: Duration = Duration::from_millis(50);
/// The length limit of a message for which the host keeps no transcript, in characters.
const MAX_MESSAGE_CHARS: usize = 64 * 1024;

/// The result of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOutcome {
    /// A file in the spool was written.
    Spooled,
    /// There was nothing to keep.
    Nothing,
}

/// Writes a signal to the spool under an id that holds its time. It is durable on return. Idempotent: a
/// process that resumes after a timeout uses the same id.
pub fn spool_signal(places: &DataPaths, mut signal: HookSignal, id: &ChangeId) -> Result<HookOutcome, Error> {
    let at = id.created_at().unwrap_or(Timestamp::UNIX_EPOCH);
    if signal.subagent || signal.kind == HookKind::BeforeTool {
        return Ok(HookOutcome::Nothing);
    }
    let position = signal
        .transcript
        .as_deref()
        .and_then(|path| std::fs::metadata(Path::new(path)).ok())
        .filter(std::fs::Metadata::is_file)
        .map(|metadata| metadata.len());
    let (prompt, answer) = (signal.prompt.take(), signal.answer.take());
    let mut messages = Vec::new();
    // The host keeps no transcript, or none yet: the input of the hook may be the only copy.
    if position.is_none() {
        let new_message = |role, text: String| message(&signal.session, role, &text, at);
        match signal.kind {
            HookKind::Prompt => messages.extend(prompt.map(|text| new_message(MessageRole::User, text))),
            HookKind::Stop => messages.extend(answer.map(|text| new_message(MessageRole::Assistant, text))),
            _ => {}
        }
    }
    if signal.kind == HookKind::Prompt && messages.is_empty() {
        return Ok(HookOutcome::Nothing);
    }
    if signal.kind == HookKind::Start {
        sessions::mark_started(&places.sessions(), &signal, at)
            .ignore_failure("the signal matters more than the marker, which the worker writes again");
    }
    Spool::in_folder(places.spool_folder()).write_entry_as(
        id,
        SpoolPayload::Signal { signal, position, messages },
        at,
    )?;
    Ok(HookOutcome::Spooled)
}

/// True if this is the first call for its event. An agent with both our settings lines and our plugin calls
/// twice; in doubt it counts as the first. Events that are harmless to repeat always do.
pub fn is_first_call(places: &DataPaths, signal: &HookSignal, at: Timestamp) -> bool {
    let is_due = matches!(signal.kind, HookKind::Start | HookKind::Prompt)
        || (signal.kind == HookKind::Stop && signal.transcript.is_none());
    if !is_due {
        return true;
    }
    let call = HookCall::from_signal(signal);
    let path = places.state().join("turns");
    disk::update_locked(&path, DUPLICATE_CHECK_TIMEOUT, |list| call.join(list, at.as_millisecond()))
        .unwrap_or(true)
}

fn message(session: &str, role: MessageRole, text: &str, at: Timestamp) -> Message {
    let moment = at.as_nanosecond().to_string();
    let parts = [session.as_bytes(), moment.as_bytes(), text.as_bytes()];
    let id = ContentHash::of_parts(&parts).short_hex(16);
    Message::new(id, Some(at), role, serialise::render_excerpt(text, MAX_MESSAGE_CHARS).text)
}

/// Starts a worker in the background, unless one is running. A worker that is about to end checks the spool
/// once more after it releases its lock.
pub fn wake_worker(home: &HomeFolder, places: &DataPaths) -> std::io::Result<()> {
    if worker_lock::is_locked(&places.locks_folder()) || places.stop_file().exists() {
        return Ok(());
    }
    let Some(root) = home.root().to_str() else { return Ok(()) };
    background::start_detached(&["--home", root, "worker", "--background"], places.state())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use rekindle_core::base::agent::Agent;

    use super::*;

    const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

    fn places(folder: &Path) -> DataPaths {
        let home = HomeFolder::find_with(Some(folder), None, None).unwrap();
        let config = crate::config::read_with(&home, None, &[], &|_| None).unwrap().config;
        home.data_paths(&config).unwrap()
    }

    fn signal(kind: HookKind, transcript: Option<&Path>) -> HookSignal {
        HookSignal {
            agent: Agent::Claude,
            kind,
            session: "s".to_owned(),
            transcript: transcript.map(|path| path.to_str().unwrap().to_owned()),
            cwd: None,
            reason: None,
            prompt: Some(format!("use {TOKEN}")),
            answer: Some("done".to_owned()),
            subagent: false,
        }
    }

    fn id(second: i64) -> ChangeId {
        ChangeId::new(Timestamp::from_second(1_800_000_000 + second).unwrap(), [7; 10])
    }

    fn spooled(places: &DataPaths) -> Vec<SpoolPayload> {
        let spool = Spool::in_folder(places.spool_folder());
        let files = spool.pending_files().unwrap();
        files.iter().map(|file| spool.read(file).unwrap().unwrap().content.unwrap().what).collect()
    }

    #[test]
    fn a_host_that_keeps_a_transcript_costs_a_position() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let transcript = folder.path().join("t.jsonl");
        std::fs::write(&transcript, "x".repeat(1234)).unwrap();
        assert_eq!(
            spool_signal(&places, signal(HookKind::Prompt, Some(&transcript)), &id(0)).unwrap(),
            HookOutcome::Nothing
        );
        assert_eq!(
            spool_signal(&places, signal(HookKind::End, Some(&transcript)), &id(0)).unwrap(),
            HookOutcome::Spooled
        );
        assert_eq!(
            spool_signal(&places, signal(HookKind::End, Some(&transcript)), &id(0)).unwrap(),
            HookOutcome::Spooled
        );
        let mut all = spooled(&places);
        let Some(SpoolPayload::Signal { position, messages, signal }) = all.pop() else { panic!() };
        assert!(all.is_empty());
        assert_eq!((position, messages.len()), (Some(1234), 0));
        assert_eq!((signal.prompt, signal.answer), (None, None));
    }

    #[test]
    fn b_03_what_a_host_does_not_keep_is_copied_without_its_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        spool_signal(&places, signal(HookKind::Prompt, None), &id(0)).unwrap();
        spool_signal(&places, signal(HookKind::Stop, None), &id(1)).unwrap();
        let roles: Vec<MessageRole> = spooled(&places)
            .into_iter()
            .flat_map(|what| match what {
                SpoolPayload::Signal { messages, .. } => messages,
                SpoolPayload::Event(_) => Vec::new(),
            })
            .map(|message| message.role)
            .collect();
        assert_eq!(roles, [MessageRole::User, MessageRole::Assistant]);
        for file in std::fs::read_dir(places.spool_folder()).unwrap() {
            assert!(!std::fs::read_to_string(file.unwrap().path()).unwrap().contains(TOKEN));
        }
    }

    #[test]
    fn b_04_an_agents_helper_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let helper = HookSignal { subagent: true, ..signal(HookKind::End, None) };
        assert_eq!(spool_signal(&places, helper, &id(0)).unwrap(), HookOutcome::Nothing);
        assert!(spooled(&places).is_empty());
    }
}
