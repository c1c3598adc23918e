//! Where one topic ends and another begins (OBS-14): after a long silence, when something else is asked for, when work
//! was finished, and where the host dropped what was before.

use std::collections::HashSet;

use super::command::Command;
use super::line::content;
use super::output::State;
use super::request;
use super::view::View;
use crate::session::Role;
use crate::time::Timestamp;

/// After a silence of so many seconds something new begins.
const SILENCE: i64 = 45 * 60;
/// A topic is not left before so many messages …
const FEW: usize = 10;
/// … and not kept beyond so many, if there is a place to part it.
const MANY: usize = 50;
/// A request that shares fewer of its words than this is about something else.
const SHARED: f64 = 0.2;

/// One topic: messages from `from` up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub from: usize,
    pub to: usize,
}

/// The topics of a session, in order; together they are all of it.
pub(super) fn segments(view: &View<'_>) -> Vec<Segment> {
    let commits: HashSet<usize> = view
        .steps
        .iter()
        .filter(|step| step.state == State::Passed && step.command.as_ref().is_some_and(Command::commits))
        .filter_map(|step| step.result)
        .collect();
    let mut segments = Vec::new();
    let mut from = 0;
    let mut words: HashSet<String> = HashSet::new();
    let mut finished = false;
    let mut said = view.said.iter().peekable();
    for at in 0..view.messages.len() {
        let message = &view.messages[at];
        let typed = said.next_if(|said| said.at == at);
        let request = typed
            .filter(|said| !request::goes_on(said))
            .and_then(request::request)
            .map(content)
            .unwrap_or_default();
        let long = at - from;
        let other = !request.is_empty() && {
            let shared = request.iter().filter(|word| words.contains(*word)).count();
            (shared as f64) < SHARED * request.len() as f64
        };
        let parts = match message.role {
            Role::Summary => true,
            Role::User => {
                silence(view, at)
                    || long >= MANY
                    || long >= FEW && other && !words.is_empty()
                    || long >= FEW && finished && !request.is_empty()
            }
            // Work without a word of the person is parted only where something was finished.
            Role::Assistant => long >= MANY && finished && at > 0 && commits.contains(&(at - 1)),
            Role::Tool => false,
        };
        if parts && at > from {
            segments.push(Segment { from, to: at });
            from = at;
            words.clear();
            finished = false;
        }
        words.extend(request);
        finished |= commits.contains(&at);
    }
    if from < view.messages.len() {
        segments.push(Segment { from, to: view.messages.len() });
    }
    segments
}

/// Whether nobody said anything for long before message `at`. A clock that went backwards tells nothing.
fn silence(view: &View<'_>, at: usize) -> bool {
    let time = |at: usize| view.messages[at].at.map(Timestamp::as_second);
    at > 0 && time(at).zip(time(at - 1)).is_some_and(|(now, before)| now - before >= SILENCE)
}
