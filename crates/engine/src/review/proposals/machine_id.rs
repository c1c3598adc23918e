//! The machine's letters, which end the id of every proposal, so that machines that share a vault never
//! give the same id.

use rekindle_core::vault::review::MachineId;

use crate::platform::db::{Database, Error, OptionalExtension, params};
use crate::platform::random;

/// Reads the letters of this machine, if it has some.
pub fn machine_id(db: &Database) -> Result<Option<MachineId>, Error> {
    db.run(|connection| {
        let letters: Option<String> =
            connection.query_row("SELECT name FROM machine", [], |row| row.get(0)).optional()?;
        Ok(letters.and_then(|letters| letters.parse().ok()))
    })
}

/// Reads the letters of this machine, and draws them for good if it has none.
pub(super) fn machine_or_new(db: &mut Database) -> Result<MachineId, Error> {
    if let Some(machine) = machine_id(db)? {
        return Ok(machine);
    }
    let path = db.path().to_owned();
    let drawn = MachineId::new(random::bytes().map_err(|cause| Error::Folder { path, cause })?);
    // The first of two processes decides.
    db.change(|transaction| {
        transaction.execute("INSERT OR IGNORE INTO machine VALUES (1, ?1)", params![drawn.to_string()])
    })?;
    Ok(machine_id(db)?.unwrap_or(drawn))
}

#[cfg(test)]
mod tests {
    use rekindle_core::base::time::{Date, Timestamp};
    use rekindle_core::vault::review::ProposalId;
    use rekindle_testkit::fixtures;

    use super::super::{SubmitOutcome, submit};
    use super::*;
    use crate::pipeline::stages::STAGE_REGISTRY;

    fn propose(db: &mut Database, text: &str) -> ProposalId {
        let day = Date::constant(2026, 11, 10);
        let proposal = fixtures::proposal(day, Timestamp::from_second(1_800_000_000).unwrap(), text);
        match submit(db, &STAGE_REGISTRY, text, &[proposal]).unwrap().remove(0) {
            SubmitOutcome::Proposed(id) => id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn r_20_every_id_ends_with_the_letters_of_the_machine_that_gave_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| Database::open(&folder.path().join(name)).unwrap();
        let ids = ["one.db", "two.db"].map(|name| propose(&mut open(name), "Use tabs."));
        for (id, name) in ids.iter().zip(["one.db", "two.db"]) {
            assert!(id.machine.is_some() && id.to_string().parse() == Ok(*id), "{id}");
            assert_eq!(machine_id(&open(name)).unwrap(), id.machine);
        }
        assert_ne!(ids[0], ids[1], "two machines never give the same");
        let next = propose(&mut open("one.db"), "Use make.");
        assert_eq!(next, ProposalId { number: 2, ..ids[0] }, "the letters stay");
    }
}
