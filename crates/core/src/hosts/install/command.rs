//! The hook command as a shell line, and the recognition of earlier versions of it.

use crate::base::agent::Agent;

/// The parts of a hook command that depend on this installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookInvocation {
    /// The absolute path of the program.
    pub program: String,
    /// The home to pass on if it is not the default. Agents pass only part of the environment to their hooks.
    pub home: Option<String>,
    /// True if the hook is also called before tools run (`recall.before_tools`).
    pub before_tools: bool,
}

impl HookInvocation {
    /// The hook command as separate arguments.
    pub fn hook_command(&self, agent: Agent, event: &str) -> Vec<String> {
        let mut words = vec![self.program.clone()];
        if let Some(home) = &self.home {
            words.extend(["--home".to_owned(), home.clone()]);
        }
        words.extend(["hook".to_owned(), agent.as_str().to_owned(), event.to_owned()]);
        words
    }

    /// The hook command as one shell line. Claude Code's `args` key would avoid the shell, but older versions
    /// ignore that key: they would run the bare program and take its usage error as a reason to block the
    /// prompt.
    pub fn line(&self, agent: Agent, event: &str) -> String {
        let words: Vec<String> =
            self.hook_command(agent, event).iter().map(|word| shell_quote(word)).collect();
        words.join(" ")
    }
}

/// Quotes an argument for a shell.
pub fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Windows has no single quotes, but paths there cannot contain a double quote.
    if word.contains(":\\") || word.starts_with("\\\\") {
        return format!("\"{}\"", word.replace('\\', "/"));
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Splits a command line into words as a shell does, without expansion.
pub fn split(line: &str) -> Vec<String> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let (mut characters, mut inside) = (line.chars(), None);
    while let Some(c) = characters.next() {
        match (inside, c) {
            (Some('\''), '\'') | (Some('"'), '"') => inside = None,
            (None, '\'' | '"') => {
                inside = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (Some('"') | None, '\\') => {
                let next = characters.next();
                let word = word.get_or_insert_default();
                // Inside double quotes a backslash escapes only these. Windows paths are full of others.
                if inside.is_some() && !matches!(next, Some('"' | '\\' | '$' | '`')) {
                    word.push('\\');
                }
                word.extend(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A hook command of ours, found in an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedCommand {
    /// The program that it calls.
    pub program: String,
    /// The home that it passes on.
    pub home: Option<String>,
    /// The event that it names.
    pub event: String,
    /// True if it brings settings of its own, as options or as variables in front of the program.
    pub has_own_settings: bool,
}

/// Recognises a hook command of ours, written by any version, folder or home: it calls a program named
/// `rekindle` with `hook` and the agent.
pub fn recognise_command(words: &[String], agent: Agent) -> Option<RecognisedCommand> {
    let is_prefix = |word: &&String| matches!(word.as_str(), "exec" | "env") || is_assignment(word);
    let skipped = words.iter().take_while(is_prefix).count();
    let (program, rest) = words.get(skipped..)?.split_first()?;
    if !matches!(program.rsplit(['/', '\\']).next(), Some("rekindle" | "rekindle.exe")) {
        return None;
    }
    let (mut rest, mut home) = (rest.iter(), None);
    let mut has_own_settings = words.iter().take(skipped).any(|word| is_assignment(word));
    loop {
        let word = rest.next()?;
        match word.as_str() {
            "hook" => break,
            "--home" => home = rest.next().cloned(),
            "-c" | "--config" => {
                rest.next()?;
                has_own_settings = true;
            }
            "--color" => drop(rest.next()?),
            option if option.starts_with("--home=") => {
                home = option.split_once('=').map(|(_, home)| home.to_owned());
            }
            option if option.starts_with('-') => {}
            _ => return None,
        }
    }
    if rest.next()? != agent.as_str() {
        return None;
    }
    Some(RecognisedCommand {
        program: program.clone(),
        home,
        event: rest.next().cloned().unwrap_or_default(),
        has_own_settings,
    })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b_15_our_commands_are_known_again() {
        let known = |line: &str| recognise_command(&split(line), Agent::Claude);
        let plain = known("/usr/bin/rekindle hook claude Stop").unwrap();
        assert_eq!(
            (plain.program.as_str(), plain.home, plain.event.as_str()),
            ("/usr/bin/rekindle", None, "Stop")
        );
        let home = known("'/opt/my tools/rekindle' --home '/a b/c' hook claude SessionEnd").unwrap();
        assert_eq!((home.program.as_str(), home.home.as_deref()), ("/opt/my tools/rekindle", Some("/a b/c")));
        assert!(known("RUST_LOG=x exec rekindle --home=/h -c a=b hook claude Stop --new-flag").is_some());
        assert!(known("rekindle -c a=b hook claude Stop").unwrap().has_own_settings);
        assert!(known("A=b rekindle hook claude Stop").unwrap().has_own_settings && !plain.has_own_settings);
        assert!(known("\"C:/Program Files/rekindle.exe\" hook claude Stop").is_some());
        assert!(known("\"C:\\Program Files\\rekindle.exe\" hook claude Stop").is_some());
    }

    #[test]
    fn b_15_other_peoples_commands_are_not() {
        let known = |line: &str| recognise_command(&split(line), Agent::Claude).is_some();
        for line in [
            "",
            "rekindle",
            "rekindle list",
            "rekindle hook",
            "rekindle hook codex Stop",
            "echo rekindle hook claude Stop",
            "/usr/bin/rekindle-hook claude Stop",
            "my-rekindle hook claude Stop",
            "rekindle save hook claude",
        ] {
            assert!(!known(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_read_back(words in prop::collection::vec("[^\0]{0,12}", 1..5)) {
            prop_assume!(words.iter().all(|word| !word.contains(":\\") && !word.starts_with("\\\\")));
            let line: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
            prop_assert_eq!(split(&line.join(" ")), words);
        }

        #[test]
        fn our_own_hook_entries_are_recognised(folder in "(/[a-zA-Z 'é\"$-]{1,8}){0,3}", home in prop::option::of("/[ -~]{1,20}")) {
            prop_assume!(home.as_ref().is_none_or(|home| !home.contains(":\\")));
            let invocation = HookInvocation { program: format!("{folder}/rekindle"), home, before_tools: false };
            for agent in Agent::ALL {
                let known = recognise_command(&split(&invocation.line(agent, "Stop")), agent).unwrap();
                prop_assert_eq!(&known.program, &invocation.program);
                prop_assert_eq!(&known.home, &invocation.home);
                prop_assert_eq!(known.event, "Stop");
            }
        }
    }
}
