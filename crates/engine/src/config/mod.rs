//! Reads and changes settings in files and environment variables.
//!
//! [`rekindle_core::config`] merges them.

mod edit;
mod file;
pub mod notes;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rekindle_core::config::{
    self as settings, ConfigFile, ConfigLayers, ConfigLocation, ConfigSource, LoadedConfig, ResolvedSetting,
    SettingValue,
};

use crate::platform::clock;
use crate::platform::environment;
use crate::platform::home::{self, HomeFolder};

/// The project's own settings file, in its root.
pub const PROJECT_FILE: &str = ".rekindle.toml";

/// The maximum size of the user's file, far above any honest one. The limit of a project's file is small,
/// because other people write it and every hook reads it.
const MAX_USER_FILE_BYTES: u64 = 1024 * 1024;
const MAX_PROJECT_FILE_BYTES: u64 = 16 * 1024;

/// An error of the settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A layer holds an invalid setting.
    #[error(transparent)]
    Setting(#[from] settings::Error),
    /// The configured folders are invalid.
    #[error(transparent)]
    Home(#[from] home::Error),
    /// The time zone's name is well-formed but unknown.
    #[error("{place}: this system does not know that time zone; use an IANA name, such as Europe/Berlin")]
    Zone {
        /// The place of the setting.
        place: ConfigLocation,
    },
    /// `recall.notes` names a missing folder.
    #[error(transparent)]
    Notes(#[from] notes::UnknownFolder),
    /// The file's form does not allow to change one setting and nothing else.
    #[error("{}: cannot change {key} without changing other lines; edit the file by hand", path.display())]
    Edit {
        /// The path of the user's file.
        path: PathBuf,
        /// The key of the setting.
        key: String,
    },
    /// Another program wrote the file at the same time.
    #[error("{} was changed by another program just now; nothing was written, try again", path.display())]
    Changed {
        /// The path of the user's file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file or its folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: std::io::Error,
    },
}

/// Loads the effective settings. Errors in a project's file end up in [`LoadedConfig::warnings`]; all others are
/// returned.
pub fn read(
    home: &HomeFolder,
    project_root: Option<&Path>,
    flags: &[(String, String)],
) -> Result<LoadedConfig, Error> {
    read_with(home, project_root, flags, &environment::raw_variable)
}

/// The same as [`read`], with the environment given.
pub fn read_with(
    home: &HomeFolder,
    project_root: Option<&Path>,
    flags: &[(String, String)],
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<LoadedConfig, Error> {
    let user = read_user_file(home)?;
    let mut unreadable = None;
    let project = project_root.map(|root| root.join(PROJECT_FILE)).and_then(|path| {
        match file::read(&path, MAX_PROJECT_FILE_BYTES) {
            Ok(text) => Some(ConfigFile { path, text: text? }),
            Err(problem) => {
                unreadable = Some(settings::Error::Unreadable { file: ConfigSource::Project(path), problem });
                None
            }
        }
    });
    let mut loaded = merge(user.as_ref(), project.as_ref(), flags, variables)?;
    loaded.warnings.extend(unreadable);
    Ok(loaded)
}

fn read_user_file(home: &HomeFolder) -> Result<Option<ConfigFile>, Error> {
    let path = home.config_file();
    match file::read(&path, MAX_USER_FILE_BYTES) {
        Ok(text) => Ok(text.map(|text| ConfigFile { path, text })),
        Err(problem) => Err(settings::Error::Unreadable { file: ConfigSource::User(path), problem }.into()),
    }
}

fn merge(
    user: Option<&ConfigFile>,
    project: Option<&ConfigFile>,
    flags: &[(String, String)],
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<LoadedConfig, Error> {
    // If it were ignored, a path that is not Unicode would mean the default folder.
    let garbled = |name: &String| variables(name).is_some_and(|value| value.to_str().is_none());
    if let Some(name) = settings::variable_names().into_iter().find(garbled) {
        let problem = "the value is not valid Unicode".to_owned();
        return Err(settings::Error::Unreadable { file: ConfigSource::Env(name), problem }.into());
    }
    let variables = |name: &str| variables(name)?.into_string().ok();
    Ok(settings::load(&ConfigLayers { flags, variables: &variables, project, user })?)
}

/// The user's time zone. Only callers that need it look it up, because that reads the system's zone files.
pub fn zone(loaded: &LoadedConfig) -> Result<TimeZone, Error> {
    let name = &loaded.config.time.zone;
    if name.is_empty() {
        return Ok(clock::system_zone());
    }
    clock::named_zone(name).ok_or_else(|| match loaded.get("time.zone") {
        Ok(setting) => Error::Zone { place: setting.place.clone() },
        Err(unknown) => unknown.into(),
    })
}

/// Sets one key in the user's file and returns the file's new text. Every other byte stays the same. Nothing
/// is written if the settings would not load afterwards.
pub fn set(home: &HomeFolder, key: &str, text: &str) -> Result<String, Error> {
    set_with(home, key, text, &environment::raw_variable)
}

/// The same as [`set`], with the environment given.
pub fn set_with(
    home: &HomeFolder,
    key: &str,
    text: &str,
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<String, Error> {
    change(home, key, Some(&settings::check(key, text)?), variables)
}

/// Removes one key from the user's file, so that its default applies again, and returns the file's new text.
/// A comment behind the value stays.
pub fn unset(home: &HomeFolder, key: &str) -> Result<String, Error> {
    unset_with(home, key, &environment::raw_variable)
}

/// The same as [`unset`], with the environment given.
pub fn unset_with(
    home: &HomeFolder,
    key: &str,
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<String, Error> {
    change(home, key, None, variables)
}

fn change(
    home: &HomeFolder,
    key: &str,
    value: Option<&SettingValue>,
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<String, Error> {
    let old = read_user_file(home)?.map(|file| file.text);
    let new = changed_text(home, old.as_deref().unwrap_or_default(), key, value, variables)?;
    if old.as_ref() != Some(&new) {
        file::write(&home.config_file(), &new, old.as_deref())?;
    }
    Ok(new)
}

/// The text of the user's file after the change, if all settings load with it.
fn changed_text(
    home: &HomeFolder,
    old: &str,
    key: &str,
    value: Option<&SettingValue>,
    variables: &dyn Fn(&str) -> Option<OsString>,
) -> Result<String, Error> {
    let path = home.config_file();
    let file = |text: &str| ConfigFile { path: path.clone(), text: text.to_owned() };
    let load_alone = |user: Option<&ConfigFile>| {
        settings::load(&ConfigLayers { flags: &[], variables: &|_| None, project: None, user })
    };
    let default = load_alone(None)?.get(key)?.value.clone();

    let edited = match value {
        Some(value) => edit::set(old, key, value),
        None => edit::unset(old, key),
    };
    let was = load_alone(Some(&file(old)));
    let Some(new) = edited else {
        // An error of the file itself says more.
        was?;
        return Err(Error::Edit { path, key: key.to_owned() });
    };
    let new = file(&new);

    // Verify the splice with a second parse: this key changed, and no other. A file that did not load before
    // is being repaired, so there is nothing to compare with.
    let now = load_alone(Some(&new))?;
    if let Ok(was) = was {
        let value = value.unwrap_or(&default);
        let as_expected = |(name, setting): (&&str, &ResolvedSetting)| {
            let expected = if *name == key { value } else { &was.settings[name].value };
            setting.value == *expected
        };
        if !now.settings.iter().all(as_expected) {
            return Err(Error::Edit { path, key: key.to_owned() });
        }
    }
    let merged = merge(Some(&new), None, &[], variables)?.config;
    let places = home.data_paths(&merged)?;
    if key == "recall.notes" {
        notes::check(&now.config.recall.notes, places.notes(), &merged.vault.folder)?;
    }
    if key == "time.zone" {
        zone(&now)?;
    }
    Ok(new.text)
}

/// The user's file without the settings that belong to one machine (OPS-12). `None` if the text is not TOML.
pub fn without_device_settings(text: &str) -> Option<String> {
    let device = settings::keys().into_iter().filter(|key| key.is_device_local);
    device.map(|key| key.name).try_fold(text.to_owned(), |text, key| edit::unset(&text, key))
}

/// The initial settings file of the user, for `rekindle init`.
pub fn user_file(name: &str, notes: Option<&str>) -> Result<String, Error> {
    let mut text = String::from(
        "# Your settings for Rekindle. Whatever is not here has its default: `rekindle config list` shows every\n\
         # setting, what it does, and where its value comes from.\n",
    );
    let chosen = [("user", "name", Some(name)), ("vault", "notes", notes)];
    for (table, key, value) in chosen {
        let Some(value) = value else { continue };
        let value = settings::check(&format!("{table}.{key}"), value)?;
        text.push_str(&format!("\n[{table}]\n{key} = {}\n", edit::render(&value)));
    }
    Ok(text)
}
