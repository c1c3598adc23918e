//! Other places in which a person may be asked about proposals, and answer (REV-05…REV-08). The store is the truth (REV-04);
//! what is sent elsewhere is a view of it, and what comes back is a wish.

pub mod signature;
pub mod telegram;
pub mod todoist;

use serde::{Deserialize, Serialize};

use crate::base::decided_by::By;
use crate::knowledge::proposal::Proposal;
use crate::text::admit;
use crate::text::clean::one_line;

/// The longest name of a section that is sent, in characters.
const SECTION_CHARS: usize = 100;
/// The most quotations of one proposal that are sent.
const QUOTES: usize = 3;
/// The most characters of a quotation.
const QUOTE_CHARS: usize = 160;

/// A place other than this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// A task for each proposal.
    Todoist,
    /// A message with two buttons for each.
    Telegram,
}

impl Surface {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Todoist, Self::Telegram];

    /// The word in settings, in the store and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Todoist => "todoist",
            Self::Telegram => "telegram",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Todoist => "Todoist",
            Self::Telegram => "Telegram",
        }
    }

    /// By which way a decision came that was made there.
    pub fn by(self) -> By {
        match self {
            Self::Todoist => By::Todoist,
            Self::Telegram => By::Telegram,
        }
    }
}

/// A proposal as a question. What leaves the machine is made of this alone, and everything in it is clean and without
/// secrets.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// What would be written.
    pub text: &'a str,
}

impl Question<'_> {
    /// What would be written, as it may leave.
    fn words(&self) -> String {
        admit(self.text).text.trim().to_owned()
    }

    /// Where it would go.
    pub fn section(&self) -> String {
        one_line(&admit(&self.proposal.aim()).text, SECTION_CHARS)
    }

    /// The line that it would take the place of, as it may leave.
    fn instead_of(&self) -> Option<String> {
        self.proposal.supersedes.as_ref().map(|old| one_line(&admit(old).text, QUOTE_CHARS))
    }

    /// How the person makes it so, if a yes is not all of it (IDN-05).
    fn last_step(&self) -> Option<String> {
        let file = self.proposal.identity()?;
        Some(format!(
            "A yes makes a patch of it; `rekindle review apply {}` changes {file}.",
            self.proposal.id
        ))
    }

    /// What it rests on, short.
    fn quotes(&self) -> Vec<String> {
        let quotes = self.proposal.evidence.quotes.iter().take(QUOTES);
        quotes.map(|quote| one_line(&admit(quote).text, QUOTE_CHARS)).collect()
    }
}

/// What a person wants to become of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It should be remembered as it is.
    Approve,
    /// It should be remembered in these words.
    Edit(String),
    /// It should not.
    Reject,
}

#[cfg(test)]
pub(crate) fn sample(text: &str) -> Proposal {
    use crate::knowledge::proposal::Evidence;
    let evidence = Evidence {
        sessions: vec!["s1".to_owned(), "s2".to_owned()],
        quotes: vec!["From now on\nuse tabs".to_owned()],
        ..Evidence::default()
    };
    Proposal { evidence, ..crate::fixtures::proposal(7, text) }
}
