//! Deduplicates hook calls. Two registrations, for example settings and a plugin, deliver the same event
//! twice. The second call is recognised by content and time, and does nothing.

use super::HookSignal;
use crate::base::hash::ContentHash;

/// Two calls for one event arrive within this many milliseconds. Nobody repeats a prompt that fast.
const DUPLICATE_WINDOW_MS: i64 = 2_000;
/// The number of sessions whose last call is remembered.
const MAX_SESSIONS: usize = 32;

/// The identity of a hook call, for deduplication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    session: String,
    output: String,
}

impl HookCall {
    /// Hashes the parts of a signal that identify the call.
    pub fn from_signal(signal: &HookSignal) -> Self {
        let HookSignal { agent, session, reason, prompt, answer, .. } = signal;
        let kind = format!("{:?}", signal.kind);
        let parts = [reason, prompt, answer].map(|text| text.as_deref().unwrap_or_default());
        let hash = |parts: &[&str]| {
            let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
            ContentHash::of_parts(&parts).short_hex(24)
        };
        Self {
            session: hash(&[agent.as_str(), session]),
            output: hash(&[kind.as_str(), parts[0], parts[1], parts[2]]),
        }
    }

    /// The list of last calls with this one added, or `None` if it duplicates the last call of its session.
    pub fn join(&self, list: &str, now_ms: i64) -> Option<String> {
        let lines = list.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let call = Self { session: words.next()?.to_owned(), output: words.next()?.to_owned() };
            Some((call, words.next()?.parse::<i64>().ok()?))
        });
        // `abs`: a clock that was set back must not silence anybody.
        let mut recent: Vec<(Self, i64)> =
            lines.filter(|(_, at)| (now_ms - at).abs() < DUPLICATE_WINDOW_MS).collect();
        if recent.iter().any(|(call, _)| call == self) {
            return None;
        }
        recent.retain(|(call, _)| call.session != self.session);
        recent.push((self.clone(), now_ms));
        let kept = &recent[recent.len().saturating_sub(MAX_SESSIONS)..];
        Some(kept.iter().map(|(call, at)| format!("{} {} {at}\n", call.session, call.output)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(session: &str, said: &str) -> HookCall {
        HookCall { session: session.to_owned(), output: said.to_owned() }
    }

    #[test]
    fn b_15_a_second_call_for_one_event_is_known() {
        let list = call("s", "a").join("", 10_000).unwrap();
        assert_eq!(call("s", "a").join(&list, 10_500), None);
        let list = call("t", "a").join(&list, 10_600).unwrap();
        assert_eq!(call("s", "a").join(&list, 11_999), None, "whatever other sessions say");
        assert!(call("s", "a").join(&list, 12_000).is_some(), "later it is said again");
        assert!(call("s", "a").join(&list, 7_000).is_some(), "the clock was set back");
        let list = call("s", "b").join(&list, 10_700).unwrap();
        assert!(call("s", "a").join(&list, 10_800).is_some(), "something came between");
        assert!(call("s", "a").join("rubbish\n\u{0} a", 1).is_some());
    }

    #[test]
    fn the_list_stays_short() {
        let join = |list: String, n: i64| call(&format!("s{n}"), "a").join(&list, n).unwrap();
        let list = (0..500).fold(String::new(), join);
        assert_eq!(list.lines().count(), MAX_SESSIONS);
        assert_eq!(call("s499", "a").join(&list, 500), None);
    }
}
