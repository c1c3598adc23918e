//! The running server, from start to idle end.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::time::Timestamp;
use rekindle_engine::ops::doctor::CheckReport;
use rekindle_engine::platform::clock;
use rekindle_engine::vault::ScanCache;

use super::access::PageKeys;
use super::request::PageNotice;
use super::routes;
use crate::error::CliError;
use crate::options::GlobalOptions;

/// The number of requests that work at the same time.
const MAX_CONCURRENT_REQUESTS: usize = 4;
/// The time limit for unfinished work after Ctrl-C. Writes are atomic, so an interruption is safe.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// The most messages that wait for their page.
const MAX_NOTICES: usize = 32;

/// The state of a running server.
pub(super) struct PageServer {
    pub(super) global: GlobalOptions,
    /// The folder it was started in.
    pub(super) folder: PathBuf,
    /// The only accepted name in `Host`.
    pub(super) host: String,
    pub(super) read_only: bool,
    keys: PageKeys,
    last_request: Mutex<Instant>,
    notices: Mutex<Vec<(u64, PageNotice)>>,
    next_notice: AtomicU64,
    used_tickets: Mutex<Vec<String>>,
    /// The results of the last call of every hook.
    probe: Mutex<Option<(Timestamp, Vec<CheckReport>)>>,
    /// The notes that earlier pages listed. Each page compares them with the files.
    pub(super) scans: ScanCache,
}

/// Opens a random port that only this machine can reach.
pub(super) fn listen() -> Result<TcpListener, CliError> {
    let cannot = |error: std::io::Error| {
        CliError::new(format!("cannot open a port on 127.0.0.1: {error}"))
            .hint("a sandbox or a firewall may forbid it; every command works without the page")
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    Ok(listener)
}

impl PageServer {
    pub(super) fn new(
        global: &GlobalOptions,
        folder: &Path,
        listener: &TcpListener,
        keys: PageKeys,
        read_only: bool,
    ) -> Result<Arc<Self>, CliError> {
        Ok(Arc::new(Self {
            global: global.clone(),
            folder: folder.to_owned(),
            host: listener.local_addr()?.to_string(),
            read_only,
            keys,
            last_request: Mutex::new(Instant::now()),
            notices: Mutex::default(),
            next_notice: AtomicU64::new(1),
            used_tickets: Mutex::default(),
            probe: Mutex::default(),
            scans: ScanCache::default(),
        }))
    }

    pub(super) fn keys(&self) -> &PageKeys {
        &self.keys
    }

    /// The address that opens the page.
    pub(super) fn address(&self) -> String {
        self.keys.address(&self.host)
    }

    /// Notes that a page is open.
    pub(super) fn note_request(&self) {
        *self.last_request.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle_time(&self) -> Duration {
        self.last_request.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Accepts a ticket, once.
    pub(super) fn use_ticket(&self, ticket: &str) -> bool {
        let now = clock::now(rekindle_core::base::time::TimeZone::UTC).timestamp();
        let Some(nonce) = self.keys.ticket_nonce(ticket, now) else { return false };
        let mut used = self.used_tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !used.contains(&nonce);
        if is_new {
            used.push(nonce);
        }
        is_new
    }

    /// Keeps the results of calling every hook.
    pub(super) fn keep_probe(&self, at: Timestamp, reports: Vec<CheckReport>) {
        *self.probe.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, reports));
    }

    /// The results of the last call of every hook.
    pub(super) fn last_probe(&self) -> Option<(Timestamp, Vec<CheckReport>)> {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a message for the next page and returns its number.
    pub(super) fn keep_notice(&self, notice: PageNotice) -> u64 {
        let number = self.next_notice.fetch_add(1, Ordering::Relaxed);
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.len() >= MAX_NOTICES {
            notices.remove(0);
        }
        notices.push((number, notice));
        number
    }

    /// Takes a message out; it is shown once.
    pub(super) fn take_notice(&self, number: u64) -> Option<PageNotice> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let at = notices.iter().position(|(known, _)| *known == number)?;
        Some(notices.remove(at).1)
    }
}

/// Serves requests until Ctrl-C, or until no page was open for `idle`.
pub(super) fn serve(listener: TcpListener, server: &Arc<PageServer>, idle: Duration) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_CONCURRENT_REQUESTS)
        .build()
        .map_err(CliError::new)?;
    let done = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let routes = routes::router(Arc::clone(server));
        tokio::select! {
            served = axum::serve(listener, routes) => served.map_err(CliError::new),
            stopped = stop_signal() => stopped,
            () = idle_end(server, idle) => Ok(()),
        }
    });
    runtime.shutdown_timeout(SHUTDOWN_GRACE);
    done
}

/// Waits until no page was open for `idle`.
async fn idle_end(server: &PageServer, idle: Duration) {
    loop {
        let left = idle.saturating_sub(server.idle_time());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

/// Waits for Ctrl-C, or for the terminal or the system to end this process.
#[cfg(unix)]
async fn stop_signal() -> Result<(), CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.map_err(CliError::new),
        _ = hangup.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn stop_signal() -> Result<(), CliError> {
    tokio::signal::ctrl_c().await.map_err(CliError::new)
}
