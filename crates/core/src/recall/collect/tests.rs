use std::ops::Not;

use proptest::prelude::*;

use super::*;
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::{format_utc, parse};
use crate::vault::daily_log::{
    self, LogSection, LoggedHandoff, LoggedReceipts, LoggedReflection, ProposalEnd, ProposalReceipt,
    ReceiptDecider, SectionSource, TimeOfDay,
};
use crate::vault::entry::Confidence;
use crate::vault::lines::tests::document as markdown;
use crate::vault::priority::Priority;
use crate::vault::tombstone::Tombstone;

const VAULT: &str = "MemoryVault";

fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(1))
}

fn collected_with(path: &str, text: &str, graves: &Graveyard) -> Vec<Document> {
    let context = CollectContext { zone: &zone(), modified: parse("2026-01-02"), graves };
    documents(path, VAULT, text, &context)
}

fn collected(path: &str, text: &str) -> Vec<Document> {
    collected_with(path, text, &Graveyard::default())
}

/// Renders each document as `lines | title | text`.
fn told(documents: &[Document]) -> Vec<String> {
    let tell = |document: &Document| {
        let (first, last) = document.lines.unwrap();
        format!("{first}-{last} | {} | {}", document.title, document.text.replace('\n', "⏎"))
    };
    documents.iter().map(tell).collect()
}

const ENTRY: &str = "---
id: m-7k2d9q0x1abc
kind: fix
status: active
created: 2026-11-15T02:13:08Z
tags: [db, staging]
group: personal-private
scope: project
project: github.com/acme/widgets
confidence_rating_at_capture: high
origin: user
---

# Staging database

Postgres listens on 5433.
<!-- hidden -->
";

#[test]
fn an_entry_is_one_document() {
    let found = collected("MemoryVault/personal-private/fix/staging.md", ENTRY);
    assert_eq!(told(&found), ["14-16 | Staging database | # Staging database⏎⏎Postgres listens on 5433."]);
    let entry = &found[0];
    assert_eq!(
        (entry.id.as_str(), entry.source, entry.kind.as_str()),
        ("m-7k2d9q0x1abc", DocumentSource::Entry, "fix")
    );
    assert_eq!(entry.project, Some(ProjectId::new("github.com/acme/widgets")));
    assert_eq!(
        (entry.tags.as_slice(), entry.confidence),
        (["db".into(), "staging".into()].as_slice(), Some(Confidence::High))
    );
    assert_eq!(entry.created.map(format_utc).as_deref(), Some("2026-11-15T02:13:08Z"));
    assert!(entry.active && entry.reviewed && !entry.inbox && entry.thread.is_none());
}

#[test]
fn the_path_of_an_entry_gives_its_kind() {
    let at = |path: &str, text: &str| collected(&format!("MemoryVault/{path}"), text).remove(0);
    let archived = at(
        "personal-private/_archive/personal-private/fix/port.md.20261115.md",
        "---\nstatus: superseded\n---\nOld port.\n",
    );
    assert!(!archived.active && archived.reviewed);
    assert_eq!((archived.kind.as_str(), archived.group.as_str()), ("fix", "personal-private"));
    let waiting = at("personal-private/_inbox/x.md", "---\norigin: user\n---\nSeen once.\n");
    assert!(waiting.inbox && !waiting.reviewed && waiting.active);
    let skill = at("personal-skills/howto/deploy.md", "Tag, then push.\n");
    assert_eq!((skill.source, skill.group.as_str()), (DocumentSource::Skill, "personal-skills"));
    let idea = at("personal-private/_idea-incubator/x/_index.md", "---\nstatus: incubating\n---\n# X\n");
    assert_eq!((idea.source, idea.active), (DocumentSource::Idea, true));
    for status in ["resolved", "superseded", "whatever", "incubating"] {
        let entry = at("personal-private/fix/x.md", &format!("---\nstatus: {status}\n---\nx\n"));
        assert!(!entry.active, "{status}");
    }
    assert!(at("personal-private/_always-load/x.md", "Always.\n").active);
    assert_eq!(at("personal-private/top.md", "x\n").kind, "");
    assert!(at("personal-private/fix/x.md", "---\nstale: true\n---\nx\n").stale);
}

#[test]
fn b_01_only_user_input_counts_as_reviewed() {
    for (head, reviewed) in [
        ("", true),
        ("origin: user", true),
        ("origin: user\nsession: s-1", false),
        ("origin: user\nsession: s-1\nevolved_because: moved", true),
        ("origin: agent", false),
        ("origin: agent\nreviewed: 2026-11-15", true),
        ("origin: agent\nreviewed: yes", false),
        ("origin: agent\nevolved_because: moved", false),
        ("origin: tool", false),
        ("origin: import", false),
    ] {
        let found = collected("MemoryVault/personal-private/fix/x.md", &format!("---\n{head}\n---\nx\n"));
        assert_eq!(found[0].reviewed, reviewed, "{head}");
    }
}

#[test]
fn b_05_broken_properties_do_not_open_a_memory_to_every_project() {
    for broken in [
        "---\nid: m-7k2d9q0x1abc\nscope: project\nproject: \"acme/x\"\ntitle: a: b: c\n---\nBody.\n",
        "---\nid: m-7k2d9q0x1abc\nscope: project # mine\nproject: acme/x\n\tbad: [\n---\nBody.\n",
        "---\nid: m-7k2d9q0x1abc\nscope: project\nproject: acme/x\nscope: global\n---\n\nBody.\n",
        "---\nid: m-7k2d9q0x1abc\nscope: project\nproject: acme/x\n\nBody.\n",
    ] {
        let found = collected("MemoryVault/personal-private/fix/x.md", broken);
        assert_eq!(found.len(), 1, "{broken}");
        assert_eq!((found[0].id.as_str(), found[0].text.as_str()), ("m-7k2d9q0x1abc", "Body."), "{broken}");
        assert_eq!(found[0].project, Some(ProjectId::new("acme/x")), "{broken}");
    }
}

#[test]
fn memory_is_taken_line_by_line() {
    let text = "# Memory

_What every session starts with. Yours to edit: Rekindle adds lines and removes none._

## Hard Rules
- (2026-11-14) Never force push. <!-- p-20261114-001 user -->
- ~~Use npm~~ (superseded 2026-11-15)
- Two
  lines

Free text
here.

## Lessons
* Measure first.
";
    let found = collected("MemoryVault/MEMORY.md", text);
    assert_eq!(
        told(&found),
        [
            "6-6 | Never force push. | Never force push.",
            "7-7 | Use npm | Use npm",
            "8-9 | Two lines | Two⏎lines",
            "11-12 | Free text here. | Free text⏎here.",
            "15-15 | Measure first. | Measure first.",
        ]
    );
    assert_eq!((found[0].kind.as_str(), found[4].kind.as_str()), ("Hard Rules", "Lessons"));
    assert_eq!(found[0].created.map(format_utc).as_deref(), Some("2026-11-13T23:00:00Z"));
    assert!(found.iter().all(|line| line.reviewed && line.source == DocumentSource::Memory));
    assert_eq!(found.iter().filter(|line| !line.active).count(), 1);
    assert!(found[0].id.starts_with("MemoryVault/MEMORY.md#") && found[0].id.len() == 30);
}

#[test]
fn a_memory_file_without_headings_is_taken_line_by_line() {
    let found = collected("MemoryVault/MEMORY.md", "Intro.\n\n- One\n- Two\n  lines\n- Three\n");
    assert_eq!(
        told(&found),
        [
            "1-1 | Intro. | Intro.",
            "3-3 | - One | - One",
            "4-5 | - Two lines | - Two⏎  lines",
            "6-6 | - Three | - Three"
        ]
    );
}

#[test]
fn r_05_a_broken_memory_file_is_still_recalled_from() {
    let found = collected("MemoryVault/MEMORY.md", "## Rules\n- Never force push.\n```\nopen\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("Never force push.") && found[0].source == DocumentSource::Memory);
}

#[test]
fn r_05_pending_proposals_are_documents() {
    let text = "# Pending Memory Proposals

## Proposed for: Hard Rules

- [ ] `p-20261115-001` **Ports** — Staging is on 5433.
- [x] `p-20261115-002` **Seen** — Approved text.
- [-] `p-20261115-003` **No** — Turned down.

My own
thoughts.
";
    let found = collected("MemoryVault/REVIEW.md", text);
    let pending: Vec<_> = found
        .iter()
        .map(|document| (document.id.as_str(), document.text.as_str(), document.reviewed))
        .collect();
    assert_eq!(pending[0], ("p-20261115-001", "Staging is on 5433.", false));
    assert_eq!(pending[1], ("p-20261115-002", "Approved text.", true));
    assert_eq!(
        (found[0].title.as_str(), found[0].kind.as_str(), found[0].lines),
        ("Ports", "Hard Rules", Some((5, 5)))
    );
    assert_eq!(found[2].source, DocumentSource::Note);
    assert_eq!(found[2].text, "My own\nthoughts.");
    assert_eq!(found.len(), 3);
    let broken = collected("MemoryVault/REVIEW.md", &format!("{text}```\n"));
    assert!(
        !broken.is_empty()
            && broken.iter().all(|piece| !piece.reviewed && piece.source == DocumentSource::Proposal)
    );
}

const LOG: &str = "# 2026-11-15

Woke up early.

### 🔍 Observations (session: fix ports, 10:30)
<!-- rekindle session=s-1 time=10:30 -->
**Trigger**: compaction

#### Ports

_The session looked at ports._

* 🔴 (10:02) Staging is on 5433. <!-- rekindle id=o-1 origin=user messages=m1 -->
* 🟢 Guess.

**Current task**: moving the database

### 📝 Note (11:00)
<!-- rekindle time=11:00 origin=user -->

> Buy a second disk.

Below the last section, by hand.

### Mine

A longer thought of my own.
";

#[test]
fn r_05_observations_are_documents() {
    let found = collected("MemoryVault/memory/2026-11-15.md", LOG);
    assert_eq!(
        told(&found),
        [
            "1-3 | Woke up early. | Woke up early.",
            "9-11 | Ports | The session looked at ports.",
            "13-13 | Staging is on 5433. | Staging is on 5433.",
            "14-14 | Guess. | Guess.",
            "18-23 | Buy a second disk. | Buy a second disk.",
            "23-23 | Below the last section, by hand. | Below the last section, by hand.",
            "25-27 | A longer thought of my own. | A longer thought of my own.",
        ]
    );
    let fact = &found[2];
    assert_eq!(
        (fact.id.as_str(), fact.source, fact.priority),
        ("o-1", DocumentSource::Observation, Some(Priority::High))
    );
    assert_eq!((fact.origin, fact.reviewed, fact.thread.as_deref()), (Origin::User, false, Some("s-1")));
    assert_eq!(fact.created.map(format_utc).as_deref(), Some("2026-11-15T09:02:00Z"));
    assert_eq!(found[3].created.map(format_utc).as_deref(), Some("2026-11-15T09:30:00Z"));
    let reviewed: Vec<bool> = found.iter().map(|document| document.reviewed).collect();
    assert_eq!(reviewed, [true, false, false, false, true, true, true]);
    assert_eq!(found[6].thread.as_deref(), Some("MemoryVault/memory/2026-11-15.md"));
    assert!(found.iter().all(|document| document.active));
}

#[test]
fn r_18_what_rekindle_reports_about_itself_is_no_document() {
    let (source, time) = (SectionSource::default(), "12:00".parse::<TimeOfDay>().unwrap());
    let sections = [
        LogSection::Handoff(LoggedHandoff {
            source: SectionSource { session: Some("s-1".to_owned()), ..source.clone() },
            time,
            text: "The importer is half done; next is the retry of failed uploads.".to_owned(),
        }),
        LogSection::Reflected(LoggedReflection {
            source: source.clone(),
            time,
            summary: "Looked at 2 sessions on 1 day. 1 proposal: 1 for Hard Rules.".to_owned(),
            proposals: vec!["p-20261115-001".to_owned()],
        }),
        LogSection::Receipts(LoggedReceipts {
            source,
            time,
            receipts: vec![ProposalReceipt {
                id: "p-20261115-002".to_owned(),
                end: ProposalEnd::Rejected,
                by: ReceiptDecider::Person,
                with: None,
                text: "Never amend a pushed commit.".to_owned(),
            }],
        }),
    ];
    let log = sections.iter().fold(LOG.to_owned(), |log, section| daily_log::append(&log, section));
    let found = collected("MemoryVault/memory/2026-11-15.md", &log);
    assert_eq!(told(&found), told(&collected("MemoryVault/memory/2026-11-15.md", LOG)));
}

#[test]
fn only_days_are_daily_logs() {
    assert!(daily::date_of("memory/2026-11-15.md").is_some());
    for other in ["memory/2026-11-15b.md", "memory/x/2026-11-15.md", "memory/2026-13-01.md", "2026-11-15.md"]
    {
        assert!(daily::date_of(other).is_none(), "{other}");
    }
    assert_eq!(collected("MemoryVault/memory/plan.md", "x\n")[0].source, DocumentSource::Note);
}

#[test]
fn ideas_are_documents() {
    let text = "Intro.

## 2026-11-15: Faster tests

Share a cache.

See deep research: [[MemoryVault/personal-private/_idea-incubator/faster-tests/_index.md]]

## 2026-11-16: Mine

By hand.
";
    let found = collected("Ideas.md", text);
    assert_eq!(found.len(), 3);
    assert_eq!(
        (found[1].title.as_str(), found[1].lines, found[1].reviewed),
        ("Faster tests", Some((3, 7)), false)
    );
    assert_eq!(
        (found[2].title.as_str(), found[2].text.as_str(), found[2].reviewed),
        ("Mine", "By hand.", true)
    );
    assert_eq!(found[2].created.map(format_utc).as_deref(), Some("2026-11-15T23:00:00Z"));
    assert!(found.iter().all(|idea| idea.source == DocumentSource::Idea));
    assert_eq!(collected("sub/Ideas.md", text)[0].source, DocumentSource::Note);
}

#[test]
fn rec_21_notes_are_taken_by_section() {
    let words = |count: usize| "word ".repeat(count).trim().to_owned();
    let text = format!(
        "---\ndate: 2026-10-01\ntags: [travel]\n---\n# Trip\n\n## Plan\n\n{}\n\n## Packing\n\n{}\n\n### Small\n\nSocks.\n",
        words(60),
        words(70)
    );
    let found = collected("notes/Trip.md", &text);
    let titles: Vec<&str> = found.iter().map(|document| document.title.as_str()).collect();
    assert_eq!(titles, ["Trip › Plan", "Trip › Packing"]);
    assert_eq!((found[0].lines, found[1].lines), (Some((5, 9)), Some((11, 17))));
    assert!(found[1].text.ends_with("### Small\n\nSocks."));
    assert_eq!(found[0].created.map(format_utc).as_deref(), Some("2026-09-30T23:00:00Z"));
    for note in &found {
        assert_eq!((note.source, note.reviewed, note.origin), (DocumentSource::Note, true, Origin::User));
        assert_eq!(
            (note.tags.as_slice(), note.thread.as_deref()),
            (["travel".into()].as_slice(), Some("notes/Trip.md"))
        );
    }
}

#[test]
fn rec_21_long_sections_are_cut_between_paragraphs() {
    let paragraph = "word ".repeat(100);
    let text = format!("# Long\n\n{}", format!("{paragraph}\n\n").repeat(20));
    let found = collected("Long.md", &text);
    assert!((3..=5).contains(&found.len()), "{}", found.len());
    assert!(found.iter().all(|part| part.title == "Long"));
    assert_eq!((found[0].lines.unwrap().0, found.last().unwrap().lines.unwrap().1), (1, 41));
    let lines = "word word\n".repeat(2000);
    assert!(collected("lines.txt", &lines).len() > 3);
}

#[test]
fn small_notes_are_documents_too() {
    let one = |path: &str, text: &str| collected(path, text).remove(0);
    let plain = one("a/b.txt", "Buy milk.\n");
    assert_eq!((plain.title.as_str(), plain.text.as_str(), plain.lines), ("b", "Buy milk.", Some((1, 1))));
    assert_eq!(plain.created, parse("2026-01-02"));
    assert_eq!(one("outline.md", "# Only a heading\n").text, "Only a heading");
    assert_eq!(
        one("2026-03-04 meeting.md", "x\n").created.map(format_utc).as_deref(),
        Some("2026-03-03T23:00:00Z")
    );
    assert_eq!(one("t.md", "---\ntitle: Real name\n---\nx\n").title, "Real name");
    assert_eq!(one("rule.md", "---\nNote: all of this\nis text\n").text, "---\nNote: all of this\nis text");
    assert!(collected("empty.md", "").is_empty() && collected("rules.md", "---\n***\n").is_empty());
}

#[test]
fn excluded_files_are_not_collected() {
    for path in [
        "MemoryVault/_meta/x.md",
        "MemoryVault/Rekindle.md",
        "MemoryVault/_projects/",
        "MemoryVault/_projects/Rekindle payments.md",
        "MemoryVault/_meta/tombstones.jsonl",
        "_meta/waiting.jsonl",
        "MemoryVault/system-log.jsonl",
        ".obsidian/x.md",
        "a/.trash/x.md",
        "a/.hidden.md",
        "web/node_modules/pkg/README.md",
        "note (conflict 20261115-021308).md",
        "x.sync-conflict-20261115.md",
        "photo.png",
        "noext",
    ] {
        assert!(!is_recallable(path, VAULT), "{path}");
        assert!(collected(path, "words\n").is_empty(), "{path}");
    }
    for path in ["x.md", "a/X.MD", "y.txt", "_meta/x.md", "MemoryVault/_metals/x.md", "MemoryVault/MEMORY.md"]
    {
        assert!(is_recallable(path, VAULT), "{path}");
    }
    for (folder, wanted) in [
        ("a/", true),
        ("MemoryVault/_meta/", true),
        ("MemoryVault/_meta/x/", false),
        ("a/.git/", false),
        ("node_modules/", false),
    ] {
        assert_eq!(is_recallable(folder, VAULT), wanted, "{folder}");
    }
}

#[test]
fn b_08_forgotten_text_is_not_indexed_again() {
    let stone = |text: &str, id: Option<&str>, messages: &[&str]| {
        let messages = messages.iter().map(|id| (*id).to_owned()).collect();
        Tombstone::new(parse("2026-11-15").unwrap(), "salt", text, id.and_then(EntryId::parse), messages)
            .render()
    };
    let graves = Graveyard::parse(
        &[
            stone("Never force push", None, &[]),
            stone("x", Some("m-7k2d9q0x1abc"), &[]),
            stone("y", None, &["m1"]),
        ]
        .concat(),
    );
    assert!(collected_with("MemoryVault/personal-private/fix/staging.md", ENTRY, &graves).is_empty());
    let memory = "## Rules\n- (2026-11-14) **Never** force push.\n- Other.\n";
    assert_eq!(told(&collected_with("MemoryVault/MEMORY.md", memory, &graves)), ["3-3 | Other. | Other."]);
    let log = collected_with("MemoryVault/memory/2026-11-15.md", LOG, &graves);
    assert!(log.iter().all(|document| document.id != "o-1") && log.len() == 6);
    let note = collected_with("n.md", "One.\n\nNever force push.\n\nTwo.\n", &graves);
    assert_eq!(note[0].text, "One.\n\n\nTwo.");
}

#[test]
fn b_03_secrets_in_notes_are_not_indexed() {
    let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
    for path in [
        "n.md",
        "Ideas.md",
        "MemoryVault/MEMORY.md",
        "MemoryVault/REVIEW.md",
        "MemoryVault/memory/2026-11-15.md",
    ] {
        let found = collected(path, &format!("## 2026-11-15: T\r\n- use {token}\r\n\r\nand {token}\r\n"));
        let json = serde_json::to_string(&found).unwrap();
        assert!(json.contains("[redacted:github-token]") && !json.contains("ghp_"), "{path}: {json}");
    }
}

#[test]
fn the_same_text_twice_has_two_names_that_stay() {
    let text = "## A\n- same\n- same\n- same\n";
    let ids: Vec<String> = collected("MemoryVault/MEMORY.md", text).into_iter().map(|line| line.id).collect();
    assert_eq!((&ids[1], &ids[2]), (&format!("{}-2", ids[0]), &format!("{}-3", ids[0])));
    let again: Vec<String> =
        collected("MemoryVault/MEMORY.md", text).into_iter().map(|line| line.id).collect();
    assert_eq!(ids, again);
}

#[test]
fn a_file_made_to_be_awkward_yields_a_bounded_number_of_documents() {
    let text = "a\n\n".repeat(MAX_DOCUMENTS + 10);
    assert_eq!(collected("MemoryVault/MEMORY.md", &text).len(), MAX_DOCUMENTS);
}

const PATHS: [&str; 13] = [
    "notes/a.md",
    "b.txt",
    "Ideas.md",
    "MemoryVault/MEMORY.md",
    "MemoryVault/REVIEW.md",
    "MemoryVault/memory/2026-11-15.md",
    "MemoryVault/personal-private/fix/a.md",
    "MemoryVault/personal-private/_inbox/a.md",
    "MemoryVault/personal-private/_archive/personal-private/fix/a.md.20261115.md",
    "MemoryVault/personal-private/_idea-incubator/a/_index.md",
    "MemoryVault/personal-skills/b/c:d.md",
    "MemoryVault/personal-private/fix/a.txt",
    "MemoryVault/loose.md",
];

/// The letters and digits of a line, without markup.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Generates text that may contain every type of line.
fn logs() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z ]{0,30}",
        "(#{1,4}|[-*+>]|1\\.) [a-z ]{1,20}",
        "- \\[[ x-]\\] `p-20261115-00[1-9]` \\*\\*[a-z]{1,8}\\*\\* — [a-z ]{1,20}",
        "\\* (🔴|🟡|🟢) \\(1[0-9]:[0-5][0-9]\\) [a-z ]{1,20}",
        "### 🔍 Observations \\(session: [a-z]{1,6}, 1[0-9]:[0-5][0-9]\\)",
        Just("<!-- rekindle session=s-1 time=10:30 -->".to_owned()),
        Just("<!-- open".to_owned()),
        Just("-->".to_owned()),
        Just("```".to_owned()),
        Just("---".to_owned()),
        Just("**Trigger**: x".to_owned()),
        Just("## 2026-11-15: Idea".to_owned()),
        "#### [a-z ]{1,10}",
        "  [a-z ]{1,20}",
        "- \\(2026-11-1[0-9]\\) [a-z ]{1,20}",
        Just(String::new()),
    ];
    (prop::collection::vec(line, 0..30), prop::sample::select(vec!["\n", "\r\n", "\r"]))
        .prop_map(|(lines, ending)| lines.join(ending))
}

fn holds(path: &str, text: &str) -> Result<(), TestCaseError> {
    let found = collected(path, text);
    let lines: Vec<&str> = parse_lines(text).lines.iter().map(|line| line.text).collect();
    let mut ids = std::collections::HashSet::new();
    for document in &found {
        prop_assert!(ids.insert(&document.id), "{} twice", document.id);
        prop_assert!(document.path == path && !document.title.contains('\n'));
        prop_assert!(document.text.is_empty().not() && !document.text.contains('\r'));
        let (first, last) = document.lines.unwrap();
        prop_assert!(
            1 <= first && first <= last && last as usize <= lines.len(),
            "{first}-{last} of {}",
            lines.len()
        );
        let there = lines[first as usize - 1..last as usize].concat();
        for line in document.text.lines() {
            prop_assert!(bare(&there).contains(&bare(line)), "{line:?} is not in {there:?}");
        }
    }
    prop_assert_eq!(collected(path, text), found);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn collected_text_occurs_in_the_file(text in logs()) {
        for path in PATHS {
            holds(path, &text)?;
        }
    }

    #[test]
    fn any_text_is_collected_without_harm(text in any::<String>(), marked in markdown()) {
        for path in PATHS {
            for text in [&text, &marked] {
                for document in collected(path, text) {
                    let (first, last) = document.lines.unwrap();
                    prop_assert!(1 <= first && first <= last && last as usize <= parse_lines(text).lines.len());
                }
            }
        }
    }
}

#[test]
fn a_heading_over_two_lines_occurs_in_the_file() {
    for path in PATHS {
        holds(path, "a\n**Trigger**: x\n---").unwrap();
    }
}

#[test]
fn r_05_entries_kept_from_the_inbox_count_as_reviewed() {
    let inboxed = "---\nid: m-7k2d9q0x1abc\nkind: fix\norigin: agent\nsession: s-1\n---\n\nPort 5433.\n";
    let flags = |path: &str, text: &str| {
        let found = collected(path, text);
        (found[0].reviewed, found[0].inbox)
    };
    let kept = vault::shelf_moves::keep_note(inboxed, None, false, parse("2026-11-15").unwrap()).unwrap();
    assert_eq!(flags("MemoryVault/personal-private/_inbox/port.md", inboxed), (false, true));
    assert_eq!(flags("MemoryVault/personal-private/_inbox/port.md", &kept), (false, true));
    assert_eq!(flags("MemoryVault/personal-private/fix/port.md", inboxed), (false, false));
    assert_eq!(flags("MemoryVault/personal-private/fix/port.md", &kept), (true, false));
    let unread = kept.replace("reviewed: 2026-11-15T00:00:00Z", "reviewed: soon");
    assert_eq!(flags("MemoryVault/personal-private/fix/port.md", &unread), (false, false));
}
