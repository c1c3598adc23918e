//! `rekindle ask`: answers a question with citations.

use clap::Args;

use super::text_argument;
use crate::app::CommandContext;
use crate::app::ask::answer_question;
use crate::error::CliError;
use crate::output::TextStyle;

#[derive(Args)]
#[command(after_help = "\
Searches memories, MEMORY.md, observations, daily logs, your other notes and messages of your sessions, and answers with
citations: the sentence that says it, then the passages, best first. A language model (`rekindle llm`) can write the answer
instead; every sentence that the passages do not support is dropped. If nothing answers the question, it says so.

Examples:
  rekindle ask 'what did we decide about Redis TTLs?'
  rekindle ask 'why is the pool limited to 20?' --json")]
pub(crate) struct AskArgs {
    /// The question: TEXT, @FILE, or - for stdin
    question: String,
    /// Search every project, not only the current one
    #[arg(long)]
    all_projects: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl AskArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let question = text_argument::prompt(&self.question, &context.cwd)?;
        let answer = answer_question(context, &question, self.all_projects)?;
        if let Some(why) = answer.model_failure() {
            context.out.warn(format!("the model did not answer ({why}); showing the passages instead"));
        }
        if self.json {
            return context.out.json(&answer.report(&question));
        }
        for line in answer.lines(|head| context.out.styled(TextStyle::Dim, head)) {
            context.out.line(line)?;
        }
        if answer.has_near_misses() {
            context.out.note(
                "Some notes touch the topic, but none answers it: `rekindle recall --anyway` shows them.",
            );
        }
        Ok(())
    }
}
