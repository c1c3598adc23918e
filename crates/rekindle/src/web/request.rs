//! One request: its fields, and the answer to it.

use axum::http::StatusCode;
use maud::Markup;

use super::layout::PageSection;
use super::server::PageServer;
use crate::app::CommandContext;
use crate::error::CliError;

/// The fields of an address or a form, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestFields(pub(super) Vec<(String, String)>);

impl RequestFields {
    /// The first value with this name, without surrounding blanks; `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.raw(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// The first value with this name, as it was sent.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values with this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A required value.
    pub(super) fn require(&self, name: &str) -> Result<&str, CliError> {
        self.get(name).ok_or_else(|| {
            CliError::usage(format!("the field `{name}` is missing"))
                .hint("go back, and use the page's own links")
        })
    }
}

/// A request while it is answered, on a blocking thread.
pub(super) struct PageRequest<'a> {
    pub(super) context: &'a CommandContext<'a>,
    pub(super) server: &'a PageServer,
    pub(super) fields: &'a RequestFields,
}

/// The answer to a request.
pub(super) enum PageAnswer {
    /// A page inside the frame.
    Page(PageContent),
    /// A part of a page, which a script puts into the open one.
    Fragment(Markup),
    /// The page to look at after a change.
    SeeOther(String),
}

/// The content of a page.
pub(super) struct PageContent {
    pub(super) title: String,
    pub(super) section: PageSection,
    pub(super) body: Markup,
    pub(super) status: StatusCode,
    /// True if the page shows changes as they happen.
    pub(super) live: bool,
}

impl PageContent {
    pub(super) fn new(title: impl Into<String>, section: PageSection, body: Markup) -> Self {
        Self { title: title.into(), section, body, status: StatusCode::OK, live: false }
    }

    pub(super) fn live(self) -> Self {
        Self { live: true, ..self }
    }
}

impl From<PageContent> for PageAnswer {
    fn from(page: PageContent) -> Self {
        Self::Page(page)
    }
}

/// A message on the next page: what happened, and how to take it back.
#[derive(Clone, Debug)]
pub(super) struct PageNotice {
    pub(super) text: String,
    pub(super) is_problem: bool,
    /// The change or proposal that a button takes back.
    pub(super) undo: Option<String>,
}

impl PageNotice {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_problem: false, undo: None }
    }

    pub(super) fn problem(text: impl Into<String>) -> Self {
        Self { is_problem: true, ..Self::done(text) }
    }

    pub(super) fn with_undo(self, undo: Option<impl ToString>) -> Self {
        Self { undo: undo.map(|undo| undo.to_string()), ..self }
    }
}

impl PageRequest<'_> {
    /// Continues at `page` and shows a message there. `page` may have a fragment.
    pub(super) fn see(&self, page: &str, notice: PageNotice) -> PageAnswer {
        let number = self.server.keep_notice(notice);
        let (page, fragment) = page.split_once('#').map_or((page, None), |(page, part)| (page, Some(part)));
        let joint = if page.contains('?') { '&' } else { '?' };
        let fragment = fragment.map_or_else(String::new, |part| format!("#{part}"));
        PageAnswer::SeeOther(format!("{page}{joint}notice={number}{fragment}"))
    }
}

/// Encodes a value for an address.
pub(super) fn encode(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    value.bytes().fold(String::with_capacity(value.len()), |mut text, byte| {
        match plain(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_value_holds_no_delimiter() {
        assert_eq!(encode("a b&c=d#e/ü\"<"), "a%20b%26c%3Dd%23e%2F%C3%BC%22%3C");
        assert_eq!(encode("m-7k2d_9.x~1"), "m-7k2d_9.x~1");
    }
}
