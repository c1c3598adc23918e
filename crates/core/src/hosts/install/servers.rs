//! Our MCP server in an agent's settings: `mcpServers.<name> = {"command": …, "args": […]}`, a shape that
//! Claude Code, Gemini CLI and others share. Its name is `memory`, or `rekindle` if somebody has a server of
//! that name already.

use serde_json::{Value, json};

use super::command::HookInvocation;
use super::settings::{EmptyContainers, dialect, is_blank, record, remove_value};
use crate::base::agent::Agent;
use crate::hosts::jsonc;
use crate::hosts::jsonc::{BOM, JsonNode, JsonPathStep, JsoncDocument};

/// The preferred server name, then the fallback.
pub const SERVER_NAMES: [&str; 2] = ["memory", "rekindle"];

const SERVERS_KEY: &str = "mcpServers";
const COMMAND_KEY: &str = "command";
const ARGS_KEY: &str = "args";

impl HookInvocation {
    /// The arguments that start our MCP server.
    pub fn server_args(&self) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home".to_owned(), home.clone()]);
        home.chain(["mcp".to_owned()]).collect()
    }
}

/// Our server entry, keyed by its name.
pub fn entry(agent: Agent, invocation: &HookInvocation) -> Value {
    json!({SERVER_NAMES[0]: server(agent, invocation)})
}

fn server(agent: Agent, invocation: &HookInvocation) -> Value {
    let args = invocation.server_args();
    match agent {
        // pi hides other tools behind a search, where they would hardly be found.
        Agent::Pi => json!({COMMAND_KEY: invocation.program, ARGS_KEY: args, "directTools": true}),
        _ => json!({COMMAND_KEY: invocation.program, ARGS_KEY: args}),
    }
}

/// Recognises a server entry of ours, written by any version, folder or home.
pub fn is_ours<'a>(command: &str, args: impl IntoIterator<Item = &'a str>) -> bool {
    let program = matches!(command.rsplit(['/', '\\']).next(), Some("rekindle" | "rekindle.exe"));
    program && args.into_iter().last() == Some("mcp")
}

/// The names of our servers in a settings text.
pub fn find(text: &str, agent: Agent) -> Result<Vec<String>, jsonc::Error> {
    if is_blank(text) {
        return Ok(Vec::new());
    }
    Ok(find_in(&JsoncDocument::parse(text, dialect(agent))?))
}

fn find_in(document: &JsoncDocument) -> Vec<String> {
    let Some(servers) = document.get(&[JsonPathStep::Key(SERVERS_KEY)]) else { return Vec::new() };
    let ours = |name: &&str| {
        let server = servers.get(name);
        let command = server.and_then(|server| server.get(COMMAND_KEY)?.text());
        let args = server.and_then(|server| server.get(ARGS_KEY)).map(JsonNode::items).unwrap_or_default();
        command.is_some_and(|command| is_ours(command, args.iter().filter_map(JsonNode::text)))
    };
    servers.keys().filter(ours).map(str::to_owned).collect()
}

/// Adds our server to a settings text and keeps everything else as it was. Unchanged if others own both of
/// its names.
pub fn add_server(
    text: &str,
    agent: Agent,
    invocation: &HookInvocation,
    blanks: &mut EmptyContainers,
) -> Result<String, jsonc::Error> {
    let server = server(agent, invocation);
    if is_blank(text) {
        let mark = if text.starts_with(BOM) { BOM.to_string() } else { String::new() };
        return Ok(mark + &jsonc::render_value(&json!({SERVERS_KEY: entry(agent, invocation)})));
    }
    let mut document = JsoncDocument::parse(text, dialect(agent))?;
    let root = document.root();
    if !root.is_object() {
        return Err(document.error(root, "settings must be an object `{ … }`"));
    }
    let servers = root.get(SERVERS_KEY);
    if let Some(servers) = servers.filter(|servers| !servers.is_object()) {
        return Err(document.error(servers, "`mcpServers` must be an object `{ … }`"));
    }
    let has_servers = servers.is_some();
    let free =
        SERVER_NAMES.into_iter().find(|name| servers.is_none_or(|servers| servers.get(name).is_none()));
    if let Some(name) = find_in(&document).first() {
        let at = [JsonPathStep::Key(SERVERS_KEY), JsonPathStep::Key(name)];
        for (key, value) in [(COMMAND_KEY, &server[COMMAND_KEY]), (ARGS_KEY, &server[ARGS_KEY])] {
            let path = [at[0], at[1], JsonPathStep::Key(key)];
            if document.get(&path).is_some_and(|node| node.value() != *value) {
                document.replace(&path, value)?;
            }
        }
        return Ok(document.into_text());
    }
    match (free, has_servers) {
        (None, _) => {}
        (Some(name), true) => {
            record(&mut document, &[JsonPathStep::Key(SERVERS_KEY)], Some(name), &server, blanks)?;
        }
        (Some(name), false) => record(&mut document, &[], Some(SERVERS_KEY), &json!({name: server}), blanks)?,
    }
    Ok(document.into_text())
}

/// Removes our servers from a settings text, and everything that was created for them.
pub fn remove_servers(text: &str, agent: Agent, blanks: &EmptyContainers) -> Result<String, jsonc::Error> {
    if is_blank(text) {
        return Ok(text.to_owned());
    }
    let mut document = JsoncDocument::parse(text, dialect(agent))?;
    for name in find_in(&document) {
        let at = document.get(&[JsonPathStep::Key(SERVERS_KEY)]).and_then(|servers| servers.position(&name));
        if let Some(at) = at
            && remove_value(&mut document, &[JsonPathStep::Key(SERVERS_KEY)], at, blanks)?
            && let Some(at) = document.root().position(SERVERS_KEY)
        {
            remove_value(&mut document, &[], at, blanks)?;
        }
    }
    Ok(document.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::jsonc::JsonDialect;

    fn invocation(home: Option<&str>) -> HookInvocation {
        HookInvocation {
            program: "/usr/bin/rekindle".into(),
            home: home.map(str::to_owned),
            before_tools: false,
        }
    }

    fn value(text: &str) -> Value {
        JsoncDocument::parse(text, JsonDialect::Commented).unwrap().root().value()
    }

    #[test]
    fn b_15_a_server_comes_and_goes_without_a_trace() {
        for text in [
            "{}",
            "{ \n}",
            "{\n  \"a\": 1 // mine\n}\n",
            "{\"mcpServers\": {}}",
            "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"z\": 1}",
            "\u{feff}{\"mcpServers\":{ }}",
        ] {
            let mut blanks = EmptyContainers::new();
            let with = add_server(text, Agent::Gemini, &invocation(Some("/h")), &mut blanks).unwrap();
            let server = &value(&with)["mcpServers"]["memory"];
            assert_eq!(*server, json!({"command": "/usr/bin/rekindle", "args": ["--home", "/h", "mcp"]}));
            assert_eq!(find(&with, Agent::Gemini).unwrap(), ["memory"]);
            let again = add_server(&with, Agent::Gemini, &invocation(Some("/h")), &mut blanks).unwrap();
            assert_eq!(again, with);
            assert_eq!(remove_servers(&with, Agent::Gemini, &blanks).unwrap(), text, "{with}");
        }
    }

    #[test]
    fn a_new_place_is_written_into_the_server_that_is_there() {
        let mut blanks = EmptyContainers::new();
        let old = r#"{"mcpServers": {"mem": {"command": "/old/rekindle", "args": ["mcp"], "timeout": 5}}}"#;
        let new = add_server(old, Agent::Claude, &invocation(Some("/h")), &mut blanks).unwrap();
        let server = &value(&new)["mcpServers"]["mem"];
        assert_eq!((&server["command"], &server["timeout"]), (&json!("/usr/bin/rekindle"), &json!(5)));
        assert_eq!(server["args"], json!(["--home", "/h", "mcp"]));
        assert_eq!(remove_servers(&new, Agent::Claude, &EmptyContainers::new()).unwrap(), "{}");
    }

    #[test]
    fn b_15_another_memory_server_is_left_unchanged() {
        let theirs = r#"{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "other"]}}}"#;
        let mut blanks = EmptyContainers::new();
        let with = add_server(theirs, Agent::Claude, &invocation(None), &mut blanks).unwrap();
        assert_eq!(find(&with, Agent::Claude).unwrap(), ["rekindle"]);
        assert_eq!(remove_servers(&with, Agent::Claude, &blanks).unwrap(), theirs);
        let both = r#"{"mcpServers": {"memory": {"command": "x"}, "rekindle": {"url": "y"}}}"#;
        assert_eq!(add_server(both, Agent::Claude, &invocation(None), &mut blanks).unwrap(), both);
        for bad in ["[]", "{\"mcpServers\": []}", "{"] {
            assert!(add_server(bad, Agent::Claude, &invocation(None), &mut blanks).is_err(), "{bad}");
        }
    }
}
