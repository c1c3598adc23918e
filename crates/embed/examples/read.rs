//! `read [FILE]`: what the reader says of pairs, a JSON list of prompt and memory on each line of the input; FILE is a reader
//! other than the built-in one. For trying a reader before it becomes part of the program.

use std::error::Error;
use std::io::{BufRead, Write};

use rekindle_embed::{Model, Reader, Scratch};

/// Bytes that begin at a multiple of 64.
fn aligned(bytes: &[u8]) -> &'static [u8] {
    let room = vec![0_u8; bytes.len() + 64].leak();
    let start = room.as_ptr().align_offset(64);
    room[start..start + bytes.len()].copy_from_slice(bytes);
    &room[start..start + bytes.len()]
}

fn main() -> Result<(), Box<dyn Error>> {
    let other = match std::env::args().nth(1) {
        Some(path) => Some(Reader::from_bytes(Model::builtin(), aligned(&std::fs::read(path)?))?),
        None => None,
    };
    let reader = other.as_ref().unwrap_or_else(|| Reader::builtin());
    let (mut scratch, mut out) = (Scratch::new(), std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let [prompt, memory]: [String; 2] = serde_json::from_str(&line?)?;
        writeln!(out, "{}", reader.read(&mut scratch, &reader.prompt(&prompt), &memory))?;
    }
    Ok(())
}
