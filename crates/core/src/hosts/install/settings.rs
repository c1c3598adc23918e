//! Our hooks in a settings file. Claude Code, Codex and Gemini CLI share the shape: `hooks.<event>[].hooks[]
//! = {"type": "command", "command": …, "timeout": …}`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::command::{HookInvocation, RecognisedCommand, recognise_command, split};
use super::events::{RegisteredEvent, events};
use crate::base::agent::Agent;
use crate::hosts::jsonc;
use crate::hosts::jsonc::{BOM, JsonDialect, JsonNode, JsonPathStep, JsoncDocument};

/// The white space inside objects and arrays that existed but were empty, keyed by path. An empty container
/// that is not listed was created by us and is removed with the last of our hooks.
pub type EmptyContainers = BTreeMap<String, String>;

/// A hook of ours in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event that it is registered for.
    pub event: String,
    /// The index of its group within the event.
    pub group: usize,
    /// The index of the hook within the group.
    pub handler: usize,
    /// The number of hooks in the group.
    pub group_size: usize,
    /// The command line that the agent runs in a shell; with `args`, the program that it runs without one.
    pub line: String,
    /// The arguments, if they are listed apart from the command.
    pub args: Option<Vec<String>>,
    /// The parsed command line.
    pub recognised: RecognisedCommand,
    /// The configured timeout, if any.
    pub timeout: Option<u64>,
    /// The group's tool filter, if any.
    pub matcher: Option<String>,
}

/// The JSON dialect of an agent's settings.
pub fn dialect(agent: Agent) -> JsonDialect {
    match agent {
        // Claude Code and Codex reject a file that contains a comment.
        Agent::Claude | Agent::Codex | Agent::Pi => JsonDialect::Plain,
        Agent::Gemini => JsonDialect::Commented,
    }
}

/// True if a text is empty or only white space.
pub fn is_blank(text: &str) -> bool {
    text.trim_start_matches(BOM).trim().is_empty()
}

/// Our hooks in a settings text, in text order.
pub fn find(text: &str, agent: Agent) -> Result<Vec<InstalledHook>, jsonc::Error> {
    if is_blank(text) {
        return Ok(Vec::new());
    }
    Ok(find_in(&JsoncDocument::parse(text, dialect(agent))?, agent))
}

fn find_in(document: &JsoncDocument, agent: Agent) -> Vec<InstalledHook> {
    let mut found = Vec::new();
    let Some(hooks) = document.get(&[JsonPathStep::Key(HOOKS_KEY)]) else { return found };
    // Of a duplicated key only the last counts.
    let last = |(at, key): &(usize, &str)| hooks.position(key) == Some(*at);
    for (_, key) in hooks.keys().enumerate().filter(last) {
        let groups = hooks.get(key).map(JsonNode::items).unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let handlers = node.get(HOOKS_KEY).map(JsonNode::items).unwrap_or_default();
            for (handler, one) in handlers.iter().enumerate() {
                let Some((line, args, recognised)) = parse_our_hook(one, agent) else { continue };
                found.push(InstalledHook {
                    event: key.to_owned(),
                    group,
                    handler,
                    group_size: handlers.len(),
                    line,
                    args,
                    recognised,
                    timeout: one.get(TIMEOUT_KEY).and_then(|timeout| timeout.value().as_u64()),
                    matcher: node.get(MATCHER_KEY).and_then(JsonNode::text).map(str::to_owned),
                });
            }
        }
    }
    found
}

const HOOKS_KEY: &str = "hooks";
const COMMAND_KEY: &str = "command";
const ARGS_KEY: &str = "args";
const TIMEOUT_KEY: &str = "timeout";
const MATCHER_KEY: &str = "matcher";

fn parse_our_hook(
    handler: &JsonNode,
    agent: Agent,
) -> Option<(String, Option<Vec<String>>, RecognisedCommand)> {
    let line = handler.get(COMMAND_KEY)?.text()?;
    let args: Option<Vec<String>> = handler
        .get(ARGS_KEY)
        .map(|args| args.items().iter().filter_map(JsonNode::text).map(str::to_owned).collect());
    let words = match &args {
        Some(args) => std::iter::once(line.to_owned()).chain(args.iter().cloned()).collect(),
        None => split(line),
    };
    recognise_command(&words, agent).map(|recognised| (line.to_owned(), args, recognised))
}

/// Adds all our hooks to a settings text and keeps everything else as it was. `blanks` records the white
/// space to restore on uninstall.
pub fn install(
    text: &str,
    agent: Agent,
    invocation: &HookInvocation,
    blanks: &mut EmptyContainers,
) -> Result<String, jsonc::Error> {
    let wanted = events(agent, invocation.before_tools);
    if is_blank(text) {
        let mark = if text.starts_with(BOM) { BOM.to_string() } else { String::new() };
        return Ok(mark + &new_settings(agent, invocation));
    }
    let mut document = checked(text, agent)?;
    let stale = |found: &InstalledHook| wanted.iter().all(|one| one.event != found.event);
    remove(&mut document, agent, blanks, |_, found| stale(found))?;
    // Keep the first hook per event. Two would capture everything twice.
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

/// A settings file with our hooks and nothing else.
pub fn new_settings(agent: Agent, invocation: &HookInvocation) -> String {
    let hooks: Map<String, Value> = events(agent, invocation.before_tools)
        .iter()
        .map(|one| (one.event.to_owned(), json!([group(agent, invocation, one)])))
        .collect();
    jsonc::render_value(&json!({HOOKS_KEY: hooks}))
}

/// Removes our hooks from a settings text, and everything that was created for them. The result may be `{}`.
pub fn uninstall(text: &str, agent: Agent, blanks: &EmptyContainers) -> Result<String, jsonc::Error> {
    if is_blank(text) {
        return Ok(text.to_owned());
    }
    let mut document = JsoncDocument::parse(text, dialect(agent))?;
    remove(&mut document, agent, blanks, |_, _| true)?;
    Ok(document.into_text())
}

/// True if a text is an empty object without even a comment in it.
pub fn is_empty_object(text: &str) -> bool {
    let inner = text.trim_start_matches(BOM).trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Parses a settings text and checks the types of everything that we would write into.
fn checked(text: &str, agent: Agent) -> Result<JsoncDocument, jsonc::Error> {
    let document = JsoncDocument::parse(text, dialect(agent))?;
    let root = document.root();
    if !root.is_object() {
        return Err(document.error(root, "settings must be an object `{ … }`"));
    }
    let Some(hooks) = root.get(HOOKS_KEY) else { return Ok(document) };
    if !hooks.is_object() {
        return Err(document.error(hooks, "`hooks` must be an object `{ … }`"));
    }
    for one in events(agent, true) {
        if let Some(groups) = hooks.get(one.event).filter(|groups| !groups.is_array()) {
            return Err(document.error(groups, format!("`hooks.{}` must be a list `[ … ]`", one.event)));
        }
    }
    Ok(document)
}

fn group(agent: Agent, invocation: &HookInvocation, one: &RegisteredEvent) -> Value {
    let line = invocation.line(agent, one.event);
    let mut group = match agent {
        // Gemini CLI lists and disables hooks by name.
        Agent::Gemini => {
            json!({HOOKS_KEY: [{"name": "rekindle", "type": "command", COMMAND_KEY: line, TIMEOUT_KEY: one.timeout}]})
        }
        _ => json!({HOOKS_KEY: [{"type": "command", COMMAND_KEY: line, TIMEOUT_KEY: one.timeout}]}),
    };
    if let (Value::Object(fields), Some(matcher)) = (&mut group, one.matcher) {
        fields.insert(MATCHER_KEY.to_owned(), json!(matcher));
    }
    group
}

fn add(
    document: &mut JsoncDocument,
    one: &RegisteredEvent,
    group: &Value,
    blanks: &mut EmptyContainers,
) -> Result<(), jsonc::Error> {
    let event = [JsonPathStep::Key(HOOKS_KEY), JsonPathStep::Key(one.event)];
    let has = |path: &[JsonPathStep<'_>]| document.get(path).is_some();
    let (has_hooks, has_event) = (has(&event[..1]), has(&event));
    if !has_hooks {
        return record(document, &[], Some(HOOKS_KEY), &json!({one.event: [group]}), blanks);
    }
    if !has_event {
        return record(document, &event[..1], Some(one.event), &json!([group]), blanks);
    }
    record(document, &event, None, group, blanks)
}

pub(super) fn record(
    document: &mut JsoncDocument,
    path: &[JsonPathStep<'_>],
    key: Option<&str>,
    value: &Value,
    blanks: &mut EmptyContainers,
) -> Result<(), jsonc::Error> {
    if let Some(blank) = document.append(path, key, value)? {
        blanks.insert(name(path), blank);
    }
    Ok(())
}

fn name(path: &[JsonPathStep<'_>]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

/// Updates a hook of ours and keeps the user's changes to it, such as the timeout.
fn update(
    document: &mut JsoncDocument,
    found: &InstalledHook,
    line: &str,
    one: &RegisteredEvent,
) -> Result<(), jsonc::Error> {
    let path = [
        JsonPathStep::Key(HOOKS_KEY),
        JsonPathStep::Key(&found.event),
        JsonPathStep::Index(found.group),
        JsonPathStep::Key(HOOKS_KEY),
        JsonPathStep::Index(found.handler),
    ];
    let args = document.get(&path).and_then(|handler| handler.position(ARGS_KEY));
    if let Some(at) = args {
        document.remove(&path, at, "")?;
    }
    if found.line != line {
        document.replace(&[&path[..], &[JsonPathStep::Key(COMMAND_KEY)]].concat(), &Value::from(line))?;
    }
    if found.timeout.is_none()
        && document.get(&path).is_some_and(|handler| handler.get(TIMEOUT_KEY).is_none())
    {
        document.append(&path, Some(TIMEOUT_KEY), &Value::from(one.timeout))?;
    }
    Ok(())
}

/// Removes those of our hooks that `which` selects (it gets all hooks, and one), and containers that become
/// empty.
fn remove(
    document: &mut JsoncDocument,
    agent: Agent,
    blanks: &EmptyContainers,
    which: impl Fn(&[InstalledHook], &InstalledHook) -> bool,
) -> Result<(), jsonc::Error> {
    let all = find_in(document, agent);
    // From the end, so that earlier indexes stay valid.
    for found in all.iter().rev().filter(|found| which(&all, found)) {
        let event = [JsonPathStep::Key(HOOKS_KEY), JsonPathStep::Key(found.event.as_str())];
        let group = [event[0], event[1], JsonPathStep::Index(found.group)];
        if document.get(&group).and_then(|group| group.get(HOOKS_KEY)).is_some_and(|hooks| hooks.len() > 1) {
            document.remove(
                &[group[0], group[1], group[2], JsonPathStep::Key(HOOKS_KEY)],
                found.handler,
                "",
            )?;
            continue;
        }
        if !remove_value(document, &event, found.group, blanks)? {
            continue;
        }
        let at = document.get(&event[..1]).and_then(|hooks| hooks.position(&found.event));
        if let Some(at) = at
            && remove_value(document, &event[..1], at, blanks)?
            && let Some(at) = document.root().position(HOOKS_KEY)
        {
            remove_value(document, &[], at, blanks)?;
        }
    }
    Ok(())
}

/// Removes a value from its container. Returns true if the container is empty now and was created by us.
pub(super) fn remove_value(
    document: &mut JsoncDocument,
    container: &[JsonPathStep<'_>],
    index: usize,
    blanks: &EmptyContainers,
) -> Result<bool, jsonc::Error> {
    let blank = blanks.get(&name(container));
    document.remove(container, index, blank.map_or("", String::as_str))?;
    Ok(blank.is_none() && document.is_bare(container))
}

#[cfg(test)]
mod tests;
