//! Messages to the person about saved memories. The worker writes them to a small file of the state folder.
//! The next hook of the same project that can show something prints them and clears them. An empty file costs
//! a hook one `stat`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::context::notice;
use rekindle_core::context::notice::KeptMemory;
use rekindle_core::hosts::hook;
use rekindle_core::hosts::hook::{HookKind, HookSignal};
use serde::{Deserialize, Serialize};

use crate::platform::disk;
use crate::platform::environment;
use crate::platform::home::DataPaths;
use crate::project;

/// The longest wait of a hook for the file. A notice that it misses waits for the next hook.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_millis(20);
/// The longest wait of the worker for the file.
const WORKER_LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of memories per project listed by name; the rest is counted.
const MAX_NAMED_NOTICES: usize = 8;
/// The number of announced changes to remember.
const MAX_REPORTED_CHANGES: usize = 200;
/// The size limit of the file; the projects with the oldest messages are dropped first.
const MAX_BYTES: usize = 32 * 1024;
/// The variable by which Claude Code names its front end; nobody sees the output of `claude -p`.
const ENTRYPOINT_VARIABLE: &str = "CLAUDE_CODE_ENTRYPOINT";
const HEADLESS_ENTRYPOINT: &str = "sdk-cli";

/// The messages that wait for the hooks of one project; one line of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PendingNotices {
    /// The project; `None` for sessions outside of any.
    project: Option<String>,
    kept: Vec<KeptMemory>,
    /// The number of saved memories that are not listed by name.
    #[serde(default)]
    more: u64,
}

fn file(places: &DataPaths) -> PathBuf {
    places.notices_file().join("kept.jsonl")
}

/// The file of announced changes, one per line: a delayed run may report one of them again.
fn reported_file(places: &DataPaths) -> PathBuf {
    places.notices_file().join("told")
}

fn parse(text: &str) -> Vec<PendingNotices> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn render(all: &[PendingNotices]) -> String {
    let mut lines: Vec<String> = all
        .iter()
        .filter_map(|waiting| serde_json::to_string(waiting).ok())
        .map(|line| format!("{line}\n"))
        .collect();
    while lines.len() > 1 && lines.iter().map(String::len).sum::<usize>() > MAX_BYTES {
        lines.remove(0);
    }
    lines.concat()
}

/// Queues saved memories for the next hook of a project. A change is announced once.
pub fn add(places: &DataPaths, project: Option<&ProjectId>, kept: &[KeptMemory]) -> io::Result<()> {
    if kept.is_empty() {
        return Ok(());
    }
    disk::create_private_folder(&places.notices_file())?;
    let reported = std::fs::read_to_string(reported_file(places)).unwrap_or_default();
    let kept: Vec<&KeptMemory> =
        kept.iter().filter(|kept| reported.lines().all(|reported| reported != kept.change)).collect();
    if kept.is_empty() {
        return Ok(());
    }
    let project = project.map(ProjectId::as_str);
    disk::update_locked(&file(places), WORKER_LOCK_TIMEOUT, |text| {
        let mut all = parse(text);
        let place = all.iter().position(|waiting| waiting.project.as_deref() == project);
        let mut waiting = place.map(|place| all.remove(place)).unwrap_or_default();
        waiting.project = project.map(str::to_owned);
        for new in kept {
            if waiting.kept.iter().all(|known| known.change != new.change) {
                waiting.kept.push(new.clone());
            }
        }
        let too_many = waiting.kept.len().saturating_sub(MAX_NAMED_NOTICES);
        waiting.kept.drain(..too_many);
        waiting.more += too_many as u64;
        // The most recent project goes last.
        all.push(waiting);
        Some(render(&all))
    })
    .map(drop)
}

/// Takes the waiting messages, if a person can see them at this hook. They are announced once. `input` is the
/// input of the hook.
pub fn take_notice(places: &DataPaths, signal: &HookSignal, input: &[u8]) -> Option<String> {
    let path = file(places);
    let waits = matches!(signal.kind, HookKind::Start | HookKind::Prompt | HookKind::Stop)
        && !signal.subagent
        && std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 0);
    if !waits || !is_interactive(signal.agent, input) {
        return None;
    }
    let folder = signal.cwd.as_ref().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let place = folder.and_then(|folder| project::locate(&folder, environment::home_folder().as_deref()));
    let known = || project::load(&places.projects_file());
    let project = place.map(|place| project::identify_folder(&place, &known()).project.id);
    let found = take_for_project(&path, project.as_ref().map(ProjectId::as_str)).ok()??;
    note(places, &found.kept).ignore_failure("the notice repeats at worst");
    // A memory that was undone, forgotten or archived in the meantime is not announced.
    let is_there = |kept: &KeptMemory| places.vault().join(&kept.path).is_file();
    let kept: Vec<KeptMemory> = found.kept.into_iter().filter(is_there).collect();
    notice::kept_line(&kept, found.more)
}

/// Asks if the folder of a session is the project that its git configuration names (B-05). It asks once, at a
/// session start that a person sees; `rekindle status` repeats it. `input` is the input of the hook.
pub fn claim(places: &DataPaths, signal: &HookSignal, input: &[u8]) -> Option<String> {
    if signal.kind != HookKind::Start || signal.subagent || !is_interactive(signal.agent, input) {
        return None;
    }
    let folder = signal.cwd.as_ref().map(PathBuf::from).or_else(|| std::env::current_dir().ok())?;
    let place = project::locate(&folder, environment::home_folder().as_deref())?;
    let found = project::identify_folder(&place, &project::load(&places.projects_file()));
    let claim = found.claim?;
    let mark =
        ContentHash::of_parts(&[place.root.as_os_str().as_encoded_bytes(), claim.id.as_str().as_bytes()]);
    let mark = mark.short_hex(16);
    let path = places.notices_file().join("claims");
    disk::create_private_folder(&places.notices_file()).ok()?;
    let mut is_new = false;
    let asked = disk::update_locked(&path, HOOK_LOCK_TIMEOUT, |text| {
        is_new = text.lines().all(|line| line != mark);
        let all: Vec<&str> = text.lines().chain([mark.as_str()]).collect();
        let last = &all[all.len().saturating_sub(MAX_REPORTED_CHANGES)..];
        is_new.then(|| last.iter().map(|mark| format!("{mark}\n")).collect())
    });
    (asked.is_ok() && is_new).then(|| notice::claim_line(claim.id.as_str(), &claim.folder))
}

/// Removes and returns the messages of a project.
fn take_for_project(path: &Path, project: Option<&str>) -> io::Result<Option<PendingNotices>> {
    let mut taken = None;
    disk::update_locked(path, HOOK_LOCK_TIMEOUT, |text| {
        let mut all = parse(text);
        let place = all.iter().position(|waiting| waiting.project.as_deref() == project)?;
        taken = Some(all.remove(place));
        Some(render(&all))
    })?;
    Ok(taken)
}

/// Records changes as announced.
fn note(places: &DataPaths, kept: &[KeptMemory]) -> io::Result<()> {
    disk::update_locked(&reported_file(places), HOOK_LOCK_TIMEOUT, |text| {
        let new = kept.iter().map(|kept| kept.change.as_str());
        let all: Vec<&str> = text.lines().chain(new).collect();
        let last = &all[all.len().saturating_sub(MAX_REPORTED_CHANGES)..];
        Some(last.iter().map(|change| format!("{change}\n")).collect())
    })
    .map(drop)
}

/// True if a person sees the messages of this session's hooks.
pub(super) fn is_interactive(agent: Agent, input: &[u8]) -> bool {
    match agent {
        Agent::Claude => {
            environment::variable(ENTRYPOINT_VARIABLE).is_none_or(|by| by != HEADLESS_ENTRYPOINT)
        }
        Agent::Codex | Agent::Gemini => true,
        Agent::Pi => hook::has_ui(input),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::home::HomeFolder;

    fn places(folder: &Path) -> DataPaths {
        let home = HomeFolder::find_with(Some(folder), None, None).unwrap();
        let config = crate::config::read_with(&home, None, &[], &|_| None).unwrap().config;
        home.data_paths(&config).unwrap()
    }

    fn kept(number: usize) -> KeptMemory {
        KeptMemory::new(&format!("CHANGE{number}"), "personal-private/rule/a.md", &format!("Rule {number}."))
    }

    #[test]
    fn r_13_each_project_is_told_its_own_once() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let path = file(&places);
        let pumps = ProjectId::new("github.com/acme/pumps");
        add(&places, Some(&pumps), &[kept(1), kept(2)]).unwrap();
        add(&places, Some(&pumps), &[kept(2)]).unwrap();
        add(&places, None, &[kept(3)]).unwrap();
        assert!(take_for_project(&path, Some("github.com/acme/kettles")).unwrap().is_none());
        let told = take_for_project(&path, Some(pumps.as_str())).unwrap().unwrap();
        assert_eq!((told.kept, told.more), (vec![kept(1), kept(2)], 0));
        assert!(take_for_project(&path, Some(pumps.as_str())).unwrap().is_none());
        assert_eq!(take_for_project(&path, None).unwrap().unwrap().kept, [kept(3)]);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0, "nothing waits");
    }

    #[test]
    fn r_14_a_notice_is_given_once_across_hooks() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        add(&places, None, &[kept(1)]).unwrap();
        note(&places, &take_for_project(&file(&places), None).unwrap().unwrap().kept).unwrap();
        add(&places, None, &[kept(1)]).unwrap();
        assert!(take_for_project(&file(&places), None).unwrap().is_none());
        add(&places, None, &[kept(1), kept(2)]).unwrap();
        assert_eq!(take_for_project(&file(&places), None).unwrap().unwrap().kept, [kept(2)]);
        note(&places, &(0..500).map(kept).collect::<Vec<_>>()).unwrap();
        assert_eq!(
            std::fs::read_to_string(reported_file(&places)).unwrap().lines().count(),
            MAX_REPORTED_CHANGES
        );
    }

    #[test]
    fn the_file_stays_small_and_counts_what_it_does_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let many: Vec<KeptMemory> = (0..100).map(kept).collect();
        for project in 0..200 {
            let project = ProjectId::new(format!("github.com/acme/{project}"));
            add(&places, Some(&project), &many).unwrap();
        }
        assert!(std::fs::metadata(file(&places)).unwrap().len() <= MAX_BYTES as u64);
        let told = take_for_project(&file(&places), Some("github.com/acme/199")).unwrap().unwrap();
        assert_eq!((told.kept.len() as u64 + told.more, told.kept.len()), (100, MAX_NAMED_NOTICES));
        // A line that is none harms no other.
        disk::write_atomic(&file(&places), b"{\n{\"project\":null,\"kept\":[]}\n").unwrap();
        add(&places, None, &[kept(1)]).unwrap();
        assert_eq!(take_for_project(&file(&places), None).unwrap().unwrap().kept, [kept(1)]);
    }
}
