//! The secrets of one run, and what a request must prove.
//!
//! The port and a part of the path are random, so that a cookie for this page reaches no other local server. The
//! token opens the page; a cookie continues; a field in each form shows that the form came from here. Other sites
//! are kept out by the names in `Host` and `Origin` (docs/web.md).

use axum::http::{HeaderMap, Method, header};
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_engine::platform::random;

use crate::error::CliError;

/// The name of our cookie.
const COOKIE: &str = "rekindle";
/// The number of hex digits of a secret: 128 bits.
const SECRET_DIGITS: usize = 32;
/// The number of hex digits of the random part of the path.
const PATH_DIGITS: usize = 12;
/// The lifetime of a ticket, in seconds: a browser may start slowly.
const TICKET_SECONDS: i64 = 120;

/// The secrets of one run.
#[derive(Clone, Debug)]
pub(super) struct PageKeys {
    /// The first segment of every path.
    pub(super) path: String,
    /// Opens the page.
    token: String,
    /// The value of the cookie.
    cookie: String,
    /// The hidden field of every form.
    pub(super) form: String,
}

/// The reason why a request gets no answer. None of them reveals anything about memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// `Host` names another host: DNS rebinding.
    WrongHost,
    /// The request comes from a page of somebody else.
    WrongOrigin,
    /// The request has neither token nor cookie.
    NoKey,
}

impl PageKeys {
    pub(super) fn random() -> Result<Self, CliError> {
        Ok(Self {
            path: secret()?.chars().take(PATH_DIGITS).collect(),
            token: secret()?,
            cookie: secret()?,
            form: secret()?,
        })
    }

    /// The address that opens the page.
    pub(super) fn address(&self, host: &str) -> String {
        format!("http://{host}/{}/?token={}", self.path, self.token)
    }

    /// The address for a browser's command line, which other users of the machine can see: it works once.
    pub(super) fn ticket_address(&self, address: &str, now: Timestamp) -> Result<String, CliError> {
        Ok(ticket_for(address, now)?.unwrap_or_else(|| address.to_owned()))
    }

    /// True for the token of this run.
    pub(super) fn is_token(&self, given: &str) -> bool {
        is_same(given, &self.token)
    }

    /// The nonce of a ticket that was made with our token and has not expired.
    pub(super) fn ticket_nonce(&self, ticket: &str, now: Timestamp) -> Option<String> {
        let (nonce, mac) = ticket.rsplit_once('.')?;
        let made: i64 = nonce.split_once('.')?.0.parse().ok()?;
        let is_fresh = (0..=TICKET_SECONDS).contains(&(now.as_second() - made));
        (is_fresh && is_same(mac, &ticket_mac(&self.token, nonce))).then(|| nonce.to_owned())
    }

    /// The header that sets the cookie. It is sent to this path only, never from other sites, and no script sees it.
    pub(super) fn cookie_header(&self) -> String {
        format!("{COOKIE}={}; Path=/{}/; HttpOnly; SameSite=Strict", self.cookie, self.path)
    }

    /// True if the request has our cookie.
    pub(super) fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == COOKIE && is_same(value, &self.cookie))
    }

    /// True if the hidden field of a form is ours.
    pub(super) fn is_form_key(&self, given: &str) -> bool {
        is_same(given, &self.form)
    }
}

/// Checks where a request comes from, before anything else is read of it.
pub(super) fn check_source(method: &Method, headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let value = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let mut hosts = headers.get_all(header::HOST).iter();
    if hosts.next().and_then(|named| named.to_str().ok()) != Some(host) || hosts.next().is_some() {
        return Err(Refusal::WrongHost);
    }
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let origin = value("origin");
    let is_ours = |origin: &str| origin.strip_prefix("http://") == Some(host);
    // Browsers name the origin of every post; a request without one is not from a page of ours.
    if origin.map_or(!is_read, |origin| !is_ours(origin)) {
        return Err(Refusal::WrongOrigin);
    }
    let site = value("sec-fetch-site");
    // A script of another local server is on the same site, but not of the same origin.
    let is_navigation = value("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
    match site {
        Some("cross-site" | "same-site") if !(is_read && is_navigation) => Err(Refusal::WrongOrigin),
        _ => Ok(()),
    }
}

/// The address with a ticket instead of its token; `None` if it has no token.
pub(super) fn ticket_for(address: &str, now: Timestamp) -> Result<Option<String>, CliError> {
    let Some((page, token)) = address.split_once("?token=") else { return Ok(None) };
    let nonce = format!("{}.{}", now.as_second(), secret()?);
    Ok(Some(format!("{page}?ticket={nonce}.{}", ticket_mac(token, &nonce))))
}

fn ticket_mac(token: &str, nonce: &str) -> String {
    ContentHash::of_parts(&[b"ticket", token.as_bytes(), nonce.as_bytes()]).short_hex(SECRET_DIGITS)
}

fn secret() -> Result<String, CliError> {
    let bytes: [u8; 32] = random::bytes()?;
    Ok(ContentHash::of_bytes(&bytes).short_hex(SECRET_DIGITS))
}

/// Compares secrets by their hashes, so that the time says nothing about how much of them agrees.
fn is_same(given: &str, wanted: &str) -> bool {
    ContentHash::of_bytes(given.as_bytes()) == ContentHash::of_bytes(wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "127.0.0.1:4321";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn b_11_only_requests_of_the_page_itself_pass() {
        let check = |method: Method, pairs: &[(&'static str, &'static str)]| {
            check_source(&method, &headers(pairs), HOST).err()
        };
        assert_eq!(check(Method::GET, &[("host", HOST)]), None);
        for host in
            ["localhost:4321", "127.0.0.1", "127.0.0.1:80", "evil.example:4321", "127.0.0.1:4321.evil"]
        {
            assert_eq!(check(Method::GET, &[("host", host)]), Some(Refusal::WrongHost), "{host}");
        }
        assert_eq!(check(Method::GET, &[]), Some(Refusal::WrongHost));
        assert_eq!(check(Method::GET, &[("host", HOST), ("host", "evil")]), Some(Refusal::WrongHost));
        let post = |origin| check(Method::POST, &[("host", HOST), ("origin", origin)]);
        assert_eq!(post("http://127.0.0.1:4321"), None);
        for origin in ["null", "", "http://127.0.0.1:4322", "https://127.0.0.1:4321", "http://evil.example"] {
            assert_eq!(post(origin), Some(Refusal::WrongOrigin), "{origin}");
        }
        assert_eq!(check(Method::POST, &[("host", HOST)]), Some(Refusal::WrongOrigin));
        let fetched = |site, mode| {
            check(Method::GET, &[("host", HOST), ("sec-fetch-site", site), ("sec-fetch-mode", mode)])
        };
        assert_eq!(fetched("same-origin", "cors"), None);
        assert_eq!(fetched("none", "navigate"), None);
        assert_eq!(
            fetched("same-site", "no-cors"),
            Some(Refusal::WrongOrigin),
            "an image of another local server"
        );
        assert_eq!(fetched("cross-site", "navigate"), None, "a link; the cookie stays at home");
    }

    #[test]
    fn b_11_a_ticket_is_of_this_run_and_short_lived() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let (keys, others) = (PageKeys::random().unwrap(), PageKeys::random().unwrap());
        let address = keys.ticket_address(&keys.address(HOST), at(1_000)).unwrap();
        let ticket = address.split_once("?ticket=").unwrap().1;
        assert!(!address.contains(&keys.token), "the token stays off the command line");
        assert!(keys.ticket_nonce(ticket, at(1_100)).is_some());
        for late in [900, 1_200] {
            assert_eq!(keys.ticket_nonce(ticket, at(late)), None, "{late}");
        }
        assert_eq!(others.ticket_nonce(ticket, at(1_100)), None);
        assert_eq!(keys.ticket_nonce(&ticket.replacen("1000", "1050", 1), at(1_100)), None);
    }

    #[test]
    fn b_11_the_cookie_is_found_among_others_and_nothing_else_passes() {
        let keys = PageKeys::random().unwrap();
        let cookie =
            |text: String| keys.has_cookie(&HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]));
        assert!(cookie(format!("a=b; {COOKIE}={}; c=d", keys.cookie)));
        for wrong in [
            String::new(),
            format!("{COOKIE}="),
            format!("x{COOKIE}={}", keys.cookie),
            format!("{COOKIE}={}", keys.token),
        ] {
            assert!(!cookie(wrong.clone()), "{wrong}");
        }
        assert!(!keys.has_cookie(&HeaderMap::new()));
        assert!(keys.cookie_header().ends_with("; HttpOnly; SameSite=Strict"));
    }
}
