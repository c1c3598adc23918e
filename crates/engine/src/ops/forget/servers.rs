//! Erases a text from the servers that machines share, also from those of earlier settings.
//!
//! A server that is away does not keep the text here: everything else is erased, and the request stays until the server
//! has answered. The stage `share` tries again whenever it reaches one.

use std::path::PathBuf;

use rekindle_core::vault::erase::ErasureTarget;

use super::PendingForget;
use super::erasable_store::ErasableStore;
use crate::jobs::shared::redis::RedisServer;
use crate::jobs::shared::servers::{self, ServerState};
use crate::platform::db::{self, Database};
use crate::vault::Error;

/// The servers that have, or had, text of ours.
pub(super) struct ErasableServers {
    pub(super) database: PathBuf,
}

impl ErasableServers {
    fn known(&self) -> Result<Vec<ServerState>, Error> {
        let failed = |error: db::Error| Error::io("read", &self.database)(std::io::Error::other(error));
        let db = Database::open_existing(&self.database).map_err(failed)?;
        db.map_or_else(|| Ok(Vec::new()), |db| servers::known(&db).map_err(failed))
    }
}

impl ErasableStore for ErasableServers {
    fn name(&self) -> &'static str {
        "servers"
    }

    fn erase(&self, _going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let mut erased = 0;
        for known in self.known()? {
            // One that cannot be reached is named by `files_with`.
            let server = RedisServer::open(&known.settings);
            erased += server.and_then(|server| server.erase(target)).unwrap_or(0);
        }
        Ok(erased)
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        let may_hold = |known: &ServerState| {
            RedisServer::open(&known.settings).and_then(|server| server.holds(target)).unwrap_or(true)
        };
        let holding = self.known()?.into_iter().filter(may_hold);
        Ok(holding.map(|known| PathBuf::from(known.settings.url)).collect())
    }
}
