use std::time::Duration;

use rekindle_core::base::time::TimeZone;
use rekindle_core::knowledge::mine::MemoryCategory;
use rekindle_core::knowledge::observe;

use super::super::index;
use super::*;
use crate::jobs::queue::StepError;
use crate::platform::disk;
use crate::platform::home::HomeFolder;
use crate::recall::indexer::Indexer;
use crate::vault::KeepRequest;

struct RoutingFixture {
    _folder: tempfile::TempDir,
    context: StageContext,
}

/// A rule that the user stated outright.
fn rule(text: &str) -> MemoryCandidate {
    MemoryCandidate {
        category: MemoryCategory::Preference,
        kind: observe::FindingKind::Rule,
        title: text.to_owned(),
        text: text.to_owned(),
        origin: Origin::User,
        confidence: Confidence::High,
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        sentiment: None,
        messages: vec!["m1".to_owned()],
    }
}

impl RoutingFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::find_with(Some(folder.path()), None, None).unwrap();
        let config = crate::config::read_with(&home, None, &[], &|_| None).unwrap().config;
        let places = home.data_paths(&config).unwrap();
        for folder in [places.vault(), places.identity(), places.state()] {
            disk::create_private_folder(folder).unwrap();
        }
        Self { _folder: folder, context: StageContext::new(home, places, config, TimeZone::UTC) }
    }

    /// Indexes everything, including the work that a busy machine leaves to the next indexer (STO-15).
    fn settle(&self) {
        index::index_pending(&self.context).unwrap();
        let embed = |indexer: &Indexer<'_>| {
            indexer.embed(Duration::from_secs(60), &mut |_| true).map_err(StepError::retryable)
        };
        assert_eq!(index::with_indexer(&self.context, embed).unwrap().pending, 0);
    }

    fn see(&self, text: &str, confidence: Confidence, session: &str) -> RoutedCandidates {
        self.route(MemoryCandidate { title: "Tabs".to_owned(), confidence, ..rule(text) }, session)
    }

    fn route(&self, candidate: MemoryCandidate, session: &str) -> RoutedCandidates {
        route_candidates(&[candidate], CandidateSource { session, project: None }, &|_| None, &self.context)
            .unwrap()
    }

    fn vault(&self) -> Vault {
        self.context.vault().unwrap()
    }

    fn waiting(&self) -> Vec<String> {
        self.vault().inbox().unwrap().into_iter().map(|found| found.path.to_string()).collect()
    }
}

const TABS: &str = "Tabs are used for indentation in the pump controller.";
const AGAIN: &str = "tabs are used for indentation in the pump controller";

#[test]
fn sid_06_dropped_memories_stay_dropped() {
    let trial = RoutingFixture::new();
    let seen = trial.see(TABS, Confidence::Low, "s1");
    assert_eq!(seen.inboxed, ["personal-private/_inbox/tabs.md"]);
    let path = VaultPath::parse(&seen.inboxed[0]).unwrap();
    trial.vault().drop_inboxed(&[path], ChangeActor::User, &trial.context.now()).unwrap();
    for (session, confidence) in [
        ("s2", Confidence::Low),
        ("s3", Confidence::Medium),
        ("s4", Confidence::Low),
        ("s5", Confidence::Low),
    ] {
        let seen = trial.see(AGAIN, confidence, session);
        assert_eq!(RoutedCandidates { known: 1, ..RoutedCandidates::default() }, seen, "{session}");
    }
    assert!(
        trial.waiting().is_empty()
            && proposals::all_proposals(&trial.context.db().unwrap()).unwrap().is_empty()
    );
    // A different statement of the same name does not reopen it.
    let other = trial.see("The release day is Friday, every second week.", Confidence::Low, "s6");
    assert_eq!(other.inboxed, ["personal-private/_inbox/tabs-2.md"]);
    assert_eq!(trial.see(AGAIN, Confidence::Low, "s7").known, 1);
    // The person's explicit words are their own decision.
    assert_eq!(trial.see(TABS, Confidence::High, "s8").saved, ["personal-private/rule/tabs.md"]);
}

#[test]
fn b_09_a_drop_that_was_taken_back_waits_and_counts_again() {
    let trial = RoutingFixture::new();
    let path = VaultPath::parse(&trial.see(TABS, Confidence::Low, "s1").inboxed[0]).unwrap();
    let (vault, now) = (trial.vault(), trial.context.now());
    vault.drop_inboxed(&[path], ChangeActor::User, &now).unwrap();
    trial.see(AGAIN, Confidence::Low, "s2");
    vault.undo(None, ChangeActor::User, &now).unwrap();
    assert_eq!(trial.waiting(), ["personal-private/_inbox/tabs.md"]);
    assert_eq!(trial.see(AGAIN, Confidence::Low, "s3").proposed.len(), 1, "the third sighting asks");
}

#[test]
fn sid_06_a_kept_memory_is_not_saved_again() {
    let trial = RoutingFixture::new();
    let path = VaultPath::parse(&trial.see(TABS, Confidence::Low, "s1").inboxed[0]).unwrap();
    let kept =
        trial.vault().keep_inboxed(&[path], &KeepRequest::default(), ChangeActor::User, &trial.context.now());
    let [entry] = kept.unwrap().entries.try_into().unwrap();
    sightings::follow_move(&mut trial.context.db().unwrap(), entry.from.as_str(), entry.path.as_str())
        .unwrap();
    for (session, confidence) in
        [("s2", Confidence::Low), ("s3", Confidence::Medium), ("s4", Confidence::High)]
    {
        assert_eq!(
            RoutedCandidates { known: 1, ..RoutedCandidates::default() },
            trial.see(AGAIN, confidence, session),
            "{session}"
        );
    }
}

fn nowhere(session: &str) -> CandidateSource<'_> {
    CandidateSource { session, project: None }
}

#[test]
fn b_05_an_idea_names_what_is_of_its_project_or_of_none() {
    let trial = RoutingFixture::new();
    let (pumps, boats) = (ProjectId::new("github.com/acme/pumps"), ProjectId::new("github.com/acme/boats"));
    for (slug, scope) in [
        ("pumps port", Scope::Project(pumps.clone())),
        ("boats port", Scope::Project(boats.clone())),
        ("shared port", Scope::Global),
    ] {
        let new = NewEntry {
            kind: "fix".to_owned(),
            slug: slug.to_owned(),
            to: EntryDestination::Group(EntryGroup::PersonalPrivate),
            tags: Vec::new(),
            scope,
            body: format!("# The {slug}\n\nThe staging database of the {slug} listens on 5433."),
            confidence: Confidence::High,
            provenance: Provenance::from_user(),
            said_at: None,
        };
        trial.vault().save(&new, ChangeActor::User, &trial.context.now()).unwrap();
    }
    trial.settle();
    let idea = |title: &str| MinedIdea {
        title: title.to_owned(),
        summary: "The staging database could listen on a socket instead of port 5433.".to_owned(),
        origin: Origin::User,
        messages: vec!["m1".to_owned()],
    };
    let kept = |title: &str, project: Option<&ProjectId>| {
        let from = CandidateSource { session: "s1", project };
        let slug = route_ideas(&[idea(title)], from, &|_| None, &trial.context).unwrap().ideas.remove(0);
        trial.vault().read_entry(&layout::idea(&slug).unwrap()).unwrap().text
    };
    let page = kept("A socket", Some(&pumps));
    let links = page.split_once("## Related").unwrap().1;
    assert!(links.trim_start().starts_with("- [[MemoryVault/personal-private/fix/pumps-port.md"), "{page}");
    assert!(links.contains("shared-port") && !links.contains("boats"), "{page}");
    assert!(
        page.contains("scope: project\nproject: github.com/acme/pumps"),
        "what names it is as private: {page}"
    );
    let page = kept("A pipe", None);
    assert!(!page.contains("pumps-port") && !page.contains("boats"), "{page}");
    assert!(page.contains("scope: global"), "{page}");
}

#[test]
fn idea_03_an_idea_has_its_session_and_related_memories() {
    let trial = RoutingFixture::new();
    let idea = |title: &str| MinedIdea {
        title: title.to_owned(),
        summary: "The staging database could listen on a socket instead of port 5433.".to_owned(),
        origin: Origin::User,
        messages: vec!["m1".to_owned()],
    };
    let read = |slug: &str| trial.vault().read_entry(&layout::idea(slug).unwrap()).unwrap().text;
    assert_eq!(
        route_ideas(&[idea("A socket")], nowhere("s1"), &|_| None, &trial.context).unwrap().ideas,
        ["a-socket"]
    );
    let page = read("a-socket");
    assert!(page.contains("\nsurfaced_in_session: s1\n") && !page.contains("Related"), "{page}");
    let new = NewEntry {
        kind: "fix".to_owned(),
        slug: "staging port".to_owned(),
        to: EntryDestination::Group(EntryGroup::PersonalPrivate),
        tags: Vec::new(),
        scope: Scope::Global,
        body: "# Staging database port\n\nThe staging database listens on port 5433.".to_owned(),
        confidence: Confidence::High,
        provenance: Provenance::from_user(),
        said_at: None,
    };
    trial.vault().save(&new, ChangeActor::User, &trial.context.now()).unwrap();
    trial.settle();
    route_ideas(&[idea("Another socket")], nowhere("s2"), &|_| None, &trial.context).unwrap();
    let page = read("another-socket");
    let link = "- [[MemoryVault/personal-private/fix/staging-port.md|Staging database port]]\n";
    assert!(page.ends_with(&format!("\n## Related\n\n{link}")), "{page}");
}

#[test]
fn r_17_an_older_statement_that_is_read_later_never_ends_a_newer_one() {
    let trial = RoutingFixture::new();
    let said = |text: &str, ends, session: &str, day: &str| {
        let candidate = MemoryCandidate {
            category: MemoryCategory::Preference,
            kind: observe::FindingKind::Fact,
            title: text.to_owned(),
            text: text.to_owned(),
            origin: Origin::User,
            confidence: Confidence::High,
            everywhere: false,
            perhaps_everywhere: false,
            ends,
            sentiment: None,
            messages: vec!["m1".to_owned()],
        };
        let at = format!("{day}T10:00:00Z").parse().ok();
        let quote = |_: &str| Some(SupportingMessage { text: text.to_owned(), at });
        route_candidates(&[candidate], CandidateSource { session, project: None }, &quote, &trial.context)
            .unwrap()
    };
    let newer =
        said("Staging Postgres listens on port 5434 now, not on port 5433.", true, "new", "2026-11-10");
    assert_eq!(newer.saved.len(), 1);
    trial.settle();
    let before = trial.vault().read_entry(&VaultPath::parse(&newer.saved[0]).unwrap()).unwrap().text;
    let older = said("Staging Postgres listens on port 5433.", false, "old", "2026-03-02");
    assert_eq!((older.saved.len(), older.proposed.len(), older.known), (0, 0, 1), "{older:?}");
    // A statement that ends something does not end later statements.
    let oldest =
        said("Staging Postgres listens on port 5432 now, not on port 5434.", true, "older", "2026-01-02");
    assert_eq!((oldest.saved.len(), oldest.proposed.len()), (0, 0), "{oldest:?}");
    let after = trial.vault().read_entry(&VaultPath::parse(&newer.saved[0]).unwrap()).unwrap().text;
    assert_eq!(after, before);
    assert!(before.contains("created: 2026-11-10"), "{before}");
    // A later statement does, and gets the date of its own day.
    let newest =
        said("Staging Postgres listens on port 5435 now, not on port 5434.", true, "newest", "2026-11-12");
    let text = trial.vault().read_entry(&VaultPath::parse(&newest.saved[0]).unwrap()).unwrap().text;
    assert!(text.contains("5435 now") && text.contains("2026-11-12"), "{text}");
}

#[test]
fn r_14_a_cause_that_was_found_never_replaces_a_rule() {
    let trial = RoutingFixture::new();
    let order = "From now on always end the names of migrations with learntzq, the importer looks for it.";
    let cause = "The flaky test in the importer turned out to be a time zone bug that we now call learntdzq.";
    let kept = trial.route(MemoryCandidate { ends: true, ..rule(order) }, "first");
    let (category, kind) = (MemoryCategory::Fix, observe::FindingKind::Fix);
    let found = trial.route(MemoryCandidate { category, kind, ends: true, ..rule(cause) }, "second");
    assert_eq!((kept.saved.len(), found.saved.len()), (1, 1), "{kept:?} {found:?}");
    let read = |path: &str| trial.vault().read_entry(&VaultPath::parse(path).unwrap()).unwrap().text;
    assert!(read(&kept.saved[0]).contains(order), "{}", read(&kept.saved[0]));
    assert!(read(&found.saved[0]).contains(cause), "{}", read(&found.saved[0]));
}

#[test]
fn sid_07_silent_mode_proposes_nothing_and_loses_nothing() {
    let interactive = RoutingFixture::new();
    let asked = interactive.see(TABS, Confidence::Medium, "s1");
    assert!(!asked.proposed.is_empty(), "interactive is the default: {asked:?}");
    let mut silent = RoutingFixture::new();
    silent.context.config.memory.review_mode = ReviewMode::Silent;
    let kept = silent.see(TABS, Confidence::Medium, "s1");
    assert!(kept.proposed.is_empty(), "{kept:?}");
    assert_eq!(silent.waiting().len(), 1, "it waits in the inbox: {kept:?}");
    let high = silent.see("Spaces are used in the valve driver.", Confidence::High, "s2");
    assert_eq!((high.saved.len(), high.proposed.len()), (1, 0), "{high:?}");
}
