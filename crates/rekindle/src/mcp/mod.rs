//! `rekindle mcp`: memory as tools of the Model Context Protocol, over stdin and stdout (FUT-11).
//!
//! The SDK implements the protocol ([`server`]); messages that it cannot handle are answered before it
//! ([`input_filter`], [`stdio`]). Tools and resources do the work of the commands ([`tools`], [`resources`]), one
//! blocking task per call. Settings are read for each call, so that switching memory off takes effect at
//! once. No other command uses this module.

mod call;
mod input_filter;
mod resources;
mod review;
mod server;
mod stdio;
mod tools;

use std::time::Duration;

use clap::Args;
use rekindle_core::base::hash::ContentHash;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::random;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use crate::error::CliError;
use crate::options::GlobalOptions;

/// The number of concurrent calls.
const MAX_CONCURRENT_CALLS: usize = 4;
/// The time limit for unfinished work after the end of the input. Writes are atomic, so an interruption is
/// safe.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

#[derive(Args)]
#[command(after_help = "\
Agents start this themselves; `rekindle install` tells them how. It speaks the Model Context
Protocol, one JSON message a line, belongs to the project of the folder it is started in, and ends
when its input does. What an agent saves through it is marked as the agent's words and stays
unreviewed until you look at it.

Examples:
  rekindle mcp
  npx @modelcontextprotocol/inspector --cli rekindle mcp --method tools/list")]
pub(crate) struct McpArgs {}

impl McpArgs {
    pub(crate) fn run(self, global: &GlobalOptions) -> Result<(), CliError> {
        serve(global)
    }
}

/// Serves requests until the input ends.
fn serve(global: &GlobalOptions) -> Result<(), CliError> {
    let cwd = std::env::current_dir()
        .map_err(|error| CliError::new(format!("the current folder cannot be used: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(MAX_CONCURRENT_CALLS)
        .build()
        .map_err(CliError::new)?;
    let server = server::MemoryServer::new(global.clone(), cwd, session()?);
    let done = runtime.block_on(async {
        let running = match server.serve(stdio::StdioTransport::stdio()).await {
            Ok(running) => running,
            // The client closed the connection during the handshake.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(CliError::new(format!("the agent could not be served: {error}"))),
        };
        running.waiting().await.map(drop).map_err(CliError::new)
    });
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    done
}

/// Creates an unguessable id for this run, and with it the marker of its fence (B-02).
fn session() -> Result<String, CliError> {
    let bytes: [u8; 16] = random::bytes()?;
    let at = clock::now(rekindle_core::base::time::TimeZone::UTC).timestamp();
    Ok(format!("mcp-{}", ContentHash::of_parts(&[&bytes, at.to_string().as_bytes()]).short_hex(24)))
}
