//! Searches and ranks: one forward pass of the model, one pass over the index, and then `core` ranks the
//! results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rekindle_core::base::scope::is_project_visible_in;
use rekindle_core::base::time::Zoned;
use rekindle_core::config::{self, DecayMode};
use rekindle_core::recall::collection::{DocumentColumns, TermPostings};
use rekindle_core::recall::fusion::{FusionInput, FusionMethod, FusionQuery};
use rekindle_core::recall::lexical;
use rekindle_core::recall::query::QueryTerm;
use rekindle_core::recall::rank::{RankedDocument, rank};
use rekindle_core::recall::score_factors::FactorContext;
use rekindle_core::recall::time_expressions;
use rekindle_embed::{QuantisedVector, quantise};

use super::query_embedding::{ComparedQuery, QueryEmbedding};
use crate::index::IndexSnapshot;

/// The rules of a search besides the prompt.
#[derive(Clone, Copy, Debug)]
pub struct SearchRules<'a> {
    /// The method of fusion.
    pub method: FusionMethod,
    /// The rule by which age counts.
    pub decay: DecayMode,
    /// True if hits in the inbox have no penalty.
    pub include_inbox: bool,
    /// The current project, if there is one.
    pub project: Option<&'a str>,
    /// True if the memories of all projects are visible.
    pub all_projects: bool,
    /// True if inactive documents are visible.
    pub inactive: bool,
    /// The time in seconds since 1970 after which documents are excluded.
    pub until: Option<i64>,
    /// The current time in seconds since 1970.
    pub now: i64,
}

impl<'a> SearchRules<'a> {
    /// The rules from the settings, for a query in a project at `now`.
    pub fn from_settings(settings: &config::RecallSettings, project: Option<&'a str>, now: &Zoned) -> Self {
        let method = match settings.fusion {
            config::FusionMode::Default => FusionMethod::Measured,
            config::FusionMode::Linear => FusionMethod::Linear {
                similarity: settings.linear.similarity as f32,
                keyword: settings.linear.keyword as f32,
                cap: u32::try_from(settings.linear.keyword_cap).ok().filter(|cap| *cap > 0),
            },
        };
        Self {
            method,
            decay: settings.decay,
            include_inbox: false,
            project,
            all_projects: false,
            inactive: false,
            until: None,
            now: now.timestamp().as_second(),
        }
    }
}

/// The results of a search, with its costs.
#[derive(Debug)]
pub struct SearchResults {
    /// The best documents, in order.
    pub ranked: Vec<RankedDocument>,
    /// The terms of the query, each with its inverse document frequency.
    pub terms: Vec<(QueryTerm, f32)>,
    /// The postings of each term.
    pub postings: Vec<TermPostings>,
    /// The columns that ranking read.
    pub columns: DocumentColumns,
    /// The embedding of the prompt with its cosines; `None` without a model.
    pub compared: Option<Arc<ComparedQuery>>,
    /// The total time of the search, including the wait for the model.
    pub searching: Duration,
}

impl SearchResults {
    /// The embedding of the prompt.
    pub fn vector(&self) -> Option<&QuantisedVector> {
        self.compared.as_ref().map(|compared| &compared.vector)
    }

    /// The highest cosine of each document; empty without an embedding.
    pub fn cosines(&self) -> &[f32] {
        self.compared.as_ref().map_or(&[], |compared| &compared.cosines)
    }
}

/// Finds the best `count` documents that `wanted` accepts for a prompt.
///
/// The lexical search runs while the model computes the embedding, which hides its time on two cores.
pub fn search(
    snapshot: &Arc<IndexSnapshot>,
    query_embedding: &mut QueryEmbedding<'_>,
    rules: &SearchRules<'_>,
    wanted: &dyn Fn(u32) -> bool,
    count: usize,
) -> SearchResults {
    let start = Instant::now();
    query_embedding.compare_with(snapshot);
    query_embedding.query.retain_rarest(|term| 1.0 / (1.0 + snapshot.frequency(term) as f32));
    let mut columns =
        snapshot.columns(|project| rules.all_projects || is_project_visible_in(project, rules.project));
    hide_invisible(&mut columns, rules);
    let terms = &query_embedding.query.terms;
    let postings: Vec<TermPostings> = terms.iter().map(|term| snapshot.postings(term.hash)).collect();
    let lexical = lexical::score(&columns, &postings);
    let identifiers: Vec<bool> = terms.iter().map(|term| term.identifier).collect();
    let times = time_expressions::spans(&query_embedding.query.text, rules.now);
    let compared = query_embedding.embedding();
    let cosines: &[f32] = compared.as_ref().map_or(&[], |compared| &compared.cosines);
    let asked = FusionQuery { postings: &postings, identifiers: &identifiers, times: &times };
    let mut fusion = FusionInput::new(rules.method, &columns, &lexical, cosines, &asked);
    if let Some(ComparedQuery { vector, .. }) = compared.as_deref() {
        let picked = snapshot.pick_for_rescoring(&fusion.rescoring_candidates(wanted), vector.steps.len());
        fusion.rescore(picked.close(vector));
        let feedback_docs = fusion.feedback_docs();
        if let Some(moved) =
            feedback_query(snapshot, vector, &feedback_docs, fusion.feedback_weight(&feedback_docs))
        {
            fusion.rescore(picked.close(&moved));
        }
    }
    let circumstances =
        FactorContext { now: rules.now, decay: rules.decay, include_inbox: rules.include_inbox };
    let here = snapshot.project_members(rules.project);
    let ranked = rank(&columns, &fusion, &circumstances, |document| here.contains(document), wanted, count);
    let terms = query_embedding.query.terms.iter().cloned().zip(lexical.idf).collect();
    SearchResults { ranked, terms, postings, columns, compared, searching: start.elapsed() }
}

/// Hides inactive documents and those written too late.
fn hide_invisible(columns: &mut DocumentColumns, rules: &SearchRules<'_>) {
    for at in 0..columns.len() {
        let holds = rules.inactive || columns.flags[at].is_active();
        let in_time = rules.until.is_none_or(|until| columns.created[at] <= until);
        columns.visible[at] &= holds && in_time;
    }
}

/// Moves the query towards the best documents (pseudo-relevance feedback), to find more documents with their
/// words.
fn feedback_query(
    snapshot: &IndexSnapshot,
    question: &QuantisedVector,
    feedback_docs: &[u32],
    how_far: f32,
) -> Option<QuantisedVector> {
    let lent: Vec<QuantisedVector> =
        feedback_docs.iter().filter_map(|number| Some(snapshot.best_window(*number, question)?.1)).collect();
    if lent.is_empty() || how_far <= 0.0 {
        return None;
    }
    let mut sum = floats(question);
    for vector in &lent {
        for (sum, value) in sum.iter_mut().zip(floats(vector)) {
            *sum += how_far / lent.len() as f32 * value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter_mut().for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    Some(quantise(&sum))
}

fn floats(vector: &QuantisedVector) -> Vec<f32> {
    vector.steps.iter().map(|step| f32::from(*step) * vector.scale).collect()
}
