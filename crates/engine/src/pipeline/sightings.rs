//! Sightings: statements seen in sessions, with their counts. The third sighting makes a statement a proposal
//! (SID-05, SID-06). Paraphrases count as the same statement (STO-16).

use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::ProposalEvidence;
use rekindle_core::text::normalise::normalise;
use rekindle_core::text::similarity::AnalysedStatement;

use crate::platform::db::{Database, Error, Row, params};

/// The least similarity of two sightings of one statement (STO-16).
const MIN_SAME_SIMILARITY: f32 = 0.85;
/// The least similarity of two related statements.
const MIN_RELATED_SIMILARITY: f32 = 0.4;
/// The number of the newest statements to compare with.
const MAX_COMPARED: i64 = 4000;
/// Condition for statements of project `?1` and those that hold in every project.
const PROJECT_CONDITION: &str = "(project IS ?1 OR project IS NULL)";
/// Separator of the words of a key and the project that also said them.
const PROJECT_SEPARATOR: char = '\u{1f}';

/// A statement seen in sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSighting {
    number: i64,
    /// The latest wording of the statement.
    pub text: String,
    /// The sessions and messages that it rests on.
    pub evidence: ProposalEvidence,
    /// Its outcome: the path of an entry, or the id of a proposal.
    pub became: Option<String>,
    /// The time of the latest sighting.
    pub last: Timestamp,
    /// True if its words say that something ended.
    pub ends: bool,
    /// The project; `None` if it holds everywhere.
    pub project: Option<String>,
}

/// A statement to compare and, if it is new, to store.
#[derive(Clone, Copy, Debug)]
pub struct NewSighting<'a> {
    /// The wording of the statement.
    pub text: &'a str,
    /// Its embedding, normalized; empty without a model.
    pub vector: &'a [f32],
    /// The project of the session.
    pub project: Option<&'a str>,
    /// The session and messages that it rests on.
    pub evidence: &'a ProposalEvidence,
    /// The time of the message.
    pub at: Timestamp,
    /// True if its words say that something ended.
    pub ends: bool,
}

/// Finds the same statement, in this project or everywhere.
pub fn find(db: &Database, seen: &NewSighting<'_>) -> Result<Option<StoredSighting>, Error> {
    best_match(db, seen, PROJECT_CONDITION)
}

/// Finds the same wish in another project.
pub fn find_in_other_projects(
    db: &Database,
    seen: &NewSighting<'_>,
) -> Result<Option<StoredSighting>, Error> {
    best_match(db, seen, "project IS NOT NULL AND project IS NOT ?1")
}

/// Finds the most similar equivalent statement in `reach`.
fn best_match(db: &Database, seen: &NewSighting<'_>, reach: &str) -> Result<Option<StoredSighting>, Error> {
    let normalised = normalise(seen.text);
    let claim = AnalysedStatement::from_text(seen.text);
    let mut best: Option<(f32, StoredSighting)> = None;
    compare_newest(db, seen, reach, |likeness, row| {
        let theirs: String = row.get(4)?;
        let is_same_text = words_of(&theirs) == normalised;
        let likeness = if is_same_text { 1.0 } else { likeness };
        // "Valve 1 is blue" and "valve 2 is blue" have almost the same embedding, as have "always" and
        // "never"; they are different statements.
        let agrees =
            || AnalysedStatement::from_text(&row.get::<_, String>(1).unwrap_or_default()).agrees_with(&claim);
        let is_same = likeness >= MIN_SAME_SIMILARITY && (is_same_text || agrees());
        if is_same && best.as_ref().is_none_or(|(best, _)| likeness > *best) {
            best = Some((likeness, read(row)?));
        }
        Ok(())
    })?;
    Ok(best.map(|(_, sighting)| sighting))
}

/// Finds the nearest statements, in this project or everywhere, the nearest first.
pub fn nearest_statements(
    db: &Database,
    seen: &NewSighting<'_>,
    most: usize,
) -> Result<Vec<(f32, StoredSighting)>, Error> {
    let mut found: Vec<(f32, StoredSighting)> = Vec::new();
    compare_newest(db, seen, PROJECT_CONDITION, |likeness, row| {
        if likeness >= MIN_RELATED_SIMILARITY {
            found.push((likeness, read(row)?));
        }
        Ok(())
    })?;
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(most);
    Ok(found)
}

/// Passes the newest statements in `reach`, a condition on `project`, to `each`, with their similarity.
fn compare_newest(
    db: &Database,
    seen: &NewSighting<'_>,
    reach: &str,
    mut each: impl FnMut(f32, &Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), Error> {
    db.run(|connection| {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT number, text, evidence, became, said, vector, last, ends, project FROM sightings
             WHERE {reach} ORDER BY last DESC LIMIT ?2"
        ))?;
        let mut rows = statement.query(params![seen.project, MAX_COMPARED])?;
        while let Some(row) = rows.next()? {
            each(cosine(seen.vector, row.get_ref(5)?.as_blob_or_null()?), row)?;
        }
        Ok(())
    })
}

/// The words of a key, without the project that separates it from the same words elsewhere.
fn words_of(key: &str) -> &str {
    key.split_once(PROJECT_SEPARATOR).map_or(key, |(words, _)| words)
}

/// Deletes a statement that no longer holds.
pub fn end(db: &mut Database, known: &StoredSighting) -> Result<(), Error> {
    db.change(|transaction| transaction.execute("DELETE FROM sightings WHERE number = ?1", [known.number]))
        .map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredSighting> {
    let evidence: String = row.get(2)?;
    // Unreadable evidence counts as none; the words themselves are intact.
    let evidence = serde_json::from_str(&evidence).unwrap_or_default();
    let last = Timestamp::from_millisecond(row.get(6)?).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(StoredSighting {
        number: row.get(0)?,
        text: row.get(1)?,
        evidence,
        became: row.get(3)?,
        last,
        ends: row.get(7)?,
        project: row.get(8)?,
    })
}

fn cosine(ours: &[f32], theirs: Option<&[u8]>) -> f32 {
    let theirs = theirs.unwrap_or_default();
    if ours.is_empty() || theirs.len() != ours.len() * 4 {
        return 0.0;
    }
    let floats =
        theirs.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    ours.iter().zip(floats).map(|(a, b)| a * b).sum()
}

/// Stores a new statement.
pub fn add(db: &mut Database, seen: &NewSighting<'_>, became: Option<&str>) -> Result<(), Error> {
    let evidence = json(db, seen.evidence)?;
    let vector: Option<Vec<u8>> =
        (!seen.vector.is_empty()).then(|| seen.vector.iter().flat_map(|value| value.to_le_bytes()).collect());
    let normalised = normalise(seen.text);
    db.change(|transaction| {
        // The table has each text once, so the same text in another project gets a key of its own.
        let taken: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM sightings WHERE said = ?1 AND project IS NOT ?2)",
            params![normalised, seen.project],
            |row| row.get(0),
        )?;
        let key = match seen.project.filter(|_| taken) {
            Some(project) => format!("{normalised}{PROJECT_SEPARATOR}{project}"),
            None => normalised.clone(),
        };
        transaction.execute(
            "INSERT INTO sightings (said, text, vector, project, evidence, became, first, last, ends)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
             ON CONFLICT (said) DO UPDATE SET evidence = ?5, became = coalesce(?6, became),
                first = min(first, ?7), last = max(last, ?7)",
            params![
                key,
                seen.text,
                vector,
                seen.project,
                evidence,
                became,
                seen.at.as_millisecond(),
                seen.ends
            ],
        )
    })
    .map(drop)
}

/// Stores another sighting of a known statement: keeps the latest wording and merges the evidence.
pub fn add_sighting(
    db: &mut Database,
    known: &StoredSighting,
    seen: &NewSighting<'_>,
    became: Option<&str>,
) -> Result<ProposalEvidence, Error> {
    let mut evidence = known.evidence.clone();
    evidence.merge(seen.evidence);
    let json = json(db, &evidence)?;
    db.change(|transaction| {
        transaction.execute(
            "UPDATE sightings SET text = iif(?5 >= last, ?2, text), ends = iif(?5 >= last, ?6, ends), evidence = ?3,
                became = coalesce(?4, became), first = min(first, ?5), last = max(last, ?5) WHERE number = ?1",
            params![known.number, seen.text, json, became, seen.at.as_millisecond(), seen.ends],
        )
    })?;
    Ok(evidence)
}

/// A frequent statement and the number of its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrequentSighting {
    /// The latest wording of the statement.
    pub text: String,
    /// The project; `None` if it holds everywhere.
    pub project: Option<String>,
    /// The number of its sessions.
    pub sessions: u32,
}

/// Lists the statements seen in the most sessions, the most frequent first.
pub fn most_frequent(db: &Database, most: u32) -> Result<Vec<FrequentSighting>, Error> {
    db.run(|connection| {
        connection
            .prepare(
                "SELECT text, project, json_array_length(evidence, '$.sessions') AS sessions FROM sightings
                 ORDER BY sessions DESC, last DESC, number LIMIT ?1",
            )?
            .query_map([most], |row| {
                Ok(FrequentSighting { text: row.get(0)?, project: row.get(1)?, sessions: row.get(2)? })
            })?
            .collect()
    })
}

/// Updates the outcome of an entry that moved.
pub fn follow_move(db: &mut Database, from: &str, to: &str) -> Result<usize, Error> {
    db.change(|transaction| {
        transaction.execute("UPDATE sightings SET became = ?2 WHERE became = ?1", params![from, to])
    })
}

/// True if a statement has this outcome, even if the entry is gone.
pub fn has_become(db: &Database, became: &str) -> Result<bool, Error> {
    db.run(|connection| {
        connection.query_row("SELECT EXISTS (SELECT 1 FROM sightings WHERE became = ?1)", [became], |row| {
            row.get(0)
        })
    })
}

fn json(db: &Database, evidence: &ProposalEvidence) -> Result<String, Error> {
    serde_json::to_string(evidence).map_err(|error| db.corrupt_value(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(session: &str) -> ProposalEvidence {
        ProposalEvidence { sessions: vec![session.to_owned()], ..ProposalEvidence::default() }
    }

    #[test]
    fn sto_16_paraphrases_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let (one, two) = (evidence("a"), evidence("b"));
        let first = NewSighting {
            text: "Use tabs.",
            vector: &[1.0, 0.0],
            project: None,
            evidence: &one,
            at,
            ends: false,
        };
        assert_eq!(find(&db, &first).unwrap(), None);
        add(&mut db, &first, Some("personal-private/_inbox/tabs.md")).unwrap();
        let other = NewSighting {
            text: "Use tabs everywhere",
            vector: &[0.9, 0.43],
            project: Some("p"),
            evidence: &two,
            at,
            ends: false,
        };
        let known = find(&db, &other).unwrap().unwrap();
        assert_eq!(known.became.as_deref(), Some("personal-private/_inbox/tabs.md"));
        let merged = add_sighting(&mut db, &known, &other, None).unwrap();
        assert_eq!(merged.sessions, ["a", "b"]);
        let known = find(&db, &first).unwrap().unwrap();
        assert_eq!((known.text.as_str(), known.evidence.sessions.len()), ("Use tabs everywhere", 2));
        let far = NewSighting {
            text: "Use spaces",
            vector: &[0.5, 0.86],
            project: None,
            evidence: &one,
            at,
            ends: false,
        };
        assert_eq!(find(&db, &far).unwrap(), None);
        let numbered = NewSighting {
            text: "Use 2 tabs",
            vector: &[1.0, 0.0],
            project: None,
            evidence: &one,
            at,
            ends: false,
        };
        assert_eq!(find(&db, &numbered).unwrap(), None, "another number is another thing");
        let opposite = NewSighting {
            text: "Never use tabs",
            vector: &[1.0, 0.0],
            project: None,
            evidence: &one,
            at,
            ends: false,
        };
        assert_eq!(find(&db, &opposite).unwrap(), None, "who changes their mind is heard");
        let blind =
            NewSighting { text: "use  TABS", vector: &[], project: None, evidence: &one, at, ends: false };
        assert!(find(&db, &blind).unwrap().is_some(), "without a model the words decide");
    }

    #[test]
    fn r_17_an_older_statement_does_not_replace_a_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        let (one, two) = (evidence("a"), evidence("b"));
        let newer = NewSighting {
            text: "Use tabs!",
            vector: &[],
            project: None,
            evidence: &one,
            at: at(200),
            ends: true,
        };
        add(&mut db, &newer, None).unwrap();
        let older = NewSighting { text: "use TABS", evidence: &two, at: at(100), ends: false, ..newer };
        let known = find(&db, &older).unwrap().unwrap();
        assert_eq!((known.last, known.ends), (at(200), true));
        add_sighting(&mut db, &known, &older, None).unwrap();
        let known = find(&db, &older).unwrap().unwrap();
        assert_eq!((known.text.as_str(), known.last, known.ends), ("Use tabs!", at(200), true));
        let most = most_frequent(&db, 3).unwrap();
        assert_eq!((most.len(), most[0].sessions), (1, 2));
    }
}
