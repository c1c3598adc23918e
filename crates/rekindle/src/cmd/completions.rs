//! `rekindle completions`: prints shell completions.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CliError;
use crate::output::Printer;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle completions zsh > ~/.zfunc/_rekindle
  rekindle completions bash > ~/.local/share/bash-completion/completions/rekindle
  rekindle completions fish > ~/.config/fish/completions/rekindle.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut cli: Command, out: &Printer) -> Result<(), CliError> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut cli, "rekindle", &mut text);
        out.write(&text)
    }
}
