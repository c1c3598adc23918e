//! The anchor of search in Rust: one tantivy index, one query for any of the words, the five best by bm25.
//!
//! `tantivy_bm25 build FOLDER < memories.jsonl` makes the index in one commit and one segment; `tantivy_bm25 query
//! FOLDER "words of a prompt"` prints the ids of the best five. The tokenizer is tantivy's default: words, in lower
//! case.

use std::fmt::Display;
use std::io::{BufRead, Error, Result, Write};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, IndexWriter, ReloadPolicy, TantivyDocument, Term, doc};

/// The number of ids printed.
const MAX_PRINTED_IDS: usize = 5;
/// The memory of the writer, in bytes: enough for one segment.
const WRITER_BYTES: usize = 1_000_000_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["build", folder] => build(folder),
        ["query", folder, words] => query(folder, words),
        _ => Err(Error::other("usage: tantivy_bm25 build FOLDER < memories.jsonl | query FOLDER WORDS")),
    }
}

fn of<E: Display>(what: &str) -> impl Fn(E) -> Error {
    move |error| Error::other(format!("{what}: {error}"))
}

fn build(folder: &str) -> Result<()> {
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING | STORED);
    let text = schema.add_text_field("text", TEXT);
    std::fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.build()).map_err(of(folder))?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES).map_err(of(folder))?;
    for line in std::io::stdin().lock().lines() {
        let value: serde_json::Value = serde_json::from_str(&line?).map_err(of("memories"))?;
        let (Some(own_id), Some(own_text)) = (value["id"].as_str(), value["text"].as_str()) else {
            return Err(Error::other("a line without id or text"));
        };
        writer.add_document(doc!(id => own_id, text => own_text)).map_err(of(folder))?;
    }
    writer.commit().map_err(of(folder))?;
    writer.wait_merging_threads().map_err(of(folder))
}

fn query(folder: &str, words: &str) -> Result<()> {
    let index = Index::open_in_dir(folder).map_err(of(folder))?;
    let field = |name: &str| index.schema().get_field(name).map_err(of(folder));
    let (id, text) = (field("id")?, field("text")?);
    let mut tokenizer = index.tokenizer_for_field(text).map_err(of(folder))?;
    let mut terms: Vec<Term> = Vec::new();
    tokenizer.token_stream(words).process(&mut |token| {
        let term = Term::from_field_text(text, &token.text);
        if !terms.contains(&term) {
            terms.push(term);
        }
    });
    let clauses = terms.into_iter().map(|term| {
        let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        (Occur::Should, query)
    });
    let query = BooleanQuery::new(clauses.collect());
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(of(folder))?;
    let searcher = reader.searcher();
    let best = searcher
        .search(&query, &TopDocs::with_limit(MAX_PRINTED_IDS).order_by_score())
        .map_err(of(folder))?;
    let mut out = std::io::stdout().lock();
    for (_, address) in best {
        let found: TantivyDocument = searcher.doc(address).map_err(of(folder))?;
        let name = found.get_first(id).and_then(|value| value.as_str()).unwrap_or_default();
        writeln!(out, "{name}")?;
    }
    Ok(())
}
