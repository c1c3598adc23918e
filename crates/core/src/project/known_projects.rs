//! The projects seen on this machine before, and the rules that recognise one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::project_marks::{FolderMark, FolderRelation, ProjectMarks, is_local};
use crate::base::scope::ProjectId;

/// The maximum number of projects kept. A dropped project gets its id again from remote, commit or folder,
/// mostly the same one. The limit keeps hooks fast on a machine that creates throw-away repositories all day.
const MAX_PROJECTS: usize = 2_000;

/// The maximum number of folders kept per project: enough for many clones, few enough that temporary ones
/// drop out.
const MAX_FOLDERS: usize = 32;

/// The maximum number of remotes and of first commits kept per project.
const MAX_NAMES: usize = 16;

/// The maximum number of linked worktrees kept per project. Some agents make one per session; the sessions of
/// dropped ones have been captured.
const MAX_WORKTREES: usize = 64;

/// All projects seen before, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownProjects {
    projects: Vec<KnownProject>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownProject {
    id: ProjectId,
    #[serde(default)]
    remotes: Vec<String>,
    #[serde(default)]
    initial_commits: Vec<String>,
    #[serde(default)]
    folders: Vec<FolderMark>,
    /// Paths of linked worktrees outside of the main folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    worktrees: Vec<String>,
    /// The projects that its folder claims to be, and the person says it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    separate_from: Vec<ProjectId>,
}

/// A project as it was seen now, with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectSighting {
    /// The id: the known one, or a fresh one.
    pub id: ProjectId,
    /// The marks that it was seen with.
    pub marks: ProjectMarks,
    /// The known project that it claims to be, without a sign that it is a clone of it. The person has not said yet whether
    /// it is.
    pub claim: Option<Claim>,
}

/// A known project that a folder claims to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The project.
    pub id: ProjectId,
    /// A folder of it that is still there.
    pub folder: String,
}

/// The person's answer to a [`Claim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimAnswer {
    /// It is another clone of that project.
    Same,
    /// It is a project of its own.
    Separate,
}

impl ProjectSighting {
    /// The remote to store. A clone of a project without a server has that project's local id as its remote.
    /// If stored, the first real server of the project would look like a different one.
    fn remote_to_keep(&self) -> Option<String> {
        self.marks.remote.clone().filter(|remote| remote != self.id.as_str() || !is_local(remote))
    }
}

/// A project and the local repositories that it was cloned from, one from the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTrail {
    /// The project at the end of the trail.
    pub last: ProjectMarks,
    /// The local folder that is its remote, that folder's remote and so on, farthest first.
    pub upstream: Vec<ProjectMarks>,
}

/// A [`ProjectTrail`] with an id for each project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifiedTrail {
    /// The project at the end of the trail.
    pub last: ProjectSighting,
    upstream: Vec<ProjectSighting>,
}

impl IdentifiedTrail {
    fn sightings(&self) -> impl Iterator<Item = &ProjectSighting> {
        self.upstream.iter().chain([&self.last])
    }
}

/// The evidence that a sighting is a known project. Compared field by field: a remote outweighs a commit, a
/// commit a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SightingEvidence {
    remote: bool,
    commit: bool,
    place: FolderRelation,
}

impl KnownProjects {
    /// Gives a project its id, and one to each repository it was made from. `is_there` says whether a folder still exists.
    pub fn assign_ids(&self, trail: &ProjectTrail, is_there: &dyn Fn(&str) -> bool) -> IdentifiedTrail {
        let mut upstream: Vec<ProjectSighting> = Vec::with_capacity(trail.upstream.len());
        for marks in &trail.upstream {
            upstream.push(self.sighting(marks, upstream.last(), trail, is_there));
        }
        let own = self.sighting(&trail.last, upstream.last(), trail, is_there);
        IdentifiedTrail { last: own, upstream }
    }

    /// A repository whose remote is a folder is the project found there, so that project's id is its remote. One that only
    /// claims a hosted remote goes by everything else.
    fn sighting(
        &self,
        marks: &ProjectMarks,
        upstream: Option<&ProjectSighting>,
        trail: &ProjectTrail,
        is_there: &dyn Fn(&str) -> bool,
    ) -> ProjectSighting {
        let mut marks = marks.clone();
        if let Some(upstream) = upstream {
            marks.remote = Some(upstream.id.as_str().to_owned());
        }
        // A folder of this machine that was followed is no name that anybody could claim.
        let claim = if upstream.is_none() { self.claim(&marks, trail, is_there) } else { None };
        let id = |marks: &ProjectMarks| {
            self.recognise(marks).map_or_else(|| marks.new_id(), |(_, known)| known.id.clone())
        };
        if let Some(claim) = claim {
            let without_remote = ProjectMarks { remote: None, ..marks.clone() };
            let own = id(&without_remote);
            // By everything else it is that very project.
            if own != claim.id {
                let is_answered = self.is_separate(&marks, &claim.id);
                let claim = (!is_answered).then_some(claim);
                return ProjectSighting { id: own, marks: without_remote, claim };
            }
        }
        ProjectSighting { id: id(&marks), marks, claim: None }
    }

    /// The known project with the best evidence; of equals the one known longest.
    fn recognise(&self, marks: &ProjectMarks) -> Option<(SightingEvidence, &KnownProject)> {
        let candidates = self.projects.iter().rev().filter_map(|known| Some((known.evidence(marks)?, known)));
        candidates.max_by_key(|(evidence, _)| *evidence)
    }

    /// The project that these marks claim to be: nothing but the address of its server speaks for it, git never fetched
    /// anything here, and another folder of the project is still there.
    fn claim(
        &self,
        marks: &ProjectMarks,
        trail: &ProjectTrail,
        is_there: &dyn Fn(&str) -> bool,
    ) -> Option<Claim> {
        let (evidence, known) = self.recognise(marks)?;
        let only_remote = SightingEvidence { remote: true, commit: false, place: FolderRelation::Elsewhere };
        if evidence != only_remote || (marks.has_fetched && !self.is_separate(marks, &known.id)) {
            return None;
        }
        // Folders that this trail itself absorbs are not other folders of the project.
        let taken: Vec<&FolderMark> = trail
            .upstream
            .iter()
            .chain([&trail.last])
            .flat_map(|marks| [Some(&marks.folder), marks.before_git.as_ref()])
            .flatten()
            .collect();
        let is_taken = |folder: &FolderMark| {
            taken
                .iter()
                .any(|own| own.path == folder.path || own.relation_to(folder) >= FolderRelation::Moved)
        };
        let mut others = known.folders.iter().filter(|folder| !is_taken(folder)).map(|folder| &folder.path);
        let folder = others.find(|path| is_there(path))?;
        let folder = folder.strip_suffix("/.git").unwrap_or(folder).to_owned();
        Some(Claim { id: known.id.clone(), folder })
    }

    /// True if the person said that the project in this folder is not `id`.
    fn is_separate(&self, marks: &ProjectMarks, id: &ProjectId) -> bool {
        self.projects.iter().any(|known| {
            known.separate_from.contains(id) && known.folder_relation(marks) >= FolderRelation::Moved
        })
    }

    /// Takes down what the person says about the claim of a folder. Does nothing without a claim.
    pub fn answer_claim(&mut self, settled: &IdentifiedTrail, answer: ClaimAnswer) {
        let Some(claim) = &settled.last.claim else { return };
        match answer {
            ClaimAnswer::Same => {
                let own = ProjectSighting { id: claim.id.clone(), claim: None, ..settled.last.clone() };
                self.record_one(&own);
            }
            ClaimAnswer::Separate => {
                self.record_one(&settled.last);
                let known = self.projects.iter_mut().find(|known| known.id == settled.last.id);
                known.into_iter().for_each(|known| known.separate_from.push(claim.id.clone()));
            }
        }
    }

    /// The project of a folder that no longer exists: the one last seen there or in a parent folder,
    /// worktrees included, but not in `outside` or above, which still exists.
    pub fn find_by_path(&self, folder: &Path, outside: &Path) -> Option<&ProjectId> {
        let roots = self.projects.iter().flat_map(|known| {
            let folders = known.folders.iter().map(|mark| {
                let path = Path::new(&mark.path);
                if path.ends_with(".git") { path.parent().unwrap_or(path) } else { path }
            });
            let worktrees = known.worktrees.iter().map(Path::new);
            folders.chain(worktrees).map(move |root| (root, &known.id))
        });
        let around = roots.filter(|(root, _)| folder.starts_with(root) && !outside.starts_with(root));
        around.max_by_key(|(root, _)| root.components().count()).map(|(_, id)| id)
    }

    /// True if [`Self::record`] would change nothing.
    pub fn is_recorded(&self, settled: &IdentifiedTrail) -> bool {
        settled.sightings().all(|sighting| self.knows_one(sighting))
    }

    /// Records what was seen.
    pub fn record(&mut self, settled: &IdentifiedTrail) {
        settled.sightings().for_each(|sighting| self.record_one(sighting));
    }

    fn knows_one(&self, sighting: &ProjectSighting) -> bool {
        let ProjectSighting { id, marks, .. } = sighting;
        self.projects.iter().find(|known| known.id == *id).is_some_and(|known| {
            let has = |list: &[String], value: &Option<String>| {
                value.as_ref().is_none_or(|value| list.contains(value))
            };
            // Compare the whole folder: a new device number must be stored before the next move.
            has(&known.remotes, &sighting.remote_to_keep())
                && has(&known.initial_commits, &marks.initial_commit)
                && has(&known.worktrees, &marks.worktree)
                && known.folders.iter().any(|folder| marks.folder.is_subset_of(folder))
        })
    }

    /// Records one sighting. A folder belongs to one project, so it is removed from any other. A project's
    /// own old paths stay: worktrees of a moved repository refer to them until git repairs them.
    fn record_one(&mut self, sighting: &ProjectSighting) {
        let ProjectSighting { id, marks, .. } = sighting;
        let paths =
            [Some(&marks.folder), marks.before_git.as_ref()].map(|folder| folder.map(|folder| &folder.path));
        for known in &mut self.projects {
            let is_other = known.id != *id;
            known.folders.retain(|folder| {
                let is_same = is_other && marks.folder.relation_to(folder) >= FolderRelation::Moved;
                let is_replaced = paths.contains(&Some(&folder.path)) && !marks.folder.is_subset_of(folder);
                !is_same && !is_replaced
            });
            if is_other {
                known.worktrees.retain(|path| marks.worktree.as_ref() != Some(path));
            }
        }
        let index = self.projects.iter().position(|known| known.id == *id).unwrap_or_else(|| {
            let id = id.clone();
            self.projects.push(KnownProject {
                id,
                remotes: vec![],
                initial_commits: vec![],
                folders: vec![],
                worktrees: vec![],
                separate_from: vec![],
            });
            self.projects.len() - 1
        });
        let known = &mut self.projects[index];
        add(&mut known.remotes, sighting.remote_to_keep(), MAX_NAMES);
        add(&mut known.initial_commits, marks.initial_commit.clone(), MAX_NAMES);
        add(&mut known.worktrees, marks.worktree.clone(), MAX_WORKTREES);
        if !known.folders.iter().any(|folder| marks.folder.is_subset_of(folder)) {
            add(&mut known.folders, Some(marks.folder.clone()), MAX_FOLDERS);
        }
        if self.projects.len() > MAX_PROJECTS {
            self.projects.remove(0);
        }
    }
}

impl KnownProject {
    /// The evidence that this project is the one that was seen. Strongest first: remote, initial commit,
    /// folder, path; a mark that differs overrules every weaker one that agrees. One exception: a remote may
    /// be renamed, so the very same folder is the same project under another remote, unless its first commit
    /// differs too.
    fn evidence(&self, marks: &ProjectMarks) -> Option<SightingEvidence> {
        let remote = marks.remote.as_ref().and_then(|remote| {
            let same = remote == self.id.as_str() || self.remotes.contains(remote);
            (same || !self.remotes.is_empty()).then_some(same)
        });
        let commit = marks.initial_commit.as_ref().and_then(|commit| {
            let same = self.initial_commits.contains(commit);
            (same || !self.initial_commits.is_empty()).then_some(same)
        });
        let place = self.folder_relation(marks);
        let same = match (remote, commit) {
            (Some(true), _) => true,
            (Some(false), Some(false)) => false,
            (Some(false), _) => place >= FolderRelation::Moved,
            (None, Some(same)) => same,
            (None, None) => place >= FolderRelation::SamePath,
        };
        same.then_some(SightingEvidence { remote: remote == Some(true), commit: commit == Some(true), place })
    }

    fn folder_relation(&self, marks: &ProjectMarks) -> FolderRelation {
        let seen = [Some(&marks.folder), marks.before_git.as_ref()];
        let compared =
            seen.into_iter().flatten().flat_map(|now| self.folders.iter().map(|was| now.relation_to(was)));
        compared.max().unwrap_or(FolderRelation::Elsewhere)
    }
}

/// Adds a new value to a bounded list. The oldest is dropped, except the very first, which the id was made
/// from.
fn add<T: PartialEq>(list: &mut Vec<T>, value: Option<T>, max: usize) {
    if let Some(value) = value.filter(|value| !list.contains(value)) {
        if list.len() >= max {
            list.remove(1);
        }
        list.push(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A repository at `/src/<name>` with this inode.
    fn repository(name: &str, inode: u64) -> ProjectMarks {
        let folder =
            |path: String, inode| FolderMark { path, device: Some(1), inode: Some(inode), born: Some(100) };
        ProjectMarks {
            name: name.to_owned(),
            remote: None,
            initial_commit: None,
            folder: folder(format!("/src/{name}/.git"), inode),
            before_git: Some(folder(format!("/src/{name}"), inode + 1_000)),
            worktree: None,
            has_fetched: true,
        }
    }

    fn with_remote(mut marks: ProjectMarks, remote: &str) -> ProjectMarks {
        marks.remote = Some(format!("github.com/acme/{remote}"));
        marks
    }

    fn with_commit(mut marks: ProjectMarks, digit: char) -> ProjectMarks {
        marks.initial_commit = Some(digit.to_string().repeat(40));
        marks
    }

    fn look(known: &KnownProjects, marks: &ProjectMarks) -> IdentifiedTrail {
        known.assign_ids(&ProjectTrail { last: marks.clone(), upstream: vec![] }, &|_| true)
    }

    fn see(known: &mut KnownProjects, marks: &ProjectMarks) -> String {
        let settled = look(known, marks);
        known.record(&settled);
        assert!(known.is_recorded(&settled));
        settled.last.id.as_str().to_owned()
    }

    #[test]
    fn b_05_clones_of_one_remote_are_one_project() {
        let mut known = KnownProjects::default();
        assert_eq!(see(&mut known, &with_remote(repository("a", 1), "widgets")), "github.com/acme/widgets");
        assert_eq!(see(&mut known, &with_remote(repository("b", 2), "widgets")), "github.com/acme/widgets");
        assert_eq!(known.projects.len(), 1);
    }

    #[test]
    fn b_05_a_moved_folder_is_found_by_its_number_or_its_first_commit() {
        let mut known = KnownProjects::default();
        let id = see(&mut known, &repository("a", 1));
        assert_eq!(see(&mut known, &repository("moved", 1)), id);
        let mut left_behind = repository("a", 1);
        (left_behind.folder.inode, left_behind.folder.born) = (None, None);
        assert_eq!(see(&mut known, &left_behind), id, "a worktree that still names the old path");
        assert_ne!(
            see(&mut known, &repository("a", 5)),
            id,
            "which does not hand that path to whoever comes next"
        );
        let copied = with_commit(repository("c", 3), 'c');
        let id = see(&mut known, &copied);
        assert_eq!(see(&mut known, &with_commit(repository("other-disk", 4), 'c')), id);
    }

    #[test]
    fn b_05_a_renamed_remote_keeps_the_id_and_so_do_its_new_clones() {
        let mut known = KnownProjects::default();
        let id = see(&mut known, &with_remote(repository("a", 1), "widgets"));
        assert_eq!(see(&mut known, &with_remote(repository("a", 1), "gadgets")), id);
        assert_eq!(see(&mut known, &with_remote(repository("fresh", 2), "gadgets")), id);
        assert_eq!(see(&mut known, &with_remote(repository("stale", 3), "widgets")), id);
    }

    #[test]
    fn b_05_a_first_remote_keeps_the_id_and_so_do_a_first_commit_and_git_itself() {
        let mut known = KnownProjects::default();
        let git = repository("a", 1);
        let plain = ProjectMarks { folder: git.before_git.clone().unwrap(), before_git: None, ..git.clone() };
        let id = see(&mut known, &plain);
        assert_eq!(see(&mut known, &git), id);
        assert_eq!(see(&mut known, &with_commit(git.clone(), 'a')), id);
        assert_eq!(see(&mut known, &with_remote(git.clone(), "widgets")), id);
        assert_eq!(see(&mut known, &with_remote(repository("clone", 2), "widgets")), id);
        assert_eq!(known.projects[0].folders.len(), 2, "the folder without git is no longer a mark");
    }

    #[test]
    fn b_05_another_repository_at_the_same_path_is_another_project() {
        for before in [
            repository("a", 1),
            with_commit(repository("a", 1), 'a'),
            with_remote(repository("a", 1), "widgets"),
            with_remote(with_commit(repository("a", 1), 'a'), "widgets"),
        ] {
            for after in [
                repository("a", 2),
                with_commit(repository("a", 2), 'b'),
                with_remote(repository("a", 2), "gadgets"),
                with_remote(with_commit(repository("a", 2), 'b'), "gadgets"),
            ] {
                let mut known = KnownProjects::default();
                let old = see(&mut known, &before);
                let new = see(&mut known, &after);
                assert_ne!(old, new, "{before:?} {after:?}");
                assert_eq!(see(&mut known, &after), new);
            }
        }
    }

    #[test]
    fn b_05_a_reused_number_is_not_a_move() {
        let mut known = KnownProjects::default();
        let id = see(&mut known, &repository("a", 1));
        let mut later = repository("b", 1);
        later.folder.born = Some(200);
        assert_ne!(see(&mut known, &later), id);

        let mut known = KnownProjects::default();
        let id = see(&mut known, &with_commit(repository("a", 1), 'a'));
        assert_ne!(
            see(&mut known, &with_commit(repository("a", 1), 'b')),
            id,
            "a first commit outweighs a number"
        );

        let mut known = KnownProjects::default();
        let id = see(&mut known, &with_remote(with_commit(repository("a", 1), 'a'), "widgets"));
        let other = with_remote(with_commit(repository("a", 1), 'b'), "gadgets");
        assert_ne!(see(&mut known, &other), id, "a remote is renamed, a first commit is not");
    }

    #[test]
    fn b_05_a_path_alone_is_enough_only_if_nothing_speaks_against_it() {
        let unnumbered = |mut marks: ProjectMarks| {
            (marks.folder.inode, marks.folder.born, marks.before_git) = (None, None, None);
            marks
        };
        let mut known = KnownProjects::default();
        let id = see(&mut known, &with_remote(with_commit(repository("a", 1), 'a'), "widgets"));
        let seen = |marks: ProjectMarks| look(&known, &unnumbered(marks)).last.id.as_str().to_owned();
        assert_eq!(seen(repository("a", 9)), id);
        assert_ne!(seen(with_commit(repository("a", 9), 'b')), id);
        assert_ne!(seen(with_remote(repository("a", 9), "gadgets")), id);
        assert_ne!(seen(repository("b", 9)), id);
    }

    #[test]
    fn b_05_a_copy_that_is_pushed_elsewhere_is_its_own_project() {
        let mut known = KnownProjects::default();
        let id = see(&mut known, &with_remote(with_commit(repository("a", 1), 'a'), "widgets"));
        let fork = see(&mut known, &with_remote(with_commit(repository("fork", 2), 'a'), "fork"));
        assert_eq!(fork, "github.com/acme/fork");
        assert_ne!(fork, id);
        assert_eq!(
            see(&mut known, &with_commit(repository("fork", 2), 'a')),
            fork,
            "the nearer of two with one commit"
        );
        let copy = with_commit(repository("copy", 3), 'a');
        assert_eq!(look(&known, &copy).last.id.as_str(), id, "the older of two that are as near");
    }

    #[test]
    fn the_stronger_mark_wins_when_two_projects_fit() {
        let mut known = KnownProjects::default();
        let local = see(&mut known, &repository("a", 1));
        let hosted = see(&mut known, &with_remote(repository("b", 2), "widgets"));
        assert_ne!(local, hosted);
        assert_eq!(see(&mut known, &with_remote(repository("a", 1), "widgets")), hosted);
        let elsewhere = known.projects.iter().find(|project| project.id.as_str() == local).unwrap();
        assert!(elsewhere.folders.is_empty(), "a folder belongs to one project");
    }

    #[test]
    fn b_05_a_chain_of_local_remotes_is_one_project() {
        let mut known = KnownProjects::default();
        let far = with_remote(repository("far", 1), "widgets");
        let trail = ProjectTrail { last: repository("near", 3), upstream: vec![far, repository("mid", 2)] };
        let settled = known.assign_ids(&trail, &|_| true);
        assert!(settled.sightings().all(|sighting| sighting.id.as_str() == "github.com/acme/widgets"));
        assert_eq!(settled.last.marks.remote.as_deref(), Some("github.com/acme/widgets"));

        let settled = known.assign_ids(
            &ProjectTrail { last: repository("near", 3), upstream: vec![repository("far", 1)] },
            &|_| true,
        );
        known.record(&settled);
        assert_eq!(see(&mut known, &repository("far", 1)), settled.last.id.as_str());
        assert_eq!(known.projects.len(), 1);

        // The project's first server, seen on another disk.
        let far = with_commit(repository("far", 1), 'f');
        see(&mut known, &far);
        let restored = with_remote(with_commit(repository("restored", 9), 'f'), "gadgets");
        assert_eq!(see(&mut known, &restored), settled.last.id.as_str());
    }

    #[test]
    fn b_05_a_worktree_that_was_removed_still_belongs_to_its_project() {
        let mut known = KnownProjects::default();
        let main = with_remote(repository("a", 1), "widgets");
        see(&mut known, &main);
        let worktree = ProjectMarks { worktree: Some("/src/a-feature".to_owned()), ..main };
        assert!(!known.is_recorded(&look(&known, &worktree)), "a new worktree is news");
        let id = see(&mut known, &worktree);
        let at = |known: &KnownProjects, path: &str| {
            known.find_by_path(Path::new(path), Path::new("/src")).map(|id| id.as_str().to_owned())
        };
        assert_eq!(at(&known, "/src/a-feature/deep"), Some(id));
        assert_eq!(at(&known, "/src/a-feature-2"), None);
        // Another project's worktree takes the same path.
        let other = ProjectMarks {
            worktree: Some("/src/a-feature".to_owned()),
            ..with_remote(repository("b", 2), "gadgets")
        };
        let other = see(&mut known, &other);
        assert_eq!(at(&known, "/src/a-feature"), Some(other));
    }

    #[test]
    fn a_new_device_number_is_news() {
        let mut known = KnownProjects::default();
        let mut marks = repository("a", 1);
        let id = see(&mut known, &marks);
        marks.folder.device = Some(5);
        let settled = look(&known, &marks);
        assert_eq!(settled.last.id.as_str(), id);
        assert!(!known.is_recorded(&settled));
        see(&mut known, &marks);
        assert_eq!(known.projects[0].folders, [marks.folder]);
    }

    #[test]
    fn the_registry_stays_small() {
        let mut known = KnownProjects::default();
        for n in 0..100 {
            see(&mut known, &with_remote(repository(&format!("clone-{n}"), n), "widgets"));
        }
        assert_eq!(known.projects[0].folders.len(), MAX_FOLDERS);
        assert_eq!(known.projects[0].folders[0].inode, Some(0));
        assert_eq!(known.projects[0].folders[MAX_FOLDERS - 1].inode, Some(99));
        for n in 0..=MAX_PROJECTS {
            let marks = repository(&format!("r-{n}"), 10_000 + n as u64);
            known.record_one(&ProjectSighting {
                id: ProjectId::new(format!("local/r-{n}")),
                marks,
                claim: None,
            });
        }
        assert_eq!(known.projects.len(), MAX_PROJECTS);
    }

    fn any_marks() -> impl Strategy<Value = ProjectMarks> {
        let commit = prop::option::of(prop::sample::select(vec!['a', 'b']));
        let remote = prop::option::of(prop::sample::select(vec!["widgets", "gadgets"]));
        let name = prop::sample::select(vec!["a", "b"]);
        let fetched = any::<bool>();
        (name, 1..4u64, 1..3i64, commit, remote, fetched).prop_map(
            |(name, inode, born, commit, remote, fetched)| {
                let mut marks = repository(name, inode);
                marks.has_fetched = fetched;
                marks.folder.born = Some(born);
                let marks = commit.into_iter().fold(marks, with_commit);
                remote.into_iter().fold(marks, with_remote)
            },
        )
    }

    fn any_trail() -> impl Strategy<Value = ProjectTrail> {
        (any_marks(), prop::option::of(any_marks())).prop_map(|(own, upstream)| {
            let upstream = upstream.map(|mut marks| {
                // The record of a chain may prove a claim; the second pass then settles it.
                marks.has_fetched = true;
                marks.folder.path.push_str("-upstream");
                marks.folder.device = Some(2);
                marks
            });
            ProjectTrail { last: own, upstream: upstream.into_iter().collect() }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Looking twice gives the same answer whatever was seen before, and the file round-trips.
        #[test]
        fn what_was_recorded_is_recognised(seen in prop::collection::vec(any_trail(), 1..12)) {
            let mut known = KnownProjects::default();
            for trail in seen {
                let settled = known.assign_ids(&trail, &|_| true);
                known.record(&settled);
                prop_assert_eq!(known.assign_ids(&trail, &|_| true), settled.clone());
                prop_assert!(known.is_recorded(&settled));
            }
            let json = serde_json::to_string(&known).unwrap();
            prop_assert_eq!(serde_json::from_str::<KnownProjects>(&json).unwrap(), known);
        }
    }
}
