//! The anchor of search: one full-text table of SQLite, one OR query, the five best by bm25.
//!
//! `fts5 build DB < memories.jsonl` makes the table in one transaction; `fts5 query DB "words of a prompt"` prints the
//! ids of the best five. Everything is as SQLite has it by default; merging the index into one piece after the build
//! (its `optimize`) made no query faster.

use std::fmt::Display;
use std::io::{BufRead, Error, Result, Write};

use rusqlite::{Connection, OpenFlags};

/// The number of ids printed.
const MAX_PRINTED_IDS: i64 = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["build", db] => build(db),
        ["query", db, words] => query(db, words),
        _ => Err(Error::other("usage: fts5 build DB < memories.jsonl | query DB WORDS")),
    }
}

fn of<E: Display>(what: &str) -> impl Fn(E) -> Error {
    move |error| Error::other(format!("{what}: {error}"))
}

fn build(db: &str) -> Result<()> {
    let mut connection = Connection::open(db).map_err(of(db))?;
    let transaction = connection.transaction().map_err(of(db))?;
    transaction
        .execute_batch("CREATE VIRTUAL TABLE memories USING fts5(id UNINDEXED, text)")
        .map_err(of(db))?;
    {
        let mut insert = transaction.prepare("INSERT INTO memories VALUES (?1, ?2)").map_err(of(db))?;
        for line in std::io::stdin().lock().lines() {
            let value: serde_json::Value = serde_json::from_str(&line?).map_err(of("memories"))?;
            let (Some(id), Some(text)) = (value["id"].as_str(), value["text"].as_str()) else {
                return Err(Error::other("a line without id or text"));
            };
            insert.execute((id, text)).map_err(of(db))?;
        }
    }
    transaction.commit().map_err(of(db))
}

fn query(db: &str, words: &str) -> Result<()> {
    let connection = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(of(db))?;
    let mut statement = connection
        .prepare("SELECT id FROM memories WHERE memories MATCH ?1 ORDER BY rank LIMIT ?2")
        .map_err(of(db))?;
    let mut rows = statement.query((any_of(words), MAX_PRINTED_IDS)).map_err(of(db))?;
    let mut out = std::io::stdout().lock();
    while let Some(row) = rows.next().map_err(of(db))? {
        let id: String = row.get(0).map_err(of(db))?;
        writeln!(out, "{id}")?;
    }
    Ok(())
}

/// Turns a prompt into a query: every distinct word, quoted, joined by OR.
fn any_of(prompt: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let quoted = format!("\"{}\"", word.to_lowercase());
        if !words.contains(&quoted) {
            words.push(quoted);
        }
    }
    if words.is_empty() { "\"\"".to_owned() } else { words.join(" OR ") }
}
