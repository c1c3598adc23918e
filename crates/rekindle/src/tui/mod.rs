//! `rekindle review` at a terminal: full-screen, or line by line.
//!
//! `model` decides what happens, `view` draws it, `actions` calls the engine, `screen` holds the terminal.

mod actions;
mod card;
mod help;
mod line_mode;
mod model;
mod screen;
mod text;
mod view;

use rekindle_engine::platform::environment;

use self::actions::{ActionResult, ReviewActions};
use self::card::CardStatus;
use self::model::{ReviewModel, UiEffect};
use self::screen::TerminalScreen;
use crate::app::CommandContext;
use crate::error::CliError;

/// Runs a review of today's proposals, or of `all`. Returns false if there was nothing to decide.
pub(crate) fn review(context: &CommandContext<'_>, all: bool, plain: bool) -> Result<bool, CliError> {
    let mut actions = ReviewActions::new(context);
    let (today, later) = actions.queue()?;
    let mut model = ReviewModel::new(today, later, all);
    if model.cards().is_empty() {
        return Ok(false);
    }
    let simple = environment::variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if plain || context.settings.config.review.plain || (simple && cfg!(unix)) {
        line_mode::run(context, &actions, &mut model)?;
    } else {
        run_full_screen(context, &actions, &mut model)?;
        summary(context, &model)?;
    }
    Ok(true)
}

fn run_full_screen(
    context: &CommandContext<'_>,
    actions: &ReviewActions<'_>,
    model: &mut ReviewModel,
) -> Result<(), CliError> {
    let colour = context.out.is_colored();
    let cannot = |error| {
        CliError::new(format!("cannot use the terminal: {error}"))
            .hint("`rekindle review --plain` asks line by line, `--list` prints a list")
    };
    let mut screen = TerminalScreen::enter().map_err(cannot)?;
    loop {
        catch_up(actions, model);
        if let Some((rows, seen)) = screen.draw(|frame| view::draw(frame, model, colour)).map_err(cannot)? {
            model.set_extent(rows, seen);
        }
        let Some(key) = screen.next_key().map_err(cannot)? else { continue };
        let mut effect = model.update(key);
        while let Some(next) = effect.take() {
            match next {
                UiEffect::Quit => return Ok(()),
                UiEffect::Edit(id) => {
                    let edited = actions.proposal_text(id).and_then(|before| {
                        let after = screen.suspend(|| actions.edit(id, &before)).map_err(cannot)??;
                        Ok((before, after))
                    });
                    match edited {
                        Ok((before, after)) => effect = model.on_edited(id, &before, &after),
                        Err(failure) => model.set_status(failure.message, true),
                    }
                }
                other => {
                    model.set_status("One moment…", false);
                    screen.draw(|frame| view::draw(frame, model, colour)).map_err(cannot)?;
                    perform(actions, model, other);
                }
            }
        }
    }
}

/// Loads the details of the current proposal if they are missing.
fn catch_up(actions: &ReviewActions<'_>, model: &mut ReviewModel) {
    let Some(id) = model.missing_detail() else { return };
    match actions.proposal_detail(id, model.scope(id)) {
        Ok(known) => model.set_detail(id, known.rows, known.is_open, known.outcome),
        Err(failure) => {
            model.set_detail(id, Vec::new(), true, None);
            model.set_status(failure.message, true);
        }
    }
}

/// Performs the effect of a key and reports the result to the model.
fn perform(actions: &ReviewActions<'_>, model: &mut ReviewModel, effect: UiEffect) {
    match effect {
        UiEffect::Decide(id, verdict, fate) => match actions.decide(id, &verdict, model.scope(id).as_ref()) {
            Ok(ActionResult::Decided { at, message }) => model.on_decided(id, fate, at, &message),
            Ok(ActionResult::Not { is_open, message }) => model.on_not_decided(id, is_open, message),
            Err(failure) => model.on_not_decided(id, true, failure.message),
        },
        UiEffect::TakeBack(id, at) => match actions.undo_decision(id, at) {
            Ok(None) => model.on_undone(id),
            Ok(Some(message)) => model.on_undo_failed(id, message),
            Err(failure) => model.set_status(failure.message, true),
        },
        UiEffect::Edit(_) | UiEffect::Quit => {}
    }
}

/// Prints the result of the review, in a line that stays on the terminal.
fn summary(context: &CommandContext<'_>, model: &ReviewModel) -> Result<(), CliError> {
    let decided: Vec<CardStatus> = model.decisions().collect();
    let rejected = decided.iter().filter(|fate| **fate == CardStatus::Rejected).count();
    let waiting = model.open() + model.hidden();
    context.out.line(format!("{} approved, {rejected} rejected, {waiting} pending", decided.len() - rejected))
}
