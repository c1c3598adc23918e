//! Tests of finding the project folder.

use super::*;

#[test]
fn b_05_any_folder_inside_is_the_project() {
    let ground = ProjectsFixture::new();
    ground.repository("code/widgets");
    ground.folder("code/widgets/src/deep");
    for inside in ["code/widgets", "code/widgets/src/deep", "code/widgets/.git", "code/widgets/.git/refs"] {
        assert_eq!(root_of(ground.locate(inside)), Some(ground.at("code/widgets")), "{inside}");
    }
    assert_eq!(ground.locate("code"), None);
    assert_eq!(ground.identify("code/widgets/src").project.name, "widgets");
}

#[test]
fn b_05_a_folder_that_is_gone_still_says_where_it_was() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    assert_eq!(root_of(ground.locate("widgets/build/out")), Some(ground.at("widgets")));
    assert_eq!(locate(Path::new(""), None), None);
}

#[test]
fn b_05_linked_worktrees_share_the_project_and_keep_their_root() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.first_commit("widgets", "a");
    ground.worktree("widgets", "elsewhere/feature");
    let (main, linked) = (ground.identify("widgets"), ground.identify("elsewhere/feature"));
    assert_eq!(main.project.id, linked.project.id);
    assert_eq!(linked.project.name, "widgets");
    assert_eq!(linked.project.root, ground.at("elsewhere/feature"));

    // Git can also write relative paths.
    ground.write("elsewhere/feature/.git", "gitdir: ../../widgets/.git/worktrees/linked\n");
    assert_eq!(ground.id("elsewhere/feature"), main.project.id.as_str());
}

#[test]
fn b_05_a_submodule_is_its_own_project() {
    let ground = ProjectsFixture::new();
    ground.clone_of("app", "https://github.com/acme/app");
    ground.git_dir("app/.git/modules/libs/widgets");
    ground.write("app/libs/widgets/.git", "gitdir: ../../.git/modules/libs/widgets\n");
    let local = ground.identify("app/libs/widgets").project;
    assert_eq!(local.name, "widgets");
    assert!(local.id.as_str().starts_with("local/widgets-"));
    let config = "[remote \"origin\"]\nurl = git@github.com:acme/widgets\n";
    ground.write("app/.git/modules/libs/widgets/config", config);
    assert_eq!(ground.id("app/libs/widgets"), "github.com/acme/widgets");
    assert_eq!(ground.id("app/libs"), "github.com/acme/app");
}

#[test]
fn b_05_bare_repositories_count_unless_a_worktree_contains_them() {
    let ground = ProjectsFixture::new();
    ground.git_dir("srv/widgets.git");
    assert_eq!(root_of(ground.locate("srv/widgets.git/objects")), Some(ground.at("srv/widgets.git")));
    assert!(ground.id("srv/widgets.git").starts_with("local/widgets-"));

    // The layout in which all worktrees stand beside a hidden bare repository.
    ground.git_dir("tools/.bare");
    ground.write("tools/.git", "gitdir: ./.bare\n");
    ground.write("tools/.bare/worktrees/main/commondir", "../..\n");
    ground
        .write("tools/main/.git", format!("gitdir: {}\n", ground.at("tools/.bare/worktrees/main").display()));
    assert_eq!(ground.id("tools"), ground.id("tools/main"));
    assert_eq!(ground.identify("tools/main").project.name, "tools");

    // A repository that contains a fake one does not reach its memories.
    ground.clone_of("evil", "https://github.com/mallory/evil");
    ground.git_dir("evil/fixtures/bank.git");
    ground
        .write("evil/fixtures/bank.git/config", "[remote \"origin\"]\nurl = https://github.com/bank/core\n");
    assert_eq!(ground.id("evil/fixtures/bank.git"), "github.com/mallory/evil");
}

#[test]
fn what_only_looks_like_git_is_passed_over() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.folder("widgets/mount/.git");
    ground.write("widgets/notes/.git", "not a pointer\n");
    ground.write("widgets/huge/.git", format!("gitdir: /{}\n", "x".repeat(5_000)));
    ground.write("widgets/blob/.git", [b"gitdir: ".as_slice(), &[0, 159, 146, 150]].concat());
    for inside in ["widgets/mount", "widgets/notes", "widgets/huge", "widgets/blob"] {
        assert_eq!(root_of(ground.locate(inside)), Some(ground.at("widgets")), "{inside}");
    }
}

#[test]
fn b_05_without_git_the_files_for_agents_make_a_project() {
    for file in ["AGENTS.md", "CLAUDE.md", ".rekindle.toml"] {
        let ground = ProjectsFixture::new();
        ground.write(&format!("novel/{file}"), "");
        ground.folder("novel/chapters/one");
        assert_eq!(root_of(ground.locate("novel/chapters/one")), Some(ground.at("novel")), "{file}");
        let project = ground.identify("novel/chapters").project;
        assert!(project.id.as_str().starts_with("local/novel-"));
        assert_eq!((project.name, project.root), ("novel".to_owned(), ground.at("novel")));
        assert_eq!(ground.id("novel"), ground.id("novel"));

        ground.write("novel/chapters/AGENTS.md", "");
        assert_eq!(
            root_of(ground.locate("novel/chapters/one")),
            Some(ground.at("novel/chapters")),
            "the nearest"
        );
        // A repository at home holds dotfiles, not projects.
        ground.repository(".");
        assert_eq!(root_of(ground.locate("novel/chapters/one")), Some(ground.at("novel/chapters")));
        ground.repository("novel");
        assert_eq!(root_of(ground.locate("novel/chapters/one")), Some(ground.at("novel")), "git comes first");
    }
}

#[test]
fn b_05_home_is_no_project_for_having_a_file_for_agents() {
    let ground = ProjectsFixture::new();
    ground.write("CLAUDE.md", "");
    ground.write("AGENTS.md", "");
    ground.folder("scratch");
    ground.folder("people/ann/work");
    assert_eq!(ground.locate("scratch"), None);
    assert_eq!(ground.locate(""), None);
    let ann = ground.at("people/ann");
    assert_eq!(locate(&ann.join("work"), Some(&ann)), None, "nor is a folder around home");
    assert_eq!(root_of(locate(&ann, Some(Path::new("/nobody")))), Some(ground.at("")));
    ground.write(".rekindle.toml", "");
    assert_eq!(root_of(ground.locate("scratch")), Some(ground.at("")), "unless it was asked for");
}

#[test]
fn r_15_a_repository_at_home_or_above_it_is_no_project() {
    let ground = ProjectsFixture::new();
    ground.repository("");
    ground.folder("people/ann/notes");
    ground.repository("people/ann/src/widgets");
    let ann = ground.at("people/ann");
    let from = |path: &str| root_of(locate(&ann.join(path), Some(&ann)));
    assert_eq!(from("notes"), None, "above home");
    assert_eq!(from(""), None);
    assert_eq!(from("src/widgets"), Some(ann.join("src/widgets")));
    ground.repository("people/ann");
    assert_eq!(from("notes"), None, "at home");
    // For another user it is an ordinary project.
    assert_eq!(root_of(locate(&ann.join("notes"), Some(Path::new("/nobody")))), Some(ann.clone()));
}

#[cfg(unix)]
#[test]
fn b_05_links_lead_to_the_same_project() {
    use std::os::unix::fs::symlink;
    let ground = ProjectsFixture::new();
    ground.repository("disk/widgets");
    ground.folder("disk/widgets/src");
    symlink(ground.at("disk/widgets/src"), ground.at("shortcut")).unwrap();
    symlink(ground.at("disk"), ground.at("home")).unwrap();
    assert_eq!(ground.locate("shortcut"), ground.locate("disk/widgets"));
    assert_eq!(ground.locate("home/widgets"), ground.locate("disk/widgets"));
    assert_eq!(ground.id("shortcut"), ground.id("disk/widgets"));

    // A `.git` that is a link, and a home that is one.
    ground.folder("second");
    symlink(ground.at("disk/widgets/.git"), ground.at("second/.git")).unwrap();
    assert_eq!(ground.id("second"), ground.id("disk/widgets"));
    ground.write("disk/AGENTS.md", "");
    ground.folder("disk/other");
    assert_eq!(locate(&ground.at("disk/other"), Some(&ground.at("home"))), None);
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let ground = ProjectsFixture::new();
    let main = ground.top.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    ground.repository("plain");
    ground.first_commit("plain", "a");
    ground.worktree("plain", "linked");
    fs::rename(ground.at("plain"), &main).unwrap();
    let pointer = [b"gitdir: ", main.as_os_str().as_bytes(), b"/.git/worktrees/linked\n"].concat();
    ground.write("linked/.git", pointer);
    let direct = identify_folder(&locate(&main, Some(&ground.top)).unwrap(), &load(&ground.registry));
    assert_eq!(ground.identify("linked").project.id, direct.project.id);
}
