//! The overview of today: agents, what was learnt and used, what waits, and what is wrong.

use std::collections::HashMap;

use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::week::WeekFacts;
use rekindle_core::telemetry::health::alert::HealthAlert;
use rekindle_engine::context::alerts;
use rekindle_engine::ops::health::last_calls;
use rekindle_engine::ops::learning::LearningStats;
use rekindle_engine::platform::db::Database;
use rekindle_engine::vault::ScannedEntry;

use super::status::{AgentState, LearningReport};
use super::{CommandContext, week};
use crate::error::CliError;

/// The overview of today.
pub(crate) struct TodayReport {
    pub(crate) agents: Vec<AgentState>,
    /// The last call of each agent's hooks, by the agent's word.
    pub(crate) heard: HashMap<String, Timestamp>,
    /// The memories of the last days with the time of their last change, the newest first.
    pub(crate) learnt: Vec<(Timestamp, ScannedEntry)>,
    pub(crate) sessions: LearningStats,
    pub(crate) week: WeekFacts,
    /// The number of memories, without archived ones.
    pub(crate) memories: usize,
    pub(crate) alerts: Vec<HealthAlert>,
    /// The number of notes that could not be read.
    pub(crate) unreadable: usize,
}

/// The last call of each agent's hooks, by the agent's word.
pub(crate) fn last_heard(context: &CommandContext<'_>) -> HashMap<String, Timestamp> {
    last_calls(&context.places)
}

/// Gathers the overview.
pub(crate) fn gather(context: &CommandContext<'_>) -> Result<TodayReport, CliError> {
    let scan = context.vault()?.scan(false)?;
    let db = Database::open_existing(&context.places.database())?;
    let report = LearningReport::read(context, db.as_ref(), &scan.entries)?;
    Ok(TodayReport {
        agents: report.agent_states(),
        heard: last_heard(context),
        learnt: report.memories().iter().map(|(at, found)| (*at, (*found).clone())).collect(),
        sessions: report.sessions().clone(),
        week: week::gather(context, 0)?,
        memories: scan.entries.len(),
        alerts: alerts::read(&context.places).alerts,
        unreadable: scan.problems.len(),
    })
}
