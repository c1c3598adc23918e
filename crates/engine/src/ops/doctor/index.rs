//! Check of the index. Everything here can be rebuilt by `rekindle reindex`; no note is at risk.

use rekindle_core::config::Config;
use rekindle_core::text::plural::count_phrase;

use super::{CheckReport, DoctorFinding};
use crate::config::notes;
use crate::index::models::ModelStore;
use crate::index::{Embedder, RecallIndex};
use crate::platform::home::{DataPaths, HomeFolder};
use crate::recall::index_condition::{IndexCondition, UsableIndex, index_condition};
use crate::recall::indexer::Error;
use crate::vault::{self, Vault};

/// The hint to build a new generation, whatever state the old one is in.
const REINDEX_HINT: &str = "rebuild it from your notes with `rekindle reindex --all`; nothing is lost";

/// Verifies every byte of the index. Returns `None` if there is no vault.
pub fn check_index(home: &HomeFolder, config: &Config, places: &DataPaths) -> Option<CheckReport> {
    let vault = Vault::open(places).ok()?;
    let findings = check_index_files(home, config, places, &vault).unwrap_or_else(|error| {
        let hint = match &error {
            Error::Vault(error) => vault::Error::hint(error),
            Error::Index(error) => Some(error.hint().into()),
        };
        vec![DoctorFinding::error(error.to_string(), hint)]
    });
    Some(CheckReport { check: "index", findings })
}

fn check_index_files(
    home: &HomeFolder,
    config: &Config,
    places: &DataPaths,
    vault: &Vault,
) -> Result<Vec<DoctorFinding>, Error> {
    let index = RecallIndex::in_folder(places.index());
    // The check of the models reports a model that cannot be loaded.
    let model = ModelStore::open(home).load(config.embed.model.as_str()).ok();
    let space = model.as_ref().map(|model| Embedder::new(model.name(), model).space());
    let mut findings = match index_condition(vault, &index, space.as_ref())? {
        IndexCondition::Missing => vec![DoctorFinding::warning(
            "there is no index yet; recall reads every note and uses keywords only",
            "build it with `rekindle reindex`, or save a memory",
        )],
        IndexCondition::Damaged(what) => vec![DoctorFinding::error(what, Some(REINDEX_HINT.into()))],
        IndexCondition::Usable(usable) => usable_findings(&usable),
    };
    if let Err(unknown) = notes::check(places.readable_notes(), places.notes(), &config.vault.folder) {
        let hint = "name existing folders, such as `rekindle config set recall.notes Work,Recipes`";
        findings.push(DoctorFinding::warning(format!("recall.notes: {unknown}"), hint));
    }
    let left = index.abandoned_files();
    if let Some(first) = left.first() {
        findings.push(DoctorFinding::warning(
            format!("found {}, such as {}", count_phrase(left.len(), "leftover file"), first.display()),
            "a killed command left them; if none is running, remove them with `rekindle reindex --all`",
        ));
    }
    Ok(findings)
}

fn usable_findings(usable: &UsableIndex) -> Vec<DoctorFinding> {
    if let Err(damage) = usable.snapshot.verify() {
        return vec![DoctorFinding::error(
            format!("the index is damaged: {damage}"),
            Some(REINDEX_HINT.into()),
        )];
    }
    let mut findings = vec![DoctorFinding::ok(format!("{} documents indexed", usable.size.documents))];
    let mut warn = |what: String, hint: &str| findings.push(DoctorFinding::warning(what, hint));
    if usable.behind {
        warn("the newest changes are not indexed yet".into(), "index them with `rekindle reindex`");
    }
    if usable.changed > 0 {
        warn(
            format!("{} changed since the index was built", count_phrase(usable.changed, "file")),
            "index them with `rekindle reindex`; until then recall checks each file before it shows it",
        );
    }
    if usable.other_model {
        warn(
            format!("it was built with another model ({}), so recall uses keywords only", usable.model),
            "recompute the embeddings with `rekindle reindex`",
        );
    }
    if usable.size.pending > 0 {
        warn(
            format!("{} without an embedding", count_phrase(usable.size.pending, "text")),
            "compute the embeddings with `rekindle reindex`",
        );
    }
    findings
}
