//! A lost or damaged database: kept aside, and rebuilt from what knows the same. The hot list comes from the daily
//! logs, what was said from the vault, and proposals from their copy. What nothing else knows is named.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Span;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Date;
use rekindle_core::knowledge::proposal::ProposalEvidence;
use rekindle_core::text::plural::count_phrase;
use rekindle_core::vault::daily_log::{self, DailyLog};
use rekindle_core::vault::entry::EntryStatus;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::ChangedFile;
use rekindle_core::vault::layout::{self, VaultShelf};
use rekindle_core::vault::review;
use rekindle_embed::{EncoderScratch, TextRole};

use super::{RepairRequest, RepairResult};
use crate::index::models::ModelStore;
use crate::jobs::worker_lock::WorkerLock;
use crate::pipeline::observations;
use crate::pipeline::sightings::{self, NewSighting};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::platform::db::{self, Database};
use crate::platform::disk;
use crate::platform::home::DataPaths;
use crate::review::proposals::{self, adopt_orphans, restore_if_lost};
use crate::vault::Vault;

/// The longest wait for a running worker.
const WORKER_TIMEOUT: Duration = Duration::from_secs(30);
/// The files that SQLite keeps beside a database.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];
/// What no other file knows.
const NOT_REBUILT: &str = "not rebuilt, because nothing else knows it: the history of background runs, the events of \
    `rekindle otel`, what models cost, and how far sessions were captured (`rekindle backfill` reads again what is new)";

/// True if the database is gone, although this home was used.
pub fn is_lost(places: &DataPaths) -> bool {
    !places.database().exists() && (proposals::has_copy(places) || has_logs(places))
}

fn has_logs(places: &DataPaths) -> bool {
    std::fs::read_dir(places.vault().join("memory"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|file| file.path().extension().is_some_and(|extension| extension == "md"))
}

pub(super) fn repair(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    let path = request.places.database();
    if is_lost(request.places) {
        return rebuild(request, &format!("{} was gone", path.display()));
    }
    let mut db = match Database::open_existing(&path) {
        Ok(None) => return Vec::new(),
        Ok(Some(db)) => db,
        Err(error) => return after_failure(request, &error),
    };
    match db.is_sound() {
        Ok(true) => {}
        Ok(false) => {
            drop(db);
            return rebuild_aside(request, "it is malformed");
        }
        Err(error) => {
            drop(db);
            return after_failure(request, &error);
        }
    }
    let mut results = Vec::new();
    match db.close_schema_gaps() {
        Ok(gaps) if gaps.is_empty() => {}
        Ok(gaps) => {
            results.push(RepairResult::fixed("runs", format!("added to the database: {}", gaps.join(", "))));
        }
        Err(error) => results.push(RepairResult::left("runs", error.to_string(), error.hint())),
    }
    results.extend(adopted(&mut db, request));
    results
}

fn after_failure(request: &RepairRequest<'_>, error: &db::Error) -> Vec<RepairResult> {
    match error.is_damage() {
        true => rebuild_aside(request, &error.to_string()),
        false => vec![RepairResult::left("runs", error.to_string(), error.hint())],
    }
}

/// Gives approved proposals the run that nobody has for them.
fn adopted(db: &mut Database, request: &RepairRequest<'_>) -> Option<RepairResult> {
    match adopt_orphans(db, &STAGE_REGISTRY, request.now.timestamp()) {
        Ok(ids) if ids.is_empty() => None,
        Ok(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let what =
                format!("approved and promoted by nobody, so a worker does it now: {}", ids.join(", "));
            Some(RepairResult::fixed("review", what))
        }
        Err(error) => Some(RepairResult::left("review", error.to_string(), error.hint())),
    }
}

/// Moves the damaged file aside and rebuilds it.
fn rebuild_aside(request: &RepairRequest<'_>, why: &str) -> Vec<RepairResult> {
    let path = request.places.database();
    let held = WorkerLock::acquire(&request.places.locks_folder(), WORKER_TIMEOUT);
    let Ok(Some(_worker)) = held else {
        let next = "wait for the worker to end, then run `rekindle doctor --fix` again";
        return vec![RepairResult::left("runs", format!("{why}, and a worker is running"), next)];
    };
    // What can still be read of the proposals is newer than their copy.
    Database::open_damaged(&path)
        .and_then(|damaged| proposals::save_copy(&damaged, request.places))
        .ignore_failure("the copy of the last review stays");
    let aside =
        PathBuf::from(format!("{}.damaged-{}", path.display(), request.now.strftime("%Y%m%d-%H%M%S")));
    if let Err(error) = disk::move_aside(&path, &aside) {
        return vec![RepairResult::left(
            "runs",
            format!("{why}: {error}"),
            "check the permissions of the state folder",
        )];
    }
    for companion in COMPANIONS {
        let beside = |path: &Path| PathBuf::from(format!("{}{companion}", path.display()));
        if beside(&path).exists() && disk::move_aside(&beside(&path), &beside(&aside)).is_err() {
            let what = format!("{} cannot be moved", beside(&path).display());
            return vec![RepairResult::left("runs", what, "check the permissions of the state folder")];
        }
    }
    rebuild(request, &format!("the database was damaged ({why}); it is kept as {}", aside.display()))
}

/// Makes a new database from what knows the same.
fn rebuild(request: &RepairRequest<'_>, why: &str) -> Vec<RepairResult> {
    match rebuild_parts(request) {
        Ok((rebuilt, mut results)) => {
            results
                .insert(0, RepairResult::fixed("runs", format!("{why}; rebuilt: {rebuilt}; {NOT_REBUILT}")));
            results
        }
        Err(error) => vec![RepairResult::left("runs", format!("{why}: {error}"), error.hint())],
    }
}

fn rebuild_parts(request: &RepairRequest<'_>) -> Result<(String, Vec<RepairResult>), db::Error> {
    let mut db = Database::open(&request.places.database())?;
    let returned = restore_if_lost(&mut db, request.places)?;
    let waiting = proposals::pending_count(&db)?.0;
    let (mut observed, mut statements) = (0, 0);
    let mut results = Vec::new();
    if let Ok(vault) = Vault::open(request.places).map(|vault| vault.in_zone(request.now.time_zone().clone()))
    {
        if observations::is_empty(&db)? {
            observed = observations::restore(&mut db, &recent_logs(&vault, request.now.date()))?;
        }
        statements = restore_statements(&mut db, &vault, request)?;
        results.extend(unknown_on_page(&db, &vault)?);
    }
    results.extend(adopted(&mut db, request));
    let rebuilt = format!(
        "{} from the daily logs, {} from the vault, {} from their copy, {waiting} of them waiting for you",
        count_phrase(observed, "observation"),
        count_phrase(statements, "statement"),
        count_phrase(returned, "proposal"),
    );
    Ok((rebuilt, results))
}

/// The daily logs of the days that the hot list covers, the oldest first.
fn recent_logs(vault: &Vault, today: Date) -> Vec<(Date, DailyLog)> {
    let days = (0..=observations::RETENTION_DAYS).rev();
    let days = days.filter_map(|back| today.checked_sub(Span::new().days(back)).ok());
    days.filter_map(|day| Some((day, daily_log::parse(&vault.daily_log(day).ok()??)))).collect()
}

/// What the person said and became an entry, so that a newer statement supersedes it again.
fn restore_statements(
    db: &mut Database,
    vault: &Vault,
    request: &RepairRequest<'_>,
) -> Result<usize, db::Error> {
    let model = ModelStore::open(request.home).load(request.config.embed.model.as_str()).ok();
    let mut restored = 0;
    for found in vault.scan(false).map(|scan| scan.entries).unwrap_or_default() {
        let is_said =
            found.entry.provenance.origin == Origin::User && found.entry.status == EntryStatus::Active;
        let (Some(session), true) = (found.entry.provenance.session.clone(), is_said) else { continue };
        if !matches!(found.shelf, VaultShelf::Entry(_)) {
            continue;
        }
        let Ok(read) = vault.read_entry(&found.path) else { continue };
        let Ok(note) = ParsedNote::parse(&read.text) else { continue };
        let text = note.body().trim();
        let vector = model
            .as_ref()
            .map_or_else(Vec::new, |model| model.embed(&mut EncoderScratch::new(), TextRole::Passage, text));
        let at = found.entry.updated.or(found.entry.created).unwrap_or_else(|| request.now.timestamp());
        let evidence = ProposalEvidence {
            sessions: vec![session],
            messages: found.entry.provenance.messages.clone(),
            said: Some(at),
            ..ProposalEvidence::default()
        };
        let seen = NewSighting {
            text,
            vector: &vector,
            project: found.entry.scope.project().map(ProjectId::as_str),
            evidence: &evidence,
            at,
            ends: false,
        };
        sightings::add(db, &seen, Some(found.path.as_str()))?;
        restored += 1;
    }
    Ok(restored)
}

/// The proposals of REVIEW.md that no copy knows: a person has to say them again.
fn unknown_on_page(db: &Database, vault: &Vault) -> Result<Option<RepairResult>, db::Error> {
    let page = vault.read(&ChangedFile::vault(layout::fixed_path(layout::REVIEW))).ok().flatten();
    let Some(listed) = page.and_then(|note| review::parse(&note.text).ok()) else { return Ok(None) };
    let mut unknown = Vec::new();
    for one in &listed.entries {
        if proposals::get(db, one.id)?.is_none() {
            unknown.push(one.id.to_string());
        }
    }
    Ok((!unknown.is_empty()).then(|| {
        let what = format!(
            "{} stand in REVIEW.md without a copy, so nobody asks about them any more: {}",
            count_phrase(unknown.len(), "proposal"),
            unknown.join(", ")
        );
        RepairResult::left("review", what, "keep a line of them with `rekindle memory add`")
    }))
}
