//! temporary
#![expect(missing_docs, reason = "temporary")]
use std::path::Path;

use rekindle_core::hash::ContentHash;
use rekindle_core::provenance::Origin;
use rekindle_core::recall::document::{Document, Source, Stamp, Unit};
use rekindle_core::vault::entry::{Entry, title};
use rekindle_core::vault::frontmatter::Note;
use rekindle_core::vault::path::VaultPath;

use crate::vault::{Error, Vault};

pub struct Listed {
    pub path: String,
    pub modified: i64,
    pub size: u64,
}
#[derive(Default)]
pub struct Listing {
    pub files: Vec<Listed>,
    pub problems: Vec<(String, String)>,
}
impl Listing {
    pub fn len(&self) -> usize {
        self.files.len()
    }
}
fn notes(vault: &Vault) -> &Path {
    vault.folder().parent().unwrap_or(vault.folder())
}
fn meta(file: &Path) -> Option<(i64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let m = std::fs::metadata(file).ok()?;
    Some((m.mtime() * 1_000_000_000 + m.mtime_nsec(), m.len()))
}
pub fn list(vault: &Vault) -> Result<Listing, Error> {
    let mut out = Listing::default();
    let mut folders = vec![notes(vault).to_owned()];
    while let Some(f) = folders.pop() {
        for e in std::fs::read_dir(&f).into_iter().flatten().flatten() {
            if e.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let p = e.path();
            if p.is_dir() {
                folders.push(p);
            } else if p.extension().is_some_and(|x| x == "md") {
                let Some((modified, size)) = meta(&p) else { continue };
                out.files.push(Listed {
                    path: p.strip_prefix(notes(vault)).unwrap_or(&p).to_string_lossy().into_owned(),
                    modified,
                    size,
                });
            }
        }
    }
    out.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(out)
}
pub fn is_unchanged(vault: &Vault, path: &str, stamp: &Stamp) -> bool {
    meta(&notes(vault).join(path)) == Some((stamp.modified, stamp.size))
}
pub fn read(vault: &Vault, path: &str) -> Result<Unit, Error> {
    let file = notes(vault).join(path);
    let Some((modified, size)) = meta(&file) else {
        return Ok(Unit { path: path.to_owned(), stamp: None, documents: vec![] });
    };
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let stamp = Stamp { modified, size, hash: ContentHash::of(text.as_bytes()) };
    let mut documents = vec![];
    if let (Ok(note), Ok(vp)) =
        (Note::parse(&text), VaultPath::parse(path.split_once('/').map_or(path, |x| x.1)))
    {
        let e = Entry::of(&note, &vp);
        documents.push(Document {
            id: e.id.as_ref().map_or_else(|| path.to_owned(), ToString::to_string),
            source: Source::Entry,
            path: path.to_owned(),
            lines: None,
            title: title(note.body(), &vp),
            text: note.body().trim().to_owned(),
            tags: e.tags,
            group: e.group,
            kind: e.kind,
            created: e.created,
            project: e.scope.project().cloned(),
            origin: Origin::User,
            reviewed: true,
            inbox: false,
            active: !path.contains("_archive"),
            stale: false,
            confidence: e.confidence,
            priority: None,
            thread: None,
            speaker: None,
        });
    }
    Ok(Unit { path: path.to_owned(), stamp: Some(stamp), documents })
}
pub fn read_many(vault: &Vault, paths: &[&str]) -> (Vec<Unit>, Vec<(String, String)>) {
    (paths.iter().filter_map(|p| read(vault, p).ok()).collect(), vec![])
}
