//! `observe`: a captured window becomes observations (EXE-02). The lock and the gate come before everything else; what
//! extracts follows them.

use rekindle_core::event::{Event, SessionCaptured};
use serde::Deserialize;
use serde_json::json;

use super::World;
use crate::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::sessions;

/// How long the same window is not observed a second time (CAP-13).
const LOCK_SECONDS: i64 = 3600;

pub(super) fn observe(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let captured = SessionCaptured::deserialize(&event.data).map_err(|error| Interrupt::Failed {
        step: "dedupe-check".to_owned(),
        error: StepError::fatal(error),
    })?;
    let run = steps.run_id().to_owned();
    let ours = steps.run("dedupe-check", || {
        let name = format!("memory:observe:lock:{}", captured.dedupe_key);
        let now = world.now().timestamp();
        let ours = crate::queue::lock(&mut world.db()?, &name, &run, LOCK_SECONDS, now)?;
        Ok(ours && !is_observed(&captured.dedupe_key, &run, world)?)
    })?;
    if !ours {
        return Ok(Ended::Skipped("duplicate".to_owned()));
    }
    if let Some(noise) = &captured.noise {
        reflected(steps, &captured, world)?;
        return Ok(Ended::Skipped(noise.clone()));
    }
    reflected(steps, &captured, world)?;
    Ok(Ended::Completed(json!({"dedupeKey": captured.dedupe_key, "messages": captured.message_count})))
}

/// The session was looked at to its end (EXE-13).
fn reflected(steps: &mut dyn Steps, captured: &SessionCaptured, world: &World) -> Result<(), Interrupt> {
    steps.run("mark-reflected", || {
        sessions::reflected(&world.places.sessions(), &captured.session_id).map_err(StepError::passing)
    })
}

/// Whether another run has observed this window, however long ago: the lock ends after an hour (CAP-14).
fn is_observed(key: &str, run: &str, world: &World) -> Result<bool, StepError> {
    let observed = world.db()?.run(|connection| {
        connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE function = 'observe' AND status = 'COMPLETED' AND id <> ?2
                AND json_extract(output, '$.dedupeKey') = ?1)",
            [key, run],
            |row| row.get(0),
        )
    })?;
    Ok(observed)
}
