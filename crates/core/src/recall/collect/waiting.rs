//! The proposals that are not on today's page.

use super::{File, review};
use crate::recall::document::Document;
use crate::vault::waiting;

pub(super) fn documents(file: &File<'_>) -> Vec<Document> {
    let (mut found, mut at) = (Vec::new(), 0);
    for line in file.text.split_inclusive('\n') {
        if let Some(waits) = waiting::parse(line) {
            let lines = file.lines_of(&(at..at + line.len()));
            found.push(review::proposal(
                file,
                waits.id,
                Some(&waits.place),
                (&waits.title, &waits.text),
                lines,
            ));
        }
        at += line.len();
    }
    found
}
