//! Scanner for vendor tokens: a prefix, and enough characters of the vendor's alphabet after it.

use super::SecretKind;
use super::placeholders::is_placeholder;
use super::prescan::ScanMarks;
use super::values::distinct_bytes;
use super::walk::{PrefixTable, RunEndCache, SecretSpan, judged_part, starts_word};
use crate::base::hash::ContentHash;

/// The alphabet of a token after its prefix.
#[derive(Clone, Copy)]
enum TokenAlphabet {
    Alnum,
    /// Capital letters and digits.
    Upper,
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// `Url` with dots, for tokens of several parts.
    Dotted,
    /// `Dotted` with padding, which some vendors allow anywhere.
    Padded,
    /// Both alphabets of base64, with padding.
    Base64,
    /// `Base64` with dots.
    DottedBase64,
    Digits,
}

impl TokenAlphabet {
    const COUNT: usize = 9;

    fn contains_byte(self, b: u8) -> bool {
        match self {
            TokenAlphabet::Alnum => b.is_ascii_alphanumeric(),
            TokenAlphabet::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            TokenAlphabet::Hex => b.is_ascii_hexdigit(),
            TokenAlphabet::Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
            TokenAlphabet::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
            TokenAlphabet::Padded => TokenAlphabet::Dotted.contains_byte(b) || b == b'=',
            TokenAlphabet::Digits => b.is_ascii_digit(),
            TokenAlphabet::Base64 => {
                b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_')
            }
            TokenAlphabet::DottedBase64 => TokenAlphabet::Base64.contains_byte(b) || b == b'.',
        }
    }
}

struct TokenPattern {
    prefix: &'static str,
    kind: SecretKind,
    body: TokenAlphabet,
    /// The minimum length after the prefix. It is well below the vendor's, so that a truncated key matches
    /// too.
    min: usize,
    /// The maximum length, for tokens that only their length distinguishes from a word.
    max: usize,
    /// The number of characters before the known part, if the known part is not the start.
    before: usize,
}

const fn token(prefix: &'static str, kind: SecretKind, body: TokenAlphabet, min: usize) -> TokenPattern {
    TokenPattern { prefix, kind, body, min, max: usize::MAX, before: 0 }
}

const fn exactly(prefix: &'static str, kind: SecretKind, body: TokenAlphabet, length: usize) -> TokenPattern {
    TokenPattern { prefix, kind, body, min: length, max: length, before: 0 }
}

/// A token with its known part `before` characters behind its start.
const fn known_infix(
    before: usize,
    known: &'static str,
    body: TokenAlphabet,
    min: usize,
    max: usize,
) -> TokenPattern {
    TokenPattern { prefix: known, kind: SecretKind::VendorToken, body, min, max, before }
}

const fn vendor(prefix: &'static str, body: TokenAlphabet, min: usize) -> TokenPattern {
    token(prefix, SecretKind::VendorToken, body, min)
}

/// All known tokens. A prefix precedes the shorter ones that it begins with.
const TOKENS: &[TokenPattern] = &[
    exactly("AKIA", SecretKind::AwsAccessKey, TokenAlphabet::Upper, 16),
    exactly("ASIA", SecretKind::AwsAccessKey, TokenAlphabet::Upper, 16),
    exactly("A3T", SecretKind::AwsAccessKey, TokenAlphabet::Upper, 17),
    exactly("ABIA", SecretKind::AwsAccessKey, TokenAlphabet::Upper, 16),
    exactly("ACCA", SecretKind::AwsAccessKey, TokenAlphabet::Upper, 16),
    token("ABSKQmVkcm9ja0FQSUtleS", SecretKind::AwsSecretKey, TokenAlphabet::Base64, 30),
    token("AIza", SecretKind::GoogleKey, TokenAlphabet::Url, 30),
    token("AQ.Ab", SecretKind::GoogleKey, TokenAlphabet::Url, 30),
    token("ya29.", SecretKind::GoogleToken, TokenAlphabet::Dotted, 16),
    token("GOCSPX-", SecretKind::GoogleToken, TokenAlphabet::Url, 20),
    token("1//0", SecretKind::GoogleToken, TokenAlphabet::Url, 30),
    token("ghp_", SecretKind::GithubToken, TokenAlphabet::Alnum, 16),
    token("gho_", SecretKind::GithubToken, TokenAlphabet::Alnum, 16),
    token("ghu_", SecretKind::GithubToken, TokenAlphabet::Alnum, 16),
    token("ghs_", SecretKind::GithubToken, TokenAlphabet::Dotted, 16),
    token("ghr_", SecretKind::GithubToken, TokenAlphabet::Alnum, 16),
    token("github_pat_", SecretKind::GithubToken, TokenAlphabet::Url, 20),
    token("glpat-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("gldt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glrt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glrtr-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glcbt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glptt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glft-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glimt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glagent-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("gloas-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glsoat-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glffct-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("glwt-", SecretKind::GitlabToken, TokenAlphabet::Dotted, 16),
    token("GR1348941", SecretKind::GitlabToken, TokenAlphabet::Url, 16),
    token("xoxe.xox", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxa-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxb-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxc-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxd-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxe-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxo-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxp-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxr-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xoxs-", SecretKind::SlackToken, TokenAlphabet::Url, 10),
    token("xapp-", SecretKind::SlackToken, TokenAlphabet::Url, 16),
    token("xwfp-", SecretKind::SlackToken, TokenAlphabet::Url, 16),
    token("sk_live_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("sk_test_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("rk_live_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("rk_test_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("sk_prod_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("rk_prod_", SecretKind::StripeKey, TokenAlphabet::Alnum, 10),
    token("sk_org_", SecretKind::StripeKey, TokenAlphabet::Url, 16),
    token("whsec_", SecretKind::StripeKey, TokenAlphabet::Base64, 16),
    token("sk-ant-api03-", SecretKind::AnthropicKey, TokenAlphabet::Url, 10),
    token("sk-ant-admin01-", SecretKind::AnthropicKey, TokenAlphabet::Url, 10),
    token("sk-ant-oat01-", SecretKind::AnthropicKey, TokenAlphabet::Url, 10),
    token("sk-ant-ort01-", SecretKind::AnthropicKey, TokenAlphabet::Url, 10),
    token("sk-ant-sid01-", SecretKind::AnthropicKey, TokenAlphabet::Url, 10),
    token("sk-ant-", SecretKind::AnthropicKey, TokenAlphabet::Url, 16),
    token("sk-proj-", SecretKind::OpenaiKey, TokenAlphabet::Url, 16),
    token("sk-svcacct-", SecretKind::OpenaiKey, TokenAlphabet::Url, 16),
    token("sk-admin-", SecretKind::OpenaiKey, TokenAlphabet::Url, 16),
    token("sk-None-", SecretKind::OpenaiKey, TokenAlphabet::Url, 16),
    vendor("sk-or-v1-", TokenAlphabet::Alnum, 16),
    vendor("sk-lf-", TokenAlphabet::Url, 16),
    token("sk-", SecretKind::OpenaiKey, TokenAlphabet::Url, 16),
    token("npm_", SecretKind::NpmToken, TokenAlphabet::Alnum, 24),
    token("pypi-Ag", SecretKind::PypiToken, TokenAlphabet::Url, 20),
    token("hf_", SecretKind::HuggingFaceToken, TokenAlphabet::Alnum, 20),
    token("api_org_", SecretKind::HuggingFaceToken, TokenAlphabet::Alnum, 20),
    exactly("SK", SecretKind::TwilioKey, TokenAlphabet::Hex, 32),
    token("dop_v1_", SecretKind::DigitaloceanToken, TokenAlphabet::Hex, 32),
    token("doo_v1_", SecretKind::DigitaloceanToken, TokenAlphabet::Hex, 32),
    token("dor_v1_", SecretKind::DigitaloceanToken, TokenAlphabet::Hex, 32),
    token("AGE-SECRET-KEY-1", SecretKind::PrivateKey, TokenAlphabet::Upper, 40),
    vendor("ATATT3x", TokenAlphabet::Base64, 40),
    vendor("ATCTT3x", TokenAlphabet::Base64, 40),
    vendor("AKCp", TokenAlphabet::Alnum, 60),
    vendor("CLOJARS_", TokenAlphabet::Alnum, 40),
    vendor("CCIPAT_", TokenAlphabet::Url, 24),
    vendor("CFPAT-", TokenAlphabet::Url, 24),
    vendor("FLWSECK-", TokenAlphabet::Url, 16),
    vendor("HRKU-", TokenAlphabet::Url, 24),
    vendor("NRAK-", TokenAlphabet::Upper, 20),
    vendor("PMAK-", TokenAlphabet::Url, 24),
    vendor("bkua_", TokenAlphabet::Alnum, 24),
    exactly("cio", SecretKind::VendorToken, TokenAlphabet::Alnum, 32),
    exactly("dapi", SecretKind::VendorToken, TokenAlphabet::Hex, 32),
    vendor("dckr_oat_", TokenAlphabet::Url, 20),
    vendor("dckr_pat_", TokenAlphabet::Url, 20),
    vendor("dt0c01.", TokenAlphabet::Dotted, 60),
    vendor("dp.pt.", TokenAlphabet::Alnum, 24),
    vendor("dp.sa.", TokenAlphabet::Alnum, 24),
    vendor("dp.st.", TokenAlphabet::Dotted, 24),
    vendor("figd_", TokenAlphabet::Url, 24),
    vendor("fm2_", TokenAlphabet::Base64, 40),
    vendor("glc_", TokenAlphabet::Base64, 32),
    vendor("glsa_", TokenAlphabet::Url, 24),
    vendor("gsk_", TokenAlphabet::Alnum, 24),
    vendor("hvb.", TokenAlphabet::Url, 20),
    vendor("hvr.", TokenAlphabet::Url, 20),
    vendor("hvs.", TokenAlphabet::Url, 20),
    exactly("key-", SecretKind::VendorToken, TokenAlphabet::Hex, 32),
    vendor("lin_api_", TokenAlphabet::Alnum, 24),
    vendor("lin_oauth_", TokenAlphabet::Alnum, 24),
    vendor("lsv2_pt_", TokenAlphabet::Url, 24),
    vendor("lsv2_sk_", TokenAlphabet::Url, 24),
    vendor("nfp_", TokenAlphabet::Alnum, 24),
    vendor("ntn_", TokenAlphabet::Alnum, 24),
    vendor("ops_eyJ", TokenAlphabet::Base64, 40),
    vendor("pcsk_", TokenAlphabet::Url, 24),
    vendor("pplx-", TokenAlphabet::Alnum, 24),
    vendor("pscale_oauth_", TokenAlphabet::Padded, 24),
    vendor("pscale_pw_", TokenAlphabet::Padded, 24),
    vendor("pscale_tkn_", TokenAlphabet::Padded, 24),
    exactly("pul-", SecretKind::VendorToken, TokenAlphabet::Hex, 40),
    vendor("r8_", TokenAlphabet::Alnum, 30),
    vendor("rubygems_", TokenAlphabet::Hex, 40),
    vendor("sb_secret_", TokenAlphabet::Url, 20),
    vendor("sbp_", TokenAlphabet::Hex, 32),
    exactly("secret_", SecretKind::VendorToken, TokenAlphabet::Alnum, 43),
    vendor("sgp_", TokenAlphabet::Url, 32),
    vendor("sha256~", TokenAlphabet::Url, 40),
    vendor("shpat_", TokenAlphabet::Hex, 24),
    vendor("shpca_", TokenAlphabet::Hex, 24),
    vendor("shppa_", TokenAlphabet::Hex, 24),
    vendor("shpss_", TokenAlphabet::Hex, 24),
    vendor("sntrys_", TokenAlphabet::Base64, 32),
    vendor("sntryu_", TokenAlphabet::Hex, 32),
    vendor("sq0atp-", TokenAlphabet::Url, 20),
    vendor("sq0csp-", TokenAlphabet::Url, 20),
    vendor("tskey-", TokenAlphabet::Url, 20),
    vendor("tvly-", TokenAlphabet::Url, 24),
    vendor("vercel_blob_rw_", TokenAlphabet::Url, 20),
    vendor("xai-", TokenAlphabet::Alnum, 40),
    vendor("xkeysib-", TokenAlphabet::Url, 40),
    vendor("xsmtpsib-", TokenAlphabet::Url, 40),
    vendor("gitlab_session=", TokenAlphabet::Alnum, 24),
    vendor("A3-", TokenAlphabet::Url, 24),
    vendor("API-", TokenAlphabet::Upper, 24),
    vendor("AQVN", TokenAlphabet::Url, 32),
    token("ABSK", SecretKind::AwsSecretKey, TokenAlphabet::Base64, 80),
    vendor("EAAA", TokenAlphabet::Url, 40),
    vendor("EAAC", TokenAlphabet::Alnum, 80),
    vendor("EAAM", TokenAlphabet::Alnum, 80),
    vendor("EZAK", TokenAlphabet::Alnum, 40),
    vendor("EZTK", TokenAlphabet::Alnum, 40),
    vendor("FLWSECK_TEST-", TokenAlphabet::Url, 12),
    vendor("LTAI", TokenAlphabet::Alnum, 16),
    vendor("NRII-", TokenAlphabet::Url, 24),
    exactly("NRJS-", SecretKind::VendorToken, TokenAlphabet::Hex, 19),
    vendor("ZXlKaGJHY2lPaU", TokenAlphabet::Base64, 40),
    vendor("ZXlKMGVYQWlPaU", TokenAlphabet::Base64, 40),
    vendor("ZXlKcmFXUWlPaU", TokenAlphabet::Base64, 40),
    vendor("access-development-", TokenAlphabet::Url, 32),
    vendor("access-production-", TokenAlphabet::Url, 32),
    vendor("access-sandbox-", TokenAlphabet::Url, 32),
    vendor("authress_", TokenAlphabet::DottedBase64, 50),
    vendor("bedrock-api-key-", TokenAlphabet::Base64, 30),
    vendor("cmVmd", TokenAlphabet::Alnum, 50),
    vendor("dnkey-", TokenAlphabet::Url, 50),
    vendor("duffel_live_", TokenAlphabet::Padded, 30),
    vendor("duffel_test_", TokenAlphabet::Padded, 30),
    vendor("ext_", TokenAlphabet::DottedBase64, 50),
    vendor("eyJrIjoi", TokenAlphabet::Base64, 50),
    vendor("fio-u-", TokenAlphabet::Padded, 40),
    vendor("fm1a_", TokenAlphabet::Base64, 60),
    vendor("fm1r_", TokenAlphabet::Base64, 60),
    vendor("fo1_", TokenAlphabet::Url, 30),
    vendor("ico-", TokenAlphabet::Alnum, 24),
    exactly("4b1d", SecretKind::VendorToken, TokenAlphabet::Alnum, 38),
    vendor("live_pub_", TokenAlphabet::Hex, 24),
    vendor("live_", TokenAlphabet::Url, 32),
    vendor("p8e-", TokenAlphabet::Alnum, 24),
    vendor("pat.", TokenAlphabet::Dotted, 60),
    vendor("pnu_", TokenAlphabet::Alnum, 30),
    exactly("pubkey-", SecretKind::VendorToken, TokenAlphabet::Hex, 32),
    vendor("rdme_", TokenAlphabet::Alnum, 50),
    vendor("s-s4t2af-", TokenAlphabet::Hex, 40),
    vendor("s-s4t2ud-", TokenAlphabet::Hex, 40),
    exactly("s.", SecretKind::VendorToken, TokenAlphabet::Alnum, 24),
    vendor("sat.", TokenAlphabet::Dotted, 60),
    vendor("sc_", TokenAlphabet::DottedBase64, 50),
    vendor("scauth_", TokenAlphabet::DottedBase64, 50),
    vendor("shippo_live_", TokenAlphabet::Hex, 30),
    vendor("shippo_test_", TokenAlphabet::Hex, 30),
    vendor("sl.", TokenAlphabet::Url, 100),
    vendor("sm_aat_", TokenAlphabet::Alnum, 16),
    vendor("sm_pat_", TokenAlphabet::Alnum, 16),
    vendor("sm_sat_", TokenAlphabet::Alnum, 16),
    vendor("sqa_", TokenAlphabet::Hex, 32),
    vendor("sqp_", TokenAlphabet::Hex, 32),
    vendor("squ_", TokenAlphabet::Hex, 32),
    vendor("t1.", TokenAlphabet::Dotted, 86),
    vendor("test_", TokenAlphabet::Hex, 32),
    vendor("tfp_", TokenAlphabet::Dotted, 40),
    vendor("tk-us-", TokenAlphabet::Url, 32),
    vendor("v1.0-", TokenAlphabet::Url, 120),
    vendor("xprv", TokenAlphabet::Alnum, 90),
    vendor("yprv", TokenAlphabet::Alnum, 90),
    vendor("zprv", TokenAlphabet::Alnum, 90),
    vendor("tprv", TokenAlphabet::Alnum, 90),
    exactly("5H", SecretKind::PrivateKey, TokenAlphabet::Alnum, 49),
    exactly("5J", SecretKind::PrivateKey, TokenAlphabet::Alnum, 49),
    exactly("5K", SecretKind::PrivateKey, TokenAlphabet::Alnum, 49),
    exactly("Kw", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("Kx", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("Ky", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("Kz", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("L1", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("L2", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("L3", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("L4", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    exactly("L5", SecretKind::PrivateKey, TokenAlphabet::Alnum, 50),
    known_infix(15, "atlasv1.", TokenAlphabet::Padded, 40, usize::MAX),
    known_infix(37, "mmk", TokenAlphabet::Alnum, 0, 0),
    known_infix(33, "us", TokenAlphabet::Digits, 1, 2),
];

static OPENINGS: PrefixTable<{ TOKENS.len() }> = {
    let mut openings = PrefixTable::empty();
    let mut at = TOKENS.len();
    while at > 0 {
        at -= 1;
        openings = openings.with_word(at, TOKENS[at].prefix);
    }
    openings
};

/// The first token of the list whose prefix is at `at`.
fn token_at(bytes: &[u8], at: usize) -> Option<&'static TokenPattern> {
    let rest = &bytes[at..];
    if !OPENINGS.may_begin(*rest.first()?, *rest.get(1)?, rest.get(2).copied().unwrap_or(0)) {
        return None;
    }
    let mut near = OPENINGS.words_with_pair(*rest.first()?, *rest.get(1)?).map(|number| &TOKENS[number]);
    near.find(|token| rest.starts_with(token.prefix.as_bytes()))
}

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends: [RunEndCache; TokenAlphabet::COUNT] = Default::default();
    let mut from = 0;
    for &at in &marks.words {
        if at >= from
            && let Some(token) = token_at(bytes, at)
            && starts_word(bytes, at)
            && let Some(end) = end_of(token, text, at, &mut ends)
            && let Some(start) = start_of(token, bytes, at)
        {
            found.push(SecretSpan { kind: token.kind, start, end });
            from = end;
        }
    }
}

/// The end of a token whose prefix is at `at`, if it is one.
fn end_of(
    token: &TokenPattern,
    text: &str,
    at: usize,
    ends: &mut [RunEndCache; TokenAlphabet::COUNT],
) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = at + token.prefix.len();
    let run = ends[token.body as usize].find(bytes, start, |b| token.body.contains_byte(b));
    // A full stop at the end is the sentence's, not the token's.
    let end = if run > start && bytes[run - 1] == b'.' { run - 1 } else { run };
    let whole = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let length = end.checked_sub(start)?;
    let fits = whole && (token.min..=token.max).contains(&length);
    (fits && is_issued(token, judged_part(&text[start..end]))).then_some(end)
}

/// The start of a token whose known part is at `at`.
fn start_of(token: &TokenPattern, bytes: &[u8], at: usize) -> Option<usize> {
    if token.before == 0 {
        return Some(at);
    }
    let start = at.checked_sub(token.before)?;
    let (lead, mark) = bytes[start..at].split_at(token.before - 1);
    let whole = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
    let fits = match token.prefix {
        // The name of a data centre behind the key: `…-us12`.
        "us" => mark == b"-" && lead.iter().all(u8::is_ascii_hexdigit),
        "mmk" => mark == b"_" && lead.iter().all(|b| TokenAlphabet::Url.contains_byte(*b)) && lead[6] == b'_',
        _ => mark == b"." && lead.iter().all(u8::is_ascii_alphanumeric),
    };
    (whole && fits).then_some(start)
}

/// True if the body looks issued, not like a placeholder (`ghp_xxxxxxxx`, `sk-your-key-here`).
fn is_issued(token: &TokenPattern, body: &str) -> bool {
    if token.before > 0 && token.max < 8 {
        return true;
    }
    if distinct_bytes(body) < 5 || is_placeholder(body) {
        return false;
    }
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    match token.prefix {
        "sk-" => {}
        // Only the checksum at the end distinguishes wallet keys from other names.
        _ if token.kind == SecretKind::PrivateKey && token.body as usize == TokenAlphabet::Alnum as usize => {
            return is_checked(&format!("{}{body}", token.prefix));
        }
        // These prefixes occur in names and part numbers, so the rest has to look random.
        "A3-" => return body.split('-').all(|part| matches!(part.len(), 5 | 6 | 11) && is_upper(part)),
        // The account inside of the token distinguishes it from a name.
        "authress_" | "ext_" | "sc_" | "scauth_" => {
            return (body.contains(".acc_") || body.contains(".acc-")) && looks_drawn(body);
        }
        "API-" | "LTAI" | "s." | "ico-" | "p8e-" | "4b1d" | "live_" | "AQVN" | "EAAA" | "fo1_" => {
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
    part.bytes().all(|b| TokenAlphabet::Upper.contains_byte(b))
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
    const MAX_TOKEN_CHARS: usize = 38;
    let mut bytes = [0u8; MAX_TOKEN_CHARS];
    for c in text.chars() {
        let Some(mut carry) = ALPHABET.find(c) else { return false };
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 58;
            *byte = (carry & 0xFF) as u8;
            carry >>= 8;
        }
    }
    let start = bytes.iter().position(|b| *b != 0).unwrap_or(MAX_TOKEN_CHARS);
    let Some((payload, check)) = bytes[start..].split_last_chunk::<4>() else { return false };
    let hash = ContentHash::of_bytes(&ContentHash::of_bytes(payload).bytes()).bytes();
    hash.starts_with(check)
}
