//! Tests of recognising a known project.

use super::*;

#[test]
fn b_05_clones_are_one_project_however_they_were_made() {
    let ground = ProjectsFixture::new();
    ground.clone_of("a", "git@github.com:Acme/Widgets.git");
    ground.clone_of("b", "https://github.com/acme/widgets");
    ground.clone_of("c", "ssh://git@ssh.github.com:443/acme/widgets.git");
    for clone in ["a", "b", "c"] {
        let project = ground.identify(clone).project;
        assert_eq!((project.id.as_str(), project.name.as_str()), ("github.com/acme/widgets", "widgets"));
    }
}

#[test]
fn b_05_a_moved_folder_keeps_its_id() {
    let ground = ProjectsFixture::new();
    if !ground.keeps_births() {
        return;
    }
    ground.repository("repository");
    ground.write("notes/AGENTS.md", "");
    for name in ["repository", "notes"] {
        let id = ground.visit(name);
        ground.rename(name, &format!("{name}-moved"));
        assert_eq!(ground.id(&format!("{name}-moved")), id);
        // A new repository at the old path is another project, before and after the move was noticed.
        ground.repository("repository");
        ground.write("notes/AGENTS.md", "");
        assert_ne!(ground.id(name), id);
        assert_eq!(ground.visit(&format!("{name}-moved")), id);
        assert_ne!(ground.visit(name), id);
    }
}

#[test]
fn b_05_a_copy_on_another_disk_is_found_by_its_first_commit() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    let id = ground.visit("widgets");
    ground.first_commit("widgets", "a");
    assert_eq!(ground.visit("widgets"), id, "a first commit does not change the id");
    ground.repository("restored");
    ground.first_commit("restored", "a");
    assert_eq!(ground.id("restored"), id);
    // Git drops the first reflog line after ninety days; the registry has it by then.
    ground.write("widgets/.git/logs/HEAD", "");
    assert_eq!(ground.visit("widgets"), id);
    assert_eq!(ground.id("restored"), id);
}

#[test]
fn b_05_a_first_commit_makes_an_id_that_can_be_recognised() {
    let ground = ProjectsFixture::new();
    ground.repository("My Widgets");
    ground.first_commit("My Widgets", "c");
    assert_eq!(ground.id("My Widgets"), "local/my-widgets-cccccccc");
}

#[test]
fn b_05_a_renamed_remote_and_a_first_one_keep_the_id() {
    let ground = ProjectsFixture::new();
    ground.clone_of("widgets", "https://github.com/acme/widgets");
    let id = ground.visit("widgets");
    ground.set_remote("widgets", "https://github.com/acme/gadgets");
    assert_eq!(ground.identify("widgets").project.name, "gadgets");
    assert_eq!(ground.visit("widgets"), id);
    ground.clone_of("other", "git@github.com:acme/gadgets");
    assert_eq!(ground.id("other"), id);

    ground.repository("young");
    let id = ground.visit("young");
    ground.set_remote("young", "https://github.com/acme/young");
    assert_eq!(ground.visit("young"), id);
    ground.clone_of("young-clone", "https://github.com/acme/young");
    assert_eq!(ground.visit("young-clone"), id);
}

#[test]
fn b_05_git_init_keeps_the_id() {
    let ground = ProjectsFixture::new();
    ground.write("widgets/CLAUDE.md", "");
    let id = ground.visit("widgets");
    ground.repository("widgets");
    assert_eq!(ground.visit("widgets"), id);
    ground.set_remote("widgets", "https://github.com/acme/widgets");
    assert_eq!(ground.visit("widgets"), id);
}

#[test]
fn b_05_another_repository_at_the_same_path_is_another_project() {
    let ground = ProjectsFixture::new();
    if !ground.keeps_births() {
        return;
    }
    let mut seen = Vec::new();
    for what in ["remote", "other remote", "nothing", "commit", "other commit"] {
        ground.repository("w");
        match what {
            "remote" => ground.set_remote("w", "https://github.com/acme/one"),
            "other remote" => ground.set_remote("w", "https://github.com/acme/two"),
            "commit" => ground.first_commit("w", "a"),
            "other commit" => ground.first_commit("w", "b"),
            _ => {}
        }
        let id = ground.visit("w");
        assert!(!seen.contains(&id), "{what} inherited {id}");
        seen.push(id);
        // The system usually gives the next folder the same inode number.
        fs::remove_dir_all(ground.at("w")).unwrap();
    }
}

#[test]
fn b_05_a_worktree_that_lost_its_moved_repository_still_knows_its_project() {
    let ground = ProjectsFixture::new();
    ground.repository("widgets");
    ground.first_commit("widgets", "a");
    ground.worktree("widgets", "linked");
    let id = ground.visit("widgets");
    ground.rename("widgets", "moved");
    assert_eq!(ground.id("linked"), id);
    assert_eq!(ground.visit("moved"), id);
}

#[test]
fn b_05_a_folder_for_a_remote_leads_to_the_project_there() {
    let ground = ProjectsFixture::new();
    ground.clone_of("server", "https://github.com/acme/widgets");
    let server = ground.at("server");
    for url in [server.display().to_string(), format!("file://{}", server.display()), "../server".to_owned()]
    {
        ground.clone_of("clone", &url);
        assert_eq!(ground.id("clone"), "github.com/acme/widgets", "{url}");
    }
    ground.clone_of("second", "../clone/.git");
    assert_eq!(ground.id("second"), "github.com/acme/widgets");

    ground.git_dir("bare.git");
    ground.clone_of("of-bare", "../bare");
    assert_eq!(ground.id("of-bare"), ground.id("bare.git"));
    let id = ground.visit("of-bare");
    assert!(id.starts_with("local/bare-"));
    assert_eq!(ground.visit("bare.git"), id);

    ground.clone_of("orphan", "/nowhere/at/all");
    assert!(ground.id("orphan").starts_with("local/orphan-"));
}

#[test]
fn b_05_remotes_that_go_in_circles_or_on_forever_end() {
    let ground = ProjectsFixture::new();
    ground.clone_of("a", "../b");
    ground.clone_of("b", "../c");
    ground.clone_of("c", "../a");
    ground.clone_of("into", "../c");
    ground.clone_of("self", ".");
    let ids = ["a", "b", "c", "into"].map(|name| ground.id(name));
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(ids[0].starts_with("local/a-"));
    assert!(ground.id("self").starts_with("local/self-"));

    ground.clone_of("n0", "https://github.com/acme/far");
    for n in 1..=6 {
        ground.clone_of(&format!("n{n}"), &format!("../n{}", n - 1));
    }
    assert_eq!(ground.id("n4"), "github.com/acme/far");
    assert!(ground.id("n5").starts_with("local/n1-"), "four are followed");
}

#[test]
fn huge_broken_and_foreign_configurations_are_survived() {
    let ground = ProjectsFixture::new();
    ground.repository("w");
    let remote = "[remote \"origin\"]\n\turl = https://github.com/acme/widgets\n";
    let config = |content: &[u8]| {
        ground.write("w/.git/config", content);
        ground.id("w")
    };
    let padding = "# padding\n".repeat(200_000);
    assert_eq!(config(format!("{remote}{padding}").as_bytes()), "github.com/acme/widgets");
    assert!(config(format!("{padding}{remote}").as_bytes()).starts_with("local/"));
    // The limit falls into the address: half of it would be another project.
    let line = "[remote \"origin\"]\n\turl = https://github.com/acme/wid";
    let cut = format!("{}\n{line}", "#".repeat(1024 * 1024 - line.len() - 1));
    assert_eq!(cut.len(), 1024 * 1024);
    assert!(config(format!("{cut}gets\n").as_bytes()).starts_with("local/"));

    let foreign = [b"[user]\nname = Andr\xe9\n\xff\xfe = [\n", remote.as_bytes()].concat();
    assert_eq!(config(&foreign), "github.com/acme/widgets");
    ground.write("elsewhere", remote);
    let include = format!("[include]\n\tpath = {}\n", ground.at("elsewhere").display());
    assert!(config(include.as_bytes()).starts_with("local/"));
    fs::remove_file(ground.at("w/.git/config")).unwrap();
    assert!(ground.id("w").starts_with("local/"));
    ground.folder("w/.git/config");
    assert!(ground.id("w").starts_with("local/"));
    ground.write("w/.git/logs/HEAD", vec![b'0'; 100_000]);
    assert!(ground.id("w").starts_with("local/"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_for_a_configuration_does_not_hang_us() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let ground = ProjectsFixture::new();
    ground.repository("w");
    let config = ground.at("w/.git/config");
    fs::remove_file(&config).unwrap();
    mknodat(CWD, &config, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(ground.id("w").starts_with("local/w-"));
}

#[test]
fn b_05_a_remote_that_git_never_fetched_from_is_only_a_claim() {
    let ground = ProjectsFixture::new();
    ground.clone_of("widgets", "https://github.com/acme/widgets");
    assert_eq!(ground.visit("widgets"), "github.com/acme/widgets");
    let traces = [
        ("FETCH_HEAD", ""),
        ("refs/remotes/origin/main", "1234\n"),
        ("packed-refs", "1234 refs/remotes/origin/main\n"),
        ("logs/HEAD", "0 1 A <a@b> 1 +0000\tclone: from https://github.com/acme/widgets\n"),
    ];
    for (number, (file, content)) in traces.into_iter().enumerate() {
        let folder = format!("copy-{number}");
        ground.repository(&folder);
        ground.set_remote(&folder, "https://github.com/acme/widgets");
        let found = ground.identify(&folder);
        assert!(found.project.id.as_str().starts_with("local/copy-"), "{}", found.project.id);
        let claim = found.claim.unwrap();
        assert_eq!(claim.id.as_str(), "github.com/acme/widgets");
        assert_eq!(Path::new(&claim.folder), ground.at("widgets"));
        ground.write(&format!("{folder}/.git/{file}"), content);
        assert_eq!(ground.id(&folder), "github.com/acme/widgets", "{file}");
    }
    // A bare clone has packed branches and none of the other signs.
    ground.git_dir("widgets.git");
    ground.write("widgets.git/config", "[remote \"origin\"]\n\turl = https://github.com/acme/widgets\n");
    assert!(ground.identify("widgets.git").claim.is_some());
    ground.write("widgets.git/packed-refs", "1234 refs/heads/main\n");
    assert_eq!(ground.id("widgets.git"), "github.com/acme/widgets");
}
