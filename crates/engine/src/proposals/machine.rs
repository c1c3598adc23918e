//! Who gives ids, where several machines share a vault (REV-01, B-16). A machine that is alone needs no name. One that gets
//! company puts its name behind what it gives from then on, and behind what still waits: the other one may have given the
//! same before the two met.

use rekindle_core::vault::review::{Id, Machine, Renamed};

use crate::db::{Db, Error, OptionalExtension, Transaction, params};
use crate::random;

/// The row of the id `?1`, also of one that has another since.
pub(super) const IS_CALLED: &str = "id = coalesce((SELECT id FROM renamed WHERE was = ?1), ?1)";

/// The name of this machine, if it needs one.
pub(super) fn name(connection: &rusqlite::Connection) -> rusqlite::Result<Option<Machine>> {
    let name: Option<String> =
        connection.query_row("SELECT name FROM machine", [], |row| row.get(0)).optional()?;
    Ok(name.and_then(|name| name.parse().ok()))
}

/// The same for who only wants to know.
pub fn machine(db: &Db) -> Result<Option<Machine>, Error> {
    db.run(name)
}

/// Whether this machine has one.
pub fn has_name(db: &Db) -> Result<bool, Error> {
    db.run(|connection| connection.query_row("SELECT EXISTS (SELECT 1 FROM machine)", [], |row| row.get(0)))
}

/// Whether this store gave the id, be it of one that was forgotten since.
pub fn gave(db: &Db, id: Id) -> Result<bool, Error> {
    exists(
        db,
        "SELECT EXISTS (SELECT 1 FROM proposals WHERE id = ?1)
            OR EXISTS (SELECT 1 FROM decisions WHERE proposal = ?1)
            OR EXISTS (SELECT 1 FROM renamed WHERE was = ?1)",
        id,
    )
}

/// Whether somebody ever said yes here to the one with this id.
pub fn was_approved(db: &Db, id: Id) -> Result<bool, Error> {
    exists(
        db,
        "SELECT EXISTS (SELECT 1 FROM decisions WHERE proposal = ?1 AND what IN ('approved', 'edited', 'redone'))",
        id,
    )
}

fn exists(db: &Db, sql: &str, id: Id) -> Result<bool, Error> {
    db.run(|connection| connection.query_row(sql, [id.to_string()], |row| row.get(0)))
}

/// This machine gets a name for good, because others may share its notes, and what waits gets it too. What has ended keeps its
/// id: it stands in the notes.
pub fn take_name(db: &mut Db) -> Result<(), Error> {
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
        for id in waiting.iter().filter_map(|id| id.parse::<Id>().ok()) {
            call(transaction, id, new)?;
        }
        Ok(())
    })
}

/// The id stands in the notes for something else, so ours gets another: the same with this machine's name. Gives what it is
/// called now.
pub fn rename(db: &mut Db, id: Id) -> Result<Id, Error> {
    let new = fresh(db)?;
    db.change(|transaction| {
        let machine = match name(transaction)? {
            Some(machine) => machine,
            None => give_name(transaction, new)?,
        };
        call(transaction, id, machine)
    })
}

fn fresh(db: &Db) -> Result<Machine, Error> {
    let path = db.path().to_owned();
    Ok(Machine::new(random::bytes().map_err(|cause| Error::Folder { path, cause })?))
}

fn give_name(transaction: &Transaction<'_>, new: Machine) -> rusqlite::Result<Machine> {
    transaction.execute("INSERT INTO machine VALUES (1, ?1)", [new.to_string()])?;
    Ok(new)
}

/// Puts the machine's name behind an id without one, wherever the store has it.
fn call(transaction: &Transaction<'_>, id: Id, machine: Machine) -> rusqlite::Result<Id> {
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
        // The run that sees to it is looked for by its key.
        "UPDATE runs SET key = ?2 WHERE key = ?1 AND function = 'promote'",
        "INSERT INTO renamed VALUES (?1, ?2)",
    ] {
        transaction.execute(change, params![id.to_string(), new.to_string()])?;
    }
    Ok(new)
}

/// What the one with this id is called now.
pub fn now_called(db: &Db, id: Id) -> Result<Id, Error> {
    Ok(renamed(db)?.now(id))
}

/// The ids that have another one since.
pub fn renamed(db: &Db) -> Result<Renamed, Error> {
    let rows: Vec<(String, String)> = db.run(|connection| {
        let mut rows = connection.prepare_cached("SELECT was, id FROM renamed")?;
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    })?;
    Ok(rows.iter().filter_map(|(was, id)| Some((was.parse().ok()?, id.parse().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use rekindle_core::time::{Date, Timestamp};
    use rekindle_testkit::fixtures;

    use super::super::{Decided, Handed, Verdict, check, decide, hand_in, standing};
    use super::*;
    use rekindle_core::proposal::By;

    fn propose(db: &mut Db, text: &str) -> Id {
        let day = Date::constant(2026, 11, 10);
        let proposal = fixtures::proposal(day, Timestamp::from_second(1_800_000_000).unwrap(), text);
        match hand_in(db, text, &[proposal]).unwrap().remove(0) {
            Handed::Proposed(id) => id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rev_01_b_16_a_machine_with_company_puts_its_name_behind_what_waits_and_what_comes() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(&folder.path().join("one.db")).unwrap();
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let [ended, waits] = ["Use tabs.", "Use make."].map(|text| propose(&mut db, text));
        assert_eq!(ended.to_string(), "p-20261110-001", "alone it needs no name");
        decide(&mut db, ended, &Verdict::Reject, By::Command, at).unwrap();
        assert!(gave(&db, waits).unwrap() && !has_name(&db).unwrap());
        take_name(&mut db).unwrap();
        take_name(&mut db).unwrap();
        let now = standing(&db, waits).unwrap().unwrap().proposal.id;
        assert!(now.machine.is_some() && now.by(None) == waits, "{now}");
        assert_eq!(renamed(&db).unwrap().now(waits), now);
        assert_eq!(standing(&db, ended).unwrap().unwrap().proposal.id, ended, "it is in the notes");
        assert!(gave(&db, waits).unwrap() && gave(&db, now).unwrap());
        let new = propose(&mut db, "Use rust.");
        assert_eq!(new, Id { number: 3, ..now }, "the name stays, and so does the count");
        // Known by both names, and decided on once.
        assert_eq!(decide(&mut db, waits, &Verdict::Approve, By::Command, at).unwrap(), Decided::Now);
        assert!(matches!(
            decide(&mut db, now, &Verdict::Approve, By::Command, at).unwrap(),
            Decided::Already(_)
        ));
        assert!(was_approved(&db, now).unwrap() && !was_approved(&db, new).unwrap());
        assert_eq!(check(&db).unwrap(), Vec::<String>::new());
        assert_eq!(rename(&mut db, new).unwrap(), new, "it has a name already");
        let theirs = Id::new(new.kind, new.date, 1).by(Some(Machine::new([1, 2, 3, 4])));
        assert!(!gave(&db, theirs).unwrap());
    }
}
