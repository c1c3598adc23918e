//! The only module that opens SQLite: `state/rekindle.db`, with the events, runs and sessions of this
//! machine.
//!
//! Hooks never use it: they write a file to the spool. A writer waits up to ten seconds for another writer;
//! readers never wait (write-ahead log). Every commit is on the disk when it returns.

mod migrations;
mod schema;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use thiserror::Error;

use crate::platform::disk;

pub use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};

/// The longest wait for another writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The size of SQLite's page cache, in KiB.
const CACHE_KIB: i64 = 4096;

/// An error of the database.
#[derive(Debug, Error)]
pub enum Error {
    /// A later version made the file, and this version would damage it.
    #[error(
        "{path} was created by a newer version of Rekindle (schema {found}; this version supports {known})"
    )]
    Newer {
        /// The path of the database.
        path: PathBuf,
        /// The version of the file.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// The folder could not be created.
    #[error("cannot use the folder of {path}: {cause}")]
    Folder {
        /// The path of the database.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: std::io::Error,
    },
    /// SQLite reported an error.
    #[error("{path}: {cause}")]
    Sqlite {
        /// The path of the database.
        path: PathBuf,
        /// The error of SQLite.
        #[source]
        cause: rusqlite::Error,
    },
    /// A row holds a value that this version does not understand.
    #[error("{path} contains an unknown value: {what}")]
    Content {
        /// The path of the database.
        path: PathBuf,
        /// The value that is unknown.
        what: String,
    },
    /// The system returned no random bytes.
    #[error("the system returned no random bytes: {0}")]
    Random(#[source] std::io::Error),
}

impl Error {
    /// True if the file itself is damaged, so that only another file helps.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Sqlite { cause, .. } if is_damaged(cause))
    }

    /// The advice to the user for each error.
    pub fn hint(&self) -> String {
        match self {
            Self::Random(_) => "try again; nothing was changed".to_owned(),
            Self::Newer { .. } => "use the newer version of Rekindle; nothing was changed".to_owned(),
            Self::Folder { path, .. } => {
                format!("check that {} is writable", path.parent().unwrap_or(path).display())
            }
            Self::Sqlite { cause, .. } if is_full(cause) => {
                "free some space; nothing captured is lost, because it stays in the spool".to_owned()
            }
            Self::Sqlite { path, .. } | Self::Content { path, .. } => format!(
                "`rekindle doctor --fix` keeps a damaged file aside and rebuilds it from your notes and logs: {}",
                path.display()
            ),
        }
    }
}

/// True if the file is not what SQLite wrote.
fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
}

/// An open database. Clones share the connection, so a clone costs nothing.
#[derive(Clone)]
pub struct Database {
    connection: Rc<Connection>,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`; creates or migrates it if necessary.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            disk::create_private_folder(folder)
                .map_err(|cause| Error::Folder { path: path.to_owned(), cause })?;
        }
        disk::create_private_file(path).map_err(|cause| Error::Folder { path: path.to_owned(), cause })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let failed = |cause| Error::Sqlite { path: path.to_owned(), cause };
        let connection = Connection::open_with_flags(resolved(path), flags).map_err(failed)?;
        let mut db = Self { connection: Rc::new(connection), path: path.to_owned() };
        db.set_up()?;
        Ok(db)
    }

    /// Opens the database for reading, if it exists.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, Error> {
        if path.exists() { Self::open(path).map(Some) } else { Ok(None) }
    }

    /// Opens a damaged database to read what is left, without changing a byte of it.
    pub fn open_damaged(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |cause| Error::Sqlite { path: path.to_owned(), cause };
        let connection = Connection::open_with_flags(resolved(path), flags).map_err(failed)?;
        Ok(Self { connection: Rc::new(connection), path: path.to_owned() })
    }

    /// False if SQLite finds damage in the file.
    pub fn is_sound(&self) -> Result<bool, Error> {
        let found: String =
            self.run(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        Ok(found == "ok")
    }

    fn set_up(&mut self) -> Result<(), Error> {
        self.run(|connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            // Acknowledged events survive a power cut.
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // Forgotten text must not stay in a free page.
            connection.pragma_update(None, "secure_delete", true)?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "journal_size_limit", 8 * 1024 * 1024)
        })?;
        migrations::apply(self)
    }

    /// Makes further commits survive a crash but not a power cut, for work that is simply repeated then.
    pub fn with_relaxed_sync(self) -> Result<Self, Error> {
        self.run(|connection| connection.pragma_update(None, "synchronous", "normal"))?;
        Ok(self)
    }

    /// Runs a transaction as [`Database::change`] does. It and all earlier commits then survive a power cut.
    pub fn change_durably<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let before: i64 = self.run(|c| c.pragma_query_value(None, "synchronous", |row| row.get(0)))?;
        self.run(|connection| connection.pragma_update(None, "synchronous", "full"))?;
        let changed = self.change(work);
        self.run(|connection| connection.pragma_update(None, "synchronous", before))?;
        changed
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a single query or statement.
    pub fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection).map_err(|cause| self.failed(cause))
    }

    /// Runs a transaction. It takes the write lock at once, so that two writers wait instead of failing
    /// half-way.
    pub fn change<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let path = self.path.clone();
        let failed = |cause| Error::Sqlite { path, cause };
        let attempt = || -> rusqlite::Result<T> {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        attempt().map_err(failed)
    }

    /// Writes a consistent copy to `target`, which must not exist.
    pub fn copy_to(&self, target: &Path) -> Result<(), Error> {
        self.run(|connection| {
            connection.execute("VACUUM INTO ?1", params![target.to_string_lossy()]).map(drop)
        })
    }

    /// Copies the write-ahead log into the file and empties the log.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.run(|connection| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
    }

    fn failed(&self, cause: rusqlite::Error) -> Error {
        Error::Sqlite { path: self.path.clone(), cause }
    }

    /// The error for a value in the file that this version does not understand.
    pub fn corrupt_value(&self, what: impl Into<String>) -> Error {
        Error::Content { path: self.path.clone(), what: what.into() }
    }
}

/// The path without links. SQLite is told to follow none, but a home folder may be one.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use super::*;

    #[test]
    fn what_was_committed_is_there_for_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/rekindle.db");
        let mut db = Database::open(&path).unwrap();
        db.change(|t| t.execute("INSERT INTO locks VALUES ('a', 'me', 5)", [])).unwrap();
        drop(db);
        let db = Database::open_existing(&path).unwrap().unwrap();
        let until: i64 = db.run(|c| c.query_row("SELECT until FROM locks", [], |row| row.get(0))).unwrap();
        assert_eq!(until, 5);
        assert!(Database::open_existing(&folder.path().join("none.db")).unwrap().is_none());
    }

    #[test]
    fn a_failed_change_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        let failed = db.change(|t| {
            t.execute("INSERT INTO locks VALUES ('a', 'me', 5)", [])?;
            t.execute("INSERT INTO locks VALUES ('a', 'you', 6)", [])
        });
        assert!(failed.is_err());
        let rows: i64 = db.run(|c| c.query_row("SELECT count(*) FROM locks", [], |row| row.get(0))).unwrap();
        assert_eq!(rows, 0);
    }

    #[cfg(unix)]
    #[test]
    fn sec_01_the_file_is_the_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let mut db = Database::open(&path).unwrap();
        db.change(|t| t.execute("INSERT INTO locks VALUES ('a', 'me', 5)", [])).unwrap();
        for file in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
            let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{file}");
        }
    }

    #[test]
    fn a_file_of_a_later_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let db = Database::open(&path).unwrap();
        db.run(|c| c.execute("UPDATE meta SET value = 99 WHERE key = 'readable_from'", [])).unwrap();
        drop(db);
        assert!(matches!(Database::open(&path), Err(Error::Newer { .. })));
    }

    #[test]
    fn an_older_program_may_use_a_later_file_that_only_grew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let db = Database::open(&path).unwrap();
        db.run(|c| c.pragma_update(None, "user_version", 99)).unwrap();
        db.run(|c| c.execute("ALTER TABLE runs ADD COLUMN mood TEXT", [])).unwrap();
        drop(db);
        Database::open(&path).unwrap();
    }

    #[test]
    fn a_file_that_is_no_database_says_so_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        std::fs::write(&path, "a letter to somebody, certainly longer than a header would be".repeat(20))
            .unwrap();
        let Err(error) = Database::open(&path) else { panic!("opened") };
        assert!(error.to_string().contains("rekindle.db"), "{error}");
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("a letter"));
    }
}
