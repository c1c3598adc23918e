//! `rekindle mcp`: memory as tools of the Model Context Protocol, over stdin and stdout (FUT-11).
//!
//! The SDK speaks the protocol ([`server`]); what it would choke on is answered before it ([`gate`], [`wire`]). The work is
//! that of the commands ([`tools`], [`resources`]), one blocking task per call, with settings read anew each time, so that
//! switching memory off takes effect at once. Nothing here runs for any other command.

mod call;
mod gate;
mod resources;
mod review;
mod server;
mod tools;
mod wire;

use std::time::Duration;

use clap::Args;
use rekindle_core::base::hash::ContentHash;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::random;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use crate::error::Failure;
use crate::options::GlobalOptions;

/// Calls that are worked on at the same time.
const AT_ONCE: usize = 4;
/// The time limit for unfinished work after the end of the input. A write is whole or not there at all,
/// whenever it is cut off.
const FAREWELL: Duration = Duration::from_secs(2);

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
    pub(crate) fn run(self, global: &GlobalOptions) -> Result<(), Failure> {
        serve(global)
    }
}

/// Answers until the input ends.
fn serve(global: &GlobalOptions) -> Result<(), Failure> {
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::new(format!("the current folder cannot be used: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(AT_ONCE)
        .build()
        .map_err(Failure::new)?;
    let server = server::Memory::new(global.clone(), cwd, session()?);
    let done = runtime.block_on(async {
        let running = match server.serve(wire::Wire::stdio()).await {
            Ok(running) => running,
            // Whoever started us changed their mind.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(Failure::new(format!("the agent could not be served: {error}"))),
        };
        running.waiting().await.map(drop).map_err(Failure::new)
    });
    runtime.shutdown_timeout(FAREWELL);
    done
}

/// A name for this run that nobody can guess, and with it the marker of its fence (B-02).
fn session() -> Result<String, Failure> {
    let bytes: [u8; 16] = random::bytes()?;
    let at = clock::now(rekindle_core::base::time::TimeZone::UTC).timestamp();
    Ok(format!("mcp-{}", ContentHash::of_parts(&[&bytes, at.to_string().as_bytes()]).short(24)))
}
