//! Wraps Rekindle's command line. A command that the build lacks is reported as missing.

use std::io::Result;
use std::path::{Path, PathBuf};

use super::run::ProgramRun;

/// The text printed in place of a missing number.
pub const UNSUPPORTED_TEXT: &str = "not there yet";

/// The `rekindle` binary and the commands that it has.
#[derive(Clone, Debug)]
pub struct RekindleProgram {
    program: PathBuf,
    folder: PathBuf,
    /// True if the build has `recall`.
    pub recalls: bool,
    /// True if the build has `reindex`.
    pub indexes: bool,
    /// True if the build has `reindex --no-embed`, which builds the keyword index alone.
    pub indexes_words_only: bool,
    /// True if the build has `bench query`, for a store of lines.
    pub queries_lines: bool,
}

impl RekindleProgram {
    /// Probes the commands of a build. `folder` is the working folder of every command and should be in no
    /// project.
    pub fn at(program: &Path, folder: &Path) -> Self {
        // An unknown command or flag is refused before `--help` takes effect; a hidden one is not.
        let can = |words: &[&str]| ProgramRun::new(program, folder).args(words).arg("--help").succeeds();
        Self {
            recalls: can(&["recall"]),
            indexes: can(&["reindex"]),
            indexes_words_only: can(&["reindex", "--no-embed"]),
            queries_lines: can(&["bench", "query"]),
            program: program.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Builds a command with its Rekindle home in `home`.
    fn run(&self, home: &Path, words: &[&str]) -> ProgramRun {
        // `HOME` is set too, so that no file of the person who measures is read.
        ProgramRun::new(&self.program, &self.folder).env("HOME", home).env("REKINDLE_HOME", home).args(words)
    }

    /// Creates an empty Rekindle home.
    pub fn init(&self, home: &Path) -> Result<()> {
        self.run(home, &["init", "--name", "Bench"]).timed().map(|_| ())
    }

    /// The folder of the notes of a home.
    pub fn vault(home: &Path) -> PathBuf {
        home.join("vault").join("MemoryVault")
    }

    /// The folder of the index of a home.
    pub fn index(home: &Path) -> PathBuf {
        home.join("state").join("index")
    }

    /// Updates the whole index, keywords and vectors.
    pub fn reindex(&self, home: &Path) -> ProgramRun {
        self.run(home, &["reindex"])
    }

    /// Updates the keyword index, without vectors.
    pub fn reindex_words(&self, home: &Path) -> ProgramRun {
        self.run(home, &["reindex", "--no-embed"])
    }

    /// Updates the index with another state folder, so that a build from nothing leaves the good index in
    /// place.
    pub fn reindex_into(&self, home: &Path, state: &Path, words_only: bool) -> ProgramRun {
        let run =
            self.run(home, &["reindex"]).arg("--config").arg(format!("paths.state={}", state.display()));
        if words_only { run.arg("--no-embed") } else { run }
    }

    /// Runs one cold recall, as a person or a hook does.
    pub fn recall(&self, home: &Path, words: &str) -> ProgramRun {
        self.run(home, &["recall", words, "--json"])
    }

    /// Runs one cold query of a line store; the file with the question is the input.
    pub fn query(&self, home: &Path, store: &Path, line: &Path) -> ProgramRun {
        self.run(home, &["bench", "query", "--k", "5", "--store"]).arg(store).input(line)
    }
}
