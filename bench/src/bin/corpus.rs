//! `corpus lines N FILE`, `corpus questions FILE`, `corpus vault N FOLDER`: generated memories and questions, the same
//! for the same seed (`--seed S`, 7 unless said).

use std::io::{Error, Result};
use std::path::Path;

use rekindle_bench::corpus::write;

const USAGE: &str = "usage: corpus [--seed S] lines N FILE | questions FILE | vault N FOLDER";

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut seed = 7;
    if arguments.first().is_some_and(|first| first == "--seed") && arguments.len() > 1 {
        seed = number(&arguments[1])?;
        arguments.drain(..2);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["lines", count, file] => write::lines(seed, number(count)? as usize, Path::new(file)),
        ["questions", file] => write::questions(seed, Path::new(file)),
        ["vault", count, folder] => write::vault(seed, number(count)? as usize, Path::new(folder)),
        _ => Err(Error::other(USAGE)),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Error::other(format!("`{text}` is not a number\n{USAGE}")))
}
