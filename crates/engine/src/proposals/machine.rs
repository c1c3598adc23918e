//! Who gives ids, where several machines share a vault (REV-01, B-16). A machine that is alone needs no name.

use rekindle_core::vault::review::{Id, Machine};

use crate::db::{Db, Error, OptionalExtension, Transaction};
use crate::random;

/// The name of this machine, if it needs one.
pub(super) fn name(transaction: &Transaction<'_>) -> rusqlite::Result<Option<Machine>> {
    let name: Option<String> =
        transaction.query_row("SELECT name FROM machine", [], |row| row.get(0)).optional()?;
    Ok(name.and_then(|name| name.parse().ok()))
}

/// These ids were seen in the notes. If this store gave one of them not, somebody else did, and this machine gets a name for
/// good.
pub fn meet(db: &mut Db, ids: &[Id]) -> Result<(), Error> {
    let path = db.path().to_owned();
    let new = Machine::new(random::bytes().map_err(|cause| Error::Folder { path, cause })?);
    db.change(|transaction| {
        if ids.is_empty() || name(transaction)?.is_some() {
            return Ok(());
        }
        let mut known = transaction.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM proposals WHERE id = ?1)
                OR EXISTS (SELECT 1 FROM decisions WHERE proposal = ?1)",
        )?;
        for id in ids {
            if !known.query_row([id.to_string()], |row| row.get::<_, bool>(0))? {
                transaction.execute("INSERT INTO machine VALUES (1, ?1)", [new.to_string()])?;
                break;
            }
        }
        Ok(())
    })
}

/// This machine gets a name for good, because others may share its notes. One that has ids without a name keeps those.
pub fn take_name(db: &mut Db) -> Result<(), Error> {
    let path = db.path().to_owned();
    let new = Machine::new(random::bytes().map_err(|cause| Error::Folder { path, cause })?);
    db.change(|transaction| {
        if name(transaction)?.is_none() {
            transaction.execute("INSERT INTO machine VALUES (1, ?1)", [new.to_string()])?;
        }
        Ok(())
    })
}

/// Whether this machine has one.
pub fn has_name(db: &Db) -> Result<bool, Error> {
    db.run(|connection| connection.query_row("SELECT EXISTS (SELECT 1 FROM machine)", [], |row| row.get(0)))
}

#[cfg(test)]
mod tests {
    use rekindle_core::time::{Date, Timestamp};
    use rekindle_testkit::fixtures;

    use super::super::{Handed, hand_in};
    use super::*;

    fn propose(db: &mut Db, text: &str) -> Id {
        let day = Date::constant(2026, 11, 10);
        let proposal = fixtures::proposal(day, Timestamp::from_second(1_800_000_000).unwrap(), text);
        match hand_in(db, text, &[proposal]).unwrap().remove(0) {
            Handed::Proposed(id) => id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rev_01_b_16_two_machines_never_give_the_same_id() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = Db::open(&folder.path().join("one.db")).unwrap();
        let mut other = Db::open(&folder.path().join("other.db")).unwrap();
        let first = propose(&mut one, "Use tabs.");
        assert_eq!(first.to_string(), "p-20261110-001", "alone it needs no name");
        meet(&mut one, &[first]).unwrap();
        assert_eq!(propose(&mut one, "Use make.").to_string(), "p-20261110-002");
        // The other one comes to a vault in which there are proposals already.
        meet(&mut other, &[first]).unwrap();
        let theirs = propose(&mut other, "Use spaces.");
        assert!(theirs.to_string().starts_with("p-20261110-001-"), "{theirs}");
        meet(&mut one, &[first, theirs]).unwrap();
        let ours = propose(&mut one, "Use rust.");
        assert!(ours.to_string().starts_with("p-20261110-003-"), "{ours}");
        assert_ne!(ours.machine, theirs.machine);
        let again = propose(&mut one, "Use go.");
        assert_eq!(again.machine, ours.machine, "the name stays");
    }
}
