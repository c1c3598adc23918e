//! The state of a review and the effect of each key. The model knows no terminal and no engine: it takes
//! keys, returns effects, and is told their results.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use rekindle_core::base::scope::Scope;
use rekindle_core::base::time::Timestamp;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::review::proposals::ProposalVerdict;

use super::card::{CardRow, CardStatus, ProposalCard};

/// The most characters of a typed reason.
const MAX_REASON_CHARS: usize = 200;

/// A key that was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Pasted text, which is not a series of keys.
    Paste(String),
}

/// The effect of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UiEffect {
    /// Decide on the proposal and show this outcome in the list.
    Decide(ProposalId, ProposalVerdict, CardStatus),
    /// Open the text in an editor.
    Edit(ProposalId),
    /// Take back the decision made at this time.
    TakeBack(ProposalId, Timestamp),
    /// End the review.
    Quit,
}

/// The input mode, which gives the keys their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// Browsing the list.
    Browse,
    /// Reading the help.
    Help,
    /// Typing the reason of a rejection.
    Reason(String),
    /// New text for a proposal that names a line: replace the line, or keep both.
    Which(String),
}

/// A decision made in this review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SessionDecision {
    id: ProposalId,
    at: Timestamp,
}

/// A message for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusMessage {
    pub(crate) text: String,
    /// True for an error.
    pub(crate) wrong: bool,
}

/// The state of a review.
#[derive(Debug)]
pub(crate) struct ReviewModel {
    cards: Vec<ProposalCard>,
    /// The number of today's cards; the queued ones follow.
    today: usize,
    all: bool,
    at: usize,
    detail: Option<(ProposalId, Vec<CardRow>)>,
    scroll: usize,
    /// The number of rows, and of visible rows.
    extent: (usize, usize),
    mode: InputMode,
    message: StatusMessage,
    decisions: Vec<SessionDecision>,
    /// The proposals that the person extends to every project.
    wide: HashSet<ProposalId>,
}

impl ReviewModel {
    /// Creates the state from today's proposals and the queued ones.
    pub(crate) fn new(today: Vec<ProposalCard>, later: Vec<ProposalCard>, all: bool) -> Self {
        let count = today.len();
        Self {
            cards: today.into_iter().chain(later).collect(),
            today: count,
            all,
            at: 0,
            detail: None,
            scroll: 0,
            extent: (0, 0),
            mode: InputMode::Browse,
            message: StatusMessage::default(),
            decisions: Vec::new(),
            wide: HashSet::new(),
        }
    }

    /// The cards of the list.
    pub(crate) fn cards(&self) -> &[ProposalCard] {
        if self.all { &self.cards } else { &self.cards[..self.today] }
    }

    /// The number of waiting proposals outside the list.
    pub(crate) fn hidden(&self) -> usize {
        self.cards.len() - self.cards().len()
    }

    /// The number of cards that wait for a decision.
    pub(crate) fn open(&self) -> usize {
        self.cards().iter().filter(|card| card.fate.is_open()).count()
    }

    pub(crate) fn selected(&self) -> usize {
        self.at
    }

    pub(crate) fn mode(&self) -> &InputMode {
        &self.mode
    }

    pub(crate) fn message(&self) -> &StatusMessage {
        &self.message
    }

    pub(crate) fn scroll(&self) -> usize {
        self.scroll
    }

    pub(crate) fn detail(&self) -> &[CardRow] {
        self.detail.as_ref().map_or(&[], |(_, rows)| rows)
    }

    /// The outcome of each card that was decided here.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = CardStatus> {
        self.decisions.iter().filter_map(|made| self.card(made.id)).map(|card| card.fate)
    }

    pub(crate) fn current(&self) -> Option<&ProposalCard> {
        self.cards().get(self.at)
    }

    fn card(&self, id: ProposalId) -> Option<&ProposalCard> {
        self.cards.iter().find(|card| card.id == id)
    }

    /// The proposal with missing details.
    pub(crate) fn missing_detail(&self) -> Option<ProposalId> {
        let current = self.current()?.id;
        let is_there = self.detail.as_ref().is_some_and(|(id, _)| *id == current);
        (!is_there).then_some(current)
    }

    /// Shows the details of a proposal, and marks it if it no longer waits.
    pub(crate) fn set_detail(
        &mut self,
        id: ProposalId,
        rows: Vec<CardRow>,
        is_open: bool,
        reason: Option<String>,
    ) {
        self.detail = Some((id, rows));
        let ours = self.decisions.iter().any(|made| made.id == id);
        if !is_open && !ours {
            self.set(id, CardStatus::Elsewhere);
            if let Some(reason) = reason {
                self.set_status(reason, true);
            }
        }
    }

    /// Sets the number of visible rows, which limits scrolling.
    pub(crate) fn set_extent(&mut self, rows: usize, seen: usize) {
        self.extent = (rows, seen);
        self.scroll = self.scroll.min(rows.saturating_sub(seen));
    }

    pub(crate) fn set_status(&mut self, text: impl Into<String>, wrong: bool) {
        self.message = StatusMessage { text: text.into(), wrong };
    }

    fn set(&mut self, id: ProposalId, fate: CardStatus) {
        if let Some(card) = self.cards.iter_mut().find(|card| card.id == id) {
            card.fate = fate;
        }
    }

    /// Records a decision and moves to the next proposal.
    pub(crate) fn on_decided(&mut self, id: ProposalId, fate: CardStatus, at: Timestamp, outcome: &str) {
        self.set(id, fate);
        self.decisions.push(SessionDecision { id, at });
        self.detail = None;
        self.select_next();
        let rest = match (self.open(), self.hidden()) {
            (0, 0) => " That was the last one; q quits.",
            (0, _) => " That was the last one for today; m shows the rest, q quits.",
            _ => "",
        };
        self.set_status(format!("{outcome}.{rest}"), false);
    }

    /// Records that a proposal was not decided; it still waits, or ended elsewhere.
    pub(crate) fn on_not_decided(&mut self, id: ProposalId, is_open: bool, reason: String) {
        if !is_open {
            self.set(id, CardStatus::Elsewhere);
        }
        self.detail = None;
        self.set_status(reason, true);
    }

    /// Records that a decision was taken back.
    pub(crate) fn on_undone(&mut self, id: ProposalId) {
        self.decisions.retain(|made| made.id != id);
        self.set(id, CardStatus::Open);
        self.detail = None;
        if let Some(at) = self.cards().iter().position(|card| card.id == id) {
            self.go_to(at);
        }
        self.set_status(format!("{id} is pending again."), false);
    }

    /// Records that the last decision can no longer be taken back.
    pub(crate) fn on_undo_failed(&mut self, id: ProposalId, reason: String) {
        self.decisions.retain(|made| made.id != id);
        self.set_status(reason, true);
    }

    /// Takes the edited text; `before` is the original.
    pub(crate) fn on_edited(&mut self, id: ProposalId, before: &str, after: &str) -> Option<UiEffect> {
        let (before, after) = (before.trim(), after.trim());
        if after.is_empty() {
            self.set_status(format!("{id} was not decided: the text is empty."), true);
        } else if after == before {
            self.set_status(
                format!("{id} was not decided: the text is unchanged. a approves it as is."),
                true,
            );
        } else if self.card(id).is_some_and(|card| card.names_line) {
            self.mode = InputMode::Which(after.to_owned());
        } else {
            return Some(UiEffect::Decide(id, ProposalVerdict::Edit(after.to_owned()), CardStatus::Edited));
        }
        None
    }

    /// Handles a key and returns its effect.
    pub(crate) fn update(&mut self, key: KeyPress) -> Option<UiEffect> {
        if key == KeyPress::Interrupt {
            return Some(UiEffect::Quit);
        }
        match self.mode.clone() {
            InputMode::Browse => self.browse(&key),
            InputMode::Help => {
                self.help(&key);
                None
            }
            InputMode::Reason(words) => self.reason(words, key),
            InputMode::Which(words) => self.input_key(words, &key),
        }
    }

    fn browse(&mut self, key: &KeyPress) -> Option<UiEffect> {
        self.message = StatusMessage::default();
        match key {
            KeyPress::Char('q') => return Some(UiEffect::Quit),
            KeyPress::Char('?') => {
                self.mode = InputMode::Help;
                self.scroll = 0;
            }
            KeyPress::Char('j') | KeyPress::Down => self.go_to(self.at + 1),
            KeyPress::Char('k') | KeyPress::Up => self.go_to(self.at.saturating_sub(1)),
            KeyPress::Char('g') | KeyPress::Home => self.go_to(0),
            KeyPress::Char('G') | KeyPress::End => self.go_to(usize::MAX),
            KeyPress::PageDown | KeyPress::Char(' ') => self.scroll_to(self.scroll + self.page()),
            KeyPress::PageUp | KeyPress::Char('b') => self.scroll_to(self.scroll.saturating_sub(self.page())),
            KeyPress::Char('m') => self.show_more(),
            KeyPress::Char('u') => match self.decisions.last() {
                Some(made) => return Some(UiEffect::TakeBack(made.id, made.at)),
                None => self.set_status("No decision to undo.", true),
            },
            KeyPress::Char('w') => self.widen(),
            KeyPress::Char(letter @ ('a' | 'S' | 'e' | 'r' | 's')) => return self.choose(*letter),
            KeyPress::Paste(_) => self.set_status("Pasted text is ignored here.", true),
            KeyPress::Char(other) if !other.is_control() => {
                self.set_status(format!("{other} does nothing; ? shows the keys."), true);
            }
            _ => {}
        }
        None
    }

    /// Toggles the scope between every project and the project of origin.
    fn widen(&mut self) {
        let Some(ProposalCard { id, holds_in, fate, .. }) = self.current().cloned() else { return };
        match holds_in.filter(|_| fate.is_open()) {
            None if fate.is_open() => {
                self.set_status(format!("{id} belongs to no project, so it applies everywhere."), true);
            }
            None => {
                self.set_status(format!("{id} is already decided; u undoes the last decision."), true);
            }
            Some(project) => {
                // The preview depends on the scope.
                self.detail = None;
                if self.wide.remove(&id) {
                    self.set_status(format!("{id} will apply to {project} only."), false);
                } else {
                    self.wide.insert(id);
                    self.set_status(format!("{id} will apply everywhere."), false);
                }
            }
        }
    }

    /// The scope that the person chose for a proposal, if any.
    pub(crate) fn scope(&self, id: ProposalId) -> Option<Scope> {
        self.wide.contains(&id).then_some(Scope::Global)
    }

    fn help(&mut self, key: &KeyPress) {
        match key {
            KeyPress::PageDown => self.scroll_to(self.scroll + self.page()),
            KeyPress::PageUp => self.scroll_to(self.scroll.saturating_sub(self.page())),
            _ => {
                self.mode = InputMode::Browse;
                self.scroll = 0;
            }
        }
    }

    fn page(&self) -> usize {
        self.extent.1.saturating_sub(1).max(1)
    }

    /// Handles a key that acts on the current proposal.
    fn choose(&mut self, letter: char) -> Option<UiEffect> {
        let ProposalCard { id, names_line, fate, .. } = self.current()?.clone();
        if !fate.is_open() {
            self.set_status(format!("{id} is already decided; u undoes the last decision."), true);
            return None;
        }
        match letter {
            'a' if names_line => {
                return Some(UiEffect::Decide(id, ProposalVerdict::KeepBoth(None), CardStatus::Approved));
            }
            'a' => return Some(UiEffect::Decide(id, ProposalVerdict::Approve, CardStatus::Approved)),
            'S' if names_line => {
                return Some(UiEffect::Decide(id, ProposalVerdict::Approve, CardStatus::Superseding));
            }
            'S' => self.set_status(format!("{id} replaces no line; a approves it."), true),
            'e' => return Some(UiEffect::Edit(id)),
            'r' => self.mode = InputMode::Reason(String::new()),
            _ => {
                self.set(id, CardStatus::Skipped);
                self.select_next();
                self.set_status(format!("{id} is skipped and stays pending."), false);
            }
        }
        None
    }

    fn reason(&mut self, mut words: String, key: KeyPress) -> Option<UiEffect> {
        match key {
            KeyPress::Enter => {
                self.mode = InputMode::Browse;
                let id = self.current()?.id;
                let verdict = match words.trim() {
                    "" => ProposalVerdict::Reject,
                    reason => ProposalVerdict::RejectFor(reason.to_owned()),
                };
                return Some(UiEffect::Decide(id, verdict, CardStatus::Rejected));
            }
            KeyPress::Escape => {
                self.mode = InputMode::Browse;
                self.set_status("No decision made.", false);
                return None;
            }
            KeyPress::Backspace => {
                words.pop();
            }
            KeyPress::Char(letter) => words.push(letter),
            KeyPress::Paste(text) => words.push_str(&text.replace(char::is_control, " ")),
            _ => {}
        }
        self.mode = InputMode::Reason(words.chars().take(MAX_REASON_CHARS).collect());
        None
    }

    fn input_key(&mut self, words: String, key: &KeyPress) -> Option<UiEffect> {
        let verdict = match key {
            KeyPress::Char('a') => ProposalVerdict::KeepBoth(Some(words)),
            KeyPress::Char('S') => ProposalVerdict::Edit(words),
            KeyPress::Escape => {
                self.mode = InputMode::Browse;
                self.set_status("No decision made; your wording is discarded.", false);
                return None;
            }
            _ => return None,
        };
        self.mode = InputMode::Browse;
        Some(UiEffect::Decide(self.current()?.id, verdict, CardStatus::Edited))
    }

    /// Moves to an open, unskipped proposal if the current one is not.
    pub(crate) fn select_open(&mut self) {
        if self.current().is_some_and(|card| card.fate != CardStatus::Open) {
            self.select_next();
        }
    }

    fn go_to(&mut self, at: usize) {
        self.at = at.min(self.cards().len().saturating_sub(1));
        self.scroll = 0;
    }

    fn scroll_to(&mut self, row: usize) {
        self.scroll = row.min(self.extent.0.saturating_sub(self.extent.1));
    }

    /// Moves to the next open, unskipped proposal, wrapping around.
    fn select_next(&mut self) {
        let count = self.cards().len();
        let around = (1..=count).map(|step| (self.at + step) % count);
        let next = around.into_iter().find(|at| self.cards()[*at].fate == CardStatus::Open);
        if let Some(next) = next {
            self.go_to(next);
        }
    }

    fn show_more(&mut self) {
        if self.cards.len() == self.today {
            self.set_status("There are no more proposals.", false);
            return;
        }
        self.all = !self.all;
        self.go_to(self.at);
    }
}
