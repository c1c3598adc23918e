//! Turns a new version of a memory into a proposal: the changed line, and its new text.

use thiserror::Error;

use crate::text::normalise::normalise;
use crate::vault::amend::statements;

/// A changed line of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRevision {
    /// The line that it replaces; `None` for an addition.
    pub supersedes: Option<String>,
    /// The text of the new line.
    pub text: String,
}

/// The reason why a new version cannot be a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RevisionError {
    /// The memory already says all of it.
    #[error("the memory already says that")]
    Same,
    /// More than one line would be removed.
    #[error("only the user can change more than one of its lines at once")]
    Several,
}

/// The difference between two versions of a memory.
pub fn line_revision(old: &str, new: &str) -> Result<LineRevision, RevisionError> {
    let (old, new) = (statements(old), statements(new));
    let missing = |from: &[String], among: &[String]| -> Vec<String> {
        let among: Vec<String> = among.iter().map(|one| normalise(one)).collect();
        from.iter().filter(|one| !among.contains(&normalise(one))).cloned().collect()
    };
    let (mut gone, added) = (missing(&old, &new), missing(&new, &old));
    match (gone.len(), added.is_empty()) {
        (_, true) => Err(RevisionError::Same),
        (0 | 1, _) => Ok(LineRevision { supersedes: gone.pop(), text: added.join(" ") }),
        _ => Err(RevisionError::Several),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_01_a_new_version_is_the_line_that_changes() {
        let of = |old: &str, new: &str| line_revision(old, new).map(|one| (one.supersedes, one.text));
        assert_eq!(of("Use tabs.\n", "Use spaces."), Ok((Some("Use tabs.".into()), "Use spaces.".into())));
        let list = "- Use tabs.\n- Never push to main.\n";
        assert_eq!(
            of(list, "- Use tabs.\n- Push to main.\n"),
            Ok((Some("Never push to main.".into()), "Push to main.".into()))
        );
        assert_eq!(of(list, "- Use tabs.\n- Never push to main.\n- Sign.\n"), Ok((None, "Sign.".into())));
        assert_eq!(of(list, "Do as you like.\n"), Err(RevisionError::Several));
        assert_eq!(of("Use tabs.\n", " use tabs\n"), Err(RevisionError::Same));
    }
}
