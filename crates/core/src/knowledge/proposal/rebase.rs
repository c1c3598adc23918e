//! Rebases a proposal onto the current `MEMORY.md` (B-07): it follows renamed sections and reworded lines,
//! and reports lost targets.

use std::collections::BTreeSet;

use super::{Proposal, ProposalTarget, replacement_title};
use crate::text::normalise::normalise;
use crate::text::similarity::AnalysedStatement;
use crate::vault::lines::heading_words;
use crate::vault::memory::{MemoryItem, MemorySection, sections};
use crate::vault::review::{ProposalId, ProposalPlace};

/// The heading for lines without a section (REV-15).
const REFLECTED_HEADING: &str = "reflected";

/// The state of a proposal's target.
#[derive(Clone, Debug, PartialEq)]
pub enum RebaseOutcome {
    /// The target is unchanged, or its state is unknown.
    Same,
    /// The target moved, and the proposal follows.
    Moved(Box<Proposal>),
    /// The target is gone; the text says the consequence.
    Lost(String),
}

/// Checks the target of a proposal. `meant_for` returns the original target section of a promoted proposal.
pub fn rebase_proposal(
    proposal: &Proposal,
    memory: &str,
    meant_for: &dyn Fn(ProposalId) -> Option<String>,
) -> RebaseOutcome {
    let Some(name) = proposal.section() else { return RebaseOutcome::Same };
    // A missing document will be created, and an ambiguous one proves nothing.
    let Ok(sections) = sections(memory) else { return RebaseOutcome::Same };
    if sections.is_empty() {
        return RebaseOutcome::Same;
    }
    let (mut moved, mut lost) = (proposal.clone(), None);
    let names_one = matches!(proposal.place, ProposalPlace::Section(_)) || proposal.target.is_some();
    if names_one && !has(&sections, name) {
        match renamed(&sections, name, meant_for) {
            Some(title) if proposal.target.is_some() => moved.target = Some(ProposalTarget::Memory(title)),
            Some(title) => moved.place = ProposalPlace::Section(title),
            None => {
                lost = Some(format!(
                    "MEMORY.md has no section `{name}`; it would go below `Reflected`, with the name"
                ));
            }
        }
    }
    if let Some(old) = &proposal.supersedes {
        let items: Vec<&MemoryItem> = sections.iter().flat_map(|section| &section.items).collect();
        let is_current = |item: &&&MemoryItem| item.superseded.is_none();
        let is_old = |item: &&MemoryItem| normalise(&item.text) == normalise(old);
        if !items.iter().filter(is_current).any(is_old) {
            let statement = AnalysedStatement::from_text(&proposal.text);
            let before = AnalysedStatement::from_text(old);
            let reworded = |item: &&&MemoryItem| {
                let now = AnalysedStatement::from_text(&item.text);
                now.is_same(&before) || now.contradicts(&statement)
            };
            match items.iter().filter(is_current).find(reworded) {
                Some(item) => {
                    if moved.title == replacement_title(old) {
                        moved.title = replacement_title(&item.text);
                    }
                    moved.supersedes = Some(item.text.clone());
                }
                None if items.iter().any(is_old) => {
                    lost = Some(
                        "the line it would take the place of was replaced since; it would stand by itself"
                            .to_owned(),
                    );
                }
                None => {
                    lost = Some(
                        "the line it would take the place of is gone; it would stand by itself".to_owned(),
                    );
                }
            }
        }
    }
    match lost {
        _ if moved != *proposal => RebaseOutcome::Moved(Box::new(moved)),
        Some(why) => RebaseOutcome::Lost(why),
        None => RebaseOutcome::Same,
    }
}

fn has(sections: &[MemorySection], name: &str) -> bool {
    sections.iter().any(|section| heading_words(&section.title) == heading_words(name))
}

/// The section that now holds all lines once meant for `name`: the user renamed it.
fn renamed(
    sections: &[MemorySection],
    name: &str,
    meant_for: &dyn Fn(ProposalId) -> Option<String>,
) -> Option<String> {
    let ours = |item: &MemoryItem| {
        let mut ids = item.ids.iter().filter_map(|id| id.parse::<ProposalId>().ok());
        ids.any(|id| meant_for(id).is_some_and(|meant| heading_words(&meant) == heading_words(name)))
    };
    let holds = |section: &&MemorySection| section.items.iter().any(ours);
    let homes: BTreeSet<&str> = sections.iter().filter(holds).map(|section| section.title.as_str()).collect();
    match homes.into_iter().collect::<Vec<_>>()[..] {
        [home] if heading_words(home) != REFLECTED_HEADING => Some(home.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn proposal(section: &str, text: &str, supersedes: Option<&str>) -> Proposal {
        Proposal {
            place: ProposalPlace::Section(section.to_owned()),
            title: supersedes.map_or_else(|| text.to_owned(), replacement_title),
            supersedes: supersedes.map(str::to_owned),
            ..fixtures::proposal(9, text)
        }
    }

    fn aimed(proposal: &Proposal, memory: &str) -> RebaseOutcome {
        let meant = |id: ProposalId| (id.number < 3).then(|| "Patterns".to_owned());
        rebase_proposal(proposal, memory, &meant)
    }

    #[test]
    fn b_07_a_renamed_section_is_recognised_by_its_lines() {
        let new = proposal("Patterns", "Use make.", None);
        let lines =
            "- Use tabs. <!-- p-20261115-001 user -->\n- Mine.\n- Use rust. <!-- p-20261115-002 user -->\n";
        let memory = |heading: &str| format!("# Memory\n\n## {heading}\n\n{lines}\n## Other\n\n- Else.\n");
        for same in ["Patterns", "patterns", "🧩 Patterns (2026)"] {
            assert_eq!(aimed(&new, &memory(same)), RebaseOutcome::Same, "{same}");
        }
        let RebaseOutcome::Moved(moved) = aimed(&new, &memory("How we work")) else {
            panic!("it was renamed")
        };
        assert_eq!(moved.place, ProposalPlace::Section("How we work".to_owned()));
        let split = memory("One").replace("- Mine.\n", "\n## Two\n\n");
        for lost in [
            split.as_str(),
            "# Memory\n\n## Other\n",
            "## Reflected (2026-11-15)\n\n- Use tabs. <!-- p-20261115-001 user -->\n",
        ] {
            assert!(
                matches!(aimed(&new, lost), RebaseOutcome::Lost(why) if why.contains("no section `Patterns`")),
                "{lost}"
            );
        }
        for unknown in ["", "```\n## Patterns\n"] {
            assert_eq!(aimed(&new, unknown), RebaseOutcome::Same, "{unknown}");
        }
    }

    #[test]
    fn b_07_a_reworded_line_is_followed_and_a_deleted_one_reported() {
        let old = "The gateway listens on port 8080.";
        let new = proposal("Patterns", "The gateway listens on port 8443.", Some(old));
        let memory = |line: &str| format!("# Memory\n\n## Patterns\n\n{line}\n");
        assert_eq!(aimed(&new, &memory(&format!("- (2026-11-01) {old}"))), RebaseOutcome::Same);
        let edited = "The gateway listens on port 8081.";
        let RebaseOutcome::Moved(moved) = aimed(&new, &memory(&format!("- {edited}"))) else {
            panic!("reworded")
        };
        assert_eq!(moved.supersedes.as_deref(), Some(edited));
        assert_eq!(moved.title, replacement_title(edited));
        let gone = aimed(&new, &memory("- Something else."));
        assert!(matches!(gone, RebaseOutcome::Lost(why) if why.contains("is gone")));
    }
}
