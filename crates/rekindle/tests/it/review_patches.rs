//! Approved changes of identity files, through the real binary and real patch tools (IDN-05).
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;

use rekindle_core::knowledge::proposal::{Proposal, ProposalTarget};
use rekindle_core::vault::review::ProposalPlace;
use rekindle_testkit::{Sandbox, TestCommand};

use crate::review::{hand_in_as, page, quiet, review, status};
use crate::text;

fn agents(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("agents/AGENTS.md")
}

/// Stores a proposal for AGENTS.md.
pub(crate) fn for_agents(sandbox: &Sandbox, words: &str, supersedes: Option<&str>) -> String {
    hand_in_as(sandbox, |one| Proposal {
        place: ProposalPlace::Section("AGENTS.md".to_owned()),
        target: Some(ProposalTarget::Identity("AGENTS.md".to_owned())),
        title: words.to_owned(),
        text: words.to_owned(),
        supersedes: supersedes.map(str::to_owned),
        ..one
    })
}

fn read(sandbox: &Sandbox) -> String {
    fs::read_to_string(agents(sandbox)).unwrap()
}

#[test]
fn idn_05_the_person_applies_what_they_approved_and_can_take_it_back() {
    let sandbox = quiet();
    // The identity file is a link to another folder, as with dotfiles.
    let kept = sandbox.user_home().join("dotfiles");
    fs::create_dir(&kept).unwrap();
    fs::rename(agents(&sandbox), kept.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(kept.join("AGENTS.md"), agents(&sandbox)).unwrap();
    fs::write(kept.join("AGENTS.md"), "# Agents\n\n- Use npm.\n").unwrap();
    let before = read(&sandbox);
    let id = for_agents(&sandbox, "Use pnpm in this workspace.", Some("Use npm."));
    let listed = review(&sandbox, &[]);
    let shown = &listed["proposals"][0];
    assert_eq!((text(shown, "file"), text(shown, "section")), ("AGENTS.md", "AGENTS.md"), "{shown}");
    assert!(text(shown, "diff").contains("-- Use npm.\n+- Use pnpm in this workspace.\n"), "{shown}");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert!(page(&sandbox).contains("## Proposed for: AGENTS.md"), "{}", page(&sandbox));
    let screen = sandbox.rekindle(&["review", "--list"]).run().ok().stdout;
    assert!(screen.contains("AGENTS.md") && screen.contains("+- Use pnpm in this workspace."), "{screen}");
    sandbox.rekindle(&["review", "apply", &id]).run().fails(1);

    let said = sandbox.rekindle(&["approve", &id]).run().ok().stdout;
    assert!(said.contains(&format!("rekindle review apply {id}")), "{said}");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert_eq!((read(&sandbox), status(&sandbox, &id).as_str()), (before.clone(), "approved"));
    let noted = sandbox.rekindle(&["review", "--list"]).run().ok();
    assert!(noted.stderr.contains(&format!("rekindle review apply {id}")), "{}", noted.stderr);
    sandbox.rekindle(&["review", "--check"]).run().ok();
    assert!(sandbox.rekindle(&["doctor"]).run().ok().stdout.contains("review apply"), "doctor knows");
    let nobody = sandbox.rekindle(&["review", "apply", &id]).run().fails(2);
    assert!(nobody.stderr.contains("--yes"), "{}", nobody.stderr);
    assert_eq!(read(&sandbox), before);

    let applied = sandbox.rekindle(&["review", "apply", &id, "--yes"]).run().ok().stdout;
    assert!(applied.contains("+- Use pnpm in this workspace."), "{applied}");
    assert_eq!(read(&sandbox), "# Agents\n\n- Use pnpm in this workspace.\n");
    assert!(agents(&sandbox).is_symlink(), "the link stays a link");
    assert_eq!(status(&sandbox, &id), "promoted");
    let again = sandbox.rekindle(&["review", "apply", &id, "--yes"]).run().ok();
    assert!(
        again.stderr.contains("was promoted") && again.stdout.is_empty(),
        "{}{}",
        again.stderr,
        again.stdout
    );
    assert_eq!(read(&sandbox), "# Agents\n\n- Use pnpm in this workspace.\n");
    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!((read(&sandbox), status(&sandbox, &id).as_str()), (before, "pending"));
    assert_eq!(review(&sandbox, &[])["waiting"], 1);
    sandbox.rekindle(&["review", "--check"]).run().ok();
}

#[test]
fn idn_05_the_patch_is_one_that_git_and_patch_take() {
    let tools: [&[&str]; 2] = [&["git", "apply"], &["patch", "-p1", "-i"]];
    for tool in tools {
        let found = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool[0]).is_file()));
        if !found {
            eprintln!("{} is not here", tool[0]);
            continue;
        }
        for (old, new) in [
            ("# Agents\n\n- Use npm.", "# Agents\n\n- Use npm.\n\n## Learned\n\n- Ask first.\n"),
            (
                "# Agents\r\n\r\n- Use npm.\r\n",
                "# Agents\r\n\r\n- Use npm.\r\n\r\n## Learned\r\n\r\n- Ask first.\r\n",
            ),
        ] {
            let sandbox = quiet();
            fs::write(agents(&sandbox), old).unwrap();
            let id = for_agents(&sandbox, "Ask first.", None);
            sandbox.rekindle(&["approve", &id]).run().ok();
            let patch = sandbox.state().join(format!("patches/{id}.patch"));
            let folder = agents(&sandbox).parent().unwrap().to_owned();
            let command = TestCommand::new(tool[0], folder).args(&tool[1..]);
            // GNU patch keeps carriage returns only with `--binary`.
            let command =
                if tool[0] == "patch" { command.arg(patch).arg("--binary") } else { command.arg(patch) };
            let output = command.env("PATH", std::env::var_os("PATH").unwrap()).run();
            assert_eq!(output.code, Some(0), "{tool:?}: {}{}", output.stdout, output.stderr);
            assert_eq!(read(&sandbox), new, "{tool:?}");
            // The applied patch is detected whichever tool applied it, and applying it again does no harm.
            if tool[0] == "git" {
                let listed = review(&sandbox, &[]);
                assert_eq!(listed["patches"].as_array().unwrap().len(), 0, "{listed}");
            } else {
                sandbox.rekindle(&["review", "apply", &id, "--yes"]).run().ok();
            }
            assert_eq!((read(&sandbox).as_str(), status(&sandbox, &id).as_str()), (new, "promoted"));
        }
    }
}

#[test]
fn fri_09_another_program_that_says_it_made_the_change_is_held_to_the_file() {
    let sandbox = quiet();
    fs::write(agents(&sandbox), "# Agents\n").unwrap();
    let id = for_agents(&sandbox, "Ask first.", None);
    let completed = || {
        let data = format!("{{\"proposalId\":\"{id}\"}}");
        sandbox.rekindle(&["send", "memory/friction.fix.completed", "--data", &data]).run().ok();
        let all = crate::capture::work(&sandbox, &[]);
        let runs = crate::capture::runs(&sandbox, &[]);
        let run = runs.iter().rev().find(|run| run["function"] == "promote").cloned();
        (run.unwrap_or(all), status(&sandbox, &id))
    };
    let (run, now) = completed();
    assert!(text(&run, "status") == "SKIPPED" && now != "promoted", "nobody said yes: {run}");
    sandbox.rekindle(&["approve", &id]).run().ok();
    let (run, now) = completed();
    assert_eq!(
        (text(&run, "status"), now.as_str()),
        ("SKIPPED", "approved"),
        "the file does not contain it: {run}"
    );
    fs::write(agents(&sandbox), "# Agents\n\n## Learned\n\n- Ask first.\n").unwrap();
    let (run, now) = completed();
    assert_eq!((text(&run, "status"), now.as_str()), ("COMPLETED", "promoted"), "{run}");
    assert!(crate::capture::log(&sandbox).contains(&format!("promoted `{id}`")));
    sandbox.rekindle(&["review", "--check"]).run().ok();
}
