//! Decisions on proposals made without the user: by triage, or by an agent with permission. The next
//! briefings name them, until the user undoes them (REV-09, B-01).

use std::collections::HashSet;

use super::Material;
use crate::base::time::day;
use crate::text::clean::one_line;
use crate::vault::daily_log::{self, Decider, End, Section};

/// The maximum number of decisions listed.
const MOST: usize = 5;
/// The maximum length of a decision's text, in characters.
const TEXT_CHARS: usize = 120;

/// Renders one line per decision that still stands, newest first.
pub(super) fn lines(material: &Material) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    // Logs are sorted newest first.
    for (date, text) in &material.logs {
        let receipts =
            daily_log::parse(text).sections.into_iter().rev().filter_map(|section| match section {
                // Receipts of other projects are left out (B-05).
                Section::Receipts(receipts) => {
                    let project = &receipts.source.project;
                    (project.is_none() || *project == material.project).then_some(receipts.receipts)
                }
                _ => None,
            });
        for receipt in receipts.flat_map(|receipts| receipts.into_iter().rev()) {
            // The latest decision about a proposal wins.
            if !seen.insert(receipt.id.clone()) || receipt.by == Decider::Person {
                continue;
            }
            let what = match receipt.end {
                End::Promoted => "put into MEMORY.md",
                End::Rejected => "turned down",
                End::Expired | End::Undone => continue,
            };
            let who = if receipt.by == Decider::Agent { "by an agent" } else { "without asking" };
            let (id, words) = (&receipt.id, one_line(&receipt.text, TEXT_CHARS));
            found.push(format!(
                "- {} {id}: {what} {who} (`rekindle undo {id}` takes it back): {words}",
                day(*date)
            ));
        }
    }
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("- {more} more were decided without you: `rekindle review --automatic`"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::daily_log::{Receipt, Receipts, Source, append, render_new};

    fn receipt(id: &str, end: End, by: Decider) -> Receipt {
        Receipt { id: id.to_owned(), end, by, with: None, text: format!("text of {id}") }
    }

    fn log(day: &str, project: Option<&str>, receipts: Vec<Receipt>) -> (crate::base::time::Date, String) {
        let date = day.parse().unwrap();
        let source = Source { project: project.map(str::to_owned), ..Source::default() };
        let section = Section::Receipts(Receipts { source, time: "10:00".parse().unwrap(), receipts });
        (date, append(&render_new(date), &section))
    }

    #[test]
    fn b_01_what_an_agent_decided_is_told_until_a_person_changes_it() {
        let here = Some("acme/pumps");
        let newest = vec![
            receipt("p-20261114-001", End::Promoted, Decider::Agent),
            receipt("p-20261114-002", End::Promoted, Decider::Person),
            receipt("p-20261114-003", End::Undone, Decider::Person),
            receipt("p-20261114-004", End::Rejected, Decider::Agent),
        ];
        let older = vec![receipt("p-20261114-003", End::Promoted, Decider::Agent)];
        let other = vec![receipt("p-20261114-009", End::Promoted, Decider::Agent)];
        let material = Material {
            logs: vec![
                log("2026-11-15", here, newest),
                log("2026-11-14", here, older),
                log("2026-11-13", Some("acme/kettles"), other),
            ],
            project: here.map(str::to_owned),
            ..Material::default()
        };
        let told = lines(&material);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("p-20261114-004: turned down by an agent (`rekindle undo p-"), "{told:?}");
        assert!(told[1].contains("p-20261114-001: put into MEMORY.md by an agent"), "{told:?}");
    }
}
