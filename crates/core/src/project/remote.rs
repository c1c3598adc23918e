//! Normalises remote URLs: the many spellings of one repository become one.

use std::path::PathBuf;

/// URL schemes that name a server. Any other scheme (`ext::`, `codecommit::`, …) goes to a helper program,
/// and only that program knows its meaning.
const SERVER_SCHEMES: [&str; 8] = ["ssh", "git", "https", "http", "git+ssh", "ssh+git", "ftps", "ftp"];

/// Hosts with case-insensitive paths: `Acme/Widgets` and `acme/widgets` are the same repository. On any other
/// host case may matter.
const CASELESS_HOSTS: [&str; 5] = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", AZURE_HOST];

/// Alternative host names of known servers, offered for networks whose firewall blocks the first one.
const HOST_ALIASES: [(&str, &str); 7] = [
    ("www.github.com", "github.com"),
    ("ssh.github.com", "github.com"),
    ("www.gitlab.com", "gitlab.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("ssh.dev.azure.com", AZURE_HOST),
    ("vs-ssh.visualstudio.com", AZURE_HOST),
];

const AZURE_HOST: &str = "dev.azure.com";
const AZURE_OLD_SUFFIX: &str = ".visualstudio.com";

/// The first part of every id without a remote. No server may have this name.
pub(super) const LOCAL_ID_PREFIX: &str = "local";

/// The maximum length of a remote that becomes an id. Ids appear in frontmatter, in file names and on
/// screens.
const MAX_ID_BYTES: usize = 512;

/// The normalised source of a repository: no scheme, user, password, port or query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitRemote {
    /// A repository on a server: `github.com/acme/widgets`, plain ASCII.
    Hosted(String),
    /// A folder on this machine, as written; it may be relative.
    Local(PathBuf),
}

/// Normalises a remote URL. `None` if it cannot be one.
///
/// All ports are dropped: `ssh://git@git.acme.dev:2222/widgets` and `https://git.acme.dev:8443/widgets` are
/// far more often one server than two servers that share a name.
pub fn normalise_remote(url: &str) -> Option<GitRemote> {
    let url = url.trim_matches(' ');
    if url.is_empty() || url.chars().any(char::is_control) {
        return None;
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return file_url(rest);
        }
        return if SERVER_SCHEMES.contains(&scheme.as_str()) { server_url(rest) } else { None };
    }
    // A network share. Use its name but never open it: on Windows a mere look sends the user's password hash
    // there.
    if let Some(share) = url.strip_prefix(r"\\").or_else(|| url.strip_prefix("//")) {
        return server_url(&share.replace('\\', "/"));
    }
    let drive = matches!(url.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    match ssh_short_form(url) {
        // The syntax of helpers: `ext::command`, `codecommit::region`.
        Some((_, path)) if path.starts_with(':') => None,
        Some((host, path)) if !drive => hosted(host, path),
        _ => Some(GitRemote::Local(PathBuf::from(url))),
    }
}

/// Splits `user@host:path`. A text with a slash before its first colon is a path.
fn ssh_short_form(url: &str) -> Option<(&str, &str)> {
    if let Some(end) = url.find("]:")
        && let Some(start) = url[..end].find('[')
        && !url[..start].contains(':')
    {
        let inside = &url[start + 1..end];
        // `user@[::1]:path` has an address in brackets, `[user@host:2222]:path` a port.
        let host = if inside.matches(':').count() > 1 { &url[start..=end] } else { inside };
        return (!url[..end].contains('/')).then_some((host, &url[end + 2..]));
    }
    let (host, path) = url.split_once(':')?;
    (!host.contains('/')).then_some((host, path))
}

/// Parses the text after `scheme://` for a scheme that names a server.
fn server_url(rest: &str) -> Option<GitRemote> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // An `@` this late means that a password with a slash in it was split. Its tail must not become a name.
    if path.contains('@') {
        return None;
    }
    hosted(authority, path.split(['?', '#']).next()?)
}

fn file_url(rest: &str) -> Option<GitRemote> {
    let (host, path) = rest.split_at(rest.find('/')?);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return server_url(rest);
    }
    let path = decode(path)?;
    let drive = matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    let path = if drive { &path[1..] } else { &path };
    (!path.chars().any(char::is_control)).then(|| GitRemote::Local(PathBuf::from(path)))
}

fn hosted(authority: &str, path: &str) -> Option<GitRemote> {
    if path.contains('@') {
        return None;
    }
    let mut host = host_of(authority)?;
    if let Some((_, name)) = HOST_ALIASES.iter().find(|(alias, _)| *alias == host) {
        // Azure's ssh hosts prefix the path with a protocol version.
        let path = if *name == AZURE_HOST { path.trim_start_matches('/').strip_prefix("v3/")? } else { path };
        return hosted(name, path);
    }
    let organisation = host.strip_suffix(AZURE_OLD_SUFFIX).map(str::to_owned);
    let caseless = organisation.is_some() || CASELESS_HOSTS.contains(&host.as_str());
    let mut names = names_of(path, caseless)?;
    if let Some(organisation) = organisation
        && names.iter().any(|name| name == "_git")
    {
        names.retain(|name| name != "defaultcollection");
        names.insert(0, organisation);
        AZURE_HOST.clone_into(&mut host);
    }
    if host == AZURE_HOST {
        names = azure_names(names);
    }
    let id = format!("{host}/{}", names.join("/"));
    (id.len() <= MAX_ID_BYTES).then_some(GitRemote::Hosted(id))
}

/// The host of `user:password@host:port`, in lower case.
fn host_of(authority: &str) -> Option<String> {
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(bracketed) => {
            let (address, after) = bracketed.split_once(']')?;
            let is_address =
                address.contains(':') && address.bytes().all(|b| b.is_ascii_hexdigit() || b".:".contains(&b));
            let port = if after.is_empty() { "" } else { after.strip_prefix(':')? };
            (is_address.then(|| format!("[{address}]"))?, port)
        }
        None => {
            let (host, port) = host_and_port.split_once(':').unwrap_or((host_and_port, ""));
            let host = host.trim_end_matches('.');
            let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric())
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
                && !host.contains("..");
            (is_host.then(|| host.to_owned())?, port)
        }
    };
    let host = host.to_ascii_lowercase();
    (host != LOCAL_ID_PREFIX && port.bytes().all(|b| b.is_ascii_digit())).then_some(host)
}

/// The segments of a path without a trailing `.git`. `None` if nothing is left or a segment is `..`.
fn names_of(path: &str, caseless: bool) -> Option<Vec<String>> {
    let mut names: Vec<String> = path
        .split('/')
        .map(|name| plain_name(name, caseless))
        .filter(|name| !name.is_empty() && name != ".")
        .collect();
    // Two dots inside a name are legal, but rejected too: an id is one careless join away from a path.
    if names.iter().any(|name| name.contains("..")) {
        return None;
    }
    while let Some(last) = names.pop() {
        let bare = last.strip_suffix(".git").unwrap_or(&last);
        let done = bare == last;
        if !bare.is_empty() {
            names.push(bare.to_owned());
        }
        if done {
            break;
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Normalises `org/project/_git/repo`, or `org/_git/repo` if project and repository share a name, to the ssh
/// form.
fn azure_names(mut names: Vec<String>) -> Vec<String> {
    let marker = names.iter().position(|name| name == "_git");
    let markers = names.iter().filter(|name| *name == "_git").count();
    match (marker, names.len()) {
        (Some(2), 4) if markers == 1 => {
            names.remove(2);
        }
        (Some(1), 3) if markers == 1 => names[1] = names[2].clone(),
        _ => {}
    }
    names
}

/// One segment in the canonical spelling of ids: letters, digits and `-._~+` as they are, every other byte as
/// `%XX`.
fn plain_name(name: &str, caseless: bool) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        let mut byte = *byte;
        if let (b'%', [high, low, after @ ..]) = (byte, tail)
            && let Some(value) = hex_pair(*high, *low)
        {
            byte = value;
            rest = after;
        }
        if byte.is_ascii_alphanumeric() || b"-._~+".contains(&byte) {
            plain.push(char::from(if caseless { byte.to_ascii_lowercase() } else { byte }));
        } else {
            plain.push_str(&format!("%{byte:02X}"));
        }
    }
    plain
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        match tail {
            [high, low, after @ ..] if *byte == b'%' => {
                bytes.push(hex_pair(*high, *low)?);
                rest = after;
            }
            _ => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some(digit(high)? * 16 + digit(low)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hosted_id(url: &str) -> Option<String> {
        match normalise_remote(url)? {
            GitRemote::Hosted(id) => Some(id),
            GitRemote::Local(_) => None,
        }
    }

    #[track_caller]
    fn all_are(id: &str, urls: &[&str]) {
        for url in urls {
            assert_eq!(hosted_id(url).as_deref(), Some(id), "{url}");
        }
    }

    #[test]
    fn b_05_every_way_to_write_a_remote_is_one() {
        all_are(
            "github.com/acme/widgets",
            &[
                "git@github.com:Acme/Widgets.git",
                "github.com:acme/widgets",
                "git@github.com:/acme/widgets.git",
                "ssh://git@github.com:22/acme/widgets/",
                "ssh://git@ssh.github.com:443/acme/widgets.git",
                "git+ssh://git@github.com/acme/widgets",
                "git://github.com/acme/widgets.git",
                "https://github.com/acme/widgets?x#y",
                "https://github.com/acme/widgets#y",
                "HTTPS://GitHub.COM//acme/./widgets.git//",
                "https://www.github.com./acme/%77idgets",
                "http://github.com:/acme/widgets.GIT",
                "https://github.com/acme/widgets/.git",
                "  https://github.com/acme/widgets  ",
            ],
        );
    }

    #[test]
    fn b_05_ports_of_one_server_are_one_project() {
        all_are(
            "git.acme.dev/Team/Widgets",
            &[
                "ssh://git@git.acme.dev:2222/Team/Widgets.git",
                "https://git.acme.dev:8443/Team/Widgets",
                "[git@git.acme.dev:2222]:Team/Widgets.git",
                "git@git.acme.dev:Team/Widgets",
            ],
        );
        assert_ne!(
            hosted_id("https://git.acme.dev/team/widgets"),
            hosted_id("https://git.acme.dev/Team/Widgets")
        );
        all_are(
            "[::1]/widgets",
            &["ssh://git@[::1]:22/widgets", "git@[::1]:widgets.git", "http://[::1]/widgets"],
        );
    }

    #[test]
    fn b_05_azure_says_the_same_in_four_ways() {
        all_are(
            "dev.azure.com/acme/my%20tools/widgets",
            &[
                "https://acme@dev.azure.com/acme/My%20Tools/_git/Widgets",
                "git@ssh.dev.azure.com:v3/acme/My%20Tools/Widgets",
                "https://acme.visualstudio.com/DefaultCollection/My Tools/_git/widgets",
                "acme@vs-ssh.visualstudio.com:v3/acme/my%20tools/widgets",
            ],
        );
        all_are(
            "dev.azure.com/acme/widgets/widgets",
            &["https://dev.azure.com/acme/_git/widgets", "git@ssh.dev.azure.com:v3/acme/widgets/widgets"],
        );
    }

    #[test]
    fn b_03_credentials_are_dropped_and_never_cut_in_two() {
        all_are(
            "github.com/acme/widgets",
            &[
                "https://user:tok@github.com/acme/widgets.git",
                "https://tok@github.com/acme/widgets.git",
                "https://user:t%40k:x@y@github.com/acme/widgets.git",
            ],
        );
        for cut in [
            "https://user:to/k@github.com/acme/widgets",
            "https://user:12/34@github.com/acme/widgets",
            "https://user:12/34?56@github.com/acme/widgets",
            "https://user:12#34@github.com/acme/widgets",
            "user:tok@github.com:acme/widgets",
        ] {
            assert_eq!(normalise_remote(cut), None, "{cut}");
        }
    }

    #[test]
    fn odd_characters_have_one_spelling() {
        all_are(
            "git.acme.dev/caf%C3%A9/a%23b",
            &["https://git.acme.dev/café/a%23b", "git.acme.dev:caf%c3%a9/a#b"],
        );
        all_are(
            "git.sr.ht/~acme/wid+gets",
            &["https://git.sr.ht/~acme/wid+gets", "git@git.sr.ht:%7Eacme/wid%2Bgets"],
        );
        all_are("git.acme.dev/a%25zz/%252e", &["https://git.acme.dev/a%zz/%252e"]);
    }

    #[test]
    fn network_shares_are_named_and_not_folders() {
        all_are(
            "server/git/widgets",
            &[r"\\server\git\widgets.git", "//server/git/widgets", "file://server/git/widgets.git"],
        );
        assert_eq!(normalise_remote(r"\\?\C:\git\widgets"), None);
    }

    #[test]
    fn folders_stay_folders() {
        for (url, path) in [
            ("/srv/git/widgets.git", "/srv/git/widgets.git"),
            ("../widgets", "../widgets"),
            ("widgets", "widgets"),
            ("./odd:name", "./odd:name"),
            (r"C:\git\widgets", r"C:\git\widgets"),
            ("c:/git/widgets", "c:/git/widgets"),
            ("file:///srv/my%20git/widgets", "/srv/my git/widgets"),
            ("file://localhost/srv/git", "/srv/git"),
            ("file:///C:/git/widgets", "C:/git/widgets"),
        ] {
            assert_eq!(normalise_remote(url), Some(GitRemote::Local(PathBuf::from(path))), "{url}");
        }
    }

    #[test]
    fn invalid_remotes_are_rejected() {
        for garbage in [
            "",
            "   ",
            "https://",
            "https://github.com",
            "https://github.com/.git",
            "https:///acme/widgets",
            "https://github.com/acme/../widgets",
            "https://github.com/acme/%2e%2E/widgets",
            "git@github.com:../widgets",
            "https://git hub.com/acme/widgets",
            "https://github.com:acme/widgets",
            "https://git..hub/acme/widgets",
            "https://-oProxyCommand/acme/widgets",
            "https://local/widgets-1a2b3c4d",
            "https://github.com/acme/wid\ngets",
            "/srv/git\u{7}/widgets",
            "file:///srv/%00/widgets",
            "file:///srv/%zz",
            "file://",
            "ext::sh -c evil",
            "codecommit::eu-west-1://widgets",
            "keybase://private/acme/widgets",
        ] {
            assert_eq!(normalise_remote(garbage), None, "{garbage:?}");
        }
        assert_eq!(normalise_remote(&format!("https://github.com/{}", "a".repeat(MAX_ID_BYTES))), None);
    }

    /// Texts that pass the first checks more often than random ones.
    fn remote_like() -> impl Strategy<Value = String> {
        let scheme = prop::sample::select(vec![
            "https://", "ssh://", "git://", "", "file://", r"\\", "//", "[", "x::",
        ]);
        let user = prop::sample::select(vec!["", "git@", "user:tok@", "a@b@", "u:1/2@"]);
        let host = prop::sample::select(vec![
            "github.com",
            "Git.Acme.dev.",
            "ssh.dev.azure.com",
            "dev.azure.com",
            "acme.visualstudio.com",
            "[::1]",
            "local",
            "a..b",
            "C",
        ]);
        let port = prop::sample::select(vec!["", ":", ":22", ":x", "]:"]);
        let name = prop::sample::select(vec![
            "/",
            ":",
            "v3",
            "_git",
            "Acme",
            ".git",
            "..",
            ".",
            "%2e",
            "%2",
            "%25",
            "%C3",
            "é",
            " ",
            "@",
            "?",
            "#",
            "\\",
            "DefaultCollection",
            "\u{a0}",
            "\t",
        ]);
        (scheme, user, host, port, prop::collection::vec(name, 0..10)).prop_map(
            |(scheme, user, host, port, names)| format!("{scheme}{user}{host}{port}/{}", names.concat()),
        )
    }

    fn check(url: &str) {
        if let Some(GitRemote::Hosted(id)) = normalise_remote(url) {
            assert!(!id.contains('@') && !id.contains(char::is_whitespace) && !id.contains(".."), "{id}");
            assert!(
                id.is_ascii() && id.contains('/') && !id.starts_with("local/") && !id.ends_with('/'),
                "{id}"
            );
            assert_eq!(hosted_id(&format!("https://{id}")), Some(id));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn normalising_anything_is_safe(url in any::<String>()) {
            check(&url);
        }

        #[test]
        fn normalising_a_remote_is_idempotent(url in remote_like()) {
            check(&url);
        }

        #[test]
        fn a_password_is_never_in_the_id(password in "[A-Za-z0-9:/?#@%]{0,6}Qx9Zt[A-Za-z0-9:/?#@%]{0,6}") {
            for url in [format!("https://u:{password}@github.com/acme/widgets"), format!("https://{password}@git.acme.dev/w")] {
                if let Some(id) = hosted_id(&url) {
                    prop_assert!(!id.to_lowercase().contains("qx9zt"), "{} from {}", id, url);
                }
            }
        }
    }
}
