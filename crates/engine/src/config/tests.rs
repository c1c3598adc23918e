use std::fs;

use proptest::prelude::*;
use rekindle_core::config::keys;
use tempfile::TempDir;

use super::*;

fn nothing(_: &str) -> Option<OsString> {
    None
}

/// A temporary home, with a settings file if there is text for it.
struct ConfigFixture {
    folder: TempDir,
    home: HomeFolder,
}

impl ConfigFixture {
    fn new(text: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home =
            HomeFolder::find_with(Some(&folder.path().join("home")), None, Some(folder.path().to_owned()))
                .unwrap();
        let trial = Self { folder, home };
        if let Some(text) = text {
            trial.put(&trial.home.config_file(), text.as_bytes());
        }
        trial
    }

    #[expect(clippy::disallowed_methods, reason = "a person's editor")]
    fn put(&self, path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.home.config_file()).unwrap()
    }

    fn read(&self) -> Result<LoadedConfig, Error> {
        read_with(&self.home, None, &[], &nothing)
    }

    fn project(&self, bytes: &[u8]) -> LoadedConfig {
        let root = self.folder.path().join("project");
        self.put(&root.join(PROJECT_FILE), bytes);
        read_with(&self.home, Some(&root), &[], &nothing).unwrap()
    }

    fn set(&self, key: &str, text: &str) -> Result<String, Error> {
        set_with(&self.home, key, text, &nothing)
    }

    fn refuses(&self, key: &str, text: &str) -> String {
        let before = fs::read(self.home.config_file()).ok();
        let message = self.set(key, text).unwrap_err().to_string();
        assert_eq!(fs::read(self.home.config_file()).ok(), before, "a refused change leaves the file alone");
        message
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn layers_come_from_their_files_and_variables() {
    let trial = ConfigFixture::new(Some("[recall]\nk = 2\n"));
    let root = trial.folder.path().join("project");
    let flags = [("recall.k".to_owned(), "5".to_owned())];
    let variable = |name: &str| (name == "REKINDLE_RECALL_K").then(|| OsString::from("4"));

    let k =
        |loaded: LoadedConfig| (loaded.config.recall.k, loaded.get("recall.k").unwrap().place.to_string());
    assert_eq!(k(ConfigFixture::new(None).read().unwrap()), (5, "shipped default".to_owned()));
    assert_eq!(k(trial.read().unwrap()), (2, format!("{}:2", shown(&trial.home.config_file()))));
    let project = trial.project(b"recall.k = 3\n");
    assert_eq!(k(project), (3, format!("{}:1", shown(&root.join(PROJECT_FILE)))));
    let env = read_with(&trial.home, Some(&root), &[], &variable).unwrap();
    assert_eq!(k(env), (4, "environment variable REKINDLE_RECALL_K".to_owned()));
    let flag = read_with(&trial.home, Some(&root), &flags, &variable).unwrap();
    assert_eq!(k(flag), (5, "command line".to_owned()));
}

#[test]
fn a_user_file_that_cannot_be_read_is_a_clear_error() {
    let trial = ConfigFixture::new(None);
    let file = trial.home.config_file();
    let message = |trial: &ConfigFixture| trial.read().unwrap_err().to_string();

    trial.put(&file, b"[user]\nname = '\xff'\n");
    assert_eq!(message(&trial), format!("{}: line 2 is not UTF-8; save the file as UTF-8", shown(&file)));
    trial.put(&file, &vec![b'#'; 1024 * 1024 + 1]);
    assert!(message(&trial).contains("is larger than 1024 KiB"));

    let trial = ConfigFixture::new(None);
    fs::create_dir_all(trial.home.config_file()).unwrap();
    assert!(message(&trial).ends_with("is a folder, not a file; move it away"));
    assert!(trial.refuses("recall.k", "3").contains("is a folder"));

    let trial = ConfigFixture::new(None);
    trial.put(trial.home.root(), b"");
    assert!(message(&trial).contains("config.toml: cannot be read: "));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_locked_files_are_told_apart() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let trial = ConfigFixture::new(None);
    fs::create_dir_all(trial.home.root()).unwrap();
    symlink("/nowhere/at/all", trial.home.config_file()).unwrap();
    assert!(trial.read().unwrap_err().to_string().contains("links to a missing file"));

    // Reading a pipe would wait for ever, and a repository can link to one.
    let root = trial.folder.path().join("project");
    fs::create_dir_all(&root).unwrap();
    symlink("/dev/zero", root.join(PROJECT_FILE)).unwrap();
    let home = ConfigFixture::new(None).home;
    let loaded = read_with(&home, Some(&root), &[], &nothing).unwrap();
    assert!(loaded.warnings[0].to_string().contains("is a device or a pipe"));

    let trial = ConfigFixture::new(Some("recall.k = 3\n"));
    fs::set_permissions(trial.home.config_file(), fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read any file.
    if let Err(error) = trial.read() {
        assert!(error.to_string().contains("config.toml: cannot be read: "), "{error}");
    }
}

#[test]
fn a_project_file_that_cannot_be_read_is_a_warning() {
    let trial = ConfigFixture::new(Some("recall.k = 3\n"));
    for bytes in [&b"name = '\xff'"[..], &[b'#'; 16 * 1024 + 1], b"[[["] {
        let loaded = trial.project(bytes);
        assert_eq!(loaded.config.recall.k, 3);
        assert_eq!(loaded.warnings.len(), 1);
        assert!(loaded.warnings[0].to_string().contains(PROJECT_FILE));
    }
    fs::create_dir_all(trial.folder.path().join("other").join(PROJECT_FILE)).unwrap();
    let loaded = read_with(&trial.home, Some(&trial.folder.path().join("other")), &[], &nothing).unwrap();
    assert!(loaded.warnings[0].to_string().ends_with("is a folder, not a file; move it away"));
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_unicode_is_an_error_and_not_the_default() {
    use std::os::unix::ffi::OsStringExt as _;
    let variable =
        |name: &str| (name == "REKINDLE_PATHS_STATE").then(|| OsString::from_vec(b"/s\xff".to_vec()));
    let error = read_with(&ConfigFixture::new(None).home, None, &[], &variable).unwrap_err();
    assert_eq!(
        error.to_string(),
        "environment variable REKINDLE_PATHS_STATE: the value is not valid Unicode"
    );
}

#[test]
fn time_zones_are_the_systems_to_know() {
    let loaded = ConfigFixture::new(Some("time.zone = 'UTC'\n")).read().unwrap();
    assert_eq!(zone(&loaded).unwrap().iana_name(), Some("UTC"));
    let trial = ConfigFixture::new(Some("\ntime.zone = 'Middle/Earth'\n"));
    let error = zone(&trial.read().unwrap()).unwrap_err().to_string();
    assert!(error.contains("config.toml:2: this system does not know that time zone"), "{error}");
    assert!(
        ConfigFixture::new(None)
            .refuses("time.zone", "Middle/Earth")
            .contains("does not know that time zone")
    );
}

#[test]
fn set_changes_the_value_and_nothing_else() {
    let cases = [
        // The key exists already.
        ("[recall]\nk=7   # mine\n", "[recall]\nk=3   # mine\n"),
        ("recall.k = 7", "recall.k = 3"),
        ("recall = { k = 7 } # x\r\n", "recall = { k = 3 } # x\r\n"),
        ("recall . 'k' = 0x7\n", "recall . 'k' = 3\n"),
        // Only the table exists.
        ("# top\n[recall]\n\n# end\n[user]\n", "# top\n[recall]\nk = 3\n\n# end\n[user]\n"),
        ("[recall] # why\r\n[user]\r\n", "[recall] # why\r\nk = 3\r\n[user]\r\n"),
        ("[recall]", "[recall]\nk = 3\n"),
        ("recall = {}\n", "recall = { k = 3 }\n"),
        // The file is empty or lacks the table.
        ("", "[recall]\nk = 3\n"),
        ("\u{feff}", "\u{feff}[recall]\nk = 3\n"),
        ("# only me", "# only me\n\n[recall]\nk = 3\n"),
        ("[user]\r\nname = 'A'\r\n", "[user]\r\nname = 'A'\r\n\r\n[recall]\r\nk = 3\r\n"),
    ];
    for (before, after) in cases {
        let trial = ConfigFixture::new(Some(before));
        assert_eq!(trial.set("recall.k", "3").unwrap(), after);
        assert_eq!(trial.text(), after);
        assert_eq!(trial.read().unwrap().config.recall.k, 3);
    }
}

#[test]
fn set_finds_the_place_in_nested_tables() {
    let cases = [
        // A new key goes beside its siblings, before the next header.
        (
            "[memory]\nscope = 'auto' # x\n# note\n\n[memory.confidence]\nhigh = 0.9\n",
            "[memory]\nscope = 'auto' # x\nreview_mode = \"silent\"\n# note\n\n[memory.confidence]\nhigh = 0.9\n",
        ),
        // A header for a subtable does not create lines for the table itself.
        (
            "[memory.confidence]\nhigh = 0.9\n",
            "[memory.confidence]\nhigh = 0.9\n\n[memory]\nreview_mode = \"silent\"\n",
        ),
        // A header cannot reopen a table of dotted keys.
        (
            "memory.confidence.high = 0.9\n\n[user]\n",
            "memory.confidence.high = 0.9\nmemory.review_mode = \"silent\"\n\n[user]\n",
        ),
        // A header cannot reopen an inline table.
        ("memory = { scope = 'auto', }\n", "memory = { scope = 'auto', review_mode = \"silent\", }\n"),
        (
            "memory = { confidence.high = 0.9 }\n",
            "memory = { confidence.high = 0.9, review_mode = \"silent\" }\n",
        ),
    ];
    for (before, after) in cases {
        assert_eq!(ConfigFixture::new(Some(before)).set("memory.review_mode", "silent").unwrap(), after);
    }
    let deeper = [
        ("[memory]\nconfidence.high = 0.9\n", "[memory]\nconfidence.high = 0.9\nconfidence.medium = 0.5\n"),
        ("memory = { scope = 'auto' }\n", "memory = { scope = 'auto', confidence.medium = 0.5 }\n"),
        ("[memory]\nconfidence = { high = 0.9 }\n", "[memory]\nconfidence = { high = 0.9, medium = 0.5 }\n"),
        ("[memory]\nscope = 'auto'\n", "[memory]\nscope = 'auto'\n\n[memory.confidence]\nmedium = 0.5\n"),
    ];
    for (before, after) in deeper {
        assert_eq!(ConfigFixture::new(Some(before)).set("memory.confidence.medium", "0.5").unwrap(), after);
    }
}

#[test]
fn unset_takes_the_key_out_and_leaves_the_comment() {
    let cases = [
        ("# a\n[recall]\nk = 7\n\n[user]\n", "# a\n[recall]\n\n[user]\n"),
        ("\u{feff}recall.k = 7 # because\r\n# b\r\n", "\u{feff}# because\r\n# b\r\n"),
        ("recall.k = 7", ""),
        ("recall = { k = 7 }\n", "recall = {}\n"),
        ("[user]\nname = 'A'\n", "[user]\nname = 'A'\n"),
    ];
    for (before, after) in cases {
        let trial = ConfigFixture::new(Some(before));
        assert_eq!(unset_with(&trial.home, "recall.k", &nothing).unwrap(), after);
        assert_eq!((trial.text().as_str(), trial.read().unwrap().config.recall.k), (after, 5));
    }
    let inline = "memory = { scope = 'global', enabled = true, review_mode = 'silent' }\n";
    let without = [
        ("memory.scope", "memory = { enabled = true, review_mode = 'silent' }\n"),
        ("memory.enabled", "memory = { scope = 'global', review_mode = 'silent' }\n"),
        ("memory.review_mode", "memory = { scope = 'global', enabled = true }\n"),
    ];
    for (key, after) in without {
        assert_eq!(unset_with(&ConfigFixture::new(Some(inline)).home, key, &nothing).unwrap(), after);
    }
    let list = "[identity]\nlinks = [\n  '~/a', # one\n  '~/b',\n]\n# end\n";
    assert_eq!(
        unset_with(&ConfigFixture::new(Some(list)).home, "identity.links", &nothing).unwrap(),
        "[identity]\n# end\n"
    );
    for wrong in ["recal.k", "k", ""] {
        let error = unset_with(&ConfigFixture::new(None).home, wrong, &nothing).unwrap_err().to_string();
        assert!(error.starts_with("command line: there is no setting"), "{error}");
    }
}

#[test]
fn a_change_that_would_not_load_is_not_written() {
    let trial = ConfigFixture::new(Some("[user]\nname = 'A'\n"));
    assert!(trial.refuses("recal.k", "3").contains("did you mean recall.k?"));
    assert!(trial.refuses("recall.k", "300").contains("a whole number from 1 to 10"));
    assert!(trial.refuses("memory.confidence.medium", "0.95").contains("is below memory.confidence.medium"));
    assert!(trial.refuses("paths.state", "vault/state").contains("inside the notes vault"));
    assert!(ConfigFixture::new(Some("[user\n")).refuses("recall.k", "3").contains("config.toml:1:"));
    assert!(
        ConfigFixture::new(Some("recal.k = 3\n")).refuses("recall.k", "3").contains("no setting `recal.k`")
    );
    assert!(
        ConfigFixture::new(Some("recall = 3\n")).refuses("recall.k", "3").contains("no setting `recall`")
    );

    let variable = |name: &str| (name == "REKINDLE_MEMORY_CONFIDENCE_HIGH").then(|| OsString::from("0.8"));
    let error = set_with(&trial.home, "memory.confidence.medium", "0.85", &variable).unwrap_err();
    assert!(error.to_string().contains("environment variable REKINDLE_MEMORY_CONFIDENCE_HIGH"));
    assert_eq!(fs::read_dir(trial.home.root()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_wrong_value_can_be_set_right() {
    assert_eq!(ConfigFixture::new(Some("recall.k = 300\n")).set("recall.k", "3").unwrap(), "recall.k = 3\n");
    let crossed = ConfigFixture::new(Some("memory.confidence.medium = 0.95\n"));
    assert!(crossed.read().is_err());
    assert!(crossed.set("memory.confidence.high", "0.99").is_ok());
}

#[test]
fn an_edit_made_meanwhile_is_not_overwritten() {
    let trial = ConfigFixture::new(Some("recall.k = 3\n"));
    let file = trial.home.config_file();
    let error = file::write(&file, "recall.k = 4\n", Some("recall.k = 2\n")).unwrap_err();
    assert!(error.to_string().ends_with("nothing was written, try again"));
    assert!(file::write(&file, "recall.k = 4\n", None).is_err(), "a file appeared");
    assert_eq!(trial.text(), "recall.k = 3\n");
    assert_eq!(fs::read_dir(trial.home.root()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn sec_01_the_file_is_the_owners_and_links_stay_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;

    let trial = ConfigFixture::new(None);
    trial.set("user.name", "Ada").unwrap();
    assert_eq!((mode(&trial.home.config_file()), mode(trial.home.root())), (0o600, 0o700));

    let trial = ConfigFixture::new(None);
    let real = trial.folder.path().join("dotfiles/rekindle.toml");
    trial.put(&real, b"# dots\n");
    fs::create_dir_all(trial.home.root()).unwrap();
    symlink(&real, trial.home.config_file()).unwrap();
    trial.set("recall.k", "3").unwrap();
    assert!(trial.home.config_file().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "# dots\n\n[recall]\nk = 3\n");
}

#[test]
fn the_first_file_loads_and_says_where_to_look() {
    let trial =
        ConfigFixture::new(Some(&user_file("Ada \"the\\first\" 👩‍💻", Some("C:\\notes\\'mine'")).unwrap()));
    assert!(trial.text().contains("rekindle config list"));
    let config = trial.read().unwrap().config;
    assert_eq!(config.user.name, "Ada \"the\\first\" 👩‍💻");
    assert_eq!(config.vault.notes, "C:\\notes\\'mine'");
    assert!(!user_file("Ada", None).unwrap().contains("[vault]"));
    assert!(user_file("two\nlines", None).is_err());
}

/// Settings files in many styles, with the name in some spelling or missing. The name's old value is always
/// `'old'`.
fn person_file() -> impl Strategy<Value = (String, bool)> {
    let top = prop::sample::select(vec![
        "",
        "# my settings\n\n",
        "recall.k = 7 # seven\n",
        "identity = { links = [ '~/a' ] }\n",
    ]);
    let name = prop::sample::select(vec![
        "",
        "user.name = 'old'  # me\n",
        "user = { name = 'old' }\n",
        "[user]\n",
        "\n[user] # me\n\nname='old'\t# mine\n",
    ]);
    let rest = prop::sample::subsequence(
        vec![
            "[memory]\n\n  enabled = false\n# scope = 'x'\n",
            "[memory.confidence]\nhigh=0.95\n",
            "[vault]\nnotes = '''/n'''\n\n\n",
            "  [time]  # zone\n  # none\n",
        ],
        0..=4,
    )
    .prop_shuffle();
    (top, name, rest, any::<[bool; 3]>()).prop_map(|(top, name, rest, [crlf, mark, open_end])| {
        let mut text = format!("{top}{name}{}", rest.concat());
        if open_end {
            text.truncate(text.trim_end().len());
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if mark {
            text.insert(0, '\u{feff}');
        }
        (text, name.contains("'old'"))
    })
}

fn load_text(text: &str) -> LoadedConfig {
    let file = ConfigFile { path: "/r/config.toml".into(), text: text.to_owned() };
    settings::load(&ConfigLayers { flags: &[], variables: &|_| None, project: None, user: Some(&file) })
        .unwrap()
}

/// True if the second text is the first with one insertion.
fn only_inserted(before: &str, after: &str) -> bool {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let prefix = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let suffix = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    after.len() >= before.len() && prefix + suffix >= before.len()
}

/// A case looks at every thirteenth key.
const KEY_STRIDE: usize = 13;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn gen_01_any_name_can_be_set_and_every_other_byte_stays(
        (before, present) in person_file(), name in prop_oneof![4 => any::<String>(), 1 => "(?s).{0,110}"],
    ) {
        let home = HomeFolder::find_with(Some(Path::new("/r")), None, None).unwrap();
        let Ok(value) = settings::check("user.name", &name) else { return Ok(()) };
        let after = changed_text(&home, &before, "user.name", Some(&value), &nothing).unwrap();
        prop_assert_eq!(load_text(&after).config.user.name, name);
        if present {
            prop_assert_eq!(after, before.replacen("'old'", &edit::render(&value), 1));
        } else {
            prop_assert!(only_inserted(&before, &after));
        }
    }

    #[test]
    fn every_key_can_be_set_and_taken_out_again((before, _) in person_file(), first in 0..KEY_STRIDE) {
        let home = HomeFolder::find_with(Some(Path::new("/r")), None, Some("/u".into())).unwrap();
        let comments = |text: &str| text.matches('#').count();
        let bare_newlines = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
        for key in keys().iter().skip(first).step_by(KEY_STRIDE) {
            let set = changed_text(&home, &before, key.name, Some(&key.default), &nothing).unwrap();
            let unset = changed_text(&home, &set, key.name, None, &nothing).unwrap();
            prop_assert_eq!((comments(&set), comments(&unset)), (comments(&before), comments(&before)));
            if before.contains("\r\n") {
                prop_assert_eq!((bare_newlines(&set), bare_newlines(&unset)), (0, 0));
            }
            prop_assert_eq!(load_text(&set).get(key.name).unwrap().place.source.as_str(), "user");
            prop_assert_eq!(load_text(&unset).get(key.name).unwrap().place.source.as_str(), "default");
        }
    }

    #[test]
    fn the_first_file_holds_any_name(name in any::<String>(), notes in "[^\\p{Cc}~][^\\p{Cc}]{0,20}") {
        if let Ok(text) = user_file(&name, Some(&notes)) {
            let config = load_text(&text).config;
            prop_assert_eq!((config.user.name, config.vault.notes), (name, notes));
        }
    }
}
