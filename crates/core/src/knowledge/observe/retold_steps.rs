//! Detects statements that retell actions instead of results.

use super::rules::words::{cause, retold};
use crate::text::phrases::{contains_dense, has, strip_phrase};
use crate::text::sentences::fold;
use crate::text::specific_terms::specifics;

/// True if a statement only reports an intermediate step, which is of no use next time. A change of something
/// named, with its purpose, is more (OBS-05), and so is any statement with a reason.
pub(super) fn is_retold_step(statement: &str) -> bool {
    let text = fold(statement);
    if reasons(&text) {
        return false;
    }
    if contains_dense(&text, retold::DENSE_STEPS) || strip_phrase(&text, retold::STEPS, "").is_some() {
        return true;
    }
    let Some(mut clause) = strip_phrase(&text, retold::AGENT, "") else { return false };
    while let Some(rest) = strip_phrase(clause, retold::BETWEEN, "").filter(|rest| !rest.is_empty()) {
        clause = rest;
    }
    let changed = strip_phrase(clause, retold::CHANGES, "");
    let aimed = |what: &str| has(what, retold::AIMS) && !specifics(what).is_empty();
    strip_phrase(clause, retold::LOOKS, "").is_some() || changed.is_some_and(|what| !aimed(what))
}

/// True if a statement only says that the user asked for something, reported something or was content.
pub(super) fn is_retold_request(statement: &str) -> bool {
    const ASSERTS: &str =
        "confirms that | confirmed that | agrees that | agreed that | agreed to | agrees to";
    let text = fold(statement);
    let asks = |said: &str| strip_phrase(said, retold::ASKS, ASSERTS).is_some();
    strip_phrase(&text, retold::PERSON, "").is_some_and(asks) || contains_dense(&text, retold::DENSE_ASKS)
}

fn reasons(text: &str) -> bool {
    has(text, retold::REASONS) || has(text, cause::NAMED) || contains_dense(text, cause::DENSE_NAMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_03_intermediate_steps_differ_from_results() {
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
            assert!(is_retold_step(step), "{step}");
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
            assert!(!is_retold_step(worth), "{worth}");
        }
    }

    #[test]
    fn obs_08_requests_differ_from_assertions() {
        for request in [
            "The user reports that the nightly export hangs",
            "User asked for a look at the valve test",
            "The user thanked the agent",
            "The user confirmed the change",
            "Der Benutzer bittet um einen Commit",
            "用户要求提交更改",
        ] {
            assert!(is_retold_request(request), "{request}");
        }
        for assertion in [
            "The user prefers pnpm",
            "The user confirmed that staging runs Postgres 16",
            "The user instructs the agent to never delete lock files",
            "User stated that the export runs at night",
            "Users ask for the export at night",
        ] {
            assert!(!is_retold_request(assertion), "{assertion}");
        }
    }
}
