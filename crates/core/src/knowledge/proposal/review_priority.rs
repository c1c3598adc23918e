//! Ranks proposals and limits their number per day (B-07): nobody reads a queue that shows everything.

use std::collections::HashSet;

use super::Proposal;
use crate::base::provenance::Origin;
use crate::base::time::Timestamp;
use crate::text::similarity::AnalysedStatement;
use crate::vault::review::ProposalId;

/// The half-life of a proposal's recency, in days.
const HALF_LIFE_DAYS: f64 = 7.0;
const DAY_SECONDS: f64 = 86_400.0;

/// The rank of a proposal, from 0 to about 1: by frequency, confidence, recency, an effect on existing lines,
/// and origin.
pub fn review_priority(proposal: &Proposal, now: Timestamp) -> f64 {
    let sessions = i32::try_from(proposal.evidence.sessions.len().clamp(1, 10)).unwrap_or(1);
    let often = 1.0 - 0.5_f64.powi(sessions);
    let age = (now.as_second() - proposal.created.as_second()).max(0) as f64 / DAY_SECONDS;
    let recent = 0.5_f64.powf(age / HALF_LIFE_DAYS);
    let changes = if proposal.supersedes.is_some() { 1.0 } else { 0.0 };
    let own = match proposal.origin {
        Origin::User => 1.0,
        Origin::Tool => 0.0,
        _ => 0.5,
    };
    0.3 * often + 0.3 * proposal.confidence.clamp(0.0, 1.0) + 0.15 * recent + 0.15 * changes + 0.1 * own
}

/// A proposal with its near-duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedProposal<'a> {
    /// The proposal to show.
    pub proposal: &'a Proposal,
    /// The near-duplicates, best first.
    pub duplicates: Vec<ProposalId>,
}

/// Sorts proposals by worth, with near-duplicates folded into the one on the page, or else into the best of
/// them.
pub fn rank_proposals<'a>(
    proposals: &'a [Proposal],
    on_page: &HashSet<ProposalId>,
    now: Timestamp,
) -> Vec<FoldedProposal<'a>> {
    let mut order: Vec<(f64, &Proposal)> =
        proposals.iter().map(|proposal| (review_priority(proposal, now), proposal)).collect();
    order.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(one.created.cmp(&other.created)).then(one.id.cmp(&other.id))
    });
    let (seen, unseen): (Vec<_>, Vec<_>) =
        order.into_iter().enumerate().partition(|(_, (_, proposal))| on_page.contains(&proposal.id));
    let mut folded: Vec<(usize, AnalysedStatement, FoldedProposal<'a>)> = Vec::new();
    for (place, (_, proposal)) in seen.into_iter().chain(unseen) {
        let statement = AnalysedStatement::from_text(&proposal.text);
        // A proposal on the page is never folded into another.
        let leader = folded
            .iter_mut()
            .find(|(_, leader, of)| of.proposal.shares_file(proposal) && leader.is_same(&statement));
        match leader.filter(|_| !on_page.contains(&proposal.id)) {
            Some((_, _, leader)) => leader.duplicates.push(proposal.id),
            None => folded.push((place, statement, FoldedProposal { proposal, duplicates: Vec::new() })),
        }
    }
    folded.sort_by_key(|(place, ..)| *place);
    folded.into_iter().map(|(_, _, folded)| folded).collect()
}

/// The number of `ranked` proposals to show: those on the page stay, and the best others fill the daily
/// limit. A limit of 0 shows all.
pub fn select_asked<'a>(
    ranked: &[FoldedProposal<'a>],
    on_page: &HashSet<ProposalId>,
    per_day: usize,
    decided_today: usize,
) -> Vec<FoldedProposal<'a>> {
    let mut free = match per_day {
        0 => usize::MAX,
        per_day => {
            let seen = ranked.iter().filter(|folded| on_page.contains(&folded.proposal.id)).count();
            per_day.saturating_sub(decided_today).saturating_sub(seen)
        }
    };
    let mut asked = Vec::new();
    for folded in ranked {
        let seen = on_page.contains(&folded.proposal.id);
        if seen || free > 0 {
            free -= usize::from(!seen && per_day > 0);
            asked.push(folded.clone());
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{now, proposal};

    fn numbers(folded: &[FoldedProposal<'_>]) -> Vec<u32> {
        folded.iter().map(|folded| folded.proposal.id.number).collect()
    }

    #[test]
    fn b_07_the_most_valuable_comes_first() {
        let plain = proposal(1, "Use tabs for indentation in Makefiles.");
        let mut often = proposal(2, "Deploys go through the staging cluster first.");
        often.evidence.sessions = ["a", "b", "c"].map(str::to_owned).to_vec();
        let sure = Proposal { confidence: 0.95, ..proposal(3, "Reviews need two people for migrations.") };
        let old = Proposal {
            created: now() - jiff::SignedDuration::from_hours(20 * 24),
            ..proposal(4, "The printer on floor two speaks IPP.")
        };
        let changes = Proposal {
            supersedes: Some("The port is 1.".to_owned()),
            ..proposal(5, "The gateway listens on port 8443.")
        };
        let strange =
            Proposal { origin: Origin::Tool, ..proposal(6, "Vendored crates live below third_party.") };
        let all = [plain, often, sure, old, changes, strange];
        let order = numbers(&rank_proposals(&all, &HashSet::new(), now()));
        let place = |number| order.iter().position(|n| *n == number).unwrap();
        for better in [2, 3, 5] {
            assert!(place(better) < place(1), "{better} in {order:?}");
        }
        for worse in [4, 6] {
            assert!(place(worse) > place(1), "{worse} in {order:?}");
        }
    }

    #[test]
    fn b_07_near_duplicates_are_one_question() {
        let sure =
            Proposal { confidence: 0.9, ..proposal(2, "Always run the tests with the release profile.") };
        let all = [
            proposal(1, "Always run tests with the release profile"),
            sure,
            proposal(3, "The queue lives in SQLite."),
        ];
        let unseen = rank_proposals(&all, &HashSet::new(), now());
        assert_eq!(numbers(&unseen), [2, 3]);
        assert_eq!(unseen[0].duplicates, [all[0].id]);
        let seen = rank_proposals(&all, &HashSet::from([all[0].id]), now());
        assert_eq!((numbers(&seen), &seen[0].duplicates), (vec![1, 3], &vec![all[1].id]));
    }

    #[test]
    fn the_daily_limit_keeps_proposals_already_shown() {
        let texts = ["alpha one two", "beta three four", "gamma five six", "delta seven eight"];
        let all: Vec<Proposal> = texts.iter().zip(1..).map(|(text, number)| proposal(number, text)).collect();
        let ranked = rank_proposals(&all, &HashSet::new(), now());
        let none = HashSet::new();
        assert_eq!(numbers(&select_asked(&ranked, &none, 2, 0)), [1, 2]);
        assert_eq!(numbers(&select_asked(&ranked, &none, 2, 1)), [1]);
        assert_eq!(numbers(&select_asked(&ranked, &none, 2, 9)), [] as [u32; 0]);
        assert_eq!(numbers(&select_asked(&ranked, &none, 0, 9)), [1, 2, 3, 4]);
        let seen = HashSet::from([all[3].id]);
        assert_eq!(numbers(&select_asked(&ranked, &seen, 2, 0)), [1, 4]);
        assert_eq!(numbers(&select_asked(&ranked, &seen, 1, 1)), [4], "what is on the page does not vanish");
    }
}
