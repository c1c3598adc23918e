use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::base::scope::Scope;
use crate::vault::escape::tests::hostile;
use crate::vault::lines::BrokenDocument;
use crate::vault::lines::tests::document;

fn proposal(id: &str, section: &str, title: &str, text: &str) -> ListedProposal {
    let id: ProposalId = id.parse().unwrap();
    let place = match id.kind {
        ProposalStage::Reflection => ProposalPlace::Section(section.to_owned()),
        ProposalStage::Friction => ProposalPlace::Friction(id.date),
    };
    ListedProposal { id, place, title: title.to_owned(), text: text.to_owned(), project: None }
}

fn queue(proposals: Vec<ListedProposal>) -> ReviewPage {
    let updated = "2026-11-15T02:13:08Z".parse().unwrap();
    ReviewPage { reviewer: "Ada".to_owned(), date: date(2026, 11, 15), updated, proposals, later: 0 }
}

fn three() -> ReviewPage {
    queue(vec![
        proposal("p-20261115-001", "Hard Rules", "No amends", "Never amend a pushed commit."),
        proposal("p-20261115-002", "Patterns", "Tabs", "Tabs, not spaces.\nAlso in YAML: no."),
        proposal("f-20261114-001", "", "Ask first", "Add to AGENTS.md: ask before deleting."),
    ])
}

fn page() -> String {
    render(&three())
}

/// The decision on the `at`th proposal of [`three`], in page order.
fn decision(text: &str, at: usize) -> PageDecision {
    diff(&three().shown_page(), text).unwrap().decided[at].decision.clone()
}

fn queues() -> impl Strategy<Value = ReviewPage> {
    let section = prop_oneof![Just("Patterns".to_owned()), Just("C#".to_owned()), hostile()];
    let project = prop::option::of(prop::sample::select(&["github.com/acme/payments", "payments"][..]));
    let one = (any::<bool>(), section, hostile(), hostile(), project);
    (hostile(), prop::collection::vec(one, 0..6)).prop_map(|(reviewer, many)| {
        let proposals =
            many.into_iter().enumerate().map(|(at, (friction, section, title, text, project))| {
                let letter = if friction { 'f' } else { 'p' };
                let id = format!("{letter}-2026111{}-{:03}", at % 2, at + 1);
                ListedProposal {
                    project: project.map(ProjectId::new),
                    ..proposal(&id, &section, &title, &text)
                }
            });
        ReviewPage { reviewer, ..queue(proposals.collect()) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn rev_02_every_queue_reads_back(queue in queues(), crlf in any::<bool>()) {
        let text = render(&queue);
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let parsed = parse(&text).unwrap();
        let entries: Vec<ListedProposal> = parsed.entries.iter().map(|entry| ListedProposal {
            id: entry.id,
            place: entry.place.clone().unwrap(),
            title: entry.title.clone(),
            text: entry.text.clone(),
            project: entry.scope.as_ref().and_then(Scope::project).cloned(),
        }).collect();
        prop_assert_eq!(entries, queue.listed_proposals());
        prop_assert!(parsed.titled && parsed.notes.is_empty());
        prop_assert_eq!(parsed.reviewer, Some(normalise_line(&queue.reviewer)));
        prop_assert_eq!(parsed.date, Some(queue.date));
        let footer = parsed.footer.unwrap();
        prop_assert_eq!(footer.updated, Some(queue.updated));
        prop_assert_eq!(footer.version, Some(queue.shown_page().version));
        let decisions = diff(&queue.shown_page(), &text).unwrap();
        prop_assert!(decisions.decided.iter().all(|decided| decided.decision == PageDecision::Pending));
        prop_assert_eq!(decisions.decided.len(), queue.proposals.len());
    }

    #[test]
    fn rev_03_half_a_page_never_decides(queue in queues(), cut in any::<prop::sample::Index>()) {
        let text = render(&queue).replace("- [ ]", "- [x]");
        let half = &text[..text.floor_char_boundary(cut.index(text.len()))];
        let shown = queue.shown_page();
        if let Ok(decisions) = diff(&shown, half) {
            for decided in decisions.decided {
                prop_assert!(matches!(decided.decision, PageDecision::Approved | PageDecision::Pending), "{decided:?}");
            }
        }
    }

    #[test]
    fn rev_03_no_page_makes_us_panic_or_reject_what_is_there(text in document(), queue in queues()) {
        let shown = queue.shown_page();
        let full = format!("{text}\n\n{}", render(&queue));
        if let Ok(decisions) = diff(&shown, &full) {
            let deleted = PageDecision::Rejected { how: RejectionMark::LineDeleted };
            prop_assert!(decisions.decided.iter().all(|decided| decided.decision != deleted));
        }
    }

    #[test]
    fn notes_survive_an_update(
        old in queues(),
        new in queues(),
        notes in prop::collection::vec((any::<prop::sample::Index>(), document()), 0..3),
        keep in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let mut text = render(&old);
        for (at, note) in &notes {
            let gaps: Vec<usize> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
            let at = gaps[at.index(gaps.len())];
            text.insert_str(at, &format!("{note}\n\n"));
        }
        let text = if crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
        let new = if keep { ReviewPage { proposals: [old.proposals.clone(), new.proposals].concat(), ..new } } else { new };
        let mut ids: Vec<ProposalId> = Vec::new();
        let mut new = new;
        new.proposals.retain(|proposal| !ids.contains(&proposal.id) && { ids.push(proposal.id); true });
        let changed = match update(&text, &old.shown_page(), &new) {
            Ok(changed) => changed,
            Err(Error::Broken(_)) => return Ok(()),
            Err(Error::Unfit) => return Ok(()),
        };
        let (before, after) = (parse(&text).unwrap(), parse(&changed).unwrap());
        let mut from = 0;
        for note in &before.notes {
            let words = &text[note.clone()];
            let found = changed[from..].find(words.trim_end_matches(['\n', '\r']));
            prop_assert!(found.is_some(), "{words:?} is gone from {changed:?}");
            from += found.unwrap();
        }
        for proposal in new.listed_proposals() {
            prop_assert!(after.entries.iter().any(|entry| entry.id == proposal.id));
        }
        // Lines that still match a pending proposal stay untouched, too.
        for entry in &before.entries {
            let same = |proposal: &ListedProposal| {
                proposal.id == entry.id && proposal.title == entry.title && proposal.text == entry.text
            };
            if new.listed_proposals().iter().any(same) {
                prop_assert!(changed.contains(text[entry.range.clone()].trim_end()));
            }
        }
        // A second update changes nothing.
        prop_assert_eq!(update(&changed, &new.shown_page(), &new).unwrap(), changed);
    }
}

#[test]
fn an_update_fits_beside_ordinary_notes() {
    let mut fits = 0;
    for note in [
        "My own thoughts.",
        "- a list\n- of mine",
        "> quoted",
        "```\n- [x] code\n```",
        "| a |\n|---|",
        "## Mine\n\ntext",
    ] {
        let text = page().replacen("\n\n## Friction", &format!("\n\n{note}\n\n## Friction"), 1);
        let text = text.replacen("\n\n_Last", &format!("\n\n{note}\n\n_Last"), 1);
        let mut next = three();
        next.proposals.remove(1);
        next.proposals.push(proposal("p-20261116-001", "Hard Rules", "New", "One more."));
        next.proposals.push(proposal("p-20261116-002", "Lessons", "Newer", "Another."));
        let changed = update(&text, &three().shown_page(), &next).unwrap();
        assert_eq!(changed.matches(note).count(), 2);
        let ids: Vec<String> =
            parse(&changed).unwrap().entries.iter().map(|entry| entry.id.to_string()).collect();
        assert_eq!(ids, ["p-20261115-001", "p-20261116-001", "f-20261114-001", "p-20261116-002"]);
        fits += 1;
    }
    assert_eq!(fits, 6);
}

#[test]
fn rev_02_the_page_looks_like_this() {
    insta::assert_snapshot!(page().replace(&three().shown_page().version, "VERSION"), @r"
    # Pending Memory Proposals

    _Reviewer: Ada | 2026-11-15_

    _`[x]` keeps a line, `[-]` or deleting it turns it down, untouched it waits. Reword a line before ticking it and your words are kept. A line that ends in `(project: …)` will hold in that project; write `(everywhere)` instead to keep it for all._

    ## Proposed for: Hard Rules

    - [ ] `p-20261115-001` **No amends** — Never amend a pushed commit.

    ## Proposed for: Patterns

    - [ ] `p-20261115-002` **Tabs** — Tabs, not spaces.
      Also in YAML: no.

    ## Friction Fixes (auto-detected 2026-11-14)

    - [ ] `f-20261114-001` **Ask first** — Add to AGENTS.md: ask before deleting.

    _Last updated: 2026-11-15T02:13:08Z | 3 proposals pending_
    <!-- rekindle version=VERSION -->
    ");
}

#[test]
fn rev_03_ticks_are_decisions() {
    let text = page().replace("[ ] `p-20261115-001`", "[ X ] `p-20261115-001`").replace("[ ] `f-", "[-] `f-");
    assert_eq!(decision(&text, 0), PageDecision::Approved);
    assert_eq!(decision(&text, 1), PageDecision::Pending);
    assert_eq!(decision(&text, 2), PageDecision::Rejected { how: RejectionMark::Ticked });
}

#[test]
fn rev_03_a_deleted_line_is_a_rejection_only_on_a_whole_page() {
    let line = "- [ ] `p-20261115-001` **No amends** — Never amend a pushed commit.\n";
    let text = page().replace(line, "");
    assert_eq!(decision(&text, 0), PageDecision::Rejected { how: RejectionMark::LineDeleted });
    let comment = text.lines().last().unwrap();
    assert_eq!(decision(&text.replace(comment, ""), 0), PageDecision::Pending);
    let footless = &text[..text.find("_Last updated").unwrap()];
    assert_eq!(decision(footless, 0), PageDecision::Pending);
    assert_eq!(decision(&text.replace("# Pending", "# My"), 0), PageDecision::Pending);
    // A line moved into the person's own text was not deleted.
    let moved = text.replace("_Reviewer", "p-20261115-001 is odd\n\n_Reviewer");
    assert_eq!(decision(&moved, 0), PageDecision::Pending);
}

#[test]
fn rev_03_the_edited_text_is_what_counts() {
    let text = page()
        .replace("[ ] `p-20261115-001`", "[x] `p-20261115-001`")
        .replace("Never amend a", "Never rewrite a");
    let edited = PageDecision::ApprovedEdited {
        title: "No amends".to_owned(),
        text: "Never rewrite a pushed commit.".to_owned(),
    };
    assert_eq!(decision(&text, 0), edited);
    let unticked = text.replace("[x]", "[ ]");
    assert!(matches!(decision(&unticked, 0), PageDecision::EditedPending { .. }));
    let emptied = page()
        .replace("[ ] `p-20261115-001` **No amends** — Never amend a pushed commit.", "[x] `p-20261115-001`");
    assert_eq!(decision(&emptied, 0), PageDecision::Pending);
}

#[test]
fn rev_03_editors_may_wrap_reorder_and_restyle() {
    let item = "- [ ] `p-20261115-001` **No amends** — Never amend a pushed commit.\n";
    for (variant, what) in [
        ("* [x] `p-20261115-001` **No amends** — Never amend\n  a pushed commit.\n", "wrapped"),
        ("* [x] `p-20261115-001` **No amends** — Never amend\na pushed commit.\n", "wrapped to the margin"),
        ("+ [x] p-20261115-001 No amends - Never amend a pushed commit.\n", "emphasis lost"),
        ("- [x] `p-20261115-001` **No amends**: Never amend a pushed commit.  \n", "colon"),
        ("- [x] `p-20261115-001` **No amends** — Never amend a pushed commit.\nI agree!\n", "note below"),
        ("- [x] **No amends** — Never amend a pushed commit.\n", "id lost"),
        (
            "- [ ] `p-20261116-009` x\n    - [x] `p-20261115-001` **No amends** — Never amend a pushed commit.\n",
            "indented",
        ),
    ] {
        assert_eq!(decision(&page().replace(item, variant), 0), PageDecision::Approved, "{what}");
    }
    let text =
        page().replace(item, "").replace("\n_Last", &format!("\n{}\n_Last", item.replace("[ ]", "[x]")));
    assert_eq!(decision(&text, 0), PageDecision::Approved);
}

#[test]
fn rev_03_doubt_decides_nothing() {
    let shown = three().shown_page();
    assert_eq!(diff(&shown, "\u{feff}\n \n"), Err(PageDoubt::Emptied));
    let conflict = page().replace("\n## Friction", "\n<<<<<<< HEAD\n## Friction");
    assert!(matches!(diff(&shown, &conflict), Err(PageDoubt::Broken(BrokenDocument::Conflict { .. }))));
    let item = "- [ ] `p-20261115-001` **No amends** — Never amend a pushed commit.\n";
    let twice = page().replace(item, &format!("{item}{}", item.replace("[ ]", "[x]")));
    assert!(matches!(diff(&shown, &twice), Err(PageDoubt::Twice { line: 10, .. })));
    let same = page().replace(item, &format!("{item}{item}"));
    assert!(diff(&shown, &same).is_ok());
    let mut older = three();
    older.updated = "2026-11-14T02:13:08Z".parse().unwrap();
    assert_eq!(diff(&shown, &render(&older)), Err(PageDoubt::OtherVersion));
    let mut lines: Vec<&str> = Vec::new();
    let text = page();
    lines.extend(text.lines().filter(|line| !line.starts_with("- [ ] `p-") && !line.starts_with("  ")));
    assert_eq!(diff(&shown, &lines.join("\n")), Err(PageDoubt::MostMissing { missing: 2, shown: 3 }));
}

#[test]
fn the_only_line_may_be_deleted() {
    let one = queue(vec![proposal("p-20261115-001", "Patterns", "T", "text")]);
    let text = render(&one).replace("- [ ] `p-20261115-001` **T** — text\n", "");
    let decisions = diff(&one.shown_page(), &text).unwrap();
    assert_eq!(decisions.decided[0].decision, PageDecision::Rejected { how: RejectionMark::LineDeleted });
}

#[test]
fn update_keeps_order_ticks_and_rewording() {
    let item = "- [ ] `p-20261115-001` **No amends** — Never amend a pushed commit.\n";
    let mine = "* [x] p-20261115-001 No amends: Never amend\n  a pushed commit.\n";
    let text = page().replace(item, mine);
    let same = update(&text, &three().shown_page(), &three()).unwrap();
    assert_eq!(same, text);
    let mut reworded = three();
    reworded.proposals[0].text = "Never, ever.".to_owned();
    let changed = update(&text, &three().shown_page(), &reworded).unwrap();
    assert!(changed.contains("- [x] `p-20261115-001` **No amends** — Never, ever.\n"));
    assert!(!changed.contains("pushed commit"));
}

#[test]
fn update_of_nothing_is_a_fresh_page() {
    assert_eq!(update("", &three().shown_page(), &three()).unwrap(), page());
    let gone = update(&page(), &three().shown_page(), &queue(vec![])).unwrap();
    assert_eq!(gone, render(&queue(vec![])));
}

#[test]
fn a_note_that_touches_a_leaving_line_stays_and_joins_no_other() {
    let both = queue(vec![
        proposal("p-20261115-001", "Patterns", "One", "First."),
        proposal("p-20261115-002", "Patterns", "Two", "Second."),
    ]);
    let text = render(&both)
        .replace("Second.\n", "Second.\nI like this one.\n")
        .replace("[ ] `p-20261115-002`", "[x] `p-20261115-002`");
    let decisions = diff(&both.shown_page(), &text).unwrap();
    assert_eq!(decisions.decided[1].decision, PageDecision::Approved);
    let rest = ReviewPage { proposals: vec![both.proposals[0].clone()], ..both.clone() };
    let changed = update(&text, &both.shown_page(), &rest).unwrap();
    assert!(changed.contains("**One** — First.\n\nI like this one.\n"), "{changed}");
    let decisions = diff(&rest.shown_page(), &changed).unwrap();
    assert_eq!(decisions.decided[0].decision, PageDecision::Pending);
}
