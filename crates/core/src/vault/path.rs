//! Paths inside of the vault, and the slugs they consist of. A [`VaultPath`] cannot leave the vault: it
//! cannot contain `..`, a root, a device name or a component that some file system would refuse (VLT-07).

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::base::hash::ContentHash;

/// The maximum length of a slug in bytes. A file name may have 255; archive dates, conflict marks and
/// temporary names need room.
pub const MAX_SLUG_BYTES: usize = 120;
/// The maximum length of a name in bytes on common file systems.
pub const MAX_NAME_BYTES: usize = 255;

/// Device names on Windows, reserved with any extension. A synced vault may reach Windows.
const WINDOWS_DEVICE_NAMES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The reason why a name or path was rejected.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Without unsafe characters nothing is left of the name.
    #[error("{what} `{given}` has no letters or digits for a file name")]
    Empty {
        /// The name of the argument.
        what: &'static str,
        /// The text as typed.
        given: String,
    },
    /// The path is not a valid vault path.
    #[error("`{given}` is not a path inside the vault: {why}")]
    Outside {
        /// The text as typed.
        given: String,
        /// The reason in words.
        why: &'static str,
    },
}

/// A slug: lower-case letters, digits and single hyphens. It is safe as a file name on every system, never
/// hidden, never a device. Letters of any script are kept, composed (NFC), so that a title has the same slug
/// everywhere.
pub fn slug(what: &'static str, given: &str) -> Result<String, Error> {
    let mut slug = String::with_capacity(given.len());
    for c in given.nfc().flat_map(char::to_lowercase).nfc() {
        if c.is_alphanumeric() || (is_mark(c) && !slug.is_empty() && !slug.ends_with('-')) {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    while slug.ends_with('-') {
        slug.pop();
    }
    if slug.is_empty() {
        return Err(Error::Empty { what, given: given.chars().take(40).collect() });
    }
    if slug.len() > MAX_SLUG_BYTES {
        // Two long titles with the same start must not share a file.
        let mark = ContentHash::of_bytes(slug.as_bytes()).short_hex(8);
        let mut end = MAX_SLUG_BYTES - mark.len() - 1;
        while !slug.is_char_boundary(end) {
            end -= 1;
        }
        slug.truncate(end);
        slug = format!("{}-{mark}", slug.trim_end_matches('-'));
    }
    if is_device(&slug) {
        slug.push_str("-memory");
    }
    Ok(slug)
}

/// True for combining marks, which belong to the letter before them in scripts without composed forms.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    WINDOWS_DEVICE_NAMES.iter().any(|device| device.eq_ignore_ascii_case(stem))
}

/// The form in which two names are equal on a file system that ignores case or composition.
pub fn fold_name(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// A relative path with `/` as separator that stays below its base folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VaultPath(String);

impl VaultPath {
    /// Validates a path from a person or a file.
    pub fn parse(given: &str) -> Result<Self, Error> {
        let refuse = |why| Err(Error::Outside { given: given.chars().take(200).collect(), why });
        if given.is_empty() {
            return refuse("it is empty");
        }
        if given.starts_with(['/', '\\', '~']) {
            return refuse("it is absolute");
        }
        for part in given.split('/') {
            match part {
                "" => return refuse("it has an empty component"),
                "." | ".." => return refuse("it has a `.` or `..` component"),
                _ if part.len() > MAX_NAME_BYTES => return refuse("a name in it is longer than 255 bytes"),
                _ if part.contains(|c: char| c.is_control() || matches!(c, '\\' | ':')) => {
                    return refuse("a name in it has a control character, a backslash or a colon");
                }
                _ if part.ends_with(['.', ' ']) => return refuse("a name in it ends with a dot or a space"),
                _ if is_device(part) => return refuse("a name in it is a device on some systems"),
                _ => {}
            }
        }
        Ok(Self(given.to_owned()))
    }

    /// Builds a path from valid parts: constants of the layout and slugs.
    pub(super) fn from_parts(parts: &[&str]) -> Self {
        Self(parts.join("/"))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parts of the path, from the top.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The parent folder; empty at the top.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name without `.md`.
    pub fn stem(&self) -> &str {
        self.name().strip_suffix(".md").unwrap_or(self.name())
    }

    /// The path of another name in the same folder. The name must be valid for [`VaultPath::parse`].
    pub fn with_name(&self, name: &str) -> Result<Self, Error> {
        match self.folder() {
            "" => Self::parse(name),
            folder => Self::parse(&format!("{folder}/{name}")),
        }
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for VaultPath {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<VaultPath> for String {
    fn from(path: VaultPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slugs_are_made_safe() {
        let made = |text| slug("slug", text).unwrap();
        assert_eq!(made("Redis TTLs: 30 days!"), "redis-ttls-30-days");
        assert_eq!(made("../../etc/passwd"), "etc-passwd");
        assert_eq!(made("Grüße"), "grüße");
        assert_eq!(made("Gru\u{308}ße"), "grüße");
        assert_eq!(made("設定"), "設定");
        assert_eq!(made("CON"), "con-memory");
        assert_eq!(made("fix 🚀 deploy"), "fix-deploy");
        assert!(slug("slug", "🚀🔥").is_err());
        assert!(slug("slug", "..").is_err());
    }

    #[test]
    fn long_slugs_that_begin_alike_stay_apart() {
        let long = "a".repeat(300);
        let one = slug("slug", &format!("{long}1")).unwrap();
        let two = slug("slug", &format!("{long}2")).unwrap();
        assert_ne!(one, two);
        assert!(one.len() <= MAX_SLUG_BYTES && two.len() <= MAX_SLUG_BYTES);
    }

    #[test]
    fn vlt_07_paths_stay_inside() {
        for bad in [
            "",
            "/etc/passwd",
            "../x.md",
            "a/../../x.md",
            "a//b.md",
            "~/x",
            "a\\b",
            "C:/x",
            "a/nul.md",
            "x./y",
            "a/\u{0}",
        ] {
            assert!(VaultPath::parse(bad).is_err(), "{bad:?}");
        }
        assert!(VaultPath::parse(&"x".repeat(256)).is_err());
        let good = VaultPath::parse("personal-private/fix/a b (conflicted copy).md").unwrap();
        assert_eq!((good.folder(), good.stem()), ("personal-private/fix", "a b (conflicted copy)"));
    }

    proptest! {
        #[test]
        fn a_slug_is_a_good_path_and_its_own_slug(text in any::<String>()) {
            if let Ok(made) = slug("slug", &text) {
                prop_assert!(made.len() <= MAX_SLUG_BYTES + "-memory".len());
                prop_assert!(VaultPath::parse(&format!("{made}.md")).is_ok(), "{made:?}");
                prop_assert_eq!(slug("slug", &made).unwrap(), made);
            }
        }
    }
}
