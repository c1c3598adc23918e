//! The content of `MEMORY.md`, as far as proposals need it.

use std::borrow::Cow;

use crate::base::scope::ProjectId;
use crate::base::time::Date;
use crate::text::normalise::normalise;
use crate::text::similarity::AnalysedStatement;
use crate::vault::memory::{sections, visible_in};

/// The current content of the document, without struck lines.
#[derive(Clone, Debug, Default)]
pub struct MemoryDocument {
    /// The whole text in normalised form.
    normalised_text: String,
    lines: Vec<MemoryStatement>,
    titles: Vec<String>,
    /// The document, if some of its lines hold in one project only.
    scoped: Option<String>,
}

/// A statement of the document.
#[derive(Clone, Debug)]
pub struct MemoryStatement {
    /// The line in parsed form.
    pub statement: AnalysedStatement,
    /// The date of the line.
    pub date: Option<Date>,
}

impl MemoryDocument {
    /// Parses the document. One with an ambiguous structure still counts as text.
    pub fn read(text: &str) -> Self {
        let Ok(sections) = sections(text) else {
            return Self { normalised_text: normalise(text), ..Self::default() };
        };
        let (mut standing, mut from) = (String::with_capacity(text.len()), 0);
        let mut lines = Vec::new();
        for item in sections.iter().flat_map(|section| &section.items) {
            if item.superseded.is_some() {
                standing.push_str(text.get(from..item.range.start).unwrap_or_default());
                from = item.range.end;
                continue;
            }
            lines.push(MemoryStatement {
                statement: AnalysedStatement::from_text(&item.text),
                date: item.date,
            });
        }
        standing.push_str(text.get(from..).unwrap_or_default());
        // The statements again without dates and escapes, as a paraphrase has them.
        for line in &lines {
            standing.push('\n');
            standing.push_str(line.statement.text());
        }
        let is_scoped = sections.iter().flat_map(|section| &section.items).any(|item| item.project.is_some());
        let titles = sections.into_iter().filter(|section| section.level == 2).map(|section| section.title);
        let scoped = is_scoped.then(|| text.to_owned());
        Self { normalised_text: normalise(&standing), lines, titles: titles.collect(), scoped }
    }

    /// The content visible in `project`: the lines that hold there or everywhere.
    pub fn visible_in(&self, project: Option<&ProjectId>) -> Cow<'_, Self> {
        match &self.scoped {
            Some(text) => Cow::Owned(Self::read(&visible_in(text, project.map(ProjectId::as_str)))),
            None => Cow::Borrowed(self),
        }
    }

    /// True if it already contains the statement (REF-17): verbatim, or as a line with the same meaning.
    pub fn contains_statement(&self, statement: &AnalysedStatement) -> bool {
        let words = normalise(statement.text());
        !words.is_empty() && self.normalised_text.contains(&words)
            || self.lines.iter().any(|line| line.statement.is_same(statement))
    }

    /// The line that contradicts the statement.
    pub fn contradicted_by(&self, statement: &AnalysedStatement) -> Option<&MemoryStatement> {
        self.lines.iter().find(|line| line.statement.contradicts(statement))
    }

    /// The headings of the sections.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }
}
