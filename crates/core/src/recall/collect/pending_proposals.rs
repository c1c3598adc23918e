//! Documents of the proposals that are not on today's page.

use super::{CollectedFile, review};
use crate::recall::document::Document;
use crate::vault::pending_proposals;

pub(super) fn documents(file: &CollectedFile<'_>) -> Vec<Document> {
    let (mut found, mut at) = (Vec::new(), 0);
    for line in file.text.split_inclusive('\n') {
        if let Some(waits) =
            pending_proposals::parse(line).filter(|waits| !review::is_scope_question(Some(&waits.place)))
        {
            let lines = file.lines_of(&(at..at + line.len()));
            let entry = (waits.title.as_str(), waits.text.as_str());
            let document = review::proposal(file, waits.id, Some(&waits.place), entry, lines);
            found.push(Document { project: waits.project, ..document });
        }
        at += line.len();
    }
    found
}
