//! Filters on hits (REC-10, STO-09). They combine with "and": a hit must pass all of them.

use serde::Serialize;

use super::collection::DocumentFlags;
use super::document::{Document, DocumentSource};
use crate::base::provenance::Origin;
use crate::base::time::{Timestamp, format_utc};
use crate::vault::priority::Priority;

/// The filters of a search. The default admits every active document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallFilters {
    /// Admits only these groups.
    pub groups: Vec<String>,
    /// Admits only these kinds.
    pub kinds: Vec<String>,
    /// Admits only these sources.
    pub sources: Vec<DocumentSource>,
    /// Admits only documents with all of these tags.
    pub tags: Vec<String>,
    /// Admits documents written at this time or later.
    pub since: Option<Timestamp>,
    /// Admits documents written at this time or earlier.
    pub until: Option<Timestamp>,
    /// The minimum priority to admit.
    pub priority: Option<Priority>,
    /// Admits only these origins.
    pub origins: Vec<Origin>,
    /// Admits only reviewed, or only unreviewed, documents.
    pub reviewed: Option<bool>,
    /// Admits only outdated, or only current, documents.
    pub stale: Option<bool>,
    /// Admits inactive documents too.
    pub inactive: bool,
}

/// A filter as diagnostics report it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppliedFilter {
    /// The name of the filter.
    pub filter: &'static str,
    /// The value of the filter.
    pub value: String,
}

impl RecallFilters {
    /// True if the document passes every filter.
    pub fn matches(&self, document: &Document) -> bool {
        let one_of =
            |wanted: &[String], is: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == is);
        let since = self.since.is_none_or(|since| document.created.is_some_and(|at| at >= since));
        let until = self.until.is_none_or(|until| document.created.is_some_and(|at| at <= until));
        (self.inactive || document.active)
            && one_of(&self.groups, &document.group)
            && one_of(&self.kinds, &document.kind)
            && (self.sources.is_empty() || self.sources.contains(&document.source))
            && self.tags.iter().all(|tag| document.tags.contains(tag))
            && since
            && until
            && self.priority.is_none_or(|least| document.priority.is_some_and(|is| is >= least))
            && (self.origins.is_empty() || self.origins.contains(&document.origin))
            && self.reviewed.is_none_or(|wanted| document.reviewed == wanted)
            && self.stale.is_none_or(|wanted| document.stale == wanted)
    }

    /// Decides from the flags alone; `None` if the document has to be read.
    pub fn matches_flags(&self, flags: DocumentFlags) -> Option<bool> {
        let admitted = (self.inactive || flags.is_active())
            && (self.sources.is_empty() || self.sources.contains(&flags.source()))
            && self.priority.is_none_or(|least| flags.priority().is_some_and(|is| is >= least))
            && (self.origins.is_empty() || self.origins.contains(&flags.origin()))
            && self.reviewed.is_none_or(|wanted| flags.is_reviewed() == wanted)
            && self.stale.is_none_or(|wanted| flags.is_stale() == wanted);
        let rest = self.groups.is_empty()
            && self.kinds.is_empty()
            && self.tags.is_empty()
            && self.since.is_none()
            && self.until.is_none();
        (rest || !admitted).then_some(admitted)
    }

    /// The filters that are set, as diagnostics report them (REC-07).
    pub fn applied_filters(&self) -> Vec<AppliedFilter> {
        let mut applied = Vec::new();
        let mut add = |filter: &'static str, value: String| applied.push(AppliedFilter { filter, value });
        self.groups.iter().for_each(|group| add("group", group.clone()));
        self.kinds.iter().for_each(|kind| add("kind", kind.clone()));
        self.sources.iter().for_each(|source| add("source", source.as_str().to_owned()));
        self.tags.iter().for_each(|tag| add("tag", tag.clone()));
        self.since.into_iter().for_each(|at| add("since", format_utc(at)));
        self.until.into_iter().for_each(|at| add("until", format_utc(at)));
        self.priority.into_iter().for_each(|priority| add("priority", priority.as_str().to_owned()));
        self.origins.iter().for_each(|origin| add("origin", origin.as_str().to_owned()));
        self.reviewed.into_iter().for_each(|reviewed| add("reviewed", reviewed.to_string()));
        self.stale.into_iter().for_each(|stale| add("stale", stale.to_string()));
        if self.inactive {
            add("inactive", "true".to_owned());
        }
        applied
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn document(
        source: DocumentSource,
        origin: Origin,
        priority: Option<Priority>,
        bits: [bool; 3],
    ) -> Document {
        let [reviewed, active, stale] = bits;
        Document {
            id: "x".into(),
            tags: vec!["tag".into()],
            group: "group".into(),
            kind: "kind".into(),
            created: Timestamp::from_second(1_000).ok(),
            origin,
            reviewed,
            active,
            stale,
            priority,
            ..Document::unannotated(source, "p", "")
        }
    }

    proptest! {
        #[test]
        fn rec_10_flags_admit_what_the_document_would(
            source in prop::sample::select(DocumentSource::ALL.to_vec()),
            origin in prop::sample::select(Origin::ALL.to_vec()),
            priority in prop::sample::select(vec![None, Some(Priority::Low), Some(Priority::High)]),
            bits in any::<[bool; 3]>(),
            sources in prop::sample::subsequence(DocumentSource::ALL.to_vec(), 0..3),
            origins in prop::sample::subsequence(Origin::ALL.to_vec(), 0..3),
            least in prop::sample::select(vec![None, Some(Priority::Medium)]),
            reviewed in any::<Option<bool>>(),
            stale in any::<Option<bool>>(),
            inactive in any::<bool>(),
            rest in 0..8,
        ) {
            let document = document(source, origin, priority, bits);
            let mut filters =
                RecallFilters { sources, origins, priority: least, reviewed, stale, inactive, ..RecallFilters::default() };
            match rest {
                0 => filters.groups.push("other".into()),
                1 => filters.kinds.push("other".into()),
                2 => filters.tags.push("other".into()),
                3 => filters.since = Timestamp::from_second(2_000).ok(),
                4 => filters.until = Timestamp::from_second(500).ok(),
                _ => {}
            }
            let known = filters.matches_flags(DocumentFlags::from_document(&document));
            prop_assert!(known.is_none_or(|known| known == filters.matches(&document)));
            prop_assert!(rest < 5 || known.is_some());
        }
    }
}
