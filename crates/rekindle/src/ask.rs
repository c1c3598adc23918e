//! Questions to the person at the terminal.

use std::io::{IsTerminal, Write};

use crate::error::Failure;

/// Whether there is anybody to ask.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// An answer in words; an empty one is the default.
pub(crate) fn text(question: &str, default: Option<&str>) -> Result<Option<String>, Failure> {
    let shown = default.map_or_else(String::new, |default| format!(" [{default}]"));
    let answer = answer(&format!("{question}{shown} "))?;
    Ok(if answer.is_empty() { default.map(str::to_owned) } else { Some(answer) })
}

/// Something to be read before the next question.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stderr(), "{text}")?)
}

/// Yes or no. Whatever is neither is no.
pub(crate) fn yes(question: &str, default: bool) -> Result<bool, Failure> {
    let choices = if default { "[Y/n]" } else { "[y/N]" };
    let answer = answer(&format!("{question} {choices} "))?.to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes") || (answer.is_empty() && default))
}

fn answer(question: &str) -> Result<String, Failure> {
    write!(std::io::stderr(), "{question}")?;
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer)?;
    // The end of the input is no answer, and not a yes by default.
    if read == 0 {
        return Err(Failure::new("nobody answered; nothing was done"));
    }
    Ok(answer.trim().to_owned())
}
