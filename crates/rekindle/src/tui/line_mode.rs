//! The review line by line: one proposal, one question, one letter and Enter. It serves screen readers,
//! simple terminals and slow connections, with the same keys as the full screen.

use std::io::stdin;

use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::editor;

use super::actions::ReviewActions;
use super::card::{CardRow, CardStatus};
use super::help::help;
use super::model::{InputMode, KeyPress, ReviewModel, UiEffect};
use super::{catch_up, perform, summary};
use crate::app::CommandContext;
use crate::error::CliError;

/// The letters accepted as an answer.
const ANSWER_LETTERS: [char; 10] = ['a', 'S', 'e', 'w', 'r', 's', 'u', 'm', '?', 'q'];

/// Asks until all proposals are decided or the person ends the review.
pub(crate) fn run(
    context: &CommandContext<'_>,
    actions: &ReviewActions<'_>,
    model: &mut ReviewModel,
) -> Result<(), CliError> {
    let mut printed = None;
    loop {
        model.select_open();
        catch_up(actions, model);
        let asked = model.current().filter(|card| card.fate == CardStatus::Open).cloned();
        match &asked {
            Some(card) => {
                if printed != Some(card.id) {
                    context.out.line(format!(
                        "\nProposal {} of {}",
                        model.selected() + 1,
                        model.cards().len()
                    ))?;
                    print(context, model.detail())?;
                    printed = Some(card.id);
                }
                let instead = if card.names_line { "S supersede, " } else { "" };
                let reach = if card.holds_in.is_some() { "w where, " } else { "" };
                context.out.line(format!(
                    "a approve, {instead}e edit, {reach}r reject, s skip, u undo, m more, ? help, q quit"
                ))?;
                context.out.line("Which letter?")?;
            }
            None => {
                let more = match model.hidden() {
                    0 => String::new(),
                    more => format!("m shows {more} more, "),
                };
                context.out.line(format!("No more proposals. u undoes the last decision, {more}q quits."))?;
            }
        }
        let Some(answer) = answer()? else { break };
        let key = match answer.parse::<char>() {
            Ok(letter) if ANSWER_LETTERS.contains(&letter) => letter,
            _ if asked.is_none() && answer.is_empty() => break,
            _ => {
                context.out.line("No decision made. Type one of the letters.")?;
                continue;
            }
        };
        if key == '?' {
            print(context, &help())?;
            continue;
        }
        if asked.is_none() && !['u', 'm', 'q'].contains(&key) {
            continue;
        }
        let Some(effect) = asked_further(context, model, key)? else { break };
        if effect == Some(UiEffect::Quit) {
            break;
        }
        act(context, actions, model, effect)?;
        if !model.message().text.is_empty() {
            context.out.line(&model.message().text)?;
        }
        if matches!(key, 'u' | 'm' | 'w') {
            printed = None;
        }
    }
    summary(context, model)
}

fn print(context: &CommandContext<'_>, rows: &[CardRow]) -> Result<(), CliError> {
    rows.iter().filter(|row| !row.text.is_empty()).try_for_each(|row| context.out.line(&row.text))
}

/// Reads a typed line; `None` at the end of the input.
fn answer() -> Result<Option<String>, CliError> {
    let mut line = String::new();
    let read = stdin().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}

/// Returns the effect of a letter, after asking for a reason if one is needed. The outer `None` is the end of
/// the input.
fn asked_further(
    context: &CommandContext<'_>,
    model: &mut ReviewModel,
    letter: char,
) -> Result<Option<Option<UiEffect>>, CliError> {
    let effect = model.update(KeyPress::Char(letter));
    if !matches!(model.mode(), InputMode::Reason(_)) {
        return Ok(Some(effect));
    }
    context.out.line("Reason? Press Enter for none.")?;
    let Some(reason) = answer()? else { return Ok(None) };
    model.update(KeyPress::Paste(reason));
    Ok(Some(model.update(KeyPress::Enter)))
}

fn act(
    context: &CommandContext<'_>,
    actions: &ReviewActions<'_>,
    model: &mut ReviewModel,
    mut effect: Option<UiEffect>,
) -> Result<(), CliError> {
    while let Some(next) = effect.take() {
        effect = match next {
            UiEffect::Edit(id) => match edited(context, actions, id) {
                Ok((before, after)) => model.on_edited(id, &before, &after),
                Err(failure) => {
                    model.set_status(failure.message, true);
                    None
                }
            },
            other => {
                perform(actions, model, other);
                None
            }
        };
        if let InputMode::Which(_) = model.mode() {
            context.out.line("S replaces the line, a keeps both, Enter cancels.")?;
            let key = match answer()?.as_deref() {
                Some("S") => KeyPress::Char('S'),
                Some("a") => KeyPress::Char('a'),
                _ => KeyPress::Escape,
            };
            effect = model.update(key);
        }
    }
    Ok(())
}

/// Returns the text before and after the edit: in the person's editor, or else in one line here.
fn edited(
    context: &CommandContext<'_>,
    actions: &ReviewActions<'_>,
    id: ProposalId,
) -> Result<(String, String), CliError> {
    let before = actions.proposal_text(id)?;
    let after = match editor::configured_editor() {
        Some(_) => actions.edit(id, &before)?,
        None => {
            context.out.line("Your wording, in one line (Enter cancels):")?;
            answer()?.unwrap_or_default()
        }
    };
    Ok((before, after))
}
