//! The state of a review and the effect of each key. The model knows no terminal and no engine: it takes
//! keys, returns effects, and is told their results.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use rekindle_core::base::scope::Scope;
use rekindle_core::base::time::Timestamp;
use rekindle_core::vault::review::Id;
use rekindle_engine::review::proposals::Verdict;

use super::card::{Card, Fate, Row};

/// The most characters of a typed reason.
const REASON_CHARS: usize = 200;

/// A key that was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
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
pub(crate) enum Effect {
    /// Decide on the proposal and show this outcome in the list.
    Decide(Id, Verdict, Fate),
    /// Open the text in an editor.
    Edit(Id),
    /// Take back the decision made at this time.
    TakeBack(Id, Timestamp),
    /// End the review.
    Quit,
}

/// The input mode, which gives the keys their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
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
struct Made {
    id: Id,
    at: Timestamp,
}

/// A message for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    /// True for an error.
    pub(crate) wrong: bool,
}

/// The state of a review.
#[derive(Debug)]
pub(crate) struct Model {
    cards: Vec<Card>,
    /// The number of today's cards; the queued ones follow.
    today: usize,
    all: bool,
    at: usize,
    detail: Option<(Id, Vec<Row>)>,
    scroll: usize,
    /// The number of rows, and of visible rows.
    extent: (usize, usize),
    mode: Mode,
    message: Message,
    made: Vec<Made>,
    /// The proposals that the person extends to every project.
    wide: HashSet<Id>,
}

impl Model {
    /// Creates the state from today's proposals and the queued ones.
    pub(crate) fn new(today: Vec<Card>, later: Vec<Card>, all: bool) -> Self {
        let count = today.len();
        Self {
            cards: today.into_iter().chain(later).collect(),
            today: count,
            all,
            at: 0,
            detail: None,
            scroll: 0,
            extent: (0, 0),
            mode: Mode::Browse,
            message: Message::default(),
            made: Vec::new(),
            wide: HashSet::new(),
        }
    }

    /// The cards of the list.
    pub(crate) fn cards(&self) -> &[Card] {
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

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn mode(&self) -> &Mode {
        &self.mode
    }

    pub(crate) fn message(&self) -> &Message {
        &self.message
    }

    pub(crate) fn scroll(&self) -> usize {
        self.scroll
    }

    pub(crate) fn detail(&self) -> &[Row] {
        self.detail.as_ref().map_or(&[], |(_, rows)| rows)
    }

    /// The outcome of each card that was decided here.
    pub(crate) fn decided(&self) -> impl Iterator<Item = Fate> {
        self.made.iter().filter_map(|made| self.card(made.id)).map(|card| card.fate)
    }

    pub(crate) fn current(&self) -> Option<&Card> {
        self.cards().get(self.at)
    }

    fn card(&self, id: Id) -> Option<&Card> {
        self.cards.iter().find(|card| card.id == id)
    }

    /// The proposal with missing details.
    pub(crate) fn wanted(&self) -> Option<Id> {
        let current = self.current()?.id;
        let is_there = self.detail.as_ref().is_some_and(|(id, _)| *id == current);
        (!is_there).then_some(current)
    }

    /// Shows the details of a proposal, and marks it if it no longer waits.
    pub(crate) fn show(&mut self, id: Id, rows: Vec<Row>, is_open: bool, told: Option<String>) {
        self.detail = Some((id, rows));
        let ours = self.made.iter().any(|made| made.id == id);
        if !is_open && !ours {
            self.set(id, Fate::Elsewhere);
            if let Some(told) = told {
                self.tell(told, true);
            }
        }
    }

    /// Sets the number of visible rows, which limits scrolling.
    pub(crate) fn set_extent(&mut self, rows: usize, seen: usize) {
        self.extent = (rows, seen);
        self.scroll = self.scroll.min(rows.saturating_sub(seen));
    }

    pub(crate) fn tell(&mut self, text: impl Into<String>, wrong: bool) {
        self.message = Message { text: text.into(), wrong };
    }

    fn set(&mut self, id: Id, fate: Fate) {
        if let Some(card) = self.cards.iter_mut().find(|card| card.id == id) {
            card.fate = fate;
        }
    }

    /// Records a decision and moves to the next proposal.
    pub(crate) fn was_decided(&mut self, id: Id, fate: Fate, at: Timestamp, told: &str) {
        self.set(id, fate);
        self.made.push(Made { id, at });
        self.detail = None;
        self.go_on();
        let rest = match (self.open(), self.hidden()) {
            (0, 0) => " That was all; q ends.",
            (0, _) => " That was all for today; m shows the rest, q ends.",
            _ => "",
        };
        self.tell(format!("{told}.{rest}"), false);
    }

    /// Records that a proposal was not decided; it still waits, or ended elsewhere.
    pub(crate) fn was_not_decided(&mut self, id: Id, is_open: bool, told: String) {
        if !is_open {
            self.set(id, Fate::Elsewhere);
        }
        self.detail = None;
        self.tell(told, true);
    }

    /// Records that a decision was taken back.
    pub(crate) fn was_taken_back(&mut self, id: Id) {
        self.made.retain(|made| made.id != id);
        self.set(id, Fate::Open);
        self.detail = None;
        if let Some(at) = self.cards().iter().position(|card| card.id == id) {
            self.go_to(at);
        }
        self.tell(format!("{id} waits again."), false);
    }

    /// Records that the last decision can no longer be taken back.
    pub(crate) fn cannot_be_taken_back(&mut self, id: Id, told: String) {
        self.made.retain(|made| made.id != id);
        self.tell(told, true);
    }

    /// Takes the edited text; `before` is the original.
    pub(crate) fn was_edited(&mut self, id: Id, before: &str, after: &str) -> Option<Effect> {
        let (before, after) = (before.trim(), after.trim());
        if after.is_empty() {
            self.tell(format!("{id} was not decided: there are no words in it."), true);
        } else if after == before {
            self.tell(format!("{id} was not decided: nothing was changed. a approves it as it is."), true);
        } else if self.card(id).is_some_and(|card| card.names_line) {
            self.mode = Mode::Which(after.to_owned());
        } else {
            return Some(Effect::Decide(id, Verdict::Edit(after.to_owned()), Fate::Edited));
        }
        None
    }

    /// Handles a key and returns its effect.
    pub(crate) fn update(&mut self, key: Key) -> Option<Effect> {
        if key == Key::Interrupt {
            return Some(Effect::Quit);
        }
        match self.mode.clone() {
            Mode::Browse => self.browse(&key),
            Mode::Help => {
                self.help(&key);
                None
            }
            Mode::Reason(words) => self.reason(words, key),
            Mode::Which(words) => self.which(words, &key),
        }
    }

    fn browse(&mut self, key: &Key) -> Option<Effect> {
        self.message = Message::default();
        match key {
            Key::Char('q') => return Some(Effect::Quit),
            Key::Char('?') => {
                self.mode = Mode::Help;
                self.scroll = 0;
            }
            Key::Char('j') | Key::Down => self.go_to(self.at + 1),
            Key::Char('k') | Key::Up => self.go_to(self.at.saturating_sub(1)),
            Key::Char('g') | Key::Home => self.go_to(0),
            Key::Char('G') | Key::End => self.go_to(usize::MAX),
            Key::PageDown | Key::Char(' ') => self.scroll_to(self.scroll + self.page()),
            Key::PageUp | Key::Char('b') => self.scroll_to(self.scroll.saturating_sub(self.page())),
            Key::Char('m') => self.more(),
            Key::Char('u') => match self.made.last() {
                Some(made) => return Some(Effect::TakeBack(made.id, made.at)),
                None => self.tell("Nothing was decided in this sitting.", true),
            },
            Key::Char('w') => self.widen(),
            Key::Char(letter @ ('a' | 'S' | 'e' | 'r' | 's')) => return self.choose(*letter),
            Key::Paste(_) => self.tell("A pasted text decides nothing here.", true),
            Key::Char(other) if !other.is_control() => {
                self.tell(format!("{other} does nothing; ? shows the keys."), true);
            }
            _ => {}
        }
        None
    }

    /// Toggles the scope between every project and the project of origin.
    fn widen(&mut self) {
        let Some(Card { id, holds_in, fate, .. }) = self.current().cloned() else { return };
        match holds_in.filter(|_| fate.is_open()) {
            None if fate.is_open() => self.tell(format!("{id} would not hold in one project only."), true),
            None => self.tell(format!("{id} is decided already; u takes the last decision back."), true),
            Some(project) => {
                // The preview depends on the scope.
                self.detail = None;
                if self.wide.remove(&id) {
                    self.tell(format!("{id} would hold in {project} only."), false);
                } else {
                    self.wide.insert(id);
                    self.tell(format!("{id} would hold everywhere."), false);
                }
            }
        }
    }

    /// The scope that the person chose for a proposal, if any.
    pub(crate) fn scope(&self, id: Id) -> Option<Scope> {
        self.wide.contains(&id).then_some(Scope::Global)
    }

    fn help(&mut self, key: &Key) {
        match key {
            Key::PageDown => self.scroll_to(self.scroll + self.page()),
            Key::PageUp => self.scroll_to(self.scroll.saturating_sub(self.page())),
            _ => {
                self.mode = Mode::Browse;
                self.scroll = 0;
            }
        }
    }

    fn page(&self) -> usize {
        self.extent.1.saturating_sub(1).max(1)
    }

    /// Handles a key that acts on the current proposal.
    fn choose(&mut self, letter: char) -> Option<Effect> {
        let Card { id, names_line, fate, .. } = self.current()?.clone();
        if !fate.is_open() {
            self.tell(format!("{id} is decided already; u takes the last decision back."), true);
            return None;
        }
        match letter {
            'a' if names_line => return Some(Effect::Decide(id, Verdict::KeepBoth(None), Fate::Approved)),
            'a' => return Some(Effect::Decide(id, Verdict::Approve, Fate::Approved)),
            'S' if names_line => return Some(Effect::Decide(id, Verdict::Approve, Fate::Superseding)),
            'S' => self.tell(format!("{id} names no line of MEMORY.md; a approves it."), true),
            'e' => return Some(Effect::Edit(id)),
            'r' => self.mode = Mode::Reason(String::new()),
            _ => {
                self.set(id, Fate::Skipped);
                self.go_on();
                self.tell(format!("{id} is skipped and waits."), false);
            }
        }
        None
    }

    fn reason(&mut self, mut words: String, key: Key) -> Option<Effect> {
        match key {
            Key::Enter => {
                self.mode = Mode::Browse;
                let id = self.current()?.id;
                let verdict = match words.trim() {
                    "" => Verdict::Reject,
                    reason => Verdict::RejectFor(reason.to_owned()),
                };
                return Some(Effect::Decide(id, verdict, Fate::Rejected));
            }
            Key::Escape => {
                self.mode = Mode::Browse;
                self.tell("Nothing was decided.", false);
                return None;
            }
            Key::Backspace => {
                words.pop();
            }
            Key::Char(letter) => words.push(letter),
            Key::Paste(text) => words.push_str(&text.replace(char::is_control, " ")),
            _ => {}
        }
        self.mode = Mode::Reason(words.chars().take(REASON_CHARS).collect());
        None
    }

    fn which(&mut self, words: String, key: &Key) -> Option<Effect> {
        let verdict = match key {
            Key::Char('a') => Verdict::KeepBoth(Some(words)),
            Key::Char('S') => Verdict::Edit(words),
            Key::Escape => {
                self.mode = Mode::Browse;
                self.tell("Nothing was decided; your words are dropped.", false);
                return None;
            }
            _ => return None,
        };
        self.mode = Mode::Browse;
        Some(Effect::Decide(self.current()?.id, verdict, Fate::Edited))
    }

    /// Moves to an open, unskipped proposal if the current one is not.
    pub(crate) fn find_open(&mut self) {
        if self.current().is_some_and(|card| card.fate != Fate::Open) {
            self.go_on();
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
    fn go_on(&mut self) {
        let count = self.cards().len();
        let around = (1..=count).map(|step| (self.at + step) % count);
        let next = around.into_iter().find(|at| self.cards()[*at].fate == Fate::Open);
        if let Some(next) = next {
            self.go_to(next);
        }
    }

    fn more(&mut self) {
        if self.cards.len() == self.today {
            self.tell("There is nothing more.", false);
            return;
        }
        self.all = !self.all;
        self.go_to(self.at);
    }
}
