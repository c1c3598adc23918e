//! One tool call: its context and the form of its answer.

use rekindle_core::config::Source;
use rekindle_core::context::inject::ANSWER_CHARS;
use rekindle_core::text::{admit, fence};
use rekindle_engine::context::inject;

use crate::app::Context;
use crate::error::Failure;

/// The most characters of an error message.
const FAILURE_CHARS: usize = 1_000;
/// The most characters of a success message.
const DONE_CHARS: usize = 2_000;
/// The most characters of a name: an id, a path or a tag.
const NAME_CHARS: usize = 500;

/// The context of a call.
pub(super) struct Call<'a> {
    pub(super) context: &'a Context<'a>,
    /// The id of this run, from which the marker of its fence is made.
    pub(super) session: &'a str,
}

impl Call<'_> {
    /// True if the person lets agents decide on proposals. Only the person's own configuration counts: the
    /// agent that started this server may have set a variable or a flag.
    pub(super) fn decides(&self) -> bool {
        let settings = &self.context.settings;
        let own = |source: &Source| matches!(source, Source::User(_));
        settings.config.mcp.review_decide
            && settings.get("mcp.review_decide").is_ok_and(|setting| own(&setting.place.source))
    }

    /// Wraps text from memory in the fence of this run.
    pub(super) fn fenced(&self, hint: &str, text: &str) -> Result<String, Failure> {
        let marker = inject::marker(&self.context.places, self.session).map_err(Failure::new)?;
        let cut: String = text.chars().take(ANSWER_CHARS).collect();
        let more = if cut.len() < text.len() { "\n… (cut)" } else { "" };
        Ok(fence::wrap(&marker, &format!("{hint}\n\n{cut}{more}")))
    }
}

/// Renders a failure for an agent.
pub(super) fn explained(failure: &Failure) -> String {
    let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    harmless(&format!("{}{hint}", failure.message), FAILURE_CHARS)
}

/// Renders a success message for an agent.
pub(super) fn done(text: &str) -> String {
    harmless(text, DONE_CHARS)
}

/// Redacts and defuses a text that may contain words of a memory, for places without a fence.
pub(super) fn harmless(text: &str, most: usize) -> String {
    let cut: String = admit(text).text.chars().take(most).collect();
    fence::harmless(&cut).into_owned()
}

/// Refuses a name that is too long.
pub(super) fn short(what: &str, name: &str) -> Result<(), Failure> {
    match name.chars().count() > NAME_CHARS {
        true => Err(Failure::usage(format!("the {what} is too long"))
            .hint(format!("it has at most {NAME_CHARS} characters"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_short_and_says_what_to_do() {
        let failure = Failure::usage("x".repeat(5_000)).hint("y");
        assert_eq!(explained(&failure).chars().count(), FAILURE_CHARS);
        assert_eq!(explained(&Failure::new("no").hint("yes")), "no\nhint: yes");
    }
}
