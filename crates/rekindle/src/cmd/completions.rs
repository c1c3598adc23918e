//! `rekindle completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Failure;
use crate::output::Printer;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle completions zsh > ~/.zfunc/_rekindle
  rekindle completions bash > ~/.local/share/bash-completion/completions/rekindle
  rekindle completions fish > ~/.config/fish/completions/rekindle.fish")]
pub(crate) struct Completions {
    /// For which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, out: &Printer) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "rekindle", &mut text);
        out.write(&text)
    }
}
