//! The plugin folder: creates it, updates it, and distinguishes it from other folders. A list inside names
//! the files that we wrote, so that no other file is ever replaced or removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::hosts::install::plugin::{PLUGIN_ID, PLUGIN_NAME, PluginContent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::environment::InstallEnvironment;
use super::file::read;
use super::host::AgentLocation;
use super::{Error, Installer, LOCK_TIMEOUT, codex, pi};
use crate::platform::disk;

/// The name of that list.
const MANIFEST_FILE: &str = ".rekindle-plugin.json";

/// The result of writing a plugin.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenPlugin {
    /// The folder of the plugin.
    pub folder: PathBuf,
    /// The new and changed files, relative to the folder.
    pub changed: Vec<String>,
    /// The removed files of an earlier version, relative to the folder.
    pub removed: Vec<String>,
    /// The number of files in the plugin.
    pub files: usize,
}

/// The files that we wrote, each with the hashes it may have: two during an update.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PluginManifest {
    version: String,
    program: String,
    home: Option<String>,
    files: BTreeMap<String, Vec<ContentHash>>,
}

impl Installer<'_> {
    /// Writes the plugin into a folder that is empty, missing, or a plugin of ours.
    pub fn write_plugin(&self, folder: &Path, version: &str, skill: &str) -> Result<WrittenPlugin, Error> {
        let locks = self.places.locks_folder();
        let name = locks.join("install.lock");
        let locked = disk::create_private_folder(&locks).and_then(|()| disk::lock(&name, LOCK_TIMEOUT));
        let _lock = locked.map_err(Error::io("lock", &name))?;
        let extension = pi::render(self.invocation, &self.places.logs_folder());
        let plugin = PluginContent { version, invocation: self.invocation, skill, extension: &extension };
        let wanted = plugin.files();
        let old = list(folder)?;
        let (mut files, mut stale) = (BTreeMap::new(), Vec::new());
        let hash = |text: &str| ContentHash::of_bytes(text.as_bytes());
        let mut changed = Vec::new();
        for (path, text) in &wanted {
            let mut known = old.files.get(path).cloned().unwrap_or_default();
            let there = read(&folder.join(path))?;
            let wanted = hash(text);
            match there.as_deref().map(hash) {
                Some(there) if there == wanted => {}
                Some(there) if !known.contains(&there) => return Err(Error::Edited(folder.join(path))),
                _ => changed.push(path.clone()),
            }
            known.retain(|one| *one != wanted);
            known.push(wanted);
            files.insert(path.clone(), known);
        }
        for (path, known) in old.files.iter().filter(|(path, _)| !wanted.contains_key(*path)) {
            match is_safe_path(path).then(|| read(&folder.join(path))).transpose()?.flatten() {
                // A changed file now belongs to the user.
                Some(text) if known.contains(&hash(&text)) => {
                    files.insert(path.clone(), known.clone());
                    stale.push((path.clone(), text));
                }
                _ => {}
            }
        }
        let Installer { invocation, .. } = self;
        let mut list = PluginManifest {
            version: version.to_owned(),
            program: invocation.program.clone(),
            home: invocation.home.clone(),
            files,
        };
        // Write the list of allowed hashes first, so that an interrupted run can be repeated.
        if !changed.is_empty() || !stale.is_empty() {
            save(folder, &list)?;
        }
        for path in &changed {
            let path_there = folder.join(path);
            disk::write_atomic(&path_there, wanted[path].as_bytes())
                .map_err(Error::io("write", &path_there))?;
        }
        let mut removed = Vec::new();
        for (path, text) in stale {
            let file = folder.join(&path);
            if disk::remove_unchanged(&file, text.as_bytes()).map_err(Error::io("remove", &file))? {
                list.files.remove(&path);
                removed.push(path);
                let parents = file.ancestors().skip(1).take_while(|parent| *parent != folder);
                parents.for_each(|parent| disk::remove_empty_folder(parent).unwrap_or_default());
            }
        }
        for (path, text) in &wanted {
            list.files.insert(path.clone(), vec![hash(text)]);
        }
        save(folder, &list)?;
        Ok(WrittenPlugin { folder: folder.to_owned(), changed, removed, files: wanted.len() })
    }
}

/// True if a path stays inside the folder, because others may edit the list.
fn is_safe_path(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// Reads the list of a folder; empty if the folder is missing or empty.
fn list(folder: &Path) -> Result<PluginManifest, Error> {
    if let Some(text) = read(&folder.join(MANIFEST_FILE))? {
        return serde_json::from_str(&text).map_err(|_| Error::Edited(folder.join(MANIFEST_FILE)));
    }
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(PluginManifest::default()),
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    match entries.next() {
        None => Ok(PluginManifest::default()),
        Some(_) => Err(Error::NotAPlugin(folder.to_owned())),
    }
}

fn save(folder: &Path, list: &PluginManifest) -> Result<(), Error> {
    let path = folder.join(MANIFEST_FILE);
    let text = serde_json::to_string_pretty(list).map_err(std::io::Error::from).map(|text| text + "\n");
    let text = text.map_err(Error::io("write", &path))?;
    if read(&path)?.as_deref() == Some(text.as_str()) {
        return Ok(());
    }
    disk::write_atomic(&path, text.as_bytes()).map_err(Error::io("write", &path))
}

/// True if an agent has our plugin, according to its own settings. Unreadable settings count as no.
pub(super) fn is_active(machine: &InstallEnvironment, host: &AgentLocation) -> bool {
    let text = |path: PathBuf| read(&path).ok().flatten().unwrap_or_default();
    let json = |path: PathBuf| serde_json::from_str::<Value>(&text(path)).unwrap_or_default();
    match host.agent {
        Agent::Claude => json(host.settings.clone())["enabledPlugins"][PLUGIN_ID] == true,
        Agent::Codex => {
            let config = text(codex::config_file(machine)).parse::<toml_edit::DocumentMut>().ok();
            let plugin = config.as_ref().and_then(|config| config.get("plugins")?.get(PLUGIN_ID));
            plugin
                .is_some_and(|plugin| plugin.get("enabled").and_then(toml_edit::Item::as_bool) != Some(false))
        }
        Agent::Gemini => host.folder.join("extensions").join(PLUGIN_NAME).is_dir(),
        Agent::Pi => {
            let settings = json(host.folder.join("settings.json"));
            let packages = settings["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
            let source =
                |package: &Value| package.as_str().or_else(|| package["source"].as_str()).map(str::to_owned);
            // The paths are relative to the settings file.
            let mut folders = packages.iter().filter_map(source).map(|path| host.folder.join(path));
            folders.any(|folder| json(folder.join("package.json"))["name"] == PLUGIN_NAME)
        }
    }
}
