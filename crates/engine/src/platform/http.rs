//! The parts of HTTP that all callers share: allowed addresses, a single request and the retry delay. Callers
//! choose the server and interpret its refusals.

use std::net::IpAddr;
use std::time::Duration;

use ureq::http::Uri;
use ureq::http::uri::Scheme;

/// The longest retry delay that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpMethod {
    Get,
    Post,
    Delete,
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpBody<'a> {
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'a [u8],
}

impl<'a> HttpBody<'a> {
    /// A body of JSON.
    pub(crate) fn json(text: &'a str) -> Self {
        Self { content_type: "application/json", bytes: text.as_bytes() }
    }
}

/// The raw response of a server.
pub(crate) type HttpResponse = ureq::http::Response<ureq::Body>;

/// Sends one request. Redirects are not followed: their target would get the key and the body.
pub(crate) fn ask(
    method: HttpMethod,
    url: &str,
    headers: &[(&str, String)],
    body: Option<HttpBody<'_>>,
    within: Duration,
) -> Result<HttpResponse, ureq::Error> {
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(within))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("rekindle/", env!("CARGO_PKG_VERSION")));
    if is_local(&host(url)) {
        // Local requests do not go through a proxy.
        config = config.proxy(None);
    }
    let agent: ureq::Agent = config.build().into();
    let method = match method {
        HttpMethod::Get => ureq::http::Method::GET,
        HttpMethod::Post => ureq::http::Method::POST,
        HttpMethod::Delete => ureq::http::Method::DELETE,
    };
    let mut question = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        question = question.header(*name, value);
    }
    match body {
        Some(body) => agent.run(question.header("content-type", body.content_type).body(body.bytes)?),
        None => agent.run(question.body(())?),
    }
}

/// The retry delay that the server asks for.
pub(crate) fn retry_after(headers: &ureq::http::HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after").or_else(|| Some(number("retry-after-ms")? / 1000.0))?;
    Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(MAX_RETRY_AFTER))
}

/// True if data may be sent to this address: encrypted, or local.
pub(crate) fn is_private_url(url: &str) -> bool {
    is_encrypted(url) || is_local(&host(url))
}

/// True if the address begins with `https`.
pub(crate) fn is_encrypted(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| uri.scheme() == Some(&Scheme::HTTPS))
}

/// The host of an address, without user, port and brackets; empty if it is no address.
pub(crate) fn host(url: &str) -> String {
    let Ok(uri) = url.parse::<Uri>() else { return String::new() };
    uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned()
}

/// True if the host is this machine or in a private network. A name says nothing about its address, except
/// for `localhost`.
pub(crate) fn is_local(host: &str) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_02_only_addresses_of_the_house_are_local() {
        for local in
            ["localhost", "127.0.0.1", "127.9.9.9", "::1", "10.0.0.3", "192.168.1.4", "172.16.0.1", "fd00::1"]
        {
            assert!(is_local(local), "{local}");
        }
        for far in
            ["api.openai.com", "8.8.8.8", "172.32.0.1", "localhost.example.com", "2001:db8::1", "0.0.0.0", ""]
        {
            assert!(!is_local(far), "{far}");
        }
        assert!(is_private_url("https://api.example") && is_private_url("http://127.0.0.1:1/x"));
        assert!(!is_private_url("http://api.example"));
        // A user name is not a host.
        assert!(!is_private_url("http://127.0.0.1:80@api.example/"));
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        for (url, is) in [
            ("https://api.openai.com/v1", "api.openai.com"),
            ("http://127.0.0.1:11434/v1", "127.0.0.1"),
            ("http://[::1]:80", "::1"),
            ("http://localhost", "localhost"),
            ("http://127.0.0.1:80@far.example/v1", "far.example"),
            ("http://127.0.0.1?@far.example", "127.0.0.1"),
            ("not an address", ""),
        ] {
            assert_eq!(host(url), is);
        }
    }
}
