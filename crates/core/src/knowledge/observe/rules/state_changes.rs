//! Changes of tools, packages, settings and schemas (OBS-04, OBS-09): found in successful commands, or in an
//! agent's sentence with both versions.

use super::command::CommandPart;
use super::draft::FindingDraft;
use super::output::CallState;
use super::published;
use super::session_view::{SessionView, ToolStep};
use super::words::change;
use crate::base::provenance::StatementStrength;
use crate::knowledge::observe::FindingKind;
use crate::text::phrases::{content, has, line, truncate_head};
use crate::text::sentences;
use crate::vault::priority::Priority;

/// The maximum number of commands in one finding.
const MAX_COMMANDS: usize = 4;

/// Commands that permanently add, remove or replace something, if they have an argument.
const DEPENDENCY_COMMANDS: &[&[&str]] = &[
    &["cargo", "add"],
    &["cargo", "remove"],
    &["cargo", "install"],
    &["cargo", "update"],
    &["npm", "install"],
    &["npm", "i"],
    &["npm", "add"],
    &["npm", "uninstall"],
    &["npm", "remove"],
    &["pnpm", "add"],
    &["pnpm", "remove"],
    &["yarn", "add"],
    &["yarn", "remove"],
    &["bun", "add"],
    &["bun", "remove"],
    &["pip", "install"],
    &["pip3", "install"],
    &["pip", "uninstall"],
    &["uv", "add"],
    &["uv", "remove"],
    &["poetry", "add"],
    &["poetry", "remove"],
    &["pdm", "add"],
    &["pipx", "install"],
    &["go", "get"],
    &["go", "install"],
    &["brew", "install"],
    &["brew", "upgrade"],
    &["apt", "install"],
    &["apt-get", "install"],
    &["dnf", "install"],
    &["apk", "add"],
    &["pacman", "-S"],
    &["gem", "install"],
    &["composer", "require"],
    &["composer", "remove"],
    &["dotnet", "add"],
    &["mix", "deps.update"],
    &["nvm", "install"],
    &["nvm", "alias"],
    &["rustup", "default"],
    &["rustup", "override"],
    &["rustup", "toolchain"],
    &["rustup", "target"],
    &["mise", "use"],
    &["asdf", "global"],
    &["asdf", "local"],
    &["pyenv", "global"],
    &["pyenv", "local"],
    &["helm", "install"],
    &["helm", "upgrade"],
    &["systemctl", "enable"],
    &["systemctl", "disable"],
    &["git", "submodule", "add"],
    &["git", "remote", "add"],
    &["git", "remote", "set-url"],
    &["gh", "secret", "set"],
    &["gh", "variable", "set"],
];
/// Commands that change a schema or an installation without an argument.
const APPLYING_COMMANDS: &[&[&str]] = &[
    &["alembic", "upgrade"],
    &["alembic", "downgrade"],
    &["prisma", "migrate"],
    &["rails", "db:migrate"],
    &["rake", "db:migrate"],
    &["sqlx", "migrate", "run"],
    &["diesel", "migration", "run"],
    &["knex", "migrate:latest"],
    &["flyway", "migrate"],
    &["liquibase", "update"],
    &["python", "manage.py", "migrate"],
    &["python3", "manage.py", "migrate"],
    &["terraform", "apply"],
    &["npm", "publish"],
    &["cargo", "publish"],
    &["typeorm", "migration:run"],
    &["sequelize", "db:migrate"],
    &["dbmate", "up"],
    &["goose", "up"],
    &["mix", "ecto.migrate"],
    &["git", "lfs", "install"],
];

/// The changes in each stretch of messages.
pub(super) fn change_drafts(view: &SessionView<'_>, stretches: &[(usize, usize)]) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for (from, to) in stretches {
        let mut commands: Vec<(usize, String)> = Vec::new();
        for step in view.steps_between(*from, *to).filter(|step| step.state == CallState::Passed) {
            // Changes in a scratch folder are not permanent.
            if ["/tmp", "mktemp", "scratch"].iter().any(|place| step.call.input.contains(place)) {
                continue;
            }
            for part in step.command.iter().flat_map(|command| &command.parts) {
                let line_text = line(&part.line(), 90);
                if changes(part) && !commands.iter().any(|(_, known)| *known == line_text) {
                    commands.push((step.result.unwrap_or(step.at), line_text));
                }
            }
        }
        // The agent's report of a new version counts only after a real change.
        if !commands.is_empty() || !view.files(*from, *to).is_empty() {
            drafts.extend(version_change(view, *from, *to));
        }
        drafts.extend(view.steps_between(*from, *to).filter_map(|step| filed(view, step)).take(MAX_COMMANDS));
        let Some((at, _)) = commands.last() else { continue };
        let shown: Vec<String> =
            commands.iter().take(MAX_COMMANDS).map(|(_, line_text)| format!("`{line_text}`")).collect();
        let more = commands.len().saturating_sub(MAX_COMMANDS);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let mut draft = FindingDraft::of_agent(
            FindingKind::Change,
            *at,
            format!("Ran with success: {}{rest}", shown.join(", ")),
        );
        draft.messages = commands.iter().map(|(at, _)| *at).collect();
        drafts.push(draft);
    }
    drafts
}

/// True if a command changes something permanently.
fn changes(part: &CommandPart) -> bool {
    if let Some(add) = DEPENDENCY_COMMANDS.iter().find(|words| part.begins_with(words)) {
        // `pip install -r …` and `npm install` only install listed packages.
        let given = &part.words[add.len()..];
        let what = given.iter().find(|word| !word.starts_with('-'));
        let written = given.iter().any(|word| {
            matches!(word.as_str(), "-r" | "--requirement" | "-e" | "--editable" | "--path" | "--dry-run")
        });
        return !written
            && what.is_some_and(|word| {
                !matches!(word.as_str(), "." | "./..." | "..") && !word.starts_with("./")
            });
    }
    if APPLYING_COMMANDS.iter().any(|words| part.begins_with(words)) {
        return !part.words.iter().any(|word| word.contains("dry-run") || word == "status");
    }
    // `git config key value` needs a value; without one it only reads.
    let values = part.words.iter().skip(2).filter(|word| !word.starts_with('-')).count();
    let asks = part.words.iter().any(|word| matches!(word.as_str(), "--get" | "--list" | "-l" | "--get-all"));
    part.begins_with(&["git", "config"]) && values >= 2 && !asks
}

/// A created issue, pull request or release: its title, or the agent's report.
fn filed(view: &SessionView<'_>, step: &ToolStep<'_>) -> Option<FindingDraft> {
    const PUBLISHING_COMMANDS: &[&[&str]] = &[
        &["gh", "issue", "create"],
        &["gh", "pr", "create"],
        &["gh", "release", "create"],
        &["glab", "issue", "create"],
        &["glab", "mr", "create"],
    ];
    let result = step.result.filter(|_| step.state == CallState::Passed)?;
    let made = step.command.as_ref().is_some_and(|command| {
        command.parts.iter().any(|part| PUBLISHING_COMMANDS.iter().any(|words| part.begins_with(words)))
    });
    let tool = step.call.tool.to_lowercase();
    let through_tool =
        ["create_issue", "create_pull_request", "create_release"].iter().any(|name| tool.ends_with(name));
    if !made && !through_tool || published::has_title(step) {
        return None;
    }
    // The agent's next message describes the created item.
    let (at, text) = view.agent(result, result + 3).next()?;
    let sentence = sentences::lines(truncate_head(text, 2_048))
        .into_iter()
        .flat_map(sentences::split_sentences)
        .next()?;
    let is_specific = sentence.contains(['#', '/']) || sentence.chars().any(|c| c.is_ascii_digit());
    let mut draft = FindingDraft::of_agent(FindingKind::Change, at, line(sentence, 200));
    draft.messages.push(step.at);
    draft.strength = StatementStrength::Implied;
    (is_specific && content(sentence).len() >= 3).then_some(draft)
}

/// The agent's sentence about an upgrade, if it has both versions: "Upgraded tokio from 1.38 to 1.40".
fn version_change(view: &SessionView<'_>, from: usize, to: usize) -> Option<FindingDraft> {
    let (at, text) = view.agent(from, to).next_back()?;
    let sentence = sentences::lines(truncate_head(text, 16 * 1024))
        .into_iter()
        .flat_map(sentences::split_sentences)
        .find(|sentence| {
            let folded = sentences::fold(sentence);
            !sentences::asks_or_quotes(&folded) && has(&folded, change::RAISED) && has_versions(&folded)
        })?;
    let mut draft = FindingDraft::of_agent(FindingKind::Change, at, line(&sentence.replace("**", ""), 200));
    draft.text = draft.text.trim_start_matches(['-', '*', ' ']).to_owned();
    draft.strength = StatementStrength::Implied;
    draft.priority = Priority::High;
    Some(draft)
}

fn has_versions(folded: &str) -> bool {
    let words: Vec<&str> = folded.split_whitespace().collect();
    let version = |word: &str| {
        let bare = word.trim_matches(|c: char| matches!(c, '`' | ',' | '.' | '"' | '(' | ')' | ';'));
        let bare = bare.strip_prefix('v').unwrap_or(bare);
        bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.contains('.')
            && bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
    };
    words.windows(4).any(|four| {
        change::FROM_TO.iter().any(|(from, to)| four[0] == *from && four[2] == *to)
            && version(four[1])
            && version(four[3])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::observe::rules::command::ShellCommand;

    #[test]
    fn only_lasting_state_changes_count() {
        let is =
            |input: &str| ShellCommand::read(input).is_some_and(|command| command.parts.iter().any(changes));
        for input in [
            "cargo add serde --features derive",
            "cd api && npm install -D vitest",
            "pip install 'httpx>=0.27'",
            "git config core.hooksPath .githooks",
            "alembic upgrade head",
            "mise use node@22",
            "go get example.com/x@v1.2.0",
            "npx prisma migrate deploy",
            "git remote set-url origin git@example.com:a/b",
        ] {
            assert!(is(input), "{input}");
        }
        for input in [
            "npm install",
            "npm ci",
            "pip install -r requirements.txt",
            "pip install -e .",
            "git config --list",
            "git config user.name",
            "cargo build",
            "cargo install --path .",
            "echo cargo add serde",
            "go install ./...",
            "prisma migrate status",
            "pip install .",
            "git commit -m 'cargo add serde'",
        ] {
            assert!(!is(input), "{input}");
        }
    }

    #[test]
    fn versions_are_numbers_on_both_sides() {
        assert!(has_versions("upgraded tokio from 1.38.0 to 1.40.0."));
        assert!(has_versions("tokio von 1.38 auf v1.40 aktualisiert"));
        assert!(!has_versions("moved the function from a.rs to b.rs"));
        assert!(!has_versions("renamed it from 3 to 4"));
    }
}
