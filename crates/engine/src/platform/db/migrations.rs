//! The database schema and its migrations. A migration only adds columns with defaults, tables and indexes.
//! One that removes something or changes its meaning raises `readable_from`, so that older programs leave the
//! file alone.

use super::{Database, Error};

/// The migrations in order. A published migration never changes.
pub(super) const MIGRATIONS: &[&str] = &[
    INITIAL_TABLES,
    OBSERVATION_TABLES,
    PROPOSAL_TABLES,
    REVIEWED,
    BESIDE,
    SURFACES,
    PROVIDED,
    TRIAGED,
    SUMMED,
    RENAMED,
    OWED,
    DATED,
    SCOPED,
    VERSIONED,
    TELEMETRY,
    TELEMETRY_EXPORT,
    SHARED,
];

const INITIAL_TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('readable_from', 1);

-- What happened. `data` is emptied when it is old and everything that was to be done with it is done.
CREATE TABLE events (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    session TEXT,
    at INTEGER NOT NULL,
    received INTEGER NOT NULL,
    data TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX events_by_session ON events (session);

-- What is done about it: one run for each function that listens.
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL REFERENCES events (id),
    function TEXT NOT NULL,
    session TEXT,
    key TEXT,
    status TEXT NOT NULL DEFAULT 'RUNNING',
    reason TEXT,
    error TEXT,
    output TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    due INTEGER NOT NULL,
    started INTEGER,
    ended INTEGER,
    owner TEXT,
    lease_until INTEGER,
    UNIQUE (event, function)
);
CREATE INDEX runs_open ON runs (crashes, due, number) WHERE status IN ('RUNNING', 'FAILED');
CREATE INDEX runs_held ON runs (function, key) WHERE owner IS NOT NULL;
CREATE INDEX runs_by_time ON runs (created);

-- What a run has done so far. A result is here before the next step begins.
CREATE TABLE steps (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    result TEXT,
    error TEXT,
    attempts INTEGER NOT NULL DEFAULT 1,
    started INTEGER NOT NULL,
    ended INTEGER,
    PRIMARY KEY (run, name)
) WITHOUT ROWID;

-- Locks with an end (CAP-13).
CREATE TABLE locks (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;

-- The sessions of this machine, and how far each was captured.
CREATE TABLE sessions (
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    transcript TEXT,
    cwd TEXT,
    started INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    upto INTEGER NOT NULL DEFAULT 0,
    captured_id TEXT,
    captured_at INTEGER,
    captured_bytes INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'open',
    PRIMARY KEY (agent, id)
) WITHOUT ROWID;

-- What language models used.
CREATE TABLE spending (
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    job TEXT NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    micro_dollars INTEGER
);
CREATE INDEX spending_by_time ON spending (at);

-- When each scheduled function last began.
CREATE TABLE schedule (function TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
";

const OBSERVATION_TABLES: &str = "
-- What was observed: the hot list (STO-01, STO-02). A row for each window; the log of the day holds the same for good.
CREATE TABLE observations (
    number INTEGER PRIMARY KEY,
    dedupe_key TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    project TEXT,
    cause TEXT NOT NULL,
    day TEXT NOT NULL,
    at INTEGER NOT NULL,
    priority TEXT NOT NULL,
    observed TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    distilled INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX observations_by_day ON observations (day);

-- What may become a memory, and where that stands (STO-05). Kept for good: it cannot be rebuilt.
CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    said TEXT NOT NULL,
    created INTEGER NOT NULL,
    decided INTEGER,
    decided_by TEXT,
    proposal TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX proposals_open ON proposals (created) WHERE status IN ('pending', 'triaged');
CREATE INDEX proposals_said ON proposals (said);

-- What was seen in sessions and how often, so that the third sighting counts (SID-05).
CREATE TABLE sightings (
    number INTEGER PRIMARY KEY,
    said TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    vector BLOB,
    project TEXT,
    evidence TEXT NOT NULL,
    became TEXT,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
);
CREATE INDEX sightings_by_time ON sightings (last);

-- Which window was observed by which run (CAP-14).
CREATE INDEX runs_observed ON runs (json_extract(output, '$.dedupeKey')) WHERE function = 'observe';
";

const PROPOSAL_TABLES: &str = "
-- Whether a reflection has looked at it.
ALTER TABLE observations ADD COLUMN reflected INTEGER NOT NULL DEFAULT 0;

-- The run that handed it in: a step that is run twice proposes once.
ALTER TABLE proposals ADD COLUMN run TEXT;

-- What REVIEW.md showed, by the version that it carries: a line that is gone is a decision only if it was there (REV-03).
CREATE TABLE review_pages (
    number INTEGER PRIMARY KEY,
    version TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    shown TEXT NOT NULL
);
";

const REVIEWED: &str = "
-- What the person made of it, why it waits although they said yes, and since when it waits again.
ALTER TABLE proposals ADD COLUMN worded TEXT;
ALTER TABLE proposals ADD COLUMN note TEXT;
ALTER TABLE proposals ADD COLUMN reopened INTEGER;

-- REVIEW.md as it was last looked at, and why nothing on it counted (REV-03).
CREATE TABLE review_seen (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    doubt TEXT
);
";

const BESIDE: &str = "
-- Whether the line that it would take the place of stays as it is.
ALTER TABLE proposals ADD COLUMN beside INTEGER NOT NULL DEFAULT 0;
";

const SURFACES: &str = "
-- Which proposals a person is asked about in which other place (REV-05, REV-08), and as what. No text of theirs is here.
CREATE TABLE surface_tasks (
    surface TEXT NOT NULL,
    proposal TEXT NOT NULL,
    since INTEGER NOT NULL,
    state TEXT NOT NULL,
    task TEXT,
    place TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL,
    PRIMARY KEY (surface, proposal)
) WITHOUT ROWID;

-- How it stands with each place: when it was last asked, from when on it may be, what it said last, and what is wrong.
CREATE TABLE surface_state (
    surface TEXT PRIMARY KEY,
    synced INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    next INTEGER,
    heard INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
";

const PROVIDED: &str = "
-- Through whom it was spent (B-04); empty in rows from before that was written down.
ALTER TABLE spending ADD COLUMN provider TEXT NOT NULL DEFAULT '';

-- What the write gate thought on each day (FBK-08).
CREATE TABLE gated (
    day TEXT PRIMARY KEY,
    judged INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    unverifiable INTEGER NOT NULL,
    useless INTEGER NOT NULL,
    conflicting INTEGER NOT NULL
) WITHOUT ROWID;
";

const TRIAGED: &str = "
-- The proposal that it ended with, because both say the same (B-07).
ALTER TABLE proposals ADD COLUMN decided_with TEXT;

-- What became of proposals, line by line, without their words (FUT-03, REV-14).
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY,
    proposal TEXT NOT NULL,
    at INTEGER NOT NULL,
    what TEXT NOT NULL,
    by TEXT,
    why TEXT,
    leader TEXT
);
CREATE INDEX decisions_by_proposal ON decisions (proposal);

-- This machine, once it knows that others share its vault: its name stands in the ids that it gives (REV-01).
CREATE TABLE machine (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL);

INSERT INTO decisions (proposal, at, what, by)
    SELECT id, decided, iif(status = 'promoted', iif(worded IS NULL, 'approved', 'edited'), status), decided_by
    FROM proposals WHERE decided IS NOT NULL AND status NOT IN ('pending', 'triaged') ORDER BY decided, id;
";

const SUMMED: &str = "
-- How much was observed on a day is asked after every session: the index answers without the rows (REF-01).
DROP INDEX observations_by_day;
CREATE INDEX observations_by_day ON observations (day, tokens);
";

const RENAMED: &str = "
-- Proposals that have another id since: another machine gave the same before the two met (REV-01).
CREATE TABLE renamed (was TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
";

const OWED: &str = "
-- Receipts that are in no log yet (REV-14): by which key they will be known there, and in the log of which day to look for
-- it, once somebody tried.
CREATE TABLE receipts (
    number INTEGER PRIMARY KEY,
    project TEXT,
    receipt TEXT NOT NULL,
    key TEXT,
    day TEXT
);

-- Up to which change the journal was looked through for promotions that were taken back.
CREATE TABLE journal_seen (one INTEGER PRIMARY KEY CHECK (one = 1), change TEXT NOT NULL);

UPDATE decisions SET what = 'reopened' WHERE what = 'reconsidered';
";

const DATED: &str = "
-- Whether the words of a statement say that something ended: an older session that is read later is held against it.
ALTER TABLE sightings ADD COLUMN ends INTEGER NOT NULL DEFAULT 0;
";

const SCOPED: &str = "
-- Where the person wants an approved proposal to hold: a project, '' for everywhere, NULL where they did not say (R-15).
ALTER TABLE proposals ADD COLUMN holds_in TEXT;
";

const VERSIONED: &str = "
-- The version of the form in which an observation is kept (STO-02).
ALTER TABLE observations ADD COLUMN schema_version INTEGER NOT NULL DEFAULT 1;
";

const TELEMETRY: &str = "
-- What the stages did, in ids and numbers (O11-03). It holds no text of prompts, notes or answers.
CREATE TABLE otel_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX otel_events_by_time ON otel_events (at);

-- The last line of each log that is in the table.
CREATE TABLE otel_folded (log TEXT PRIMARY KEY, last TEXT NOT NULL) WITHOUT ROWID;
";

const SHARED: &str = "
-- The machine that observed it, if it was another one (B-16).
ALTER TABLE observations ADD COLUMN machine TEXT;

-- The servers that this machine shares with, also those of earlier settings: forget must reach them. No password is here.
CREATE TABLE engine_servers (
    url TEXT PRIMARY KEY,
    engine TEXT NOT NULL,
    username TEXT NOT NULL,
    password_variable TEXT NOT NULL,
    -- The last attempt, the last success, and the pause before the next one.
    tried INTEGER NOT NULL DEFAULT 0,
    reached INTEGER,
    not_before INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    version TEXT,
    -- How often machines exchanged anything with it, as of the last time: a smaller number is a server that lost data.
    exchanges INTEGER NOT NULL DEFAULT 0,
    -- The number of the last observation that is there.
    pushed INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Decisions on proposals while several machines share them: waiting for the server, won, or made elsewhere (REV-14).
CREATE TABLE shared_decisions (proposal TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
";

const TELEMETRY_EXPORT: &str = "
-- The collector that events go to, the number of the last one that it took, and the last failure.
CREATE TABLE otel_export (
    url TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    sent_at INTEGER,
    failed_at INTEGER,
    error TEXT
) WITHOUT ROWID;
";

pub(super) fn apply(db: &mut Database) -> Result<(), Error> {
    let version =
        |db: &Database| db.run(|c| c.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)));
    let known = MIGRATIONS.len() as i64;
    if version(db)? < known {
        db.change(|transaction| {
            // Another process may have migrated while we waited.
            let done: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            for step in MIGRATIONS.iter().skip(usize::try_from(done).unwrap_or(0)) {
                transaction.execute_batch(step)?;
            }
            transaction.pragma_update(None, "user_version", known.max(done))
        })?;
    }
    let needed: i64 =
        db.run(|c| c.query_row("SELECT value FROM meta WHERE key = 'readable_from'", [], |row| row.get(0)))?;
    match needed > known {
        true => Err(Error::Newer { path: db.path().to_owned(), found: needed, known }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sto_02_an_observation_from_before_versions_has_the_first_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let old = rusqlite::Connection::open(&path).unwrap();
        let before = MIGRATIONS.iter().position(|step| *step == VERSIONED).unwrap();
        MIGRATIONS[..before].iter().for_each(|step| old.execute_batch(step).unwrap());
        old.pragma_update(None, "user_version", before as i64).unwrap();
        let observed = r#"{"parts":[],"currentTask":"Paint the hull","suggestedResponse":null}"#;
        old.execute(
            "INSERT INTO observations (dedupe_key, session, cause, day, at, priority, observed, tokens)
             VALUES ('k', 's', 'shutdown', '2026-11-14', 0, 'low', ?1, 7)",
            [observed],
        )
        .unwrap();
        drop(old);
        let db = Database::open(&path).unwrap();
        let [entry] = crate::pipeline::observations::in_session(&db, "s").unwrap().try_into().unwrap();
        assert_eq!((entry.schema_version, entry.tokens), (1, 7));
        assert_eq!(entry.observed.current_task.as_deref(), Some("Paint the hull"));
    }
}
