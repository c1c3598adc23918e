//! Finds contradictions of a new statement: a line of `MEMORY.md` or a statement of a memory. It changes
//! neither; the person sees both and decides (REF-05, REV-13).

use rekindle_core::base::scope::ProjectId;
use rekindle_core::knowledge::reflect::memory::MemoryDocument;
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::text::similarity::AnalysedStatement;
use rekindle_core::vault::amend::statements;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal;
use rekindle_core::vault::layout;
use rekindle_core::vault::path::VaultPath;

use super::related_memories::{RelatedMemories, RelatedQuery};
use crate::jobs::queue::StepError;
use crate::vault::Vault;

/// The number of memories to compare with.
const MAX_COMPARED_MEMORIES: usize = 10;

/// A contradiction of a new statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contradiction {
    /// A line of `MEMORY.md`.
    Line(String),
    /// A statement of the memory at this path.
    Entry(VaultPath, String),
}

impl Contradiction {
    /// The words of the contradicting statement.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Line(words) | Self::Entry(_, words) => words,
        }
    }
}

/// Finds a contradiction of `text`: a line of `MEMORY.md` before a memory, the nearest memory first.
pub(super) fn find_contradiction(
    text: &str,
    project: Option<&ProjectId>,
    near: &RelatedMemories<'_>,
    vault: &Vault,
) -> Result<Option<Contradiction>, StepError> {
    let statement = AnalysedStatement::from_text(text);
    let memory = vault.read(&journal::ChangedFile::vault(layout::fixed_path(layout::MEMORY)));
    let memory = memory
        .map_err(StepError::retryable)?
        .map(|read| MemoryDocument::read(&read.text))
        .unwrap_or_default();
    if let Some(line) = memory.visible_in(project).contradicted_by(&statement) {
        return Ok(Some(Contradiction::Line(line.statement.text().to_owned())));
    }
    let wanted = RelatedQuery {
        sources: &[DocumentSource::Entry],
        project,
        limit: MAX_COMPARED_MEMORIES,
        anyway: true,
    };
    let folder = format!("{}/", vault.folder_name());
    for document in near.related_to(text, &wanted) {
        let path = document.path.strip_prefix(&folder).and_then(|path| VaultPath::parse(path).ok());
        let Some(path) = path else { continue };
        let Ok(read) = vault.read_entry(&path) else { continue };
        let Ok(note) = ParsedNote::parse(&read.text) else { continue };
        let against: Vec<String> = statements(note.body())
            .into_iter()
            .filter(|one| AnalysedStatement::from_text(one).contradicts(&statement))
            .collect();
        // If two statements of a memory contradict it, the person must resolve that.
        if let [words] = &against[..] {
            return Ok(Some(Contradiction::Entry(path, words.clone())));
        }
    }
    Ok(None)
}
