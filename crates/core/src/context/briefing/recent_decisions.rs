//! Decisions on proposals made without the user: by triage, or by an agent with permission. The next
//! briefings name them, until the user undoes them (REV-09, B-01).

use std::collections::HashSet;

use super::BriefingMaterial;
use crate::base::time::day;
use crate::text::clean::one_line;
use crate::vault::daily_log::{self, LogSection, ProposalEnd, ReceiptDecider};

/// The maximum number of decisions listed.
const MAX_DECISIONS: usize = 5;
/// The maximum length of a decision's text, in characters.
const MAX_TEXT_CHARS: usize = 120;

/// Renders one line per decision that still stands, newest first.
pub(super) fn lines(material: &BriefingMaterial) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    // Logs are sorted newest first.
    for (date, text) in &material.logs {
        let receipts =
            daily_log::parse(text).sections.into_iter().rev().filter_map(|section| match section {
                // Receipts of other projects are left out (B-05).
                LogSection::Receipts(receipts) => {
                    let project = &receipts.source.project;
                    (project.is_none() || *project == material.project).then_some(receipts.receipts)
                }
                _ => None,
            });
        for receipt in receipts.flat_map(|receipts| receipts.into_iter().rev()) {
            // The latest decision about a proposal wins.
            if !seen.insert(receipt.id.clone()) || receipt.by == ReceiptDecider::Person {
                continue;
            }
            let what = match receipt.end {
                ProposalEnd::Promoted => "put into MEMORY.md",
                ProposalEnd::Rejected => "turned down",
                ProposalEnd::Expired | ProposalEnd::Undone => continue,
            };
            let who = if receipt.by == ReceiptDecider::Agent { "by an agent" } else { "without asking" };
            let (id, words) = (&receipt.id, one_line(&receipt.text, MAX_TEXT_CHARS));
            found.push(format!(
                "- {} {id}: {what} {who} (`rekindle undo {id}` takes it back): {words}",
                day(*date)
            ));
        }
    }
    let more = found.len().saturating_sub(MAX_DECISIONS);
    found.truncate(MAX_DECISIONS);
    if more > 0 {
        found.push(format!("- {more} more were decided without you: `rekindle review --automatic`"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::daily_log::{LoggedReceipts, ProposalReceipt, SectionSource, append, render_new};

    fn receipt(id: &str, end: ProposalEnd, by: ReceiptDecider) -> ProposalReceipt {
        ProposalReceipt { id: id.to_owned(), end, by, with: None, text: format!("text of {id}") }
    }

    fn log(
        day: &str,
        project: Option<&str>,
        receipts: Vec<ProposalReceipt>,
    ) -> (crate::base::time::Date, String) {
        let date = day.parse().unwrap();
        let source = SectionSource { project: project.map(str::to_owned), ..SectionSource::default() };
        let section =
            LogSection::Receipts(LoggedReceipts { source, time: "10:00".parse().unwrap(), receipts });
        (date, append(&render_new(date), &section))
    }

    #[test]
    fn b_01_agent_decisions_are_reported_until_a_person_changes_them() {
        let here = Some("acme/pumps");
        let newest = vec![
            receipt("p-20261114-001", ProposalEnd::Promoted, ReceiptDecider::Agent),
            receipt("p-20261114-002", ProposalEnd::Promoted, ReceiptDecider::Person),
            receipt("p-20261114-003", ProposalEnd::Undone, ReceiptDecider::Person),
            receipt("p-20261114-004", ProposalEnd::Rejected, ReceiptDecider::Agent),
        ];
        let older = vec![receipt("p-20261114-003", ProposalEnd::Promoted, ReceiptDecider::Agent)];
        let other = vec![receipt("p-20261114-009", ProposalEnd::Promoted, ReceiptDecider::Agent)];
        let material = BriefingMaterial {
            logs: vec![
                log("2026-11-15", here, newest),
                log("2026-11-14", here, older),
                log("2026-11-13", Some("acme/kettles"), other),
            ],
            project: here.map(str::to_owned),
            ..BriefingMaterial::default()
        };
        let told = lines(&material);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("p-20261114-004: turned down by an agent (`rekindle undo p-"), "{told:?}");
        assert!(told[1].contains("p-20261114-001: put into MEMORY.md by an agent"), "{told:?}");
    }
}
