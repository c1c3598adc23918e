//! `rekindle model`: manages the embedding models.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rekindle_embed::{EncoderScratch, KernelPath, Pooling, TextRole};
use rekindle_engine::config;
use rekindle_engine::index::models::{
    self, AddedModel, BUILTIN_MODEL, ListedModel, MODEL_SETTING, ModelInfo, ModelPrefixes, ModelStore,
};
use rekindle_engine::platform::home::HomeFolder;
use serde_json::{Map, Value, json};

use super::text_argument;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
One model is built in: nothing is downloaded, and no text leaves the machine. You can add others of the BERT family
(MiniLM, BGE, E5, GTE) from the folder you downloaded them to.

Examples:
  rekindle model list
  rekindle model add ~/Downloads/bge-small-en-v1.5 --name bge-small
  rekindle model use bge-small
  rekindle model use builtin/all-minilm-l6-v2
  rekindle model remove bge-small
  rekindle model compare 'the staging database' 'postgres on the test host'")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    verb: Option<ModelCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum ModelCommand {
    /// List the models, and which one is in use
    List,
    /// Use this model
    #[command(after_help = "\
Embeddings of different models cannot be compared, so run `rekindle reindex` afterwards.

Examples:
  rekindle model use bge-small
  rekindle model use builtin/all-minilm-l6-v2")]
    Use {
        /// The model, as `rekindle model list` names it
        name: String,
    },
    /// Add a model of the BERT family from its folder
    #[command(after_help = "\
The folder must contain model.safetensors, config.json, and vocab.txt or tokenizer.json. Pooling, token limit and
prefixes are read from 1_Pooling/config.json, sentence_bert_config.json and config_sentence_transformers.json, if they
exist. You can delete the folder afterwards.

Examples:
  rekindle model add ~/Downloads/bge-small-en-v1.5
  rekindle model add ./e5-small-v2 --name e5 --query-prefix 'query: ' --passage-prefix 'passage: '")]
    Add {
        /// The folder
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Its name: lower-case letters, digits and hyphens (default: the name of the folder)
        #[arg(long)]
        name: Option<String>,
        /// The prefix of every question, if the folder does not define it (E5, BGE)
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        query_prefix: Option<String>,
        /// The prefix of every memory, if the folder does not define it (E5)
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        passage_prefix: Option<String>,
    },
    /// Remove a model that was added and is not in use
    Remove {
        /// The model, as `rekindle model list` names it
        name: String,
    },
    /// Print how similar two texts are, from -1 to 1
    Compare {
        /// One text: TEXT, @FILE, or - for stdin
        #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        one: String,
        /// The other text: TEXT or @FILE
        #[arg(value_name = "TEXT|@FILE", allow_hyphen_values = true)]
        other: String,
    },
}

impl ModelArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let models = ModelStore::open(&home);
        let settings = || config::read(&home, None, &global.settings);
        let json = self.json;
        match self.verb {
            Some(ModelCommand::List) | None => {
                let settings = settings()?;
                let setting = settings.get(MODEL_SETTING)?;
                list(out, json, &models, &setting.value.to_string(), &setting.place.to_string())
            }
            Some(ModelCommand::Use { name }) => choose(out, json, &models, &name),
            Some(ModelCommand::Add { folder, name, query_prefix, passage_prefix }) => {
                let prefixes = ModelPrefixes { query: query_prefix, passage: passage_prefix };
                let work = || models.add(&folder, name.as_deref(), &prefixes);
                let added = out.with_progress(&format!("reading {} …", folder.display()), work)?;
                print_added(out, json, &added)
            }
            Some(ModelCommand::Remove { name }) => {
                let name = models.remove(&name, &settings()?)?;
                match json {
                    true => out.json(&json!({"removed": name})),
                    false => out.line(format!("removed {name}")),
                }
            }
            Some(ModelCommand::Compare { one, other }) => {
                let model = models.load(settings()?.config.embed.model.as_str())?;
                let cwd = std::env::current_dir()?;
                let mut scratch = EncoderScratch::new();
                let mut embed = |text: &str| -> Result<Vec<f32>, CliError> {
                    Ok(model.embed(&mut scratch, TextRole::Passage, &text_argument::read(text, &cwd)?))
                };
                let (one, other) = (embed(&one)?, embed(&other)?);
                let cosine: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
                match json {
                    true => out.json(&json!({"cosine": cosine, "model": model.id()})),
                    false => out.line(format!("{cosine:.3}")),
                }
            }
        }
    }
}

fn choose(out: &Printer, json: bool, models: &ModelStore, name: &str) -> Result<(), CliError> {
    let chosen = out.with_progress("reading the model …", || models.use_model(name))?;
    if json {
        return out.json(&json!({
            "name": chosen.name,
            "in_use": chosen.overruled.is_none(),
            "overruled_by": chosen.overruled,
        }));
    }
    if let Some(place) = &chosen.overruled {
        out.line(format!("config.toml now selects {}", chosen.name))?;
        out.warn(format!("{place} overrides it"));
        return Ok(());
    }
    out.line(format!("Now using {}", chosen.name))?;
    out.note("run `rekindle reindex` to recompute the embeddings of your memories");
    Ok(())
}

fn print_added(out: &Printer, json: bool, added: &AddedModel) -> Result<(), CliError> {
    let name = &added.listed.name;
    if json {
        let mut row = row(&added.listed, false);
        row.insert("query_prefix".into(), added.query_prefix.as_str().into());
        row.insert("passage_prefix".into(), added.passage_prefix.as_str().into());
        return out.json(&row);
    }
    out.line(format!("added {name}  {}", describe(&added.listed)))?;
    for (what, prefix) in [("questions", &added.query_prefix), ("memories", &added.passage_prefix)] {
        if !prefix.is_empty() {
            out.note(format!("prefix for {what}: {prefix:?}"));
        }
    }
    if !added.said_pooling {
        out.note("the folder has no 1_Pooling/config.json, so mean pooling is used; BGE needs cls");
    }
    out.note("check its licence where you downloaded it");
    out.note(format!("use it with `rekindle model use {name}`"));
    Ok(())
}

fn list(out: &Printer, json: bool, models: &ModelStore, setting: &str, place: &str) -> Result<(), CliError> {
    let listed = out.with_progress("reading the models …", || models.list())?;
    let used = models::full_name(setting).unwrap_or_default();
    let in_use = |model: &ListedModel| model.name == used;
    if !listed.iter().any(in_use) {
        out.warn(format!(
            "embed.model is {setting} ({place}), which is not installed, so recall uses keywords only"
        ));
        out.note(format!("to return to the built-in model, run `rekindle model use {BUILTIN_MODEL}`"));
    }
    if json {
        return out.json(&listed.iter().map(|model| row(model, in_use(model))).collect::<Vec<_>>());
    }
    let width = listed.iter().map(|model| model.name.chars().count()).max().unwrap_or(0);
    for model in &listed {
        let used = if in_use(model) { out.styled(TextStyle::Good, ", in use") } else { String::new() };
        out.line(format!("{}  {}{used}", pad_column(&model.name, width), describe(model)))?;
        if let Err(damage) = &model.info {
            out.line(format!("{}  {}", " ".repeat(width), out.styled(TextStyle::Dim, &damage.hint)))?;
        }
    }
    Ok(())
}

fn describe(model: &ListedModel) -> String {
    let ModelInfo { dim, max_tokens, pooling, languages, .. } = match &model.info {
        Ok(about) => about,
        Err(damage) => return format!("damaged: {}", damage.why),
    };
    let pooling = pooling_word(*pooling);
    let size = match model.bytes {
        Some(bytes) => format!("{:.1} MB", bytes as f64 / 1e6),
        None => format!("built in, {}", kernels()),
    };
    let languages =
        if languages.is_empty() { String::new() } else { format!(", also for {}", languages.join(", ")) };
    format!("{dim} dimensions, {max_tokens} tokens, {pooling} pooling, {size}{languages}")
}

fn row(model: &ListedModel, in_use: bool) -> Map<String, Value> {
    let builtin = model.name == BUILTIN_MODEL;
    let mut row = Map::new();
    row.insert("name".into(), model.name.as_str().into());
    row.insert("in_use".into(), in_use.into());
    row.insert("builtin".into(), builtin.into());
    row.insert("bytes".into(), model.bytes.into());
    // The licence of an added model is unknown.
    row.insert("licence".into(), if builtin { "Apache-2.0".into() } else { Value::Null });
    match &model.info {
        Ok(about) => {
            row.insert("id".into(), about.id.as_str().into());
            row.insert("dimension".into(), about.dim.into());
            row.insert("max_tokens".into(), about.max_tokens.into());
            row.insert("pooling".into(), pooling_word(about.pooling).into());
            row.insert("languages".into(), about.languages.into());
            row.insert("kernels".into(), kernels().into());
        }
        Err(damage) => {
            row.insert("damaged".into(), damage.why.as_str().into());
            row.insert("hint".into(), damage.hint.as_str().into());
        }
    }
    row
}

fn pooling_word(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Mean => "mean",
        Pooling::First => "cls",
    }
}

/// The kernel with which this processor runs a model.
fn kernels() -> String {
    KernelPath::available().first().map_or_else(String::new, |path| format!("{path:?}").to_lowercase())
}
