//! Identity of a project (B-05): its marks in git, and their comparison with known projects.
//!
//! Four marks identify a project, strongest first: the remote it is pushed to, its first commit, the folder
//! on disk that holds its history, and the path of that folder. `engine::project` reads the files that carry
//! these marks. This module parses them ([`preferred_remote`], [`normalise_remote`], [`git_file_target`],
//! [`initial_commit`]) and compares them with the projects seen before ([`KnownProjects`]).

mod git_config;
mod git_files;
mod known_projects;
mod project_marks;
mod remote;

pub use git_config::preferred_remote;
pub use git_files::{common_dir_by_name, common_dir_target, git_file_target, initial_commit, is_of_clone};
pub use known_projects::{Claim, ClaimAnswer, IdentifiedTrail, KnownProjects, ProjectSighting, ProjectTrail};
pub use project_marks::{FolderMark, ProjectMarks};
pub use remote::{GitRemote, normalise_remote};
