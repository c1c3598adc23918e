//! The structure of the crates: modules depend on each other in one direction, and a type's name is used once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::house::root;

const CRATES: [&str; 5] = ["core", "embed", "engine", "rekindle", "testkit"];
/// The most top-level modules of a crate, so that a newcomer can hold the list in mind.
const MAX_ROOMS: usize = 14;
/// The smallest share of type names that are used once in the workspace, in per cent.
const MIN_DISTINCT_PERCENT: usize = 88;

/// A source file of a crate: the path of its module and its code without comments, strings and unit tests.
struct SourceFile {
    module: Vec<String>,
    code: String,
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn sources(name: &str) -> Vec<SourceFile> {
    let folder = root().join("crates").join(name).join("src");
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    files
        .into_iter()
        .map(|file| {
            let relative = file.strip_prefix(&folder).unwrap().with_extension("");
            let mut module: Vec<String> =
                relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
                module.pop();
            }
            SourceFile { module, code: without_tests(&code_of(&std::fs::read_to_string(&file).unwrap())) }
        })
        .filter(|file| !file.module.iter().any(|part| part == "tests"))
        .collect()
}

/// Blanks comments and the content of string and character literals.
fn code_of(text: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#") => raw_string(rest),
            '"' => string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|c| *c == '#').count();
    if !text[1 + hashes..].starts_with('"') {
        // A raw identifier.
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let start = 2 + hashes;
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// The length of a character literal; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => text[3..].find('\'').map_or(0, |at| at + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// Takes out modules under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let after = &rest[at + "#[cfg(test)]".len()..];
        let body = after.trim_start();
        let opens = ["mod ", "pub(crate) mod "].iter().any(|start| body.starts_with(start));
        let (open, end) = (after.find('{'), after.find(';'));
        kept.push_str(&rest[..at]);
        rest = match (open, end) {
            (Some(open), end) if opens && end.is_none_or(|end| open < end) => &after[closing(after, open)..],
            (_, Some(end)) if opens => &after[end + 1..],
            _ => after,
        };
    }
    kept + rest
}

/// The position behind the brace that closes the one at `open`.
fn closing(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The top-level modules that the paths in a file lead to.
fn targets(file: &SourceFile) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let code: String = file.code.split_whitespace().collect::<Vec<_>>().join(" ").replace(":: ", "::");
    for (at, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        let starts_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if !starts_word {
            continue;
        }
        let mut rest = &code[at..];
        let mut depth = file.module.len();
        if let Some(after) = rest.strip_prefix("crate::") {
            (rest, depth) = (after, 0);
        }
        while let Some(after) = rest.strip_prefix("super::") {
            (rest, depth) = (after, depth.saturating_sub(1));
        }
        if depth > 0 {
            // Inside its own top-level module.
            continue;
        }
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = &group[..closing(&format!("{{{group}"), 0).saturating_sub(2).min(group.len())];
                found.extend(heads(group));
            }
            None => found.extend(head(rest)),
        }
    }
    found
}

/// The first name of every path in a group, at the group's own level.
fn heads(group: &str) -> Vec<String> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(head(group[start..at].trim()));
                start = (at + 1).min(group.len());
            }
            _ => {}
        }
    }
    names
}

fn head(path: &str) -> Option<String> {
    let name: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The dependencies between the top-level modules of a crate.
fn graph(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let files = sources(name);
    let rooms: BTreeSet<String> = files.iter().filter_map(|file| file.module.first().cloned()).collect();
    let mut graph: BTreeMap<String, BTreeSet<String>> =
        rooms.iter().map(|room| (room.clone(), BTreeSet::new())).collect();
    for file in files.iter().filter(|file| !file.module.is_empty()) {
        let room = &file.module[0];
        let others = targets(file).into_iter().filter(|target| target != room && rooms.contains(target));
        graph.get_mut(room).unwrap().extend(others);
    }
    graph
}

/// The modules that are left when those without dependencies are taken away again and again: the circles, and whatever stands on
/// them.
fn circles(mut graph: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let free: Vec<String> =
            graph.iter().filter(|(_, needs)| needs.is_empty()).map(|(room, _)| room.clone()).collect();
        if free.is_empty() {
            return graph;
        }
        graph.retain(|room, _| !free.contains(room));
        for needs in graph.values_mut() {
            needs.retain(|need| !free.contains(need));
        }
    }
}

#[test]
fn the_modules_of_a_crate_depend_on_each_other_in_one_direction() {
    for name in ["core", "embed", "engine", "rekindle"] {
        let graph = graph(name);
        let edges: usize = graph.values().map(BTreeSet::len).sum();
        assert!(edges >= 2, "{name}: {edges} dependencies were found: are paths still read?");
        let circles = circles(graph);
        assert!(circles.is_empty(), "{name}: these modules depend on each other in a circle: {circles:#?}");
    }
}

#[test]
fn a_circle_is_found() {
    let of = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            graph.entry((*to).to_owned()).or_default();
        }
        circles(graph).into_keys().collect::<Vec<_>>()
    };
    assert!(of(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), ["a", "b", "c"]);

    let file = |module: &[&str], code: &str| SourceFile {
        module: module.iter().map(|part| (*part).to_owned()).collect(),
        code: without_tests(&code_of(code)),
    };
    let read = |module: &[&str], code: &str| targets(&file(module, code)).into_iter().collect::<Vec<_>>();
    assert_eq!(read(&["a"], "use crate::b::C; use crate::{c, d::{E, f}, g::H as I};"), ["b", "c", "d", "g"]);
    assert_eq!(read(&["a", "x"], "use super::y; use super::super::z; fn f() { crate::q::r() }"), ["q", "z"]);
    assert!(read(&["a"], "// crate::b\nconst S: &str = \"crate::c\"; /* crate::d */").is_empty());
    assert!(read(&["a"], "#[cfg(test)]\nmod tests { use crate::b; fn f() { {} } }").is_empty());
}

#[test]
fn a_crate_has_few_top_level_modules() {
    for name in ["core", "engine", "rekindle"] {
        let library =
            ["lib.rs", "main.rs"].map(|file| root().join("crates").join(name).join("src").join(file));
        let text: String =
            library.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect::<Vec<_>>().concat();
        let declared = without_tests(&code_of(&text));
        let rooms = declared.lines().filter(|line| {
            let line = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            line.starts_with("mod ") && line.ends_with(';')
        });
        let count = rooms.count();
        assert!(
            (2..=MAX_ROOMS).contains(&count),
            "{name} has {count} top-level modules; {MAX_ROOMS} at most"
        );
    }
}

#[test]
fn most_type_names_are_used_once_in_the_workspace() {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for file in CRATES.iter().flat_map(|name| sources(name)) {
        for line in file.code.lines() {
            let line = line.trim().trim_start_matches("pub ");
            let line =
                line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map_or(line, |rest| rest.1);
            let defined = ["struct ", "enum ", "trait "].iter().find_map(|word| line.strip_prefix(word));
            let Some(name) = defined.and_then(head) else { continue };
            // `queue::Error` is a habit of the language, not a name.
            if !["Error", "Result"].contains(&name.as_str()) {
                *names.entry(name).or_default() += 1;
            }
        }
    }
    let total: usize = names.values().sum();
    let repeated: Vec<&String> =
        names.iter().filter(|(_, count)| **count > 1).map(|(name, _)| name).collect();
    let percent = names.len() * 100 / total;
    assert!(total > 500, "only {total} types were found: are definitions still read?");
    assert!(
        percent >= MIN_DISTINCT_PERCENT,
        "{percent} % of {total} type names are distinct; rename some of {repeated:?}"
    );
}

/// The tables of the queue and of the proposals, each with the places that may name them in SQL.
const TABLES: [(&str, &[&str]); 5] = [
    ("runs", QUEUE),
    ("steps", QUEUE),
    ("events", QUEUE),
    ("proposals", PROPOSALS),
    ("decisions", PROPOSALS),
];
const QUEUE: &[&str] =
    &["engine/src/jobs/queue/", "engine/src/platform/db/", "engine/src/ops/forget/database.rs"];
const PROPOSALS: &[&str] =
    &["engine/src/review/proposals", "engine/src/platform/db/", "engine/src/ops/forget/database.rs"];

/// The tables that the SQL of a text names.
fn tables_in(text: &str) -> BTreeSet<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_plain = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let named = words
        .windows(2)
        .filter(|two| ["FROM", "INTO", "UPDATE", "JOIN"].contains(&two[0].trim_matches(is_plain)));
    named.filter_map(|two| two[1].split(is_plain).find(|word| !word.is_empty())).map(str::to_owned).collect()
}

#[test]
fn gen_03_only_the_stores_know_the_tables_of_runs_and_proposals() {
    let folder = root().join("crates");
    let mut files = Vec::new();
    for name in ["engine", "rekindle"] {
        rust_files(&folder.join(name).join("src"), &mut files);
    }
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&folder).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let named = tables_in(code);
        let outside = |(table, places): &&(&str, &[&str])| {
            named.contains(*table) && !places.iter().any(|place| relative.starts_with(place))
        };
        if !relative.contains("tests") {
            wrong.extend(TABLES.iter().filter(outside).map(|(table, _)| format!("{relative}: {table}")));
        }
    }
    assert!(wrong.is_empty(), "ask the store instead: {wrong:#?}");
    assert_eq!(
        tables_in("SELECT a FROM (SELECT b FROM runs) JOIN proposals p; DELETE FROM runs_old"),
        BTreeSet::from(["SELECT", "runs", "proposals", "runs_old"].map(str::to_owned))
    );
}
