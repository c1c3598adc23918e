//! A step as reported to tests.

use std::fmt;

/// A system call that changes the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCall {
    /// The name of the system call.
    pub name: &'static str,
    /// The full path that it affects; for a rename or a link the new name.
    pub path: Option<String>,
    /// The old name of a rename or a hard link.
    pub from: Option<String>,
}

impl fmt::Display for DiskCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)?;
        if let Some(from) = &self.from {
            write!(out, " {from} to")?;
        }
        match &self.path {
            Some(path) => write!(out, " {path}"),
            None => Ok(()),
        }
    }
}
