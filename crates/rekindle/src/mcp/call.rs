//! One tool call: its context and the form of its answer.

use rekindle_core::config::ConfigSource;
use rekindle_core::context::inject::MAX_ANSWER_CHARS;
use rekindle_core::text::{clean_and_redact, fence};
use rekindle_engine::context::inject;

use crate::app::CommandContext;
use crate::error::CliError;

/// The most characters of an error message.
const MAX_FAILURE_CHARS: usize = 1_000;
/// The most characters of a success message.
const MAX_DONE_CHARS: usize = 2_000;
/// The most characters of a name: an id, a path or a tag.
const MAX_NAME_CHARS: usize = 500;

/// The context of a call.
pub(super) struct CallContext<'a> {
    pub(super) context: &'a CommandContext<'a>,
    /// The id of this run, from which the marker of its fence is made.
    pub(super) session: &'a str,
}

impl CallContext<'_> {
    /// True if the person lets agents decide on proposals. Only the person's own configuration counts: the
    /// agent that started this server may have set a variable or a flag.
    pub(super) fn may_decide(&self) -> bool {
        let settings = &self.context.settings;
        let own = |source: &ConfigSource| matches!(source, ConfigSource::User(_));
        settings.config.mcp.review_decide
            && settings.get("mcp.review_decide").is_ok_and(|setting| own(&setting.place.source))
    }

    /// Wraps text from memory in the fence of this run.
    pub(super) fn fence_text(&self, hint: &str, text: &str) -> Result<String, CliError> {
        let marker = inject::marker(&self.context.places, self.session).map_err(CliError::new)?;
        let cut: String = text.chars().take(MAX_ANSWER_CHARS).collect();
        let more = if cut.len() < text.len() { "\n… (cut)" } else { "" };
        Ok(fence::fence(&marker, &format!("{hint}\n\n{cut}{more}")))
    }
}

/// Renders a failure for an agent.
pub(super) fn explain_failure(failure: &CliError) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    neutralise(&format!("{}{hint}", failure.message), MAX_FAILURE_CHARS)
}

/// Renders a success message for an agent.
pub(super) fn report_done(text: &str) -> String {
    neutralise(text, MAX_DONE_CHARS)
}

/// Redacts and defuses a text that may contain words of a memory, for places without a fence.
pub(super) fn neutralise(text: &str, most: usize) -> String {
    let cut: String = clean_and_redact(text).text.chars().take(most).collect();
    fence::neutralise(&cut).into_owned()
}

/// Refuses a name that is too long.
pub(super) fn check_name_length(what: &str, name: &str) -> Result<(), CliError> {
    match name.chars().count() > MAX_NAME_CHARS {
        true => Err(CliError::usage(format!("the {what} is too long"))
            .hint(format!("it has at most {MAX_NAME_CHARS} characters"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_short_and_says_what_to_do() {
        let failure = CliError::usage("x".repeat(5_000)).hint("y");
        assert_eq!(explain_failure(&failure).chars().count(), MAX_FAILURE_CHARS);
        assert_eq!(explain_failure(&CliError::new("no").hint("yes")), "no\nhint: yes");
    }
}
