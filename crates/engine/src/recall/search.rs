//! From a prompt to the order of everything that was found: one forward pass of the model, one look at the index, and
//! then `core` decides.

use std::time::{Duration, Instant};

use rekindle_core::config::{self, Decay};
use rekindle_core::recall::adjust::Circumstances;
use rekindle_core::recall::collection::{Columns, Postings};
use rekindle_core::recall::fuse::{Asked, Fusion, Method};
use rekindle_core::recall::lexical;
use rekindle_core::recall::query::{Query, QueryTerm};
use rekindle_core::recall::rank::{Ranked, rank};
use rekindle_core::recall::when;
use rekindle_core::time::Zoned;
use rekindle_embed::{Quantised, quantise};

use crate::index::{Embedder, Snapshot};

/// What decides the order beside the prompt.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// How meaning and words are put together.
    pub method: Method,
    /// How age counts.
    pub decay: Decay,
    /// Whether the inbox ranks like everything else.
    pub include_inbox: bool,
    /// The project at hand.
    pub project: Option<&'a str>,
    /// Whether the memories of all projects may be seen.
    pub all_projects: bool,
    /// Whether what no longer holds may be seen.
    pub inactive: bool,
    /// Nothing that was written after this second takes part.
    pub until: Option<i64>,
    /// Now, in seconds since 1970.
    pub now: i64,
}

impl<'a> Rules<'a> {
    /// As the settings have them, for whoever asks in a project now.
    pub fn of(settings: &config::Recall, project: Option<&'a str>, now: &Zoned) -> Self {
        let method = match settings.fusion {
            config::Fusion::Default => Method::Measured,
            config::Fusion::Linear => Method::Linear {
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

/// What was found, and what it took.
#[derive(Debug)]
pub struct Found {
    /// The best, in order.
    pub ranked: Vec<Ranked>,
    /// The terms that were looked up, and how much each says here.
    pub terms: Vec<(QueryTerm, f32)>,
    /// Where each of them stands.
    pub postings: Vec<Postings>,
    /// What ranking saw.
    pub columns: Columns,
    /// The prompt as a vector; `None` if there was no model or no time.
    pub vector: Option<Quantised>,
    /// How close each document is; empty without a vector.
    pub cosines: Vec<f32>,
    /// The forward pass.
    pub embedding: Duration,
    /// Everything else.
    pub searching: Duration,
}

/// Finds the best `count` of the documents that `wanted` wants for a prompt.
///
/// The model works, and what it makes of the prompt is compared, while the words are looked up: on two cores the one hides
/// behind the other.
pub fn search(
    snapshot: &Snapshot,
    embedder: Option<Embedder<'_>>,
    prompt: &str,
    also: Option<&str>,
    rules: &Rules<'_>,
    wanted: &dyn Fn(u32) -> bool,
    count: usize,
) -> Found {
    let start = Instant::now();
    let mut query = Query::new(prompt, also);
    let embedded = std::mem::take(&mut query.embedded);
    let usable = embedder.filter(|embedder| !embedded.trim().is_empty() && snapshot.is_of(&embedder.space()));
    std::thread::scope(|scope| {
        let vector = usable.map(|embedder| {
            scope.spawn(move || {
                let vector = embedder.query(&embedded);
                let embedding = start.elapsed();
                let cosines = snapshot.cosines(&vector);
                (vector, cosines, embedding)
            })
        });
        query.keep_rarest(|term| 1.0 / (1.0 + snapshot.frequency(term) as f32));
        let mut columns =
            snapshot.columns(|project| project.is_none() || rules.all_projects || project == rules.project);
        hide(&mut columns, rules);
        let postings: Vec<Postings> = query.terms.iter().map(|term| snapshot.postings(term.hash)).collect();
        let lexical = lexical::score(&columns, &postings);
        let compared = vector.and_then(|vector| vector.join().ok());
        let (vector, cosines, embedding) = compared
            .map_or((None, Vec::new(), Duration::ZERO), |(vector, cosines, embedding)| {
                (Some(vector), cosines, embedding)
            });
        let identifiers: Vec<bool> = query.terms.iter().map(|term| term.identifier).collect();
        let times = when::spans(&query.text, rules.now);
        let asked = Asked { postings: &postings, identifiers: &identifiers, times: &times };
        let mut fusion = Fusion::new(rules.method, &columns, &lexical, &cosines, &asked);
        if let Some(vector) = &vector {
            let candidates = fusion.worth_a_look(wanted);
            let close = |number: &u32, query: &Quantised| (*number, snapshot.look(*number, query));
            fusion.look(candidates.iter().map(|number| close(number, vector)));
            let lenders = fusion.lenders();
            if let Some(leaning) = lean(snapshot, vector, &lenders, fusion.leaning(&lenders)) {
                fusion.look(candidates.iter().map(|number| close(number, &leaning)));
            }
        }
        let circumstances =
            Circumstances { now: rules.now, decay: rules.decay, include_inbox: rules.include_inbox };
        let here = snapshot.project_members(rules.project);
        let ranked =
            rank(&columns, &fusion, &circumstances, |document| here.contains(document), wanted, count);
        let terms = query.terms.into_iter().zip(lexical.idf).collect();
        Found { ranked, terms, postings, columns, vector, cosines, embedding, searching: start.elapsed() }
    })
}

/// What no longer holds, or was written too late, is not there.
fn hide(columns: &mut Columns, rules: &Rules<'_>) {
    for at in 0..columns.len() {
        let holds = rules.inactive || columns.flags[at].is_active();
        let in_time = rules.until.is_none_or(|until| columns.created[at] <= until);
        columns.visible[at] &= holds && in_time;
    }
}

/// The question, leaning towards the best that was found: what they say in other words finds more of the same.
fn lean(snapshot: &Snapshot, question: &Quantised, lenders: &[u32], how_far: f32) -> Option<Quantised> {
    let lent: Vec<Quantised> =
        lenders.iter().filter_map(|number| Some(snapshot.best_window(*number, question)?.1)).collect();
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

fn floats(vector: &Quantised) -> Vec<f32> {
    vector.steps.iter().map(|step| f32::from(*step) * vector.scale).collect()
}
