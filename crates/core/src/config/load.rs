//! Merges the configuration layers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;

use super::error::{ConfigLocation, ConfigSource, Error};
use super::explain::check;
use super::file::{self, ConfigEntry};
use super::keys::{self, DEFAULTS_TOML, KEYS, WORKSPACE_VARIABLE};
use super::settings::Config;
use super::value::SettingValue;

/// The maximum number of warnings kept per project file. Every command shows warnings, and the file is
/// somebody else's.
const MAX_PROJECT_WARNINGS: usize = 8;

/// A configuration file that was read from disk.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The content of the file.
    pub text: String,
}

/// The layers above the shipped defaults, strongest first.
#[derive(Clone, Copy)]
pub struct ConfigLayers<'a> {
    /// Keys and values from the command line. If a key occurs twice, the later one wins.
    pub flags: &'a [(String, String)],
    /// The environment. An empty variable counts as unset, because some tools cannot unset a variable.
    pub variables: &'a dyn Fn(&str) -> Option<String>,
    /// `.rekindle.toml` in the project's root.
    pub project: Option<&'a ConfigFile>,
    /// `config.toml` in the Rekindle home.
    pub user: Option<&'a ConfigFile>,
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedSetting {
    /// The value, checked against its type.
    pub value: SettingValue,
    /// The layer and line of the value.
    pub place: ConfigLocation,
}

/// The result of merging all layers.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// The effective settings, for the program.
    pub config: Config,
    /// The same settings by key, with their origin, for display.
    pub settings: BTreeMap<&'static str, ResolvedSetting>,
    /// Problems that were ignored: in a project file, in a variable that other programs use too, or a removed
    /// setting in the user's file.
    pub warnings: Vec<Error>,
}

impl LoadedConfig {
    /// One setting by key. The error for an unknown key names the most similar one.
    pub fn get(&self, key: &str) -> Result<&ResolvedSetting, Error> {
        self.settings
            .get(key)
            .ok_or_else(|| Error::unknown(key, ConfigLocation::in_source(ConfigSource::Flag)))
    }
}

/// Merges the layers into the effective settings.
pub fn load(layers: &ConfigLayers<'_>) -> Result<LoadedConfig, Error> {
    let mut merge = ConfigMerge { settings: BTreeMap::new(), warnings: Vec::new() };
    merge.own_file(&ConfigSource::Default, DEFAULTS_TOML)?;
    if let Some(file) = layers.user {
        merge.own_file(&ConfigSource::User(file.path.clone()), &file.text)?;
    }
    if let Some(file) = layers.project {
        merge.project_file(file);
    }
    merge.environment(layers.variables)?;
    for (key, text) in layers.flags {
        let value = check(key, text)?;
        let key = keys::find(key).ok_or(Error::Misfit)?;
        merge.set(ConfigEntry { key, value, place: ConfigLocation::in_source(ConfigSource::Flag) });
    }
    merge.finish()
}

struct ConfigMerge {
    settings: BTreeMap<&'static str, ResolvedSetting>,
    warnings: Vec<Error>,
}

impl ConfigMerge {
    fn set(&mut self, entry: ConfigEntry) {
        self.settings.insert(entry.key.name, ResolvedSetting { value: entry.value, place: entry.place });
    }

    fn own_file(&mut self, source: &ConfigSource, text: &str) -> Result<(), Error> {
        for entry in file::read(source, text)? {
            match entry {
                Err(removed @ Error::RemovedKey { .. }) => self.warnings.push(removed),
                entry => self.set(entry?),
            }
        }
        Ok(())
    }

    fn project_file(&mut self, file: &ConfigFile) {
        let source = ConfigSource::Project(file.path.clone());
        // If the file is not TOML, ignore all of it: whatever a parser recovers is a guess.
        let entries = file::read(&source, &file.text).unwrap_or_else(|error| vec![Err(error)]);
        for entry in entries {
            match entry.and_then(|entry| self.not_against_the_switch(entry)).and_then(not_global) {
                Ok(entry) => self.set(entry),
                Err(problem) if self.warnings.len() < MAX_PROJECT_WARNINGS => self.warnings.push(problem),
                Err(_) => {}
            }
        }
    }

    /// Rejects an entry that would switch memory back on. A cloned repository must not override the kill
    /// switch (OPS-03).
    fn not_against_the_switch(&self, entry: ConfigEntry) -> Result<ConfigEntry, Error> {
        match self.settings.get(entry.key.name) {
            Some(ResolvedSetting { value: SettingValue::Bool(false), place: off })
                if entry.key.name == "memory.enabled" && entry.value == SettingValue::Bool(true) =>
            {
                Err(Error::SwitchedOff { place: entry.place, off: off.clone() })
            }
            _ => Ok(entry),
        }
    }

    fn environment(&mut self, variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Error> {
        let variable = |name: &str| variables(name).filter(|text| !text.is_empty());
        let from = |name: &str| ConfigLocation::in_source(ConfigSource::Env(name.to_owned()));

        if let Some(text) = variable(WORKSPACE_VARIABLE) {
            // A newer variable disables the old one completely: mixing halves would name a third vault.
            let newer = |name| keys::find(name).is_some_and(|key| variable(&key.variable()).is_some());
            if !newer("vault.notes") && !newer("vault.folder") {
                for (key, text) in workspace(&text).ok_or_else(|| bad_workspace(from(WORKSPACE_VARIABLE)))? {
                    let key = keys::find(key).ok_or(Error::Misfit)?;
                    let value =
                        key.kind.read_text(&text).ok_or_else(|| bad_workspace(from(WORKSPACE_VARIABLE)))?;
                    self.set(ConfigEntry { key, value, place: from(WORKSPACE_VARIABLE) });
                }
            }
        }
        for key in KEYS {
            let own = key.variable();
            let names =
                std::iter::once((own.as_str(), false)).chain(key.aliases.iter().map(|a| (a.name, a.shared)));
            for (name, shared) in names {
                let Some(text) = variable(name) else { continue };
                match key.kind.read_text(&text) {
                    Some(value) => {
                        self.set(ConfigEntry { key, value, place: from(name) });
                        break;
                    }
                    None if shared => self.warnings.push(Error::bad_value(key, from(name))),
                    None => return Err(Error::bad_value(key, from(name))),
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<LoadedConfig, Error> {
        let mut table = toml::Table::new();
        for (name, setting) in &self.settings {
            insert(&mut table, name, setting.value.clone().into());
        }
        let config = Config::deserialize(table).map_err(|_| Error::Misfit)?;
        let confidence = &config.memory.confidence;
        if confidence.high < confidence.medium {
            let place = |name| {
                let setting: Option<&ResolvedSetting> = self.settings.get(name);
                Box::new(setting.map_or(ConfigLocation::in_source(ConfigSource::Default), |setting| {
                    setting.place.clone()
                }))
            };
            return Err(Error::Confidence {
                high: confidence.high,
                high_place: place("memory.confidence.high"),
                medium: confidence.medium,
                medium_place: place("memory.confidence.medium"),
            });
        }
        Ok(LoadedConfig { config, settings: self.settings, warnings: self.warnings })
    }
}

/// Rejects the global scope in a project file. A cloned repository must not write into the memories of other
/// projects.
fn not_global(entry: ConfigEntry) -> Result<ConfigEntry, Error> {
    match entry.key.name == "memory.scope" && entry.value == SettingValue::Text("global".to_owned()) {
        true => Err(Error::ProjectWantsGlobal { place: entry.place }),
        false => Ok(entry),
    }
}

fn insert(table: &mut toml::Table, path: &str, value: toml::Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let inner = table.entry(head).or_insert_with(|| toml::Table::new().into());
            if let toml::Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Splits a workspace path into the notes folder and the vault folder in it.
fn workspace(text: &str) -> Option<[(&'static str, String); 2]> {
    let path = Path::new(text);
    // A relative path would name a different folder in every directory that a hook starts in.
    let rooted = path.is_absolute() || path.starts_with("~");
    let notes = path.parent().filter(|_| rooted)?.to_str().filter(|notes| !notes.is_empty())?;
    Some([("vault.notes", notes.to_owned()), ("vault.folder", path.file_name()?.to_str()?.to_owned())])
}

fn bad_workspace(place: ConfigLocation) -> Error {
    let allowed = "the absolute path of the folder that holds MEMORY.md, inside your notes vault".to_owned();
    Error::BadValue { place, key: "vault.notes", allowed }
}
