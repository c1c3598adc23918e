use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::vault::escape::normalise_text;
use crate::vault::escape::tests::hostile;
use crate::vault::lines::parse_lines;
use crate::vault::lines::tests::{document, is_insertion};

fn mark(id: &str) -> StatementMark {
    StatementMark { id: Some(id.to_owned()), origin: Origin::User, project: None }
}

fn add(text: &str, section: &str, statement: &str, id: &str) -> MemoryChange {
    append(text, section, date(2026, 11, 15), statement, &mark(id)).unwrap()
}

/// The content of each section, independent of position.
type MemoryOutline = Vec<(String, u8, Vec<(String, Option<Date>, Vec<String>)>)>;

fn outline(text: &str) -> MemoryOutline {
    let told = |item: &MemoryItem| (item.text.clone(), item.date, item.ids.clone());
    let sections = sections(text).unwrap();
    sections.iter().map(|s| (s.title.clone(), s.level, s.items.iter().map(told).collect())).collect()
}

fn section_names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["Hard Rules", "Patterns", "Lessons", "Ada", "Memory", "Nowhere", ""][..])
}

fn projects() -> impl Strategy<Value = Option<ProjectId>> {
    let names = prop::sample::select(&["github.com/acme/payments", "local/my-widgets-1a2b3c4d"][..]);
    prop::option::of(names).prop_map(|name| name.map(ProjectId::new))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn rev_12_append_adds_one_item_and_keeps_every_byte(text in document(), section in section_names(), said in hostile(), project in projects(), marked in any::<bool>()) {
        let said = if marked && !said.trim().is_empty() { format!("{said} (project: other)") } else { said };
        let mark = StatementMark { project: project.clone(), ..mark("p-20261115-007") };
        let result = append(&text, section, date(2026, 11, 15), &said, &mark);
        let change = match result {
            Err(Error::Broken(broken)) => {
                prop_assert!(sections(&text).is_err() && broken.line() > 0);
                return Ok(());
            }
            Err(error) => {
                prop_assert_eq!((error, normalise_text(&said)), (Error::Empty, String::new()));
                return Ok(());
            }
            Ok(change) => change,
        };
        prop_assert!(is_insertion(&text, &change.text), "{:?}", change.text);
        let scope = |text: &str| sections(text).unwrap().into_iter().flat_map(|section| section.items)
            .find(|item| item.ids == ["p-20261115-007"]).map(|item| item.project);
        if matches!(change.outcome, StatementOutcome::Appended | StatementOutcome::Reflected) {
            prop_assert_eq!(scope(&change.text), Some(project), "{}", change.text);
        }
        let (before, mut after) = (outline(&text), outline(&change.text));
        let id = vec!["p-20261115-007".to_owned()];
        let added: Vec<_> = after.iter_mut().flat_map(|(_, _, items)| {
            let at = items.iter().position(|(_, _, ids)| *ids == id);
            at.map(|at| items.remove(at))
        }).collect();
        match change.outcome {
            StatementOutcome::Appended => prop_assert_eq!(&added[0].0, &normalise_text(&said)),
            StatementOutcome::Reflected => {
                prop_assert!(added[0].0.ends_with(&normalise_text(&said)));
                prop_assert_eq!(&after.pop().unwrap().0, "Reflected (2026-11-15)");
            }
            StatementOutcome::Merged => return Ok(()),
            StatementOutcome::AlreadyThere => prop_assert_eq!(&change.text, &text),
        }
        prop_assert_eq!(added.len(), usize::from(change.outcome != StatementOutcome::AlreadyThere));
        prop_assert_eq!(before, after);
        // Adding again has no effect.
        let again = append(&change.text, section, date(2026, 11, 15), &said, &mark).unwrap();
        prop_assert_eq!(again, MemoryChange { text: change.text, outcome: StatementOutcome::AlreadyThere });
    }

    #[test]
    fn rev_13_supersede_keeps_every_line(behind in document(), pick in any::<prop::sample::Index>(), said in hostile()) {
        let text = format!("## Patterns\n- (2026-01-02) one\n{behind}");
        let Ok(read) = sections(&text) else { return Ok(()) };
        let items: Vec<_> = read.iter().flat_map(|section| &section.items).collect();
        let said = format!("said {said}");
        let old = items[pick.index(items.len())];
        let change = match supersede(&text, old, date(2026, 11, 15), &said, &mark("p-20261115-007")) {
            Err(error) => {
                prop_assert_eq!(error, Error::Unfit { line: old.line });
                return Ok(());
            }
            Ok(change) => change,
        };
        let new: Vec<&str> = parse_lines(&change.text).lines.iter().map(|line| line.text).collect();
        let mut from = 0;
        for line in parse_lines(&text).lines {
            // Every character of the struck line is still there, in order.
            let contains = |new: &str| {
                let mut rest = new.chars();
                line.text.chars().all(|c| rest.any(|other| other == c))
            };
            let holds = |new: &&str| if line.number == old.line { contains(new) } else { *new == line.text };
            let found = new[from..].iter().position(holds);
            prop_assert!(found.is_some(), "{:?} is gone", line.text);
            from += found.unwrap() + 1;
        }
        if change.outcome == StatementOutcome::Appended && old.superseded.is_none() {
            let struck = sections(&change.text).unwrap().into_iter().flat_map(|s| s.items).find(|i| i.line == old.line);
            let struck = struck.unwrap();
            prop_assert_eq!((struck.superseded, struck.text, struck.ids), (Some(date(2026, 11, 15)), old.text.clone(), old.ids.clone()));
        }
    }
}

#[test]
fn fnd_04_a_fresh_file_has_the_sections() {
    let text = render_new("Ada");
    let titles: Vec<String> = sections(&text).unwrap().into_iter().map(|section| section.title).collect();
    assert_eq!(titles, ["Memory", "Ada", "Hard Rules", "System Architecture", "Patterns", "Lessons"]);
    let filled = add(&text, "lessons", "Ask before force-pushing", "p-20261115-001");
    assert!(
        filled.text.ends_with(
            "## Lessons\n\n- (2026-11-15) Ask before force-pushing <!-- user --> ^p-20261115-001\n"
        )
    );
    let filled = add(&filled.text, "Hard Rules", "Never amend", "p-20261115-002");
    assert!(
        filled.text.contains(
            "## Hard Rules\n\n- (2026-11-15) Never amend <!-- user --> ^p-20261115-002\n\n## System"
        )
    );
}

#[test]
fn gen_01_a_name_cannot_break_the_heading() {
    assert!(render_new(" Ada \n# Evil").contains("\n## Ada # Evil\n"));
    assert!(render_new("\n").contains("\n## User\n"));
}

#[test]
fn rev_12_the_item_goes_behind_the_list_before_blank_lines() {
    let text =
        "## 🚫 HARD RULES ##\r\n- a\r\n  - nested\r\n\r\n\r\nnotes\r\n### deeper\r\n- b\r\n## Patterns\r\n";
    let change = add(text, "Hard Rules", "c", "p-20261115-001");
    assert_eq!(change.outcome, StatementOutcome::Appended);
    assert_eq!(
        change.text,
        text.replace("nested\r\n", "nested\r\n- (2026-11-15) c <!-- user --> ^p-20261115-001\r\n")
    );
}

#[test]
fn rev_12_a_missing_final_newline_stays_missing() {
    let change = add("## Patterns\n- a", "Patterns", "b\nc", "p-20261115-001");
    assert_eq!(change.text, "## Patterns\n- a\n- (2026-11-15) b <!-- p-20261115-001 user -->\n  c");
}

#[test]
fn rev_12_the_same_statement_is_merged_and_stays_as_written() {
    let text = "## Patterns\n* **Use** `tabs`.  \n- (2026-01-01) Use C++ <!-- p-20260101-001 tool -->\n";
    let change = add(text, "Patterns", "use tabs", "p-20261115-001");
    assert_eq!(change.outcome, StatementOutcome::Merged);
    assert_eq!(change.text, text, "a line with code in it takes no comment");
    let change = add(text, "Patterns", "Use C++!", "p-20261115-001");
    assert_eq!(change.text, text.replace("001 tool", "001 p-20261115-001 user"));
    assert_eq!(add(text, "Patterns", "Use C#", "p-20261115-001").outcome, StatementOutcome::Appended);
    assert_eq!(add(text, "Patterns", "use tabs?", "p-20261115-001").outcome, StatementOutcome::Appended);
    let change = add("## Patterns\n- say it  \n", "Patterns", "Say it", "p-20261115-001");
    assert_eq!(change.text, "## Patterns\n- say it <!-- p-20261115-001 -->  \n");
}

#[test]
fn rev_15_without_a_section_it_is_reflected_with_attribution() {
    let change = add("# Memory\n\nmine", "Deploys", "Fridays are off", "p-20261115-001");
    assert_eq!(change.outcome, StatementOutcome::Reflected);
    let tail = "- (2026-11-15) **Deploys:** Fridays are off <!-- user --> ^p-20261115-001";
    assert!(change.text.starts_with("# Memory\n\nmine\n\n## Reflected (2026-11-15)\n\n_"));
    assert!(change.text.ends_with(tail));
    let second = add(&change.text, "Deploys", "So are Mondays", "p-20261115-002");
    assert_eq!(second.text.matches("## Reflected").count(), 1);
    assert_eq!(
        add(&second.text, "Deploys", "fridays are off", "p-20261115-003").outcome,
        StatementOutcome::Merged
    );
}

#[test]
fn supersede_strikes_the_old_and_adds_the_new() {
    let text = "## Patterns\n- (2026-01-01) Use npm <!-- p-20260101-001 user -->\n- other\n";
    let old = sections(text).unwrap().remove(0).items.remove(0);
    let change = supersede(text, &old, date(2026, 11, 15), "Use pnpm", &mark("p-20261115-001")).unwrap();
    assert_eq!(
        change.text,
        "## Patterns\n- (2026-01-01) ~~Use npm~~ (superseded 2026-11-15) <!-- p-20260101-001 user -->\n- other\n\
         - (2026-11-15) Use pnpm <!-- user --> ^p-20261115-001\n"
    );
    let moved = supersede(&change.text, &old, date(2026, 11, 15), "x", &mark("p-20261115-002"));
    assert_eq!(moved, Err(Error::Moved { line: 2 }));
    // A superseded statement may be added again.
    assert_eq!(
        add(&change.text, "Patterns", "Use npm", "p-20261116-001").outcome,
        StatementOutcome::Appended
    );
}

#[test]
fn documents_without_certain_structure_are_left_alone() {
    let result =
        append("## Patterns\n```\ncode\n", "Patterns", date(2026, 11, 15), "x", &mark("p-20261115-001"));
    assert_eq!(result, Err(Error::Broken(BrokenDocument::Fence { line: 2 })));
    let result = append("", "Patterns", date(2026, 11, 15), "x", &mark("not an id"));
    assert_eq!(result, Err(Error::Id));
}

#[test]
fn an_item_that_would_be_swallowed_goes_elsewhere() {
    let text = "## Patterns\n10. ten\n\n   three spaces\n\n## Lessons\n";
    let change = add(text, "Patterns", "x", "p-20261115-001");
    assert_eq!(change.outcome, StatementOutcome::Appended);
    assert!(change.text.contains("three spaces\n\n- (2026-11-15) x"));
    // An item before an indented heading would absorb it.
    let text = "## Patterns\n\n  ## Lessons\n";
    let change = add(text, "Patterns", "x", "p-20261115-001");
    assert_eq!(change.outcome, StatementOutcome::Reflected);
    assert!(change.text.starts_with(text));
}

#[test]
fn r_15_a_line_says_where_it_holds_and_is_shown_only_there() {
    let here = Some("github.com/acme/payments");
    let mark = StatementMark { project: here.map(ProjectId::new), ..mark("p-20261115-001-k7qe") };
    let text = "## Patterns\n\n- Mine, typed by hand (project: kettles)\n";
    let change = append(text, "Patterns", date(2026, 11, 15), "Use pnpm", &mark).unwrap();
    let line =
        "- (2026-11-15) Use pnpm (project: github.com/acme/payments) <!-- user --> ^p-20261115-001-k7qe\n";
    assert_eq!(change.text, format!("{text}{line}"));
    let items = sections(&change.text).unwrap().remove(0).items;
    let shown = |here| -> Vec<&str> {
        items.iter().filter(|item| item.is_visible_in(here)).map(|item| item.text.as_str()).collect()
    };
    assert_eq!(shown(here), ["Use pnpm"]);
    assert_eq!(shown(Some("github.com/acme/kettles")), ["Mine, typed by hand"]);
    assert_eq!(shown(None), Vec::<&str>::new());
    assert_eq!(visible_in(&change.text, here), format!("## Patterns\n\n{line}"));
    assert_eq!(visible_in(&change.text, None), "## Patterns\n\n");
    let broken = format!("{}```\nnever closed\n", change.text);
    assert_eq!(visible_in(&broken, here), format!("## Patterns\n\n{line}```\nnever closed\n"));
    // Marks that a person removes or wraps are read as they appear.
    let everywhere = change.text.replace(" (project: github.com/acme/payments)", "");
    assert!(sections(&everywhere).unwrap()[0].items[1].is_visible_in(None));
    let wrapped = sections("## Patterns\n- Use pnpm and\n  nothing else (project: payments)\n").unwrap();
    assert_eq!(wrapped[0].items[0].text, "Use pnpm and\nnothing else");
    assert!(wrapped[0].items[0].is_visible_in(here) && !wrapped[0].items[0].is_visible_in(None));
}

#[test]
fn r_15_the_same_words_in_another_project_are_another_line() {
    let payments =
        StatementMark { project: Some(ProjectId::new("github.com/acme/payments")), ..mark("p-20261115-001") };
    let first = append("## Patterns\n", "Patterns", date(2026, 11, 15), "Use pnpm", &payments).unwrap();
    let again = StatementMark { id: Some("p-20261116-001".to_owned()), ..payments.clone() };
    let merged = append(&first.text, "Patterns", date(2026, 11, 16), "use pnpm", &again).unwrap();
    assert_eq!(merged.outcome, StatementOutcome::Merged);
    let kettles =
        StatementMark { project: Some(ProjectId::new("github.com/acme/kettles")), ..mark("p-20261116-002") };
    for other in [kettles.clone(), mark("p-20261116-003")] {
        let change = append(&first.text, "Patterns", date(2026, 11, 16), "Use pnpm", &other).unwrap();
        assert_eq!(change.outcome, StatementOutcome::Appended, "{other:?}");
    }
    let everywhere =
        append("## Patterns\n- Use pnpm\n", "Patterns", date(2026, 11, 16), "Use pnpm", &kettles);
    assert_eq!(everywhere.unwrap().outcome, StatementOutcome::Merged, "it holds there already");
}

#[test]
fn r_15_a_struck_line_keeps_its_scope() {
    let text = "## Patterns\n- (2026-01-01) Use npm (project: payments) <!-- p-20260101-001 user -->\n";
    let old = sections(text).unwrap().remove(0).items.remove(0);
    let new = StatementMark { project: Some(ProjectId::new("payments")), ..mark("p-20261115-001") };
    let change = supersede(text, &old, date(2026, 11, 15), "Use pnpm", &new).unwrap();
    assert_eq!(
        change.text,
        "## Patterns\n- (2026-01-01) ~~Use npm (project: payments)~~ (superseded 2026-11-15) <!-- p-20260101-001 user -->\n\
         - (2026-11-15) Use pnpm (project: payments) <!-- user --> ^p-20261115-001\n"
    );
    let by_hand = "## Patterns\n- ~~Use npm~~ (superseded 2026-11-15) (project: payments)\n";
    for text in [change.text.as_str(), by_hand] {
        let item = &sections(text).unwrap()[0].items[0];
        assert_eq!(item.project, Some(ProjectId::new("payments")));
        assert_eq!((item.text.as_str(), item.superseded), ("Use npm", Some(date(2026, 11, 15))));
    }
}

#[test]
fn rev_12_a_heading_of_several_lines_stays_whole() {
    let text = "## Patterns\n\nwords\n\nHard\nRules\n---\n\n- one\n";
    let change = add(text, "Patterns", "Use pnpm", "p-20261115-001");
    let line = "- (2026-11-15) Use pnpm <!-- user --> ^p-20261115-001\n";
    assert_eq!(change.text, text.replace("words\n", &format!("words\n\n{line}")));
    assert_eq!(sections(text).unwrap()[1].title, "Hard Rules");
    let change = add(text, "Hard Rules", "Use pnpm", "p-20261115-001");
    assert_eq!(change.text, format!("{text}{line}"));
}

#[test]
fn rev_12_html_is_no_place_for_a_statement() {
    let text = "## Patterns\n\n<pre>\n- a list in a log\n\n## Hard Rules\n</pre>\n";
    let change = add(text, "Patterns", "Use pnpm", "p-20261115-001");
    assert!(change.text.starts_with(text), "{}", change.text);
    assert_eq!(add(text, "Hard Rules", "Use pnpm", "p-20261115-002").outcome, StatementOutcome::Reflected);
}

#[test]
fn b_11_new_lines_have_block_ids_and_older_marks_keep_working() {
    let text =
        "## Patterns\n- (2026-01-01) Old <!-- p-20260101-001 tool -->\n- Mine ^my-block\n- Also mine ^p-1\n";
    let change = add(text, "Patterns", "New", "p-20261115-001-k7qe");
    let line = "- (2026-11-15) New <!-- user --> ^p-20261115-001-k7qe\n";
    assert_eq!(change.text, format!("{text}{line}"));
    let items = sections(&change.text).unwrap().remove(0).items;
    let read: Vec<(&str, &[String])> =
        items.iter().map(|item| (item.text.as_str(), item.ids.as_slice())).collect();
    let [old, new] = ["p-20260101-001", "p-20261115-001-k7qe"].map(|id| vec![id.to_owned()]);
    // Block ids of the person are words of the person.
    assert_eq!(
        read,
        [("Old", old.as_slice()), ("Mine ^my-block", &[]), ("Also mine ^p-1", &[]), ("New", new.as_slice())]
    );
    assert_eq!((items[0].origin, items[3].origin), (Some(Origin::Tool), Some(Origin::User)));
    // A proposal is added once, whatever the form of its id and wherever the person moved it.
    for id in ["p-20260101-001", "p-20261115-001-k7qe"] {
        assert_eq!(add(&change.text, "Lessons", "Else", id).outcome, StatementOutcome::AlreadyThere, "{id}");
    }
    // Another proposal that says the same: the block id stays, so that links to it do.
    let merged = add(&change.text, "Patterns", "new!", "p-20261116-002").text;
    assert!(
        merged.ends_with("- (2026-11-15) New <!-- p-20261116-002 user --> ^p-20261115-001-k7qe\n"),
        "{merged}"
    );
    let merged_items = sections(&merged).unwrap().remove(0).items;
    assert_eq!(merged_items[3].ids, ["p-20261115-001-k7qe", "p-20261116-002"]);
    // Superseded: the words are struck, the id stays.
    let struck =
        supersede(&change.text, &items[3], date(2026, 11, 17), "Newer", &mark("p-20261117-001")).unwrap();
    assert!(
        struck
            .text
            .contains("- (2026-11-15) ~~New~~ (superseded 2026-11-17) <!-- user --> ^p-20261115-001-k7qe\n"),
        "{}",
        struck.text
    );
    // A person may delete the comment or the block id.
    for (left, ids) in [("- New ^p-20261115-001\n", 1), ("- New <!-- user -->\n", 0), ("- New\n", 0)] {
        let item = sections(&format!("## Patterns\n{left}")).unwrap().remove(0).items.remove(0);
        assert_eq!((item.text.as_str(), item.ids.len()), ("New", ids), "{left}");
    }
    // Note apps read a block id at the end of an item only.
    assert!(
        add("## Patterns\n", "Patterns", "one\ntwo", "p-20261115-003")
            .text
            .contains("one <!-- p-20261115-003 user -->\n  two")
    );
}
