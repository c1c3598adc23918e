//! Store of proposals (STO-05, REV-04): the authority on proposals and their outcomes.

mod copies;
mod decide;
mod elsewhere;
mod history;
mod journal_position;
mod machine_id;
mod receipts;
mod revise;

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{Event, names};
use rekindle_core::knowledge::proposal::ProposalGrade;
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, ProposalStatus};
use rekindle_core::text::normalise::normalise;
use rekindle_core::vault::review::{MachineId, ProposalId};
use serde_json::json;

use crate::jobs::queue::{self, FunctionRegistry};
use crate::platform::db::{Database, Error, OptionalExtension, Transaction, params};
use crate::platform::random;

pub use copies::{adopt_orphans, has_copy, orphaned, restore_if_lost, save_copy};
pub use decide::{
    DecisionOutcome, ProposalRecord, ProposalVerdict, decide, decide_with_reason, decide_with_scope,
    decided_since, due_for_expiry, ended_with, expire, find_proposal, list_proposals, mark_promoted,
    mark_triaged, reopen, retarget,
};
pub use elsewhere::{
    MachineLetters, SharedDecision, SharedDecisionState, adopt_from_elsewhere, decision_state, decisions_in,
    delete_forgotten, own_machine, resume_decision, set_decision_state, settle_elsewhere, shared_decision,
};
pub use history::{ProposalChange, ProposalHistoryLine, acceptance_stats, automatic_decisions, check};
pub use journal_position::{last_seen_change, mark_seen};
pub use machine_id::machine_id;
pub use receipts::{PendingReceipts, has_pending, mark_written, reschedule, take_pending};
pub use revise::propose_version;

/// The result of submitting a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitOutcome {
    /// It is new, with this id.
    Proposed(ProposalId),
    /// It duplicates an open proposal, which gains its evidence.
    Folded(ProposalId),
    /// It duplicates a proposal that was decided or expired; it is not asked again.
    Decided(ProposalId, ProposalStatus),
}

/// Submits the proposals of a run in one transaction. The store numbers them: of a given id only kind and day
/// count. A duplicate is folded into the existing proposal (B-07). The same submission of a run gets the same
/// result (EXE-18). For new ones it sends the event that starts triage (REV-09).
pub fn submit(
    db: &mut Database,
    registry: &FunctionRegistry,
    run: &str,
    new: &[Proposal],
) -> Result<Vec<SubmitOutcome>, Error> {
    let path = db.path().to_owned();
    let Some(at) = new.iter().map(|new| new.created).max() else { return Ok(Vec::new()) };
    let event_id = random::change_id(at).map_err(|cause| Error::Folder { path: path.clone(), cause })?;
    // Two machines never give the same id.
    let machine = machine_id::machine_or_new(db)?;
    let handed = db.change(|transaction| {
        let count = |transaction: &Transaction<'_>| -> rusqlite::Result<i64> {
            transaction.query_row("SELECT count(*) FROM proposals", [], |row| row.get(0))
        };
        let before = count(transaction)?;
        let mut handed = Vec::with_capacity(new.len());
        for new in new {
            handed.push(submit_one(transaction, run, new, machine)?);
        }
        if count(transaction)? > before {
            let (id, name) = (event_id.as_str().to_owned(), names::PROPOSALS_STAGED.to_owned());
            let staged = Event { id, name, data: json!({}), at };
            queue::send(transaction, registry, &[staged], at)?;
        }
        Ok(handed)
    })?;
    handed
        .into_iter()
        .collect::<Result<_, String>>()
        .map_err(|what| Error::Content { path: path.clone(), what })
}

fn submit_one(
    transaction: &Transaction<'_>,
    run: &str,
    new: &Proposal,
    machine: MachineId,
) -> rusqlite::Result<Result<SubmitOutcome, String>> {
    let key = statement_key(new);
    let same: Option<(String, Option<String>)> = transaction
        .query_row(
            // The same statement in another project is a different proposal, except for one about all
            // projects.
            "SELECT proposal, run FROM proposals WHERE said = ?1
                AND (?3 OR proposal ->> '$.project' IS NULL OR proposal ->> '$.project' IS ?2)
             ORDER BY created DESC, id DESC LIMIT 1",
            params![key, new.project.as_ref().map(ProjectId::as_str), new.global_entry().is_some()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    if let Some((same, by)) = same {
        let mut there: Proposal = match serde_json::from_str(&same) {
            Ok(there) => there,
            Err(error) => return Ok(Err(format!("a proposal: {error}"))),
        };
        if by.as_deref() == Some(run) {
            return Ok(Ok(SubmitOutcome::Proposed(there.id)));
        }
        if !there.status.is_open() {
            return Ok(Ok(SubmitOutcome::Decided(there.id, there.status)));
        }
        there.explicit |= new.explicit;
        there.origin = more_trusted(there.origin, new.origin);
        let mut theirs = Proposal { origin: there.origin, ..new.clone() };
        theirs.add_evidence(&there.evidence);
        there.add_evidence(&new.evidence);
        there.confidence = there.confidence.max(theirs.confidence);
        write(transaction, &there, &key)?;
        return Ok(Ok(SubmitOutcome::Folded(there.id)));
    }
    let prefix = ProposalId::unnumbered(new.id.kind, new.id.date).to_string();
    let prefix = prefix.trim_end_matches('0');
    let taken: Vec<String> = transaction
        // The id of a proposal that was decided and then forgotten is never reused.
        .prepare_cached(
            "SELECT id FROM proposals WHERE id >= ?1 AND id < ?1 || '~'
             UNION SELECT proposal FROM decisions WHERE proposal >= ?1 AND proposal < ?1 || '~'",
        )?
        .query_map([prefix], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let taken: Vec<ProposalId> = taken.iter().filter_map(|id| id.parse().ok()).collect();
    let id = ProposalId::next_free(new.id.kind, new.id.date, &taken).with_machine(Some(machine));
    let proposal = Proposal { id, ..new.clone() };
    write(transaction, &proposal, &key)?;
    transaction.execute("UPDATE proposals SET run = ?2 WHERE id = ?1", params![id.to_string(), run])?;
    Ok(Ok(SubmitOutcome::Proposed(id)))
}

/// The key of a proposal for finding duplicates. The same text for another file is a different proposal; an
/// idea that becomes a project is one proposal in any words.
fn statement_key(proposal: &Proposal) -> String {
    let text = normalise(&proposal.text);
    if proposal.global_entry().is_some() {
        return format!("everywhere: {text}");
    }
    match (proposal.section(), proposal.idea_slug()) {
        (Some(_), _) => text,
        (None, Some(idea)) => format!("{}: {idea}", proposal.file()),
        (None, None) => format!("{}: {text}", proposal.file()),
    }
}

/// The more trusted of two origins (B-01).
fn more_trusted(one: Origin, other: Origin) -> Origin {
    Origin::ALL.into_iter().find(|origin| *origin == one || *origin == other).unwrap_or(one)
}

fn write(transaction: &Transaction<'_>, proposal: &Proposal, key: &str) -> rusqlite::Result<usize> {
    let json = serde_json::to_string(proposal)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    transaction.execute(
        "INSERT INTO proposals (id, status, said, created, proposal) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET status = ?2, said = ?3, proposal = ?5",
        params![
            proposal.id.to_string(),
            proposal.status.as_str(),
            key,
            proposal.created.as_millisecond(),
            json
        ],
    )
}

/// Lists open proposals, the oldest first.
pub fn open(db: &Database) -> Result<Vec<Proposal>, Error> {
    list(db, "WHERE status IN ('pending', 'triaged') ORDER BY created, id")
}

/// Lists all proposals ever made.
pub fn all_proposals(db: &Database) -> Result<Vec<Proposal>, Error> {
    list(db, "ORDER BY created, id")
}

fn list(db: &Database, which: &str) -> Result<Vec<Proposal>, Error> {
    let rows: Vec<String> = db.run(|connection| {
        connection
            .prepare(&format!("SELECT proposal FROM proposals {which}"))?
            .query_map([], |row| row.get(0))?
            .collect()
    })?;
    rows.iter()
        .map(|row| {
            serde_json::from_str(row).map_err(|error| db.corrupt_value(format!("a proposal: {error}")))
        })
        .collect()
}

/// Reads a proposal by id.
pub fn get(db: &Database, id: ProposalId) -> Result<Option<Proposal>, Error> {
    let row: Option<String> = db.run(|connection| {
        connection
            .query_row("SELECT proposal FROM proposals WHERE id = ?1", [id.to_string()], |row| row.get(0))
            .optional()
    })?;
    row.map(|row| {
        serde_json::from_str(&row).map_err(|error| db.corrupt_value(format!("proposal {id}: {error}")))
    })
    .transpose()
}

/// Adds evidence to an open proposal. Returns true if it comes from another session.
pub fn add_evidence(db: &mut Database, id: ProposalId, evidence: &ProposalEvidence) -> Result<bool, Error> {
    change_open(db, id, |proposal| proposal.add_evidence(evidence))
}

/// Stores an evaluator's grade of an open proposal (SID-09). Returns true if it is still open.
pub fn save_grade(db: &mut Database, id: ProposalId, grade: &ProposalGrade) -> Result<bool, Error> {
    change_open(db, id, |proposal| {
        proposal.grade = Some(grade.clone());
        true
    })
}

/// Changes an open proposal and returns the result of `change`; false for any other.
fn change_open(
    db: &mut Database,
    id: ProposalId,
    change: impl Fn(&mut Proposal) -> bool,
) -> Result<bool, Error> {
    let path = db.path().to_owned();
    let changed = db.change(|transaction| {
        let row: Option<String> = transaction
            .query_row("SELECT proposal FROM proposals WHERE id = ?1", [id.to_string()], |row| row.get(0))
            .optional()?;
        let Some(row) = row else { return Ok(Ok(false)) };
        let mut proposal: Proposal = match serde_json::from_str(&row) {
            Ok(proposal) => proposal,
            Err(error) => return Ok(Err(format!("proposal {id}: {error}"))),
        };
        if !proposal.status.is_open() {
            return Ok(Ok(false));
        }
        let answer = change(&mut proposal);
        write(transaction, &proposal, &statement_key(&proposal))?;
        Ok(Ok(answer))
    })?;
    changed.map_err(|what| Error::Content { path, what })
}

/// The number of open proposals and the time of the oldest.
pub fn pending_count(db: &Database) -> Result<(u64, Option<Timestamp>), Error> {
    db.run(|connection| {
        connection.query_row(
            "SELECT count(*), min(created) FROM proposals WHERE status IN ('pending', 'triaged')",
            [],
            |row| {
                let oldest: Option<i64> = row.get(1)?;
                let count: i64 = row.get(0)?;
                Ok((
                    u64::try_from(count).unwrap_or(0),
                    oldest.and_then(|oldest| Timestamp::from_millisecond(oldest).ok()),
                ))
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::pipeline::stages::STAGE_REGISTRY;
    use rekindle_core::base::time::Date;
    use rekindle_core::knowledge::proposal::ProposalTarget;
    use rekindle_core::vault::review::ProposalStage;
    use rekindle_testkit::fixtures;

    use super::*;

    fn open_db() -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        db.change(|transaction| transaction.execute("INSERT INTO machine VALUES (1, 'k7qe')", [])).unwrap();
        (folder, db)
    }

    fn new(text: &str, session: &str, origin: Origin) -> Proposal {
        let day = Date::constant(2026, 11, 10);
        let created = Timestamp::from_second(1_800_000_000).unwrap();
        let evidence = ProposalEvidence { sessions: vec![session.to_owned()], ..ProposalEvidence::default() };
        Proposal { origin, evidence, ..fixtures::proposal(day, created, text) }
    }

    fn id(number: u32) -> ProposalId {
        ProposalId::new(ProposalStage::Reflection, Date::constant(2026, 11, 10), number)
            .with_machine("k7qe".parse().ok())
    }

    fn become_of(db: &mut Database, id: ProposalId, status: ProposalStatus) {
        let proposal = Proposal { status, ..get(db, id).unwrap().unwrap() };
        let said = normalise(&proposal.text);
        db.change(|transaction| write(transaction, &proposal, &said)).unwrap();
    }

    #[test]
    fn rev_01_ids_count_up_within_a_day() {
        let (_folder, mut db) = open_db();
        let first = [new("Use tabs.", "a", Origin::User), new("Use make.", "a", Origin::User)];
        assert_eq!(
            submit(&mut db, &STAGE_REGISTRY, "r1", &first).unwrap(),
            [SubmitOutcome::Proposed(id(1)), SubmitOutcome::Proposed(id(2))]
        );
        let third = [new("Use rust.", "a", Origin::User)];
        assert_eq!(submit(&mut db, &STAGE_REGISTRY, "r2", &third).unwrap(), [SubmitOutcome::Proposed(id(3))]);
        assert_eq!(id(1).to_string(), "p-20261110-001-k7qe");
        let other_day = Proposal {
            id: ProposalId::unnumbered(ProposalStage::Reflection, Date::constant(2026, 11, 11)),
            ..new("Use go.", "a", Origin::User)
        };
        let [SubmitOutcome::Proposed(other)] =
            submit(&mut db, &STAGE_REGISTRY, "r3", &[other_day]).unwrap()[..]
        else {
            panic!()
        };
        assert_eq!(other.to_string(), "p-20261111-001-k7qe");
        assert_eq!((all_proposals(&db).unwrap().len(), pending_count(&db).unwrap().0), (4, 4));
    }

    #[test]
    fn b_07_an_idea_is_asked_about_once_in_whatever_words() {
        let (_folder, mut db) = open_db();
        let about = |slug: &str, text: &str| Proposal {
            target: Some(ProposalTarget::Idea(slug.to_owned())),
            ..new(text, "a", Origin::User)
        };
        submit(&mut db, &STAGE_REGISTRY, "r1", &[about("epoll", "Make it a project.")]).unwrap();
        let again =
            submit(&mut db, &STAGE_REGISTRY, "r2", &[about("epoll", "Make it a project, it is faster.")])
                .unwrap();
        assert_eq!(again, [SubmitOutcome::Folded(id(1))]);
        let other = submit(&mut db, &STAGE_REGISTRY, "r3", &[about("uring", "Make it a project.")]).unwrap();
        assert_eq!(other, [SubmitOutcome::Proposed(id(2))]);
    }

    #[test]
    fn exe_18_a_run_that_hands_in_twice_proposes_once() {
        let (_folder, mut db) = open_db();
        let new = [new("Use tabs.", "a", Origin::User), new("Use make.", "b", Origin::Tool)];
        let first = submit(&mut db, &STAGE_REGISTRY, "r1", &new).unwrap();
        let stored = all_proposals(&db).unwrap();
        assert_eq!(submit(&mut db, &STAGE_REGISTRY, "r1", &new).unwrap(), first);
        assert_eq!(all_proposals(&db).unwrap(), stored);
        become_of(&mut db, id(1), ProposalStatus::Rejected);
        assert_eq!(
            submit(&mut db, &STAGE_REGISTRY, "r1", &new).unwrap(),
            first,
            "even if it was decided meanwhile"
        );
    }

    /// Requirements: STO-05.
    #[test]
    fn b_07_the_same_again_adds_to_what_waits() {
        let (_folder, mut db) = open_db();
        submit(&mut db, &STAGE_REGISTRY, "r1", &[new("Use tabs.", "a", Origin::Tool)]).unwrap();
        let again = [new("- use **tabs**", "b", Origin::User)];
        assert_eq!(submit(&mut db, &STAGE_REGISTRY, "r2", &again).unwrap(), [SubmitOutcome::Folded(id(1))]);
        let [one] = open(&db).unwrap().try_into().unwrap();
        assert_eq!(
            (one.evidence.sessions.len(), one.origin, one.text.as_str()),
            (2, Origin::User, "Use tabs.")
        );
        assert!(add_evidence(&mut db, id(1), &new("", "c", Origin::User).evidence).unwrap());
        assert!(!add_evidence(&mut db, id(1), &new("", "c", Origin::User).evidence).unwrap());
        assert!(!add_evidence(&mut db, id(9), &ProposalEvidence::default()).unwrap());
        assert_eq!(get(&db, id(1)).unwrap().unwrap().evidence.sessions, ["a", "b", "c"]);
    }

    #[test]
    fn rev_10_an_expired_proposal_is_not_proposed_again() {
        let (_folder, mut db) = open_db();
        for status in [ProposalStatus::Rejected, ProposalStatus::Promoted, ProposalStatus::Expired] {
            let text = format!("Use {} tools.", status.as_str());
            let SubmitOutcome::Proposed(first) =
                submit(&mut db, &STAGE_REGISTRY, "r1", &[new(&text, "a", Origin::User)]).unwrap()[0]
            else {
                panic!("it is new")
            };
            become_of(&mut db, first, status);
            let again =
                submit(&mut db, &STAGE_REGISTRY, "r2", &[new(&text, "b", Origin::User)]).unwrap().remove(0);
            assert_eq!(again, SubmitOutcome::Decided(first, status));
            assert!(!add_evidence(&mut db, first, &ProposalEvidence::default()).unwrap());
        }
        assert_eq!(pending_count(&db).unwrap(), (0, None));
    }

    #[test]
    fn r_15_two_projects_give_two_proposals_and_one_for_the_global_scope() {
        let (_folder, mut db) = open_db();
        let said_in = |name: &str| Proposal {
            project: Some(ProjectId::new(name)),
            ..new("Use tabs.", name, Origin::User)
        };
        let first = submit(&mut db, &STAGE_REGISTRY, "r1", &[said_in("acme/pumps")]).unwrap();
        let second = submit(&mut db, &STAGE_REGISTRY, "r2", &[said_in("acme/boats")]).unwrap();
        assert_eq!(
            (&first[..], &second[..]),
            (&[SubmitOutcome::Proposed(id(1))][..], &[SubmitOutcome::Proposed(id(2))][..])
        );
        let again = submit(&mut db, &STAGE_REGISTRY, "r3", &[said_in("acme/boats")]).unwrap();
        assert_eq!(again, [SubmitOutcome::Folded(id(2))]);
        let asks = |name: &str| Proposal {
            target: Some(ProposalTarget::Everywhere(format!("personal-private/rule/{name}.md"))),
            ..said_in(name)
        };
        assert_eq!(
            submit(&mut db, &STAGE_REGISTRY, "r4", &[asks("acme/pumps")]).unwrap(),
            [SubmitOutcome::Proposed(id(3))]
        );
        assert_eq!(
            submit(&mut db, &STAGE_REGISTRY, "r5", &[asks("acme/boats")]).unwrap(),
            [SubmitOutcome::Folded(id(3))]
        );
        assert_eq!(get(&db, id(3)).unwrap().unwrap().evidence.sessions.len(), 2);
    }
}
