//! An anchor that did more, or less, than it says would make every ratio measured against it a lie.

use rekindle_testkit::{TestCommand, anchors, faults};

fn anchor(name: &str, folder: &std::path::Path) -> TestCommand {
    let program = anchors::find(name);
    assert!(program.is_some(), "{name} is not built: cargo build --package rekindle-testkit --examples");
    TestCommand::new(program.unwrap_or_default(), folder)
}

#[test]
fn write_one_leaves_one_small_file() {
    let folder = tempfile::tempdir().unwrap();
    anchor("write_one", folder.path()).arg("note.md").run().ok();
    let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["note.md"]);
    assert_eq!(folder.path().join("note.md").metadata().unwrap().len(), 600);
}

#[test]
fn the_anchors_take_the_steps_they_promise_and_no_others() {
    if let Err(why) = faults::available() {
        return rekindle_testkit::skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(faults::trace(&anchor("empty", folder.path())), []);
    let steps = faults::trace(&anchor("write_one", folder.path()).arg("note.md"));
    let names: Vec<_> =
        steps.iter().map(|step| step.name.trim_end_matches("at2").trim_end_matches("at")).collect();
    assert_eq!(names, ["open", "write", "fsync", "rename"]);
}
