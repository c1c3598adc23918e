//! The same memories for everyone: lines, a table for FTS5, a vault with its index for Rekindle. What is there from an
//! earlier run is used again.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::options::Options;
use super::program::{corpus, fts5_build, fts5_query, thousands};
use super::rekindle::Rekindle;
use super::run::{Run, bytes_below};
use crate::corpus::write::FORMAT;

/// One size.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// How many memories.
    pub size: usize,
    /// Whether it is a store of lines, with made-up vectors.
    pub synthetic: bool,
    /// Whether it is a vault with made-up vectors for what the next smaller one does not hold.
    pub made_up: bool,
    /// Whether Rekindle has an index of it.
    pub indexed: bool,
    /// What building it took, from this run or, if it was kept, from the one that built it.
    pub made: Map<String, Value>,
}

/// A question with everything the programs want to know.
#[derive(Clone, Debug)]
pub struct Question {
    /// How it was made.
    pub kind: String,
    /// The id of the memory it was made for.
    pub gold: String,
    /// The prompt.
    pub text: String,
    /// A file that holds its line.
    pub line: PathBuf,
}

impl Store {
    /// Where all of it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The memories as lines.
    pub fn lines(&self) -> PathBuf {
        self.folder.join("memories.jsonl")
    }

    /// The FTS5 program's file.
    pub fn database(&self) -> PathBuf {
        self.folder.join("fts5.db")
    }

    /// Rekindle's home.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn lines_store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// One question to FTS5.
    pub fn fts5(&self, question: &Question) -> Run {
        fts5_query(&self.database(), &self.folder, &question.text)
    }

    /// One cold question to Rekindle.
    pub fn recall(&self, rekindle: &Rekindle, question: &Question) -> Run {
        match self.synthetic {
            true => rekindle.query(&self.home(), &self.lines_store(), &question.line),
            false => rekindle.recall(&self.home(), &question.text),
        }
    }

    /// Makes or finds the store of one size.
    pub fn prepare(options: &Options, rekindle: &Rekindle, size: usize) -> Result<Self> {
        let folder = options.work.join(size.to_string());
        let synthetic = options.synthetic.contains(&size);
        let made_up = options.made_up.contains(&size) && !synthetic;
        let mut key = json!({"format": FORMAT, "seed": options.seed, "size": size, "synthetic": synthetic});
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
        store.index(options, rekindle)?;
        Ok(store)
    }

    fn index(&mut self, options: &Options, rekindle: &Rekindle) -> Result<()> {
        let able =
            if self.synthetic { rekindle.takes_synthetic } else { rekindle.recalls && rekindle.indexes };
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
                    Run::new("cp", &self.folder).arg("-r").arg(home).arg(self.home()).timed()?;
                }
                None => rekindle.init(&self.home())?,
            }
            let built = match self.synthetic {
                true => {
                    say(&format!("{} memories: ingest with made-up vectors", thousands(self.size)));
                    rekindle.ingest(&self.home(), &self.lines_store(), &self.lines()).timed()?
                }
                false => {
                    say(&format!("{} memories: vault", thousands(self.size)));
                    let vault = Rekindle::vault(&self.home());
                    let notes = corpus(&self.folder, options.seed).arg("vault").arg(self.size.to_string());
                    notes.arg(vault).timed()?;
                    if self.made_up {
                        say(&format!("{} memories: index, made-up vectors for what is new", thousands(self.size)));
                        rekindle.reindex_made_up(&self.home()).timed()?
                    } else {
                        say(&format!("{} memories: index with vectors", thousands(self.size)));
                        rekindle.reindex(&self.home()).timed()?
                    }
                }
            };
            self.record("index_peak_bytes", json!(built.peak))?;
            self.record("index_ms", json!(built.wall))?;
        }
        let index = if self.synthetic { self.lines_store() } else { Rekindle::index(&self.home()) };
        self.record("index_bytes", json!(bytes_below(&index)?))?;
        self.indexed = true;
        Ok(())
    }

    fn record(&mut self, name: &str, value: Value) -> Result<()> {
        self.made.insert(name.to_owned(), value);
        fs::write(self.folder.join("made.json"), serde_json::to_vec_pretty(&self.made)?)
    }
}

/// Makes the questions; they are the same for every size.
pub fn questions(options: &Options) -> Result<Vec<Question>> {
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
        questions.push(Question { kind: field("kind")?, gold: field("gold")?, text: field("query")?, line });
    }
    Ok(questions)
}

/// A word to whoever waits.
pub fn say(what: &str) {
    eprintln!("-- {what}");
}
