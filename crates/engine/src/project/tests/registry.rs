//! Tests of the registry file: small, private, never in the way.

use super::*;

#[test]
fn looking_writes_nothing() {
    let ground = ProjectsFixture::new();
    ground.clone_of("widgets", "https://github.com/acme/widgets");
    let found = ground.identify("widgets");
    assert!(found.needs_saving());
    assert!(!ground.at("state").exists());
    remember(&ground.registry, &found).unwrap();
    let before = fs::read(&ground.registry).unwrap();
    assert!(!ground.identify("widgets").needs_saving());
    // Without news, not even the lock is taken.
    fs::remove_dir_all(ground.at("state")).unwrap();
    let found = IdentifiedProject { is_news: false, ..found };
    remember(&ground.registry, &found).unwrap();
    assert!(!ground.at("state").exists() && !before.is_empty());
}

#[test]
fn b_03_a_token_in_a_remote_goes_nowhere() {
    let ground = ProjectsFixture::new();
    ground.clone_of("widgets", "https://ann:ghp_5ecret7oken@github.com/acme/widgets.git");
    ground.write(
        "widgets/.git/logs/HEAD",
        "0 1 x\tclone: from https://ann:ghp_5ecret7oken@github.com/acme/widgets\n",
    );
    let found = ground.identify("widgets");
    assert_eq!(ground.visit("widgets"), "github.com/acme/widgets");
    let registry = fs::read_to_string(&ground.registry).unwrap();
    assert!(registry.contains("github.com/acme/widgets"));
    for text in [registry, format!("{found:?}")] {
        assert!(!text.contains("5ecret") && !text.contains("ann"), "{text}");
    }
}

#[test]
fn a_broken_registry_is_set_aside_and_never_in_the_way() {
    for broken in [&b"{ half"[..], b"", b"[]", b"\xff\xfe", b"{\"projects\": 3}"] {
        let ground = ProjectsFixture::new();
        ground.clone_of("widgets", "https://github.com/acme/widgets");
        ground.write("state/projects.json", broken);
        assert_eq!(ground.id("widgets"), "github.com/acme/widgets");
        assert_eq!(fs::read(&ground.registry).unwrap(), broken, "looking writes nothing");
        assert_eq!(ground.visit("widgets"), "github.com/acme/widgets");
        assert_eq!(fs::read(ground.at("state/projects.json.broken")).unwrap(), broken);
    }
}

#[test]
fn a_registry_from_a_later_version_is_read() {
    let ground = ProjectsFixture::new();
    ground.clone_of("widgets", "https://github.com/acme/widgets");
    let later = r#"{"new": 1, "projects": [{"id": "local/old-1", "remotes": ["github.com/acme/widgets"], "new": 2}]}"#;
    ground.write("state/projects.json", later);
    assert_eq!(ground.id("widgets"), "local/old-1");
}

#[test]
fn without_a_writable_state_the_id_is_still_answered() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.write("state", "a file where the folder should be");
    let id = ground.id("widgets");
    let error = remember(&ground.registry, &ground.identify("widgets")).unwrap_err().to_string();
    assert!(error.contains("state") && error.contains("writable"), "{error}");
    assert_eq!(ground.id("widgets"), id, "the same answer twice, though nothing could be written");

    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.folder("state/projects.json");
    ground.id("widgets");
    assert!(remember(&ground.registry, &ground.identify("widgets")).is_err());
    assert!(ground.registry.is_dir(), "what cannot be read is not replaced");
}

#[cfg(unix)]
#[test]
fn the_registry_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.visit("widgets");
    let mode = |path: &str| fs::metadata(ground.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state"), 0o700);
    assert_eq!(mode("state/projects.json"), 0o600);
    assert_eq!(mode("state/projects.json.lock"), 0o600);
}

#[test]
fn a_crash_in_the_middle_leaves_nothing_that_matters() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.write(
        "state/.rekindle-write-0.tmp",
        "{ half of a much longer file that was never renamed".repeat(100),
    );
    let id = ground.visit("widgets");
    assert_eq!(ground.id("widgets"), id);
}

#[test]
fn many_at_once_lose_nothing() {
    let ground = ProjectsFixture::new();
    let names: Vec<String> = (0..40).map(|n| format!("r{n}")).collect();
    names.iter().for_each(|name| ground.repository(name));
    std::thread::scope(|scope| {
        for part in names.chunks(5) {
            let ground = &ground;
            scope.spawn(move || part.iter().for_each(|name| drop(ground.visit(name))));
        }
    });
    assert!(names.iter().all(|name| !ground.identify(name).needs_saving()));
}

#[test]
fn the_slower_of_two_gets_the_id_of_the_faster() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    let slow = ground.identify("widgets");
    ground.first_commit("widgets", "a");
    let fast = ground.visit("widgets");
    assert_ne!(slow.project.id.as_str(), fast);
    assert_eq!(remember(&ground.registry, &slow).unwrap().id.as_str(), fast);
    assert_eq!(ground.id("widgets"), fast);
}

#[test]
fn a_process_that_hangs_does_not_hang_the_others() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.write("state/projects.json.lock", "");
    let held = fs::File::open(ground.at("state/projects.json.lock")).unwrap();
    held.lock().unwrap();
    let error = remember(&ground.registry, &ground.identify("widgets")).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    held.unlock().unwrap();
    ground.visit("widgets");
}
