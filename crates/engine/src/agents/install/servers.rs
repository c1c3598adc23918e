//! The registration of our MCP server: Claude Code has a file beside its settings, Gemini CLI uses the
//! settings, Codex a table of its `config.toml`, and Pi has no support of its own.

use std::path::PathBuf;

use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::install::HookInvocation;
use rekindle_core::hosts::install::servers::{SERVER_NAMES, is_ours};
use serde_json::Value;
use toml_edit::{Document, Item, Table, TableLike};

use super::codex_trust::{parse, table_range};
use super::environment::InstallEnvironment;
use super::host::AgentLocation;

/// The separate JSON file for MCP servers, if the agent has one.
pub(super) fn file(agent: Agent, machine: &InstallEnvironment, host: &AgentLocation) -> Option<PathBuf> {
    match agent {
        // The file is beside the settings folder by default, and inside it if the user has moved that.
        Agent::Claude => {
            let folder = machine.claude.clone().or_else(|| machine.home.clone())?;
            Some(folder.join(".claude.json"))
        }
        Agent::Pi if has_adapter(host) => Some(host.folder.join("mcp.json")),
        Agent::Pi | Agent::Codex | Agent::Gemini => None,
    }
}

/// True if the user installed an MCP adapter for Pi, which has no MCP of its own.
fn has_adapter(host: &AgentLocation) -> bool {
    let settings = std::fs::read_to_string(host.folder.join("settings.json")).unwrap_or_default();
    let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
    let packages = settings["packages"].as_array();
    packages
        .is_some_and(|packages| packages.iter().any(|package| package.to_string().contains("pi-mcp-adapter")))
}

const SERVERS_KEY: &str = "mcp_servers";
const UNEDITABLE_SERVERS: &str = "`mcp_servers` has a form that Rekindle cannot extend";

/// The names of our servers in Codex's configuration.
fn our_servers(document: &Document<&str>) -> Vec<String> {
    let servers = document.get(SERVERS_KEY).and_then(Item::as_table_like);
    let ours = |item: &Item| -> Option<bool> {
        let server = item.as_table_like()?;
        let args = server.get("args").and_then(Item::as_array);
        let args = args.into_iter().flatten().filter_map(toml_edit::Value::as_str);
        Some(is_ours(server.get("command")?.as_str()?, args))
    };
    let found = servers.into_iter().flat_map(TableLike::iter).filter(|(_, item)| ours(item) == Some(true));
    found.map(|(name, _)| name.to_owned()).collect()
}

/// Adds our server to Codex's configuration and keeps every other byte; unchanged if others use its names.
pub(super) fn add_server(text: &str, invocation: &HookInvocation) -> Result<String, String> {
    let document = parse(text)?;
    let command = Value::from(invocation.program.as_str()).to_string();
    let args = Value::from(invocation.server_args()).to_string();
    let servers = document.get(SERVERS_KEY);
    if let Some(name) = our_servers(&document).first() {
        let server = servers.and_then(|servers| servers.get(name)).ok_or(UNEDITABLE_SERVERS)?;
        let mut after = text.to_owned();
        let mut splices: Vec<_> = [("command", command), ("args", args)]
            .into_iter()
            .filter_map(|(key, new)| Some((server.get(key)?.span()?, new)))
            .collect();
        splices.sort_by_key(|(span, _)| span.start);
        for (span, new) in splices.into_iter().rev() {
            // Keep a value that is equal in another notation.
            let same = text[span.clone()].parse::<toml_edit::Value>().map(|value| value.to_string());
            let wanted = new.parse::<toml_edit::Value>().map(|value| value.to_string());
            if !matches!((same, wanted), (Ok(same), Ok(wanted)) if toml_string(&same) == toml_string(&wanted))
            {
                after.replace_range(span, &new);
            }
        }
        return Ok(after);
    }
    let is_free = |name: &&str| servers.and_then(|servers| servers.get(name)).is_none();
    let Some(name) = SERVER_NAMES.into_iter().find(is_free) else { return Ok(text.to_owned()) };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let table = format!("[{SERVERS_KEY}.{name}]{newline}command = {command}{newline}args = {args}");
    let ended = text.is_empty() || text.ends_with('\n');
    let between = match (text.is_empty(), ended) {
        (true, _) => String::new(),
        (false, true) => newline.to_owned(),
        (false, false) => newline.repeat(2),
    };
    let after = format!("{text}{between}{table}{}", if ended { newline } else { "" });
    match parse(&after).is_ok_and(|document| our_servers(&document) == [name]) {
        true => Ok(after),
        false => Err(UNEDITABLE_SERVERS.to_owned()),
    }
}

fn toml_string(value: &str) -> String {
    value.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '\'' { '"' } else { c }).collect()
}

/// Removes our server from Codex's configuration.
pub(super) fn remove_server(text: &str) -> Result<String, String> {
    let mut after = text.to_owned();
    loop {
        let document = parse(&after)?;
        let Some(name) = our_servers(&document).first().cloned() else { return Ok(after) };
        let server = document.get(SERVERS_KEY).and_then(|servers| servers.get(&name));
        // Remove the subtables that the user added first, last one first, so that none stands there without
        // its server.
        let table = server.and_then(Item::as_table).map(last_table).ok_or(UNEDITABLE_SERVERS)?;
        let range = table_range(&after, table).ok_or(UNEDITABLE_SERVERS)?;
        after.replace_range(range, "");
    }
}

/// The table itself, or the last of its subtables.
fn last_table(table: &Table) -> &Table {
    let below = table.iter().filter_map(|(_, item)| item.as_table()).map(last_table);
    below.chain([table]).max_by_key(|table| table.span().map(|span| span.start)).unwrap_or(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(home: Option<&str>) -> HookInvocation {
        HookInvocation {
            program: "/usr/bin/rekindle".into(),
            home: home.map(str::to_owned),
            before_tools: false,
        }
    }

    #[test]
    fn b_15_codexs_server_comes_and_goes_without_a_trace() {
        for text in [
            "",
            "model = \"x\" # mine\n",
            "model = \"x\"",
            "model = \"x\"\r\n\r\n[tui]\r\ntheme = 'a'\r\n",
            "[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"b\"\n",
            "[mcp_servers]\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n\n",
        ] {
            let with = add_server(text, &invocation(Some("/a \"b\""))).unwrap();
            assert!(with.starts_with(text), "{with}");
            let document = parse(&with).unwrap();
            assert_eq!(our_servers(&document), ["memory"], "{with}");
            let args = document["mcp_servers"]["memory"]["args"].as_array().unwrap();
            assert_eq!(args.get(1).unwrap().as_str(), Some("/a \"b\""));
            assert_eq!(add_server(&with, &invocation(Some("/a \"b\""))).unwrap(), with);
            assert_eq!(remove_server(&with).unwrap(), text, "{with}");
        }
    }

    #[test]
    fn a_new_place_is_written_into_the_server_that_is_there() {
        let old = "[mcp_servers.mem]\nargs = [ 'mcp' ] # mine\ncommand = '/old/rekindle'\nenabled = true\n\n\
                   [mcp_servers.mem.env]\nA = \"b\"\n";
        let new = add_server(old, &invocation(Some("/h"))).unwrap();
        assert_eq!(
            new,
            old.replace("'/old/rekindle'", "\"/usr/bin/rekindle\"")
                .replace("[ 'mcp' ]", "[\"--home\",\"/h\",\"mcp\"]")
        );
        assert_eq!(remove_server(&new).unwrap(), "");
        let same = old.replace("/old", "/usr/bin");
        assert_eq!(add_server(&same, &invocation(None)).unwrap(), same, "what says the same stays");
    }

    #[test]
    fn b_15_another_memory_server_is_left_unchanged() {
        let theirs = "[mcp_servers.memory]\ncommand = \"npx\"\n";
        let with = add_server(theirs, &invocation(None)).unwrap();
        assert_eq!(our_servers(&parse(&with).unwrap()), ["rekindle"]);
        assert_eq!(remove_server(&with).unwrap(), theirs);
        assert!(add_server("mcp_servers = { a = { command = 'x' } }\n", &invocation(None)).is_err());
        assert!(add_server("a = ", &invocation(None)).is_err());
    }
}
