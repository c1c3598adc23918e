//! Our hooks in a file of settings. Claude Code, Codex and Gemini CLI share the shape:
//! `hooks.<event>[].hooks[] = {"type": "command", "command": …, "timeout": …}`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::command::{Invocation, Recognised, recognise, split};
use super::events::{Registered, events};
use crate::base::agent::Agent;
use crate::hosts::jsonc;
use crate::hosts::jsonc::{BOM, Dialect, Document, Node, Step};

/// The white space that stood in objects and arrays that were there but empty, by their path. What became empty and is
/// not in here was made by us and goes with the last of our hooks.
pub type Blanks = BTreeMap<String, String>;

/// A hook of ours that is in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// For which event.
    pub event: String,
    /// In which group of that event.
    pub group: usize,
    /// At which place of the group.
    pub handler: usize,
    /// How many hooks the group has.
    pub group_size: usize,
    /// The line that is run.
    pub line: String,
    /// What it calls.
    pub recognised: Recognised,
    /// How long the agent waits, if it says.
    pub timeout: Option<u64>,
    /// What the group is limited to, if it is.
    pub matcher: Option<String>,
}

/// What an agent's settings are written in.
pub fn dialect(agent: Agent) -> Dialect {
    match agent {
        // Claude Code and Codex refuse a file with a comment in it as a whole.
        Agent::Claude | Agent::Codex | Agent::Pi => Dialect::Plain,
        Agent::Gemini => Dialect::Commented,
    }
}

/// Whether a text says nothing at all.
pub fn is_blank(text: &str) -> bool {
    text.trim_start_matches(BOM).trim().is_empty()
}

/// Our hooks in a text, in the order of the text.
pub fn find(text: &str, agent: Agent) -> Result<Vec<Found>, jsonc::Error> {
    if is_blank(text) {
        return Ok(Vec::new());
    }
    Ok(find_in(&Document::parse(text, dialect(agent))?, agent))
}

fn find_in(document: &Document, agent: Agent) -> Vec<Found> {
    let mut found = Vec::new();
    let Some(hooks) = document.get(&[Step::Key(HOOKS)]) else { return found };
    // A key that is there twice counts once.
    let last = |(at, key): &(usize, &str)| hooks.position(key) == Some(*at);
    for (_, key) in hooks.keys().enumerate().filter(last) {
        let groups = hooks.get(key).map(Node::items).unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let handlers = node.get(HOOKS).map(Node::items).unwrap_or_default();
            for (handler, one) in handlers.iter().enumerate() {
                let Some((line, recognised)) = ours(one, agent) else { continue };
                found.push(Found {
                    event: key.to_owned(),
                    group,
                    handler,
                    group_size: handlers.len(),
                    line,
                    recognised,
                    timeout: one.get(TIMEOUT).and_then(|timeout| timeout.value().as_u64()),
                    matcher: node.get(MATCHER).and_then(Node::text).map(str::to_owned),
                });
            }
        }
    }
    found
}

const HOOKS: &str = "hooks";
const COMMAND: &str = "command";
const ARGS: &str = "args";
const TIMEOUT: &str = "timeout";
const MATCHER: &str = "matcher";

fn ours(handler: &Node, agent: Agent) -> Option<(String, Recognised)> {
    let line = handler.get(COMMAND)?.text()?;
    let words = match handler.get(ARGS) {
        Some(args) => {
            let args = args.items().iter().filter_map(Node::text).map(str::to_owned);
            std::iter::once(line.to_owned()).chain(args).collect()
        }
        None => split(line),
    };
    recognise(&words, agent).map(|recognised| (line.to_owned(), recognised))
}

/// The text with all our hooks in it and everything else as it was. `blanks` learns what has to be left behind when they
/// go again.
pub fn install(
    text: &str,
    agent: Agent,
    invocation: &Invocation,
    blanks: &mut Blanks,
) -> Result<String, jsonc::Error> {
    let wanted = events(agent, invocation.before_tools);
    if is_blank(text) {
        let mark = if text.starts_with(BOM) { BOM.to_string() } else { String::new() };
        return Ok(mark + &fresh(agent, invocation));
    }
    let mut document = checked(text, agent)?;
    let stale = |found: &Found| wanted.iter().all(|one| one.event != found.event);
    remove(&mut document, agent, blanks, |_, found| stale(found))?;
    // The first of an event is the one that stays; more of them would capture everything twice.
    remove(&mut document, agent, blanks, |all, found| {
        all.iter().find(|one| one.event == found.event) != Some(found)
    })?;
    for one in &wanted {
        let there = find_in(&document, agent).into_iter().find(|found| found.event == one.event);
        match there {
            Some(found) => update(&mut document, &found, &invocation.line(agent, one.event), one)?,
            None => add(&mut document, one, &group(agent, invocation, one), blanks)?,
        }
    }
    Ok(document.into_text())
}

/// A file that holds our hooks and nothing else.
pub fn fresh(agent: Agent, invocation: &Invocation) -> String {
    let hooks: Map<String, Value> = events(agent, invocation.before_tools)
        .iter()
        .map(|one| (one.event.to_owned(), json!([group(agent, invocation, one)])))
        .collect();
    jsonc::fresh(&json!({HOOKS: hooks}))
}

/// The text without our hooks and without what was made for them. It may be left with nothing in it: `{}`.
pub fn uninstall(text: &str, agent: Agent, blanks: &Blanks) -> Result<String, jsonc::Error> {
    if is_blank(text) {
        return Ok(text.to_owned());
    }
    let mut document = Document::parse(text, dialect(agent))?;
    remove(&mut document, agent, blanks, |_, _| true)?;
    Ok(document.into_text())
}

/// Whether a text is an object with nothing in it, not even a comment.
pub fn is_empty_object(text: &str) -> bool {
    let inner = text.trim_start_matches(BOM).trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Parses, and makes sure that everything we would write into is what it should be.
fn checked(text: &str, agent: Agent) -> Result<Document, jsonc::Error> {
    let document = Document::parse(text, dialect(agent))?;
    let root = document.root();
    if !root.is_object() {
        return Err(document.error(root, "settings have to be an object `{ … }`"));
    }
    let Some(hooks) = root.get(HOOKS) else { return Ok(document) };
    if !hooks.is_object() {
        return Err(document.error(hooks, "`hooks` has to be an object `{ … }`"));
    }
    for one in events(agent, true) {
        if let Some(groups) = hooks.get(one.event).filter(|groups| !groups.is_array()) {
            return Err(document.error(groups, format!("`hooks.{}` has to be a list `[ … ]`", one.event)));
        }
    }
    Ok(document)
}

fn group(agent: Agent, invocation: &Invocation, one: &Registered) -> Value {
    let line = invocation.line(agent, one.event);
    let mut group = match agent {
        // Gemini CLI lists hooks by name, and switches them off by it.
        Agent::Gemini => {
            json!({HOOKS: [{"name": "rekindle", "type": "command", COMMAND: line, TIMEOUT: one.timeout}]})
        }
        _ => json!({HOOKS: [{"type": "command", COMMAND: line, TIMEOUT: one.timeout}]}),
    };
    if let (Value::Object(fields), Some(matcher)) = (&mut group, one.matcher) {
        fields.insert(MATCHER.to_owned(), json!(matcher));
    }
    group
}

fn add(
    document: &mut Document,
    one: &Registered,
    group: &Value,
    blanks: &mut Blanks,
) -> Result<(), jsonc::Error> {
    let event = [Step::Key(HOOKS), Step::Key(one.event)];
    let has = |path: &[Step<'_>]| document.get(path).is_some();
    let (has_hooks, has_event) = (has(&event[..1]), has(&event));
    if !has_hooks {
        return record(document, &[], Some(HOOKS), &json!({one.event: [group]}), blanks);
    }
    if !has_event {
        return record(document, &event[..1], Some(one.event), &json!([group]), blanks);
    }
    record(document, &event, None, group, blanks)
}

pub(super) fn record(
    document: &mut Document,
    path: &[Step<'_>],
    key: Option<&str>,
    value: &Value,
    blanks: &mut Blanks,
) -> Result<(), jsonc::Error> {
    if let Some(blank) = document.append(path, key, value)? {
        blanks.insert(name(path), blank);
    }
    Ok(())
}

fn name(path: &[Step<'_>]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

/// Brings a hook of ours up to date and leaves what the person changed about it, such as its timeout.
fn update(document: &mut Document, found: &Found, line: &str, one: &Registered) -> Result<(), jsonc::Error> {
    let path = [
        Step::Key(HOOKS),
        Step::Key(&found.event),
        Step::Index(found.group),
        Step::Key(HOOKS),
        Step::Index(found.handler),
    ];
    let args = document.get(&path).and_then(|handler| handler.position(ARGS));
    if let Some(at) = args {
        document.remove(&path, at, "")?;
    }
    if found.line != line {
        document.replace(&[&path[..], &[Step::Key(COMMAND)]].concat(), &Value::from(line))?;
    }
    if found.timeout.is_none() && document.get(&path).is_some_and(|handler| handler.get(TIMEOUT).is_none()) {
        document.append(&path, Some(TIMEOUT), &Value::from(one.timeout))?;
    }
    Ok(())
}

/// Removes those of our hooks that `which` names (it sees all of them, and one), and what has become empty by it.
fn remove(
    document: &mut Document,
    agent: Agent,
    blanks: &Blanks,
    which: impl Fn(&[Found], &Found) -> bool,
) -> Result<(), jsonc::Error> {
    let all = find_in(document, agent);
    // From the end, so that places before it stay what they are.
    for found in all.iter().rev().filter(|found| which(&all, found)) {
        let event = [Step::Key(HOOKS), Step::Key(found.event.as_str())];
        let group = [event[0], event[1], Step::Index(found.group)];
        if document.get(&group).and_then(|group| group.get(HOOKS)).is_some_and(|hooks| hooks.len() > 1) {
            document.remove(&[group[0], group[1], group[2], Step::Key(HOOKS)], found.handler, "")?;
            continue;
        }
        if !take_out(document, &event, found.group, blanks)? {
            continue;
        }
        let at = document.get(&event[..1]).and_then(|hooks| hooks.position(&found.event));
        if let Some(at) = at
            && take_out(document, &event[..1], at, blanks)?
            && let Some(at) = document.root().position(HOOKS)
        {
            take_out(document, &[], at, blanks)?;
        }
    }
    Ok(())
}

/// Takes a value out of its container. Whether nothing is left that anybody but us would have put there.
pub(super) fn take_out(
    document: &mut Document,
    container: &[Step<'_>],
    index: usize,
    blanks: &Blanks,
) -> Result<bool, jsonc::Error> {
    let blank = blanks.get(&name(container));
    document.remove(container, index, blank.map_or("", String::as_str))?;
    Ok(blank.is_none() && document.is_bare(container))
}

#[cfg(test)]
mod tests;
