//! Questions to the user at the terminal.

use std::io::{IsTerminal, Write};

use rekindle_core::text::terminal::strip_controls;

use crate::error::CliError;

/// The message after a declined question.
pub(crate) const CANCELLED_TEXT: &str = "Cancelled. No files changed.";

/// True if a person can answer questions: stdin and stderr are terminals.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// True if a full screen is possible: stdin and stdout are terminals.
pub(crate) fn has_screen() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks for a text; an empty answer is the default.
pub(crate) fn text(question: &str, default: Option<&str>) -> Result<Option<String>, CliError> {
    let shown = default.map_or_else(String::new, |default| format!(" [{default}]"));
    let answer = answer(&format!("{question}{shown} "))?;
    Ok(if answer.is_empty() { default.map(str::to_owned) } else { Some(answer) })
}

/// Prints a text before the next question.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    Ok(put(&mut std::io::stderr(), &format!("{text}\n"))?)
}

/// Asks a yes-or-no question, and repeats it after any other answer.
pub(crate) fn yes(question: &str, default: bool) -> Result<bool, CliError> {
    Ok(choice(question, default, None)? == PromptChoice::Yes)
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptChoice {
    Yes,
    No,
    /// The extra letter was typed.
    Other,
}

/// Asks for yes, no, or one more letter with its meaning.
pub(crate) fn choice(
    question: &str,
    default: bool,
    other: Option<(char, &str)>,
) -> Result<PromptChoice, CliError> {
    let choices = if default { "Y/n" } else { "y/N" };
    let more = other.map_or_else(String::new, |(letter, meaning)| format!("/{letter} {meaning}"));
    loop {
        let answer = answer(&format!("{question} [{choices}{more}] "))?.to_lowercase();
        match answer.as_str() {
            "y" | "yes" => return Ok(PromptChoice::Yes),
            "n" | "no" => return Ok(PromptChoice::No),
            "" => return Ok(if default { PromptChoice::Yes } else { PromptChoice::No }),
            typed if other.is_some_and(|(letter, _)| typed == letter.to_string()) => {
                return Ok(PromptChoice::Other);
            }
            _ => say("Please answer y or n.")?,
        }
    }
}

/// Writes a text without control sequences, because it may contain names and words of notes.
fn put(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    write!(out, "{}", strip_controls(text))
}

fn answer(question: &str) -> Result<String, CliError> {
    put(&mut std::io::stderr(), question)?;
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer)?;
    // The end of the input is not an answer, and does not mean the default.
    if read == 0 {
        return Err(CliError::new("no answer, so nothing was done"));
    }
    Ok(answer.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_02_a_question_brings_no_escape_sequences_to_the_terminal() {
        let mut out = Vec::new();
        put(&mut out, "Remove `a\u{1b}]0;owned\u{7}b\u{9b}2J`? \u{1b}[1m[y/N]\u{1b}[0m\n").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "Remove `ab2J`? \u{1b}[1m[y/N]\u{1b}[0m\n");
    }
}
