//! HTML blocks: their lines are no Markdown. Comments are HTML blocks too, but the walker keeps them apart.

/// The end of an HTML block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    /// The line with this text, in any case.
    Close(&'static str),
    /// The next blank line.
    Blank,
}

/// Elements whose block lasts until their end tag.
const VERBATIM: [(&str, &str); 4] =
    [("pre", "</pre>"), ("script", "</script>"), ("style", "</style>"), ("textarea", "</textarea>")];

/// Elements that begin a block even in the middle of a paragraph.
const BLOCK_ELEMENTS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// The end of the HTML block that `text` begins. `continues` is true in the middle of a paragraph.
pub(crate) fn parse_html(text: &str, continues: bool) -> Option<HtmlEnd> {
    let rest = text.strip_prefix('<')?;
    if rest.starts_with('?') {
        return Some(HtmlEnd::Close("?>"));
    }
    if let Some(declaration) = rest.strip_prefix('!') {
        let is_name = declaration.starts_with(|c: char| c.is_ascii_alphabetic());
        return match declaration.starts_with("[CDATA[") {
            true => Some(HtmlEnd::Close("]]>")),
            false => is_name.then_some(HtmlEnd::Close(">")),
        };
    }
    let (slash, inner) = rest.strip_prefix('/').map_or((false, rest), |inner| (true, inner));
    let (name, after) = split_name(inner)?;
    let ends = |after: &str| after.is_empty() || after.starts_with([' ', '\t', '>']);
    let is = |element: &&str| name.eq_ignore_ascii_case(element);
    if let Some((_, close)) = VERBATIM.iter().find(|(element, _)| is(element))
        && !slash
        && ends(after)
    {
        return Some(HtmlEnd::Close(close));
    }
    if BLOCK_ELEMENTS.iter().any(is) && (ends(after) || after.starts_with("/>")) {
        return Some(HtmlEnd::Blank);
    }
    let behind = if slash { after.trim_start().strip_prefix('>') } else { behind_attributes(after) };
    (!continues && behind?.trim().is_empty()).then_some(HtmlEnd::Blank)
}

/// True if `text` contains `close`, the end of an HTML block.
pub(super) fn closes_html(text: &str, close: &str) -> bool {
    text.as_bytes().windows(close.len()).any(|part| part.eq_ignore_ascii_case(close.as_bytes()))
}

/// Splits the tag name off `text`.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| text.split_at(end))
}

/// The text behind an open tag that continues with `text`. `None` if it does not end here.
fn behind_attributes(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        if let Some(behind) = trimmed.strip_prefix('>').or_else(|| trimmed.strip_prefix("/>")) {
            return Some(behind);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-');
        let starts = trimmed.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':'));
        if trimmed.len() == rest.len() || !starts {
            return None;
        }
        rest = trimmed.trim_start_matches(is_name);
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        let value = value.trim_start();
        rest = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?.1,
            _ => {
                let unquoted = |c: char| !(c.is_whitespace() || "\"'=<>`".contains(c));
                Some(value.trim_start_matches(unquoted)).filter(|rest| rest.len() < value.len())?
            }
        };
    }
}
