//! One file per command.

mod approve;
pub(crate) mod ask;
mod backfill;
mod bench;
mod body;
mod completions;
mod config;
mod cost;
mod daily;
mod doctor;
mod edit;
mod eval;
pub(crate) mod evolve;
mod explain;
pub(crate) mod feedback;
pub(crate) mod forget;
mod friction;
mod hook;
mod ideas;
mod identity;
mod inbox;
mod init;
mod inspect;
mod install;
mod list;
mod llm;
mod log;
mod mcp;
mod memory;
mod model;
mod named;
pub(crate) mod note;
mod project;
pub(crate) mod recall;
mod redact;
mod reflect;
mod reindex;
mod reject;
mod retry;
pub(crate) mod review;
pub(crate) mod review_apply;
pub(crate) mod review_decide;
mod review_reports;
pub(crate) mod review_show;
mod run;
mod runs;
pub(crate) mod save;
mod send;
mod show;
mod slog;
mod status;
mod surfaces;
mod undo;
mod uninstall;
mod worker;

pub(crate) use self::approve::Approve;
pub(crate) use self::ask::Ask;
pub(crate) use self::backfill::Backfill;
pub(crate) use self::bench::Bench;
pub(crate) use self::completions::Completions;
pub(crate) use self::config::Config;
pub(crate) use self::cost::Cost;
pub(crate) use self::daily::Daily;
pub(crate) use self::doctor::Doctor;
pub(crate) use self::edit::Edit;
pub(crate) use self::eval::Eval;
pub(crate) use self::evolve::Evolve;
pub(crate) use self::feedback::Feedback;
pub(crate) use self::forget::Forget;
pub(crate) use self::friction::Friction;
pub(crate) use self::hook::Hook;
pub(crate) use self::ideas::Ideas;
pub(crate) use self::identity::Identity;
pub(crate) use self::inbox::Inbox;
pub(crate) use self::init::Init;
pub(crate) use self::inspect::Inspect;
pub(crate) use self::install::Install;
pub(crate) use self::list::List;
pub(crate) use self::llm::Llm;
pub(crate) use self::log::Log;
pub(crate) use self::mcp::Mcp;
pub(crate) use self::memory::Memory;
pub(crate) use self::model::Model;
pub(crate) use self::note::Note;
pub(crate) use self::project::Project;
pub(crate) use self::recall::Recall;
pub(crate) use self::redact::Redact;
pub(crate) use self::reflect::Reflect;
pub(crate) use self::reindex::Reindex;
pub(crate) use self::reject::Reject;
pub(crate) use self::retry::Retry;
pub(crate) use self::review::Review;
pub(crate) use self::run::Run;
pub(crate) use self::runs::Runs;
pub(crate) use self::save::Save;
pub(crate) use self::send::Send;
pub(crate) use self::show::Show;
pub(crate) use self::slog::Slog;
pub(crate) use self::status::Status;
pub(crate) use self::undo::Undo;
pub(crate) use self::uninstall::Uninstall;
pub(crate) use self::worker::Worker;

use crate::cli::{Cli, Command};
use crate::compose::Context;
use crate::error::Failure;
use crate::output::Printer;

/// Runs what was asked for.
pub(crate) fn run(cli: Cli, out: &Printer) -> Result<(), Failure> {
    // These work anywhere, also where nothing is set up or the settings are broken.
    let command = match cli.command {
        Command::Init(init) => return init.run(&cli.global, out),
        Command::Completions(completions) => return completions.run(out),
        Command::Redact(redact) => return redact.run(out),
        Command::Bench(bench) => return bench.run(out),
        Command::Recall(recall) => return recall.run(&cli.global, out),
        Command::Model(model) => return model.run(&cli.global, out),
        Command::Config(config) => return config.run(&cli.global, out),
        Command::Doctor(doctor) => return doctor.run(&cli.global, out),
        Command::Install(install) => return install.run(&cli.global, out),
        Command::Uninstall(uninstall) => return uninstall.run(&cli.global, out),
        Command::Mcp(mcp) => return mcp.run(&cli.global),
        Command::Status(status) if status.is_line() => return status.line(&cli.global, out),
        Command::Hook(hook) => {
            hook.run(&cli.global);
            return Ok(());
        }
        command => command,
    };
    let context = Context::new(&cli.global, out)?;
    let done = run_in(&context, command);
    context.settle(done.is_ok());
    done
}

fn run_in(context: &Context<'_>, command: Command) -> Result<(), Failure> {
    match command {
        Command::Save(save) => save.run(context),
        Command::Evolve(evolve) => evolve.run(context),
        Command::Show(show) => show.run(context),
        Command::List(list) => list.run(context),
        Command::Forget(forget) => forget.run(context),
        Command::Undo(undo) => undo.run(context),
        Command::Log(log) => log.run(context),
        Command::Review(review) => review.run(context),
        Command::Approve(approve) => approve.run(context),
        Command::Reject(reject) => reject.run(context),
        Command::Edit(edit) => edit.run(context),
        Command::Memory(memory) => memory.run(context),
        Command::Slog(slog) => slog.run(context),
        Command::Ideas(ideas) => ideas.run(context),
        Command::Inbox(inbox) => inbox.run(context),
        Command::Daily(daily) => daily.run(context),
        Command::Identity(identity) => identity.run(context),
        Command::Project(project) => project.run(context),
        Command::Status(status) => status.run(context),
        Command::Inspect(inspect) => inspect.run(context),
        Command::Feedback(feedback) => feedback.run(context),
        Command::Reindex(reindex) => reindex.run(context),
        Command::Backfill(backfill) => backfill.run(context),
        Command::Eval(eval) => eval.run(context),
        Command::Cost(cost) => cost.run(context),
        Command::Ask(ask) => ask.run(context),
        Command::Llm(llm) => llm.run(context),
        Command::Note(note) => note.run(context),
        Command::Reflect(reflect) => reflect.run(context),
        Command::Friction(friction) => friction.run(context),
        Command::Retry(retry) => retry.run(context),
        Command::Run(run) => run.run(context),
        Command::Runs(runs) => runs.run(context),
        Command::Send(send) => send.run(context),
        Command::Worker(worker) => worker.run(context),
        Command::Init(_)
        | Command::Completions(_)
        | Command::Redact(_)
        | Command::Model(_)
        | Command::Bench(_)
        | Command::Recall(_)
        | Command::Config(_)
        | Command::Hook(_)
        | Command::Mcp(_)
        | Command::Install(_)
        | Command::Uninstall(_)
        | Command::Doctor(_) => Ok(()),
    }
}
