//! Reads one configuration file: TOML text to settings with line numbers.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigLocation, ConfigSource, Error};
use super::keys::{self, KEYS, REMOVED_KEYS, SettingKey};
use super::value::SettingValue;

/// One setting in a file.
pub(super) struct ConfigEntry {
    pub(super) key: &'static SettingKey,
    pub(super) value: SettingValue,
    pub(super) place: ConfigLocation,
}

/// Reads every setting, valid or not, in line order. Fails only if the text is not TOML, because then nothing
/// in it can be trusted.
pub(super) fn read(source: &ConfigSource, text: &str) -> Result<Vec<Result<ConfigEntry, Error>>, Error> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = position(text, at);
        // The parser's own rendering would quote the line.
        Error::Toml { file: source.clone(), line, column, problem: error.message().to_owned() }
    })?;
    let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = ConfigReader { source, breaks, entries: Vec::new() };
    reader.table("", table.get_ref());
    reader.entries.sort_by_key(|(at, _)| *at);
    Ok(reader.entries.into_iter().map(|(_, entry)| entry).collect())
}

struct ConfigReader<'a> {
    source: &'a ConfigSource,
    /// The byte offsets of line ends.
    breaks: Vec<usize>,
    entries: Vec<(usize, Result<ConfigEntry, Error>)>,
}

impl ConfigReader<'_> {
    fn table(&mut self, path: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let (name, at) = (name.get_ref(), name.span().start);
            // A quoted `"recall.k"` is one name with a dot in it, not `k` in `recall`.
            let name = if name.contains('.') { format!("\"{name}\"") } else { name.to_string() };
            let path = if path.is_empty() { name } else { format!("{path}.{name}") };
            self.item(&path, at, value);
        }
    }

    fn item(&mut self, path: &str, at: usize, value: &Spanned<DeValue<'_>>) {
        let line = self.breaks.partition_point(|end| *end < at) + 1;
        let place = ConfigLocation { source: self.source.clone(), line: Some(line) };
        let entry = match (keys::find(path), value.get_ref()) {
            (Some(key), _) if matches!(self.source, ConfigSource::Project(_)) && !key.in_project() => {
                Err(Error::NotForProjects { place, key: key.name })
            }
            (Some(key), value) => match key.kind.read_toml(value) {
                Some(value) => Ok(ConfigEntry { key, value, place }),
                None => Err(Error::bad_value(key, place)),
            },
            (None, _) if REMOVED_KEYS.contains(&path) => {
                Err(Error::RemovedKey { place, key: path.to_owned() })
            }
            // Report an unknown table by its keys: `recal.k` says more than `recal`.
            (None, DeValue::Table(inner)) if !inner.is_empty() => return self.table(path, inner),
            (None, DeValue::Table(_)) if is_table(path) => return,
            (None, _) => Err(Error::unknown(path, place)),
        };
        self.entries.push((at, entry));
    }
}

fn is_table(path: &str) -> bool {
    let mut names = KEYS.iter().map(|key| key.name).chain(REMOVED_KEYS.iter().copied());
    names.any(|name| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The line and column of a byte offset, both starting at one.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
