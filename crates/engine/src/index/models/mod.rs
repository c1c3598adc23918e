//! The models that turn text into vectors: the built-in one, and those a person added (R-04, STO-10).
//!
//! An added model is one file in `models/` of the Rekindle home, made from the folder it was published as. Its name is
//! `local/NAME` as the built-in one's is [`BUILTIN_MODEL`]: names of models are always `provider/model`, and no other
//! provider exists, because no text leaves the machine to become a vector.

mod aligned_file;
mod error;
mod folder;
#[cfg(test)]
mod tests;

use std::fs::DirEntry;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rekindle_core::config::LoadedConfig;
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::path::slug;
use rekindle_embed::{EmbeddingModel, EncoderScratch, Pooling, TextRole};

use self::aligned_file::AlignedFile;
pub use self::error::Error;
pub use self::folder::ModelPrefixes;
use self::folder::ModelSource;
use crate::config;
use crate::platform::disk;
use crate::platform::home::HomeFolder;

/// The model that is part of the program.
pub const BUILTIN_MODEL: &str = "builtin/all-minilm-l6-v2";
/// The setting that names the model in use.
pub const MODEL_SETTING: &str = "embed.model";

/// What stands before the name of an added model.
const LOCAL_PREFIX: &str = "local/";
const MODEL_EXTENSION: &str = ".rkm";
/// The longest name of an added model: with a mark of what it was made from, it has to fit into the file's header.
const MAX_NAME_CHARS: usize = 40;

/// The models of one home.
#[derive(Clone, Debug)]
pub struct ModelStore {
    home: HomeFolder,
    folder: PathBuf,
}

/// A model as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    /// `builtin/…` or `local/…`.
    pub name: String,
    /// The size of its file; none for the built-in one, which is part of the program.
    pub bytes: Option<u64>,
    /// What it is, or what is wrong with it and what to do.
    pub about: Result<ModelInfo, ModelDamage>,
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name under which its vectors are kept apart (STO-11).
    pub id: String,
    /// The length of a vector.
    pub dim: usize,
    /// How many tokens of a text are read.
    pub max_tokens: usize,
    /// How the vectors of the tokens become one.
    pub pooling: Pooling,
}

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDamage {
    /// What is wrong with it.
    pub why: String,
    /// What to do about it.
    pub hint: String,
}

/// A model that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedModel {
    /// As in the list.
    pub listed: ListedModel,
    /// What goes before a question.
    pub query_prefix: String,
    /// What goes before a memory.
    pub passage_prefix: String,
    /// Whether the folder said how to pool; if not, the mean is taken.
    pub said_pooling: bool,
}

/// A model that was made the one in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    /// Its name, as the settings have it now.
    pub name: String,
    /// Where something stronger than the person's file says otherwise.
    pub overruled: Option<String>,
}

/// A model, ready for use. It stays in memory until the process ends: a process uses one model, and hooks are gone
/// before it could be freed.
#[derive(Clone, Debug)]
pub struct LoadedModel {
    name: String,
    model: &'static EmbeddingModel<'static>,
}

impl LoadedModel {
    /// `builtin/…` or `local/…`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Deref for LoadedModel {
    type Target = EmbeddingModel<'static>;

    fn deref(&self) -> &Self::Target {
        self.model
    }
}

/// The whole name of what a person or a setting calls a model: `x` is `local/x`, unless it is the built-in one's.
pub fn full_name(given: &str) -> Result<String, Error> {
    let builtin = BUILTIN_MODEL.split_once('/').map_or(BUILTIN_MODEL, |(_, name)| name);
    if given == BUILTIN_MODEL || given == builtin {
        return Ok(BUILTIN_MODEL.to_owned());
    }
    match given.strip_prefix(LOCAL_PREFIX).unwrap_or(given) {
        // Another provider's, or one that is no longer built in.
        name if name.contains('/') => Err(Error::Unknown(given.chars().take(80).collect())),
        name if is_name(name) => Ok(format!("{LOCAL_PREFIX}{name}")),
        name => Err(Error::BadName(name.chars().take(80).collect())),
    }
}

/// What a folder is called, as a name.
fn own_name(folder: &Path) -> Result<String, Error> {
    // `.` has no name of its own.
    let real = folder.canonicalize().map_err(Error::io("read", folder))?;
    let last = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    slug("name", &last).map_err(|_| Error::BadName(last))
}

/// A slug that is safe as a file name and in the settings, which take no letters beyond ASCII in a model's name.
fn is_name(name: &str) -> bool {
    name.is_ascii() && name.len() <= MAX_NAME_CHARS && slug("name", name).is_ok_and(|slug| slug == name)
}

impl ModelStore {
    /// The models of this home. Looks at nothing yet.
    pub fn open(home: &HomeFolder) -> Self {
        Self { home: home.clone(), folder: home.models() }
    }

    /// All of them, the built-in one first. Reads every file whole: a damaged one is said to be damaged.
    pub fn list(&self) -> Result<Vec<ListedModel>, Error> {
        let mut listed = vec![ListedModel {
            name: BUILTIN_MODEL.to_owned(),
            bytes: None,
            about: Ok(about(EmbeddingModel::builtin())),
        }];
        let files = self.files()?;
        let mut stems: Vec<&str> =
            files.iter().filter_map(|file| file.strip_suffix(MODEL_EXTENSION)).collect();
        stems.retain(|stem| !stem.starts_with('.'));
        stems.sort_unstable();
        listed.extend(stems.iter().map(|stem| self.look(stem)));
        Ok(listed)
    }

    /// Files that a killed `add` left behind.
    pub fn left_overs(&self) -> Result<Vec<PathBuf>, Error> {
        let files = self.files()?.into_iter().filter(|file| file.starts_with(disk::TEMPORARY_PREFIX));
        Ok(files.map(|file| self.folder.join(file)).collect())
    }

    fn files(&self) -> Result<Vec<String>, Error> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::io("read", &self.folder))?,
        };
        let name = |entry: std::io::Result<DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        entries.map(name).collect::<std::io::Result<_>>().map_err(Error::io("read", &self.folder))
    }

    fn look(&self, stem: &str) -> ListedModel {
        let path = self.folder.join(format!("{stem}{MODEL_EXTENSION}"));
        let bytes = std::fs::metadata(&path).ok().map(|metadata| metadata.len());
        // Whoever put the file there may have called it anything.
        let name = format!("{LOCAL_PREFIX}{}", one_line(stem, 2 * MAX_NAME_CHARS));
        let about = full_name(&name).and_then(|name| self.examine(&name)).map_err(|error| match error {
            Error::BadName(_) => ModelDamage {
                why: "the file's name is not a model's".to_owned(),
                hint: format!("rename {} to lower-case letters, digits and hyphens", path.display()),
            },
            Error::Damaged { why, .. } => ModelDamage {
                why,
                hint: format!("`rekindle model remove {name}`, then add it again from its folder"),
            },
            error => ModelDamage { why: error.to_string(), hint: error.hint().unwrap_or_default() },
        });
        ListedModel { name, bytes, about }
    }

    /// The model of this name, ready for use: what the setting `embed.model` says, or what a person typed. Only sizes
    /// are checked, as on every prompt; a second call for the same file gives the same memory (STO-12). When this
    /// fails, the error says what to do, and recall goes by words alone (REC-11).
    pub fn load(&self, name: &str) -> Result<LoadedModel, Error> {
        let name = full_name(name)?;
        if name == BUILTIN_MODEL {
            return Ok(LoadedModel { name, model: EmbeddingModel::builtin() });
        }
        let path = self.path(&name);
        let head = aligned_file::head(&path).map_err(|error| self.unreadable(&name, &error))?;
        let mut kept = LOADED_MODELS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., model)) = kept.iter().find(|(at, known, _)| *at == path && *known == head) {
            return Ok(LoadedModel { name, model });
        }
        let memory = self.memory(&name)?;
        // What is damaged must not be kept for ever, so it is looked at before.
        EmbeddingModel::from_bytes(memory.bytes()).map_err(|error| self.damaged(&name, &error))?;
        let model =
            EmbeddingModel::from_bytes(memory.forever()).map_err(|error| self.damaged(&name, &error))?;
        let model: &'static EmbeddingModel<'static> = Box::leak(Box::new(model));
        kept.push((path, head, model));
        Ok(LoadedModel { name, model })
    }

    /// Makes a model file of the folder `source` and tries it out.
    pub fn add(
        &self,
        source: &Path,
        name: Option<&str>,
        prefixes: &ModelPrefixes,
    ) -> Result<AddedModel, Error> {
        if !source.is_dir() {
            return Err(Error::NotAFolder(source.to_owned()));
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => own_name(source)?,
        };
        let name = full_name(&name).map_err(|error| match error {
            Error::Unknown(given) => Error::BadName(given),
            error => error,
        })?;
        let path = self.path(&name);
        if name == BUILTIN_MODEL || disk::is_taken(&path).map_err(Error::io("read", &path))? {
            return Err(Error::Taken(name));
        }
        let unfit = |why| Error::Unfit { folder: source.to_owned(), why };
        let source = ModelSource::read(source, prefixes)?;
        let file = source.pack(&source.id(&name))?;
        let about = prove(AlignedFile::copy(&file).bytes()).map_err(unfit)?;
        disk::write_new(&path, &file).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::Taken(name.clone()),
            _ => Error::io("write", &path)(error),
        })?;
        let said_pooling = source.says_pooling();
        let ModelSource { query_prefix, passage_prefix, .. } = source;
        let listed = ListedModel { name, bytes: Some(file.len() as u64), about: Ok(about) };
        Ok(AddedModel { listed, query_prefix, passage_prefix, said_pooling })
    }

    /// Makes a model the one in use, having read it whole and tried it.
    pub fn choose(&self, name: &str) -> Result<ChosenModel, Error> {
        let name = full_name(name)?;
        if name != BUILTIN_MODEL {
            self.examine(&name)?;
        }
        config::set(&self.home, MODEL_SETTING, &name)?;
        let settings = config::read(&self.home, None, &[])?;
        let setting = settings.get(MODEL_SETTING).map_err(config::Error::from)?;
        let overruled = (setting.value.to_string() != name).then(|| setting.place.to_string());
        Ok(ChosenModel { name, overruled })
    }

    /// Removes an added model that nobody uses: neither by `settings` nor by the person's file, which may be overruled
    /// at the moment.
    pub fn remove(&self, name: &str, settings: &LoadedConfig) -> Result<String, Error> {
        let name = full_name(name)?;
        if name == BUILTIN_MODEL {
            return Err(Error::Builtin);
        }
        let path = self.path(&name);
        if !disk::is_taken(&path).map_err(Error::io("read", &path))? {
            return Err(Error::Unknown(name));
        }
        let own = config::read_with(&self.home, None, &[], &|_| None)?;
        for settings in [settings, &own] {
            let setting = settings.get(MODEL_SETTING).map_err(config::Error::from)?;
            if full_name(&setting.value.to_string()).is_ok_and(|used| used == name) {
                return Err(Error::InUse { name, place: setting.place.to_string() });
            }
        }
        disk::remove(&path)
            .and_then(|()| disk::sync_folder(&self.folder))
            .map_err(Error::io("remove", &path))?;
        Ok(name)
    }

    /// Where the file of an added model is.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}{MODEL_EXTENSION}", name.strip_prefix(LOCAL_PREFIX).unwrap_or(name)))
    }

    /// Reads a model whole and tries it out.
    fn examine(&self, name: &str) -> Result<ModelInfo, Error> {
        prove(self.memory(name)?.bytes()).map_err(|why| self.damaged(name, &why))
    }

    fn memory(&self, name: &str) -> Result<AlignedFile, Error> {
        AlignedFile::read(&self.path(name)).map_err(|error| self.unreadable(name, &error))
    }

    fn unreadable(&self, name: &str, error: &std::io::Error) -> Error {
        match error.kind() {
            ErrorKind::NotFound => Error::Unknown(name.to_owned()),
            _ => self.damaged(name, error),
        }
    }

    fn damaged(&self, name: &str, why: &impl ToString) -> Error {
        Error::Damaged { name: name.to_owned(), path: self.path(name), why: why.to_string() }
    }
}

/// The models this process has loaded, by their file and its head: that has a checksum of the rest, and tells a new
/// file of an old name better than any time of change.
static LOADED_MODELS: Mutex<Vec<(PathBuf, Vec<u8>, &'static EmbeddingModel<'static>)>> =
    Mutex::new(Vec::new());

fn about(model: &EmbeddingModel<'_>) -> ModelInfo {
    ModelInfo {
        id: model.id().to_owned(),
        dim: model.dim(),
        max_tokens: model.max_tokens(),
        pooling: model.pooling(),
    }
}

/// Whether these bytes are a whole model that can tell two sentences apart.
fn prove(bytes: &[u8]) -> Result<ModelInfo, String> {
    let model = EmbeddingModel::from_bytes(bytes).map_err(|error| error.to_string())?;
    model.verify().map_err(|error| error.to_string())?;
    let mut scratch = EncoderScratch::new();
    let mut vector = |text: &str| model.embed(&mut scratch, TextRole::Passage, text);
    let (one, other) = (vector("The nightly backup failed."), vector("Grandmother bakes an apple cake."));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for vector in [&one, &other] {
        let length = dot(vector, vector);
        if length.is_nan() || (length - 1.0).abs() > 1e-3 {
            return Err("it gives a sentence no vector of length one".to_owned());
        }
    }
    if one == other {
        return Err("it gives two different sentences the same vector".to_owned());
    }
    Ok(about(&model))
}
