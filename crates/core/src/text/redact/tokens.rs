//! Scanner for vendor tokens: a prefix, and enough characters of the vendor's alphabet after it.

use super::Kind;
use super::marks::Marks;
use super::values::{distinct, is_placeholder};
use super::walk::{Openings, RunEnds, Span, head, starts_word};
use crate::base::hash::ContentHash;

/// The alphabet of a token after its prefix.
#[derive(Clone, Copy)]
enum Body {
    Alnum,
    /// Capital letters and digits.
    Upper,
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// `Url` with dots, for tokens of several parts.
    Dotted,
    /// Both alphabets of base64, with padding.
    Base64,
    Digits,
}

impl Body {
    const COUNT: usize = 7;

    fn holds(self, b: u8) -> bool {
        match self {
            Body::Alnum => b.is_ascii_alphanumeric(),
            Body::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Body::Hex => b.is_ascii_hexdigit(),
            Body::Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
            Body::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
            Body::Digits => b.is_ascii_digit(),
            Body::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'),
        }
    }
}

struct Token {
    prefix: &'static str,
    kind: Kind,
    body: Body,
    /// The minimum length after the prefix. It is well below the vendor's, so that a truncated key matches
    /// too.
    min: usize,
    /// The maximum length, for tokens that only their length distinguishes from a word.
    max: usize,
    /// The number of characters before the known part, if the known part is not the start.
    before: usize,
}

const fn token(prefix: &'static str, kind: Kind, body: Body, min: usize) -> Token {
    Token { prefix, kind, body, min, max: usize::MAX, before: 0 }
}

const fn exactly(prefix: &'static str, kind: Kind, body: Body, length: usize) -> Token {
    Token { prefix, kind, body, min: length, max: length, before: 0 }
}

/// A token with its known part `before` characters behind its start.
const fn inside(before: usize, known: &'static str, body: Body, min: usize, max: usize) -> Token {
    Token { prefix: known, kind: Kind::VendorToken, body, min, max, before }
}

const fn vendor(prefix: &'static str, body: Body, min: usize) -> Token {
    token(prefix, Kind::VendorToken, body, min)
}

/// All known tokens. A prefix precedes the shorter ones that it begins with.
const TOKENS: &[Token] = &[
    exactly("AKIA", Kind::AwsAccessKey, Body::Upper, 16),
    exactly("ASIA", Kind::AwsAccessKey, Body::Upper, 16),
    exactly("A3T", Kind::AwsAccessKey, Body::Upper, 17),
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
    vendor("sk-or-v1-", Body::Alnum, 16),
    vendor("sk-lf-", Body::Url, 16),
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
    vendor("ATATT3x", Body::Base64, 40),
    vendor("ATCTT3x", Body::Base64, 40),
    vendor("AKCp", Body::Alnum, 60),
    vendor("CLOJARS_", Body::Alnum, 40),
    vendor("CCIPAT_", Body::Url, 24),
    vendor("CFPAT-", Body::Url, 24),
    vendor("FLWSECK-", Body::Url, 16),
    vendor("HRKU-", Body::Url, 24),
    vendor("NRAK-", Body::Upper, 20),
    vendor("PMAK-", Body::Url, 24),
    vendor("bkua_", Body::Alnum, 24),
    exactly("cio", Kind::VendorToken, Body::Alnum, 32),
    exactly("dapi", Kind::VendorToken, Body::Hex, 32),
    vendor("dckr_oat_", Body::Url, 20),
    vendor("dckr_pat_", Body::Url, 20),
    vendor("dt0c01.", Body::Dotted, 60),
    vendor("dp.pt.", Body::Alnum, 24),
    vendor("dp.sa.", Body::Alnum, 24),
    vendor("dp.st.", Body::Dotted, 24),
    vendor("figd_", Body::Url, 24),
    vendor("fm2_", Body::Base64, 40),
    vendor("glc_", Body::Base64, 32),
    vendor("glsa_", Body::Url, 24),
    vendor("gsk_", Body::Alnum, 24),
    vendor("hvb.", Body::Url, 20),
    vendor("hvr.", Body::Url, 20),
    vendor("hvs.", Body::Url, 20),
    exactly("key-", Kind::VendorToken, Body::Hex, 32),
    vendor("lin_api_", Body::Alnum, 24),
    vendor("lin_oauth_", Body::Alnum, 24),
    vendor("lsv2_pt_", Body::Url, 24),
    vendor("lsv2_sk_", Body::Url, 24),
    vendor("nfp_", Body::Alnum, 24),
    vendor("ntn_", Body::Alnum, 24),
    vendor("ops_eyJ", Body::Base64, 40),
    vendor("pcsk_", Body::Url, 24),
    vendor("pplx-", Body::Alnum, 24),
    vendor("pscale_oauth_", Body::Dotted, 24),
    vendor("pscale_pw_", Body::Dotted, 24),
    vendor("pscale_tkn_", Body::Dotted, 24),
    exactly("pul-", Kind::VendorToken, Body::Hex, 40),
    vendor("r8_", Body::Alnum, 30),
    vendor("rubygems_", Body::Hex, 40),
    vendor("sb_secret_", Body::Url, 20),
    vendor("sbp_", Body::Hex, 32),
    exactly("secret_", Kind::VendorToken, Body::Alnum, 43),
    vendor("sgp_", Body::Url, 32),
    vendor("sha256~", Body::Url, 40),
    vendor("shpat_", Body::Hex, 24),
    vendor("shpca_", Body::Hex, 24),
    vendor("shppa_", Body::Hex, 24),
    vendor("shpss_", Body::Hex, 24),
    vendor("sntrys_", Body::Base64, 32),
    vendor("sntryu_", Body::Hex, 32),
    vendor("sq0atp-", Body::Url, 20),
    vendor("sq0csp-", Body::Url, 20),
    vendor("tskey-", Body::Url, 20),
    vendor("tvly-", Body::Url, 24),
    vendor("vercel_blob_rw_", Body::Url, 20),
    vendor("xai-", Body::Alnum, 40),
    vendor("xkeysib-", Body::Url, 40),
    vendor("xsmtpsib-", Body::Url, 40),
    vendor("gitlab_session=", Body::Alnum, 24),
    vendor("A3-", Body::Url, 24),
    vendor("API-", Body::Upper, 24),
    vendor("AQVN", Body::Url, 32),
    token("ABSK", Kind::AwsSecretKey, Body::Base64, 80),
    vendor("EAAA", Body::Url, 40),
    vendor("EAAC", Body::Alnum, 80),
    vendor("EAAM", Body::Alnum, 80),
    vendor("EZAK", Body::Alnum, 40),
    vendor("EZTK", Body::Alnum, 40),
    vendor("FLWSECK_TEST-", Body::Url, 12),
    vendor("LTAI", Body::Alnum, 16),
    vendor("NRII-", Body::Url, 24),
    exactly("NRJS-", Kind::VendorToken, Body::Hex, 19),
    vendor("ZXlKaGJHY2lPaU", Body::Base64, 40),
    vendor("ZXlKMGVYQWlPaU", Body::Base64, 40),
    vendor("ZXlKcmFXUWlPaU", Body::Base64, 40),
    vendor("access-development-", Body::Url, 32),
    vendor("access-production-", Body::Url, 32),
    vendor("access-sandbox-", Body::Url, 32),
    vendor("authress_", Body::Dotted, 50),
    vendor("bedrock-api-key-", Body::Base64, 30),
    vendor("cmVmd", Body::Alnum, 50),
    vendor("dnkey-", Body::Url, 50),
    vendor("duffel_live_", Body::Url, 30),
    vendor("duffel_test_", Body::Url, 30),
    vendor("ext_", Body::Dotted, 50),
    vendor("eyJrIjoi", Body::Base64, 50),
    vendor("fio-u-", Body::Url, 40),
    vendor("fm1a_", Body::Base64, 60),
    vendor("fm1r_", Body::Base64, 60),
    vendor("fo1_", Body::Url, 30),
    vendor("ico-", Body::Alnum, 24),
    exactly("4b1d", Kind::VendorToken, Body::Alnum, 38),
    vendor("live_pub_", Body::Hex, 24),
    vendor("live_", Body::Url, 32),
    vendor("p8e-", Body::Alnum, 24),
    vendor("pat.", Body::Dotted, 60),
    vendor("pnu_", Body::Alnum, 30),
    exactly("pubkey-", Kind::VendorToken, Body::Hex, 32),
    vendor("rdme_", Body::Alnum, 50),
    vendor("s-s4t2af-", Body::Hex, 40),
    vendor("s-s4t2ud-", Body::Hex, 40),
    exactly("s.", Kind::VendorToken, Body::Alnum, 24),
    vendor("sat.", Body::Dotted, 60),
    vendor("sc_", Body::Dotted, 50),
    vendor("scauth_", Body::Dotted, 50),
    vendor("shippo_live_", Body::Hex, 30),
    vendor("shippo_test_", Body::Hex, 30),
    vendor("sl.", Body::Url, 100),
    vendor("sm_aat_", Body::Alnum, 16),
    vendor("sm_pat_", Body::Alnum, 16),
    vendor("sm_sat_", Body::Alnum, 16),
    vendor("sqa_", Body::Hex, 32),
    vendor("sqp_", Body::Hex, 32),
    vendor("squ_", Body::Hex, 32),
    vendor("t1.", Body::Dotted, 86),
    vendor("test_", Body::Hex, 32),
    vendor("tfp_", Body::Dotted, 40),
    vendor("tk-us-", Body::Url, 32),
    vendor("v1.0-", Body::Url, 120),
    vendor("xprv", Body::Alnum, 90),
    vendor("yprv", Body::Alnum, 90),
    vendor("zprv", Body::Alnum, 90),
    vendor("tprv", Body::Alnum, 90),
    exactly("5H", Kind::PrivateKey, Body::Alnum, 49),
    exactly("5J", Kind::PrivateKey, Body::Alnum, 49),
    exactly("5K", Kind::PrivateKey, Body::Alnum, 49),
    exactly("Kw", Kind::PrivateKey, Body::Alnum, 50),
    exactly("Kx", Kind::PrivateKey, Body::Alnum, 50),
    exactly("Ky", Kind::PrivateKey, Body::Alnum, 50),
    exactly("Kz", Kind::PrivateKey, Body::Alnum, 50),
    exactly("L1", Kind::PrivateKey, Body::Alnum, 50),
    exactly("L2", Kind::PrivateKey, Body::Alnum, 50),
    exactly("L3", Kind::PrivateKey, Body::Alnum, 50),
    exactly("L4", Kind::PrivateKey, Body::Alnum, 50),
    exactly("L5", Kind::PrivateKey, Body::Alnum, 50),
    inside(15, "atlasv1.", Body::Url, 40, usize::MAX),
    inside(37, "mmk", Body::Alnum, 0, 0),
    inside(33, "us", Body::Digits, 1, 2),
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

/// The first token of the list whose prefix is at `at`.
fn token_at(bytes: &[u8], at: usize) -> Option<&'static Token> {
    let rest = &bytes[at..];
    if !OPENINGS.may_begin(*rest.first()?, *rest.get(1)?, rest.get(2).copied().unwrap_or(0)) {
        return None;
    }
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
            && let Some(start) = start_of(token, bytes, at)
        {
            found.push(Span { kind: token.kind, start, end });
            from = end;
        }
    }
}

/// The end of a token whose prefix is at `at`, if it is one.
fn end_of(token: &Token, text: &str, at: usize, ends: &mut [RunEnds; Body::COUNT]) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = at + token.prefix.len();
    let run = ends[token.body as usize].find(bytes, start, |b| token.body.holds(b));
    // A full stop at the end is the sentence's, not the token's.
    let end = if run > start && bytes[run - 1] == b'.' { run - 1 } else { run };
    let whole = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let length = end.checked_sub(start)?;
    let fits = whole && (token.min..=token.max).contains(&length);
    (fits && is_issued(token, head(&text[start..end]))).then_some(end)
}

/// The start of a token whose known part is at `at`.
fn start_of(token: &Token, bytes: &[u8], at: usize) -> Option<usize> {
    if token.before == 0 {
        return Some(at);
    }
    let start = at.checked_sub(token.before)?;
    let (lead, mark) = bytes[start..at].split_at(token.before - 1);
    let whole = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
    let fits = match token.prefix {
        // The name of a data centre behind the key: `…-us12`.
        "us" => mark == b"-" && lead.iter().all(u8::is_ascii_hexdigit),
        "mmk" => mark == b"_" && lead.iter().all(|b| Body::Url.holds(*b)) && lead[6] == b'_',
        _ => mark == b"." && lead.iter().all(u8::is_ascii_alphanumeric),
    };
    (whole && fits).then_some(start)
}

/// True if the body looks issued, not like a placeholder (`ghp_xxxxxxxx`, `sk-your-key-here`).
fn is_issued(token: &Token, body: &str) -> bool {
    if token.before > 0 && token.max < 8 {
        return true;
    }
    if distinct(body) < 5 || is_placeholder(body) {
        return false;
    }
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    match token.prefix {
        "sk-" => {}
        // Only the checksum at the end distinguishes wallet keys from other names.
        _ if token.kind == Kind::PrivateKey && token.body as usize == Body::Alnum as usize => {
            return is_checked(&format!("{}{body}", token.prefix));
        }
        // These prefixes occur in names and part numbers, so the rest has to look random.
        "A3-" => return body.split('-').all(|part| matches!(part.len(), 5 | 6 | 11) && is_upper(part)),
        "API-" | "LTAI" | "ext_" | "sc_" | "s." | "ico-" | "p8e-" | "4b1d" | "live_" | "AQVN" | "EAAA"
        | "fo1_" => {
            return digits >= 2 && !body.contains("__") && looks_drawn(body);
        }
        _ => return true,
    }
    // This prefix is so short that it occurs in names (`sk-fading-circle`), so one long part has to look
    // issued.
    body.split(['-', '_'])
        .any(|part| part.len() >= 20 || (part.len() >= 16 && part.bytes().any(|b| b.is_ascii_digit())))
}

fn is_upper(part: &str) -> bool {
    part.bytes().all(|b| Body::Upper.holds(b))
}

/// True if a long part of `body` has both letters and digits.
fn looks_drawn(body: &str) -> bool {
    let parts = || body.split(['-', '_', '.']).filter(|part| part.len() >= 8);
    parts()
        .any(|part| part.bytes().any(|b| b.is_ascii_digit()) && part.bytes().any(|b| b.is_ascii_alphabetic()))
}

/// True if `text` is Base58 with a valid checksum: the first four bytes of its payload's double hash.
fn is_checked(text: &str) -> bool {
    const ALPHABET: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    const LONGEST: usize = 38;
    let mut bytes = [0u8; LONGEST];
    for c in text.chars() {
        let Some(mut carry) = ALPHABET.find(c) else { return false };
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 58;
            *byte = (carry & 0xFF) as u8;
            carry >>= 8;
        }
    }
    let start = bytes.iter().position(|b| *b != 0).unwrap_or(LONGEST);
    let Some((payload, check)) = bytes[start..].split_last_chunk::<4>() else { return false };
    let hash = ContentHash::of(&ContentHash::of(payload).bytes()).bytes();
    hash.starts_with(check)
}
