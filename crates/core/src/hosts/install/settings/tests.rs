use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn invocation() -> HookInvocation {
    HookInvocation { program: "/usr/local/bin/rekindle".into(), home: None, before_tools: false }
}

fn elsewhere() -> HookInvocation {
    HookInvocation {
        program: "/opt/my tools/rekindle".into(),
        home: Some("/data/memory home".into()),
        before_tools: false,
    }
}

fn installed(text: &str, agent: Agent, invocation: &HookInvocation) -> (String, EmptyContainers) {
    let mut blanks = EmptyContainers::new();
    let text = install(text, agent, invocation, &mut blanks).unwrap();
    (text, blanks)
}

const HOSTS: [Agent; 3] = [Agent::Claude, Agent::Codex, Agent::Gemini];

#[test]
fn a_new_file_is_one_that_a_person_could_have_written() {
    let (text, _) = installed("", Agent::Codex, &elsewhere());
    insta::assert_snapshot!(text.lines().take(14).collect::<Vec<_>>().join("\n"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "'/opt/my tools/rekindle' --home '/data/memory home' hook codex SessionStart",
                "timeout": 5
              }
            ]
          }
        ],
        "UserPromptSubmit": [
    "#);
}

#[test]
fn b_15_neighbours_stay_as_they_are() {
    let text = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  },
  "permissions": {"allow": ["Bash(ls:*)"]}
}
"#;
    let (with, blanks) = installed(text, Agent::Claude, &invocation());
    assert!(with.contains(r#""Stop": [{"hooks": [{"type": "command", "command": "say done"}]}, {"#));
    assert!(with.ends_with("  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n"));
    assert_eq!(find(&with, Agent::Claude).unwrap().len(), events(Agent::Claude, false).len());
    assert_eq!(uninstall(&with, Agent::Claude, &blanks).unwrap(), text);
}

#[test]
fn b_15_later_additions_survive_the_uninstall() {
    for agent in HOSTS {
        let (with, blanks) = installed("", agent, &invocation());
        let mut document = JsoncDocument::parse(with, dialect(agent)).unwrap();
        let theirs = json!({"hooks": [{"type": "command", "command": "theirs"}]});
        document
            .append(&[JsonPathStep::Key("hooks"), JsonPathStep::Key("SessionEnd")], None, &theirs)
            .unwrap();
        let without = uninstall(document.text(), agent, &blanks).unwrap();
        let value: Value = serde_json::from_str(&without).unwrap();
        assert_eq!(value, json!({"hooks": {"SessionEnd": [theirs]}}));
    }
}

#[test]
fn a_hook_that_shares_a_group_leaves_the_others_in_it() {
    let text = r#"{"hooks": {"Stop": [{"matcher": "", "hooks": [
        {"type": "command", "command": "/old/rekindle hook claude Stop", "timeout": 60},
        {"type": "command", "command": "theirs"}]}]}}"#;
    let found = find(text, Agent::Claude).unwrap();
    assert_eq!((found[0].group, found[0].handler, found[0].group_size), (0, 0, 2));
    let without = uninstall(text, Agent::Claude, &EmptyContainers::new()).unwrap();
    let value: Value = serde_json::from_str(&without).unwrap();
    let theirs = json!([{"type": "command", "command": "theirs"}]);
    assert_eq!(value, json!({"hooks": {"Stop": [{"matcher": "", "hooks": theirs}]}}));
}

#[test]
fn an_older_command_is_brought_up_to_date_in_its_place() {
    let text = r#"{"hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "/old/rekindle hook claude Stop", "timeout": 60}]},
        {"hooks": [{"type": "command", "command": "theirs"}]},
        {"hooks": [{"type": "command", "command": "/older/rekindle hook claude Stop"}]}],
      "SubagentStop": [{"hooks": [{"type": "command", "command": "/old/rekindle hook claude SubagentStop"}]}],
      "SessionEnd": [{"hooks": [{"type": "command", "command": "/old/rekindle", "args": ["hook", "claude", "SessionEnd"]}]}]
    }}"#;
    let (with, _) = installed(text, Agent::Claude, &elsewhere());
    let value: Value = serde_json::from_str(&with).unwrap();
    let stop = value["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(stop.len(), 2, "one of ours and theirs");
    assert_eq!(stop[0]["hooks"][0]["command"], elsewhere().line(Agent::Claude, "Stop"));
    assert_eq!(stop[0]["hooks"][0]["timeout"], 60, "the person's own timeout stays");
    assert!(value["hooks"].get("SubagentStop").is_none(), "we are not called for what we do not need");
    assert_eq!(
        value["hooks"]["SessionEnd"],
        json!([{"hooks": [{"type": "command", "command": elsewhere().line(Agent::Claude, "SessionEnd"), "timeout": 10}]}])
    );
}

#[test]
fn malformed_settings_are_left_unchanged() {
    let refused = |text: &str| {
        install(text, Agent::Claude, &invocation(), &mut EmptyContainers::new()).unwrap_err().to_string()
    };
    assert!(refused("[]").contains("line 1, column 1"));
    assert!(refused("{\n \"hooks\": []}").contains("line 2, column 11"));
    assert!(refused("{\"hooks\": {\n\"Stop\": {}}}").contains("`hooks.Stop` must be a list"));
    assert!(refused("{\"a\": 1,}").contains("column 9"));
}

#[test]
fn comments_are_accepted_where_the_host_allows_them() {
    let text = "{\n  // mine\n  \"theme\": \"x\" /* nice */\n}\n";
    assert!(install(text, Agent::Claude, &invocation(), &mut EmptyContainers::new()).is_err());
    let (with, blanks) = installed(text, Agent::Gemini, &invocation());
    assert!(with.starts_with("{\n  // mine\n  \"theme\": \"x\", /* nice */\n  \"hooks\": {\n"));
    assert_eq!(uninstall(&with, Agent::Gemini, &blanks).unwrap(), text);
}

#[test]
fn a_comment_where_our_hooks_were_stays() {
    let (with, blanks) = installed("", Agent::Gemini, &invocation());
    let with = with.replacen("\"SessionStart\": [", "\"SessionStart\": [ // why", 1);
    let without = uninstall(&with, Agent::Gemini, &blanks).unwrap();
    assert!(without.contains("\"SessionStart\": [ // why"), "{without}");
    assert!(!without.contains("BeforeAgent"));
}

/// Realistic settings: other keys, foreign hooks, empty containers, one line or many, any line ends,
/// comments.
fn any_settings() -> impl Strategy<Value = String> {
    let gap = || {
        prop_oneof![
            3 => Just(""), 3 => Just("\n  "), 2 => Just(" "), 1 => Just("\r\n\t"), 1 => Just(" // a, }\n"),
            1 => Just("/* ] */"),
        ]
    };
    let theirs = prop_oneof![
        Just(r#"{"hooks":[{"type":"command","command":"theirs"}]}"#),
        Just("{\n \"matcher\": \"x\", \"hooks\": [] }"),
    ];
    let groups = (prop::collection::vec((gap(), theirs, gap()), 0..3), gap()).prop_map(|(groups, blank)| {
        let groups: Vec<String> = groups.iter().map(|(a, group, b)| format!("{a}{group}{b}")).collect();
        if groups.is_empty() { format!("[{blank}]") } else { format!("[{}]", groups.join(",")) }
    });
    let event = prop::sample::select(vec!["Stop", "SessionEnd", "PreToolUse", "BeforeAgent", "AfterTool"]);
    let hooks = (prop::collection::btree_map(event, (gap(), groups, gap()), 0..3), gap()).prop_map(
        |(events, blank)| {
            let events: Vec<String> =
                events.iter().map(|(key, (a, groups, b))| format!("{a}\"{key}\":{groups}{b}")).collect();
            if events.is_empty() { format!("{{{blank}}}") } else { format!("{{{}}}", events.join(",")) }
        },
    );
    let other = prop::sample::select(vec![r#""model": "x""#, "\"env\": {\n\"A\": \"b\"}", r#""list": []"#]);
    let members = (prop::collection::vec((gap(), other, gap()), 0..3), prop::option::of(hooks), gap(), gap());
    let object = members.prop_map(|(others, hooks, blank, gap)| {
        let mut members: Vec<String> =
            others.iter().map(|(a, member, b)| format!("{a}{member}{b}")).collect();
        if let Some(hooks) = hooks {
            members.insert(members.len() / 2, format!("{gap}\"hooks\": {hooks}{blank}"));
        }
        if members.is_empty() { format!("{{{blank}}}") } else { format!("{{{}}}", members.join(",")) }
    });
    (prop::sample::select(vec!["", "\u{feff}"]), object, prop::sample::select(vec!["", "\n", "\r\n\r\n"]))
        .prop_map(|(mark, object, end)| format!("{mark}{object}{end}"))
}

fn without_ours(text: &str, agent: Agent) -> Value {
    let mut value = JsoncDocument::parse(text, dialect(agent)).unwrap().root().value();
    let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) else { return value };
    for groups in hooks.values_mut() {
        groups.as_array_mut().unwrap().retain(|group| !group.to_string().contains("rekindle"));
    }
    value
}

proptest! {
    #[test]
    fn b_15_install_and_uninstall_leave_every_byte(text in any_settings()) {
        let agent = Agent::Gemini;
        let (with, blanks) = installed(&text, agent, &invocation());
        prop_assert_eq!(find(&with, agent).unwrap().len(), events(agent, false).len());
        let again = install(&with, agent, &invocation(), &mut blanks.clone()).unwrap();
        prop_assert_eq!(&again, &with, "not idempotent");
        prop_assert_eq!(uninstall(&with, agent, &blanks).unwrap(), text.clone());
        // The same after the program has moved.
        let mut moved_blanks = blanks.clone();
        let moved = install(&with, agent, &elsewhere(), &mut moved_blanks).unwrap();
        prop_assert_eq!(&moved_blanks, &blanks);
        prop_assert_eq!(uninstall(&moved, agent, &blanks).unwrap(), text);
    }

    #[test]
    fn b_15_nothing_of_others_changes(text in any_settings()) {
        let agent = Agent::Gemini;
        let (with, _) = installed(&text, agent, &invocation());
        let mut before = without_ours(&text, agent);
        let mut after = without_ours(&with, agent);
        for value in [&mut before, &mut after] {
            let hooks = value.as_object_mut().unwrap().entry("hooks").or_insert(json!({}));
            hooks.as_object_mut().unwrap().retain(|_, groups| groups != &json!([]));
        }
        prop_assert_eq!(before, after);
    }
}

#[test]
fn brf_08_the_hook_before_tools_comes_and_goes_with_its_setting() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
        let mut blanks = EmptyContainers::new();
        let with =
            install("", agent, &HookInvocation { before_tools: true, ..invocation() }, &mut blanks).unwrap();
        let found = find(&with, agent).unwrap();
        let tool = found.iter().find(|one| one.matcher.is_some()).unwrap();
        assert!(matches!(tool.event.as_str(), "PreToolUse" | "BeforeTool"), "{tool:?}");
        let without = install(&with, agent, &invocation(), &mut blanks).unwrap();
        assert_eq!(without, install("", agent, &invocation(), &mut EmptyContainers::new()).unwrap());
    }
}
