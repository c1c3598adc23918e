//! Detects statements that retell actions instead of results.

use super::rules::words::{cause, retold};
use crate::text::phrases::{begins, has, has_dense};
use crate::text::sentences::folded;
use crate::text::specific_terms::specifics;

/// True if a statement only reports an intermediate step, which is of no use next time. A change of something
/// named, with its purpose, is more (OBS-05), and so is any statement with a reason.
pub(super) fn retells(statement: &str) -> bool {
    let text = folded(statement);
    if reasons(&text) {
        return false;
    }
    if has_dense(&text, retold::DENSE_STEPS) || begins(&text, retold::STEPS, "").is_some() {
        return true;
    }
    let Some(mut did) = begins(&text, retold::AGENT, "") else { return false };
    while let Some(rest) = begins(did, retold::BETWEEN, "").filter(|rest| !rest.is_empty()) {
        did = rest;
    }
    let changed = begins(did, retold::CHANGES, "");
    let aimed = |what: &str| has(what, retold::AIMS) && !specifics(what).is_empty();
    begins(did, retold::LOOKS, "").is_some() || changed.is_some_and(|what| !aimed(what))
}

/// True if a statement only says that the user asked for something, reported something or was content.
pub(super) fn retells_request(statement: &str) -> bool {
    const ASSERTS: &str =
        "confirms that | confirmed that | agrees that | agreed that | agreed to | agrees to";
    let text = folded(statement);
    let asks = |said: &str| begins(said, retold::ASKS, ASSERTS).is_some();
    begins(&text, retold::PERSON, "").is_some_and(asks) || has_dense(&text, retold::DENSE_ASKS)
}

fn reasons(text: &str) -> bool {
    has(text, retold::REASONS) || has(text, cause::NAMED) || has_dense(text, cause::DENSE_NAMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_03_steps_are_told_apart_from_what_came_of_them() {
        for step in [
            "The agent runs `journalctl -u export -n 20` to check the lock file.",
            "The agent then ran the tests again",
            "Agent has read src/main.rs",
            "The assistant commits the changes.",
            "The agent edits the file.",
            "The agent edited src/export.rs",
            "Ran cargo test and all passed",
            "All tests pass now",
            "Der Agent hat geprüft, welche Tests laufen",
            "El agente ejecutó las pruebas",
            "L'agent a vérifié le fichier",
            "O agente executou os testes",
            "Агент запустил тесты",
            "エージェントはテストを実行しました",
            "代理运行了测试",
        ] {
            assert!(retells(step), "{step}");
        }
        for worth in [
            "The agent edits `export.rs` to take over stale locks",
            "The agent ran the migration twice because the first one timed out",
            "The agent found a stale lock file from the crash",
            "The nightly export hangs while /var/lock/export.lock exists",
            "Running the tests needs --release",
            "Tests read their fixtures from tests/data",
            "The user never wants lock files of living processes deleted",
        ] {
            assert!(!retells(worth), "{worth}");
        }
    }

    #[test]
    fn obs_08_requests_are_told_apart_from_assertions() {
        for request in [
            "The user reports that the nightly export hangs",
            "User asked for a look at the valve test",
            "The user thanked the agent",
            "The user confirmed the change",
            "Der Benutzer bittet um einen Commit",
            "用户要求提交更改",
        ] {
            assert!(retells_request(request), "{request}");
        }
        for assertion in [
            "The user prefers pnpm",
            "The user confirmed that staging runs Postgres 16",
            "The user instructs the agent to never delete lock files",
            "User stated that the export runs at night",
            "Users ask for the export at night",
        ] {
            assert!(!retells_request(assertion), "{assertion}");
        }
    }
}
