//! All that the benchmark knows about Rekindle's command line. What a build cannot do yet is reported as such.

use std::io::Result;
use std::path::{Path, PathBuf};

use super::run::Run;

/// What is said in place of a number.
pub const NOT_THERE: &str = "not there yet";

/// The program, and what it can do.
#[derive(Clone, Debug)]
pub struct Rekindle {
    program: PathBuf,
    folder: PathBuf,
    /// `recall`.
    pub recalls: bool,
    /// `reindex`.
    pub indexes: bool,
    /// `reindex --no-embed`: the lexical part alone.
    pub indexes_words_only: bool,
    /// `bench ingest --synthetic-vectors` and `bench query`: a store of lines whose vectors nobody had to compute.
    pub takes_synthetic: bool,
}

impl Rekindle {
    /// Looks at what this build can do. `folder` is where commands run; it should be in no project.
    pub fn at(program: &Path, folder: &Path) -> Self {
        // An unknown command or flag is refused before `--help` is looked at, hidden ones are not.
        let can = |words: &[&str]| Run::new(program, folder).args(words).arg("--help").succeeds();
        Self {
            recalls: can(&["recall"]),
            indexes: can(&["reindex"]),
            indexes_words_only: can(&["reindex", "--no-embed"]),
            takes_synthetic: can(&["bench", "ingest", "--synthetic-vectors"]) && can(&["bench", "query"]),
            program: program.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Any command with its home in `home`.
    fn run(&self, home: &Path, words: &[&str]) -> Run {
        // HOME too: nothing of the person who measures may be looked at.
        Run::new(&self.program, &self.folder).env("HOME", home).env("REKINDLE_HOME", home).args(words)
    }

    /// Makes an empty home.
    pub fn init(&self, home: &Path) -> Result<()> {
        self.run(home, &["init", "--name", "Bench"]).timed().map(|_| ())
    }

    /// Where the notes of a home go.
    pub fn vault(home: &Path) -> PathBuf {
        home.join("vault").join("MemoryVault")
    }

    /// Where the index of a home is.
    pub fn index(home: &Path) -> PathBuf {
        home.join("state").join("index")
    }

    /// The whole index: words and vectors. What is up to date is left as it is.
    pub fn reindex(&self, home: &Path) -> Run {
        self.run(home, &["reindex"])
    }

    /// The same with vectors that nobody had to compute.
    pub fn reindex_made_up(&self, home: &Path) -> Run {
        self.run(home, &["reindex", "--synthetic-vectors"])
    }

    /// The same with the state elsewhere, so that an index can be built from nothing and the good one stays.
    pub fn reindex_into(&self, home: &Path, state: &Path, words_only: bool) -> Run {
        let run =
            self.run(home, &["reindex"]).arg("--config").arg(format!("paths.state={}", state.display()));
        if words_only { run.arg("--no-embed") } else { run }
    }

    /// One cold recall, as a person or a hook asks for it.
    pub fn recall(&self, home: &Path, words: &str) -> Run {
        self.run(home, &["recall", words, "--json"])
    }

    /// Takes in lines with made-up vectors.
    pub fn ingest(&self, home: &Path, store: &Path, lines: &Path) -> Run {
        self.run(home, &["bench", "ingest", "--synthetic-vectors", "--store"]).arg(store).input(lines)
    }

    /// One cold query of such a store; the line with the question is the input.
    pub fn query(&self, home: &Path, store: &Path, line: &Path) -> Run {
        self.run(home, &["bench", "query", "--k", "5", "--store"]).arg(store).input(line)
    }
}
