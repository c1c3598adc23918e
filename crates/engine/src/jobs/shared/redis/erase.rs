//! Erases forgotten text from a Redis server (B-08). Whatever stores text there is listed here.

use rekindle_core::vault::erase::ErasureTarget;

use super::RedisServer;
use crate::jobs::shared::SharedError;

/// The keys that hold text: their pattern and their type.
const OBSERVATIONS: (&str, &str) = ("memory:observations:*", "list");
/// All keys of ours.
const OURS: [(&str, &str); 8] = [
    OBSERVATIONS,
    ("memory:observations:*:keys", "hash"),
    PROPOSALS,
    ("memory:review:pending", "list"),
    ("memory:observe:lock:*", "string"),
    ("memory:reflect:*", "string"),
    ("memory:friction:*", "string"),
    ("memory:exchanges", "string"),
];
const PROPOSALS: (&str, &str) = ("memory:review:proposal:*", "hash");

impl RedisServer {
    /// Erases the text from observations, and proposals with it as a whole. Returns the number of matches.
    pub(crate) fn erase(&self, target: &ErasureTarget) -> Result<usize, SharedError> {
        let mut erased = 0;
        for (key, place, entry) in self.observations_with(target)? {
            // The places of other entries must not change.
            let left = target.remove_json_blocks(&entry).unwrap_or_else(|| "{}".to_owned());
            let left = if target.matches_file(left.as_bytes()) { "{}".to_owned() } else { left };
            self.ask(|connection| redis::cmd("LSET").arg(key).arg(place).arg(left).query::<()>(connection))?;
            erased += 1;
        }
        for id in self.proposals_with(target)? {
            self.remove(&id)?;
            erased += 1;
        }
        if erased > 0 {
            // The log of an appending server has the old text until it is rewritten. An account without the right to
            // do that leaves it to the server, which rewrites the log when it has grown.
            let rewritten = self.ask(|connection| redis::cmd("BGREWRITEAOF").query::<String>(connection));
            drop(rewritten);
        }
        Ok(erased)
    }

    /// Removes all keys of ours. Returns their number.
    pub fn clear(&self) -> Result<usize, SharedError> {
        let mut removed = 0;
        for (pattern, kind) in OURS {
            for key in self.scan((pattern, kind))? {
                removed += self.ask(|connection| redis::cmd("DEL").arg(&key).query::<usize>(connection))?;
            }
        }
        Ok(removed)
    }

    /// True if the text is anywhere on the server.
    pub(crate) fn holds(&self, target: &ErasureTarget) -> Result<bool, SharedError> {
        Ok(!self.observations_with(target)?.is_empty() || !self.proposals_with(target)?.is_empty())
    }

    /// The entries with the text: key, place and entry.
    fn observations_with(&self, target: &ErasureTarget) -> Result<Vec<(String, usize, String)>, SharedError> {
        let mut found = Vec::new();
        if target.is_empty() {
            return Ok(found);
        }
        for key in self.scan(OBSERVATIONS)? {
            let entries: Vec<String> =
                self.ask(|connection| redis::cmd("LRANGE").arg(&key).arg(0).arg(-1).query(connection))?;
            let matching = entries.into_iter().enumerate();
            let matching = matching.filter(|(_, entry)| target.matches_file(entry.as_bytes()));
            found.extend(matching.map(|(place, entry)| (key.clone(), place, entry)));
        }
        Ok(found)
    }

    /// The ids of the proposals with the text in any field.
    fn proposals_with(&self, target: &ErasureTarget) -> Result<Vec<String>, SharedError> {
        let mut found = Vec::new();
        if target.is_empty() {
            return Ok(found);
        }
        for key in self.scan(PROPOSALS)? {
            let values: Vec<String> =
                self.ask(|connection| redis::cmd("HVALS").arg(&key).query(connection))?;
            if values.iter().any(|value| target.matches_file(value.as_bytes())) {
                found.extend(key.rsplit(':').next().map(str::to_owned));
            }
        }
        Ok(found)
    }

    fn scan(&self, (pattern, kind): (&str, &str)) -> Result<Vec<String>, SharedError> {
        let mut keys = Vec::new();
        let mut cursor: u64 = 0;
        loop {
            let (next, page): (u64, Vec<String>) = self.ask(|connection| {
                redis::cmd("SCAN")
                    .arg(cursor)
                    .arg("MATCH")
                    .arg(pattern)
                    .arg("COUNT")
                    .arg(500)
                    .arg("TYPE")
                    .arg(kind)
                    .query(connection)
            })?;
            keys.extend(page);
            if next == 0 {
                break;
            }
            cursor = next;
        }
        // A scan may name a key twice.
        keys.sort();
        keys.dedup();
        Ok(keys)
    }
}
