//! Proposals for an agent's new version of a memory that needs the person's approval.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Zoned;
use rekindle_core::knowledge::proposal::revision::revision;
use rekindle_core::knowledge::proposal::{Evidence, Proposal, Source, Target, instead_of};
use rekindle_core::text::admit;
use rekindle_core::vault::entry::Entry;
use rekindle_core::vault::frontmatter::Note;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::review::{Id, Kind, Place};

use super::{Handed, hand_in};
use crate::jobs::queue::{Registry, StepError};
use crate::platform::db::Db;
use crate::vault::Vault;

/// Proposes that the memory at `path` says `body`. Returns the proposal's id, and true if it waits: a
/// rejected version stays rejected. `session` is the agent's session.
pub fn revise(
    db: &mut Db,
    registry: &Registry,
    vault: &Vault,
    path: &VaultPath,
    (body, reason): (&str, &str),
    session: &str,
    now: &Zoned,
) -> Result<(Id, bool), StepError> {
    let read = vault.read_entry(path).map_err(StepError::passing)?;
    let note = Note::parse(&read.text).map_err(StepError::fatal)?;
    let revision = revision(note.body(), &admit(body).text).map_err(StepError::fatal)?;
    let title = revision.supersedes.as_deref().map(instead_of);
    let id = Id::uncounted(Kind::Reflection, now.date());
    let place = Place::Section(path.to_string());
    let evidence = Evidence {
        sessions: vec![session.to_owned()],
        quotes: vec![admit(reason).text],
        ..Evidence::default()
    };
    let project = Entry::of(&note, path).scope.project().cloned();
    let new = Proposal::new(id, Source::Supersede, place, Origin::Agent, revision.text, now.timestamp());
    let title = title.unwrap_or_else(|| new.title.clone());
    let target = Some(Target::Entry(path.to_string()));
    let new = Proposal {
        target,
        title,
        supersedes: revision.supersedes,
        confidence: 0.5,
        evidence,
        project,
        ..new
    };
    match hand_in(db, registry, session, &[new])?.first() {
        Some(Handed::Proposed(id) | Handed::Folded(id)) => Ok((*id, true)),
        Some(Handed::Decided(id, _)) => Ok((*id, false)),
        None => Err(StepError::fatal("a proposal was handed in and none came back")),
    }
}
