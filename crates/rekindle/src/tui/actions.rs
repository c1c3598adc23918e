//! The actions of the review screen, the same as those of `rekindle approve` and `rekindle undo`.

use std::collections::HashMap;

use rekindle_core::base::decided_by::By;
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::Status;
use rekindle_core::vault::review::Id;
use rekindle_engine::jobs::context::World;
use rekindle_engine::pipeline::stages::REGISTRY;
use rekindle_engine::pipeline::stages::promote::{self, Reconsidered};
use rekindle_engine::platform::db::Db;
use rekindle_engine::platform::editor;
use rekindle_engine::review::page::{Asked, asked_today};
use rekindle_engine::review::patches::is_patch;
use rekindle_engine::review::proposals::{self, Decided, Standing, Verdict};

use super::card::{Card, Facts, Fate, Row, rows};
use crate::app::Context;
use crate::app::review::describe::{expires, said, section, told};
use crate::app::review::{read_page, reconsider, see_to};
use crate::error::Failure;

/// The outcome of a decision.
pub(crate) enum Answer {
    /// The proposal is decided, at this time.
    Decided { at: Timestamp, told: String },
    /// The proposal is not decided, for this reason; it may still wait.
    Not { is_open: bool, told: String },
}

/// The details of one proposal.
pub(crate) struct Known {
    pub(crate) rows: Vec<Row>,
    pub(crate) is_open: bool,
    /// The outcome, if the proposal is no longer open.
    pub(crate) told: Option<String>,
}

pub(crate) struct ReviewActions<'a> {
    context: &'a Context<'a>,
    world: World,
    same: HashMap<Id, Vec<Id>>,
}

impl<'a> ReviewActions<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self { context, world: context.world(), same: HashMap::new() }
    }

    /// Returns today's proposals, and the ones queued behind them.
    pub(crate) fn queue(&mut self) -> Result<(Vec<Card>, Vec<Card>), Failure> {
        let per_day = self.context.settings.config.review.per_day;
        let Asked { today, later } = asked_today(&self.db()?, per_day, &self.world.now())?;
        for (standing, same) in today.iter().chain(&later) {
            self.same.insert(standing.proposal.id, same.clone());
        }
        let cards = |list: &[(Standing, Vec<Id>)]| -> Vec<Card> {
            list.iter().map(|(standing, same)| self.card(standing, same.len())).collect()
        };
        Ok((cards(&today), cards(&later)))
    }

    fn card(&self, standing: &Standing, same: usize) -> Card {
        let proposal = &standing.proposal;
        Card {
            id: proposal.id,
            title: proposal.title.clone(),
            section: section(standing),
            same,
            expires: expires(self.context, standing),
            names_line: proposal.supersedes.is_some(),
            holds_in: self.holds_in(standing),
            fate: Fate::Open,
        }
    }

    /// The project in which a proposal would hold, if the person can choose it.
    fn holds_in(&self, standing: &Standing) -> Option<ProjectId> {
        standing.proposal.section()?;
        promote::holds_in(standing, &self.world.vault().ok()?).ok()?
    }

    fn db(&self) -> Result<Db, Failure> {
        Ok(Db::open(&self.context.places.database())?)
    }

    fn standing(&self, id: Id) -> Result<Standing, Failure> {
        let standing = proposals::standing(&self.db()?, id)?;
        standing.ok_or_else(|| Failure::new(format!("there is no proposal {id} any more")))
    }

    /// Reads the details of a proposal as they would be with `scope`.
    pub(crate) fn look(&self, id: Id, scope: Option<Scope>) -> Result<Known, Failure> {
        let standing = self.standing(id)?;
        let own = self.holds_in(&standing);
        let standing = Standing { scope: scope.or(standing.scope.clone()), ..standing };
        let is_open = standing.proposal.status.is_open();
        let facts = Facts {
            section: &section(&standing),
            reach: own.filter(|_| is_open).map(|own| match &standing.scope {
                Some(Scope::Global) => format!("Holds everywhere; w: in {own} only"),
                _ => format!("Holds in {own} only; w: everywhere"),
            }),
            same: self.same.get(&id).map_or(&[], Vec::as_slice),
            preview: promote::preview(&self.world, &standing, true).map_err(|error| error.to_string()),
            now: self.world.now().timestamp(),
            expire_days: i64::from(self.context.settings.config.review.expire_days),
            standing: &standing,
        };
        let told = (!is_open).then(|| told(self.context, &standing));
        Ok(Known { rows: rows(&facts), is_open, told })
    }

    /// Decides on a proposal and carries the decision out. An earlier decision elsewhere wins.
    pub(crate) fn decide(&self, id: Id, verdict: &Verdict, scope: Option<&Scope>) -> Result<Answer, Failure> {
        self.context.only_the_person("decide on proposals")?;
        self.context.vault_to_change()?;
        // A decision on the page was made first.
        read_page(self.context)?;
        let at = self.world.now().timestamp();
        let not = |is_open: bool, told: String| Ok(Answer::Not { is_open, told });
        match proposals::decide_in(&mut self.db()?, &REGISTRY, id, verdict, scope, By::Command, at)? {
            Decided::Now => {}
            Decided::Already(standing) | Decided::Ended(standing) => {
                return not(false, told(self.context, &standing));
            }
            Decided::Refused(why) => return not(true, format!("{id} was not decided: {why}")),
            Decided::Unknown => return not(false, format!("there is no proposal {id} any more")),
        }
        let busy = !see_to(self.context, &[id])?;
        let standing = self.standing(id)?;
        let status = standing.proposal.status;
        let Some(at) = standing.decided.filter(|_| !status.is_open()) else {
            let why = standing.note.unwrap_or_else(|| "it waits again".to_owned());
            return not(true, format!("{id} could not be promoted and waits: {why}"));
        };
        let told = match status {
            Status::Approved | Status::Edited if busy && !is_patch(&standing) => {
                format!("{id} is {}; the worker that is running sees to it", status.word())
            }
            Status::Approved | Status::Edited if !is_patch(&standing) => {
                format!("{id} is {}, but could not be written yet", status.word())
            }
            _ => said(self.context, &standing),
        };
        Ok(Answer::Decided { at, told })
    }

    /// Takes back a decision made at `at`. Returns the reason if a different one holds now.
    pub(crate) fn take_back(&self, id: Id, at: Timestamp) -> Result<Option<String>, Failure> {
        self.context.only_the_person("decide on proposals")?;
        Ok(match reconsider(self.context, id, Some(at))? {
            Reconsidered::Waiting => None,
            Reconsidered::Otherwise(standing) if standing.proposal.status.is_open() => {
                Some(format!("{id} waits already"))
            }
            Reconsidered::Otherwise(standing) => Some(told(self.context, &standing)),
            Reconsidered::Unknown => Some(format!("there is no proposal {id} any more")),
        })
    }

    /// The text that an approval would write.
    pub(crate) fn words(&self, id: Id) -> Result<String, Failure> {
        Ok(self.standing(id)?.text().to_owned())
    }

    /// Opens the text in the person's editor.
    pub(crate) fn edit(&self, id: Id, words: &str) -> Result<String, Failure> {
        editor::edit(&self.context.places.editing(), &id.to_string(), words).map_err(Failure::new)
    }
}
