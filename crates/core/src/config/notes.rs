//! Selects the notes that recall may read.

use serde::{Deserialize, Serialize};

/// The value of `recall.notes`. The vault folder is always read and is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "NotesSetting", into = "NotesSetting")]
pub enum ReadNotes {
    /// Every note may be read.
    All,
    /// Only notes in these folders and below may be read. Each is relative to the notes folder, with `/`. An
    /// empty list means that only the vault is read.
    Folders(Vec<String>),
}

/// The representation in TOML and JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum NotesSetting {
    Word(NotesKeyword),
    Folders(Vec<String>),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NotesKeyword {
    All,
}

impl From<NotesSetting> for ReadNotes {
    fn from(written: NotesSetting) -> Self {
        match written {
            NotesSetting::Word(NotesKeyword::All) => Self::All,
            NotesSetting::Folders(folders) => Self::Folders(folders),
        }
    }
}

impl From<ReadNotes> for NotesSetting {
    fn from(notes: ReadNotes) -> Self {
        match notes {
            ReadNotes::All => Self::Word(NotesKeyword::All),
            ReadNotes::Folders(folders) => Self::Folders(folders),
        }
    }
}

impl ReadNotes {
    /// Parses `all`, `none`, or folders separated by commas or by [`LIST_SEPARATOR`](super::LIST_SEPARATOR).
    /// `None` if one of them is not a folder inside the notes.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "all" => Some(Self::All),
            "" | "none" => Some(Self::Folders(Vec::new())),
            text => Self::from_folders(text.split([',', super::LIST_SEPARATOR])),
        }
    }

    /// Normalises a list of folders. `None` if one of them is not a folder inside the notes.
    pub(super) fn from_folders<'a>(folders: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let tidy = |folder: &str| {
            let folder = folder.trim().trim_end_matches('/');
            is_inside(folder).then(|| folder.to_owned())
        };
        folders.into_iter().map(tidy).collect::<Option<Vec<_>>>().map(Self::Folders)
    }

    /// True if the note at this path may be read. The path is relative to the notes folder, with `/`.
    pub fn is_readable(&self, path: &str) -> bool {
        let is_in = |folder: &String| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
        };
        match self {
            Self::All => true,
            Self::Folders(folders) => folders.iter().any(is_in),
        }
    }
}

/// True if the path stays below the notes folder.
fn is_inside(folder: &str) -> bool {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains('\\') && !part.chars().any(char::is_control)
    };
    folder.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_16_a_readable_folder_includes_its_subfolders_only() {
        let some = ReadNotes::parse("Work/, Private/Recipes").unwrap();
        assert_eq!(some, ReadNotes::Folders(vec!["Work".into(), "Private/Recipes".into()]));
        for path in ["Work/a.md", "Work/deep/b.md", "Private/Recipes/soup.md"] {
            assert!(some.is_readable(path), "{path}");
        }
        for path in ["a.md", "Workshop/a.md", "Work", "Work/", "Private/diary.md", "work/a.md"] {
            assert!(!some.is_readable(path), "{path}");
        }
        assert!(ReadNotes::parse("all").unwrap().is_readable("a.md"));
        for none in ["", "none", " none "] {
            assert!(!ReadNotes::parse(none).unwrap().is_readable("a.md"), "{none}");
        }
        for bad in ["../x", "/etc", "Work,,Home", "Work/../Private", "a\\b", "~/x/.."] {
            assert_eq!(ReadNotes::parse(bad), None, "{bad}");
        }
    }
}
