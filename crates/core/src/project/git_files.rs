//! Parsers for git's small files that identify a worktree, a submodule and a first commit.

use std::path::{Path, PathBuf};

/// The target of a `.git` file: the path on its `gitdir:` line, relative to the file's folder. Bytes, because
/// a Unix path need not be UTF-8.
pub fn git_file_target(content: &[u8]) -> Option<&[u8]> {
    let target = content.strip_prefix(b"gitdir:")?;
    let start = target.iter().position(|byte| *byte != b' ')?;
    one_path(&target[start..])
}

/// The target of a worktree's `commondir` file, relative to the file's folder.
pub fn common_dir_target(content: &[u8]) -> Option<&[u8]> {
    one_path(content)
}

fn one_path(content: &[u8]) -> Option<&[u8]> {
    let end = content.iter().rposition(|byte| !b"\r\n".contains(byte))?;
    let path = &content[..=end];
    (!path.iter().any(|byte| b"\0\r\n".contains(byte))).then_some(path)
}

/// The common dir of a git dir that no longer exists, by git's own layout `<common>/worktrees/<name>`. It
/// lets a worktree whose repository was moved, and which git has not repaired yet, still find its project's
/// old path.
pub fn common_dir_by_name(git_dir: &Path) -> PathBuf {
    let worktrees =
        git_dir.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "worktrees"));
    worktrees.and_then(Path::parent).unwrap_or(git_dir).to_owned()
}

/// The first commit of a repository, if the first line of its `logs/HEAD` says that it was made there.
///
/// The first line in a clone does not count. It names the newest commit of that day, and two unrelated
/// projects cloned from one template would share it.
pub fn initial_commit(reflog_line: &str) -> Option<String> {
    let (commits, message) = reflog_line.split_once('\t')?;
    let mut words = commits.split(' ');
    let (before, after) = (words.next()?, words.next()?);
    let is_id =
        |text: &str| matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let nothing = |text: &str| text.bytes().all(|byte| byte == b'0');
    let begins = is_id(before) && nothing(before) && is_id(after) && !nothing(after);
    (begins && message.starts_with("commit (initial)")).then(|| after.to_ascii_lowercase())
}

/// True if a line of `logs/HEAD` was written by `git clone`.
pub fn is_of_clone(reflog_line: &str) -> bool {
    reflog_line.split_once('\t').is_some_and(|(_, message)| message.starts_with("clone: from "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn git_files_point_somewhere_or_nowhere() {
        assert_eq!(git_file_target(b"gitdir: ../.git/modules/a b\n"), Some(&b"../.git/modules/a b"[..]));
        assert_eq!(git_file_target(b"gitdir:/x\r\n"), Some(&b"/x"[..]));
        assert_eq!(git_file_target(b"gitdir: /caf\xe9"), Some(&b"/caf\xe9"[..]));
        for none in [&b""[..], b"gitdir:", b"gitdir: \n", b"/x\n", b"gitdir: /x\n/y\n", b"gitdir: /x\0y\n"] {
            assert_eq!(git_file_target(none), None, "{none:?}");
        }
        assert_eq!(common_dir_target(b"../..\n"), Some(&b"../.."[..]));
        assert_eq!(common_dir_target(b"\n"), None);
    }

    #[test]
    fn a_lost_worktree_still_names_its_repository() {
        assert_eq!(common_dir_by_name(Path::new("/a/.git/worktrees/b")), Path::new("/a/.git"));
        assert_eq!(common_dir_by_name(Path::new("/a/.git/modules/b")), Path::new("/a/.git/modules/b"));
        assert_eq!(common_dir_by_name(Path::new("worktrees/b")), Path::new(""));
        assert_eq!(common_dir_by_name(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn only_a_commit_made_here_began_the_repository() {
        let (zero, one) = ("0".repeat(40), "1aB2".repeat(10));
        let line = |before: &str, after: &str, message: &str| {
            format!("{before} {after} A B <a@b> 1 +0000\t{message}")
        };
        assert_eq!(initial_commit(&line(&zero, &one, "commit (initial): x")), Some(one.to_lowercase()));
        let (zero_256, one_256) = ("0".repeat(64), "c".repeat(64));
        assert_eq!(initial_commit(&line(&zero_256, &one_256, "commit (initial)")), Some(one_256));
        for none in [
            line(&zero, &one, "clone: from https://user:tok@github.com/acme/widgets"),
            line(&one, &one, "commit (initial): x"),
            line(&zero, &zero, "commit (initial): x"),
            line(&zero, "1234", "commit (initial): x"),
            format!("{zero} {one} commit (initial): x"),
            String::new(),
        ] {
            assert_eq!(initial_commit(&none), None, "{none}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_git_writes_into_a_git_file_reads_back(path in "[^\\x00\\r\\n ][^\\x00\\r\\n]{0,40}") {
            let (git_file, common_dir) = (format!("gitdir: {path}\n"), format!("{path}\n"));
            prop_assert_eq!(git_file_target(git_file.as_bytes()), Some(path.as_bytes()));
            prop_assert_eq!(common_dir_target(common_dir.as_bytes()), Some(path.as_bytes()));
        }

        #[test]
        fn any_reflog_is_survived(line in any::<String>()) {
            prop_assert_eq!(initial_commit(&line), None);
        }
    }
}
