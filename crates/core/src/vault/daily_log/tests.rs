use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::vault::escape::tests::hostile;
use crate::vault::escape::{normalise_line, normalise_text};
use crate::vault::lines::parse_lines;
use crate::vault::lines::tests::document;

fn clocks() -> impl Strategy<Value = TimeOfDay> {
    (0..24u8, 0..60u8).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}").parse().unwrap())
}

fn ids() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]-[0-9]{8}-[0-9]{3}", "\\PC{1,12}"]
}

/// Text in our own canonical form, not empty.
fn texts() -> impl Strategy<Value = String> {
    hostile().prop_map(|text| normalise_text(&format!("{text} x")))
}

fn one_lines() -> impl Strategy<Value = String> {
    texts().prop_map(|text| normalise_line(&text))
}

/// Labels without blank lines and indentation.
fn labels() -> impl Strategy<Value = String> {
    let tight = |text: String| {
        text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    texts().prop_map(tight)
}

fn sources(named: bool) -> impl Strategy<Value = SectionSource> {
    let name = prop::option::of(one_lines()).prop_map(move |name| name.filter(|_| named));
    let project = prop::option::of("[a-z]{1,8}/[a-z-]{1,8}");
    (prop::option::of(ids()), name, prop::option::of("[0-9a-f]{64}"), project).prop_map(
        |(session, name, dedupe_key, project)| {
            // A name equal to the id is dropped.
            let name = name.filter(|name| session.as_deref().map(normalise_line).as_ref() != Some(name));
            SectionSource { session, name, dedupe_key, project }
        },
    )
}

fn marks() -> impl Strategy<Value = LogMark> {
    let origin = prop::option::of(prop::sample::select(&Origin::ALL[..]));
    let sentiment = prop::option::of(prop::sample::select(&Sentiment::ALL[..]));
    let words = || prop::collection::vec("[a-z]{3,9}", 0..3);
    let messages = prop::collection::vec(ids(), 0..3);
    (prop::option::of(ids()), origin, messages, sentiment, words(), prop::option::of(words())).prop_map(
        |(id, origin, messages, sentiment, traits, doubts)| LogMark {
            id,
            origin,
            messages,
            sentiment,
            traits,
            doubts,
        },
    )
}

fn facts() -> impl Strategy<Value = Vec<LoggedFact>> {
    let when =
        prop_oneof![clocks().prop_map(FactTime::At), Just(FactTime::EarlyInSession), Just(FactTime::NearEnd)];
    let priority = prop::sample::select(&Priority::ALL[..]);
    let fact =
        (priority, prop::option::of(when), hostile(), marks()).prop_map(|(priority, when, text, mark)| {
            LoggedFact { priority, when, text: normalise_text(&text), mark }
        });
    prop::collection::vec(fact, 0..4)
}

fn bodies() -> impl Strategy<Value = ObservationBody> {
    let segment = (one_lines(), hostile(), facts()).prop_map(|(title, narrative, facts)| LoggedSegment {
        title,
        narrative: normalise_line(&narrative),
        facts,
    });
    prop_oneof![
        (any::<bool>(), facts()).prop_map(|(dated, facts)| ObservationBody::Flat {
            date: dated.then_some(date(2026, 11, 15)),
            facts
        }),
        prop::collection::vec(segment, 1..3).prop_map(ObservationBody::Segments),
        texts().prop_map(ObservationBody::Unparsed),
    ]
}

fn sections() -> impl Strategy<Value = LogSection> {
    let files = prop::option::of(
        (any::<u64>(), any::<u64>()).prop_map(|(modified, read)| FileCounts { modified, read }),
    );
    let observation = (
        sources(true),
        clocks(),
        labels(),
        files,
        bodies(),
        prop::option::of(labels()),
        prop::option::of(labels()),
        prop::option::of((0_i64..4_000_000_000_000).prop_map(|ms| Timestamp::from_millisecond(ms).unwrap())),
        prop::option::of(labels()),
    )
        .prop_map(
            |(source, time, trigger, files, body, current_task, suggested_response, ended, degraded)| {
                let trigger = normalise_line(&trigger);
                LogSection::Observation(LoggedObservation {
                    source,
                    time,
                    trigger,
                    ended,
                    degraded,
                    files,
                    body,
                    current_task,
                    suggested_response,
                })
            },
        );
    let reflected = (sources(false), clocks(), texts(), prop::collection::vec(ids(), 0..3)).prop_map(
        |(source, time, summary, proposals)| {
            LogSection::Reflected(LoggedReflection { source, time, summary, proposals })
        },
    );
    let by = prop::sample::select(&ReceiptDecider::ALL[..]);
    let receipt =
        (ids(), prop::sample::select(&ProposalEnd::ALL[..]), by, prop::option::of(ids()), hostile())
            .prop_map(|(id, end, by, with, text)| ProposalReceipt {
                id,
                end,
                by,
                with,
                text: normalise_text(&text),
            });
    let receipts = (sources(false), clocks(), prop::collection::vec(receipt, 0..3))
        .prop_map(|(source, time, receipts)| LogSection::Receipts(LoggedReceipts { source, time, receipts }));
    let handoff = (sources(true), clocks(), texts())
        .prop_map(|(source, time, text)| LogSection::Handoff(LoggedHandoff { source, time, text }));
    let paths = || prop::collection::vec(one_lines(), 0..3);
    let flush = (sources(true), clocks(), any::<u64>(), paths(), paths()).prop_map(
        |(source, time, messages, modified, read)| {
            LogSection::Flush(LoggedFlush { source, time, messages, modified, read })
        },
    );
    let note = (sources(false), clocks(), texts(), marks())
        .prop_map(|(source, time, text, mark)| LogSection::Note(LoggedNote { source, time, text, mark }));
    prop_oneof![4 => observation, 1 => reflected, 1 => receipts, 1 => handoff, 1 => flush, 1 => note]
}

/// Checks that every section and fact has a position.
fn check_places(text: &str) {
    let lines = parse_lines(text).lines;
    let placed = placed_sections(&lines);
    let sections: Vec<LogSection> = placed.iter().map(|placed| placed.section.clone()).collect();
    assert_eq!(sections, parse(text).sections);
    for PlacedSection { section, lines: own, facts } in &placed {
        let LogSection::Observation(observation) = section else { continue };
        assert_eq!(facts.len(), observation.body.facts().count());
        for (place, fact) in facts.iter().zip(observation.body.facts()) {
            assert!(own.start < place.start && place.start < place.end && place.end <= own.end);
            assert!(fact.mark.id.is_none() || lines[place.start].text.contains("-->"), "{place:?} in {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn log_06_every_section_reads_back(sections in prop::collection::vec(sections(), 1..4), crlf in any::<bool>()) {
        let mut text = render_new(date(2026, 11, 15));
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        for section in &sections {
            text = append(&text, section);
        }
        prop_assert_eq!(&parse(&text).sections, &sections);
        check_places(&text);
        for key in sections.iter().filter_map(|section| section.source().dedupe_key.as_ref()) {
            prop_assert!(contains_key(&text, key));
            prop_assert!(!contains_key(&text, &key[1..]));
        }
        prop_assert_eq!(crlf, !text.replace("\r\n", "").contains('\n'));
        let json = serde_json::to_string(&parse(&text)).unwrap();
        prop_assert_eq!(serde_json::from_str::<DailyLog>(&json).unwrap().sections, sections);
    }

    #[test]
    fn log_01_existing_log_text_stays_a_prefix(text in document(), section in sections()) {
        let before = parse(&text).sections;
        let longer = append(&text, &section);
        prop_assert!(longer.starts_with(&text));
        let after = parse(&longer).sections;
        prop_assert_eq!(after.last(), Some(&section));
        prop_assert_eq!(after.len(), before.len() + 1);
        prop_assert_eq!(&after[..before.len()], &before[..]);
        check_places(&longer);
    }
}

fn observation() -> LoggedObservation {
    let mark = |id: &str, origin| LogMark {
        id: Some(id.to_owned()),
        origin: Some(origin),
        messages: vec!["m1".to_owned(), "m2".to_owned()],
        ..LogMark::default()
    };
    let fact = |priority, when: &str, text: &str, mark| LoggedFact {
        priority,
        when: FactTime::strip_time(when).map(|(when, _)| when),
        text: text.to_owned(),
        mark,
    };
    LoggedObservation {
        source: SectionSource {
            session: Some("01a2".to_owned()),
            name: Some("fix the build".to_owned()),
            dedupe_key: Some("9f86d081".to_owned()),
            project: None,
        },
        time: "14:05".parse().unwrap(),
        trigger: "compaction".to_owned(),
        ended: None,
        degraded: None,
        files: Some(FileCounts { modified: 3, read: 7 }),
        body: ObservationBody::Flat {
            date: Some(date(2026, 11, 15)),
            facts: vec![
                fact(Priority::High, "(13:50)", "Tests run with nextest only", mark("o-1", Origin::User)),
                fact(Priority::Low, "(near end)", "Maybe drop the old runner", mark("o-2", Origin::Agent)),
            ],
        },
        current_task: Some("Primary: green CI\nSecondary: docs".to_owned()),
        suggested_response: None,
    }
}

#[test]
fn log_02_a_flat_section_looks_like_this() {
    insta::assert_snapshot!(append(&render_new(date(2026, 11, 15)), &LogSection::Observation(observation())), @r"
    # 2026-11-15

    ### 🔍 Observations (session: fix the build, 14:05)
    <!-- rekindle session=01a2 dedupe=9f86d081 time=14:05 -->
    **Trigger**: compaction
    **Files**: 3 modified, 7 read

    Date: 2026-11-15

    * 🔴 (13:50) Tests run with nextest only <!-- rekindle id=o-1 origin=user messages=m1,m2 -->
    * 🟢 (near end) Maybe drop the old runner <!-- rekindle id=o-2 origin=agent messages=m1,m2 -->

    **Current task**: Primary: green CI
      Secondary: docs
    ");
}

#[test]
fn log_03_a_segment_looks_like_this() {
    let ObservationBody::Flat { facts, .. } = observation().body else { unreachable!() };
    let narrative = "The build broke after v1.2. We found the missing feature flag.".to_owned();
    let body = ObservationBody::Segments(vec![LoggedSegment { title: String::new(), narrative, facts }]);
    let section = LogSection::Observation(LoggedObservation { body, ..observation() });
    insta::assert_snapshot!(append(&render_new(date(2026, 11, 15)), &section), @r"
    # 2026-11-15

    ### 🔍 Observations (session: fix the build, 14:05)
    <!-- rekindle session=01a2 dedupe=9f86d081 time=14:05 -->
    **Trigger**: compaction
    **Files**: 3 modified, 7 read

    #### The build broke after v1.2

    _The build broke after v1.2. We found the missing feature flag._

    * 🔴 (13:50) Tests run with nextest only <!-- rekindle id=o-1 origin=user messages=m1,m2 -->
    * 🟢 (near end) Maybe drop the old runner <!-- rekindle id=o-2 origin=agent messages=m1,m2 -->

    **Current task**: Primary: green CI
      Secondary: docs
    ");
}

#[test]
fn log_05_receipts_look_like_this() {
    let receipt = |id: &str, end, text: &str| ProposalReceipt {
        id: id.to_owned(),
        end,
        by: if end == ProposalEnd::Promoted { ReceiptDecider::Agent } else { ReceiptDecider::Person },
        with: None,
        text: text.to_owned(),
    };
    let receipts = vec![
        receipt("p-20261115-002", ProposalEnd::Promoted, "Rebase first"),
        receipt("p-20261115-001", ProposalEnd::Rejected, "Never amend"),
        receipt("f-20261108-002", ProposalEnd::Expired, "Ask first\n# really"),
    ];
    let section = LogSection::Receipts(LoggedReceipts {
        source: SectionSource::default(),
        time: "06:00".parse().unwrap(),
        receipts,
    });
    insta::assert_snapshot!(append("", &section), @r"
    ### 📋 Proposals (06:00)
    <!-- rekindle time=06:00 -->

    * promoted by an agent `p-20261115-002` Rebase first
    * rejected `p-20261115-001` Never amend
    * expired `f-20261108-002` Ask first
      \# really
    ");
}

#[test]
fn log_03_titles_come_from_the_narrative() {
    assert_eq!(segment_title("Fixed v1.2 of it. Then more."), "Fixed v1.2 of it");
    assert_eq!(segment_title(" \n"), "Segment");
    let long = segment_title(&"word ".repeat(40));
    assert!(long.ends_with('…') && long.chars().count() <= 61);
    assert_eq!(segment_title(&"x".repeat(100)).chars().count(), 60);
}

#[test]
fn obs_21_the_highest_priority_counts() {
    assert_eq!(observation().body.max_priority(), Some(Priority::High));
    assert_eq!(ObservationBody::Unparsed("x".to_owned()).max_priority(), None);
}

#[test]
fn what_a_person_writes_in_between_is_passed_over() {
    let text = append("# 2026-11-15\n", &LogSection::Observation(observation()));
    let text = text.replace("* 🟢", "my own thought\n\n- 🟡 typed by hand\n- no sign, mine\n* 🟢");
    let text = text
        .replace("### 🔍 Observations", "## OBSERVATIONS 👀")
        .replace("**Trigger**", "Nice!\n\n**Trigger**");
    let text = format!("{text}\n### Note\n\nmine\n\n### 🔍 Observations I made\n\n* 🔴 mine too\n");
    let log = parse(&text);
    assert_eq!(log.sections.len(), 1);
    let read = log.observations().next().unwrap();
    let texts: Vec<&str> = read.body.facts().map(|fact| fact.text.as_str()).collect();
    assert_eq!(
        texts,
        ["Tests run with nextest only\nmy own thought", "typed by hand", "Maybe drop the old runner"]
    );
    assert_eq!((read.trigger.as_str(), &read.source), ("compaction", &observation().source));
    assert_eq!(read.body.facts().nth(1).unwrap().mark, LogMark::default());
}

#[test]
fn a_section_without_its_comment_is_still_an_observation() {
    let text = append("", &LogSection::Observation(observation()));
    let text: String =
        text.lines().filter(|line| !line.starts_with("<!--")).map(|line| format!("{line}\n")).collect();
    let log = parse(&text);
    let read = log.observations().next().unwrap();
    assert_eq!(
        read.source,
        SectionSource { name: Some("fix the build".to_owned()), ..SectionSource::default() }
    );
    assert_eq!(read.body, observation().body);
    assert!(!contains_key(&text, "9f86d081"));
}

#[test]
fn log_07_a_fence_left_open_cannot_hide_a_section() {
    let section = LogSection::Observation(observation());
    let text = append("~~~~ sh\n# mine", &section);
    assert!(text.starts_with("~~~~ sh\n# mine\n~~~~\n\n### 🔍 Observations"));
    assert_eq!(parse(&text).sections, [section]);
}
