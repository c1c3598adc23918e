//! `rekindle mcp`

use clap::Args;

use crate::cli::Global;
use crate::error::Failure;
use crate::mcp;

#[derive(Args)]
#[command(after_help = "\
Agents start this themselves; `rekindle install` tells them how. It speaks the Model Context
Protocol, one JSON message a line, belongs to the project of the folder it is started in, and ends
when its input does. What an agent saves through it is marked as the agent's words and stays
unreviewed until you look at it.

Examples:
  rekindle mcp
  npx @modelcontextprotocol/inspector --cli rekindle mcp --method tools/list")]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) fn run(self, global: &Global) -> Result<(), Failure> {
        mcp::serve(global)
    }
}
