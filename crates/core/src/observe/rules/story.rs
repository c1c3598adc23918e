//! What happened in a segment, in one or two sentences of plain facts (OBS-15): what was asked, in the person's words;
//! what was changed; how it ended. Where none of it is certain there is no story.

use std::collections::HashSet;

use super::command;
use super::course::{names, settled};
use super::draft::Draft;
use super::line::line;
use super::output::State;
use super::request;
use super::segment::Segment;
use super::view::{Said, View};
use crate::observe::Kind;

/// The most requests that a story tells.
const MOST: usize = 2;

/// The messages of the person in a segment, or the one before it if it goes on with that.
fn requests<'a>(view: &'a View<'_>, segment: &Segment) -> Vec<(&'a Said, &'a str)> {
    let first = view.said.partition_point(|said| said.at < segment.from);
    let last = view.said.partition_point(|said| said.at < segment.to);
    view.said[first..last].iter().filter_map(|said| Some((said, request::request(said)?))).collect()
}

/// The story of a segment.
pub(super) fn narrative(view: &View<'_>, segment: &Segment) -> String {
    let mut requests: Vec<&str> = requests(view, segment).into_iter().map(|(_, text)| text).collect();
    let mut seen = HashSet::new();
    requests.retain(|text| seen.insert(*text));
    let asked: Vec<String> = requests.iter().take(MOST).map(|text| quoted(text, 120)).collect();
    let more = requests.len().saturating_sub(MOST);
    let mut story = String::new();
    if !asked.is_empty() {
        story = format!("Asked: {}", asked.join(", then "));
        if more > 0 {
            story.push_str(&format!(" and {more} more"));
        }
        story.push('.');
    }
    let files = view.files(segment.from, segment.to);
    let end = ending(view, segment);
    let did = match (files.is_empty(), end) {
        (true, None) => None,
        (true, Some(end)) => Some(capital(&end)),
        (false, None) => Some(format!("Changed {}", names(&files, 3, 80))),
        (false, Some(end)) => Some(format!("Changed {}; {end}", names(&files, 3, 80))),
    };
    if let Some(did) = did {
        story = format!("{story} {did}.").trim_start().to_owned();
    }
    story
}

/// What was said, between quotation marks and without its full stop.
fn quoted(text: &str, most: usize) -> String {
    format!("“{}”", line(text, most).trim_end_matches(['.', ':', '。']))
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map(|first| first.to_uppercase().chain(signs).collect()).unwrap_or_default()
}

/// How the work of a segment ended, if a check or a commit tells.
fn ending(view: &View<'_>, segment: &Segment) -> Option<String> {
    let (step, state) = view.steps_between(segment.from, segment.to).rev().find_map(|step| settled(step))?;
    let command = step.command.as_ref()?;
    let what = line(&command.name(), 80);
    Some(match state {
        State::Passed if command.commits() => match command::subject(&step.call.input) {
            Some(subject) => format!("committed “{}”", line(&subject, 100)),
            None => "committed".to_owned(),
        },
        State::Passed => format!("`{what}` passed at the end"),
        _ => format!("`{what}` still failed at the end"),
    })
}

/// The files of a segment with what they were changed for (OBS-05): the request, or what the commit says.
pub(super) fn files(view: &View<'_>, segment: &Segment, known: &[Draft]) -> Option<Draft> {
    let files = view.files(segment.from, segment.to);
    let (last, _) = files.last()?;
    // A root cause names them already.
    let told = |name: &str| {
        known.iter().any(|draft| {
            let name = name.rsplit('/').next().unwrap_or(name);
            draft.kind == Kind::Fix
                && (segment.from..segment.to).contains(&draft.at)
                && draft.text.contains(name)
        })
    };
    if files.iter().all(|(_, name)| told(name)) {
        return None;
    }
    let first = files.first().map_or(segment.from, |(at, _)| *at);
    // "Yes, do that" says nothing about what for, and what was asked before it may have been something else.
    let asked = view.said[..view.said.partition_point(|said| said.at < first)].last();
    let asked = asked.filter(|said| said.at >= segment.from && !request::goes_on(said));
    let asked = asked.and_then(|said| Some((said, request::request(said)?)));
    // What comes in with a merge was done elsewhere, for reasons that nobody gives here.
    if asked.is_some_and(|(_, text)| request::merges(text)) {
        return None;
    }
    let request = asked.filter(|(_, text)| !text.ends_with([':', '：']));
    let commit = view
        .steps_between(first, segment.to)
        .rev()
        .filter(|step| step.state == State::Passed)
        .find_map(|step| Some((step.at, command::subject(&step.call.input)?)));
    let shown = names(&files, 4, 70);
    let (text, purpose) = match (request, commit) {
        (Some((said, request)), _) => (format!("Changed {shown} for {}", quoted(request, 120)), said.at),
        (None, Some((at, subject))) => {
            (format!("Changed {shown}; committed as {}", quoted(&subject, 100)), at)
        }
        // Without a purpose it is only a list of files.
        (None, None) => return None,
    };
    let mut draft = Draft::of_agent(Kind::Files, *last, text);
    draft.messages.push(purpose);
    draft.messages.extend(files.iter().map(|(at, _)| *at));
    Some(draft)
}
