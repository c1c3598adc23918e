//! Updates a page that a person may be editing: their ticks, their words and their deletions still count
//! afterwards.

use thiserror::Error as ThisError;

use super::diff::{PageDecision, PageDoubt, diff, is_unchanged};
use super::parse::parse;
use super::render::parse_pending_count;
use super::update::{Error, update};
use super::{ListedProposal, ReviewPage, ShownPage, render};

/// An updated page with its recorded state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedPage {
    /// The text of the whole page.
    pub text: String,
    /// The proposals it shows, as a base for the next comparison.
    pub shown_page: ShownPage,
}

/// The reason why a page was left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum CarryError {
    /// The person's decisions on it are ambiguous.
    #[error(transparent)]
    Doubt(#[from] PageDoubt),
    /// The update would lose the person's own text.
    #[error(transparent)]
    Unfit(#[from] Error),
}

/// Updates the page `text` (`None` if it does not exist) to `queue`. `shown` is its last recorded state, if
/// known; without it, missing lines do not count as decisions.
///
/// A reworded line keeps its words, and a deleted line does not come back. Both still count as decisions when
/// the page is compared with the returned state.
pub fn carry_page(
    text: Option<&str>,
    shown: Option<&ShownPage>,
    queue: &ReviewPage,
) -> Result<CarriedPage, CarryError> {
    let Some(text) = text else {
        return Ok(CarriedPage { text: render(queue), shown_page: queue.shown_page() });
    };
    let listed = queue.listed_proposals();
    let same = shown.filter(|shown| shown.proposals == listed);
    let as_it_is = same.map(|shown| CarriedPage { text: text.to_owned(), shown_page: shown.clone() });
    let count = parse_pending_count(text);
    if let Some(as_it_is) =
        as_it_is.clone().filter(|_| count.is_none_or(|count| count == queue.pending_count()))
    {
        return Ok(as_it_is);
    }
    let empty = ShownPage { version: String::new(), proposals: Vec::new() };
    let shown = shown.unwrap_or(&empty);
    let decided = diff(shown, text)?.decided;
    let page = parse(text).map_err(PageDoubt::from)?;
    let proposals = queue.proposals.iter().filter_map(|proposal| {
        let Some(entry) = page.entries.iter().find(|entry| entry.id == proposal.id) else {
            let is_open = |decision: &PageDecision| *decision == PageDecision::Pending;
            let gone = decided.iter().any(|one| one.id == proposal.id && !is_open(&one.decision));
            return (!gone).then(|| proposal.clone());
        };
        Some(match is_unchanged(&proposal.normalised(), entry) {
            true => proposal.clone(),
            false => {
                ListedProposal { title: entry.title.clone(), text: entry.text.clone(), ..proposal.clone() }
            }
        })
    });
    let on_page = ReviewPage { proposals: proposals.collect(), ..queue.clone() };
    // A deleted line that is not decided yet is not counted.
    if let Some(as_it_is) = as_it_is.filter(|_| count == Some(on_page.pending_count())) {
        return Ok(as_it_is);
    }
    let text = update(text, shown, &on_page)?;
    Ok(CarriedPage {
        text,
        shown_page: ShownPage { version: on_page.shown_page().version, proposals: listed },
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::super::{ProposalId, ProposalPlace, RejectionMark};
    use super::*;

    fn proposal(number: u32, text: &str) -> ListedProposal {
        let id: ProposalId = format!("p-20261115-{number:03}").parse().unwrap();
        let place = ProposalPlace::Section(
            if number.is_multiple_of(2) { "Patterns" } else { "Hard Rules" }.to_owned(),
        );
        ListedProposal { id, place, title: format!("Title {number}"), text: text.to_owned(), project: None }
    }

    fn queue(numbers: &[u32], hour: i8) -> ReviewPage {
        ReviewPage {
            reviewer: "Ada".to_owned(),
            date: date(2026, 11, 15),
            updated: date(2026, 11, 15)
                .at(hour, 0, 0, 0)
                .to_zoned(jiff::tz::TimeZone::UTC)
                .unwrap()
                .timestamp(),
            proposals: numbers
                .iter()
                .map(|number| proposal(*number, &format!("Statement {number}.")))
                .collect(),
            later: 0,
        }
    }

    fn decisions(carried: &CarriedPage) -> Vec<PageDecision> {
        let decided = diff(&carried.shown_page, &carried.text).unwrap().decided;
        decided.into_iter().map(|decided| decided.decision).collect()
    }

    #[test]
    fn r_17_the_footer_counts_what_waits_behind_the_page() {
        let first = ReviewPage { later: 7, ..queue(&[1, 2], 8) };
        let page = carry_page(None, None, &first).unwrap();
        assert!(page.text.contains("| 9 proposals pending_"), "{}", page.text);
        let same = ReviewPage { later: 7, ..queue(&[1, 2], 9) };
        assert_eq!(carry_page(Some(&page.text), Some(&page.shown_page), &same).unwrap().text, page.text);
        let more = ReviewPage { later: 8, ..queue(&[1, 2], 9) };
        let next = carry_page(Some(&page.text), Some(&page.shown_page), &more).unwrap();
        assert!(next.text.contains("| 10 proposals pending_"), "{}", next.text);
        // A footer that the person removed is not added again.
        let bare = page.text.lines().filter(|line| !line.contains("pending_")).collect::<Vec<_>>().join("\n");
        assert_eq!(carry_page(Some(&bare), Some(&page.shown_page), &more).unwrap().text, bare);
    }

    #[test]
    fn rev_03_ticks_words_and_deletions_survive_new_proposals() {
        let first = carry_page(None, None, &queue(&[1, 2, 3, 4], 1)).unwrap();
        let mut text = first.text.replace("- [ ] `p-20261115-001`", "- [x] `p-20261115-001`");
        text = text.replace("Statement 2.", "Statement two, in my words.");
        let gone = text.lines().find(|line| line.contains("p-20261115-003")).unwrap().to_owned();
        text = text.replace(&format!("{gone}\n"), "My own note.\n");
        let second =
            carry_page(Some(&text), Some(&first.shown_page), &queue(&[1, 2, 3, 4, 5, 6], 2)).unwrap();
        assert!(
            second.text.contains("[x] `p-20261115-001`") && second.text.contains("in my words"),
            "{}",
            second.text
        );
        assert!(second.text.contains("My own note.") && second.text.contains("p-20261115-006"));
        assert!(!second.text.contains("p-20261115-003"), "a deleted line does not come back");
        let mut found: Vec<(u32, PageDecision)> = diff(&second.shown_page, &second.text)
            .unwrap()
            .decided
            .into_iter()
            .map(|decided| (decided.id.number, decided.decision))
            .collect();
        found.sort_by_key(|(number, _)| *number);
        let reworded = PageDecision::EditedPending {
            title: "Title 2".to_owned(),
            text: "Statement two, in my words.".to_owned(),
        };
        assert_eq!(
            found.into_iter().map(|(_, decision)| decision).collect::<Vec<_>>(),
            [
                PageDecision::Approved,
                reworded,
                PageDecision::Rejected { how: RejectionMark::LineDeleted },
                PageDecision::Pending,
                PageDecision::Pending,
                PageDecision::Pending
            ]
        );
        // Once more, without any change.
        let third =
            carry_page(Some(&second.text), Some(&second.shown_page), &queue(&[1, 2, 3, 4, 5, 6], 3)).unwrap();
        assert_eq!(third, second, "the same queue changes nothing");
    }

    #[test]
    fn a_page_in_doubt_is_left_alone() {
        let first = carry_page(None, None, &queue(&[1, 2, 3, 4], 1)).unwrap();
        let emptied = carry_page(Some(" \n"), Some(&first.shown_page), &queue(&[1, 2, 3, 4, 5], 2));
        assert_eq!(emptied, Err(CarryError::Doubt(PageDoubt::Emptied)));
        let unclosed = format!("```\n{}", first.text);
        assert!(carry_page(Some(&unclosed), Some(&first.shown_page), &queue(&[5], 2)).is_err());
    }

    #[test]
    fn a_page_of_another_machine_gets_new_lines_and_keeps_its_own() {
        let other =
            carry_page(None, None, &queue(&[1, 2], 1)).unwrap().text.replace("Statement 2.", "Reworded.");
        let ours = carry_page(Some(&other), None, &queue(&[2, 7], 2)).unwrap();
        for kept in ["p-20261115-001", "Statement 1.", "Reworded.", "p-20261115-007"] {
            assert!(ours.text.contains(kept), "{kept} in {}", ours.text);
        }
        assert_eq!(decisions(&ours).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_is_added_decisions_stay(ticks in prop::collection::vec(0..3usize, 5), more in 0u32..4) {
            let before: Vec<u32> = (1..=5).collect();
            let first = carry_page(None, None, &queue(&before, 1)).unwrap();
            let mut text = first.text.clone();
            for (number, tick) in before.iter().zip(&ticks) {
                let mark = [" ", "x", "-"][*tick];
                text = text.replace(&format!("- [ ] `p-20261115-{number:03}`"), &format!("- [{mark}] `p-20261115-{number:03}`"));
            }
            let after: Vec<u32> = (1..=5 + more).collect();
            let second = carry_page(Some(&text), Some(&first.shown_page), &queue(&after, 2)).unwrap();
            let told = |carried: &CarriedPage| -> Vec<(ProposalId, PageDecision)> {
                let decided = diff(&carried.shown_page, &carried.text).unwrap().decided;
                let old = decided.into_iter().filter(|decided| decided.id.number <= 5);
                let mut told: Vec<_> = old.map(|decided| (decided.id, decided.decision)).collect();
                told.sort_by_key(|(id, _)| *id);
                told
            };
            prop_assert_eq!(told(&second), told(&CarriedPage { text, shown_page: first.shown_page }));
        }
    }
}
