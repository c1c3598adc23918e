//! Stores with the same memories for every program: lines, an FTS5 table, a tantivy index, and a vault with its index for
//! Rekindle. A store of an earlier run is reused.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::options::MeasureOptions;
use super::program::{
    corpus, fts5_build, fts5_query, synthetic_fill, synthetic_ingest, tantivy_build, tantivy_query, thousands,
};
use super::rekindle::RekindleProgram;
use super::run::{ProgramRun, bytes_below};
use crate::corpus::write::CORPUS_VERSION;

/// The store of one corpus size.
#[derive(Debug)]
pub struct BenchStore {
    folder: PathBuf,
    /// The number of memories.
    pub size: usize,
    /// True for a line store with made-up vectors.
    pub synthetic: bool,
    /// True for a vault in which only the memories of the next smaller one have computed vectors.
    pub made_up: bool,
    /// True if Rekindle has an index of it.
    pub indexed: bool,
    /// The build costs, from this run or from the run that built a kept store.
    pub made: Map<String, Value>,
}

/// A question in the forms that the programs need.
#[derive(Clone, Debug)]
pub struct StoredQuestion {
    /// The type of the question, such as `keyword`.
    pub kind: String,
    /// The id of the memory that it was made for.
    pub gold: String,
    /// The text of the prompt.
    pub text: String,
    /// The file that holds the question's line.
    pub line: PathBuf,
}

impl BenchStore {
    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of memories as JSON lines.
    pub fn lines(&self) -> PathBuf {
        self.folder.join("memories.jsonl")
    }

    /// The database file of the FTS5 program.
    pub fn database(&self) -> PathBuf {
        self.folder.join("fts5.db")
    }

    /// The folder of the tantivy index.
    pub fn tantivy_index(&self) -> PathBuf {
        self.folder.join("tantivy")
    }

    /// The Rekindle home of the store.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn lines_store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Builds the FTS5 command for one question.
    pub fn fts5(&self, question: &StoredQuestion) -> ProgramRun {
        fts5_query(&self.database(), &self.folder, &question.text)
    }

    /// Builds the tantivy command for one question.
    pub fn tantivy(&self, question: &StoredQuestion) -> ProgramRun {
        tantivy_query(&self.tantivy_index(), &self.folder, &question.text)
    }

    /// Builds the command for one cold question to Rekindle.
    pub fn recall(&self, rekindle: &RekindleProgram, question: &StoredQuestion) -> ProgramRun {
        match self.synthetic {
            true => rekindle.query(&self.home(), &self.lines_store(), &question.line),
            false => rekindle.recall(&self.home(), &question.text),
        }
    }

    /// Creates the store of one size, or reuses a kept one.
    pub fn prepare(options: &MeasureOptions, rekindle: &RekindleProgram, size: usize) -> Result<Self> {
        let folder = options.work.join(size.to_string());
        let synthetic = options.synthetic.contains(&size);
        let made_up = options.made_up.contains(&size) && !synthetic;
        let mut key =
            json!({"format": CORPUS_VERSION, "seed": options.seed, "size": size, "synthetic": synthetic});
        if made_up {
            key["made_up"] = json!(options.computed_below(size));
        }
        let found: Option<Map<String, Value>> = fs::read(folder.join("made.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .filter(|made: &Map<String, Value>| made.get("key") == Some(&key));
        let fresh = found.is_none();
        if fresh && folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let made = found.unwrap_or_else(|| Map::from_iter([("key".to_owned(), key)]));
        let mut store = Self { folder, size, synthetic, made_up, indexed: false, made };
        if fresh {
            say(&format!("{} memories: lines, FTS5", thousands(size)));
            let lines = corpus(&store.folder, options.seed).arg("lines").arg(size.to_string());
            lines.arg(store.lines()).timed()?;
            let built = fts5_build(&store.lines(), &store.database(), &store.folder).timed()?;
            store.record("fts5_build_ms", json!(built.wall))?;
            store.record("fts5_bytes", json!(store.database().metadata()?.len()))?;
        }
        // A store that was kept before this anchor existed gets it now.
        if !store.made.contains_key("tantivy_build_ms") {
            say(&format!("{} memories: tantivy", thousands(size)));
            if store.tantivy_index().exists() {
                fs::remove_dir_all(store.tantivy_index())?;
            }
            let built = tantivy_build(&store.lines(), &store.tantivy_index(), &store.folder).timed()?;
            store.record("tantivy_bytes", json!(bytes_below(&store.tantivy_index())?))?;
            store.record("tantivy_build_ms", json!(built.wall))?;
        }
        store.index(options, rekindle)?;
        Ok(store)
    }

    fn index(&mut self, options: &MeasureOptions, rekindle: &RekindleProgram) -> Result<()> {
        let able = if self.synthetic { rekindle.queries_lines } else { rekindle.recalls && rekindle.indexes };
        if !able {
            return Ok(());
        }
        if self.made.contains_key("index_ms") {
            if !self.synthetic {
                say(&format!("{} memories: kept, brought up to date", thousands(self.size)));
                rekindle.reindex(&self.home()).timed()?;
            }
        } else {
            if self.home().exists() {
                fs::remove_dir_all(self.home())?;
            }
            match options.computed_below(self.size).filter(|_| self.made_up) {
                Some(smaller) => {
                    let home = options.work.join(smaller.to_string()).join("home");
                    ProgramRun::new("cp", &self.folder).arg("-r").arg(home).arg(self.home()).timed()?;
                }
                None => rekindle.init(&self.home())?,
            }
            let built = match self.synthetic {
                true => {
                    say(&format!("{} memories: ingest with made-up vectors", thousands(self.size)));
                    synthetic_ingest(&self.lines_store(), &self.lines(), &self.folder).timed()?
                }
                false => {
                    say(&format!("{} memories: vault", thousands(self.size)));
                    let vault = RekindleProgram::vault(&self.home());
                    let notes = corpus(&self.folder, options.seed).arg("vault").arg(self.size.to_string());
                    notes.arg(vault).timed()?;
                    if self.made_up {
                        say(&format!(
                            "{} memories: index, made-up vectors for what is new",
                            thousands(self.size)
                        ));
                        let built = rekindle.reindex_words(&self.home()).timed()?;
                        synthetic_fill(&RekindleProgram::index(&self.home()), &self.folder).timed()?;
                        built
                    } else {
                        say(&format!("{} memories: index with vectors", thousands(self.size)));
                        rekindle.reindex(&self.home()).timed()?
                    }
                }
            };
            self.record("index_peak_bytes", json!(built.peak))?;
            self.record("index_ms", json!(built.wall))?;
        }
        let index = if self.synthetic { self.lines_store() } else { RekindleProgram::index(&self.home()) };
        self.record("index_bytes", json!(bytes_below(&index)?))?;
        self.indexed = true;
        Ok(())
    }

    fn record(&mut self, name: &str, value: Value) -> Result<()> {
        self.made.insert(name.to_owned(), value);
        fs::write(self.folder.join("made.json"), serde_json::to_vec_pretty(&self.made)?)
    }
}

/// Writes the questions, which are the same for every size.
pub fn questions(options: &MeasureOptions) -> Result<Vec<StoredQuestion>> {
    let (file, folder) = (options.work.join("questions.jsonl"), options.work.join("questions"));
    fs::create_dir_all(&folder)?;
    corpus(&options.work, options.seed).arg("questions").arg(&file).timed()?;
    let mut questions = Vec::new();
    for text in fs::read_to_string(&file)?.lines() {
        let value: Value = serde_json::from_str(text)?;
        let field = |name: &str| {
            let text = value[name].as_str().map(str::to_owned);
            text.ok_or_else(|| Error::other(format!("a question without `{name}`")))
        };
        let line = folder.join(format!("{}.json", field("qid")?));
        let asked =
            json!({"ns": field("ns")?, "qid": field("qid")?, "ts": field("ts")?, "query": field("query")?});
        fs::write(&line, format!("{asked}\n"))?;
        questions.push(StoredQuestion {
            kind: field("kind")?,
            gold: field("gold")?,
            text: field("query")?,
            line,
        });
    }
    Ok(questions)
}

/// Reports progress on standard error.
pub fn say(what: &str) {
    eprintln!("-- {what}");
}
