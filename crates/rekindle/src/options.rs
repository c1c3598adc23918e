//! Options that every command takes.

use std::path::PathBuf;

use clap::Args;

use crate::output::ColorChoice;

/// Options that every command takes.
#[derive(Args, Clone)]
pub(crate) struct GlobalOptions {
    /// Use this folder instead of ~/.rekindle (also: REKINDLE_HOME)
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
    /// Change a setting for this command only
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE", value_parser = setting)]
    #[arg(help_heading = "Global options")]
    pub(crate) settings: Vec<(String, String)>,
    /// Use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "WHEN"
    )]
    #[arg(help_heading = "Global options")]
    pub(crate) color: ColorChoice,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("use KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}
