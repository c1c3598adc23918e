//! The actions of the review screen, the same as those of `rekindle approve` and `rekindle undo`.

use std::collections::HashMap;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::jobs::context::StageContext;
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use rekindle_engine::pipeline::stages::promote::{self, ReconsiderOutcome};
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::editor;
use rekindle_engine::review::page::{ReviewQueue, asked_today};
use rekindle_engine::review::patches::is_patch;
use rekindle_engine::review::proposals::{self, DecisionOutcome, ProposalRecord, ProposalVerdict};

use super::card::{CardFacts, CardRow, CardStatus, ProposalCard, rows};
use crate::app::CommandContext;
use crate::app::review::describe::{
    describe_outcome, expires, outcome_with_author, section, waits_for_server,
};
use crate::app::review::{read_page, run_promotions, undo_decision};
use crate::error::CliError;

/// The outcome of a decision.
pub(crate) enum ActionResult {
    /// The proposal is decided, at this time.
    Decided { at: Timestamp, message: String },
    /// The proposal is not decided, for this reason; it may still wait.
    Not { is_open: bool, message: String },
}

/// The details of one proposal.
pub(crate) struct ProposalDetail {
    pub(crate) rows: Vec<CardRow>,
    pub(crate) is_open: bool,
    /// The outcome, if the proposal is no longer open.
    pub(crate) outcome: Option<String>,
}

pub(crate) struct ReviewActions<'a> {
    context: &'a CommandContext<'a>,
    stage_context: StageContext,
    duplicates: HashMap<ProposalId, Vec<ProposalId>>,
}

impl<'a> ReviewActions<'a> {
    pub(crate) fn new(context: &'a CommandContext<'a>) -> Self {
        Self { context, stage_context: context.stage_context(), duplicates: HashMap::new() }
    }

    /// Returns today's proposals, and the ones queued behind them.
    pub(crate) fn queue(&mut self) -> Result<(Vec<ProposalCard>, Vec<ProposalCard>), CliError> {
        let per_day = self.context.settings.config.review.per_day;
        let ReviewQueue { today, later } = asked_today(&self.db()?, per_day, &self.stage_context.now())?;
        for (record, same) in today.iter().chain(&later) {
            self.duplicates.insert(record.proposal.id, same.clone());
        }
        let cards = |list: &[(ProposalRecord, Vec<ProposalId>)]| -> Vec<ProposalCard> {
            list.iter().map(|(record, same)| self.card(record, same.len())).collect()
        };
        Ok((cards(&today), cards(&later)))
    }

    fn card(&self, record: &ProposalRecord, same: usize) -> ProposalCard {
        let proposal = &record.proposal;
        ProposalCard {
            id: proposal.id,
            title: proposal.title.clone(),
            section: section(record),
            duplicates: same,
            expires: expires(self.context, record),
            names_line: proposal.supersedes.is_some(),
            holds_in: self.holds_in(record),
            fate: CardStatus::Open,
        }
    }

    /// The project in which a proposal would hold, if the person can choose it.
    fn holds_in(&self, record: &ProposalRecord) -> Option<ProjectId> {
        record.proposal.section()?;
        promote::target_project(record, &self.stage_context.vault().ok()?).ok()?
    }

    fn db(&self) -> Result<Database, CliError> {
        Ok(Database::open(&self.context.places.database())?)
    }

    fn find_proposal(&self, id: ProposalId) -> Result<ProposalRecord, CliError> {
        let record = proposals::find_proposal(&self.db()?, id)?;
        record.ok_or_else(|| CliError::new(format!("proposal {id} no longer exists")))
    }

    /// Reads the details of a proposal as they would be with `scope`.
    pub(crate) fn proposal_detail(
        &self,
        id: ProposalId,
        scope: Option<Scope>,
    ) -> Result<ProposalDetail, CliError> {
        let record = self.find_proposal(id)?;
        let own = self.holds_in(&record);
        let record = ProposalRecord { scope: scope.or(record.scope.clone()), ..record };
        let is_open = record.proposal.status.is_open();
        let facts = CardFacts {
            section: &section(&record),
            reach: own.filter(|_| is_open).map(|own| match &record.scope {
                Some(Scope::Global) => format!("Applies everywhere; w: to {own} only"),
                _ => format!("Applies to {own} only; w: everywhere"),
            }),
            duplicates: self.duplicates.get(&id).map_or(&[], Vec::as_slice),
            preview: promote::preview_approval(&self.stage_context, &record, true)
                .map_err(|error| error.to_string()),
            now: self.stage_context.now().timestamp(),
            expire_days: i64::from(self.context.settings.config.review.expire_days),
            record: &record,
        };
        let message = (!is_open).then(|| outcome_with_author(self.context, &record));
        Ok(ProposalDetail { rows: rows(&facts), is_open, outcome: message })
    }

    /// Decides on a proposal and carries the decision out. An earlier decision elsewhere wins.
    pub(crate) fn decide(
        &self,
        id: ProposalId,
        verdict: &ProposalVerdict,
        scope: Option<&Scope>,
    ) -> Result<ActionResult, CliError> {
        self.context.require_person("decide on proposals")?;
        self.context.writable_vault()?;
        // A decision on the page was made first.
        read_page(self.context)?;
        let at = self.stage_context.now().timestamp();
        let not = |is_open: bool, message: String| Ok(ActionResult::Not { is_open, message });
        match proposals::decide_with_scope(
            &mut self.db()?,
            &STAGE_REGISTRY,
            id,
            verdict,
            scope,
            DecidedBy::Command,
            at,
        )? {
            DecisionOutcome::Now => {}
            DecisionOutcome::Already(record) | DecisionOutcome::Ended(record) => {
                return not(false, outcome_with_author(self.context, &record));
            }
            DecisionOutcome::Refused(why) => return not(true, format!("{id} was not decided: {why}")),
            DecisionOutcome::Unknown => return not(false, format!("proposal {id} no longer exists")),
        }
        let busy = !run_promotions(self.context, &[id])?;
        let record = self.find_proposal(id)?;
        let status = record.proposal.status;
        let Some(at) = record.decided.filter(|_| !status.is_open()) else {
            let why = record.note.unwrap_or_else(|| "it is pending again".to_owned());
            return not(true, format!("{id} could not be promoted and is pending again: {why}"));
        };
        let message = match status {
            ProposalStatus::Approved | ProposalStatus::Edited if busy && !is_patch(&record) => {
                format!("{id} is {}; a running worker will write it", status.as_str())
            }
            ProposalStatus::Approved | ProposalStatus::Edited
                if !is_patch(&record) && !waits_for_server(self.context, id) =>
            {
                format!("{id} is {}, but could not be written yet", status.as_str())
            }
            _ => describe_outcome(self.context, &record),
        };
        Ok(ActionResult::Decided { at, message })
    }

    /// Takes back a decision made at `at`. Returns the reason if a different one holds now.
    pub(crate) fn undo_decision(&self, id: ProposalId, at: Timestamp) -> Result<Option<String>, CliError> {
        self.context.require_person("decide on proposals")?;
        Ok(match undo_decision(self.context, id, Some(at))? {
            ReconsiderOutcome::Waiting => None,
            ReconsiderOutcome::Otherwise(record) if record.proposal.status.is_open() => {
                Some(format!("{id} is already pending"))
            }
            ReconsiderOutcome::Otherwise(record) => Some(outcome_with_author(self.context, &record)),
            ReconsiderOutcome::Unknown => Some(format!("proposal {id} no longer exists")),
        })
    }

    /// The text that an approval would write.
    pub(crate) fn proposal_text(&self, id: ProposalId) -> Result<String, CliError> {
        Ok(self.find_proposal(id)?.text().to_owned())
    }

    /// Opens the text in the person's editor.
    pub(crate) fn edit(&self, id: ProposalId, words: &str) -> Result<String, CliError> {
        editor::edit(&self.context.places.editing_folder(), &id.to_string(), words).map_err(CliError::new)
    }
}
