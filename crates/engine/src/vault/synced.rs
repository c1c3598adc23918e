//! Whether a program brings a folder to other machines: then ids say from the first one on who gave them (REV-01, B-16).

use std::path::Path;

use crate::project;

/// Folders of such programs, in lower case. What they call them on a system may begin so and go on.
const NAMES: [&str; 11] = [
    "dropbox",
    "onedrive",
    "google drive",
    "googledrive",
    "my drive",
    "icloud drive",
    "mobile documents",
    "com~apple~clouddocs",
    "nextcloud",
    "owncloud",
    "pcloud",
];
/// What such programs, or those inside a note app, leave in the folders that they bring elsewhere.
const MARKS: [&str; 8] = [
    ".stfolder",
    ".dropbox",
    ".dropbox.cache",
    ".nextcloudsync.log",
    ".owncloudsync.log",
    ".obsidian/plugins/obsidian-git",
    ".obsidian/plugins/obsidian-livesync",
    ".obsidian/plugins/remotely-save",
];

/// Whether `folder`, links resolved, lies where such a program sees it, or git brings it elsewhere.
pub(super) fn is_synced(folder: &Path) -> bool {
    let seen = folder.ancestors().any(|above| {
        let name = above.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        NAMES.iter().any(|known| is_named(&name, known)) || MARKS.iter().any(|mark| above.join(mark).exists())
    });
    seen || project::has_remote(folder)
}

/// `OneDrive - Acme` is OneDrive, `dropboxes` is not Dropbox.
fn is_named(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    #[test]
    fn rev_01_folders_that_are_synced_are_known_by_name_or_mark() {
        for name in ["Dropbox", "OneDrive - Acme", "Nextcloud", "Google Drive"] {
            assert!(is_synced(&Path::new("/home/ada").join(name).join("notes/MemoryVault")), "{name}");
        }
        for name in ["dropboxes", "notes", "Sync my drive"] {
            assert!(!is_synced(&Path::new("/home/ada").join(name).join("MemoryVault")), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("notes/MemoryVault");
        disk::make_folder(&vault).unwrap();
        assert!(!is_synced(&vault));
        disk::make_folder(&folder.path().join(".stfolder")).unwrap();
        assert!(is_synced(&vault), "Syncthing marks its folders");
    }

    #[test]
    fn rev_01_notes_in_a_repository_with_a_remote_are_synced() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("notes/MemoryVault");
        for made in
            [vault.clone(), folder.path().join("notes/.git/objects"), folder.path().join("notes/.git/refs")]
        {
            disk::make_folder(&made).unwrap();
        }
        let git = |name: &str, text: &str| {
            disk::write_new(&folder.path().join("notes/.git").join(name), text.as_bytes())
        };
        git("HEAD", "ref: refs/heads/main\n").unwrap();
        assert!(!is_synced(&vault), "it stays here");
        git("config", "[remote \"origin\"]\n\turl = git@example.com:ada/notes.git\n").unwrap();
        assert!(is_synced(&vault));
    }
}
