//! Tests of proposals for identity files and for memories.

use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::provenance::Provenance;
use rekindle_core::base::scope::Scope;
use rekindle_core::knowledge::proposal::ProposalTarget;
use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::layout::{EntryDestination, EntryGroup};
use rekindle_core::vault::review::ProposalPlace;

use super::super::*;
use super::{PromoteFixture, count};
use crate::jobs::worker_lock::WorkerLock;
use crate::platform::disk;
use crate::vault::{NewEntry, NewIdea};

const AGENTS: &str = "# Agents\n\n- Use npm.\n";

impl PromoteFixture {
    pub(super) fn identity(&self, name: &str) -> PathBuf {
        self.context.places.identity().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "the person writes as they like")]
    pub(super) fn put_identity(&self, name: &str, text: &str) {
        disk::create_private_folder(self.context.places.identity()).unwrap();
        std::fs::write(self.identity(name), text).unwrap();
    }

    pub(super) fn agents(&self) -> String {
        std::fs::read_to_string(self.identity("AGENTS.md")).unwrap()
    }

    pub(super) fn aim_at(&self, target: &ProposalTarget, text: &str, supersedes: Option<&str>) -> ProposalId {
        let file = match target {
            ProposalTarget::Memory(name)
            | ProposalTarget::Identity(name)
            | ProposalTarget::Entry(name)
            | ProposalTarget::Everywhere(name) => name.clone(),
            ProposalTarget::Idea(_) => layout::IDEAS.to_owned(),
        };
        self.hand_in_as(|one| Proposal {
            place: ProposalPlace::Section(file.clone()),
            target: Some(target.clone()),
            title: text.to_owned(),
            text: text.to_owned(),
            supersedes: supersedes.map(str::to_owned),
            ..one
        })
    }

    pub(super) fn for_agents(&self, text: &str, supersedes: Option<&str>) -> ProposalId {
        self.aim_at(&ProposalTarget::Identity("AGENTS.md".to_owned()), text, supersedes)
    }

    /// Saves a memory of the person and returns its path.
    pub(super) fn memory(&self, slug: &str, line: &str) -> String {
        let new = NewEntry {
            kind: "fix".to_owned(),
            slug: slug.to_owned(),
            to: EntryDestination::Group(EntryGroup::PersonalPrivate),
            tags: Vec::new(),
            scope: Scope::Global,
            body: format!("{line}\n"),
            confidence: Confidence::High,
            provenance: Provenance::from_user(),
            said_at: None,
        };
        let vault = self.context.vault().unwrap();
        vault.save(&new, ChangeActor::User, &self.context.now()).unwrap().path.to_string()
    }

    /// Writes down an idea of the person and returns its name.
    pub(super) fn idea(&self, title: &str) -> String {
        let provenance = Provenance::from_user();
        let new = NewIdea {
            title,
            summary: title,
            provenance,
            scope: Scope::Global,
            related: Vec::new(),
            said_at: None,
        };
        let vault = self.context.vault().unwrap();
        vault.add_idea(&new, ChangeActor::User, &self.context.now()).unwrap().outcome
    }

    fn post(&self) -> WorkerLock {
        WorkerLock::acquire(&self.context.places.locks_folder(), Duration::from_secs(5)).unwrap().unwrap()
    }

    pub(super) fn patch(&self, id: ProposalId) -> PatchLook {
        prepare_patch(&self.post(), &self.context, id).unwrap()
    }

    /// Applies a patch as a person who confirms it.
    pub(super) fn apply(&self, id: ProposalId) -> Result<(), StepError> {
        let PatchLook::Patch(patch) = self.patch(id) else { panic!("no patch") };
        apply(&self.post(), &self.context, &patch)
    }

    fn patch_file(&self, id: ProposalId) -> PathBuf {
        patches::path(&self.context.places.patches_folder(), id)
    }

    fn sound(&self) {
        assert_eq!(proposals::check(&self.db()).unwrap(), [] as [String; 0]);
    }
}

#[test]
fn idn_05_approving_makes_a_patch_and_only_the_person_changes_the_file() {
    for steps in 0..6 {
        let trial = PromoteFixture::new();
        trial.put_identity("AGENTS.md", AGENTS);
        let id = trial.for_agents("Use pnpm in this workspace.", Some("Use npm."));
        trial.refresh();
        assert!(
            trial.read("REVIEW.md").contains("## Proposed for: AGENTS.md\n"),
            "{}",
            trial.read("REVIEW.md")
        );
        trial.decide(id, &ProposalVerdict::Approve);
        trial.killed_after(steps);
        trial.work();
        trial.clock();
        trial.work();
        assert_eq!(
            (trial.agents().as_str(), trial.status(id)),
            (AGENTS, ProposalStatus::Approved),
            "{steps}"
        );
        trial.sound();
        let patch = std::fs::read_to_string(trial.patch_file(id)).unwrap();
        assert!(patch.starts_with("--- a/AGENTS.md\n+++ b/AGENTS.md\n@@"), "{patch}");
        assert!(patch.contains("\n-- Use npm.\n+- Use pnpm in this workspace.\n"), "{patch}");
        trial.apply(id).unwrap();
        assert_eq!(trial.agents(), "# Agents\n\n- Use pnpm in this workspace.\n");
        assert_eq!((trial.status(id), trial.patch_file(id).exists()), (ProposalStatus::Promoted, false));
        assert_eq!(count(&trial.log(), &format!("promoted `{id}`")), 1, "{}", trial.log());
        assert!(matches!(trial.patch(id), PatchLook::Otherwise(_)), "once");
        trial.context.vault().unwrap().undo(None, ChangeActor::User, &trial.context.now()).unwrap();
        assert_eq!(reverse_undone_promotions(&trial.context).unwrap(), [id]);
        assert_eq!((trial.agents().as_str(), trial.status(id)), (AGENTS, ProposalStatus::Pending));
        assert_eq!(count(&trial.log(), &format!("undone `{id}`")), 1, "{}", trial.log());
        trial.sound();
    }
}

#[test]
fn idn_05_b_07_a_patch_follows_its_file_or_says_why_it_cannot() {
    let trial = PromoteFixture::new();
    trial.put_identity("AGENTS.md", AGENTS);
    let (added, replacing) =
        (trial.for_agents("Ask first.", None), trial.for_agents("Use pnpm.", Some("Use npm.")));
    for id in [added, replacing] {
        trial.decide(id, &ProposalVerdict::Approve);
    }
    trial.work();
    let PatchLook::Patch(seen) = trial.patch(added) else { panic!("it fits") };
    trial.put_identity("AGENTS.md", "# Agents\n\nNew words above.\n\n- Use yarn.\n");
    let late = apply(&trial.post(), &trial.context, &seen).unwrap_err();
    assert!(late.to_string().contains("AGENTS.md"), "what was not looked at is not overwritten: {late}");
    trial.apply(added).unwrap();
    assert_eq!(trial.agents(), "# Agents\n\nNew words above.\n\n- Use yarn.\n\n## Learned\n\n- Ask first.\n");
    let PatchLook::Unfit(why) = trial.patch(replacing) else { panic!("it cannot fit") };
    assert!(why.to_string().contains("no longer exists: Use npm."), "{why}");
    trial.refresh();
    assert!(!trial.patch_file(replacing).exists(), "no patch that does not fit");
    assert_eq!(trial.status(replacing), ProposalStatus::Approved);
    trial.sound();
    assert_eq!(trial.try_to_take_back(replacing).unwrap(), ReconsiderOutcome::Waiting);
    assert_eq!(trial.status(replacing), ProposalStatus::Pending);
    // An approved patch that does not fit waits with the reason.
    trial.decide(replacing, &ProposalVerdict::Approve);
    trial.work();
    assert_eq!(trial.status(replacing), ProposalStatus::Pending);
    assert!(trial.standing(replacing).note.unwrap().contains("no longer exists"));
    trial.decide(replacing, &ProposalVerdict::KeepBoth(None));
    trial.work();
    trial.apply(replacing).unwrap();
    assert!(
        trial.agents().ends_with("- Use yarn.\n\n## Learned\n\n- Ask first.\n- Use pnpm.\n"),
        "{}",
        trial.agents()
    );
    trial.sound();
}

#[test]
fn idn_05_rev_14_what_was_applied_by_hand_or_before_a_kill_is_known() {
    let trial = PromoteFixture::new();
    trial.put_identity("AGENTS.md", AGENTS);
    let id = trial.for_agents("Ask first.", None);
    trial.decide(id, &ProposalVerdict::Approve);
    trial.work();
    trial.put_identity("AGENTS.md", "# Agents\n\n- Use npm.\n- Ask first.\n");
    trial.clock();
    trial.work();
    assert_eq!(
        (trial.status(id), count(&trial.log(), &format!("promoted `{id}`"))),
        (ProposalStatus::Promoted, 1)
    );
    assert!(!trial.patch_file(id).exists());
    // The next read finds it without the schedule: applied by hand, or killed before the store or before the
    // log.
    for (step, words) in ["Read the logs.", "Keep it short.", "Name the file."].into_iter().enumerate() {
        let id = trial.for_agents(words, None);
        trial.decide(id, &ProposalVerdict::Approve);
        trial.work();
        let PatchLook::Patch(patch) = trial.patch(id) else { panic!("it fits") };
        if step == 0 {
            trial.put_identity("AGENTS.md", &patch.amended.after);
        } else {
            let vault = trial.context.vault().unwrap();
            vault.apply(&patches::amendment(&patch.record), &patch.amended, &trial.context.now()).unwrap();
        }
        if step == 2 {
            proposals::mark_promoted(&mut trial.db(), &[id], trial.now()).unwrap();
        }
        assert_eq!(count(&trial.log(), &format!("promoted `{id}`")), 0);
        read_review_decisions(&trial.context).unwrap();
        let receipts = count(&trial.log(), &format!("promoted `{id}`"));
        assert_eq!((trial.status(id), receipts), (ProposalStatus::Promoted, 1), "{words}");
        assert!(!trial.patch_file(id).exists());
    }
    // Killed between the change and the store.
    let killed = trial.for_agents("Write tests.", None);
    trial.decide(killed, &ProposalVerdict::Approve);
    trial.work();
    let PatchLook::Patch(patch) = trial.patch(killed) else { panic!("it fits") };
    let vault = trial.context.vault().unwrap();
    vault.apply(&patches::amendment(&patch.record), &patch.amended, &trial.context.now()).unwrap();
    assert_eq!(trial.status(killed), ProposalStatus::Approved);
    // A new look and a reversal both find it in its file.
    assert_eq!(trial.try_to_take_back(killed).unwrap(), ReconsiderOutcome::Waiting);
    assert_eq!((trial.status(killed), count(&trial.agents(), "Write tests.")), (ProposalStatus::Pending, 0));
    trial.decide(killed, &ProposalVerdict::Approve);
    trial.work();
    let PatchLook::Patch(patch) = trial.patch(killed) else { panic!("it fits") };
    vault.apply(&patches::amendment(&patch.record), &patch.amended, &trial.context.now()).unwrap();
    trial.apply(killed).unwrap();
    assert_eq!((trial.status(killed), count(&trial.agents(), "Write tests.")), (ProposalStatus::Promoted, 1));
    assert_eq!(trial.try_to_take_back(killed).unwrap(), ReconsiderOutcome::Waiting);
    assert!(!trial.agents().contains("Write tests."));
    trial.sound();
}

#[test]
fn rev_12_vlt_04_an_approved_change_of_a_memory_is_a_new_version() {
    for steps in 0..6 {
        let trial = PromoteFixture::new();
        let vault = trial.context.vault().unwrap();
        let line = "The staging database listens on port 5432.";
        let words = "The staging database listens on port 6432.";
        let path = trial.memory("staging db", line);
        let old = trial.read(&path);
        let id = trial.aim_at(&ProposalTarget::Entry(path.clone()), words, Some(line));
        trial.decide(id, &ProposalVerdict::Approve);
        trial.killed_after(steps);
        trial.work();
        assert_eq!(trial.status(id), ProposalStatus::Promoted, "{steps}");
        let text = trial.read(&path);
        assert!(text.ends_with(&format!("\n{words}\n")) && text.contains(&id.to_string()), "{text}");
        let versions =
            vault.changes().unwrap().filter(|change| change.as_ref().unwrap().change.verb == "evolve");
        assert_eq!(versions.count(), 1, "killed after {steps}");
        trial.sound();
        vault.undo(None, ChangeActor::User, &trial.context.now()).unwrap();
        assert_eq!(reverse_undone_promotions(&trial.context).unwrap(), [id]);
        assert_eq!((trial.read(&path), trial.status(id)), (old, ProposalStatus::Pending));
    }
}

#[test]
fn b_07_the_same_about_two_files_is_two_questions_and_a_memory_that_is_gone_says_so() {
    let trial = PromoteFixture::new();
    trial.put_identity("AGENTS.md", AGENTS);
    let words = "Always run the tests with the release profile.";
    let memory = trial.propose("Patterns", words, 0);
    let agents = trial.for_agents(words, None);
    assert_ne!(memory, agents);
    trial.decide(memory, &ProposalVerdict::Approve);
    trial.work();
    assert_eq!(
        (trial.status(memory), trial.status(agents)),
        (ProposalStatus::Promoted, ProposalStatus::Triaged)
    );
    let gone =
        trial.aim_at(&ProposalTarget::Entry("personal-private/fix/gone.md".to_owned()), "It is so.", None);
    assert!(
        page::rebase_proposals(&mut trial.db(), &trial.context.vault().unwrap()).unwrap().contains_key(&gone)
    );
    trial.decide(gone, &ProposalVerdict::Approve);
    trial.work();
    assert_eq!(trial.status(gone), ProposalStatus::Pending);
    assert!(trial.standing(gone).note.unwrap().contains("gone.md"));
}
