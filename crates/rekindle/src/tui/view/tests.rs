//! Tests of the screen, cell by cell, in the relevant sizes.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource};
use rekindle_core::vault::memory::StatementOutcome;
use rekindle_core::vault::review::ProposalPlace;
use rekindle_engine::pipeline::stages::promote::{ApprovalEffect, ApprovalPreview};
use rekindle_engine::review::proposals::ProposalRecord;
use rekindle_engine::vault::PromotionOutcome;

use super::super::card::{CardFacts, CardStatus, rows};
use super::super::model::KeyPress;
use super::super::model::tests::{card, id};
use super::*;

const NOW: i64 = 1_794_000_000;
const DIFF: &str = "--- MEMORY.md\n+++ MEMORY.md\n@@ -9,4 +9,5 @@\n ## System Architecture\n \n-- Staging Postgres \
listens on port 5432.\n+- ~~Staging Postgres listens on port 5432.~~ (superseded 2026-11-15)\n+- (2026-11-15) Staging \
Postgres listens on port 6432. <!-- p-20261115-001 user -->\n \n ## Patterns\n";

fn standing(text: &str, quotes: &[&str]) -> ProposalRecord {
    let at = |second| Timestamp::from_second(second).unwrap();
    let many = |name: &str, count: usize| (1..=count).map(|number| format!("{name}{number}")).collect();
    ProposalRecord {
        proposal: Proposal {
            supersedes: Some("Staging Postgres listens on port 5432.".to_owned()),
            confidence: 0.83,
            evidence: ProposalEvidence {
                sessions: many("session-", 5),
                messages: many("m", 2),
                quotes: quotes.iter().map(|quote| (*quote).to_owned()).collect(),
                ..ProposalEvidence::default()
            },
            ..Proposal::new(
                id(1),
                ProposalSource::Supersede,
                ProposalPlace::Section("System Architecture".to_owned()),
                Origin::User,
                text.to_owned(),
                at(NOW - 3 * 86_400 - 60),
            )
        },
        worded: None,
        decided: None,
        by: None,
        note: None,
        reopened: None,
        decided_with: None,
        keeps_superseded: false,
        scope: None,
    }
}

fn about(standing: &ProposalRecord, diff: &str) -> Vec<CardRow> {
    let outcome = PromotionOutcome { outcome: StatementOutcome::Appended, replaced: true };
    rows(&CardFacts {
        record: standing,
        reach: None,
        section: "System Architecture",
        duplicates: &[id(7), id(8)],
        preview: Ok(ApprovalPreview { diff: diff.to_owned(), does: ApprovalEffect::Memory(outcome) }),
        now: Timestamp::from_second(NOW).unwrap(),
        expire_days: 7,
    })
}

fn sitting() -> ReviewModel {
    let text = "Staging Postgres listens on port 6432.";
    let first = ProposalCard {
        names_line: true,
        duplicates: 2,
        section: "System Architecture".to_owned(),
        ..card(1, text.trim_end_matches('.'))
    };
    let second = ProposalCard {
        expires: Some(1),
        ..card(2, "テストは必ずリリースプロファイルで実行し、その結果を必ず記録してください")
    };
    let third = ProposalCard { fate: CardStatus::Skipped, ..card(3, "Be brief") };
    let mut model = ReviewModel::new(vec![first, second, third], vec![card(4, "Later")], false);
    let quote = "the staging database moved, it is on 6432 now and 5432 is gone for good";
    model.set_detail(id(1), about(&standing(text, &[quote]), DIFF), true, None);
    model
}

fn screen(model: &mut ReviewModel, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    let mut extent = (0, 0);
    terminal.draw(|frame| extent = draw(frame, model, false)).unwrap();
    model.set_extent(extent.0, extent.1);
    let buffer = terminal.backend().buffer();
    let line = |y: u16| -> String {
        let mut line = String::new();
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(width(symbol).max(1)).unwrap();
        }
        line.trim_end().to_owned()
    };
    (0..lines).map(|y| line(y) + "\n").collect()
}

#[test]
fn eighty_by_twenty_four() {
    insta::assert_snapshot!(screen(&mut sitting(), 80, 24));
}

#[test]
fn a_large_window() {
    insta::assert_snapshot!(screen(&mut sitting(), 120, 40));
}

#[test]
fn forty_by_twelve_says_that_it_is_small() {
    let shown = screen(&mut sitting(), 40, 12);
    assert!(shown.contains("small window (40x12)"), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn questions_are_asked_in_the_line_below() {
    let mut model = sitting();
    model.update(KeyPress::Char('r'));
    model.update(KeyPress::Paste("not true any more".to_owned()));
    let shown = screen(&mut model, 80, 24);
    assert!(shown.contains("Enter rejects, Esc cancels: not true any more_"), "{shown}");
    model.update(KeyPress::Paste(" and so on".repeat(10)));
    assert!(screen(&mut model, 40, 12).contains("and so on_"));
    model.update(KeyPress::Escape);
    model.on_edited(id(1), "a", "b");
    assert!(screen(&mut model, 80, 24).contains("S replaces the line, a keeps both, Esc cancels"));
}

#[test]
fn help_fits_and_scrolls_where_it_does_not() {
    let mut model = sitting();
    model.update(KeyPress::Char('?'));
    let shown = screen(&mut model, 80, 24);
    assert!(shown.contains("undo the last decision of this review"), "{shown}");
    assert!(shown.contains("Press any other key to go back."), "{shown}");
    assert!(!screen(&mut model, 80, 14).contains("Any other key"));
    for _ in 0..5 {
        model.update(KeyPress::PageDown);
        screen(&mut model, 80, 14);
    }
    assert!(screen(&mut model, 80, 14).contains("Press any other key to go back."));
}

#[test]
fn nothing_of_a_proposal_reaches_the_terminal_as_a_command() {
    let nasty = "Use\x1b]0;pwned\x07 tabs\x1b[2J \u{9b}2J\u{202e}evil\x08\x08\r\x1bP1q\x1b\\ end";
    let mut standing = standing(nasty, &[nasty]);
    standing.note = Some(nasty.to_owned());
    standing.proposal.evidence.sessions = vec![nasty.to_owned()];
    let mut model = ReviewModel::new(
        vec![ProposalCard { section: nasty.to_owned(), ..card(1, nasty) }],
        Vec::new(),
        false,
    );
    model.set_detail(id(1), about(&standing, &format!("a\nb\n@@\n+{nasty}\n")), true, None);
    model.set_status(nasty, true);
    for (columns, lines) in [(80, 24), (40, 12), (200, 60)] {
        let shown = screen(&mut model, columns, lines);
        let odd: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(odd.is_empty() && !shown.contains('\u{202e}') && !shown.contains("pwned"), "{odd:?} {shown}");
        assert!(shown.contains("Use tabs"), "{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_window_and_no_text_is_too_much(
        columns in 1..130u16,
        lines in 1..50u16,
        text in "\\PC{0,200}",
        keys in "[ajkrsSeumgG ?xq]{0,12}",
    ) {
        let mut model = sitting();
        model.set_detail(id(1), about(&standing(&text, &[&text]), DIFF), true, None);
        for key in keys.chars() {
            model.update(KeyPress::Char(key));
            screen(&mut model, columns, lines);
        }
        model.update(KeyPress::Paste(text));
        screen(&mut model, columns, lines);
    }
}
