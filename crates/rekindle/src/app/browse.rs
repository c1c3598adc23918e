//! Lists memories by filters, and the values that the filters can have.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::base::scope::ProjectId;
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::vault::entry::EntryStatus;
use rekindle_core::vault::layout::VaultShelf;
use rekindle_engine::vault::ScannedEntry;

use super::CommandContext;
use crate::error::CliError;

/// The memories that pass, and the values of all.
pub(crate) struct MemoryListing {
    /// The memories, the newest first.
    pub(crate) found: Vec<ScannedEntry>,
    pub(crate) values: FilterValues,
}

/// The values that memories have.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterValues {
    pub(crate) projects: BTreeSet<ProjectId>,
    /// The kinds with the number of their memories.
    pub(crate) kinds: BTreeMap<String, usize>,
}

/// Lists the memories that pass the filters; `project` is a project's id or nothing for all.
pub(crate) fn list(
    context: &CommandContext<'_>,
    filters: &RecallFilters,
    project: Option<&str>,
) -> Result<MemoryListing, CliError> {
    let scan = context.vault()?.scan(filters.inactive)?;
    let mut values = FilterValues::default();
    for found in &scan.entries {
        values.projects.extend(found.entry.scope.project().cloned());
        if !found.entry.kind.is_empty() {
            *values.kinds.entry(found.entry.kind.clone()).or_default() += 1;
        }
    }
    let mut found: Vec<ScannedEntry> =
        scan.entries.into_iter().filter(|found| passes(found, filters, project)).collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.entry.updated.or(found.entry.created)));
    Ok(MemoryListing { found, values })
}

fn passes(found: &ScannedEntry, filters: &RecallFilters, project: Option<&str>) -> bool {
    let entry = &found.entry;
    let at = entry.created.or(entry.updated);
    let is_active = matches!(entry.status, EntryStatus::Active | EntryStatus::Incubating);
    (filters.inactive || is_active)
        && filters.kinds.iter().all(|kind| entry.kind == *kind)
        && filters.origins.iter().all(|origin| entry.provenance.origin == *origin)
        && filters.since.is_none_or(|since| at.is_some_and(|at| at >= since))
        && filters.until.is_none_or(|until| at.is_some_and(|at| at <= until))
        && filters.reviewed.is_none_or(|wanted| (found.shelf != VaultShelf::Inbox) == wanted)
        && project.is_none_or(|project| entry.scope.is_visible_in(Some(project)))
}
