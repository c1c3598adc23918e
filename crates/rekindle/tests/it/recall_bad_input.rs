//! Bad input and damaged files: recall answers, or explains in one message why it cannot.

use std::fs;
use std::path::PathBuf;

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{COMPARABLE, found, order, recall, results, sandbox, save, text};

const QUERY: &str = "how is the harbour crane greased";

/// Sets up a vault with memories of every kind in the index, some in the delta.
fn lived_in() -> Sandbox {
    let sandbox = sandbox();
    for number in 0..6 {
        save(
            &sandbox,
            "howto",
            &format!("crane-{number}"),
            &format!("Harbour crane {number} is greased on day {number}."),
        );
    }
    sandbox
        .rekindle(&["memory", "add", "The crane driver is called Ada.", "--section", "Patterns"])
        .run()
        .ok();
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    save(&sandbox, "howto", "winch", "The harbour winch is greased with the same tin as the crane.");
    sandbox
}

fn index_files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let listed = fs::read_dir(sandbox.state().join("index")).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_none_or(|ending| ending != "lock")).collect();
    files.sort();
    files
}

fn all(sandbox: &Sandbox) -> Vec<Value> {
    order(&recall(sandbox, QUERY, &COMPARABLE))
}

#[test]
fn any_query_gets_an_answer() {
    let sandbox = lived_in();
    let ask = |query: &str| recall(&sandbox, query, &[]);
    for nothing in
        ["", "   ", "\n\t", "?!…", "the of and to", "und oder der die das", "\u{200b}\u{202e}", "🦀"]
    {
        let answer = ask(nothing);
        assert_eq!(answer["results"], json!([]), "{nothing:?}: {answer}");
    }
    for odd in [
        "-",
        "--k",
        "-v crane",
        "crane\0crane",
        "\u{1b}[31mcrane",
        "a\u{301}\u{301}\u{301}",
        "'); DROP TABLE memories;--",
    ] {
        let command = sandbox.rekindle(&["recall", "--json", "--anyway"]).arg("-").stdin(odd);
        command.run().ok().json();
    }
    // A query may begin with a hyphen.
    recall(&sandbox, "--force is never used with the crane", &[]);
    let output = sandbox.rekindle(&["recall", "-", "--json", "--anyway"]).stdin("").run().ok();
    assert_eq!(output.json()["results"], json!([]));
}

#[test]
fn a_megabyte_of_prompt_is_answered_by_what_stands_at_its_ends() {
    let sandbox = lived_in();
    let noise = "INFO worker 17 heartbeat ok in 3 ms, queue depth 0\n".repeat(20_000);
    assert!(noise.len() > 1_000_000);
    for prompt in [format!("{noise}\n{QUERY}?"), format!("{QUERY}?\n{noise}")] {
        let output = sandbox.rekindle(&["recall", "-", "--json", "--anyway"]).stdin(prompt).run().ok();
        assert!(text(&results(&output.json())[0], "text").contains("greased"), "{:.2000}", output.stdout);
    }
    // A one-word megabyte, and three megabytes of spaces.
    for prompt in ["x".repeat(1 << 20), " ".repeat(3 << 20), "漢".repeat(400_000)] {
        sandbox.rekindle(&["recall", "-", "--json"]).stdin(prompt).run().ok().json();
    }
}

#[test]
fn bytes_that_are_no_text_are_answered_by_what_is_text_in_them() {
    let sandbox = lived_in();
    let mut junk: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let ask = |bytes: Vec<u8>| {
        sandbox.rekindle(&["recall", "-", "--json", "--anyway"]).stdin(bytes).run().ok().json()
    };
    ask(junk.clone());
    junk.extend_from_slice(b"\n how is the harbour crane greased \xff\xfe");
    assert!(!results(&ask(junk)).is_empty());
    fs::write(sandbox.work().join("junk.bin"), [0xff, 0x00, b'c', b'r', b'a', b'n', b'e']).unwrap();
    recall(&sandbox, "@junk.bin", &[]);
    let missing = sandbox.rekindle(&["recall", "@no-such-file", "--json"]).run().fails(2).json();
    assert!(text(&missing["error"], "message").contains("no-such-file"));
}

#[test]
fn sto_11_sto_18_an_index_of_another_version_is_left_and_made_again() {
    let sandbox = lived_in();
    let good = all(&sandbox);
    let current = sandbox.state().join("index/CURRENT");
    for foreign in
        [r#"{"format":99,"generation":"x","more":[1]}"#, r#"{"format":0}"#, "{}", "", "not json", "\0\0\0\0"]
    {
        fs::write(&current, foreign).unwrap();
        let answer = recall(&sandbox, QUERY, &COMPARABLE);
        assert_eq!(answer["degraded"], json!(["damaged-index"]), "{foreign}");
        assert!(text(&results(&answer)[0], "text").contains("greased"), "{foreign}: {answer}");
        let said = sandbox.rekindle(&["recall", QUERY]).run().ok();
        assert!(said.stderr.contains("only keywords were searched"), "{}", said.stderr);
        sandbox.rekindle(&["reindex"]).run().ok();
        assert_eq!(all(&sandbox), good, "{foreign}");
        assert_eq!(recall(&sandbox, QUERY, &[])["degraded"], json!([]), "{foreign}");
    }
}

/// A function that damages a file.
type DamageFn = fn(&[u8]) -> Option<Vec<u8>>;

const HARMS: [(&str, DamageFn); 9] = [
    ("gone", |_| None),
    ("empty", |_| Some(Vec::new())),
    ("half", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
    ("one byte short", |bytes| Some(bytes[..bytes.len().saturating_sub(1)].to_vec())),
    ("zeroed", |bytes| Some(vec![0; bytes.len()])),
    ("its middle zeroed", |bytes| {
        let (start, end) = (bytes.len() / 3, bytes.len() * 2 / 3);
        Some([&bytes[..start], &vec![0; end - start], &bytes[end..]].concat())
    }),
    ("its last third zeroed", |bytes| {
        let end = bytes.len() * 2 / 3;
        Some([&bytes[..end], &vec![0; bytes.len() - end]].concat())
    }),
    ("junk behind it", |bytes| Some([bytes, b"junk junk junk junk"].concat())),
    ("all ones", |bytes| Some(vec![0xff; bytes.len()])),
];

/// The degradation that an answer must report for this damage. Readers check `CURRENT`, the header of a base
/// and every frame of a delta. They report the parts of a base only when a document cannot be read
/// (`docs/adr/0013`).
fn owned_up(file: &str, harm: &str) -> Option<&'static str> {
    match (file.rsplit('.').next(), harm) {
        (Some("CURRENT"), "gone") => Some("no-index"),
        (Some("base"), "its middle zeroed") => Some("partly-damaged"),
        (Some("base"), "its last third zeroed") => None,
        (Some("delta"), harm) if harm != "gone" => Some("behind"),
        _ => Some("damaged-index"),
    }
}

/// Requirements: SEC-06.
#[test]
fn b_08_fnd_10_a_damaged_index_harms_nothing_and_is_mended() {
    let sandbox = lived_in();
    let good = all(&sandbox);
    let known: Vec<&str> = good.iter().map(|result| text(result, "text")).collect();
    let is_last = |words: &&str| words.contains("winch");
    assert!(known.len() >= 8 && known.iter().any(is_last), "{known:?}");
    let start = sandbox.snapshot();
    for place in 0..index_files(&sandbox).len() {
        for (name, harm) in HARMS {
            let hurt = || {
                sandbox.restore(&start);
                let file = index_files(&sandbox)[place].clone();
                match harm(&fs::read(&file).unwrap()) {
                    Some(bytes) => fs::write(&file, bytes).unwrap(),
                    None => fs::remove_file(&file).unwrap(),
                }
                file.file_name().unwrap().to_string_lossy().into_owned()
            };
            let file = hurt();
            let (what, expected) = (format!("{file}: {name}"), owned_up(&file, name));
            let answer = recall(&sandbox, QUERY, &COMPARABLE);
            assert_eq!(answer["degraded"], json!(expected.into_iter().collect::<Vec<_>>()), "{what}");
            let told: Vec<&str> = results(&answer).iter().map(|result| text(result, "text")).collect();
            assert!(
                told.iter().all(|words| known.contains(words)),
                "{what}: a text that is in no file: {told:?}"
            );
            let mut missing = known.iter().filter(|words| !told.contains(words));
            match expected {
                // The last save was in the delta; everything else is still found.
                Some("behind") => assert!(missing.all(is_last), "{what}: {told:?}"),
                Some("no-index" | "damaged-index") => {
                    assert_eq!(missing.next(), None, "{what}: the notes themselves hold everything");
                }
                _ => {
                    assert!(told.iter().any(is_last), "{what}: the segment beside it is whole: {told:?}");
                    let looked = sandbox.rekindle(&["doctor"]).run().fails(1).stdout;
                    assert!(looked.contains("the index is damaged"), "{what}: {looked}");
                }
            }
            sandbox.rekindle(&["reindex"]).run().ok();
            let mended = recall(&sandbox, QUERY, &COMPARABLE);
            assert_eq!((order(&mended), &mended["degraded"]), (good.clone(), &json!([])), "{what}");
            // A save before the repair.
            hurt();
            save(&sandbox, "probe", "meanwhile", "A lantern was bought meanwhile.");
            sandbox.rekindle(&["reindex"]).run().ok();
            let lantern = recall(&sandbox, "was a lantern bought", &[]);
            assert_eq!(lantern["degraded"], json!([]), "{what}");
            assert!(text(&results(&lantern)[0], "text").contains("lantern"), "{what}: {lantern}");
            sandbox.rekindle(&["undo"]).run().ok();
            assert_eq!(all(&sandbox), good, "{what}");
        }
    }
}

#[test]
fn what_keeps_us_from_the_index_does_not_keep_us_from_the_notes() {
    let sandbox = lived_in();
    let good: Vec<Value> = all(&sandbox).iter().map(|result| result["text"].clone()).collect();
    let index = sandbox.state().join("index");
    fs::rename(&index, sandbox.state().join("elsewhere")).unwrap();
    // A file in place of the folder, and a folder in place of a file.
    fs::write(&index, "in the way").unwrap();
    let in_the_way = |what: &str| {
        let answer = recall(&sandbox, QUERY, &COMPARABLE);
        assert_eq!(answer["degraded"], json!(["damaged-index"]), "{what}");
        let told: Vec<Value> = results(&answer).iter().map(|result| result["text"].clone()).collect();
        assert!(good.iter().all(|words| told.contains(words)), "{what}: {told:?}");
        let said = sandbox.rekindle(&["reindex"]).run().fails(1).stderr;
        assert!(said.contains("index") && said.contains("rekindle reindex"), "{what}: {said}");
    };
    in_the_way("a file");
    fs::remove_file(&index).unwrap();
    fs::create_dir_all(index.join("CURRENT/x")).unwrap();
    in_the_way("a folder");
    fs::remove_dir_all(&index).unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    assert_eq!(recall(&sandbox, QUERY, &[])["degraded"], json!([]));
}

/// Requirements: VLT-10.
#[test]
fn fnd_10_a_deleted_index_comes_back_the_same() {
    let sandbox = lived_in();
    let good = all(&sandbox);
    for arguments in [&["reindex"][..], &["reindex", "--all"]] {
        fs::remove_dir_all(sandbox.state().join("index")).unwrap();
        let answer = recall(&sandbox, QUERY, &COMPARABLE);
        assert_eq!(answer["degraded"], json!(["no-index"]));
        assert!(!results(&answer).is_empty() && !sandbox.state().join("index/CURRENT").exists());
        sandbox.rekindle(arguments).run().ok();
        assert_eq!(all(&sandbox), good, "{arguments:?}");
    }
    // A save alone rebuilds a small index.
    fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    save(&sandbox, "probe", "p", "A lantern was bought.");
    sandbox.rekindle(&["undo"]).run().ok();
    sandbox.rekindle(&["reindex"]).run().ok();
    assert_eq!(all(&sandbox), good);
}

#[test]
fn a_vault_without_a_file_is_answered_with_nothing() {
    let sandbox = sandbox();
    let notes = sandbox.home().join("vault");
    fn empty(folder: &std::path::Path) {
        for item in fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()) {
            if item.is_dir() { empty(&item) } else { fs::remove_file(item).unwrap() }
        }
    }
    empty(&notes);
    for _ in 0..2 {
        let answer = recall(&sandbox, QUERY, &["--anyway"]);
        assert_eq!((&answer["results"], &answer["documents"]), (&json!([]), &json!(0)));
        let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
        assert_eq!((&report["files"], &report["documents"]), (&json!(0), &json!(0)));
    }
}

#[test]
fn dates_that_cannot_be_are_no_reason_to_fail() {
    let sandbox = sandbox();
    for (slug, created) in [
        ("future", "2999-01-01T00:00:00Z"),
        ("past", "0001-01-01T00:00:00Z"),
        ("never", "someday"),
        ("none", ""),
    ] {
        let head = format!("---\nkind: fix\nstatus: active\ncreated: {created}\n---\n");
        sandbox.write(
            format!("personal-private/fix/{slug}.md"),
            format!("{head}\nThe {slug} ferry leaves from pier four.\n"),
        );
    }
    // These files were written with a wrong clock.
    for (slug, seconds) in [("future", 40_000_000_000_u64), ("past", 0)] {
        let file = fs::File::options()
            .write(true)
            .open(sandbox.path(format!("personal-private/fix/{slug}.md")))
            .unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    }
    sandbox.rekindle(&["reindex"]).run().ok();
    for more in [
        &["--anyway"][..],
        &["--anyway", "-c", "recall.decay=literal"],
        &["--anyway", "--since", "1970-01-01"],
    ] {
        let answer = recall(&sandbox, "from which pier does the ferry leave", more);
        let least = if more.len() == 1 { 4 } else { 1 };
        assert!(results(&answer).len() >= least, "{more:?}: {answer}");
        for result in results(&answer) {
            let decay = result["factors"]["decay"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&decay) && result["score"].is_number(), "{result}");
        }
    }
    let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    assert_eq!(report["read"], 0, "strange times are still times that do not change");
}

/// A clock six years behind, preloaded into the unmodified program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const CLOCK: &str = r"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_REALTIME) now->tv_sec -= 200000000;
    return failed;
}
";

/// Compiles [`CLOCK`] as a library; `None` without a compiler.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn clock_of_years_ago(sandbox: &Sandbox) -> Option<PathBuf> {
    let (source, library) = (sandbox.work().join("clock.c"), sandbox.work().join("clock.so"));
    fs::write(&source, CLOCK).unwrap();
    let compiler =
        std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
    let Ok(compiled) = compiler else {
        rekindle_testkit::skipped("there is no C compiler");
        return None;
    };
    assert!(compiled.status.success(), "{compiled:?}");
    Some(library)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn b_08_a_clock_that_went_back_years_fails_nothing_and_loses_nothing() {
    let sandbox = lived_in();
    let Some(clock) = clock_of_years_ago(&sandbox) else { return };
    let past = |arguments: &[&str]| sandbox.rekindle(arguments).env("LD_PRELOAD", &clock).run().ok();
    let good = all(&sandbox);
    let everything = [&["recall", QUERY, "--json"][..], &COMPARABLE].concat();
    assert_eq!(order(&past(&everything).json()), good, "what is from the future is found like the rest");
    past(&["save", "probe", "lantern", "--body", "A lantern was bought."]);
    let lantern = past(&["recall", "was a lantern bought", "--json", "--anyway"]).json();
    let hit = &results(&lantern)[0];
    assert_eq!((text(hit, "text"), &lantern["degraded"]), ("A lantern was bought.", &json!([])));
    assert!(text(hit, "created") < text(&good[0], "created"), "the clock was right: {hit}");
    past(&["evolve", "winch", "--body", "The harbour winch needs no grease any more.", "--reason", "new"]);
    for arguments in [&["worker", "--once"][..], &["doctor"], &["reindex", "--all"]] {
        past(arguments);
    }
    // With the clock corrected, everything is still there and can be undone in order.
    for (query, words) in [
        ("was a lantern bought", "A lantern was bought."),
        ("does the harbour winch need grease", "The harbour winch needs no grease any more."),
    ] {
        let answer = recall(&sandbox, query, &["--anyway"]);
        assert_eq!((text(&results(&answer)[0], "text"), &answer["degraded"]), (words, &json!([])), "{query}");
    }
    for change in ["evolve", "save"] {
        let undone = sandbox.rekindle(&["undo"]).run().ok().stdout;
        assert!(undone.starts_with(&format!("Undone: your {change} ")), "{undone}");
    }
    assert_eq!(all(&sandbox), good);
}

#[test]
fn ten_thousand_times_the_same_text_is_said_once() {
    let sandbox = sandbox();
    let line = "- The harbour crane is greased with the yellow tin.\n";
    sandbox.write("MEMORY.md", format!("# Memory\n\n## Patterns\n{}", line.repeat(10_000)));
    save(&sandbox, "howto", "winch", "The harbour winch is greased on Mondays.");
    sandbox.rekindle(&["reindex"]).limit(std::time::Duration::from_secs(60)).run().ok();
    let answer = recall(&sandbox, QUERY, &COMPARABLE);
    assert!(answer["documents"].as_u64().unwrap() > 10_000);
    let greased: Vec<&str> = results(&answer).iter().map(|result| text(result, "text")).collect();
    assert_eq!(greased.iter().filter(|text| text.contains("yellow tin")).count(), 1, "{greased:?}");
    // Many similar notes do not push out the different one.
    let filtered = recall(&sandbox, QUERY, &["--kind", "howto", "--anyway"]);
    assert_eq!(found(&filtered).len(), 1);
    assert_eq!(order(&recall(&sandbox, QUERY, &COMPARABLE)), order(&answer), "and every time the same");
}

#[test]
fn rec_20_a_broken_setup_is_one_json_object_and_no_stack_trace() {
    let fresh = || Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    type Break = fn(&Sandbox);
    let broken: [(&str, Break); 5] = [
        ("never set up", |_| {}),
        ("settings that are no TOML", |sandbox| {
            sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
            fs::write(sandbox.home().join("config.toml"), "recall = [").unwrap();
        }),
        ("a setting that cannot be", |sandbox| {
            sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
            fs::write(sandbox.home().join("config.toml"), "[recall]\nk = 9000\n").unwrap();
        }),
        ("a vault that is a file", |sandbox| {
            sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
            fs::remove_dir_all(sandbox.home().join("vault")).unwrap();
            fs::write(sandbox.home().join("vault"), "x").unwrap();
        }),
        ("a vault that is gone", |sandbox| {
            sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
            fs::remove_dir_all(sandbox.home().join("vault")).unwrap();
        }),
    ];
    for (name, break_it) in broken {
        let sandbox = fresh();
        break_it(&sandbox);
        let output = sandbox.rekindle(&["recall", QUERY, "--json"]).run();
        assert!(matches!(output.code, Some(1 | 2)), "{name}: {output:?}");
        let answer = output.json();
        assert!(answer.as_object().is_some_and(|object| object.len() == 1), "{name}: {answer}");
        assert!(!text(&answer["error"], "message").is_empty(), "{name}: {answer}");
        for word in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(
                !output.stderr.contains(word) && !output.stdout.contains(word),
                "{name}: {}",
                output.stderr
            );
        }
        // Without `--json` the error is text for people.
        let output = sandbox.rekindle(&["recall", QUERY]).run();
        assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{name}: {output:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_or_written_is_no_reason_to_fail() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = lived_in();
    let good = all(&sandbox);
    // A symlink loop, a dangling link, a folder named like a note, and a pipe without a writer.
    symlink(sandbox.home().join("vault"), sandbox.path("personal-private/loop")).unwrap();
    symlink("/nowhere/at/all", sandbox.path("personal-private/howto/dangling.md")).unwrap();
    fs::create_dir(sandbox.path("personal-private/howto/folder.md")).unwrap();
    let pipe = sandbox.path("personal-private/howto/pipe.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    sandbox.write("personal-private/howto/binary.md", [0xff, 0xfe, 0x00]);
    let report = sandbox.rekindle(&["reindex", "--all", "--json"]).run().ok().json();
    assert!(report["problems"].to_string().contains("binary.md"), "{report}");
    assert_eq!(all(&sandbox), good);
    // With a read-only state folder, recall cannot log and still answers.
    let state = sandbox.state();
    for folder in [&state, &state.join("logs"), &state.join("index")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    }
    assert_eq!(all(&sandbox), good);
}
