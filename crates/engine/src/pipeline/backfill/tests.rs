#![expect(
    clippy::disallowed_methods,
    reason = "tests play the agents, who write their transcripts as they like"
)]

use std::cell::Cell;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time;
use rekindle_core::base::time::TimeZone;

use super::*;
use crate::platform::home::HomeFolder;

const GROWN: &str = ".pi/agent/sessions/--home-dev-project--/2026-11-15T09-19-17-199Z_01a1de80-face-7155-bcfa-02823f728a10.jsonl";

/// A home with the recorded sessions.
struct BackfillFixture {
    folder: tempfile::TempDir,
    home: HomeFolder,
    places: DataPaths,
}

impl BackfillFixture {
    fn new(settings: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::find_with(Some(&folder.path().join("rekindle")), None, None).unwrap();
        let config = crate::config::read_with(&home, None, settings, &|_| None).unwrap().config;
        let places = home.data_paths(&config).unwrap();
        for folder in [places.vault(), places.notes()] {
            disk::create_private_folder(folder).unwrap();
        }
        rekindle_testkit::transcripts::copy_into(&folder.path().join("user")).unwrap();
        Self { folder, home, places }
    }

    fn user(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    fn world(&self) -> StageContext {
        let config = crate::config::read_with(&self.home, None, &[], &|_| None).unwrap().config;
        StageContext::new(self.home.clone(), self.places.clone(), config, TimeZone::UTC)
    }

    fn plan(&self, extent: &BackfillScope) -> BackfillPlan {
        let projects = project::load(&self.places.projects_file());
        BackfillContext { places: &self.places, home: &self.user(), projects: &projects }
            .plan(extent)
            .unwrap()
    }

    fn run(&self, plan: &BackfillPlan, progress: &mut dyn FnMut(BackfillProgress) -> bool) -> BackfillReport {
        let projects = project::load(&self.places.projects_file());
        let (home, places) = (&self.home, &self.places);
        let config = self.world().config;
        let worlds = || StageContext::new(home.clone(), places.clone(), config.clone(), TimeZone::UTC);
        let backfill = BackfillContext { places: &self.places, home: &self.user(), projects: &projects };
        backfill.run(plan, &self.world(), &worlds, progress).unwrap()
    }

    fn all(&self) -> (BackfillPlan, BackfillReport) {
        let plan = self.plan(&everything());
        let report = self.run(&plan, &mut |_| true);
        (plan, report)
    }
}

fn everything() -> BackfillScope {
    BackfillScope { agents: Agent::ALL.to_vec(), since: None, until: None, again: false, open_since: None }
}

#[test]
fn b_14_every_recorded_session_of_every_agent_comes_in_once() {
    let trial = BackfillFixture::new(&[]);
    let (plan, first) = trial.all();
    assert_eq!(plan.candidates.len(), 12);
    assert!(plan.candidates.is_sorted_by(|a, b| a.file.modified >= b.file.modified));
    assert_eq!((first.sessions, first.problems.len(), first.unknown.len(), first.stopped), (12, 0, 0, false));
    assert!(first.added > 100 && first.messages > 0, "{first:?}");
    // The folder is deleted: its results stay apart from every project.
    assert_eq!(first.projects.len(), 1);
    assert!(first.projects.keys().flatten().all(project::is_gone_project), "{first:?}");
    assert!(!first.lost_sessions.is_empty());
    // A second run reads and adds nothing, even if the state file is lost.
    let (plan, again) = trial.all();
    assert_eq!((plan.candidates.len(), plan.done, again.added), (0, 12, 0));
    std::fs::remove_file(trial.places.messages().join("backfill.jsonl")).unwrap();
    let (_, again) = trial.all();
    assert_eq!((again.added, again.messages, again.projects.len()), (0, 0, 0), "{again:?}");
    // A transcript that grew is read again, and only its new messages are added.
    let grown = trial.user().join(GROWN);
    let mut text = std::fs::read_to_string(&grown).unwrap();
    text.push_str("{\"type\":\"message\",\"id\":\"aaaa\",\"parentId\":\"1b7ed698\",\"timestamp\":\"2026-11-15T09:30:00Z\",\"message\":{\"role\":\"user\",\"content\":\"And the buoys?\"}}\n");
    std::fs::write(&grown, text).unwrap();
    let (plan, more) = trial.all();
    assert_eq!((plan.candidates.len(), more.added), (1, 1), "{more:?}");
}

#[test]
fn dis_01_a_run_that_is_stopped_goes_on_where_it_was() {
    let trial = BackfillFixture::new(&[]);
    let mut sessions = 0;
    for _ in 0..12 {
        let plan = trial.plan(&everything());
        if plan.candidates.is_empty() {
            break;
        }
        let told = Cell::new(0);
        let report = trial.run(&plan, &mut |_| told.replace(told.get() + 1) < 1);
        sessions += report.sessions;
    }
    assert_eq!((trial.plan(&everything()).candidates.len(), sessions), (0, 12));
    // No transcript was written in the future.
    let extent = BackfillScope { since: time::parse("2099-01-01"), ..everything() };
    assert_eq!(trial.plan(&extent).done, 0);
}

#[test]
fn b_04_our_own_model_calls_are_left_out() {
    let trial = BackfillFixture::new(&[("paths.state".to_owned(), "/home/dev/project".to_owned())]);
    let plan = trial.plan(&everything());
    assert_eq!((plan.candidates.len(), plan.subagents), (0, 12));
}

#[test]
fn b_05_the_project_of_a_folder_that_is_gone_is_known_from_before_or_from_its_host() {
    let trial = BackfillFixture::new(&[]);
    let gone = Path::new("/nowhere/widgets/deep");
    let file = trial.places.projects_file();
    let known = |folder: &Path| project::session_project(folder, None, &project::load(&file));
    assert_eq!(known(gone), None);
    let url = Some("git@github.com:Acme/widgets.git");
    project::remember_gone(&file, &project::gone_project(Path::new("/nowhere/widgets"), url)).unwrap();
    assert_eq!(known(gone).unwrap().as_str(), "github.com/acme/widgets");
    let other = Path::new("/nowhere/else");
    let own = project::remember_gone(&file, &project::gone_project(other, Some("../somewhere"))).unwrap();
    assert!(project::is_gone_project(&own) && known(other).as_ref() == Some(&own), "{own:?}");
}
