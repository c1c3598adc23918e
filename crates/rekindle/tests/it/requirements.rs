//! docs/requirements.md agrees with the repository: every cited id has a row, and every row that works has a test.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{files, read};

/// The letters before the hyphen of an id.
const AREAS: [&str; 29] = [
    "GEN", "FND", "IDN", "CAP", "EXE", "OBS", "STO", "LOG", "REF", "REV", "FRI", "REC", "BRF", "VLT", "SID",
    "IDEA", "FBK", "MNT", "STK", "DIS", "O11", "OPS", "SEC", "PERF", "VER", "FUT", "X", "B", "R",
];

/// Ids of this area have no numbers.
const STACK: [&str; 5] = ["P1", "P2", "P3", "D", "O"];

const STATES: [&str; 3] = ["works", "partly", "planned"];

/// Tests by name, with the ids that each of them cites.
type TestCitations = BTreeMap<String, BTreeSet<String>>;

/// A row of the table.
struct RequirementRow<'a> {
    state: &'a str,
    /// The tests that the row names.
    tests: Vec<&'a str>,
    /// The rows that this one restates.
    see: Vec<&'a str>,
}

fn is_number(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for an id, such as `LOG-01`.
fn is_id(word: &str) -> bool {
    let Some((area, number)) = word.split_once('-') else { return false };
    AREAS.contains(&area) && if area == "STK" { STACK.contains(&number) } else { is_number(number) }
}

/// The ids in a text, written as `LOG-01` or, in the name of a function, as `log_01`.
fn cited(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let mut ids: BTreeSet<String> = words.filter(|word| is_id(word)).map(str::to_owned).collect();
    for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let parts: Vec<&str> = name.split('_').collect();
        for pair in parts.windows(2).filter(|pair| is_number(pair[1])) {
            let id = format!("{}-{}", pair[0].to_ascii_uppercase(), pair[1]);
            if is_id(&id) {
                ids.insert(id);
            }
        }
    }
    ids
}

/// Adds the tests of a source file, with what is cited in their names, comments and bodies.
fn add_tests(source: &str, tests: &mut TestCitations) {
    let lines: Vec<&str> = source.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[test]") {
        let is_above =
            |line: &&&str| line.trim_start().starts_with("//") || line.trim_start().starts_with("#[");
        let above = lines[..at].iter().rev().take_while(is_above).count();
        let closing = line.replace("#[test]", "}");
        let below = lines[at..].iter().take_while(|line| **line != closing).count();
        let body = &lines[at - above..at + below];
        let mut names = lines[at..at + below].iter().filter_map(|line| line.trim_start().strip_prefix("fn "));
        let Some(name) = names.next().and_then(|rest| rest.split(['(', '<']).next()) else { continue };
        tests.entry(name.to_owned()).or_default().extend(cited(&body.join("\n")));
    }
}

/// Lists the mistakes in the table.
fn problems(page: &str, cited: &BTreeSet<String>, tests: &TestCitations) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rows: BTreeMap<&str, RequirementRow<'_>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split('|').map(str::trim).collect();
        let &[id, sentence, state, held_by] = cells.as_slice() else {
            problems.push(format!("not four cells: {line}"));
            continue;
        };
        if id == "id" || id.starts_with("---") {
            continue;
        }
        if !is_id(id) || sentence.is_empty() {
            problems.push(format!("neither an id nor a sentence: {line}"));
        }
        if !STATES.contains(&state) {
            problems.push(format!("{id}: `{state}` is not a state; use one of {STATES:?}"));
        }
        let tests = held_by.split('`').skip(1).step_by(2).collect();
        let see = held_by.strip_prefix("see ").map(|ids| ids.split(", ").collect()).unwrap_or_default();
        if rows.insert(id, RequirementRow { state, tests, see }).is_some() {
            problems.push(format!("{id} has two rows"));
        }
    }
    for id in cited.iter().filter(|id| !rows.contains_key(id.as_str())) {
        problems.push(format!("{id} is cited, but has no row"));
    }
    for (id, row) in &rows {
        for test in row.tests.iter().filter(|test| !tests.contains_key(**test)) {
            problems.push(format!("{id}: there is no test `{test}`"));
        }
        for other in row.see.iter().filter(|other| !rows.contains_key(*other)) {
            problems.push(format!("{id}: there is no row {other}"));
        }
        let is_cited = |test: &&str| tests.get(*test).is_some_and(|ids| ids.contains(*id));
        let is_held = |other: &&str| {
            rows.get(other).is_some_and(|other| other.state == "works" && !other.tests.is_empty())
        };
        let holds = row.tests.iter().any(is_cited) || (!row.see.is_empty() && row.see.iter().all(is_held));
        if row.state == "works" && !holds {
            problems.push(format!("{id} says `works`, but no test that it names cites it"));
        }
    }
    problems
}

#[test]
fn docs_requirements_agree_with_sources_and_tests() {
    let (mut ids, mut tests) = (BTreeSet::new(), TestCitations::new());
    for path in files() {
        // Data files are not searched, because an id in them means something else.
        let name = path.file_name().unwrap().to_str().unwrap();
        if ![".rs", ".md", ".toml", ".sh", ".py", ".ts"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        ids.extend(cited(&text));
        if name.ends_with(".rs") {
            add_tests(&text, &mut tests);
        }
    }
    assert!(
        ids.len() > 250 && tests.len() > 1500,
        "{} ids, {} tests: are they found?",
        ids.len(),
        tests.len()
    );
    let problems = problems(&read("docs/requirements.md"), &ids, &tests);
    assert!(problems.is_empty(), "docs/requirements.md:\n{}", problems.join("\n"));
}

#[test]
fn each_mistake_in_the_requirements_is_named() {
    let mut tests = TestCitations::new();
    add_tests(
        "/// LOG-02.\n#[test]\nfn log_01_it_grows() {\n    // LOG-03\n}\nfn log_04_helper() {}\n",
        &mut tests,
    );
    assert_eq!(tests["log_01_it_grows"].iter().collect::<Vec<_>>(), ["LOG-01", "LOG-02", "LOG-03"]);
    let known = BTreeSet::from(["LOG-01".to_owned()]);
    let wrong = |rows: &str| problems(rows, &known, &tests).join("; ");
    let first = "| LOG-01 | It grows. | works | `log_01_it_grows` |\n";
    let with =
        |row: &str| wrong(&format!("| id | requirement | state | tests |\n|---|---|---|---|\n{first}{row}"));
    assert_eq!(with(""), "");
    assert_eq!(with("| LOG-05 | It shrinks. | planned | — |"), "");
    assert_eq!(with("| LOG-02 | As it does. | works | see LOG-01 |"), "");
    assert!(wrong("").contains("LOG-01 is cited, but has no row"));
    assert!(with(first).contains("LOG-01 has two rows"));
    assert!(with("| LOG-05 | It shrinks. | done | — |").contains("`done` is not a state"));
    assert!(with("| LOG-05 | It shrinks. | works | — |").contains("LOG-05 says `works`"));
    assert!(with("| LOG-05 | It shrinks. | works | `log_01_it_grows` |").contains("LOG-05 says `works`"));
    assert!(with("| LOG-05 | It shrinks. | partly | `log_05_gone` |").contains("no test `log_05_gone`"));
    assert!(with("| LOG-05 | It shrinks. | partly | see LOG-07 |").contains("no row LOG-07"));
    assert!(with("| LOG-05 | It shrinks. |").contains("not four cells"));
    assert!(with("| LOG-5 | It shrinks. | planned | — |").contains("neither an id nor a sentence"));
}

#[test]
fn gen_05_ideas_are_credited_and_not_imported() {
    let credits = read("docs/credits.md");
    for source in ["Mastra (MIT)", "kuato", "andy-timeline", "defib", "lamarck", "Nuum", "Sanity", "jumperz"]
    {
        assert!(credits.contains(source), "{source}");
        let package = source.split(' ').next().unwrap().to_ascii_lowercase();
        assert!(!read("Cargo.lock").contains(&format!("name = \"{package}")), "{package}");
    }
}
