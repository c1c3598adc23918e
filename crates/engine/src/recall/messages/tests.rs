#![expect(clippy::disallowed_methods, reason = "the test plays the agents, the person and the crash")]

mod damaged_input;

use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time;
use rekindle_core::config::DecayMode;
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::fusion::FusionMethod;
use rekindle_core::session::MessageRole;
use rekindle_core::vault::erase::ErasureTarget;
use rekindle_core::vault::tombstone::Tombstone;

use super::archive::ArchivedMessage;
use super::search::{self, MessageFilter, find};
use super::*;
use crate::recall::search::SearchRules;

const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

fn session(id: &str) -> MessageSession {
    MessageSession {
        agent: Agent::Claude,
        id: id.to_owned(),
        cwd: Some("/home/dev".to_owned()),
        project: None,
    }
}

fn message(id: &str, role: MessageRole, text: &str) -> Message {
    Message::new(id, time::parse("2026-11-15T09:00:00Z"), role, text)
}

fn empty() -> (tempfile::TempDir, MessageStore) {
    let folder = tempfile::tempdir().unwrap();
    let messages = MessageStore::in_folder(folder.path().join("messages"));
    (folder, messages)
}

fn add(messages: &MessageStore, of: &MessageSession, said: &[Message]) -> u64 {
    messages.append(of, said, &Graveyard::default()).unwrap().messages
}

fn rules(project: Option<&str>) -> SearchRules<'_> {
    SearchRules {
        method: FusionMethod::Measured,
        decay: DecayMode::Bounded,
        include_inbox: false,
        project,
        all_projects: false,
        inactive: false,
        until: None,
        now: 1_794_734_000,
    }
}

fn found(messages: &MessageStore, prompt: &str, wanted: &MessageFilter) -> Vec<String> {
    found_in(messages, prompt, wanted, None)
}

fn found_in(
    messages: &MessageStore,
    prompt: &str,
    wanted: &MessageFilter,
    project: Option<&str>,
) -> Vec<String> {
    let Some(snapshot) = messages.open().unwrap() else { return Vec::new() };
    let found = find(&snapshot, None, prompt, None, &rules(project), wanted, 5);
    found.into_iter().map(|found| found.document.id.rsplit('#').next().unwrap().to_owned()).collect()
}

fn any() -> MessageFilter {
    MessageFilter::default()
}

#[test]
fn b_14_what_was_said_is_found_by_its_words() {
    let (_folder, messages) = empty();
    assert_eq!(found(&messages, "staging database", &any()), Vec::<String>::new());
    let said = [
        message("1", MessageRole::User, "The staging database listens on port 5433."),
        message("2", MessageRole::Assistant, "Noted, the lighthouse list is sorted by range."),
        message("3", MessageRole::Tool, "staging database: connection refused"),
    ];
    assert_eq!(add(&messages, &session("s"), &said), 3);
    let hits = found(&messages, "which port has the staging database", &any());
    assert_eq!(hits.first().map(String::as_str), Some("1"));
    let mine = MessageFilter { origins: vec![Origin::User], ..any() };
    assert_eq!(found(&messages, "staging database", &mine), ["1"]);
    let tools = MessageFilter { origins: vec![Origin::Tool], ..any() };
    assert_eq!(found(&messages, "staging database", &tools), ["3"]);
    let elsewhere = MessageFilter { except: Some("s".to_owned()), ..any() };
    assert_eq!(found(&messages, "staging database", &elsewhere), Vec::<String>::new());
    let later = MessageFilter { since: time::parse("2026-11-16"), ..any() };
    assert_eq!(found(&messages, "staging database", &later), Vec::<String>::new());
}

#[test]
fn b_01_r_19_what_nobody_typed_is_not_found_as_the_users() {
    let (_folder, messages) = empty();
    let plan = "Implement the following plan:\n\n# Port of the staging database\n\nMove it to 5434.";
    let automated = Message {
        automated: true,
        ..message("2", MessageRole::User, "Check the port of the staging database every night.")
    };
    add(&messages, &session("s"), &[message("1", MessageRole::User, plan), automated]);
    let mine = MessageFilter { origins: vec![Origin::User], ..any() };
    assert_eq!(found(&messages, "port of the staging database", &mine), Vec::<String>::new());
    assert_eq!(found(&messages, "port of the staging database", &any()).len(), 2);
}

#[test]
fn rec_03_an_old_message_decays_like_a_note() {
    let (_folder, messages) = empty();
    let at = |id: &str, time: &str, text: &str| Message::new(id, time::parse(time), MessageRole::User, text);
    let said = [
        at("old", "2025-11-15T09:00:00Z", "The staging database port is 5433."),
        at(
            "new",
            "2026-11-14T09:00:00Z",
            "By the way, the staging database now sits behind the port forwarder.",
        ),
    ];
    add(&messages, &session("s"), &said);
    let snapshot = messages.open().unwrap().unwrap();
    let ranked = |decay| {
        let rules = SearchRules { decay, ..rules(None) };
        find(&snapshot, None, "staging database port", None, &rules, &any(), 5)
    };
    let id = |found: &search::FoundMessage| found.document.id.rsplit('#').next().unwrap().to_owned();
    let off = ranked(DecayMode::Off);
    assert_eq!((id(&off[0]), off[0].ranked.factors.decay), ("old".to_owned(), 1.0));
    let literal = ranked(DecayMode::Literal);
    assert_eq!(literal.iter().map(id).collect::<Vec<_>>(), ["new", "old"]);
    for found in &literal {
        let days = (1_794_734_000 - found.document.created.unwrap().as_second()) as f32 / 86_400.0;
        let truth = (-0.01 * days).exp();
        assert!((found.ranked.factors.decay - truth).abs() < 1e-4, "{}", id(found));
        assert!((found.ranked.score - found.ranked.parts.relevance * truth).abs() < 1e-4);
    }
    let bounded = ranked(DecayMode::Bounded);
    assert!(bounded.iter().all(|found| found.ranked.factors.decay > 0.95));
}

#[test]
fn b_06_a_message_that_does_not_cover_the_prompt_is_not_shown() {
    let (_folder, messages) = empty();
    add(
        &messages,
        &session("s"),
        &[message("1", MessageRole::User, "The staging database listens on port 5433.")],
    );
    assert_eq!(
        found(&messages, "how do lighthouses signal ferries in fog at the staging pier", &any()),
        Vec::<String>::new()
    );
    assert_eq!(found(&messages, "the of and", &any()), Vec::<String>::new());
}

#[test]
fn b_01_a_message_is_unreviewed_and_says_whose_it_is() {
    let (_folder, messages) = empty();
    add(
        &messages,
        &session("s"),
        &[message("1", MessageRole::User, "The staging database listens on port 5433.")],
    );
    let snapshot = messages.open().unwrap().unwrap();
    let document = snapshot.document(0).unwrap();
    assert_eq!(
        (document.reviewed, document.origin, document.kind.as_str()),
        (false, Origin::User, MESSAGE_KIND)
    );
    assert_eq!((document.path.as_str(), document.lines), ("messages/claude/s.jsonl", Some((1, 1))));
    assert_eq!(snapshot.size().windows, 0, "nothing waits for a vector");
}

#[test]
fn b_05_what_was_said_in_a_project_stays_there() {
    let (_folder, messages) = empty();
    let there = MessageSession { project: Some(ProjectId::new("github.com/acme/widgets")), ..session("s") };
    add(&messages, &there, &[message("1", MessageRole::User, "The staging database listens on port 5433.")]);
    assert_eq!(found_in(&messages, "staging database", &any(), None), Vec::<String>::new());
    assert_eq!(
        found_in(&messages, "staging database", &any(), Some("github.com/acme/other")),
        Vec::<String>::new()
    );
    assert_eq!(found_in(&messages, "staging database", &any(), Some("github.com/acme/widgets")), ["1"]);
}

#[test]
fn b_03_no_secret_lands_and_the_files_are_the_owners() {
    let (_folder, messages) = empty();
    let said = message("1", MessageRole::User, &format!("push with {TOKEN} please"));
    let added = messages.append(&session("s"), &[said], &Graveyard::default()).unwrap();
    assert_eq!(added.redacted.to_string(), "1 github-token");
    let mut folders = vec![messages.folder().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                assert!(!String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains("ghp_"));
            }
        }
    }
    assert!(files >= 3);
}

#[test]
fn b_14_the_same_again_changes_nothing() {
    let (_folder, messages) = empty();
    let first = [
        message("1", MessageRole::User, "one harbour"),
        message("2", MessageRole::Assistant, "two harbours"),
    ];
    assert_eq!(add(&messages, &session("s"), &first), 2);
    let file = messages.folder().join("claude/s.jsonl");
    let before = std::fs::read(&file).unwrap();
    assert_eq!(add(&messages, &session("s"), &first), 0);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let more = [first[1].clone(), message("3", MessageRole::User, "three harbours")];
    assert_eq!(add(&messages, &session("s"), &more), 1);
    assert_eq!(messages.open().unwrap().unwrap().len(), 3);
    // The same id in another session is another message.
    assert_eq!(add(&messages, &session("t"), &first), 2);
}

#[test]
fn a_line_that_a_crash_cut_off_comes_again() {
    let (_folder, messages) = empty();
    let said =
        [message("1", MessageRole::User, "one harbour"), message("2", MessageRole::User, "two harbours")];
    add(&messages, &session("s"), &said);
    let file = messages.folder().join("claude/s.jsonl");
    let bytes = std::fs::read(&file).unwrap();
    for cut in [1, 10, 40] {
        std::fs::write(&file, &bytes[..bytes.len() - cut]).unwrap();
        assert_eq!(messages.update(&mut |_, _| {}).unwrap().messages, 1, "a torn line is not found");
        assert_eq!(add(&messages, &session("s"), &said), 1);
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        assert_eq!(messages.open().unwrap().unwrap().len(), 2);
    }
}

#[test]
fn the_index_is_made_again_from_the_archive() {
    let (_folder, messages) = empty();
    for n in 0..30 {
        let said = message("1", MessageRole::User, &format!("harbour number {n}"));
        add(&messages, &session(&format!("s{n}")), &[said]);
    }
    let hits = found(&messages, "harbour number", &any());
    let index = messages.folder().join("index");
    let segments = || {
        std::fs::read_dir(&index)
            .unwrap()
            .filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "seg"))
            .count()
    };
    assert!(segments() <= 9, "{} small segments were left", segments());
    // If the index is lost, damaged or of another version, the next update rebuilds it.
    std::fs::remove_dir_all(&index).unwrap();
    assert!(messages.open().unwrap().is_none());
    assert_eq!(messages.update(&mut |_, _| {}).unwrap().messages, 30);
    assert_eq!(found(&messages, "harbour number", &any()), hits);
    std::fs::write(index.join("CURRENT"), "{\"format\":9,\"segments\":[]}").unwrap();
    assert!(messages.open().is_err());
    assert_eq!(messages.update(&mut |_, _| {}).unwrap().messages, 30);
    for file in std::fs::read_dir(&index).unwrap().map(|e| e.unwrap().path()) {
        if file.extension().is_some_and(|x| x == "seg") {
            let mut bytes = std::fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes.truncate(middle);
            std::fs::write(&file, bytes).unwrap();
        }
    }
    assert!(messages.open().is_err());
    assert_eq!(messages.update(&mut |_, _| {}).unwrap().messages, 30);
    assert_eq!(found(&messages, "harbour number", &any()), hits);
    assert_eq!(messages.rebuild(&mut |_, _| {}).unwrap().messages, 30);
    assert_eq!(segments(), 1);
    // Messages of a deleted session file are no longer found.
    std::fs::remove_file(messages.folder().join("claude/s7.jsonl")).unwrap();
    assert_eq!(messages.update(&mut |_, _| {}).unwrap().messages, 29);
}

#[test]
fn what_is_kept_and_not_found_yet_is_counted() {
    let (_folder, messages) = empty();
    assert_eq!(messages.unindexed_sessions().unwrap(), 0);
    add(&messages, &session("s"), &[message("1", MessageRole::User, "one harbour")]);
    assert_eq!(messages.unindexed_sessions().unwrap(), 0);
    let (of, forgotten) = (session("t"), Graveyard::default());
    let mut appender = messages.appender(&of, &forgotten).unwrap();
    appender.add(&message("1", MessageRole::User, "two harbours")).unwrap();
    appender.finish().unwrap();
    assert_eq!(messages.unindexed_sessions().unwrap(), 1);
    messages.update(&mut |_, _| {}).unwrap();
    assert_eq!(messages.unindexed_sessions().unwrap(), 0);
}

#[test]
fn b_08_what_is_forgotten_leaves_the_archive_and_the_index_and_stays_away() {
    let (_folder, messages) = empty();
    let secret = "The merger with Atlantis Shipping is planned for the spring.";
    let said = [
        message("1", MessageRole::User, "The staging database listens on port 5433."),
        message("2", MessageRole::User, secret),
        message("3", MessageRole::Assistant, &format!("Understood:\n\n- {secret}\n\nAnything else?")),
    ];
    add(&messages, &session("s"), &said);
    let size = messages.folder().join("claude/s.jsonl").metadata().unwrap().len();
    let target = ErasureTarget::new(&[secret]);
    assert_eq!(messages.files_with(&target).unwrap().len(), 2);
    assert_eq!(messages.erase(&target).unwrap(), 2);
    assert_eq!(messages.files_with(&target).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(found(&messages, "Atlantis Shipping merger", &any()), Vec::<String>::new());
    assert_eq!(found(&messages, "staging database port", &any()), ["1"]);
    let raw = std::fs::read_to_string(messages.folder().join("claude/s.jsonl")).unwrap();
    assert!(!raw.contains("Atlantis") && raw.contains("Anything else?"));
    assert_eq!(raw.len() as u64, size, "what stands behind it has not moved");
    // Neither the same session nor another brings it back.
    assert_eq!(add(&messages, &session("s"), &said), 0);
    let stone = Tombstone::new(time::parse("2026-11-15").unwrap(), "salt", secret, None, Vec::new());
    let forgotten = Graveyard::parse(&stone.render());
    let added = messages.append(&session("t"), &said, &forgotten).unwrap();
    assert_eq!(added.messages, 2);
    assert_eq!(found(&messages, "Atlantis Shipping merger", &any()), Vec::<String>::new());
}

#[test]
fn rec_05_the_session_that_goes_on_in_a_folder_is_the_conversation() {
    let (_folder, messages) = empty();
    let here = Path::new("/home/dev");
    let now = time::parse("2026-11-15T09:20:00Z").unwrap();
    let recent = |most, now| -> Vec<String> {
        messages.recent_messages(here, most, now).into_iter().map(|kept| kept.id).collect()
    };
    assert_eq!(recent(5, now), Vec::<String>::new());
    let roles = [
        MessageRole::User,
        MessageRole::Assistant,
        MessageRole::Tool,
        MessageRole::User,
        MessageRole::Summary,
        MessageRole::Assistant,
    ];
    let said: Vec<Message> = roles
        .iter()
        .enumerate()
        .map(|(number, role)| message(&number.to_string(), *role, &format!("harbour {number}")))
        .collect();
    add(&messages, &session("s"), &said);
    add(&messages, &MessageSession { cwd: Some("/elsewhere".to_owned()), ..session("later") }, &said);
    assert_eq!(recent(5, now), ["0", "1", "3", "5"]);
    assert_eq!(recent(2, now), ["3", "5"]);
    assert_eq!(recent(5, time::parse("2026-11-15T12:00:00Z").unwrap()), Vec::<String>::new());
    // Unreadable bytes are skipped, and a long file is read from its end.
    let file = messages.folder().join("claude/s.jsonl");
    let lines = std::fs::read(&file).unwrap();
    let mut long = b"\xff\xfe rubbish\n".repeat(40_000);
    long.extend(&lines);
    std::fs::write(&file, long).unwrap();
    assert_eq!(recent(5, now), ["0", "1", "3", "5"]);
}

#[test]
fn long_messages_are_cut_and_odd_session_names_are_no_paths() {
    let (folder, messages) = empty();
    let odd = MessageSession { id: "../../escape/\u{202e}x".to_owned(), ..session("s") };
    let long = message("1", MessageRole::Tool, &"harbour ".repeat(10_000));
    add(
        &messages,
        &odd,
        &[long, message("2", MessageRole::User, "  "), message("3", MessageRole::Assistant, "")],
    );
    assert!(!folder.path().join("escape").exists());
    let stored = archive::sessions(messages.folder());
    assert_eq!(stored.len(), 1);
    let text = std::fs::read_to_string(&stored[0].path).unwrap();
    let kept: Vec<ArchivedMessage> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].text.chars().count() <= archive::MAX_TOOL_CHARS);
}

#[test]
fn filters_that_no_message_can_pass_leave_none() {
    assert!(MessageFilter::from_filters(&RecallFilters::default()).is_some());
    for filters in [
        RecallFilters { groups: vec!["x".to_owned()], ..RecallFilters::default() },
        RecallFilters { tags: vec!["x".to_owned()], ..RecallFilters::default() },
        RecallFilters { reviewed: Some(true), ..RecallFilters::default() },
        RecallFilters { kinds: vec!["fix".to_owned()], ..RecallFilters::default() },
    ] {
        assert_eq!(MessageFilter::from_filters(&filters), None, "{filters:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Each message is kept once and can be found, in whatever batches and order messages come.
    #[test]
    fn b_14_every_message_is_kept_once(
        pieces in proptest::collection::vec((0_usize..4, proptest::collection::vec(0_u32..40, 0..12)), 1..12),
    ) {
        let (_folder, messages) = empty();
        let mut known = std::collections::BTreeSet::new();
        for (of, ids) in &pieces {
            let said: Vec<Message> = ids
                .iter()
                .map(|id| message(&id.to_string(), MessageRole::User, &format!("harbour number x{id}y of {of}")))
                .collect();
            let before = known.len();
            known.extend(ids.iter().map(|id| (*of, *id)));
            prop_assert_eq!(add(&messages, &session(&format!("s{of}")), &said), (known.len() - before) as u64);
        }
        let snapshot = messages.open().unwrap();
        prop_assert_eq!(snapshot.map_or(0, |snapshot| snapshot.len() as usize), known.len());
        for (of, id) in known.iter().take(3) {
            let hits = found(&messages, &format!("x{id}y"), &any());
            prop_assert!(hits.contains(&id.to_string()), "{of} {id} {hits:?}");
        }
    }
}
