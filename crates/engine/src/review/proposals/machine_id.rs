//! The machine's name, which ends every id, so that machines that share a vault never give the same
//! id. Old ids have no such ending; open proposals get one and answer to both ids.

use rekindle_core::vault::review::{MachineId, ProposalId, RenamedIds};

use crate::platform::db::{Database, Error, OptionalExtension, Transaction, params};
use crate::platform::random;

/// Condition for the row with the current or former id `?1`.
pub(super) const ID_CONDITION: &str = "id = coalesce((SELECT id FROM renamed WHERE was = ?1), ?1)";

/// Reads the name of this machine, if it has one.
pub(super) fn name(connection: &rusqlite::Connection) -> rusqlite::Result<Option<MachineId>> {
    let name: Option<String> =
        connection.query_row("SELECT name FROM machine", [], |row| row.get(0)).optional()?;
    Ok(name.and_then(|name| name.parse().ok()))
}

/// Reads the name of this machine without a transaction.
pub fn machine(db: &Database) -> Result<Option<MachineId>, Error> {
    db.run(name)
}

fn has_name(db: &Database) -> Result<bool, Error> {
    db.run(|connection| connection.query_row("SELECT EXISTS (SELECT 1 FROM machine)", [], |row| row.get(0)))
}

/// Names this machine for good, if it has no name, and renames open proposals. Ended proposals keep their
/// ids, which notes refer to.
pub fn take_name(db: &mut Database) -> Result<(), Error> {
    if has_name(db)? {
        return Ok(());
    }
    let new = fresh(db)?;
    db.change(|transaction| {
        if name(transaction)?.is_some() {
            return Ok(());
        }
        give_name(transaction, new)?;
        let waiting: Vec<String> = transaction
            .prepare("SELECT id FROM proposals WHERE status IN ('pending', 'triaged')")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for id in waiting.iter().filter_map(|id| id.parse::<ProposalId>().ok()) {
            call(transaction, id, new)?;
        }
        Ok(())
    })
}

/// Renames a proposal whose id the notes use for something else: the new id ends with this machine's name.
/// Returns the new id.
pub fn rename(db: &mut Database, id: ProposalId) -> Result<ProposalId, Error> {
    let new = fresh(db)?;
    db.change(|transaction| {
        let machine = match name(transaction)? {
            Some(machine) => machine,
            None => give_name(transaction, new)?,
        };
        call(transaction, id, machine)
    })
}

fn fresh(db: &Database) -> Result<MachineId, Error> {
    let path = db.path().to_owned();
    Ok(MachineId::new(random::bytes().map_err(|cause| Error::Folder { path, cause })?))
}

fn give_name(transaction: &Transaction<'_>, new: MachineId) -> rusqlite::Result<MachineId> {
    transaction.execute("INSERT INTO machine VALUES (1, ?1)", [new.to_string()])?;
    Ok(new)
}

/// Appends the machine's name to an id without one, everywhere in the store.
fn call(transaction: &Transaction<'_>, id: ProposalId, machine: MachineId) -> rusqlite::Result<ProposalId> {
    if id.machine.is_some() {
        return Ok(id);
    }
    let new = id.by(Some(machine));
    for change in [
        "UPDATE proposals SET id = ?2, proposal = json_set(proposal, '$.id', ?2) WHERE id = ?1",
        "UPDATE proposals SET decided_with = ?2 WHERE decided_with = ?1",
        "UPDATE decisions SET proposal = ?2 WHERE proposal = ?1",
        "UPDATE decisions SET leader = ?2 WHERE leader = ?1",
        "UPDATE receipts SET receipt = json_set(receipt, '$.id', ?2) WHERE receipt ->> '$.id' = ?1",
        "UPDATE receipts SET receipt = json_set(receipt, '$.with', ?2) WHERE receipt ->> '$.with' = ?1",
        "UPDATE surface_tasks SET proposal = ?2 WHERE proposal = ?1",
        "UPDATE sightings SET became = ?2 WHERE became = ?1",
        // The run that carries it out is found by its key.
        "UPDATE runs SET key = ?2 WHERE key = ?1 AND function = 'promote'",
        "INSERT INTO renamed VALUES (?1, ?2)",
    ] {
        transaction.execute(change, params![id.to_string(), new.to_string()])?;
    }
    Ok(new)
}

/// Gives a proposal an old id without a machine's name.
#[cfg(test)]
pub(crate) fn as_before(db: &mut Database, id: ProposalId) -> ProposalId {
    let old = id.by(None);
    let changed = db.change(|transaction| {
        transaction.execute(
            "UPDATE proposals SET id = ?2, proposal = json_set(proposal, '$.id', ?2) WHERE id = ?1",
            params![id.to_string(), old.to_string()],
        )?;
        transaction.execute("DELETE FROM machine", [])
    });
    assert!(changed.is_ok(), "{changed:?}");
    old
}

/// The current id of a proposal.
pub fn now_called(db: &Database, id: ProposalId) -> Result<ProposalId, Error> {
    Ok(renamed(db)?.now(id))
}

/// Reads the table of renamed ids.
pub fn renamed(db: &Database) -> Result<RenamedIds, Error> {
    let rows: Vec<(String, String)> = db.run(|connection| {
        let mut rows = connection.prepare_cached("SELECT was, id FROM renamed")?;
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    })?;
    Ok(rows.iter().filter_map(|(was, id)| Some((was.parse().ok()?, id.parse().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use crate::pipeline::stages::STAGE_REGISTRY;
    use rekindle_core::base::time::{Date, Timestamp};
    use rekindle_testkit::fixtures;

    use super::super::{
        DecisionOutcome, ProposalVerdict, SubmitOutcome, check, decide, hand_in, said, standing, write,
    };
    use super::*;
    use rekindle_core::base::decided_by::DecidedBy;
    use rekindle_core::knowledge::proposal::Proposal;

    fn propose(db: &mut Database, text: &str) -> ProposalId {
        let day = Date::constant(2026, 11, 10);
        let proposal = fixtures::proposal(day, Timestamp::from_second(1_800_000_000).unwrap(), text);
        match hand_in(db, &STAGE_REGISTRY, text, &[proposal]).unwrap().remove(0) {
            SubmitOutcome::Proposed(id) => id,
            other => panic!("{other:?}"),
        }
    }

    /// Builds a proposal with an old id, without a machine's name.
    fn old(db: &mut Database, number: u32, text: &str) -> ProposalId {
        let day = Date::constant(2026, 11, 10);
        let proposal = fixtures::proposal(day, Timestamp::from_second(1_800_000_000).unwrap(), text);
        let id = ProposalId::new(proposal.id.kind, day, number);
        let proposal = Proposal { id, ..proposal };
        db.change(|transaction| write(transaction, &proposal, &said(&proposal))).unwrap();
        id
    }

    #[test]
    fn r_20_every_id_ends_with_the_name_of_the_machine_that_gave_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| Database::open(&folder.path().join(name)).unwrap();
        let ids = ["one.db", "two.db"].map(|name| propose(&mut open(name), "Use tabs."));
        for (id, name) in ids.iter().zip(["one.db", "two.db"]) {
            assert!(id.machine.is_some() && id.to_string().parse() == Ok(*id), "{id}");
            assert_eq!(machine(&open(name)).unwrap(), id.machine);
        }
        assert_ne!(ids[0], ids[1], "two machines never give the same");
    }

    #[test]
    fn r_20_ids_from_before_stay_valid() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("one.db")).unwrap();
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let (ended, waits) = (old(&mut db, 1, "Use tabs."), old(&mut db, 2, "Use make."));
        decide(&mut db, &STAGE_REGISTRY, ended, &ProposalVerdict::Reject, DecidedBy::Command, at).unwrap();
        take_name(&mut db).unwrap();
        take_name(&mut db).unwrap();
        let now = standing(&db, waits).unwrap().unwrap().proposal.id;
        assert!(now.machine.is_some() && now.by(None) == waits, "{now}");
        assert_eq!(renamed(&db).unwrap().now(waits), now);
        assert_eq!(standing(&db, ended).unwrap().unwrap().proposal.id, ended, "it is in the notes");
        let new = propose(&mut db, "Use rust.");
        assert_eq!(new, ProposalId { number: 3, ..now }, "the name stays, and so does the count");
        // Found by both ids and decided once.
        assert_eq!(
            decide(&mut db, &STAGE_REGISTRY, waits, &ProposalVerdict::Approve, DecidedBy::Command, at)
                .unwrap(),
            DecisionOutcome::Now
        );
        assert!(matches!(
            decide(&mut db, &STAGE_REGISTRY, now, &ProposalVerdict::Approve, DecidedBy::Command, at).unwrap(),
            DecisionOutcome::Already(_)
        ));
        assert_eq!(check(&db).unwrap(), Vec::<String>::new());
        assert_eq!(rename(&mut db, new).unwrap(), new, "it has a name already");
    }
}
