//! Computes the embedding of a prompt on a separate thread, while the caller opens the index and looks up the
//! words. The caller waits for the result only when it needs it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::recall::query::RecallQuery;
use rekindle_embed::{CrossEncoder, QuantisedVector};

use super::relevance_gate::small_talk;
use crate::index::{Embedder, IndexSnapshot};

/// A prompt with its pending embedding.
#[derive(Debug)]
pub struct QueryEmbedding<'scope> {
    /// The prompt as a query.
    pub(super) query: RecallQuery,
    worker: Option<EmbeddingWorker<'scope>>,
    compared: Option<Arc<ComparedQuery>>,
    /// True if the cross-encoder will probably score the hits.
    is_read: bool,
}

/// The embedding of a prompt, compared with all documents.
#[derive(Debug)]
pub struct ComparedQuery {
    /// The embedding of the prompt.
    pub vector: QuantisedVector,
    /// The highest cosine of each document.
    pub cosines: Vec<f32>,
    /// The time of the forward pass.
    pub embedding: Duration,
}

#[derive(Debug)]
struct EmbeddingWorker<'scope> {
    embedder: Embedder<'scope>,
    memories: Sender<Arc<IndexSnapshot>>,
    compared: Receiver<ComparedQuery>,
    small_talk: ScopedJoinHandle<'scope, Option<f64>>,
}

impl<'scope> QueryEmbedding<'scope> {
    /// Starts the embedding. `also` is a rewrite of the prompt.
    pub fn new(
        scope: &'scope Scope<'scope, '_>,
        embedder: Option<Embedder<'scope>>,
        prompt: &'scope str,
        also: Option<&str>,
    ) -> Self {
        let mut query = RecallQuery::new(prompt, also);
        let embedded = std::mem::take(&mut query.embedded);
        let worker = embedder.filter(|_| !embedded.trim().is_empty()).map(|embedder| {
            let (memories, given) = channel();
            let (found, compared) = channel();
            let small_talk = scope.spawn(move || embed_query(embedder, prompt, &embedded, &given, &found));
            EmbeddingWorker { embedder, memories, compared, small_talk }
        });
        Self { query, worker, compared: None, is_read: false }
    }

    /// Warms the cross-encoder, too, while waiting for the embedding.
    pub(super) fn before_reading(self, is_read: bool) -> Self {
        Self { is_read, ..self }
    }

    /// Provides the snapshot to compare with. If its vectors are from another model, the embedding is
    /// discarded.
    pub(super) fn compare_with(&mut self, snapshot: &Arc<IndexSnapshot>) {
        let is_comparable = |worker: &EmbeddingWorker<'_>| snapshot.is_from_model(&worker.embedder.space());
        self.worker = self.worker.take().filter(is_comparable);
        if let Some(worker) = &self.worker {
            worker.memories.send(Arc::clone(snapshot)).ignore_failure("the thread has ended");
            snapshot.prefetch_vectors();
        }
    }

    /// The embedding and its cosines; `None` without a model. It waits for the result, and warms the model
    /// meanwhile.
    pub(super) fn embedding(&mut self) -> Option<Arc<ComparedQuery>> {
        if let (None, Some(worker)) = (&self.compared, &self.worker) {
            worker.embedder.prefetch();
            let compared = worker.compared.try_recv().or_else(|_| {
                if self.is_read {
                    CrossEncoder::builtin().prefetch_layers();
                }
                worker.compared.recv()
            });
            self.compared = compared.ok().map(Arc::new);
        }
        self.compared.clone()
    }

    /// The margin by which the prompt looks like small talk ([`small_talk::margin`]).
    pub(super) fn small_talk(&mut self) -> Option<f64> {
        self.worker.take()?.small_talk.join().ok()?
    }
}

fn embed_query(
    embedder: Embedder<'_>,
    prompt: &str,
    embedded: &str,
    memories: &Receiver<Arc<IndexSnapshot>>,
    found: &Sender<ComparedQuery>,
) -> Option<f64> {
    let start = Instant::now();
    let vector = embedder.query(embedded);
    let embedding = start.elapsed();
    let cosines = memories.recv().ok()?.cosines(&vector);
    found.send(ComparedQuery { vector: vector.clone(), cosines, embedding }).ok()?;
    small_talk::small_talk_margin(embedder, prompt, &vector)
}
