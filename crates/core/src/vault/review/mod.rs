//! `REVIEW.md`: the queue of proposals as a page of checkboxes (REV-02), and what a person did to it (REV-03).

mod carry;
mod diff;
mod id;
mod parse;
mod renamed;
mod render;
#[cfg(test)]
mod tests;
mod update;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::as_text;
use super::escape::{tidy, tidy_line};
use crate::base::hash::ContentHash;
use crate::base::scope::ProjectId;
use crate::base::time::{day, iso};

pub use carry::{Carried, Left, carry};
pub use diff::{Decided, Decision, Decisions, Doubt, How, diff};
pub use id::{Id, Kind, Machine, NotAnId};
pub use parse::{Entry, Footer, Parsed, State, parse};
pub use renamed::Renamed;
pub use render::render;
pub use update::{Error, update};

/// The heading for the question whether something holds in every project.
pub const EVERY_PROJECT: &str = "Every project";

/// Where a proposal would go, which is also the heading it is listed under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A section of `MEMORY.md`.
    Section(String),
    /// A fix for something that keeps going wrong, by the day it was detected (FRI-06).
    Friction(#[serde(with = "as_text")] Date),
}

/// One proposal as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id, which is how we know the line again.
    pub id: Id,
    /// Where it would go.
    pub place: Place,
    /// A few words.
    pub title: String,
    /// What would be promoted.
    pub text: String,
    /// The project in which it would hold unless the person says otherwise; none is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

/// Everything a page shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Who is asked.
    pub reviewer: String,
    /// Their day.
    #[serde(with = "as_text")]
    pub date: Date,
    /// When the page was written.
    #[serde(with = "as_text")]
    pub updated: Timestamp,
    /// What is asked today, in the order of its worth.
    pub proposals: Vec<Proposal>,
    /// How many more wait behind the page.
    #[serde(default)]
    pub later: usize,
}

/// What the page last showed: kept by the caller, so that a missing line can be told from one that never was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The version that the page carries in its footer.
    pub version: String,
    /// The proposals on it.
    pub proposals: Vec<Proposal>,
}

impl Proposal {
    /// The proposal as it reads back from a page: one line of title, clean lines of text.
    pub fn tidied(&self) -> Self {
        let place = match &self.place {
            Place::Section(name) => Place::Section(tidy_line(name)),
            Place::Friction(date) => Place::Friction(*date),
        };
        let project = self.project.clone();
        Self { id: self.id, place, title: tidy_line(&self.title), text: tidy(&self.text), project }
    }
}

impl Queue {
    /// How many proposals wait, on the page or behind it.
    pub fn pending(&self) -> usize {
        self.proposals.len() + self.later
    }

    /// The proposals as a page lists them: tidied, and group by group in the order in which groups first appear.
    pub fn listed(&self) -> Vec<Proposal> {
        let mut groups: Vec<Vec<Proposal>> = Vec::new();
        for proposal in self.proposals.iter().map(Proposal::tidied) {
            match groups.iter_mut().find(|group| group[0].place == proposal.place) {
                Some(group) => group.push(proposal),
                None => groups.push(vec![proposal]),
            }
        }
        groups.concat()
    }

    /// What the page of this queue shows.
    pub fn shown(&self) -> Shown {
        let proposals = self.listed();
        let mut parts = vec![iso(self.updated)];
        for proposal in &proposals {
            let place = match &proposal.place {
                Place::Section(name) => name.clone(),
                Place::Friction(date) => day(*date),
            };
            parts.extend([proposal.id.to_string(), place, proposal.title.clone(), proposal.text.clone()]);
            parts.extend(proposal.project.as_ref().map(ProjectId::to_string));
        }
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        Shown { version: ContentHash::of_parts(&parts).short(16), proposals }
    }
}
