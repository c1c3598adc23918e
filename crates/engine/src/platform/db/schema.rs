//! Gaps in the schema: tables, columns and indexes that a database of its version must have, and does not.

use rusqlite::Connection;

use super::migrations::MIGRATIONS;
use super::{Database, Error};

/// An object of the schema that is missing, with the statement that adds it.
struct SchemaGap {
    name: String,
    sql: String,
}

/// A column: its name, type, and default value as SQL.
type Column = (String, String, Option<String>);

impl Database {
    /// The names of everything that is missing.
    pub fn schema_gaps(&self) -> Result<Vec<String>, Error> {
        Ok(self.run(gaps)?.into_iter().map(|gap| gap.name).collect())
    }

    /// Adds everything that is missing, and returns the names (OPS-06). What is there stays as it is.
    pub fn close_schema_gaps(&mut self) -> Result<Vec<String>, Error> {
        self.change(|transaction| {
            let gaps = gaps(transaction)?;
            for gap in &gaps {
                transaction.execute_batch(&gap.sql)?;
            }
            Ok(gaps.into_iter().map(|gap| gap.name).collect())
        })
    }
}

fn gaps(connection: &Connection) -> rusqlite::Result<Vec<SchemaGap>> {
    let model = Connection::open_in_memory()?;
    for step in MIGRATIONS {
        model.execute_batch(step)?;
    }
    let (wanted, there) = (objects(&model)?, objects(connection)?);
    let mut gaps = Vec::new();
    for (kind, name, sql) in wanted.iter().filter(|(kind, ..)| kind == "table") {
        if !there.iter().any(|(also, known, _)| also == kind && known == name) {
            gaps.push(SchemaGap { name: format!("table {name}"), sql: sql.clone() });
            continue;
        }
        let known = columns(connection, name)?;
        for (column, of_type, default) in columns(&model, name)? {
            if known.iter().any(|(known, ..)| *known == column) {
                continue;
            }
            let default = default.map_or_else(String::new, |value| format!(" DEFAULT {value}"));
            gaps.push(SchemaGap {
                name: format!("column {name}.{column}"),
                sql: format!("ALTER TABLE {name} ADD COLUMN {column} {of_type}{default}"),
            });
        }
    }
    // After the tables and columns that they are about.
    for (kind, name, sql) in wanted.iter().filter(|(kind, ..)| kind == "index") {
        if !there.iter().any(|(also, known, _)| also == kind && known == name) {
            gaps.push(SchemaGap { name: format!("index {name}"), sql: sql.clone() });
        }
    }
    Ok(gaps)
}

/// The tables and indexes that migrations created: kind, name and statement.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, String, String)>> {
    let sql = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let sql = "SELECT name, type, dflt_value FROM pragma_table_info(?1)";
    connection.prepare(sql)?.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OPS-06: what is missing is added, and rows stay.
    #[test]
    fn ops_06_missing_tables_columns_and_indexes_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        assert_eq!(db.schema_gaps().unwrap(), [] as [&str; 0]);
        db.run(|c| {
            c.execute_batch(
                "DROP INDEX runs_by_time; DROP TABLE otel_folded; ALTER TABLE sightings DROP COLUMN ends;
                 INSERT INTO sightings (said, text, evidence, first, last) VALUES ('a', 'A', '{}', 1, 2);",
            )
        })
        .unwrap();
        let gaps = ["column sightings.ends", "table otel_folded", "index runs_by_time"];
        assert_eq!(db.schema_gaps().unwrap(), gaps);
        assert_eq!(db.close_schema_gaps().unwrap(), gaps);
        assert_eq!(db.schema_gaps().unwrap(), [] as [&str; 0]);
        let kept: (String, i64) = db
            .run(|c| {
                c.query_row("SELECT text, ends FROM sightings", [], |row| Ok((row.get(0)?, row.get(1)?)))
            })
            .unwrap();
        assert_eq!(kept, ("A".to_owned(), 0));
    }
}
