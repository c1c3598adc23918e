//! `rekindle web`: a local page to browse, search, review and understand memory (B-11, REV-04, O11-05).
//!
//! - [`access`]: the secrets of one run, and what a request must prove
//! - [`request`]: one request: its fields, and the answer to it
//! - [`layout`]: the frame around every page, and its parts
//! - [`routes`]: the addresses, and the guard before them
//! - [`server`]: the running server, from start to idle end
//! - `today`, `search`, …: the pages, one file each
//!
//! The pages call the use cases in `app`, one blocking task per request. Settings are read for each request, so that
//! the page shows what holds now. No other command uses this module.

mod access;
mod assets;
mod inbox;
mod insight;
mod layout;
mod map;
mod memory;
mod parts;
mod patches;
mod plot;
mod request;
mod review;
mod routes;
mod search;
mod server;
mod sessions;
mod setting;
mod settings;
mod today;
mod undo;

use clap::Args;
use rekindle_engine::platform::background;
use rekindle_engine::platform::page_server::{PageServerLock, PageServerRecord, published_record};

use self::access::PageKeys;
use self::server::{PageServer, serve};
use crate::app::CommandContext;
use crate::app::context::require_person;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::Printer;

/// The number of looks for the record of a server that is just starting, 50 ms apart.
const RECORD_ATTEMPTS: usize = 40;

#[derive(Args)]
#[command(after_help = "\
Opens a page in your browser that shows what Rekindle remembers, why a search finds what it finds, what waits for you
and what was learnt. You can edit, move and forget memories and decide on proposals, as with the commands.

The page is served to this machine only. The first line of the output is its address with a token; whoever has the
token can do what you can. It ends with Ctrl-C, or ten minutes after the last page was closed. A second start opens the
page of the first.

Examples:
  rekindle web
  rekindle web --no-open      # print the address, and open nothing
  rekindle web --read-only    # look, and change nothing")]
pub(crate) struct WebArgs {
    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,
    /// Show everything, and change nothing
    #[arg(long)]
    read_only: bool,
    /// End after this many minutes without an open page
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    idle_minutes: f64,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: Option<f64> = text.parse().ok();
    minutes
        .filter(|minutes| (0.01..=1440.0).contains(minutes))
        .ok_or_else(|| "a number of minutes, from 0.01 to 1440".to_owned())
}

impl WebArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        // The page shows every project and decides for the person, so an agent gets neither it nor its token
        //
        require_person("open the page of your memories")?;
        let context = CommandContext::new(global, out)?;
        context.vault()?;
        let cannot = |error| {
            CliError::new(format!("cannot use the lock of the page: {error}"))
                .hint("check that the state folder can be written to (`rekindle doctor`)")
        };
        let Some(lock) = PageServerLock::acquire(&context.places).map_err(cannot)? else {
            return self.show_running(&context);
        };
        let (listener, keys) = (server::listen()?, PageKeys::random()?);
        let server = PageServer::new(global, &context.cwd, &listener, keys, self.read_only)?;
        let record = PageServerRecord { address: server.address(), read_only: self.read_only };
        lock.publish(&record).map_err(cannot)?;
        out.line(&record.address)?;
        out.note(if self.read_only {
            "Serving this page read-only. Ctrl-C ends it."
        } else {
            "Ctrl-C ends it."
        });
        if !self.no_open {
            open(out, &server.keys().ticket_address(&record.address, context.now.timestamp())?);
        }
        let done = serve(listener, &server, std::time::Duration::from_secs_f64(self.idle_minutes * 60.0));
        drop(lock);
        done
    }

    /// Shows the page of the server that runs already.
    fn show_running(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let mut record = published_record(&context.places);
        for _ in 0..RECORD_ATTEMPTS {
            if record.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            record = published_record(&context.places);
        }
        let record = record.ok_or_else(|| {
            CliError::new("another `rekindle web` is running, but its address is not known")
                .hint("end it with Ctrl-C in its terminal, then try again")
        })?;
        context.out.line(&record.address)?;
        context.out.note(match (record.read_only, self.read_only) {
            (true, false) => {
                "The page is already open, read-only; end it with Ctrl-C in its terminal to change anything."
            }
            (false, true) => "The page is already open, and it is not read-only.",
            _ => "The page is already open.",
        });
        if !self.no_open {
            let address = access::ticket_for(&record.address, context.now.timestamp())?;
            open(context.out, &address.unwrap_or(record.address));
        }
        Ok(())
    }
}

fn open(out: &Printer, address: &str) {
    if let Err(error) = background::open_in_browser(address) {
        out.note(format!("No browser could be started ({error}). Open the address above yourself."));
    }
}
