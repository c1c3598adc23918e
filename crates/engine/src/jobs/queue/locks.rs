//! Locks with an expiry, for work that must not happen twice within a time (CAP-13, STO-03, STO-04).

use rekindle_core::base::time::Timestamp;

use super::RunQueue;
use crate::platform::db::{self, Database, params};

impl RunQueue {
    /// Takes a lock for `owner`; false if another owner holds it. The holder may take it again (CAP-14).
    pub fn lock(&mut self, name: &str, owner: &str, seconds: i64, now: Timestamp) -> Result<bool, db::Error> {
        lock(&mut self.db, name, owner, seconds, now)
    }
}

/// Takes a lock in an open database.
pub(crate) fn lock(
    db: &mut Database,
    name: &str,
    owner: &str,
    seconds: i64,
    now: Timestamp,
) -> Result<bool, db::Error> {
    let now = now.as_millisecond();
    let until = now + seconds * 1000;
    db.change(|transaction| {
        // An expiry beyond any that we set now comes from a clock that was set back since.
        transaction.execute(
            "DELETE FROM locks WHERE name = ?1 AND (until <= ?2 OR until > ?3) AND owner <> ?4",
            params![name, now, until, owner],
        )?;
        transaction.execute(
            "INSERT INTO locks VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
            params![name, owner, until],
        )?;
        let holder: String =
            transaction.query_row("SELECT owner FROM locks WHERE name = ?1", [name], |row| row.get(0))?;
        Ok(holder == owner)
    })
}
