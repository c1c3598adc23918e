//! The user's trust in our hooks, as Codex stores it:
//! `hooks.state."<file>:<event>:<group>:<place>".trusted_hash` in its `config.toml`. A hook without trust
//! silently does not run.
//!
//! The text is spliced, not rendered anew, so that every other byte stays. Tested with Codex 0.166.0; if a
//! later version reads an entry differently, a hook stays untrusted, and never the wrong one becomes trusted.

use std::ops::Range;
use std::path::Path;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::hosts::install::settings::InstalledHook;
use serde_json::Value;
use toml_edit::{Document, Item, Key, TableLike};

/// The timeout that Codex enforces at session end, regardless of the hook's own.
const MAX_SESSION_END_SECONDS: u64 = 3;
const DEFAULT_TIMEOUT_SECONDS: u64 = 600;
const HASH_KEY: &str = "trusted_hash";

/// A trust entry of Codex.
struct HookTrust {
    key: String,
    hash: String,
}

/// The name of an event in Codex's keys: `SessionStart` becomes `session_start`.
fn to_snake_case(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn prefix(hooks: &Path, event: &str) -> String {
    format!("{}:{}:", hooks.to_string_lossy(), to_snake_case(event))
}

fn entry(hooks: &Path, found: &InstalledHook) -> HookTrust {
    let event = Value::from(to_snake_case(&found.event));
    let command = Value::from(found.line.as_str());
    let asked = found.timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS);
    let timeout = if found.event == "SessionEnd" { asked.min(MAX_SESSION_END_SECONDS) } else { asked };
    let matcher = found
        .matcher
        .as_ref()
        .map_or_else(String::new, |text| format!(",\"matcher\":{}", Value::from(text.as_str())));
    let identity = format!(
        "{{\"event_name\":{event},\"hooks\":[{{\"async\":false,\"command\":{command},\"timeout\":{timeout},\
         \"type\":\"command\"}}]{matcher}}}"
    );
    HookTrust {
        key: format!("{}{}:{}", prefix(hooks, &found.event), found.group, found.handler),
        hash: format!("sha256:{}", ContentHash::of_bytes(identity.as_bytes())),
    }
}

pub(super) fn parse(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| error.to_string().replace('\n', " ").trim().to_owned())
}

/// The `hooks.state` table, in any notation.
fn state<'a>(document: &'a Document<&str>) -> Option<&'a dyn TableLike> {
    document.get("hooks")?.as_table_like()?.get("state")?.as_table_like()
}

fn hash_of(item: &Item) -> Option<&str> {
    item.as_table_like()?.get(HASH_KEY)?.as_str()
}

/// True if Codex trusts all of these hooks.
pub(super) fn is_trusted(text: &str, hooks: &Path, found: &[InstalledHook]) -> bool {
    let Ok(document) = parse(text) else { return false };
    let trusted = |entry: &HookTrust| {
        state(&document)?.get(&entry.key).and_then(hash_of).map(|hash| hash == entry.hash)
    };
    !found.is_empty() && found.iter().all(|one| trusted(&entry(hooks, one)) == Some(true))
}

/// The text with trust in all of these hooks.
pub(super) fn add_trust(text: &str, hooks: &Path, found: &[InstalledHook]) -> Result<String, String> {
    let document = parse(text)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (mut splices, mut blocks) = (Vec::new(), Vec::new());
    for entry in found.iter().map(|one| entry(hooks, one)) {
        let there = state(&document).and_then(|state| state.get(&entry.key));
        let hash = Value::from(entry.hash.as_str());
        match (there, there.and_then(|item| item.as_table_like()?.get(HASH_KEY))) {
            (Some(item), _) if hash_of(item) == Some(&entry.hash) => {}
            (_, Some(old)) => splices.extend(old.span().map(|span| (span, hash.to_string()))),
            (Some(item), None) => {
                let header = item.as_table().and_then(toml_edit::Table::span).ok_or(UNEDITABLE_TRUST)?;
                splices.push((header.end..header.end, format!("{newline}{HASH_KEY} = {hash}")));
            }
            (None, None) => {
                let key = Key::new(&entry.key);
                blocks.push(format!("[hooks.state.{}]{newline}{HASH_KEY} = {hash}", key.display_repr()));
            }
        }
    }
    let mut after = text.to_owned();
    for (span, new) in splices.into_iter().rev() {
        after.replace_range(span, &new);
    }
    // The new text ends as the file did: with or without a line end.
    let ended = after.is_empty() || after.ends_with('\n');
    for block in blocks {
        match (after.is_empty(), ended) {
            (true, _) => {}
            (false, true) => after.push_str(newline),
            (false, false) => after.extend([newline, newline]),
        }
        after.push_str(&block);
        if ended {
            after.push_str(newline);
        }
    }
    match is_trusted(&after, hooks, found) {
        true => Ok(after),
        false => Err(UNEDITABLE_TRUST.to_owned()),
    }
}

const UNEDITABLE_TRUST: &str =
    "`hooks.state` has a form that Rekindle cannot extend; trust the hooks in Codex itself, with /hooks";

/// The text without entries of these hooks. Hooks of others that move up in the file of hooks keep their
/// trust.
pub(super) fn remove_trust(text: &str, hooks: &Path, found: &[InstalledHook]) -> Result<String, String> {
    let ours: Vec<String> = found.iter().map(|one| entry(hooks, one).key).collect();
    let mut after = text.to_owned();
    // Go from the end, one entry at a time: text between two of them is removed with the later one.
    while let Some(block) = last_block(&after, &ours)? {
        after.replace_range(block, "");
    }
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    if let Some(state) = state(&parse(&after)?) {
        for (key, _) in state.iter() {
            let Some(new) = shifted_key(hooks, key, found) else { continue };
            let span = state.key(key).and_then(Key::span).ok_or(UNEDITABLE_TRUST)?;
            splices.push((span, Key::new(new).display_repr().into_owned()));
        }
    }
    splices.sort_by_key(|(span, _)| span.start);
    for (span, new) in splices.into_iter().rev() {
        after.replace_range(span, &new);
    }
    Ok(after)
}

/// The range of the last of these keys.
fn last_block(text: &str, keys: &[String]) -> Result<Option<Range<usize>>, String> {
    let document = parse(text)?;
    let Some(state) = state(&document) else { return Ok(None) };
    let mut last: Option<Range<usize>> = None;
    for (_, item) in state.iter().filter(|(key, _)| keys.iter().any(|ours| ours == key)) {
        let block = item.as_table().and_then(|table| table_range(text, table)).ok_or(UNEDITABLE_TRUST)?;
        if last.as_ref().is_none_or(|last| last.start < block.start) {
            last = Some(block);
        }
    }
    Ok(last)
}

/// The range of a table with its own header, with one blank line before it.
pub(super) fn table_range(text: &str, table: &toml_edit::Table) -> Option<Range<usize>> {
    let header = table.span()?;
    let last = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end).max();
    let end = last.unwrap_or(header.end);
    let line_end = text[end..].find('\n').map(|at| end + at + 1);
    let mut start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
    let step_back =
        |at: usize| text[..at].strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest).len());
    // Include the blank line before it.
    if let Some(before) = step_back(start)
        && (before == 0 || text[..before].ends_with('\n'))
    {
        start = before;
    }
    // If the file does not end with a line end, the one before the table was ours too.
    if line_end.is_none() {
        start = step_back(start).unwrap_or(start);
    }
    Some(start..line_end.unwrap_or(text.len()))
}

/// The new key of another hook after ours are removed, if its key changes.
fn shifted_key(hooks: &Path, key: &str, ours: &[InstalledHook]) -> Option<String> {
    ours.iter().find_map(|one| {
        let (group, place) = key.strip_prefix(&prefix(hooks, &one.event))?.split_once(':')?;
        let (group, place): (usize, usize) = (group.parse().ok()?, place.parse().ok()?);
        let same_event = || ours.iter().filter(|other| other.event == one.event);
        let gone = |group: usize| {
            let in_group: Vec<&InstalledHook> = same_event().filter(|other| other.group == group).collect();
            in_group.first().is_some_and(|first| first.group_size == in_group.len())
        };
        let groups = (0..group).filter(|group| gone(*group)).count();
        let places = same_event().filter(|other| other.group == group && other.handler < place).count();
        let moved = format!("{}{}:{}", prefix(hooks, &one.event), group - groups, place - places);
        (moved != key).then_some(moved)
    })
}

#[cfg(test)]
mod tests {
    use rekindle_core::base::agent::Agent;
    use rekindle_core::hosts::install::{HookInvocation, settings};

    use super::*;

    fn hooks() -> &'static Path {
        Path::new("/home/ada/.codex/hooks.json")
    }

    fn ours(before: &str) -> (String, Vec<InstalledHook>) {
        let invocation =
            HookInvocation { program: "/usr/bin/rekindle".into(), home: None, before_tools: false };
        let text =
            settings::install(before, Agent::Codex, &invocation, &mut settings::EmptyContainers::new())
                .unwrap();
        let found = settings::find(&text, Agent::Codex).unwrap();
        (text, found)
    }

    fn found(event: &str, line: &str, timeout: Option<u64>) -> InstalledHook {
        InstalledHook {
            event: event.into(),
            group: 0,
            handler: 0,
            group_size: 1,
            line: line.into(),
            args: None,
            recognised: rekindle_core::hosts::install::RecognisedCommand {
                has_own_settings: false,
                program: String::new(),
                home: None,
                event: String::new(),
            },
            timeout,
            matcher: None,
        }
    }

    #[test]
    fn the_hash_is_the_one_that_codex_computes() {
        let hash = |event, line, timeout| entry(hooks(), &found(event, line, timeout)).hash;
        // From `hooks/list` of the app server of Codex 0.166.0.
        assert_eq!(
            hash("Stop", "/bin/echo a", Some(5)),
            "sha256:e02b8f7c7f1e33876c16e04887a6f614633f3967a7b3899842b14ad42bf8595b"
        );
        assert_eq!(
            hash("SessionEnd", "/bin/echo b", Some(10)),
            "sha256:4d3035775466ec091e7085e40317d3637d9e3117e07f1c036e425a74b2f44696"
        );
        assert_eq!(
            hash("PreCompact", "/bin/echo b", None),
            "sha256:e6432550fd9c1719eeec3aaca2fc21e1a8eeb0cd10b2d600152ae8266705bf0f"
        );
    }

    #[test]
    fn b_15_trust_comes_and_goes_without_a_trace() {
        let (_, found) = ours("");
        for text in [
            "",
            "model = \"x\" # mine\n",
            "model = \"x\"",
            "model = \"x\"\r\n\r\n[tui]\r\ntheme = 'a'\r\n",
            "\n\n# only a comment",
            "[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
            "[hooks.state]\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n\n",
        ] {
            assert!(!is_trusted(text, hooks(), &found));
            let with = add_trust(text, hooks(), &found).unwrap();
            assert!(is_trusted(&with, hooks(), &found), "{with}");
            assert!(with.starts_with(text), "{with}");
            assert_eq!(add_trust(&with, hooks(), &found).unwrap(), with);
            assert_eq!(remove_trust(&with, hooks(), &found).unwrap(), text, "{with}");
        }
    }

    #[test]
    fn trust_in_an_older_command_is_brought_up_to_date() {
        let (_, found) = ours("");
        let with = add_trust("a = 1\n", hooks(), &found).unwrap();
        let moved: Vec<InstalledHook> = found
            .iter()
            .map(|one| InstalledHook { line: one.line.replace("/usr/bin", "/opt"), ..one.clone() })
            .collect();
        assert!(!is_trusted(&with, hooks(), &moved));
        let again = add_trust(&with, hooks(), &moved).unwrap();
        assert!(is_trusted(&again, hooks(), &moved));
        assert_eq!(again.lines().count(), with.lines().count());
    }

    #[test]
    fn a_table_that_is_inline_is_left_to_codex() {
        let (_, found) = ours("");
        for text in ["hooks = { state = {} }\n", "[hooks]\nstate = { x = { trusted_hash = 'y' } }\n"] {
            assert!(add_trust(text, hooks(), &found).unwrap_err().contains("/hooks"), "{text}");
        }
        assert!(add_trust("a = ", hooks(), &found).is_err());
    }

    #[test]
    fn b_15_the_trust_of_those_who_come_after_us_moves_with_them() {
        let (text, _) = ours("");
        let mut document =
            rekindle_core::hosts::jsonc::JsoncDocument::parse(text, settings::dialect(Agent::Codex)).unwrap();
        let stop = [
            rekindle_core::hosts::jsonc::JsonPathStep::Key("hooks"),
            rekindle_core::hosts::jsonc::JsonPathStep::Key("Stop"),
        ];
        let theirs = serde_json::json!({"hooks": [{"type": "command", "command": "theirs", "timeout": 5}]});
        document.append(&stop, None, &theirs).unwrap();
        let ours = settings::find(document.text(), Agent::Codex).unwrap();
        let theirs = |group| InstalledHook { group, ..found("Stop", "theirs", Some(5)) };
        let both: Vec<InstalledHook> = ours.iter().cloned().chain([theirs(1)]).collect();
        let config = add_trust("a = 1\n", hooks(), &both).unwrap();
        let after = remove_trust(&config, hooks(), &ours).unwrap();
        assert!(is_trusted(&after, hooks(), &[theirs(0)]), "{after}");
        assert_eq!(after.matches("hooks.state").count(), 1, "{after}");
    }
}
