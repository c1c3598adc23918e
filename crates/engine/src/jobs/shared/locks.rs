//! Locks with a token and an expiry, for work that must not happen twice within a time (CAP-13, STO-03, STO-04).

use rekindle_core::base::time::Timestamp;

use crate::platform::db::{self, Database, params};

/// A store of locks. `contract.rs` has the tests that every store passes.
pub(crate) trait LockStore {
    /// The reason a lock could be neither taken nor refused.
    type Error;
    /// Takes a lock; false if it has another token. The holder may take it again, which repeats a step safely (CAP-14).
    fn take(&mut self, name: &str, token: &str, seconds: i64, now: Timestamp) -> Result<bool, Self::Error>;
    /// Releases a lock; false if it has another token, or none.
    fn release(&mut self, name: &str, token: &str) -> Result<bool, Self::Error>;
}

impl LockStore for Database {
    type Error = db::Error;

    fn take(&mut self, name: &str, token: &str, seconds: i64, now: Timestamp) -> Result<bool, Self::Error> {
        let now = now.as_millisecond();
        let until = now + seconds * 1000;
        self.change(|transaction| {
            // An expiry beyond any that we set now comes from a clock that was set back since.
            transaction.execute(
                "DELETE FROM locks WHERE name = ?1 AND (until <= ?2 OR until > ?3) AND owner <> ?4",
                params![name, now, until, token],
            )?;
            transaction.execute(
                "INSERT INTO locks VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
                params![name, token, until],
            )?;
            let holder: String =
                transaction.query_row("SELECT owner FROM locks WHERE name = ?1", [name], |row| row.get(0))?;
            Ok(holder == token)
        })
    }

    fn release(&mut self, name: &str, token: &str) -> Result<bool, Self::Error> {
        let sql = "DELETE FROM locks WHERE name = ?1 AND owner = ?2";
        self.change(|transaction| transaction.execute(sql, [name, token])).map(|rows| rows > 0)
    }
}
