//! Checks of `rekindle doctor`. Every part of the product adds its own to `CHECKS`.
//!
//! A check is read-only. A finding names the place and the remedy; it never quotes a note.

mod agents;
mod index;
mod learning;
mod messages;
mod review;
mod runs;
mod surfaces;

use std::collections::BTreeMap;
use std::path::Path;

use rekindle_core::config::{Config, Provider};
use rekindle_core::text::redact;
use rekindle_core::vault::layout;
use rekindle_core::vault::lines::Broken;
use rekindle_core::vault::path::folded;
use rekindle_core::vault::{memory, review as page};
use serde::Serialize;

pub use self::agents::examine_agents;
pub use self::index::examine_index;
pub use self::learning::examine_learning;
pub use self::runs::examine_runs;
pub use self::surfaces::examine_surfaces;
use crate::agents::identity::{self, Link};
use crate::index::models::{self, Models};
use crate::jobs::sessions;
use crate::llm::{self, Job, Surroundings};
use crate::platform::disk;
use crate::platform::home::{Home, Places};
use crate::vault;
use crate::vault::{Outcome, Scan, Vault};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing needs to be done.
    Ok,
    /// It works, but the person should know.
    Warning,
    /// Something is broken.
    Error,
}

/// One finding of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The severity of the finding.
    pub level: Level,
    /// The problem and its place.
    pub what: String,
    /// The remedy, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    fn ok(what: impl Into<String>) -> Self {
        Self { level: Level::Ok, what: what.into(), hint: None }
    }

    fn warning(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: Level::Warning, what: what.into(), hint: Some(hint.into()) }
    }

    fn error(what: impl Into<String>, hint: Option<String>) -> Self {
        Self { level: Level::Error, what: what.into(), hint }
    }
}

/// The result of one check: at least one finding.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The name of the check.
    pub check: &'static str,
    /// The findings of the check.
    pub findings: Vec<Finding>,
}

/// The input of the checks. The vault is walked once for all of them.
struct Patient<'a> {
    places: &'a Places,
    vault: &'a Vault,
    scan: &'a Scan,
}

type Check = fn(&Patient<'_>) -> Result<Vec<Finding>, vault::Error>;

/// Every check that needs a vault, in the order they are shown.
const CHECKS: [(&str, Check); 11] = [
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
pub fn examine(places: &Places) -> Vec<Checked> {
    let vault = match Vault::open(places) {
        Ok(vault) => vault,
        Err(error) => {
            let hint = error.hint();
            return vec![Checked { check: "vault", findings: vec![Finding::error(error.to_string(), hint)] }];
        }
    };
    let mut checked = vec![Checked { check: "vault", findings: vec![writable("the vault", vault.folder())] }];
    let scan = match vault.scan(true) {
        Ok(scan) => scan,
        Err(error) => {
            checked[0].findings.push(Finding::error(error.to_string(), error.hint()));
            return checked;
        }
    };
    let patient = Patient { places, vault: &vault, scan: &scan };
    checked.extend(CHECKS.iter().map(|(check, look)| {
        let mut findings = match look(&patient) {
            Ok(findings) => findings,
            Err(error) => vec![Finding::error(error.to_string(), error.hint())],
        };
        if findings.is_empty() {
            findings.push(Finding::ok("in order"));
        }
        Checked { check, findings }
    }));
    checked
}

/// Checks the models, which do not depend on a vault.
pub fn examine_models(home: &Home, config: &Config) -> Checked {
    let models = Models::open(home);
    let failed = |error: &models::Error| Finding::error(error.to_string(), error.hint());
    let used = config.embed.model.as_str();
    // Without a model, recall still searches by keyword (REC-11).
    let mut findings = vec![match models.load(used) {
        Ok(model) => Finding::ok(format!("{} is in use", model.name())),
        Err(error) => {
            Finding::warning(format!("{error}; recall goes by words alone"), error.hint().unwrap_or_default())
        }
    }];
    match models.list() {
        Ok(listed) => findings.extend(listed.into_iter().filter_map(|model| {
            let damage = model.about.err()?;
            Some(Finding::warning(format!("{}: {}", model.name, damage.why), damage.hint))
        })),
        Err(error) => findings.push(failed(&error)),
    }
    // The finding above reports a folder that cannot be read.
    for left in models.left_overs().unwrap_or_default() {
        findings.push(Finding::warning(
            format!("{} was left behind", left.display()),
            "it is from a `rekindle model add` that was killed; remove it if none is running",
        ));
    }
    findings.extend(examine_llm(home, config));
    Checked { check: "models", findings }
}

/// Checks that the configured language model can be called. It makes no call.
fn examine_llm(home: &Home, config: &Config) -> Option<Finding> {
    if config.llm.provider == Provider::Offline {
        return None;
    }
    let around = Surroundings::look(&home.places(config).ok()?);
    let problem = Job::ALL.iter().find_map(|job| llm::model(&config.llm, *job, &around).err());
    Some(match problem {
        None => Finding::ok(format!("{} may be asked (`rekindle llm`)", config.llm.provider.word())),
        Some(error) => {
            let what = format!("no language model can be asked: {error}");
            Finding::warning(
                what,
                "mend it, or `rekindle llm use offline`; sessions are looked at by rules meanwhile",
            )
        }
    })
}

/// Writes a probe file: permissions, quotas and read-only mounts show only on a write.
fn writable(what: &str, folder: &Path) -> Finding {
    let probe = folder.join(format!("{}probe-{}.tmp", disk::TEMPORARY, std::process::id()));
    match disk::stage(&probe, b"", None).and_then(|()| disk::remove(&probe)) {
        Ok(()) => Finding::ok(format!("{} can be written", folder.display())),
        Err(error) => Finding::error(
            format!("{what} at {} cannot be written: {error}", folder.display()),
            Some("check who may write there and whether the disk is full".into()),
        ),
    }
}

fn state(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let mut findings = vec![match patient.places.state().is_dir() {
        true => writable("the state folder", patient.places.state()),
        false => Finding::error(
            format!("there is no state folder at {}", patient.places.state().display()),
            Some("run `rekindle init`".into()),
        ),
    }];
    if patient.places.stop_file().exists() {
        findings.push(Finding::warning(
            format!("{} is there: nothing runs", patient.places.stop_file().display()),
            "remove it to let Rekindle work again",
        ));
    }
    Ok(findings)
}

fn journal(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let mut findings = Vec::new();
    if let Some(record) = patient.vault.changes()?.next().transpose()?
        && record.outcome == Outcome::Pending
    {
        findings.push(Finding::warning(
            format!("change {} was cut off", record.change.id),
            "the next change finishes it or takes it back",
        ));
    }
    let left = patient.vault.left_overs()?;
    if !left.is_empty() {
        findings.push(Finding::warning(
            format!("{} temporary file(s) were left behind, such as {}", left.len(), left[0].display()),
            "they are from a command that was killed; remove them if no command is running",
        ));
    }
    Ok(findings)
}

fn session_markers(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let folder = patient.places.sessions();
    let markers = sessions::markers(&folder).map_err(vault::Error::io("read", &folder))?;
    let broken = markers.broken.iter().map(|(path, why)| {
        Finding::warning(
            format!("{}: {why}", path.display()),
            "remove it; the session it marks cannot be found",
        )
    });
    Ok(broken.collect())
}

fn entries(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let scan = patient.scan;
    let mut findings = vec![Finding::ok(format!("{} memories can be read", scan.entries.len()))];
    findings.extend(scan.problems.iter().map(|problem| {
        let what = format!("{}: {}", problem.path.display(), problem.what);
        Finding::error(what, Some("correct it by hand; it was left as it is".into()))
    }));
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for found in &scan.entries {
        names.entry(folded(found.path.as_str())).or_default().push(found.path.to_string());
        if let Some(id) = &found.entry.id {
            ids.entry(id.to_string()).or_default().push(found.path.to_string());
        }
    }
    for paths in names.into_values().filter(|paths| paths.len() > 1) {
        let what = format!("{} would be one file on systems that ignore case", paths.join(" and "));
        findings.push(Finding::warning(what, "rename one of them"));
    }
    for (id, paths) in ids.into_iter().filter(|(_, paths)| paths.len() > 1) {
        let what = format!("{} have the same id {id}", paths.join(" and "));
        findings.push(Finding::warning(what, "remove the `id:` line from the copy"));
    }
    Ok(findings)
}

fn documents(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let mut findings = Vec::new();
    let memory: fn(&str) -> Result<(), Broken> = |text| memory::sections(text).map(|_| ());
    let review: fn(&str) -> Result<(), Broken> = |text| page::parse(text).map(|_| ());
    for (name, structure) in [(layout::MEMORY, memory), (layout::REVIEW, review)] {
        let place = rekindle_core::vault::journal::Place::vault(layout::fixed(name));
        let missing = || Finding::warning(format!("there is no {name}"), "`rekindle init` makes a new one");
        let finding = match patient.vault.read(&place)? {
            None => missing(),
            Some(note) => match structure(&note.text) {
                Ok(()) => Finding::ok(format!("{name} can be read")),
                Err(why) => Finding::warning(
                    format!("{}: {why}", patient.vault.file(&place)?.display()),
                    "correct it by hand; it was left as it is",
                ),
            },
        };
        findings.push(finding);
    }
    Ok(findings)
}

fn conflicts(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let finding = |copy: &std::path::PathBuf| {
        let what = format!("{} is one side of a conflict", copy.display());
        Finding::warning(what, "merge it into its note by hand, then remove it")
    };
    Ok(patient.scan.conflicts.iter().map(finding).collect())
}

fn forgotten(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let mut findings = Vec::new();
    let unfinished = patient.vault.unfinished_forgets();
    if unfinished > 0 {
        findings.push(Finding::error(
            format!("{unfinished} forget(s) did not come to an end"),
            Some("run `rekindle forget` again; it names the files that still hold the text".into()),
        ));
    }
    for path in patient.vault.returned()? {
        findings.push(Finding::warning(
            format!("{path} was forgotten and is back, probably by sync; nothing shows it"),
            format!("`rekindle forget {path}` removes it again"),
        ));
    }
    let broken = patient.vault.graveyard()?.broken;
    if let Some(line) = broken.first() {
        let what = format!("{}, line {line}: not a tombstone", layout::TOMBSTONES);
        findings.push(Finding::warning(what, "correct or remove the line"));
    }
    Ok(findings)
}

/// Reports probable secrets. Text that a person typed is not changed (B-03).
fn secrets(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let mut findings = Vec::new();
    for (path, text) in patient.vault.texts()? {
        for found in redact::find(&text) {
            findings.push(Finding::warning(
                format!("{path}, line {}: looks like a secret ({})", found.line, found.kind),
                "take it out by hand and revoke it; Rekindle never shows it to an agent",
            ));
        }
    }
    Ok(findings)
}

fn identity_links(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let report = identity::check(patient.places);
    let missing = report.files.iter().filter(|(_, _, there)| !there).map(|(_, path, _)| {
        Finding::warning(format!("there is no {}", path.display()), "`rekindle init` makes a starter")
    });
    let diverged = report.links.iter().filter(|(_, link)| *link == Link::Differs).map(|(path, _)| {
        Finding::warning(
            format!("{} is not the shared AGENTS.md", path.display()),
            "move what it says into the shared file, remove it, then `rekindle identity link` its folder",
        )
    });
    Ok(missing.chain(diverged).collect())
}
