//! What agents decided on proposals, for the next briefing: the person allowed it, and hears of it.

use std::collections::BTreeMap;

use super::Material;
use crate::text::clean::one_line;
use crate::vault::daily_log::{self, End, Receipt, Section};

/// The most decisions that are named.
const MOST: usize = 5;
/// The most characters of what was decided on.
const TEXT_CHARS: usize = 160;

/// A line for each decision of an agent that still stands, the newest first. The last receipt of a proposal counts.
pub(super) fn lines(material: &Material) -> Vec<String> {
    let mut last: BTreeMap<String, (usize, Receipt)> = BTreeMap::new();
    let mut count = 0;
    // The logs are the newest first.
    for (_, text) in material.logs.iter().rev() {
        for section in daily_log::parse(text).sections {
            let Section::Receipts(receipts) = section else { continue };
            let project = receipts.source.project;
            // Another project's stay there (B-05).
            if project.is_some() && project != material.project {
                continue;
            }
            for receipt in receipts.receipts {
                count += 1;
                last.insert(receipt.id.clone(), (count, receipt));
            }
        }
    }
    let mut standing: Vec<(usize, Receipt)> =
        last.into_values().filter(|(_, receipt)| receipt.by_agent).collect();
    standing.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    standing.iter().take(MOST).map(|(_, receipt)| line(receipt)).collect()
}

fn line(receipt: &Receipt) -> String {
    let Receipt { id, end, text, .. } = receipt;
    let text = one_line(text, TEXT_CHARS);
    let change = match end {
        End::Rejected => format!("`rekindle approve {id}` takes it back"),
        _ => "`rekindle undo` takes it back".to_owned(),
    };
    format!("- An agent decided on a proposal: {id} {} ({change}): {text}", end.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::daily_log::{Receipts, Source, append, render_new};

    fn receipt(id: &str, end: End, by_agent: bool) -> Receipt {
        Receipt { id: id.to_owned(), end, by_agent, text: format!("text of {id}") }
    }

    fn log(day: &str, project: Option<&str>, receipts: Vec<Receipt>) -> (crate::time::Date, String) {
        let date = day.parse().unwrap();
        let source = Source { project: project.map(str::to_owned), ..Source::default() };
        let section = Section::Receipts(Receipts { source, time: "10:00".parse().unwrap(), receipts });
        (date, append(&render_new(date), &section))
    }

    #[test]
    fn b_01_what_an_agent_decided_is_told_until_a_person_changes_it() {
        let here = Some("acme/pumps");
        let newest = vec![
            receipt("p-20261114-001", End::Promoted, true),
            receipt("p-20261114-002", End::Promoted, false),
            receipt("p-20261114-003", End::Undone, false),
            receipt("p-20261114-004", End::Rejected, true),
        ];
        let older = vec![receipt("p-20261114-003", End::Promoted, true)];
        let other = vec![receipt("p-20261114-009", End::Promoted, true)];
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
        assert!(told[0].contains("p-20261114-004 rejected (`rekindle approve p-20261114-004`"), "{told:?}");
        assert!(told[1].contains("p-20261114-001 promoted (`rekindle undo`"), "{told:?}");
    }
}
