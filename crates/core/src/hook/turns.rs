//! The same hook called twice for one event: by an agent's settings and by a plugin, say. The second call is told by what
//! it says and when, and does nothing.

use super::Signal;
use crate::hash::ContentHash;

/// Two calls for one event come this close to each other, in milliseconds; nobody says the same again so soon.
const WINDOW_MS: i64 = 2_000;
/// So many calls are remembered, of all sessions together.
const MOST: usize = 32;

/// What makes two calls the same one.
pub fn name(signal: &Signal) -> String {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let kind = format!("{:?}", signal.kind);
    let parts = [
        signal.agent.word().as_bytes(),
        kind.as_bytes(),
        signal.session.as_bytes(),
        said(&signal.reason).as_bytes(),
        said(&signal.prompt).as_bytes(),
        said(&signal.answer).as_bytes(),
    ]
    .map(<[u8]>::to_vec);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    ContentHash::of_parts(&parts).short(24)
}

/// The list of calls with this one in it; `None` if it stands there already.
pub fn with(list: &str, name: &str, now_ms: i64) -> Option<String> {
    let calls = list.lines().filter_map(|line| {
        let (name, at) = line.split_once(' ')?;
        Some((name, at.parse::<i64>().ok()?))
    });
    // A clock that was set back must not silence anybody.
    let recent: Vec<(&str, i64)> = calls.filter(|(_, at)| (now_ms - at).abs() < WINDOW_MS).collect();
    if recent.iter().any(|(known, _)| *known == name) {
        return None;
    }
    let kept = recent.len().saturating_sub(MOST - 1);
    let lines = recent[kept..].iter().copied().chain([(name, now_ms)]);
    Some(lines.map(|(name, at)| format!("{name} {at}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_15_a_second_call_for_one_event_is_known() {
        let list = with("", "a", 10_000).unwrap();
        assert_eq!(with(&list, "a", 10_500), None);
        let list = with(&list, "b", 10_600).unwrap();
        assert_eq!(with(&list, "a", 11_999), None);
        assert!(with(&list, "a", 12_000).is_some(), "later it is said again");
        assert!(with(&list, "a", 7_000).is_some(), "the clock was set back");
        assert!(with("rubbish\n\u{0}", "a", 1).is_some());
    }

    #[test]
    fn the_list_stays_short() {
        let list = (0..500).fold(String::new(), |list, n| with(&list, &format!("n{n}"), n).unwrap());
        assert_eq!(list.lines().count(), MOST);
        assert_eq!(with(&list, "n499", 500), None);
    }
}
