#![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

use proptest::prelude::*;

use super::*;
use rekindle_core::recall::memory_usage::OBSERVED_WEIGHT_CAP;
use rekindle_testkit::damage::{damage, intact_lines};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("usage.jsonl");
    (folder, path)
}

fn turns(path: &Path, id: &str, signal: UsageSignal, count: usize) {
    for turn in 0..count {
        let name = format!("{signal:?}-{turn}");
        UsageSummary::record_turn(path, &name, &[(id.to_owned(), signal)], at(turn as i64)).unwrap();
    }
}

#[test]
fn rec_08_feedback_adds_up_within_bounds() {
    let (_folder, path) = log();
    assert_eq!(UsageSummary::read(&path).strength("m"), 0.0);
    for _ in 0..9 {
        UsageSummary::record(&path, "m", UsageSignal::Good, at(0)).unwrap();
    }
    UsageSummary::record(&path, "n", UsageSignal::Wrong, at(0)).unwrap();
    let usage = UsageSummary::read(&path);
    assert_eq!(usage.strength("m"), 1.0);
    assert!(usage.strength("n") < 0.0);
    assert_eq!(
        UsageSummary::usage_counts(&path),
        UsageCounts { good: 9, wrong: 1, ..UsageCounts::default() }
    );
}

#[test]
fn fbk_01_fbk_03_fbk_09_what_turns_show_adds_up_within_bounds_and_is_counted() {
    let (_folder, path) = log();
    turns(&path, "m", UsageSignal::Used, 1);
    let one = UsageSummary::read(&path);
    assert!((one.strength("m") - 0.1).abs() < 1e-6);
    turns(&path, "n", UsageSignal::Ignored, 1);
    assert!((UsageSummary::read(&path).strength("n") + 0.05).abs() < 1e-6);
    turns(&path, "m", UsageSignal::Used, 40);
    turns(&path, "n", UsageSignal::Ignored, 40);
    let usage = UsageSummary::read(&path);
    assert!(
        (usage.strength("m") - OBSERVED_WEIGHT_CAP).abs() < 1e-6
            && (usage.strength("n") + OBSERVED_WEIGHT_CAP).abs() < 1e-6
    );
    let standing = usage.memory_usage("m");
    assert_eq!((standing.recall_count, standing.used, standing.last_used_at), (40, 40, Some(39)));
}

#[test]
fn fbk_09_explicit_feedback_outweighs_observed_use() {
    let (_folder, path) = log();
    turns(&path, "m", UsageSignal::Used, 50);
    UsageSummary::record(&path, "m", UsageSignal::Wrong, at(9)).unwrap();
    UsageSummary::record(&path, "m", UsageSignal::Wrong, at(9)).unwrap();
    assert!(UsageSummary::read(&path).strength("m") < 0.0);
}

#[test]
fn fbk_01_the_same_turn_counts_once() {
    let (_folder, path) = log();
    let shown = [("m".to_owned(), UsageSignal::Used), ("n".to_owned(), UsageSignal::Ignored)];
    UsageSummary::record_turn(&path, "t1", &shown[..1], at(1)).unwrap();
    for _ in 0..3 {
        UsageSummary::record_turn(&path, "t1", &shown, at(2)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    UsageSummary::record_turn(&path, "t2", &shown, at(3)).unwrap();
    assert_eq!(UsageSummary::read(&path).memory_usage("m").used, 2);
}

#[test]
fn fbk_03_what_the_lines_come_to_can_be_deleted_and_made_again() {
    let (_folder, path) = log();
    turns(&path, "m", UsageSignal::Used, 3);
    let ids: Vec<String> = (0..1200).map(|number| format!("m-{number:012}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    UsageSummary::record_recalled(&path, &ids, at(5)).unwrap();
    let before = UsageSummary::read(&path);
    UsageSummary::write_summary(&path).unwrap();
    assert!(summary_path(&path).exists());
    turns(&path, "m", UsageSignal::Missed, 1);
    let read = UsageSummary::read(&path);
    assert_eq!((read.memory_usage("m").used, read.memory_usage("m").missed), (3, 1));
    assert_eq!(read.standings().len(), before.standings().len());
    std::fs::remove_file(summary_path(&path)).unwrap();
    assert_eq!(UsageSummary::read(&path).standings(), read.standings());
    std::fs::write(summary_path(&path), "rubbish").unwrap();
    assert_eq!(UsageSummary::read(&path).standings(), read.standings());
}

#[test]
fn fbk_04_what_nobody_needed_for_ninety_days_may_be_outdated() {
    let (_folder, path) = log();
    let day = 86_400;
    let mut document = Document {
        id: "m".into(),
        title: "a".into(),
        created: Some(at(0)),
        ..Document::unannotated(DocumentSource::Entry, "a.md", "a")
    };
    let stale = |document: &Document, now: i64| UsageSummary::read(&path).usage_score(document, now).stale;
    assert!(!stale(&document, 200 * day), "nobody has counted yet");
    UsageSummary::record_recalled(&path, &["other"], at(100 * day)).unwrap();
    assert!(!stale(&document, 150 * day), "counted for fifty days only");
    assert!(stale(&document, 200 * day));
    document.source = DocumentSource::Memory;
    assert!(!stale(&document, 200 * day), "what always loads need not be recalled");
    document.source = DocumentSource::Entry;
    UsageSummary::record_recalled(&path, &["m"], at(150 * day)).unwrap();
    assert!(!stale(&document, 400 * day));
}

#[test]
fn b_08_what_was_said_about_a_forgotten_memory_goes() {
    let (_folder, path) = log();
    UsageSummary::record_recalled(&path, &["V/a.md#1", "m-1"], at(1)).unwrap();
    assert_eq!(UsageSummary::erase(&path, |id| id.starts_with("V/a.md")).unwrap(), 1);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("V/a.md"));
    assert_eq!(UsageSummary::erase(&path, |id| id.starts_with("V/a.md")).unwrap(), 0);
}

#[test]
fn fbk_03_every_memory_is_found_in_the_sum_whatever_its_name() {
    let (_folder, path) = log();
    let odd = ["", "a\tb", "a\nb", "\"", "ä", "m-1", "m-10", "m-1\u{0}", "z/☃.md#1", "\\"];
    let ids: Vec<String> = (0..1500).map(|number| format!("m-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).chain(odd).collect();
    UsageSummary::record_recalled(&path, &ids, at(5)).unwrap();
    UsageSummary::write_summary(&path).unwrap();
    let usage = UsageSummary::read(&path);
    assert!(usage.recent.is_empty(), "nothing is left to parse");
    for id in &ids {
        let twice = u32::from(["m-1", "m-10"].contains(id));
        assert_eq!(usage.memory_usage(id).recall_count, 1 + twice, "{id:?}");
    }
    for absent in ["m-1500", "m", "zz", " "] {
        assert_eq!(usage.memory_usage(absent), MemoryUsage::default());
    }
    // That of an earlier version is made again.
    let all = usage.standings();
    std::fs::write(summary_path(&path), r#"{"version":1,"bytes":9,"since":1,"standings":{}}"#).unwrap();
    assert_eq!(UsageSummary::read(&path).standings(), all);
}

/// Invalid bytes between valid lines stop nothing.
#[test]
fn fbk_03_b_08_a_byte_that_is_no_text_stops_nothing() {
    let (_folder, path) = log();
    turns(&path, "kept", UsageSignal::Used, 2);
    let rubbish = b"{\"at\":\"\xff\xfe\xff\xfe\",\"id\":\"odd\n\xc3\n".repeat(9_000);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(&rubbish);
    std::fs::write(&path, &bytes).unwrap();
    turns(&path, "gone", UsageSignal::Ignored, 3);
    turns(&path, "kept", UsageSignal::Used, 3);
    assert_eq!(
        UsageSummary::usage_counts(&path),
        UsageCounts { used: 3, ignored: 3, ..UsageCounts::default() }
    );
    let before = UsageSummary::read(&path);
    UsageSummary::write_summary(&path).unwrap();
    assert_eq!(
        StoredUsage::open(&summary_path(&path), &path).unwrap().log_bytes(),
        path.metadata().unwrap().len()
    );
    assert_eq!(UsageSummary::read(&path).standings(), before.standings());
    assert_eq!(UsageSummary::erase(&path, |id| id == "gone").unwrap(), 3);
    assert_eq!(UsageSummary::usage_counts(&path), UsageCounts { used: 3, ..UsageCounts::default() });
    let left = std::fs::read(&path).unwrap();
    assert!(left.windows(rubbish.len()).any(|part| part == rubbish), "nothing else was touched");
}

fn line_or_rubbish() -> impl Strategy<Value = Result<String, Vec<u8>>> {
    prop_oneof![
        "\\PC{0,30}".prop_map(Ok::<String, Vec<u8>>),
        "-?[0-9]{1,6}-[0-9]{2}-[0-9]{2}(T[0-9:.]{0,12}(Z|[+-][0-9:]{2,5})?)?".prop_map(Ok::<String, Vec<u8>>),
        prop::collection::vec(any::<u8>(), 0..80).prop_map(Err::<String, Vec<u8>>),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fbk_03_every_line_that_can_be_read_counts(lines in prop::collection::vec(line_or_rubbish(), 0..20)) {
        let (_folder, path) = log();
        let line = |line: &Result<String, Vec<u8>>| match line {
            Ok(at) => serde_json::json!({"at": at, "id": "m", "signal": "recalled"}).to_string().into_bytes(),
            Err(rubbish) => rubbish.clone(),
        };
        let written: Vec<u8> = lines.iter().flat_map(|one| [line(one), b"\n".to_vec()].concat()).collect();
        std::fs::write(&path, written).unwrap();
        let readable = lines.iter().filter(|line| line.is_ok()).count();
        let usage = UsageSummary::read(&path);
        prop_assert_eq!(usage.memory_usage("m").recall_count as usize, readable);
        prop_assert_eq!(usage.standings().len(), readable.min(1));
        // The other readers may return an error but must not panic.
        UsageSummary::usage_counts(&path);
        drop((UsageSummary::write_summary(&path), UsageSummary::erase(&path, |id| id == "n")));
        drop(UsageSummary::record_turn(&path, "turn", &[("n".to_owned(), UsageSignal::Used)], at(1)));
        prop_assert_eq!(UsageSummary::read(&path).memory_usage("m").recall_count as usize, readable);
    }

    #[test]
    fn fbk_03_damage_to_the_lines_takes_no_others_away(damage in damage()) {
        let (_folder, path) = log();
        let ids: Vec<String> = (0..30).map(|number| format!("m-{number:02}")).collect();
        UsageSummary::record_recalled(&path, &ids.iter().map(String::as_str).collect::<Vec<_>>(), at(5)).unwrap();
        let before = std::fs::read(&path).unwrap();
        let after = damage.to(&before);
        std::fs::write(&path, &after).unwrap();
        UsageSummary::record(&path, "new", UsageSignal::Good, at(6)).unwrap();
        let usage = UsageSummary::read(&path);
        for number in intact_lines(&before, &after) {
            prop_assert!(usage.memory_usage(&ids[number]).recall_count > 0, "{}", ids[number]);
        }
        prop_assert!(usage.strength("new") > 0.0);
    }
}

/// A log with lines that are summarised, and lines after the summary.
fn settled() -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = log();
    let ids: Vec<String> = (0..1200).map(|number| format!("m-{number:012}")).collect();
    UsageSummary::record_recalled(&path, &ids.iter().map(String::as_str).collect::<Vec<_>>(), at(5)).unwrap();
    UsageSummary::write_summary(&path).unwrap();
    turns(&path, "m-000000000007", UsageSignal::Used, 2);
    (folder, path)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fbk_03_where_the_sum_cannot_be_read_the_lines_tell(damage in damage()) {
        let (_folder, path) = settled();
        let truth = UsageSummary::read(&path).standings();
        let sum = std::fs::read(summary_path(&path)).unwrap();
        std::fs::write(summary_path(&path), damage.to(&sum)).unwrap();
        let read = UsageSummary::read(&path);
        prop_assert!(read.standings().values().all(|standing| (-1.0..=1.0).contains(&standing.strength())));
        if StoredUsage::open(&summary_path(&path), &path).is_none() {
            prop_assert_eq!(read.standings(), truth);
        }
        UsageSummary::write_summary(&path).unwrap();
    }

    #[test]
    fn fbk_03_any_bytes_may_stand_where_the_sum_was(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (_folder, path) = settled();
        let truth = UsageSummary::read(&path).standings();
        std::fs::write(summary_path(&path), bytes).unwrap();
        prop_assert_eq!(UsageSummary::read(&path).standings(), truth);
    }
}
