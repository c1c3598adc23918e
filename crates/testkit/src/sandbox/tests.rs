use super::*;

/// A sandbox with a shell in place of the product: `rekindle(&["-c", SCRIPT])`.
fn sandbox() -> Sandbox {
    Sandbox::new("/bin/sh")
}

#[test]
fn commands_run_in_the_work_folder_with_both_homes_inside_the_sandbox() {
    let sandbox = sandbox();
    let output = sandbox.rekindle(&["-c", "pwd; echo $HOME; echo $REKINDLE_HOME"]).run().ok();
    let expected =
        [sandbox.work(), sandbox.user_home(), sandbox.home()].map(|path| path.display().to_string());
    assert_eq!(output.stdout.lines().collect::<Vec<_>>(), expected);
    assert!(!sandbox.home().exists(), "init makes the home, not the sandbox");
    assert!(sandbox.work().read_dir().unwrap().next().is_none());
}

#[test]
#[should_panic(expected = "expected exit 0 of `false init --name Ada`")]
fn init_runs_the_program_and_must_succeed() {
    let _initialised = Sandbox::new("/bin/echo").init();
    let _refused = Sandbox::new("/bin/false").init();
}

#[test]
fn files_lists_everything_in_the_vault_and_nothing_else() {
    let sandbox = sandbox();
    assert!(sandbox.files().is_empty());
    sandbox.write("MEMORY.md", "a");
    sandbox.write("personal-private/_inbox/.hidden.tmp", [0xFF, 0]);
    fs::create_dir_all(sandbox.state()).unwrap();
    fs::write(sandbox.state().join("lock"), "").unwrap();
    let files = sandbox.files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["MEMORY.md", "personal-private/_inbox/.hidden.tmp"]);
    assert_eq!(files["personal-private/_inbox/.hidden.tmp"], [0xFF, 0]);
    assert_eq!(sandbox.everything().len(), 3);
    assert_eq!(sandbox.read("MEMORY.md"), "a");
    sandbox.remove("MEMORY.md");
    assert_eq!(sandbox.files().len(), 1);
}

#[test]
fn bytes_are_found_in_contents_and_in_names() {
    let sandbox = sandbox();
    sandbox.write("a.md", b"\xFFgreen tea\0");
    sandbox.write("green tea/b.md", "nothing");
    sandbox.write("c-green tea.md", "");
    let mut found = sandbox.find_bytes("green tea");
    found.sort();
    assert_eq!(found, [sandbox.path("a.md"), sandbox.path("c-green tea.md"), sandbox.path("green tea")]);
    assert!(sandbox.find_bytes("black tea").is_empty());
}

#[test]
#[should_panic(expected = "an empty needle is in every file")]
fn an_empty_needle_is_refused() {
    sandbox().find_bytes("");
}

#[test]
#[cfg(unix)]
fn restore_brings_back_contents_links_permissions_and_times() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let empty = sandbox.snapshot();
    let path = sandbox.write("folder/a.md", "before");
    std::os::unix::fs::symlink("a.md", sandbox.path("folder/link.md")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(sandbox.path("folder"), fs::Permissions::from_mode(0o500)).unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::open(&path).unwrap().set_modified(old).unwrap();
    let before = sandbox.everything();
    assert_eq!(sandbox.files()["folder/link.md"], b"link to a.md");

    let snapshot = sandbox.snapshot();
    fs::set_permissions(sandbox.path("folder"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_file(&path).unwrap();
    sandbox.write("folder/b.md", "new");
    sandbox.restore(&snapshot);

    assert_eq!(sandbox.everything(), before);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&sandbox.path("folder"))), (0o400, 0o500));
    assert_eq!(path.metadata().unwrap().modified().unwrap(), old);

    sandbox.restore(&empty);
    assert!(!sandbox.home().exists());
}

#[test]
#[cfg(unix)]
fn nothing_is_left_behind_not_even_read_only_folders() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let root = sandbox.folder.path().to_path_buf();
    sandbox.write("folder/a.md", "");
    fs::set_permissions(sandbox.path("folder"), fs::Permissions::from_mode(0o500)).unwrap();
    let snapshot = sandbox.snapshot();
    drop(sandbox);
    drop(snapshot);
    assert!(!root.exists());
}
