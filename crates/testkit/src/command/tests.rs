use super::*;

fn sh(script: &str) -> TestCommand {
    TestCommand::new("/bin/sh", std::env::temp_dir()).args(&["-c", script])
}

#[test]
fn the_child_sees_only_the_environment_it_is_given() {
    let output = sh("env | sort").env("EXTRA", "yes").run().ok();
    let names: Vec<_> = output.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    // The shell adds PWD by itself.
    assert_eq!(names, ["EXTRA", "LANG", "PATH", "PWD", "TZ"]);
    let output = sh("env").without_env("TZ").run().ok();
    assert!(!output.stdout.contains("TZ="));
}

#[test]
fn stdin_is_empty_unless_given_and_both_streams_come_back() {
    assert_eq!(sh("cat").run().ok().stdout, "");
    let output = sh("cat; echo said >&2; exit 3").stdin("heard").run().fails(3);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("heard", "said\n"));
}

#[test]
fn more_than_a_pipe_holds_goes_in_and_out() {
    let text = "0123456789abcdef".repeat(64 * 1024);
    assert!(sh("cat").stdin(text.as_str()).run().ok().stdout == text);
    // A child that does not read its input is not an error.
    sh("exit 0").stdin(text).run().ok();
}

#[test]
fn a_signal_is_told_from_an_exit() {
    let output = sh("kill -9 $$").run().killed();
    assert_eq!((output.code, output.signal), (None, Some(9)));
}

#[test]
fn json_is_read_from_stdout() {
    let output = sh(r#"echo '{"ok": true}'"#).run().ok();
    assert_eq!(output.json()["ok"], true);
}

#[test]
#[should_panic(expected = "which had exit 2\n--- stdout\nout\n\n--- stderr\nerr")]
fn an_unexpected_exit_shows_both_streams() {
    sh("echo out; echo err >&2; exit 2").run().ok();
}

#[test]
#[should_panic(expected = "`sh -c exec sleep 60` was killed after 100ms")]
fn a_child_that_hangs_fails_the_test() {
    sh("exec sleep 60").limit(Duration::from_millis(100)).run();
}

#[test]
#[should_panic(expected = "still holds its stdout open")]
fn a_process_left_behind_with_the_output_fails_the_test() {
    sh("sleep 3 &").limit(Duration::from_millis(100)).run();
}
