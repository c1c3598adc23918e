//! Checks of `rekindle doctor`. Every part of the product adds its own to `CHECKS`.
//!
//! A check is read-only. A finding names the place and the remedy; it never quotes a note.

mod agents;
mod engines;
mod index;
mod learning_stats;
mod messages;
mod review;
mod runs;
mod surfaces;

use std::collections::BTreeMap;
use std::path::Path;

use rekindle_core::config::{Config, LlmProvider};
use rekindle_core::text::plural::count_phrase;
use rekindle_core::text::redact;
use rekindle_core::vault::layout;
use rekindle_core::vault::lines::BrokenDocument;
use rekindle_core::vault::path::fold_name;
use rekindle_core::vault::{memory, review as page};
use serde::Serialize;

pub use self::agents::check_agents;
pub use self::engines::check_engines;
pub use self::index::check_index;
pub use self::learning_stats::check_learning;
pub use self::runs::check_runs;
pub use self::surfaces::check_surfaces;
use crate::agents::identity::{self, IdentityLink};
use crate::index::models::{self, ModelStore};
use crate::jobs::sessions;
use crate::llm::{self, ModelJob, ProviderEnvironment};
use crate::ops::repair::permissions;
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};
use crate::vault;
use crate::vault::{ChangeOutcome, Vault, VaultScan};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Nothing needs to be done.
    Ok,
    /// It works, but the person should know.
    Warning,
    /// Something is broken.
    Error,
}

/// One finding of a check.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorFinding {
    /// The severity of the finding.
    pub level: FindingSeverity,
    /// The problem and its place.
    pub what: String,
    /// The remedy, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl DoctorFinding {
    fn ok(what: impl Into<String>) -> Self {
        Self { level: FindingSeverity::Ok, what: what.into(), hint: None }
    }

    fn warning(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: FindingSeverity::Warning, what: what.into(), hint: Some(hint.into()) }
    }

    fn error(what: impl Into<String>, hint: Option<String>) -> Self {
        Self { level: FindingSeverity::Error, what: what.into(), hint }
    }
}

/// The result of one check: at least one finding.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The name of the check.
    pub check: &'static str,
    /// The findings of the check.
    pub findings: Vec<DoctorFinding>,
}

/// The number of files that a finding names one by one.
const MAX_NAMED_FILES: usize = 5;

/// The input of the checks. The vault is walked once for all of them.
struct CheckContext<'a> {
    places: &'a DataPaths,
    vault: &'a Vault,
    scan: &'a VaultScan,
}

type CheckFn = fn(&CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error>;

/// Every check that needs a vault, in the order they are shown.
const CHECKS: [(&str, CheckFn); 11] = [
    ("state", state),
    ("journal", journal),
    ("sessions", session_markers),
    ("messages", messages::messages),
    ("entries", entries),
    ("documents", documents),
    ("review", review::review),
    ("conflicts", conflicts),
    ("forgotten", forgotten),
    ("secrets", secrets),
    ("identity", identity_links),
];

/// Runs every check of the vault and its state.
pub fn run_checks(places: &DataPaths) -> Vec<CheckReport> {
    let vault = match Vault::open(places) {
        Ok(vault) => vault,
        Err(error) => {
            let hint = error.hint();
            return vec![CheckReport {
                check: "vault",
                findings: vec![DoctorFinding::error(error.to_string(), hint)],
            }];
        }
    };
    let mut checked =
        vec![CheckReport { check: "vault", findings: vec![writable("the vault", vault.folder())] }];
    let scan = match vault.scan(true) {
        Ok(scan) => scan,
        Err(error) => {
            checked[0].findings.push(DoctorFinding::error(error.to_string(), error.hint()));
            return checked;
        }
    };
    let patient = CheckContext { places, vault: &vault, scan: &scan };
    checked.extend(CHECKS.iter().map(|(check, look)| {
        let mut findings = match look(&patient) {
            Ok(findings) => findings,
            Err(error) => vec![DoctorFinding::error(error.to_string(), error.hint())],
        };
        if findings.is_empty() {
            findings.push(DoctorFinding::ok("in order"));
        }
        CheckReport { check, findings }
    }));
    checked
}

/// Checks that we may write our folders and that nobody else reads the state folder (SEC-01).
pub fn check_permissions(home: &HomeFolder, places: &DataPaths) -> CheckReport {
    let wrong = permissions::wrong(home, places);
    let mut findings: Vec<DoctorFinding> = wrong
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|one| {
            let what = format!("the permissions of {} are {:o}", one.path.display(), one.mode);
            DoctorFinding::warning(what, "correct them with `rekindle doctor --fix`")
        })
        .collect();
    if wrong.len() > MAX_NAMED_FILES {
        let what = format!("{} more have the wrong permissions", wrong.len() - MAX_NAMED_FILES);
        findings.push(DoctorFinding::warning(what, "correct them with `rekindle doctor --fix`"));
    }
    if findings.is_empty() {
        findings.push(DoctorFinding::ok("in order"));
    }
    CheckReport { check: "permissions", findings }
}

/// Checks the models, which do not depend on a vault.
pub fn check_models(home: &HomeFolder, config: &Config) -> CheckReport {
    let models = ModelStore::open(home);
    let failed = |error: &models::Error| DoctorFinding::error(error.to_string(), error.hint());
    let used = config.embed.model.as_str();
    // Without a model, recall still searches by keyword (REC-11).
    let mut findings = vec![match models.load(used) {
        Ok(model) => DoctorFinding::ok(format!("{} is in use", model.name())),
        Err(error) => DoctorFinding::warning(
            format!("{error}; recall uses keywords only"),
            error.hint().unwrap_or_default(),
        ),
    }];
    match models.list() {
        Ok(listed) => findings.extend(listed.into_iter().filter_map(|model| {
            let damage = model.info.err()?;
            Some(DoctorFinding::warning(format!("{}: {}", model.name, damage.why), damage.hint))
        })),
        Err(error) => findings.push(failed(&error)),
    }
    // The finding above reports a folder that cannot be read.
    for left in models.abandoned_files().unwrap_or_default() {
        findings.push(DoctorFinding::warning(
            format!("{} is a leftover file", left.display()),
            "a killed `rekindle model add` left it; remove it if none is running",
        ));
    }
    findings.extend(check_llm(home, config));
    CheckReport { check: "models", findings }
}

/// Checks that the configured language model can be called. It makes no call.
fn check_llm(home: &HomeFolder, config: &Config) -> Option<DoctorFinding> {
    if config.llm.provider == LlmProvider::Offline {
        return None;
    }
    let around = ProviderEnvironment::from_environment(&home.data_paths(config).ok()?, config);
    let problem = ModelJob::ALL.iter().find_map(|job| llm::model(&config.llm, *job, &around).err());
    Some(match problem {
        None => DoctorFinding::ok(format!("{} is configured (`rekindle llm`)", config.llm.provider.as_str())),
        Some(error) => {
            let what = format!("the language model cannot be used: {error}");
            DoctorFinding::warning(
                what,
                "fix it, or run `rekindle llm use offline`; until then rules process sessions",
            )
        }
    })
}

/// Writes a probe file: permissions, quotas and read-only mounts show only on a write.
pub(crate) fn writable(what: &str, folder: &Path) -> DoctorFinding {
    let probe = folder.join(format!("{}probe-{}.tmp", disk::TEMPORARY_PREFIX, std::process::id()));
    match disk::stage_file(&probe, b"", None).and_then(|()| disk::remove(&probe)) {
        Ok(()) => DoctorFinding::ok(format!("{} is writable", folder.display())),
        Err(error) => DoctorFinding::error(
            format!("{what} at {} is not writable: {error}", folder.display()),
            Some("check its permissions and the free disk space".into()),
        ),
    }
}

fn state(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let mut findings = vec![match patient.places.state().is_dir() {
        true => writable("the state folder", patient.places.state()),
        false => DoctorFinding::error(
            format!("there is no state folder at {}", patient.places.state().display()),
            Some("run `rekindle init`".into()),
        ),
    }];
    if patient.places.stop_file().exists() {
        findings.push(DoctorFinding::warning(
            format!("{} exists, so Rekindle does nothing", patient.places.stop_file().display()),
            "remove it to resume",
        ));
    }
    Ok(findings)
}

fn journal(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let mut findings = Vec::new();
    if let Some(record) = patient.vault.changes()?.next().transpose()?
        && record.outcome == ChangeOutcome::Pending
    {
        findings.push(DoctorFinding::warning(
            format!("change {} was interrupted", record.change.id),
            "the next change finishes it or reverts it",
        ));
    }
    let left = patient.vault.abandoned_temporaries()?;
    if !left.is_empty() {
        findings.push(DoctorFinding::warning(
            format!(
                "found {}, such as {}",
                count_phrase(left.len(), "leftover temporary file"),
                left[0].display()
            ),
            "a killed command left them; remove them if no command is running",
        ));
    }
    Ok(findings)
}

fn session_markers(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let folder = patient.places.sessions();
    let markers = sessions::markers(&folder).map_err(vault::Error::io("read", &folder))?;
    let broken = markers.broken.iter().map(|(path, why)| {
        DoctorFinding::warning(
            format!("{}: {why}", path.display()),
            "remove it; its session cannot be identified",
        )
    });
    Ok(broken.collect())
}

fn entries(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let scan = patient.scan;
    let mut findings = vec![DoctorFinding::ok(format!("{} memories can be read", scan.entries.len()))];
    findings.extend(scan.problems.iter().map(|problem| {
        let what = format!("{}: {}", problem.path.display(), problem.message);
        DoctorFinding::error(what, Some("fix it by hand; it was not changed".into()))
    }));
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for found in &scan.entries {
        names.entry(fold_name(found.path.as_str())).or_default().push(found.path.to_string());
        if let Some(id) = &found.entry.id {
            ids.entry(id.to_string()).or_default().push(found.path.to_string());
        }
    }
    for paths in names.into_values().filter(|paths| paths.len() > 1) {
        let what = format!("{} are one file on case-insensitive systems", paths.join(" and "));
        findings.push(DoctorFinding::warning(what, "rename one of them"));
    }
    for (id, paths) in ids.into_iter().filter(|(_, paths)| paths.len() > 1) {
        let what = format!("{} have the same id {id}", paths.join(" and "));
        findings.push(DoctorFinding::warning(what, "remove the `id:` line from the copy"));
    }
    Ok(findings)
}

fn documents(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let mut findings = Vec::new();
    let memory: fn(&str) -> Result<(), BrokenDocument> = |text| memory::sections(text).map(|_| ());
    let review: fn(&str) -> Result<(), BrokenDocument> = |text| page::parse(text).map(|_| ());
    for (name, structure) in [(layout::MEMORY, memory), (layout::REVIEW, review)] {
        let place = rekindle_core::vault::journal::ChangedFile::vault(layout::fixed_path(name));
        let missing =
            || DoctorFinding::warning(format!("{name} is missing"), "create it with `rekindle init`");
        let finding = match patient.vault.read(&place)? {
            None => missing(),
            Some(note) => match structure(&note.text) {
                Ok(()) => DoctorFinding::ok(format!("{name} is readable")),
                Err(why) => DoctorFinding::warning(
                    format!("{}: {why}", patient.vault.file(&place)?.display()),
                    "fix it by hand; it was not changed",
                ),
            },
        };
        findings.push(finding);
    }
    Ok(findings)
}

fn conflicts(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let finding = |copy: &std::path::PathBuf| {
        let what = format!("{} is a conflict copy", copy.display());
        DoctorFinding::warning(what, "merge it into its note by hand, then remove it")
    };
    let derived = patient.vault.derived_note_copies();
    Ok(patient.scan.conflicts.iter().chain(&derived).map(finding).collect())
}

fn forgotten(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let mut findings = Vec::new();
    let unfinished = patient.vault.unfinished_forgets();
    if unfinished > 0 {
        findings.push(DoctorFinding::error(
            format!("{} did not finish", count_phrase(unfinished, "deletion")),
            Some("run `rekindle forget` again; it names the files that still contain the text".into()),
        ));
    }
    for path in patient.vault.returned_entries()? {
        findings.push(DoctorFinding::warning(
            format!("{path} was forgotten but is back, probably through sync; Rekindle does not show it"),
            format!("remove it with `rekindle forget {path}`"),
        ));
    }
    let broken = patient.vault.graveyard()?.broken;
    if let Some(line) = broken.first() {
        let what = format!("{}, line {line}: not a tombstone", layout::TOMBSTONES);
        findings.push(DoctorFinding::warning(what, "correct or remove the line"));
    }
    Ok(findings)
}

/// Reports probable secrets. Text that a person typed is not changed (B-03).
fn secrets(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let mut findings = Vec::new();
    for (path, text) in patient.vault.all_texts()? {
        for found in redact::find(&text) {
            findings.push(DoctorFinding::warning(
                format!("{path}, line {}: looks like a secret ({})", found.line, found.kind),
                "remove it by hand and revoke it; Rekindle never shows it to an agent",
            ));
        }
    }
    Ok(findings)
}

fn identity_links(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let report = identity::check(patient.places);
    let missing = report.files.iter().filter(|(_, _, there)| !there).map(|(_, path, _)| {
        DoctorFinding::warning(format!("{} is missing", path.display()), "create it with `rekindle init`")
    });
    let diverged = report.links.iter().filter(|(_, link)| *link == IdentityLink::Differs).map(|(path, _)| {
        DoctorFinding::warning(
            format!("{} is not the shared AGENTS.md", path.display()),
            "move its content into the shared file, remove it, then run `rekindle identity link` on its folder",
        )
    });
    Ok(missing.chain(diverged).collect())
}
