//! Reads a transcript and prints what is in it, one message a line: `read_transcript <agent> <file> [--quiet]`.
#![expect(clippy::print_stdout, reason = "it exists to print")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rekindle_core::agent::Agent;
use rekindle_engine::transcripts;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let agent: Agent = arguments.next().ok_or("which agent?")?.parse()?;
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let quiet = arguments.next().is_some();
    let read = transcripts::read(agent, &path, None, &mut |message| {
        if !quiet {
            println!("{}", serde_json::to_string(&message).unwrap_or_default());
        }
        ControlFlow::Continue(())
    })?;
    println!("{read:?}");
    Ok(())
}
