//! Renamed proposal ids. Two machines may assign the same id before they first sync; then each appends its
//! own letters (REV-01). A page written before that still has the old id.

use std::collections::HashMap;

use super::diff::is_unchanged;
use super::parse::{PageEntry, parse};
use super::{ListedProposal, ProposalId, ShownPage};
use crate::vault::lines::splice;

/// A map from old ids to new ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenamedIds(HashMap<ProposalId, ProposalId>);

impl FromIterator<(ProposalId, ProposalId)> for RenamedIds {
    fn from_iter<I: IntoIterator<Item = (ProposalId, ProposalId)>>(ids: I) -> Self {
        Self(ids.into_iter().collect())
    }
}

impl RenamedIds {
    /// The current id for an id on a page.
    pub fn now(&self, id: ProposalId) -> ProposalId {
        self.0.get(&id).copied().unwrap_or(id)
    }

    /// A recorded page state with current ids.
    pub fn shown(&self, shown: &ShownPage) -> ShownPage {
        let proposals = shown.proposals.iter();
        let proposals = proposals.map(|one| ListedProposal { id: self.now(one.id), ..one.clone() }).collect();
        ShownPage { version: shown.version.clone(), proposals }
    }

    /// The page `text` with current ids on our own lines: lines in the recorded state, and lines with the
    /// words of a waiting proposal of ours. A line of another machine with the same id stays as it is.
    pub fn page(&self, text: &str, shown: Option<&ShownPage>, waiting: &[ListedProposal]) -> String {
        let mut changed = text.to_owned();
        let Ok(page) = parse(text) else { return changed };
        // From the end, so that earlier positions stay valid.
        for entry in page.entries.iter().rev() {
            let new = self.now(entry.id);
            if new == entry.id || !is_ours(entry, new, &page.entries, shown, waiting) {
                continue;
            }
            let old = entry.id.to_string();
            if let Some(at) = text[entry.range.clone()].find(&old).map(|at| entry.range.start + at) {
                changed = splice(&changed, at..at + old.len(), &new.to_string());
            }
        }
        changed
    }
}

fn is_ours(
    entry: &PageEntry,
    new: ProposalId,
    all: &[PageEntry],
    shown: Option<&ShownPage>,
    waiting: &[ListedProposal],
) -> bool {
    let was_shown = shown.and_then(|shown| shown.proposals.iter().find(|one| one.id == entry.id));
    let alone = all.iter().filter(|other| other.id == entry.id).count() == 1;
    was_shown.is_some_and(|one| alone || is_unchanged(one, entry))
        || waiting.iter().any(|one| one.id == new && is_unchanged(&one.tidied(), entry))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::{ProposalPlace, ReviewPage, render};
    use super::*;

    fn proposal(id: &str, text: &str) -> ListedProposal {
        let place = ProposalPlace::Section("Patterns".to_owned());
        ListedProposal {
            id: id.parse().unwrap(),
            place,
            title: "Title".to_owned(),
            text: text.to_owned(),
            project: None,
        }
    }

    fn queue(proposals: Vec<ListedProposal>) -> ReviewPage {
        let day = date(2026, 11, 15);
        let updated = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
        ReviewPage { reviewer: "Ada".to_owned(), date: day, updated, proposals, later: 0 }
    }

    #[test]
    fn rev_01_our_lines_get_the_new_id_and_no_other() {
        let (old, new) = ("p-20261115-001", "p-20261115-001-k7qe");
        let renamed: RenamedIds = [(old.parse().unwrap(), new.parse().unwrap())].into_iter().collect();
        let ours = queue(vec![proposal(old, "Use tabs."), proposal("p-20261115-002", "Use make.")]);
        let page = render(&ours).replace("- [ ] `p-20261115-001`", "- [x] `p-20261115-001`");
        let now = renamed.page(&page, Some(&ours.shown()), &[]);
        assert_eq!(now, page.replace(old, new), "its tick stays");
        let reworded = page.replace("Use tabs.", "Use four blanks.");
        assert!(renamed.page(&reworded, Some(&ours.shown()), &[]).contains(new), "the person reworded it");
        assert_eq!(renamed.shown(&ours.shown()).proposals[0].id.to_string(), new);

        let theirs = render(&queue(vec![proposal(old, "Use spaces.")]));
        let waiting = [proposal(new, "Use tabs.")];
        assert_eq!(renamed.page(&theirs, None, &waiting), theirs, "another machine's line");
        assert!(renamed.page(&page, None, &waiting).contains(new), "ours, on a page that another one wrote");
        // Both lines, as a merge leaves them.
        let line = theirs.lines().find(|line| line.contains(old)).unwrap();
        let both = page.replace("## Proposed for", &format!("{line}\n\n## Proposed for"));
        let now = renamed.page(&both, Some(&ours.shown()), &[]);
        assert!(now.contains(line) && now.contains(&format!("- [x] `{new}`")), "{now}");
        assert_eq!(RenamedIds::default().page(&both, Some(&ours.shown()), &waiting), both);
    }
}
