//! `rekindle config`: shows and changes settings.

use clap::{Args, Subcommand};
use rekindle_core::config::keys;
use rekindle_engine::config;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::home::HomeFolder;
use rekindle_engine::project;
use serde_json::{Value, json};

use crate::app::settings;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Settings come from these places, strongest first: -c KEY=VALUE, REKINDLE_… variables, the project's
.rekindle.toml (a few harmless keys only), your config.toml, the shipped defaults.

Examples:
  rekindle config list
  rekindle config get recall.k
  rekindle config set user.name 'Ada Lovelace'
  rekindle config unset recall.k
  $EDITOR \"$(rekindle config path)\"")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: Option<ConfigCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Print the value of one key
    Get {
        /// The key, such as recall.k
        key: String,
    },
    /// Set a key in your config.toml
    Set {
        /// The key, such as recall.k
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from your config.toml, which restores the default
    Unset {
        /// The key, such as recall.k
        key: String,
    },
    /// Print every key, its value, and where the value comes from
    List,
    /// Print where your config.toml is
    Path,
}

impl ConfigArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        // This must work with broken settings, because it is the way to find and repair them.
        match &self.verb {
            Some(ConfigCommand::Path) => return out.line(home.config_file().display()),
            Some(ConfigCommand::Set { key, value }) => {
                settings::change(&home, key, Some(value))?;
                return self.report_change(out, key);
            }
            Some(ConfigCommand::Unset { key }) => {
                settings::change(&home, key, None)?;
                return self.report_change(out, key);
            }
            _ => {}
        }
        let here = std::env::current_dir()?;
        let place = project::locate(&here, environment::home_folder().as_deref());
        let loaded = config::read(&home, place.as_ref().map(|place| place.root.as_path()), &global.settings)?;
        for warning in &loaded.warnings {
            out.warn(warning);
        }
        if let Some(ConfigCommand::Get { key }) = &self.verb {
            let setting = loaded.get(key)?;
            return match self.json {
                true => out.json(&setting.value),
                false => out.line(&setting.value),
            };
        }
        let mut rows = Vec::new();
        for key in keys() {
            let setting = loaded.get(key.name)?;
            rows.push(json!({
                "key": key.name,
                "value": setting.value,
                "source": setting.place.source.as_str(),
                "place": setting.place.to_string(),
                "default": key.default,
                "allowed": key.allowed,
                "variables": key.variables,
                "in_project_file": key.in_project,
                "about": key.doc,
            }));
            if !self.json {
                let source = match setting.place.source.as_str() {
                    "default" => String::new(),
                    _ => format!("({})", setting.place),
                };
                let value = setting.value.to_string();
                let value = if value.is_empty() { "\"\"".to_owned() } else { value };
                out.line(
                    format!("{} {value}  {}", pad_column(key.name, 28), out.styled(TextStyle::Dim, source))
                        .trim_end(),
                )?;
            }
        }
        if self.json { out.json(&Value::Array(rows)) } else { Ok(()) }
    }

    fn report_change(&self, out: &Printer, key: &str) -> Result<(), CliError> {
        if self.json { out.json(&json!({"changed": key})) } else { Ok(()) }
    }
}
