//! The embedding models: the built-in one, and those a person added (R-04, STO-10).
//!
//! An added model is one file in `models/` of the Rekindle home, packed from its published folder. Its name
//! is `local/NAME`; the built-in one's is [`BUILTIN_MODEL`]. Names of models are always `provider/model`
//! . There is no other provider, because no text leaves the machine for embedding.

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

/// The name of the built-in model.
pub const BUILTIN_MODEL: &str = "builtin/all-minilm-l6-v2";
/// The setting that names the current model.
pub const MODEL_SETTING: &str = "embed.model";

/// The provider prefix of an added model.
const LOCAL_PREFIX: &str = "local/";
const MODEL_EXTENSION: &str = ".rkm";
/// The maximum number of characters in the name of an added model: with the hash of its files, it has to fit
/// into the file's header.
const MAX_NAME_CHARS: usize = 40;

/// The models of one home folder.
#[derive(Clone, Debug)]
pub struct ModelStore {
    home: HomeFolder,
    folder: PathBuf,
}

/// A model as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    /// The name: `builtin/…` or `local/…`.
    pub name: String,
    /// The size of its file in bytes; `None` for the built-in model.
    pub bytes: Option<u64>,
    /// The properties of the model, or the damage of its file.
    pub info: Result<ModelInfo, ModelDamage>,
}

/// The properties of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The id that identifies its vectors (STO-11).
    pub id: String,
    /// The dimension of a vector.
    pub dim: usize,
    /// The maximum number of tokens of a text.
    pub max_tokens: usize,
    /// The pooling of token vectors.
    pub pooling: Pooling,
    /// The languages that it reads besides English, as their codes.
    pub languages: &'static [&'static str],
}

/// The damage of a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDamage {
    /// The description of the damage.
    pub why: String,
    /// The next step for the person.
    pub hint: String,
}

/// A model after it was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedModel {
    /// The entry in the list.
    pub listed: ListedModel,
    /// The prefix of a query.
    pub query_prefix: String,
    /// The prefix of a memory.
    pub passage_prefix: String,
    /// True if the folder specified the pooling; the default is the mean.
    pub said_pooling: bool,
}

/// A model after it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    /// The name, as the settings have it now.
    pub name: String,
    /// The place of a setting that overrides the person's file, if there is one.
    pub overruled: Option<String>,
}

/// A loaded model. It stays in memory until the process ends: a process uses one model, and a hook ends
/// before freeing would pay off.
#[derive(Clone, Debug)]
pub struct LoadedModel {
    name: String,
    model: &'static EmbeddingModel<'static>,
}

impl LoadedModel {
    /// The name: `builtin/…` or `local/…`.
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

/// The full name of a model from a person or a setting: `x` means `local/x`, unless it is the built-in
/// model's name.
pub fn full_name(given: &str) -> Result<String, Error> {
    let builtin = BUILTIN_MODEL.split_once('/').map_or(BUILTIN_MODEL, |(_, name)| name);
    if given == BUILTIN_MODEL || given == builtin {
        return Ok(BUILTIN_MODEL.to_owned());
    }
    match given.strip_prefix(LOCAL_PREFIX).unwrap_or(given) {
        // The name belongs to another provider or to a former built-in model.
        name if name.contains('/') => Err(Error::Unknown(given.chars().take(80).collect())),
        name if is_name(name) => Ok(format!("{LOCAL_PREFIX}{name}")),
        name => Err(Error::BadName(name.chars().take(80).collect())),
    }
}

/// Derives a model's name from the name of its folder.
fn own_name(folder: &Path) -> Result<String, Error> {
    // `.` has no name until it is resolved.
    let real = folder.canonicalize().map_err(Error::io("read", folder))?;
    let last = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    slug("name", &last).map_err(|_| Error::BadName(last))
}

/// True for a slug that is safe as a file name and in the settings, which allow only ASCII in a model's name.
fn is_name(name: &str) -> bool {
    name.is_ascii() && name.len() <= MAX_NAME_CHARS && slug("name", name).is_ok_and(|slug| slug == name)
}

impl ModelStore {
    /// Opens the models of a home folder without reading any.
    pub fn open(home: &HomeFolder) -> Self {
        Self { home: home.clone(), folder: home.models() }
    }

    /// Lists all models, the built-in one first. It reads every file completely, to report damaged ones.
    pub fn list(&self) -> Result<Vec<ListedModel>, Error> {
        let mut listed = vec![ListedModel {
            name: BUILTIN_MODEL.to_owned(),
            bytes: None,
            info: Ok(model_info(EmbeddingModel::builtin())),
        }];
        let files = self.files()?;
        let mut stems: Vec<&str> =
            files.iter().filter_map(|file| file.strip_suffix(MODEL_EXTENSION)).collect();
        stems.retain(|stem| !stem.starts_with('.'));
        stems.sort_unstable();
        listed.extend(stems.iter().map(|stem| self.inspect_model(stem)));
        Ok(listed)
    }

    /// The files that a killed `add` left behind.
    pub fn abandoned_files(&self) -> Result<Vec<PathBuf>, Error> {
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

    fn inspect_model(&self, stem: &str) -> ListedModel {
        let path = self.folder.join(format!("{stem}{MODEL_EXTENSION}"));
        let bytes = std::fs::metadata(&path).ok().map(|metadata| metadata.len());
        // A file that was copied here may have any name.
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
        ListedModel { name, bytes, info: about }
    }

    /// Loads a model by its name, from the setting `embed.model` or from a person. Only sizes are checked,
    /// because every prompt runs this; a second call for the same file returns the same memory (STO-12). If
    /// loading fails, the error has a hint, and recall is lexical only (REC-11).
    pub fn load(&self, name: &str) -> Result<LoadedModel, Error> {
        let name = full_name(name)?;
        if name == BUILTIN_MODEL {
            return Ok(LoadedModel { name, model: EmbeddingModel::builtin() });
        }
        let path = self.path(&name);
        let head = aligned_file::read_head(&path).map_err(|error| self.unreadable(&name, &error))?;
        let mut kept = LOADED_MODELS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., model)) = kept.iter().find(|(at, known, _)| *at == path && *known == head) {
            return Ok(LoadedModel { name, model });
        }
        let memory = self.memory(&name)?;
        // The file is checked before it is leaked: damaged bytes must not stay in memory.
        EmbeddingModel::from_bytes(memory.bytes()).map_err(|error| self.damage_error(&name, &error))?;
        let model =
            EmbeddingModel::from_bytes(memory.leak()).map_err(|error| self.damage_error(&name, &error))?;
        let model: &'static EmbeddingModel<'static> = Box::leak(Box::new(model));
        kept.push((path, head, model));
        Ok(LoadedModel { name, model })
    }

    /// Packs the folder `source` into a model file and tests it.
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
        if name == BUILTIN_MODEL || disk::name_exists(&path).map_err(Error::io("read", &path))? {
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
        let said_pooling = source.has_pooling();
        let ModelSource { query_prefix, passage_prefix, .. } = source;
        let listed = ListedModel { name, bytes: Some(file.len() as u64), info: Ok(about) };
        Ok(AddedModel { listed, query_prefix, passage_prefix, said_pooling })
    }

    /// Makes a model the current one after reading it completely and testing it.
    pub fn use_model(&self, name: &str) -> Result<ChosenModel, Error> {
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

    /// Removes an added model. It must not be in use, neither in `settings` nor in the person's file, which
    /// something may override at the moment.
    pub fn remove(&self, name: &str, settings: &LoadedConfig) -> Result<String, Error> {
        let name = full_name(name)?;
        if name == BUILTIN_MODEL {
            return Err(Error::Builtin);
        }
        let path = self.path(&name);
        if !disk::name_exists(&path).map_err(Error::io("read", &path))? {
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

    /// The path of an added model's file.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}{MODEL_EXTENSION}", name.strip_prefix(LOCAL_PREFIX).unwrap_or(name)))
    }

    /// Reads a model completely and tests it.
    fn examine(&self, name: &str) -> Result<ModelInfo, Error> {
        prove(self.memory(name)?.bytes()).map_err(|why| self.damage_error(name, &why))
    }

    fn memory(&self, name: &str) -> Result<AlignedFile, Error> {
        AlignedFile::read(&self.path(name)).map_err(|error| self.unreadable(name, &error))
    }

    fn unreadable(&self, name: &str, error: &std::io::Error) -> Error {
        match error.kind() {
            ErrorKind::NotFound => Error::Unknown(name.to_owned()),
            _ => self.damage_error(name, error),
        }
    }

    fn damage_error(&self, name: &str, why: &impl ToString) -> Error {
        Error::Damaged { name: name.to_owned(), path: self.path(name), why: why.to_string() }
    }
}

/// The models that this process has loaded, by path and head. The head contains a checksum of the rest, so it
/// detects a replaced file more reliably than the modification time.
static LOADED_MODELS: Mutex<Vec<(PathBuf, Vec<u8>, &'static EmbeddingModel<'static>)>> =
    Mutex::new(Vec::new());

/// The languages of the multilingual vocabulary.
const LANGUAGES: &[&str] = &["de", "es", "fr", "pt"];

fn model_info(model: &EmbeddingModel<'_>) -> ModelInfo {
    ModelInfo {
        id: model.id().to_owned(),
        dim: model.dimension(),
        max_tokens: model.max_tokens(),
        pooling: model.pooling(),
        languages: if model.multilingual_checksum().is_some() { LANGUAGES } else { &[] },
    }
}

/// Checks that these bytes are a complete model that distinguishes two sentences.
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
    Ok(model_info(&model))
}
