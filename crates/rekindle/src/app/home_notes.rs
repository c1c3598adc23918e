//! The derived notes for note apps: a home note, and a note for each project.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::HomeNotes;
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::vault::generated_note::{GeneratedNote, plain_title, table_link};
use rekindle_core::vault::layout::{self, VaultShelf};
use rekindle_core::vault::link::link_targets;
use rekindle_core::vault::memory::{self, MemoryItem};
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::vault::{GeneratedNoteOutcome, ScannedEntry, Vault};

use super::CommandContext;
use super::review::waiting_count;
use crate::error::CliError;

/// The folder by which Obsidian knows its vaults.
const OBSIDIAN_FOLDER: &str = ".obsidian";
/// The maximum number of memories in the list of the home note.
const MAX_LATEST: usize = 15;
/// The maximum number of memories in the note of a project.
const MAX_IN_PROJECT: usize = 400;
/// The maximum number of notes that link to a project's memories.
const MAX_BACKLINKS: usize = 50;

/// The outcome of writing the derived notes.
#[derive(Debug, Default)]
pub(crate) struct HomeNotesReport {
    /// The number of derived notes.
    pub(crate) notes: usize,
    pub(crate) written: usize,
    /// The copies of versions that the user had changed.
    pub(crate) copies: Vec<PathBuf>,
    /// The user's own notes under the names of derived ones.
    pub(crate) theirs: Vec<PathBuf>,
}

/// The memories of one project.
struct ProjectFacts<'a> {
    id: &'a ProjectId,
    path: VaultPath,
    name: String,
    memories: Vec<&'a ScannedEntry>,
    rules: Vec<&'a MemoryItem>,
}

/// Writes the notes if the settings want them, after a worker has learnt something.
pub(crate) fn save_if_wanted(context: &CommandContext<'_>) {
    let is_wanted = match context.settings.config.vault.home_note {
        HomeNotes::On => true,
        HomeNotes::Off => false,
        HomeNotes::Auto => context.places.notes().join(OBSIDIAN_FOLDER).is_dir(),
    };
    if !is_wanted {
        return;
    }
    match save(context) {
        Ok(report) => {
            for copy in report.copies {
                context.out.warn(format!("you changed a derived note; your version is {}", copy.display()));
            }
        }
        Err(failure) => context.out.warn(format!("the home note was not written: {}", failure.message)),
    }
}

/// Writes all derived notes.
pub(crate) fn save(context: &CommandContext<'_>) -> Result<HomeNotesReport, CliError> {
    let vault = context.writable_vault()?;
    let entries = vault.scan(false)?.entries;
    let lines = std::fs::read_to_string(context.file(layout::MEMORY)).unwrap_or_default();
    let sections = memory::sections(&lines).unwrap_or_default();
    let rules: Vec<&MemoryItem> = sections
        .iter()
        .flat_map(|section| &section.items)
        .filter(|item| item.superseded.is_none() && item.project.is_some())
        .collect();
    let projects = projects_of(&entries, &rules);
    let backlinks = backlinks(context, &vault, &projects);
    let folder = vault.folder_name();
    let mut report = HomeNotesReport::default();
    let is_new = !vault.has_home_note();
    let home = GeneratedNote {
        head: head(&["Memories of my agents"]),
        body: home_body(context, &folder, &entries, &projects),
    };
    write(context, &vault, &layout::fixed_path(layout::HOME_NOTE), &home, &mut report)?;
    if is_new {
        vault.write_home_base(&base(&folder), &context.now)?;
    }
    for project in &projects {
        let links = backlinks.get(project.id).map(Vec::as_slice).unwrap_or_default();
        let note = GeneratedNote {
            head: head(&[&project.name, project.id.as_str()]),
            body: project_body(context, &folder, project, links),
        };
        write(context, &vault, &project.path, &note, &mut report)?;
    }
    let current: BTreeSet<&VaultPath> = projects.iter().map(|project| &project.path).collect();
    for old in vault.project_notes()?.iter().filter(|path| !current.contains(path)) {
        if !vault.remove_generated_note(old, &context.now)? {
            let body = "Nothing is remembered for this project any more.".to_owned();
            write(context, &vault, old, &GeneratedNote { head: String::new(), body }, &mut report)?;
        }
    }
    Ok(report)
}

fn write(
    context: &CommandContext<'_>,
    vault: &Vault,
    path: &VaultPath,
    note: &GeneratedNote,
    report: &mut HomeNotesReport,
) -> Result<(), CliError> {
    report.notes += 1;
    match vault.write_generated_note(path, note, &context.now)? {
        GeneratedNoteOutcome::Unchanged | GeneratedNoteOutcome::Busy => {}
        GeneratedNoteOutcome::Written => report.written += 1,
        GeneratedNoteOutcome::Copied(copy) => {
            report.written += 1;
            report.copies.push(copy);
        }
        GeneratedNoteOutcome::Theirs => report.theirs.push(context.file(path.as_str())),
    }
    Ok(())
}

/// The properties of a new note: other names by which note apps find it.
fn head(aliases: &[&str]) -> String {
    let aliases: BTreeSet<&str> = aliases.iter().copied().collect();
    // JSON text is YAML text.
    let aliases: Vec<String> =
        aliases.iter().map(|alias| serde_json::Value::from(*alias).to_string()).collect();
    format!("---\naliases: [{}]\n---\n\n", aliases.join(", "))
}

fn projects_of<'a>(entries: &'a [ScannedEntry], rules: &[&'a MemoryItem]) -> Vec<ProjectFacts<'a>> {
    let mut by_id: BTreeMap<&ProjectId, Vec<&ScannedEntry>> = BTreeMap::new();
    for found in entries {
        if let Some(project) = found.entry.scope.project() {
            by_id.entry(project).or_default().push(found);
        }
    }
    let name = |id: &ProjectId, parts: usize| {
        let parts: Vec<&str> =
            id.as_str().trim_end_matches('/').rsplitn(parts + 1, ['/', ':']).take(parts).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join(" ")
    };
    let path = |id: &ProjectId, parts: usize| layout::project_note(&name(id, parts)).ok();
    let mut taken: BTreeMap<VaultPath, usize> = BTreeMap::new();
    for id in by_id.keys() {
        if let Some(path) = path(id, 1) {
            *taken.entry(path).or_default() += 1;
        }
    }
    let mut projects: Vec<ProjectFacts<'a>> = Vec::new();
    for (id, mut memories) in by_id {
        // Two projects of the same name are told apart by more of their ids.
        let parts =
            if path(id, 1).is_some_and(|path| taken.get(&path) == Some(&1)) { 1 } else { usize::MAX - 1 };
        let Some(path) = path(id, parts) else { continue };
        if projects.iter().any(|project| project.path == path) {
            continue;
        }
        memories.sort_by_key(|found| std::cmp::Reverse(found.entry.updated.or(found.entry.created)));
        let holds =
            |item: &&&MemoryItem| item.project.as_ref().is_some_and(|named| id.matches_name(named.as_str()));
        let rules = rules.iter().filter(holds).copied().collect();
        projects.push(ProjectFacts { id, path, name: name(id, 1), memories, rules });
    }
    projects
}

fn stem(folder: &str, path: &VaultPath) -> String {
    format!("{folder}/{}", path.as_str().trim_end_matches(".md"))
}

fn since(context: &CommandContext<'_>, found: &ScannedEntry) -> String {
    found.entry.updated.or(found.entry.created).map(|at| context.day(at)).unwrap_or_default()
}

fn home_body(
    context: &CommandContext<'_>,
    folder: &str,
    entries: &[ScannedEntry],
    projects: &[ProjectFacts<'_>],
) -> String {
    let inbox = entries.iter().filter(|found| found.shelf == VaultShelf::Inbox).count();
    let link = |file: &str, words: &str| table_link(&format!("{folder}/{file}"), words);
    let mut rows = vec![
        format!("| Memories | {} |", entries.len() - inbox),
        format!("| Every session starts with | {} |", link("MEMORY", "MEMORY")),
        format!(
            "| Waiting for you | {} in {}, {inbox} in the inbox |",
            waiting_count(context).unwrap_or(0),
            link("REVIEW", "REVIEW")
        ),
        format!("| All memories as a table | {} |", link(layout::HOME_BASE, layout::HOME_BASE)),
        "| Everything else | `rekindle web` |".to_owned(),
    ];
    let mut body =
        "# Rekindle\n\n_Rekindle rebuilds this part. Write above or below it: that stays._\n\n".to_owned();
    body.push_str("| | |\n|---|---|\n");
    body.push_str(&rows.join("\n"));
    if !projects.is_empty() {
        body.push_str("\n\n## Projects\n\n| Project | Memories | Latest |\n|---|---:|---|\n");
        rows = projects
            .iter()
            .map(|project| {
                let latest = project.memories.first().map(|found| since(context, found)).unwrap_or_default();
                let link = table_link(&stem(folder, &project.path), &project.name);
                format!("| {link} | {} | {latest} |", project.memories.len())
            })
            .collect();
        body.push_str(&rows.join("\n"));
    }
    let mut latest: Vec<&ScannedEntry> = entries.iter().collect();
    latest.sort_by_key(|found| std::cmp::Reverse(found.entry.updated.or(found.entry.created)));
    body.push_str("\n\n## Learnt lately\n\n| Memory | Kind | Holds in | Since |\n|---|---|---|---|\n");
    for found in latest.into_iter().take(MAX_LATEST) {
        let own = found.entry.scope.project();
        let place = own.and_then(|id| projects.iter().find(|project| project.id == id));
        let place = place.map_or_else(
            || "everywhere".to_owned(),
            |project| table_link(&stem(folder, &project.path), &project.name),
        );
        let row = format!(
            "| {} | {} | {place} | {} |\n",
            table_link(&stem(folder, &found.path), &found.title),
            plain_title(&found.entry.kind),
            since(context, found)
        );
        body.push_str(&row);
    }
    body
}

fn project_body(
    context: &CommandContext<'_>,
    folder: &str,
    project: &ProjectFacts<'_>,
    backlinks: &[String],
) -> String {
    let home = format!("[[{folder}/Rekindle|Rekindle]]");
    let mut body = format!(
        "# {}\n\n{home} · `{}` · {} memories\n",
        plain_title(&project.name),
        plain_title(project.id.as_str()),
        project.memories.len()
    );
    let mut line = |text: String| writeln!(body, "{text}").is_ok();
    if !project.rules.is_empty() {
        line("\n## Told at every start\n".to_owned());
        for rule in &project.rules {
            // A line with a block id can be linked to.
            let id = rule.ids.first().filter(|id| id.starts_with("p-") || id.starts_with("f-"));
            let link = id.map(|id| format!(" [[{folder}/MEMORY#^{id}|MEMORY]]")).unwrap_or_default();
            line(format!("- {}{link}", plain_title(&rule.text)));
        }
    }
    let mut kinds: BTreeMap<&str, Vec<&ScannedEntry>> = BTreeMap::new();
    for found in project.memories.iter().take(MAX_IN_PROJECT) {
        kinds.entry(found.entry.kind.as_str()).or_default().push(found);
    }
    for (kind, memories) in kinds {
        line(format!("\n## {}\n", plain_title(kind)));
        for found in memories {
            let title = plain_title(&found.title);
            let link = format!("[[{}|{title}]]", stem(folder, &found.path));
            line(format!("- {link} ({})", since(context, found)));
        }
    }
    if let Some(more) = project.memories.len().checked_sub(MAX_IN_PROJECT).filter(|more| *more > 0) {
        line(format!("\n{more} more: `rekindle list --project {}`", plain_title(project.id.as_str())));
    }
    if !backlinks.is_empty() {
        line("\n## Linked from\n".to_owned());
        for link in backlinks {
            line(format!("- [[{link}]]"));
        }
    }
    body
}

/// The notes that link to the memories of each project, as they are indexed. Without an index there are none; note apps
/// show links to the project's own note by themselves.
fn backlinks<'a>(
    context: &CommandContext<'_>,
    vault: &Vault,
    projects: &[ProjectFacts<'a>],
) -> BTreeMap<&'a ProjectId, Vec<String>> {
    let mut found: BTreeMap<&ProjectId, Vec<String>> = BTreeMap::new();
    let Ok(Some(snapshot)) = context.index().open() else { return found };
    let mut owners: BTreeMap<String, &ProjectId> = BTreeMap::new();
    for project in projects {
        for memory in &project.memories {
            owners.insert(stem(&vault.folder_name(), &memory.path).to_lowercase(), project.id);
            owners.insert(memory.path.stem().to_lowercase(), project.id);
        }
        owners.insert(stem(&vault.folder_name(), &project.path).to_lowercase(), project.id);
    }
    let is_note = |document: &Document| {
        matches!(document.source, DocumentSource::Note | DocumentSource::Idea) && document.text.contains("[[")
    };
    for document in (0..snapshot.len()).filter_map(|number| snapshot.document(number)).filter(is_note) {
        for target in link_targets(&document.text) {
            let target = target.trim_end_matches(".md").to_lowercase();
            let Some(owner) = owners.get(&target) else { continue };
            let link = document.path.trim_end_matches(".md").to_owned();
            let links = found.entry(owner).or_default();
            if !links.contains(&link) && links.len() < MAX_BACKLINKS && !link.contains(['[', ']', '|', '#']) {
                links.push(link);
            }
        }
    }
    found.values_mut().for_each(|links| links.sort());
    found
}

/// The table of all memories: Obsidian asks the properties of the notes, so it is always current.
fn base(folder: &str) -> String {
    let folder = folder.replace(['"', '\'', '\\'], "");
    format!(
        "# A table of your memories for Obsidian. Change it as you like: Rekindle writes it once.\n\
         filters:\n  and:\n    - file.inFolder(\"{folder}\")\n    - file.hasProperty(\"kind\")\n    - '!file.path.contains(\"/_archive/\")'\n\
         properties:\n  note.kind:\n    displayName: Kind\n  note.project:\n    displayName: Project\n  note.updated:\n    displayName: Updated\n  note.origin:\n    displayName: Who said it\n\
         views:\n  - type: table\n    name: Memories\n    order:\n      - file.name\n      - note.kind\n      - note.project\n      - note.updated\n      - note.origin\n  \
         - type: table\n    name: By project\n    groupBy:\n      property: note.project\n      direction: ASC\n    order:\n      - file.name\n      - note.kind\n      - note.updated\n  \
         - type: table\n    name: Not reviewed\n    filters:\n      and:\n        - file.path.contains(\"/_inbox/\")\n    order:\n      - file.name\n      - note.kind\n      - note.created\n"
    )
}
