//! One setting: its explanation, where its value comes from, and the form that changes it.

use maud::{Markup, html};
use rekindle_core::config::{ConfigSource, KeyDoc, ResolvedSetting, SettingValue, keys};
use rekindle_core::text::clean::one_line;

use super::layout::{PageSection, form_key};
use super::request::{PageAnswer, PageContent, PageNotice, PageRequest, encode};
use crate::app::settings::change;
use crate::error::CliError;

/// The most characters of a value that is shown.
const MAX_VALUE_CHARS: usize = 2_000;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let key = known(request.fields.require("name")?)?;
    Ok(page(request, &key, None, None)?.into())
}

/// Sets a value, or restores the default.
pub(super) fn save(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let key = known(request.fields.require("name")?)?;
    let home = &request.context.home;
    let file = home.config_file();
    if request.fields.get("restore").is_some() {
        change(home, key.name, None)?;
        let words = format!("{} has its default again. {} no longer sets it.", key.name, file.display());
        return Ok(request.see(&address(key.name), PageNotice::done(words)));
    }
    let value = request.fields.raw("value").unwrap_or_default();
    match change(home, key.name, Some(value)) {
        Ok(()) => {
            let words = format!("Saved {} in {}.", key.name, file.display());
            Ok(request.see(&address(key.name), PageNotice::done(words)))
        }
        Err(failure) => Ok(page(request, &key, Some(&failure), Some(value))?.into()),
    }
}

/// The address of a setting's page.
pub(super) fn address(name: &str) -> String {
    format!("setting?name={}", encode(name))
}

/// A value as people read it.
pub(super) fn value_words(value: &SettingValue) -> String {
    match value.to_string() {
        empty if empty.is_empty() => "(empty)".to_owned(),
        text => one_line(&text, MAX_VALUE_CHARS),
    }
}

fn known(name: &str) -> Result<KeyDoc, CliError> {
    keys().into_iter().find(|key| key.name == name).ok_or_else(|| {
        CliError::usage("there is no such setting").hint("choose one on the page of all settings")
    })
}

fn page(
    request: &PageRequest<'_>,
    key: &KeyDoc,
    failure: Option<&CliError>,
    typed: Option<&str>,
) -> Result<PageContent, CliError> {
    let setting = request.context.settings.get(key.name)?;
    let body = html! {
        p.crumbs { a href="settings#all" { "Settings" } " / change" }
        h1 { (key.name) }
        @if let Some(failure) = failure { (problem(failure)) }
        p.lead { (key.doc) }
        (stronger(setting))
        @if request.server.read_only {
            p { "It is " code { (value_words(&setting.value)) } ". This page is read-only." }
        } @else {
            (form(request, key, setting, typed))
        }
        (facts(request, key, setting))
    };
    Ok(PageContent::new(key.name, PageSection::Settings, body))
}

fn problem(failure: &CliError) -> Markup {
    // The value was typed here and not on a command line.
    let place = format!("{}: ", ConfigSource::Flag);
    let words = failure.message.strip_prefix(&place).unwrap_or(&failure.message);
    html! {
        div.notice.problem role="alert" {
            p { strong { "Not saved: " } (words) "." @if let Some(hint) = &failure.hint { " " (hint) "." } }
        }
    }
}

/// Warns that a change of the file does not show, because a stronger place has the last word.
fn stronger(setting: &ResolvedSetting) -> Markup {
    let is_stronger =
        matches!(setting.place.source, ConfigSource::Flag | ConfigSource::Env(_) | ConfigSource::Project(_));
    html! {
        @if is_stronger {
            p.notice.problem {
                "The value comes from " (one_line(&setting.place.to_string(), 200))
                ", which is stronger than your settings file. What you save here counts once that is gone."
            }
        }
    }
}

fn form(request: &PageRequest<'_>, key: &KeyDoc, setting: &ResolvedSetting, typed: Option<&str>) -> Markup {
    let current = setting.value.to_string();
    let value = typed.unwrap_or(&current);
    let is_set = matches!(setting.place.source, ConfigSource::User(_));
    html! {
        form.setting method="post" action="setting" {
            (form_key(request.server))
            input type="hidden" name="name" value=(key.name);
            label for="value" { "Value: " (key.allowed) }
            @if key.choices.is_empty() {
                input #value type="text" name="value" value=(value) autocomplete="off" spellcheck="false" autofocus;
            } @else {
                select #value name="value" autofocus {
                    @for choice in key.choices { option value=(choice) selected[*choice == value] { (choice) } }
                }
            }
            div.actions {
                button.main type="submit" { "Save" }
                @if is_set { button type="submit" name="restore" value="1" { "Restore the default" } }
                a.button.quiet href="settings#all" { "Cancel" }
            }
        }
    }
}

fn facts(request: &PageRequest<'_>, key: &KeyDoc, setting: &ResolvedSetting) -> Markup {
    html! {
        h2 { "Where it is kept" }
        table.narrow {
            tbody {
                tr { th scope="row" { "Now" } td { code { (value_words(&setting.value)) } " from " (one_line(&setting.place.to_string(), 300)) } }
                tr { th scope="row" { "Default" } td { code { (value_words(&key.default)) } } }
                tr { th scope="row" { "Saved in" } td { code { (request.context.home.config_file().display()) } } }
                tr { th scope="row" { "Stronger" } td { @for variable in &key.variables { code { (variable) } " " } @if key.in_project { "and a project's " code { ".rekindle.toml" } } } }
                tr { th scope="row" { "As a command" } td { code { "rekindle config set " (key.name) " VALUE" } } }
            }
        }
    }
}
