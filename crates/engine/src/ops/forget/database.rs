//! Erases a text from the database: events hold session text, runs and steps hold results made from it.

use std::path::PathBuf;

use rekindle_core::vault::erase::ErasureTarget;
use rusqlite::Connection;

use super::PendingForget;
use super::erasable_store::ErasableStore;
use crate::platform::db::{self, Database};
use crate::vault::Error;

/// The columns that hold text: table, key column, text column.
const TEXT_COLUMNS: [(&str, &str, &str); 9] = [
    ("events", "id", "data"),
    ("runs", "id", "output"),
    ("runs", "id", "reason"),
    ("runs", "id", "error"),
    ("steps", "run || ' ' || name", "result"),
    ("steps", "run || ' ' || name", "error"),
    ("observations", "dedupe_key", "observed"),
    ("review_pages", "version", "shown"),
    ("surface_state", "surface", "problem"),
];

/// Columns whose whole row is deleted.
const TEXT_ROWS: [(&str, &str, &str); 6] = [
    ("proposals", "id", "proposal"),
    ("proposals", "id", "worded"),
    ("proposals", "id", "note"),
    ("receipts", "CAST(number AS TEXT)", "receipt"),
    ("sightings", "CAST(number AS TEXT)", "text"),
    ("sightings", "CAST(number AS TEXT)", "evidence"),
];

/// The event and run tables.
pub(super) struct ErasableDatabase {
    pub(super) path: PathBuf,
}

impl ErasableDatabase {
    fn open(&self) -> Result<Option<Database>, Error> {
        Database::open_existing(&self.path).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: db::Error) -> Error {
        Error::io("change", &self.path)(std::io::Error::other(error))
    }
}

/// The rows with the text in a column, and the column's value.
fn rows(
    connection: &Connection,
    (table, key, column): (&str, &str, &str),
    target: &ErasureTarget,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut statement =
        connection.prepare(&format!("SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(1)?;
        if target.matches_file(text.as_bytes()) {
            found.push((row.get(0)?, text));
        }
    }
    Ok(found)
}

impl ErasableStore for ErasableDatabase {
    fn name(&self) -> &'static str {
        "database"
    }

    fn erase(&self, going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let Some(mut db) = self.open()? else { return Ok(0) };
        if target.is_empty() {
            return Ok(0);
        }
        // The name of a file repeats the words of its memory, and runs say which files they wrote.
        let files: Vec<String> = going.files.iter().map(ToString::to_string).collect();
        let names = ErasureTarget::new(&files);
        let erased = db.change(|transaction| {
            let mut erased = 0;
            for place @ (table, key, column) in TEXT_COLUMNS {
                for target in [target, &names] {
                    for (row, text) in rows(transaction, place, target)? {
                        let json = target.remove_json_blocks(&text);
                        let left = target
                            .remove_blocks(json.as_deref().unwrap_or(&text))
                            .or(json)
                            .unwrap_or_default();
                        transaction.execute(
                            &format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1"),
                            [&row, &left],
                        )?;
                        erased += 1;
                    }
                }
            }
            for place @ (table, key, _) in TEXT_ROWS {
                for (row, _) in rows(transaction, place, target)? {
                    erased +=
                        transaction.execute(&format!("DELETE FROM {table} WHERE {key} = ?1"), [&row])?;
                }
            }
            Ok(erased)
        });
        let erased = erased.map_err(|error| self.failed(error))?;
        if erased > 0 {
            // Deleted pages are overwritten (secure_delete); the write-ahead log must be emptied too.
            db.run(|connection| connection.execute_batch("VACUUM")).map_err(|error| self.failed(error))?;
            db.checkpoint().map_err(|error| self.failed(error))?;
        }
        Ok(erased)
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        let Some(db) = self.open()? else { return Ok(Vec::new()) };
        if target.is_empty() {
            return Ok(Vec::new());
        }
        for place in TEXT_COLUMNS.into_iter().chain(TEXT_ROWS) {
            let found =
                db.run(|connection| rows(connection, place, target)).map_err(|error| self.failed(error))?;
            if !found.is_empty() {
                return Ok(vec![self.path.clone()]);
            }
        }
        Ok(Vec::new())
    }
}
