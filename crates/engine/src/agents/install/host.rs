//! Locates an agent on this machine.

use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use serde::Deserialize;

use super::environment::InstallEnvironment;
use super::{Error, claude, codex, gemini, pi};
use crate::platform::disk::{self, FileContent};

/// The paths of an agent on this machine, installed or not.
#[derive(Debug)]
pub(super) struct AgentLocation {
    pub(super) agent: Agent,
    /// The file that holds our hooks.
    pub(super) settings: PathBuf,
    /// The agent's own folder.
    pub(super) folder: PathBuf,
    /// The path of the agent's program.
    pub(super) program: Option<PathBuf>,
    /// The name of the agent's package.
    package: &'static str,
}

impl AgentLocation {
    pub(super) fn locate(agent: Agent, machine: &InstallEnvironment) -> Result<Self, Error> {
        let home = machine.home.as_deref();
        let (folder, file, package) = match agent {
            Agent::Claude => (claude::folder(machine, home), "settings.json", claude::PACKAGE),
            Agent::Codex => (codex::folder(machine, home), codex::HOOKS_FILE, codex::PACKAGE),
            Agent::Gemini => (gemini::folder(machine, home), "settings.json", gemini::PACKAGE),
            Agent::Pi => (pi::folder(machine, home), pi::EXTENSION_PATH, pi::PACKAGE),
        };
        let folder = folder.ok_or(Error::NoHome)?;
        let program = machine.find_program(agent.as_str());
        Ok(Self { agent, settings: folder.join(file), folder, program, package })
    }

    pub(super) fn is_found(&self) -> bool {
        self.program.is_some() || self.folder.is_dir()
    }

    /// The setting that keeps hooks from running, if any.
    pub(super) fn hooks_obstacle(&self, settings: &str) -> Option<String> {
        match self.agent {
            Agent::Claude => claude::hooks_obstacle(settings),
            Agent::Gemini => gemini::hooks_obstacle(settings),
            Agent::Codex | Agent::Pi => None,
        }
    }

    /// The agent's version, if it can be read without starting the program.
    pub(super) fn version(&self) -> Option<String> {
        let program = self.program.as_deref()?.canonicalize().ok()?;
        let package = program.ancestors().skip(1).take(4).find_map(|folder| self.package_version(folder));
        package.or_else(|| version_in_path(&program))
    }

    fn package_version(&self, folder: &Path) -> Option<String> {
        #[derive(Deserialize)]
        struct PackageManifest {
            name: String,
            version: String,
        }
        let Ok(FileContent::Bytes(bytes)) = disk::read(&folder.join("package.json"), 1024 * 1024) else {
            return None;
        };
        let package: PackageManifest = serde_json::from_slice(&bytes).ok()?;
        (package.name == self.package).then_some(package.version)
    }
}

/// The version in the path of the program, as installers of single programs put it: `…/versions/2.1.0`.
fn version_in_path(program: &Path) -> Option<String> {
    let name = program.file_name()?.to_str()?;
    let beside = program.parent()?.file_name()? == "versions";
    (beside && name.starts_with(|c: char| c.is_ascii_digit())).then(|| name.to_owned())
}
