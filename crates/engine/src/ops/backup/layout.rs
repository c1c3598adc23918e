//! The names of files in a backup, and their places on this machine.

use std::path::{Component, Path, PathBuf};

use crate::platform::home::{DataPaths, HomeFolder};

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const IDEAS: &str = "notes/Ideas.md";
pub(super) const CONFIG: &str = "config.toml";
pub(super) const DATABASE: &str = "state/rekindle.db";
/// The settings file with the values that belong to one machine.
pub(super) const DEVICE_CONFIG: &str = "device/config.toml";
/// The projects and their folders.
pub(super) const DEVICE_PROJECTS: &str = "device/projects.json";
/// The folders that are backed up with everything below them.
pub(super) const VAULT: &str = "vault";
pub(super) const IDENTITY: &str = "identity";
pub(super) const MESSAGES: &str = "state/messages";
/// The index of the messages: derived.
pub(super) const MESSAGES_INDEX: &str = "index";

/// The place of each part of a backup.
#[derive(Clone, Copy)]
pub(super) struct BackupLayout<'a> {
    pub(super) home: &'a HomeFolder,
    pub(super) places: &'a DataPaths,
}

impl BackupLayout<'_> {
    /// The folders, with their names in a backup.
    pub(super) fn folders(&self) -> [(&'static str, PathBuf); 3] {
        [
            (VAULT, self.places.vault().to_owned()),
            (IDENTITY, self.places.identity().to_owned()),
            (MESSAGES, self.places.messages()),
        ]
    }

    /// The single files that are copied as they are, with their names in a backup.
    pub(super) fn files(&self) -> [(&'static str, PathBuf); 6] {
        [
            (IDEAS, self.places.notes().join("Ideas.md")),
            ("state/journal.jsonl", self.places.journal_file()),
            ("state/usage.jsonl", self.places.usage()),
            ("state/eval.jsonl", self.places.evaluations_file()),
            (DEVICE_CONFIG, self.home.config_file()),
            (DEVICE_PROJECTS, self.places.projects_file()),
        ]
    }

    /// The place of a file of a backup on this machine; `None` if no backup has such a file.
    pub(super) fn place(&self, name: &str) -> Option<PathBuf> {
        match name {
            CONFIG => return Some(self.home.config_file()),
            DATABASE => return Some(self.places.database()),
            _ => {}
        }
        if let Some((_, place)) = self.files().into_iter().find(|(file, _)| *file == name) {
            return Some(place);
        }
        self.folders().into_iter().find_map(|(folder, place)| {
            let rest = Path::new(name.strip_prefix(folder)?.strip_prefix('/')?);
            // A crafted backup must not write anywhere else.
            let is_inside = rest.components().all(|part| matches!(part, Component::Normal(_)));
            (is_inside && rest.components().next().is_some()).then(|| place.join(rest))
        })
    }
}

#[cfg(test)]
mod tests {
    use rekindle_core::config::{ConfigLayers, load};

    use super::*;

    /// OPS-05: a crafted name cannot leave the folders of a backup.
    #[test]
    fn ops_05_names_stay_inside_their_folders() {
        let none = ConfigLayers { flags: &[], variables: &|_| None, project: None, user: None };
        let home = HomeFolder::find_with(Some(Path::new("/r")), None, None).unwrap();
        let places = home.data_paths(&load(&none).unwrap().config).unwrap();
        let layout = BackupLayout { home: &home, places: &places };
        assert_eq!(
            layout.place("vault/memory/2026-11-19.md"),
            Some("/r/vault/MemoryVault/memory/2026-11-19.md".into())
        );
        assert_eq!(layout.place("config.toml"), Some("/r/config.toml".into()));
        for name in [
            "vault/../../etc/passwd",
            "vault//etc/passwd",
            "/etc/passwd",
            "vault/",
            "vault",
            "state/locks/x",
            "..",
            "",
        ] {
            assert_eq!(layout.place(name), None, "{name}");
        }
    }
}
