//! Position in the journal up to which undone promotions were searched for.

use rekindle_core::base::id::ChangeId;

use crate::platform::db::{Database, Error, OptionalExtension};

/// The newest change that was read.
pub fn last_seen_change(db: &Database) -> Result<Option<String>, Error> {
    db.run(|connection| {
        connection.query_row("SELECT change FROM journal_seen", [], |row| row.get(0)).optional()
    })
}

/// Marks a change and all before it as read.
pub fn mark_seen(db: &mut Database, newest: &ChangeId) -> Result<(), Error> {
    let sql = "INSERT INTO journal_seen VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET change = ?1";
    db.change(|transaction| transaction.execute(sql, [newest.as_str()])).map(drop)
}
