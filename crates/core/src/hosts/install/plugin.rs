//! Generates a plugin folder for all agents, as an alternative to entries in their settings: hooks, the MCP
//! server and the skill. It is built from the output of [`super::settings`] and [`super::servers`], so both
//! ways stay identical.
//!
//! Claude Code and Codex share `plugin/`. Each has a manifest of its own there, because their hooks name
//! different agents. Gemini CLI also reads `hooks/hooks.json` and would run Claude Code's hooks, so its
//! extension has a separate folder.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::command::HookInvocation;
use super::{servers, settings};
use crate::base::agent::Agent;
use crate::hosts::jsonc;

/// The name of the plugin, its marketplace, the extension and the package.
pub const PLUGIN_NAME: &str = "rekindle";
/// The id of the installed plugin in Claude Code and Codex: plugin name and marketplace.
pub const PLUGIN_ID: &str = "rekindle@rekindle";
/// The name of the skill. Agents require its folder to have the same name.
pub const SKILL_NAME: &str = "memory";

const DESCRIPTION: &str = "Permanent memory for coding agents";
const LICENSE: &str = "MIT OR Apache-2.0";

/// The inputs of a plugin.
#[derive(Clone, Copy, Debug)]
pub struct PluginContent<'a> {
    /// The version of the program that writes it.
    pub version: &'a str,
    /// The call of the program.
    pub invocation: &'a HookInvocation,
    /// The text of the skill.
    pub skill: &'a str,
    /// The source of pi's extension.
    pub extension: &'a str,
}

impl PluginContent<'_> {
    /// All files, keyed by their path inside the folder.
    pub fn files(&self) -> BTreeMap<String, String> {
        let hooks = |agent| settings::new_settings(agent, self.invocation);
        let text = |value: &Value| jsonc::render_value(value);
        let skill = || self.skill.to_owned();
        let files = [
            ("README.md", self.readme()),
            (".claude-plugin/marketplace.json", text(&self.marketplace())),
            ("plugin/.claude-plugin/plugin.json", text(&self.manifest())),
            ("plugin/.codex-plugin/plugin.json", text(&self.codex_manifest())),
            (
                "plugin/.mcp.json",
                text(&json!({"mcpServers": servers::entry(Agent::Claude, self.invocation)})),
            ),
            ("plugin/hooks/hooks.json", hooks(Agent::Claude)),
            ("plugin/hooks/codex.json", hooks(Agent::Codex)),
            ("plugin/skills/memory/SKILL.md", skill()),
            ("gemini/gemini-extension.json", text(&self.extension_manifest())),
            ("gemini/hooks/hooks.json", hooks(Agent::Gemini)),
            ("gemini/skills/memory/SKILL.md", skill()),
            ("pi/package.json", text(&self.package())),
            ("pi/extensions/rekindle.ts", self.extension.to_owned()),
            ("pi/skills/memory/SKILL.md", skill()),
        ];
        files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
    }

    /// A one-line description with the program that it calls and the home.
    fn description(&self) -> String {
        let home = match &self.invocation.home {
            Some(home) => format!(" with the home {home}"),
            None => String::new(),
        };
        format!("{DESCRIPTION}. Calls {}{home}.", self.invocation.program)
    }

    fn marketplace(&self) -> Value {
        json!({
            "name": PLUGIN_NAME,
            "owner": {"name": "Rekindle"},
            "metadata": {"description": self.description()},
            "plugins": [{
                "name": PLUGIN_NAME, "source": "./plugin", "version": self.version, "description": self.description(),
            }],
        })
    }

    fn manifest(&self) -> Value {
        json!({
            "name": PLUGIN_NAME,
            "version": self.version,
            "description": self.description(),
            "author": {"name": "Rekindle"},
            "license": LICENSE,
            "keywords": ["memory"],
        })
    }

    fn codex_manifest(&self) -> Value {
        json!({
            "name": PLUGIN_NAME,
            "version": self.version,
            "description": self.description(),
            "license": LICENSE,
            "skills": "./skills/",
            "mcpServers": "./.mcp.json",
            "hooks": "./hooks/codex.json",
        })
    }

    fn extension_manifest(&self) -> Value {
        json!({
            "name": PLUGIN_NAME,
            "version": self.version,
            "description": self.description(),
            "mcpServers": servers::entry(Agent::Gemini, self.invocation),
        })
    }

    fn package(&self) -> Value {
        json!({
            "name": PLUGIN_NAME,
            "version": self.version,
            "description": self.description(),
            "license": LICENSE,
            "private": true,
            "keywords": ["pi-package"],
            "pi": {"extensions": ["./extensions/rekindle.ts"], "skills": ["./skills"]},
        })
    }

    fn readme(&self) -> String {
        let HookInvocation { program, home, .. } = self.invocation;
        let home = home.as_deref().unwrap_or("the usual one, ~/.rekindle");
        let again = match &self.invocation.home {
            Some(_) => "rekindle --home DIR install --as-plugin DIR",
            None => "rekindle install --as-plugin DIR",
        };
        format!(
            "\
# Rekindle as a plugin

Permanent memory for coding agents. This folder was written by `rekindle install --as-plugin`, version {version}.

- It calls `{program}`.
- The home it remembers into: {home}

Nothing in here runs anything else. `{again}` writes it again, after the program was moved or updated, or to
change the home; what you add to this folder yourself stays. Do not use it together with `rekindle install`:
an agent that has both calls us twice, which does no harm but helps nobody, and `rekindle doctor` says so.

| agent | add it | take it out |
|---|---|---|
| Claude Code | `claude plugin marketplace add FOLDER`, then `claude plugin install {PLUGIN_ID}`; for one session: `claude --plugin-dir FOLDER/plugin` | `claude plugin uninstall {PLUGIN_ID}` |
| Codex | `codex plugin marketplace add FOLDER`, then `codex plugin add {PLUGIN_ID}`, then trust its hooks with /hooks | `codex plugin remove {PLUGIN_ID}` |
| Gemini CLI | `gemini extensions link FOLDER/gemini` | `gemini extensions uninstall {PLUGIN_NAME}` |
| pi | `pi install FOLDER/pi` | `pi remove FOLDER/pi` |

Each has the hooks that `rekindle install` would write, the MCP server `memory` (not pi, which has none) and
the skill `{SKILL_NAME}`.
",
            version = self.version,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::install::events;
    use crate::hosts::install::settings::EmptyContainers;

    fn invocation(home: Option<&str>) -> HookInvocation {
        HookInvocation {
            program: "/opt/my tools/rekindle".into(),
            home: home.map(str::to_owned),
            before_tools: false,
        }
    }

    fn files(invocation: &HookInvocation) -> BTreeMap<String, String> {
        PluginContent { version: "1.2.3", invocation, skill: "skill", extension: "extension" }.files()
    }

    #[test]
    fn b_15_a_plugin_has_the_hooks_and_the_server_that_install_writes() {
        for home in [None, Some("/a b/home")] {
            let invocation = invocation(home);
            let files = files(&invocation);
            let hooks = [
                (Agent::Claude, "plugin/hooks/hooks.json"),
                (Agent::Codex, "plugin/hooks/codex.json"),
                (Agent::Gemini, "gemini/hooks/hooks.json"),
            ];
            for (agent, path) in hooks {
                let installed =
                    settings::install("", agent, &invocation, &mut EmptyContainers::new()).unwrap();
                assert_eq!(files[path], installed, "{path}");
                let found = settings::find(&files[path], agent).unwrap();
                let wanted: Vec<&str> = events(agent, false).iter().map(|one| one.event).collect();
                assert_eq!(found.iter().map(|one| one.event.as_str()).collect::<Vec<_>>(), wanted);
                for one in found {
                    assert_eq!(one.line, invocation.line(agent, &one.event));
                    assert_eq!(one.recognised.home.as_deref(), home);
                }
            }
            let server =
                servers::add_server("", Agent::Claude, &invocation, &mut EmptyContainers::new()).unwrap();
            assert_eq!(files["plugin/.mcp.json"], server);
            let gemini: Value = serde_json::from_str(&files["gemini/gemini-extension.json"]).unwrap();
            let server: Value = serde_json::from_str(&server).unwrap();
            assert_eq!(gemini["mcpServers"], server["mcpServers"]);
        }
    }

    #[test]
    fn every_manifest_says_the_version_the_program_and_the_home() {
        let files = files(&invocation(Some("/a b/home")));
        for path in [
            "plugin/.claude-plugin/plugin.json",
            "plugin/.codex-plugin/plugin.json",
            "gemini/gemini-extension.json",
            "pi/package.json",
        ] {
            let manifest: Value = serde_json::from_str(&files[path]).unwrap();
            assert_eq!(
                (&manifest["name"], &manifest["version"]),
                (&json!(PLUGIN_NAME), &json!("1.2.3")),
                "{path}"
            );
            let about = manifest["description"].as_str().unwrap();
            assert!(about.contains("/opt/my tools/rekindle") && about.contains("/a b/home"), "{about}");
        }
        let readme = &files["README.md"];
        assert!(readme.contains("`/opt/my tools/rekindle`") && readme.contains("/a b/home"), "{readme}");
        assert!(readme.contains("1.2.3"), "{readme}");
    }

    #[test]
    fn every_path_in_a_manifest_exists() {
        let files = files(&invocation(None));
        let parse = |path: &str| serde_json::from_str::<Value>(&files[path]).unwrap();
        let there = |folder: &str, path: &Value| {
            let path = format!("{folder}/{}", path.as_str().unwrap().trim_start_matches("./"));
            assert!(files.keys().any(|file| file.starts_with(&path)), "{path}");
        };
        let codex = parse("plugin/.codex-plugin/plugin.json");
        ["skills", "mcpServers", "hooks"].iter().for_each(|key| there("plugin", &codex[*key]));
        let pi = &parse("pi/package.json")["pi"];
        there("pi", &pi["extensions"][0]);
        there("pi", &pi["skills"][0]);
        assert_eq!(parse(".claude-plugin/marketplace.json")["plugins"][0]["source"], "./plugin");
    }
}
