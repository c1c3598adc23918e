//! `REVIEW.md`: the queue of proposals as a page of checkboxes (REV-02), and the person's decisions on it
//! (REV-03).

mod carry_over;
mod diff;
mod id;
mod parse;
mod render;
#[cfg(test)]
mod tests;
mod update;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::as_text;
use super::escape::{normalise_line, normalise_text};
use crate::base::hash::ContentHash;
use crate::base::scope::ProjectId;
use crate::base::time::{day, format_utc};

pub use carry_over::{CarriedPage, CarryError, carry_page};
pub use diff::{DecidedProposal, PageDecision, PageDoubt, RejectionMark, ReviewDecisions, diff};
pub use id::{MachineId, ProposalId, ProposalIdError, ProposalStage};
pub use parse::{CheckboxState, PageEntry, PageFooter, ParsedPage, parse};
pub use render::render;
pub use update::{Error, update};

/// The heading for questions about the global scope.
pub const EVERY_PROJECT: &str = "Every project";

/// The destination of a proposal, which is also its heading on the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalPlace {
    /// A section of `MEMORY.md`.
    Section(String),
    /// A fix for a friction, by the day of its detection (FRI-06).
    Friction(#[serde(with = "as_text")] Date),
}

/// One proposal as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedProposal {
    /// The id, by which its line is recognised.
    pub id: ProposalId,
    /// The destination of the proposal.
    pub place: ProposalPlace,
    /// A title of a few words.
    pub title: String,
    /// The text to promote.
    pub text: String,
    /// The project in which it applies unless the person decides otherwise; `None` means everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

/// The content of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPage {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The reviewer's calendar day.
    #[serde(with = "as_text")]
    pub date: Date,
    /// The time at which the page was written.
    #[serde(with = "as_text")]
    pub updated: Timestamp,
    /// Today's proposals, best first.
    pub proposals: Vec<ListedProposal>,
    /// The number of further proposals that wait.
    #[serde(default)]
    pub later: usize,
}

/// The recorded state of a page. The caller stores it, so that a deleted line can be told from one that never
/// existed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPage {
    /// The version in the page's footer.
    pub version: String,
    /// The proposals on the page.
    pub proposals: Vec<ListedProposal>,
}

impl ListedProposal {
    /// The proposal as it parses from a page: a title on one line, and a tidy text.
    pub fn normalised(&self) -> Self {
        let place = match &self.place {
            ProposalPlace::Section(name) => ProposalPlace::Section(normalise_line(name)),
            ProposalPlace::Friction(date) => ProposalPlace::Friction(*date),
        };
        let project = self.project.clone();
        Self {
            id: self.id,
            place,
            title: normalise_line(&self.title),
            text: normalise_text(&self.text),
            project,
        }
    }
}

impl ReviewPage {
    /// The number of waiting proposals, on the page or not.
    pub fn pending_count(&self) -> usize {
        self.proposals.len() + self.later
    }

    /// The proposals in page order: tidied, and grouped by the first appearance of each group.
    pub fn listed_proposals(&self) -> Vec<ListedProposal> {
        let mut groups: Vec<Vec<ListedProposal>> = Vec::new();
        for proposal in self.proposals.iter().map(ListedProposal::normalised) {
            match groups.iter_mut().find(|group| group[0].place == proposal.place) {
                Some(group) => group.push(proposal),
                None => groups.push(vec![proposal]),
            }
        }
        groups.concat()
    }

    /// The state of a page with this queue.
    pub fn shown_page(&self) -> ShownPage {
        let proposals = self.listed_proposals();
        let mut parts = vec![format_utc(self.updated)];
        for proposal in &proposals {
            let place = match &proposal.place {
                ProposalPlace::Section(name) => name.clone(),
                ProposalPlace::Friction(date) => day(*date),
            };
            parts.extend([proposal.id.to_string(), place, proposal.title.clone(), proposal.text.clone()]);
            parts.extend(proposal.project.as_ref().map(ProjectId::to_string));
        }
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        ShownPage { version: ContentHash::of_parts(&parts).short_hex(16), proposals }
    }
}
