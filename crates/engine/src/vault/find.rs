//! Finds the memory that a user means by an id, a path or a slug.

use std::path::Path;

use rekindle_core::base::id::EntryId;
use rekindle_core::base::id_match::{IdMatch, by_prefix, similar_names};
use rekindle_core::base::scope::Scope;
use rekindle_core::vault::agent_edit::{AgentEditPermission, agent_edit_permission};
use rekindle_core::vault::entry::EntryProperties;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::ChangedFile;
use rekindle_core::vault::layout::{self, VaultShelf};
use rekindle_core::vault::path::{VaultPath, fold_name};

use super::{Error, ScannedEntry, Vault};
use crate::index::RecallIndex;

impl Vault {
    /// The path of the memory that `reference` names: an id (current or archived), a path (absolute, or
    /// relative to `cwd`, the notes or the vault), a unique slug of a current entry, or the prefix of an id,
    /// current ones first.
    pub fn find(&self, reference: &str, cwd: &Path) -> Result<VaultPath, Error> {
        if let Some(id) = EntryId::parse(reference) {
            return self.find_id(&id);
        }
        if let Some(path) = self.find_path(reference, cwd) {
            return Ok(path);
        }
        let name = fold_name(reference.strip_suffix(".md").unwrap_or(reference));
        match self.scan_named(&name)?.entries.as_slice() {
            [] => {
                let entries = self.scan(false)?.entries;
                match by_beginning(reference, &entries)? {
                    Some(path) => Ok(path),
                    None => self.archived(reference)?.ok_or_else(|| unknown(reference, &entries)),
                }
            }
            [only] => Ok(only.path.clone()),
            several => Err(Error::Ambiguous {
                wanted: reference.to_owned(),
                matches: several.iter().map(|found| found.path.to_string()).collect(),
            }),
        }
    }

    /// The path of the memory that an agent names, and true if the change needs the user's approval. `here`
    /// is the agent's project: it can reach the memories of that project and the global ones, and no other
    /// file (B-01, R-15).
    pub fn find_for_agent(
        &self,
        reference: &str,
        cwd: &Path,
        here: &Scope,
    ) -> Result<(VaultPath, AgentEditPermission), Error> {
        let path = self.find(reference, cwd)?;
        if !layout::shelf_of(&path).holds_memories() {
            return Err(Error::NotAMemory(path.to_string()));
        }
        let read = self.read_entry(&path)?;
        let note = ParsedNote::parse(&read.text);
        let note = note.map_err(|source| Error::Document { path: path.to_string(), source })?;
        match agent_edit_permission(&path, &note, here) {
            AgentEditPermission::OtherProject => Err(Error::OtherProject(path.to_string())),
            edit => Ok((path, edit)),
        }
    }

    /// The archived memory whose id begins with `reference`.
    fn archived(&self, reference: &str) -> Result<Option<VaultPath>, Error> {
        match reference.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("m-")) {
            true => by_beginning(reference, &self.scan(true)?.entries),
            false => Ok(None),
        }
    }

    fn find_id(&self, id: &EntryId) -> Result<VaultPath, Error> {
        if let Some(path) = self.find_indexed_id(id)? {
            return Ok(path);
        }
        let mut matches = self.scan(true)?.entries;
        matches.retain(|found| found.entry.id.as_ref() == Some(id));
        // A manual copy has the id of its original; prefer the current one.
        matches.sort_by_key(|found| found.shelf == VaultShelf::Archive);
        matches.into_iter().next().map(|found| found.path).ok_or_else(|| Error::NotFound(id.to_string()))
    }

    /// The path of the current entry with this id, by the index. `None` if the index does not know it, or does not know
    /// the file as it is now.
    fn find_indexed_id(&self, id: &EntryId) -> Result<Option<VaultPath>, Error> {
        let Ok(Some(snapshot)) = RecallIndex::in_folder(self.places.index()).open() else { return Ok(None) };
        let prefix = format!("{}/", self.folder_name());
        let mut paths: Vec<VaultPath> = snapshot
            .documents_with_id(id.as_str())
            .into_iter()
            .filter_map(|document| VaultPath::parse(document.path.strip_prefix(&prefix)?).ok())
            .filter(|path| !matches!(layout::shelf_of(path), VaultShelf::Archive | VaultShelf::Other))
            .collect();
        paths.sort();
        for path in paths {
            let Some(read) = self.read(&ChangedFile::vault(path.clone()))? else { continue };
            let is_it = |note: ParsedNote<'_>| EntryProperties::of(&note, &path).id.as_ref() == Some(id);
            if ParsedNote::parse(&read.text).is_ok_and(is_it) && !self.graveyard()?.holds_entry(id) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn find_path(&self, reference: &str, cwd: &Path) -> Option<VaultPath> {
        let notes = self.folder().parent().unwrap_or(self.folder());
        [cwd, self.folder(), notes]
            .into_iter()
            .map(|base| base.join(reference))
            .filter_map(|file| file.canonicalize().ok())
            .filter(|file| file.is_file())
            .find_map(|file| self.vault_path(&file))
    }
}

/// The memory whose id begins with `reference`.
fn by_beginning(reference: &str, entries: &[ScannedEntry]) -> Result<Option<VaultPath>, Error> {
    let id = |found: &&ScannedEntry| found.entry.id.as_ref().map(EntryId::as_str).map(str::to_owned);
    let ids: Vec<(String, &VaultPath)> =
        entries.iter().filter_map(|found| Some((id(&found)?, &found.path))).collect();
    let path = |wanted: &str| ids.iter().find(|(id, _)| id == wanted).map(|(_, path)| (*path).clone());
    match by_prefix(reference, ids.iter().map(|(id, _)| id.as_str())) {
        IdMatch::One(id) => path(&id).map(Some).ok_or(Error::NotFound(id)),
        IdMatch::Several(ids) => Err(Error::Ambiguous { wanted: reference.to_owned(), matches: ids }),
        IdMatch::Nothing => Ok(None),
    }
}

/// The error for an unknown reference, with similar names if there are any.
fn unknown(reference: &str, entries: &[ScannedEntry]) -> Error {
    let alike = similar_names(reference, entries.iter().map(|found| found.path.stem()));
    let alike: Vec<String> = alike.into_iter().map(str::to_owned).collect();
    match alike.is_empty() {
        true => Error::NotFound(reference.to_owned()),
        false => Error::Misspelt { wanted: reference.to_owned(), alike },
    }
}
