//! Tokens that say themselves whose they are: a vendor's prefix and enough of its alphabet after it.

use super::Kind;
use super::marks::Marks;
use super::values::{distinct, is_placeholder};
use super::walk::{Openings, RunEnds, Span, head, starts_word};

/// What a token is made of after its prefix.
#[derive(Clone, Copy)]
enum Body {
    Alnum,
    /// Capitals and digits.
    Upper,
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// As `Url`, and dots: tokens of several parts.
    Dotted,
    /// Both alphabets of base64, with padding.
    Base64,
}

impl Body {
    const COUNT: usize = 6;

    fn holds(self, b: u8) -> bool {
        match self {
            Body::Alnum => b.is_ascii_alphanumeric(),
            Body::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Body::Hex => b.is_ascii_hexdigit(),
            Body::Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
            Body::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
            Body::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'),
        }
    }
}

struct Token {
    prefix: &'static str,
    kind: Kind,
    body: Body,
    /// The least length of what follows the prefix. Well below what the vendor issues, so that a key that was cut
    /// short goes too.
    min: usize,
    /// Where length is what tells the token from a word.
    max: usize,
}

const fn token(prefix: &'static str, kind: Kind, body: Body, min: usize) -> Token {
    Token { prefix, kind, body, min, max: usize::MAX }
}

const fn exactly(prefix: &'static str, kind: Kind, body: Body, length: usize) -> Token {
    Token { prefix, kind, body, min: length, max: length }
}

/// A prefix stands before the shorter ones that it begins with.
const TOKENS: &[Token] = &[
    exactly("AKIA", Kind::AwsAccessKey, Body::Upper, 16),
    exactly("ASIA", Kind::AwsAccessKey, Body::Upper, 16),
    exactly("ABIA", Kind::AwsAccessKey, Body::Upper, 16),
    exactly("ACCA", Kind::AwsAccessKey, Body::Upper, 16),
    token("ABSKQmVkcm9ja0FQSUtleS", Kind::AwsSecretKey, Body::Base64, 30),
    token("AIza", Kind::GoogleKey, Body::Url, 30),
    token("AQ.Ab", Kind::GoogleKey, Body::Url, 30),
    token("ya29.", Kind::GoogleToken, Body::Dotted, 16),
    token("GOCSPX-", Kind::GoogleToken, Body::Url, 20),
    token("1//0", Kind::GoogleToken, Body::Url, 30),
    token("ghp_", Kind::GithubToken, Body::Alnum, 16),
    token("gho_", Kind::GithubToken, Body::Alnum, 16),
    token("ghu_", Kind::GithubToken, Body::Alnum, 16),
    token("ghs_", Kind::GithubToken, Body::Dotted, 16),
    token("ghr_", Kind::GithubToken, Body::Alnum, 16),
    token("github_pat_", Kind::GithubToken, Body::Url, 20),
    token("glpat-", Kind::GitlabToken, Body::Dotted, 16),
    token("gldt-", Kind::GitlabToken, Body::Dotted, 16),
    token("glrt-", Kind::GitlabToken, Body::Dotted, 16),
    token("glrtr-", Kind::GitlabToken, Body::Dotted, 16),
    token("glcbt-", Kind::GitlabToken, Body::Dotted, 16),
    token("glptt-", Kind::GitlabToken, Body::Dotted, 16),
    token("glft-", Kind::GitlabToken, Body::Dotted, 16),
    token("glimt-", Kind::GitlabToken, Body::Dotted, 16),
    token("glagent-", Kind::GitlabToken, Body::Dotted, 16),
    token("gloas-", Kind::GitlabToken, Body::Dotted, 16),
    token("glsoat-", Kind::GitlabToken, Body::Dotted, 16),
    token("glffct-", Kind::GitlabToken, Body::Dotted, 16),
    token("glwt-", Kind::GitlabToken, Body::Dotted, 16),
    token("GR1348941", Kind::GitlabToken, Body::Url, 16),
    token("xoxe.xox", Kind::SlackToken, Body::Url, 10),
    token("xoxa-", Kind::SlackToken, Body::Url, 10),
    token("xoxb-", Kind::SlackToken, Body::Url, 10),
    token("xoxc-", Kind::SlackToken, Body::Url, 10),
    token("xoxd-", Kind::SlackToken, Body::Url, 10),
    token("xoxe-", Kind::SlackToken, Body::Url, 10),
    token("xoxo-", Kind::SlackToken, Body::Url, 10),
    token("xoxp-", Kind::SlackToken, Body::Url, 10),
    token("xoxr-", Kind::SlackToken, Body::Url, 10),
    token("xoxs-", Kind::SlackToken, Body::Url, 10),
    token("xapp-", Kind::SlackToken, Body::Url, 16),
    token("xwfp-", Kind::SlackToken, Body::Url, 16),
    token("sk_live_", Kind::StripeKey, Body::Alnum, 10),
    token("sk_test_", Kind::StripeKey, Body::Alnum, 10),
    token("rk_live_", Kind::StripeKey, Body::Alnum, 10),
    token("rk_test_", Kind::StripeKey, Body::Alnum, 10),
    token("sk_prod_", Kind::StripeKey, Body::Alnum, 10),
    token("rk_prod_", Kind::StripeKey, Body::Alnum, 10),
    token("sk_org_", Kind::StripeKey, Body::Url, 16),
    token("whsec_", Kind::StripeKey, Body::Base64, 16),
    token("sk-ant-api03-", Kind::AnthropicKey, Body::Url, 10),
    token("sk-ant-admin01-", Kind::AnthropicKey, Body::Url, 10),
    token("sk-ant-oat01-", Kind::AnthropicKey, Body::Url, 10),
    token("sk-ant-ort01-", Kind::AnthropicKey, Body::Url, 10),
    token("sk-ant-sid01-", Kind::AnthropicKey, Body::Url, 10),
    token("sk-ant-", Kind::AnthropicKey, Body::Url, 16),
    token("sk-proj-", Kind::OpenaiKey, Body::Url, 16),
    token("sk-svcacct-", Kind::OpenaiKey, Body::Url, 16),
    token("sk-admin-", Kind::OpenaiKey, Body::Url, 16),
    token("sk-None-", Kind::OpenaiKey, Body::Url, 16),
    token("sk-or-v1-", Kind::VendorToken, Body::Alnum, 16),
    token("sk-lf-", Kind::VendorToken, Body::Url, 16),
    token("sk-", Kind::OpenaiKey, Body::Url, 16),
    token("npm_", Kind::NpmToken, Body::Alnum, 24),
    token("pypi-Ag", Kind::PypiToken, Body::Url, 20),
    token("hf_", Kind::HuggingFaceToken, Body::Alnum, 20),
    token("api_org_", Kind::HuggingFaceToken, Body::Alnum, 20),
    exactly("SK", Kind::TwilioKey, Body::Hex, 32),
    token("dop_v1_", Kind::DigitaloceanToken, Body::Hex, 32),
    token("doo_v1_", Kind::DigitaloceanToken, Body::Hex, 32),
    token("dor_v1_", Kind::DigitaloceanToken, Body::Hex, 32),
    token("AGE-SECRET-KEY-1", Kind::PrivateKey, Body::Upper, 40),
    token("ATATT3x", Kind::VendorToken, Body::Base64, 40),
    token("ATCTT3x", Kind::VendorToken, Body::Base64, 40),
    token("AKCp", Kind::VendorToken, Body::Alnum, 60),
    token("CLOJARS_", Kind::VendorToken, Body::Alnum, 40),
    token("CCIPAT_", Kind::VendorToken, Body::Url, 24),
    token("CFPAT-", Kind::VendorToken, Body::Url, 24),
    token("FLWSECK-", Kind::VendorToken, Body::Url, 16),
    token("HRKU-", Kind::VendorToken, Body::Url, 24),
    token("NRAK-", Kind::VendorToken, Body::Upper, 20),
    token("PMAK-", Kind::VendorToken, Body::Url, 24),
    token("bkua_", Kind::VendorToken, Body::Alnum, 24),
    exactly("cio", Kind::VendorToken, Body::Alnum, 32),
    exactly("dapi", Kind::VendorToken, Body::Hex, 32),
    token("dckr_oat_", Kind::VendorToken, Body::Url, 20),
    token("dckr_pat_", Kind::VendorToken, Body::Url, 20),
    token("dt0c01.", Kind::VendorToken, Body::Dotted, 60),
    token("dp.pt.", Kind::VendorToken, Body::Alnum, 24),
    token("dp.sa.", Kind::VendorToken, Body::Alnum, 24),
    token("dp.st.", Kind::VendorToken, Body::Dotted, 24),
    token("figd_", Kind::VendorToken, Body::Url, 24),
    token("fm2_", Kind::VendorToken, Body::Base64, 40),
    token("glc_", Kind::VendorToken, Body::Base64, 32),
    token("glsa_", Kind::VendorToken, Body::Url, 24),
    token("gsk_", Kind::VendorToken, Body::Alnum, 24),
    token("hvb.", Kind::VendorToken, Body::Url, 20),
    token("hvr.", Kind::VendorToken, Body::Url, 20),
    token("hvs.", Kind::VendorToken, Body::Url, 20),
    exactly("key-", Kind::VendorToken, Body::Hex, 32),
    token("lin_api_", Kind::VendorToken, Body::Alnum, 24),
    token("lin_oauth_", Kind::VendorToken, Body::Alnum, 24),
    token("lsv2_pt_", Kind::VendorToken, Body::Url, 24),
    token("lsv2_sk_", Kind::VendorToken, Body::Url, 24),
    token("nfp_", Kind::VendorToken, Body::Alnum, 24),
    token("ntn_", Kind::VendorToken, Body::Alnum, 24),
    token("ops_eyJ", Kind::VendorToken, Body::Base64, 40),
    token("pcsk_", Kind::VendorToken, Body::Url, 24),
    token("pplx-", Kind::VendorToken, Body::Alnum, 24),
    token("pscale_oauth_", Kind::VendorToken, Body::Dotted, 24),
    token("pscale_pw_", Kind::VendorToken, Body::Dotted, 24),
    token("pscale_tkn_", Kind::VendorToken, Body::Dotted, 24),
    exactly("pul-", Kind::VendorToken, Body::Hex, 40),
    token("r8_", Kind::VendorToken, Body::Alnum, 30),
    token("rubygems_", Kind::VendorToken, Body::Hex, 40),
    token("sb_secret_", Kind::VendorToken, Body::Url, 20),
    token("sbp_", Kind::VendorToken, Body::Hex, 32),
    exactly("secret_", Kind::VendorToken, Body::Alnum, 43),
    token("sgp_", Kind::VendorToken, Body::Url, 32),
    token("sha256~", Kind::VendorToken, Body::Url, 40),
    token("shpat_", Kind::VendorToken, Body::Hex, 24),
    token("shpca_", Kind::VendorToken, Body::Hex, 24),
    token("shppa_", Kind::VendorToken, Body::Hex, 24),
    token("shpss_", Kind::VendorToken, Body::Hex, 24),
    token("sntrys_", Kind::VendorToken, Body::Base64, 32),
    token("sntryu_", Kind::VendorToken, Body::Hex, 32),
    token("sq0atp-", Kind::VendorToken, Body::Url, 20),
    token("sq0csp-", Kind::VendorToken, Body::Url, 20),
    token("tskey-", Kind::VendorToken, Body::Url, 20),
    token("tvly-", Kind::VendorToken, Body::Url, 24),
    token("vercel_blob_rw_", Kind::VendorToken, Body::Url, 20),
    token("xai-", Kind::VendorToken, Body::Alnum, 40),
    token("xkeysib-", Kind::VendorToken, Body::Url, 40),
    token("xsmtpsib-", Kind::VendorToken, Body::Url, 40),
];

static OPENINGS: Openings<{ TOKENS.len() }> = {
    let mut openings = Openings::none();
    let mut at = TOKENS.len();
    while at > 0 {
        at -= 1;
        openings = openings.with(at, TOKENS[at].prefix);
    }
    openings
};

/// The first token of the list whose prefix stands at `at`.
fn token_at(bytes: &[u8], at: usize) -> Option<&'static Token> {
    let rest = &bytes[at..];
    let mut near = OPENINGS.with_pair(*rest.first()?, *rest.get(1)?).map(|number| &TOKENS[number]);
    near.find(|token| rest.starts_with(token.prefix.as_bytes()))
}

pub(super) fn scan(text: &str, marks: &Marks, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut ends: [RunEnds; Body::COUNT] = Default::default();
    let mut from = 0;
    for &at in &marks.words {
        if at >= from
            && let Some(token) = token_at(bytes, at)
            && starts_word(bytes, at)
            && let Some(end) = end_of(token, text, at, &mut ends)
        {
            found.push(Span { kind: token.kind, start: at, end });
            from = end;
        }
    }
}

/// Where a token whose prefix stands at `at` ends, if it is one.
fn end_of(token: &Token, text: &str, at: usize, ends: &mut [RunEnds; Body::COUNT]) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = at + token.prefix.len();
    let run = ends[token.body as usize].find(bytes, start, |b| token.body.holds(b));
    // A sentence's full stop, not a part of the token.
    let end = if run > start && bytes[run - 1] == b'.' { run - 1 } else { run };
    let whole = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let length = end.checked_sub(start)?;
    let fits = whole && (token.min..=token.max).contains(&length);
    (fits && is_issued(token, head(&text[start..end]))).then_some(end)
}

/// Whether the body can have been issued rather than written as a stand-in (`ghp_xxxxxxxx`, `sk-your-key-here`).
fn is_issued(token: &Token, body: &str) -> bool {
    if distinct(body) < 5 || is_placeholder(body) {
        return false;
    }
    if token.prefix != "sk-" {
        return true;
    }
    // The bare prefix is short enough to occur in names (`sk-fading-circle`): one long part has to look issued.
    body.split(['-', '_'])
        .any(|part| part.len() >= 20 || (part.len() >= 16 && part.bytes().any(|b| b.is_ascii_digit())))
}
