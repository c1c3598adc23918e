//! Rebases a proposal onto the current `MEMORY.md` (B-07): it follows renamed sections and reworded lines,
//! and reports lost targets.

use std::collections::BTreeSet;

use super::{Proposal, Target, instead_of};
use crate::text::normal::normalised;
use crate::text::similarity::Statement;
use crate::vault::lines::heading_words;
use crate::vault::memory::{Item, Section, sections};
use crate::vault::review::{Id, Place};

/// The heading for lines without a section (REV-15).
const REFLECTED: &str = "reflected";

/// The state of a proposal's target.
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    /// The target is unchanged, or its state is unknown.
    Same,
    /// The target moved, and the proposal follows.
    Moved(Box<Proposal>),
    /// The target is gone; the text says the consequence.
    Lost(String),
}

/// Checks the target of a proposal. `meant_for` returns the original target section of a promoted proposal.
pub fn aim(proposal: &Proposal, memory: &str, meant_for: &dyn Fn(Id) -> Option<String>) -> Aim {
    let Some(name) = proposal.section() else { return Aim::Same };
    // A missing document will be created, and an ambiguous one proves nothing.
    let Ok(sections) = sections(memory) else { return Aim::Same };
    if sections.is_empty() {
        return Aim::Same;
    }
    let (mut moved, mut lost) = (proposal.clone(), None);
    let names_one = matches!(proposal.place, Place::Section(_)) || proposal.target.is_some();
    if names_one && !has(&sections, name) {
        match renamed(&sections, name, meant_for) {
            Some(title) if proposal.target.is_some() => moved.target = Some(Target::Memory(title)),
            Some(title) => moved.place = Place::Section(title),
            None => {
                lost = Some(format!(
                    "MEMORY.md has no section `{name}`; it would go below `Reflected`, with the name"
                ));
            }
        }
    }
    if let Some(old) = &proposal.supersedes {
        let items: Vec<&Item> = sections.iter().flat_map(|section| &section.items).collect();
        let stands = |item: &&&Item| item.superseded.is_none();
        let is_old = |item: &&Item| normalised(&item.text) == normalised(old);
        if !items.iter().filter(stands).any(is_old) {
            let statement = Statement::of(&proposal.text);
            let before = Statement::of(old);
            let reworded = |item: &&&Item| {
                let now = Statement::of(&item.text);
                now.is_same(&before) || now.contradicts(&statement)
            };
            match items.iter().filter(stands).find(reworded) {
                Some(item) => {
                    if moved.title == instead_of(old) {
                        moved.title = instead_of(&item.text);
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
        _ if moved != *proposal => Aim::Moved(Box::new(moved)),
        Some(why) => Aim::Lost(why),
        None => Aim::Same,
    }
}

fn has(sections: &[Section], name: &str) -> bool {
    sections.iter().any(|section| heading_words(&section.title) == heading_words(name))
}

/// The section that now holds all lines once meant for `name`: the user renamed it.
fn renamed(sections: &[Section], name: &str, meant_for: &dyn Fn(Id) -> Option<String>) -> Option<String> {
    let ours = |item: &Item| {
        let mut ids = item.ids.iter().filter_map(|id| id.parse::<Id>().ok());
        ids.any(|id| meant_for(id).is_some_and(|meant| heading_words(&meant) == heading_words(name)))
    };
    let holds = |section: &&Section| section.items.iter().any(ours);
    let homes: BTreeSet<&str> = sections.iter().filter(holds).map(|section| section.title.as_str()).collect();
    match homes.into_iter().collect::<Vec<_>>()[..] {
        [home] if heading_words(home) != REFLECTED => Some(home.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn proposal(section: &str, text: &str, supersedes: Option<&str>) -> Proposal {
        Proposal {
            place: Place::Section(section.to_owned()),
            title: supersedes.map_or_else(|| text.to_owned(), instead_of),
            supersedes: supersedes.map(str::to_owned),
            ..fixtures::proposal(9, text)
        }
    }

    fn aimed(proposal: &Proposal, memory: &str) -> Aim {
        let meant = |id: Id| (id.number < 3).then(|| "Patterns".to_owned());
        aim(proposal, memory, &meant)
    }

    #[test]
    fn b_07_a_section_that_was_renamed_is_followed_by_what_stands_in_it() {
        let new = proposal("Patterns", "Use make.", None);
        let lines =
            "- Use tabs. <!-- p-20261115-001 user -->\n- Mine.\n- Use rust. <!-- p-20261115-002 user -->\n";
        let memory = |heading: &str| format!("# Memory\n\n## {heading}\n\n{lines}\n## Other\n\n- Else.\n");
        for same in ["Patterns", "patterns", "🧩 Patterns (2026)"] {
            assert_eq!(aimed(&new, &memory(same)), Aim::Same, "{same}");
        }
        let Aim::Moved(moved) = aimed(&new, &memory("How we work")) else { panic!("it was renamed") };
        assert_eq!(moved.place, Place::Section("How we work".to_owned()));
        let split = memory("One").replace("- Mine.\n", "\n## Two\n\n");
        for lost in [
            split.as_str(),
            "# Memory\n\n## Other\n",
            "## Reflected (2026-11-15)\n\n- Use tabs. <!-- p-20261115-001 user -->\n",
        ] {
            assert!(
                matches!(aimed(&new, lost), Aim::Lost(why) if why.contains("no section `Patterns`")),
                "{lost}"
            );
        }
        for unknown in ["", "```\n## Patterns\n"] {
            assert_eq!(aimed(&new, unknown), Aim::Same, "{unknown}");
        }
    }

    #[test]
    fn b_07_a_line_that_was_reworded_is_followed_and_one_that_is_gone_is_said() {
        let old = "The gateway listens on port 8080.";
        let new = proposal("Patterns", "The gateway listens on port 8443.", Some(old));
        let memory = |line: &str| format!("# Memory\n\n## Patterns\n\n{line}\n");
        assert_eq!(aimed(&new, &memory(&format!("- (2026-11-01) {old}"))), Aim::Same);
        let edited = "The gateway listens on port 8081.";
        let Aim::Moved(moved) = aimed(&new, &memory(&format!("- {edited}"))) else { panic!("reworded") };
        assert_eq!(moved.supersedes.as_deref(), Some(edited));
        assert_eq!(moved.title, instead_of(edited));
        let gone = aimed(&new, &memory("- Something else."));
        assert!(matches!(gone, Aim::Lost(why) if why.contains("is gone")));
    }
}
