//! `share` (B-16, STO-01…05): exchanges observations, proposals and decisions with the other machines that use the same
//! server.
//!
//! It compares what is here with what is there, in both directions, and repeats nothing. So it needs no position that
//! could get lost, and a server that comes back empty or older is filled again by the machines that have the data.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::SignedDuration;
use rekindle_core::base::time::{Date, Timestamp, day, format_utc};
use rekindle_core::config::EngineSettings;
use rekindle_core::event::{Event, names, redact_data};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::vault::review::{MachineId, ProposalId};
use rekindle_core::vault::tombstone::Graveyard;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{STAGE_REGISTRY, promote};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt, lookup};
use crate::jobs::shared::SharedError;
use crate::jobs::shared::redis::{DecisionClaim, RedisServer};
use crate::jobs::shared::servers;
use crate::pipeline::observations::{self, RETENTION_DAYS, elsewhere};
use crate::platform::db::{self, Database};
use crate::review::proposals::{self, ProposalRecord, SharedDecision, SharedDecisionState as State};

/// The name of the function in the registry, and the key of its runs.
pub const SHARE: &str = "share";
/// The time for which the scheduled run of a day belongs to a machine.
const DAILY_SECONDS: i64 = 20 * 3600;
/// The interval at which a running worker looks for what other machines have.
const INTERVAL: SignedDuration = SignedDuration::from_mins(5);

/// The reason an exchange stopped.
enum ExchangeError {
    /// The server failed. It is tried again after a pause.
    Server(SharedError),
    /// This machine failed.
    Here(StepError),
}

impl From<SharedError> for ExchangeError {
    fn from(error: SharedError) -> Self {
        Self::Server(error)
    }
}

impl From<StepError> for ExchangeError {
    fn from(error: StepError) -> Self {
        Self::Here(error)
    }
}

impl From<db::Error> for ExchangeError {
    fn from(error: db::Error) -> Self {
        Self::Here(error.into())
    }
}

/// The result of an exchange: numbers and ids, no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeReport {
    /// The reason the server was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// The number of observations that other machines did not have.
    pub observations_sent: usize,
    /// The number of observations from other machines.
    pub observations_received: usize,
    /// The number of proposals that other machines did not have.
    pub proposals_sent: usize,
    /// The proposals from other machines.
    pub proposals_received: Vec<ProposalId>,
    /// The decisions of this machine that were first.
    pub won: Vec<ProposalId>,
    /// The proposals that another machine decided first.
    pub settled: Vec<ProposalId>,
    /// The proposals decided here and elsewhere, because the server lost the first decision.
    pub conflicts: Vec<ProposalId>,
    /// True if the server lost data since the last exchange.
    pub server_lost_data: bool,
}

impl ExchangeReport {
    /// True if the review page has to change.
    fn concerns_review(&self) -> bool {
        !self.proposals_received.is_empty() || !self.settled.is_empty()
    }
}

/// Returns the event that requests an exchange, if one is due: something waits to be sent, or the last one is some
/// minutes old.
pub fn request(
    db: &mut Database,
    settings: &EngineSettings,
    now: Timestamp,
) -> Result<Option<Event>, db::Error> {
    let Some(server) = servers::configured(settings) else { return Ok(None) };
    if lookup::is_unfinished(db, SHARE, SHARE)? {
        return Ok(None);
    }
    let due = match servers::state(db, server)? {
        None => true,
        Some(state) if state.is_paused(now) => false,
        Some(state) => {
            let since = now.duration_since(state.tried);
            // A time in the future was written before the clock was set back.
            since >= INTERVAL
                || since < -INTERVAL
                || elsewhere::last_number(db)? > state.pushed
                || !proposals::decisions_in(db, State::Waiting)?.is_empty()
        }
    };
    let id = format!("share-{}", now.as_millisecond());
    Ok(due.then(|| Event { id, name: names::SHARE_REQUESTED.to_owned(), data: json!({}), at: now }))
}

/// Resumes the decisions that waited for a server, if none is used any more.
pub fn resume_without_server(
    db: &mut Database,
    settings: &EngineSettings,
    now: Timestamp,
) -> Result<(), db::Error> {
    if servers::configured(settings).is_some() {
        return Ok(());
    }
    for id in proposals::decisions_in(db, State::Waiting)? {
        if let Some(record) = proposals::find_proposal(db, id)? {
            proposals::resume_decision(db, &STAGE_REGISTRY, &record, now)?;
        }
        proposals::set_decision_state(db, id, None)?;
    }
    Ok(())
}

pub(super) fn share(
    _: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let report = steps.run("exchange", || exchange(context))?;
    if let Some(away) = report.away {
        return Ok(FunctionOutcome::Skipped(away));
    }
    if report.concerns_review() {
        steps.run("refresh-page", || promote::refresh_page(context))?;
    }
    Ok(FunctionOutcome::Completed(json!(report)))
}

/// Exchanges everything once. A server that is away is no error: the report says so, and the state has the pause.
pub fn exchange(context: &StageContext) -> Result<ExchangeReport, StepError> {
    let Some(settings) = servers::configured(&context.config.engines) else {
        return Ok(ExchangeReport {
            away: Some("no server is configured".to_owned()),
            ..ExchangeReport::default()
        });
    };
    let (mut db, now) = (context.db()?, context.now().timestamp());
    servers::remember(&mut db, settings)?;
    let exchanged = RedisServer::open(settings)
        .map_err(ExchangeError::from)
        .and_then(|server| Exchange::new(&server, &mut db, context)?.run());
    match exchanged {
        Ok(report) => {
            // Forgets that could not reach the server are finished now.
            context.vault()?.retry_forgets(&context.now()).map_err(StepError::retryable)?;
            Ok(report)
        }
        Err(ExchangeError::Here(error)) => Err(error),
        Err(ExchangeError::Server(error)) => {
            servers::record_failure(&mut db, &settings.url, now, &error.what)?;
            Ok(ExchangeReport { away: Some(error.what), ..ExchangeReport::default() })
        }
    }
}

/// Both sides of an exchange.
struct Exchange<'a> {
    server: &'a RedisServer,
    db: &'a mut Database,
    context: &'a StageContext,
    machine: MachineId,
    graves: Graveyard,
    report: ExchangeReport,
}

impl<'a> Exchange<'a> {
    fn new(
        server: &'a RedisServer,
        db: &'a mut Database,
        context: &'a StageContext,
    ) -> Result<Self, ExchangeError> {
        let machine = proposals::own_machine(db)?;
        let graves = context.vault()?.graveyard().map_err(StepError::retryable)?;
        Ok(Self { server, db, context, machine, graves, report: ExchangeReport::default() })
    }

    fn run(mut self) -> Result<ExchangeReport, ExchangeError> {
        let url = self.server.url();
        let info = self.server.info()?;
        let last = servers::known(self.db)?.into_iter().find(|state| state.settings.url == url);
        let last = last.map_or(0, |state| state.exchanges);
        let exchanges = self.server.count_exchange()?;
        self.report.server_lost_data = last > 0 && exchanges <= last;
        self.observations()?;
        // The waiting ones first: they may be those of somebody who is at the terminal.
        self.waiting_decisions()?;
        if self.report.server_lost_data {
            self.repeat_decisions()?;
        }
        self.proposals()?;
        let pushed = elsewhere::last_number(self.db)?;
        let now = self.context.now().timestamp();
        servers::record_success(self.db, url, now, (exchanges, pushed), &info.version)?;
        Ok(self.report)
    }

    /// Sends the observations that are missing there, and stores those that are missing here (STO-01).
    fn observations(&mut self) -> Result<(), ExchangeError> {
        // There first: a killed worker must not leave it where nobody looks for it any more.
        for entry in elsewhere::without_forgotten(self.db, &self.graves)? {
            let text = elsewhere::shared_json(&entry, &self.machine.to_string()).to_string();
            self.server.overwrite(entry.day, &entry.dedupe_key, &text)?;
            elsewhere::save_without_forgotten(self.db, &entry)?;
        }
        let today = self.context.now().date();
        let days: Vec<Date> = (0..RETENTION_DAYS)
            .filter_map(|back| today.checked_sub(jiff::Span::new().days(back)).ok())
            .collect();
        for (date, there) in days.iter().zip(self.server.keys(&days)?) {
            let here = elsewhere::keys_of_day(self.db, *date)?;
            let missing: BTreeSet<&str> = here
                .iter()
                .filter(|(key, is_ours)| *is_ours && !there.contains_key(key))
                .map(|(key, _)| key.as_str())
                .collect();
            if !missing.is_empty() {
                for mut entry in observations::in_date_range(self.db, *date, *date)? {
                    if !missing.contains(entry.dedupe_key.as_str()) {
                        continue;
                    }
                    elsewhere::remove_forgotten(&mut entry.observed, &self.graves);
                    let text = elsewhere::shared_json(&entry, &self.machine.to_string()).to_string();
                    self.report.observations_sent +=
                        usize::from(self.server.append(*date, &entry.dedupe_key, &text)?);
                }
            }
            let known: BTreeSet<&str> = here.iter().map(|(key, _)| key.as_str()).collect();
            let new: Vec<i64> = there
                .iter()
                .filter(|(key, _)| !known.contains(key.as_str()))
                .map(|(_, place)| *place)
                .collect();
            for text in self.server.read(*date, &new)? {
                let Some((mut entry, machine)) = elsewhere::from_shared_json(&text) else { continue };
                elsewhere::remove_forgotten(&mut entry.observed, &self.graves);
                // What this machine made and does not have any more is not brought back.
                if machine == self.machine.to_string() || entry.observed.is_empty() || entry.day != *date {
                    continue;
                }
                self.report.observations_received +=
                    usize::from(elsewhere::add_from_elsewhere(self.db, &entry, &machine)?);
            }
        }
        Ok(())
    }

    /// Asks who was first for the decisions that waited for the server (REV-14).
    fn waiting_decisions(&mut self) -> Result<(), ExchangeError> {
        for id in proposals::decisions_in(self.db, State::Waiting)? {
            match proposals::find_proposal(self.db, id)? {
                Some(record) if !record.proposal.status.is_open() => {
                    if claim(self.server, self.db, &record, &mut self.report)? == State::Won {
                        let now = self.context.now().timestamp();
                        // A worker that is killed in between asks again, and gets the same answer.
                        proposals::resume_decision(self.db, &STAGE_REGISTRY, &record, now)?;
                        self.won(id)?;
                    }
                }
                // It was taken back or forgotten meanwhile.
                _ => proposals::set_decision_state(self.db, id, None)?,
            }
        }
        Ok(())
    }

    /// Publishes the decisions of this machine again on a server that may have lost them.
    fn repeat_decisions(&mut self) -> Result<(), ExchangeError> {
        for id in proposals::decisions_in(self.db, State::Won)? {
            let Some(record) = proposals::find_proposal(self.db, id)? else { continue };
            let Some(own) = proposals::shared_decision(self.db, &record)? else { continue };
            if let DecisionClaim::Lost(first) = self.decide(id, &own)?
                && !is_same_decision(&first, &own)
            {
                self.report.conflicts.push(id);
            }
        }
        Ok(())
    }

    fn decide(&self, id: ProposalId, own: &SharedDecision) -> Result<DecisionClaim, ExchangeError> {
        Ok(self.server.decide(id, own.status.as_str(), &json!(own).to_string())?)
    }

    /// Exchanges proposals and the decisions on them (STO-05). A proposal that was reopened here is decided here.
    fn proposals(&mut self) -> Result<(), ExchangeError> {
        if !self.graves.is_empty() {
            for proposal in proposals::open(self.db)? {
                if self.graves.holds_text(&proposal.text) {
                    self.server.remove(&proposal.id.to_string())?;
                    proposals::delete_forgotten(self.db, proposal.id)?;
                }
            }
        }
        let there = self.server.pending()?;
        let here = proposals::list_proposals(self.db, false)?;
        let first_time = |record: &&ProposalRecord| record.reopened.is_none();
        let open: Vec<&ProposalRecord> =
            here.iter().filter(|record| record.proposal.status.is_open()).filter(first_time).collect();
        let ids: Vec<String> = open.iter().map(|record| record.proposal.id.to_string()).collect();
        for (record, decision) in open.iter().zip(self.server.decisions(&ids)?) {
            let id = record.proposal.id;
            let Some(decision) = decision.as_deref().and_then(read_decision) else {
                if self.is_ours(id) && !there.contains(&id.to_string()) {
                    self.propose(&record.proposal)?;
                }
                continue;
            };
            if decision.machine != self.machine.to_string()
                && proposals::settle_elsewhere(self.db, id, &decision)?
            {
                self.report.settled.push(id);
            }
        }
        let ended = here.iter().filter(|record| !record.proposal.status.is_open()).filter(first_time);
        for record in ended.filter(|record| there.contains(&record.proposal.id.to_string())) {
            // One that waits was asked about above; one that another machine decided is published by that machine.
            if proposals::decision_state(self.db, record.proposal.id)?.is_none() {
                let state = claim(self.server, self.db, record, &mut self.report)?;
                if state == State::Won {
                    self.won(record.proposal.id)?;
                }
            }
        }
        let known: BTreeSet<String> = here.iter().map(|record| record.proposal.id.to_string()).collect();
        let new: Vec<String> = there.into_iter().filter(|id| !known.contains(id)).collect();
        for (id, text) in new.iter().zip(self.server.proposals(&new)?) {
            let Some(text) = text else {
                self.server.unlist(id)?;
                continue;
            };
            let Some(proposal) = read_proposal(&text).filter(|proposal| proposal.id.to_string() == *id)
            else {
                continue;
            };
            // What this machine made and does not have any more was forgotten here.
            if self.is_ours(proposal.id) || self.graves.holds_text(&proposal.text) {
                continue;
            }
            if proposals::adopt_from_elsewhere(self.db, &proposal)? {
                self.report.proposals_received.push(proposal.id);
            }
        }
        Ok(())
    }

    /// Stores that this machine was the first.
    fn won(&mut self, id: ProposalId) -> Result<(), ExchangeError> {
        proposals::set_decision_state(self.db, id, Some(State::Won))?;
        self.report.won.push(id);
        Ok(())
    }

    fn is_ours(&self, id: ProposalId) -> bool {
        id.machine.is_none_or(|machine| machine == self.machine)
    }

    /// Publishes a proposal, with the fields that other programs read (STO-05). An id without letters may be the id of
    /// another machine's proposal, so it stays here.
    fn propose(&mut self, proposal: &Proposal) -> Result<(), ExchangeError> {
        if proposal.id.machine.is_none() || self.graves.holds_text(&proposal.text) {
            return Ok(());
        }
        let text = serde_json::to_string(proposal).map_err(StepError::fatal)?;
        let sessions = serde_json::to_string(&proposal.evidence.sessions).map_err(StepError::fatal)?;
        let fields = [
            ("proposal", text),
            ("status", proposal.status.as_str().to_owned()),
            ("text", proposal.text.clone()),
            ("sessions", sessions),
            ("machine", self.machine.to_string()),
            ("created", format_utc(proposal.created)),
        ];
        self.report.proposals_sent += usize::from(self.server.propose(proposal.id, &fields)?);
        Ok(())
    }
}

/// True if another machine does today's scheduled run of a function that reads the shared hot list. What it has not seen
/// yet, the next run covers.
pub(super) fn is_done_elsewhere(
    function: &str,
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<bool, RunInterrupt> {
    if !context.is_shared() || event.name != names::SCHEDULE_REACHED {
        return Ok(false);
    }
    let run = steps.run_id().to_owned();
    steps.run("ask-other-machines", || {
        let name = format!("memory:{function}:daily:{}", day(context.day_of(event)));
        Ok(!context.take_lock(&name, &run, DAILY_SECONDS)?)
    })
}

/// The reason of a run that another machine does.
pub(super) const DONE_ELSEWHERE: &str = "another machine does this today";

/// Asks the server who decided first. A decision of another machine takes the place of this one; that this one was the
/// first, the caller stores.
fn claim(
    server: &RedisServer,
    db: &mut Database,
    record: &ProposalRecord,
    report: &mut ExchangeReport,
) -> Result<State, ExchangeError> {
    let id = record.proposal.id;
    let Some(own) = proposals::shared_decision(db, record)? else { return Ok(State::Won) };
    match server.decide(id, own.status.as_str(), &json!(own).to_string())? {
        DecisionClaim::Lost(first) if !is_same_decision(&first, &own) => {
            if let Some(decision) = read_decision(&first)
                && proposals::settle_elsewhere(db, id, &decision)?
            {
                report.settled.push(id);
            }
            Ok(State::Elsewhere)
        }
        // An earlier attempt of this machine was cut off before it was stored.
        DecisionClaim::Lost(_) | DecisionClaim::Won => Ok(State::Won),
    }
}

/// The reason not to carry out a decision of this machine now; `None` if it was the first. Without an answer of the
/// server the decision waits: two machines must not carry out different ones.
pub(super) fn hold_decision(id: ProposalId, context: &StageContext) -> Result<Option<String>, StepError> {
    let mut db = context.db()?;
    let Some(record) = proposals::find_proposal(&db, id)? else { return Ok(None) };
    match proposals::decision_state(&db, id)? {
        Some(State::Won) => return Ok(None),
        Some(State::Elsewhere) => return Ok(Some(decided_elsewhere(id))),
        Some(State::Waiting) | None if record.reopened.is_some() => return Ok(None),
        Some(State::Waiting) | None => {}
    }
    // From here on a killed worker leaves a decision that the next exchange finds.
    proposals::set_decision_state(&mut db, id, Some(State::Waiting))?;
    let mut report = ExchangeReport::default();
    let asked =
        context.ask_server(&mut context.db()?, |server| match claim(server, &mut db, &record, &mut report) {
            Err(ExchangeError::Server(error)) => Err(error),
            other => Ok(other),
        });
    match asked {
        Some(Ok(State::Elsewhere)) => Ok(Some(decided_elsewhere(id))),
        Some(Ok(_)) => {
            proposals::set_decision_state(&mut context.db()?, id, Some(State::Won))?;
            Ok(None)
        }
        Some(Err(ExchangeError::Here(error))) => Err(error),
        Some(Err(ExchangeError::Server(_))) | None => {
            Ok(Some(format!("{id} waits for the shared server: another machine may have decided first")))
        }
    }
}

fn decided_elsewhere(id: ProposalId) -> String {
    format!("{id} was decided on another machine first")
}

fn read_decision(text: &str) -> Option<SharedDecision> {
    serde_json::from_str(text).ok()
}

/// True if the server has this decision already. The time counts too: a machine that was set up from the backup of
/// another one has the same letters. A decision that cannot be read is of a later version, and another one.
fn is_same_decision(there: &str, own: &SharedDecision) -> bool {
    read_decision(there).is_some_and(|there| there.machine == own.machine && there.at == own.at)
}

/// Reads a proposal of another machine. Secrets are removed again (B-03).
fn read_proposal(text: &str) -> Option<Proposal> {
    let mut json: Value = serde_json::from_str(text).ok()?;
    redact_data(&mut json);
    serde_json::from_value::<Proposal>(json).ok().filter(|proposal| !proposal.text.trim().is_empty())
}
