//! Tests of redaction: texts to redact, texts to keep, and properties of any text.

mod not_redacted;
mod properties;
mod redacted;
mod table;

use super::*;

/// Removes the dots from example secrets. They keep source code scanners from reporting this repository.
fn undotted(text: &str) -> String {
    text.replace('·', "")
}

#[test]
fn b_03_findings_say_where_and_what_but_not_the_value() {
    let text =
        undotted("one\ntwo gh·p_q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K\n\nthree: password is hunter2x, bye");
    let findings = find(&text);
    let seen: Vec<_> = findings.iter().map(|finding| (finding.kind, finding.line)).collect();
    assert_eq!(seen, [(SecretKind::GithubToken, 2), (SecretKind::Password, 4)]);
    assert_eq!(&text[findings[1].range.clone()], "hunter2x");
    assert!(!format!("{findings:?}").contains("hunter2x"));
}

#[test]
fn b_03_where_scanners_meet_all_goes_under_the_more_telling_name() {
    let text = undotted("GITHUB_TOKEN=gh·p_q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K!tail");
    let redacted = redact(&text);
    assert_eq!(redacted.text, "GITHUB_TOKEN=[redacted:github-token]");
    assert_eq!(redacted.counts.to_string(), "1 github-token");
}

#[test]
fn b_03_clean_text_is_borrowed() {
    assert!(matches!(redact("The token is expired.").text, Cow::Borrowed(_)));
    assert!(redact("").counts.is_empty());
}

#[test]
fn b_03_placeholders_never_match_again() {
    for kind in SecretKind::ALL {
        let placeholder = format!("[redacted:{kind}]");
        for text in [
            format!("password={placeholder}"),
            format!("the password is {placeholder}."),
            format!("export API_KEY=\"{placeholder}\""),
            format!("{placeholder}: {placeholder}"),
            format!("https://user:{placeholder}@host/"),
            format!("Authorization: Bearer {placeholder}"),
            format!("--password {placeholder} --token {placeholder}"),
            format!("-----BEGIN PRIVATE KEY-----\n{placeholder}\n-----END PRIVATE KEY-----"),
        ] {
            assert_eq!(redact(&text).text, text);
        }
    }
}

/// Detects a quadratic scanner: with one, a tenth of a second's work would become an hour's, and the test would not end.
#[test]
fn b_03_a_long_awkward_text_takes_no_time() {
    #[rustfmt::skip]
    const WHOLE: [&str; 16] = [
        "a", "=", ":", "\"", "\\", "sk-", "eyJ", "eyJhbGciOiJI.", "-----BEGIN", "-----BEGIN PRIVATE KEY-----\n", "://",
        "password=", "the password is ", "authorization:", "密码是", "[redacted:",
    ];
    #[rustfmt::skip]
    const QUARTER: [&str; 50] = [
        "-", "'", "\\\"", " ", "\n", "@", "/", "é", "\u{1}", "sk-a1", "eyJ.", "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY----- a: ", "-----BEGIN PRIVATE KEY-----\na: ", "a://b:c", "a://b:c/@", "password=\"",
        "password='\\", "token=", "token=é", "token:", "a_token=(", "key=", "authorization: bearer ", "bearer ", "cookie:",
        "cookie: a=", "cookie:a=b;", "curl -u ", "--password ", "--password '", "-p", "mysql -p", "password `",
        "password is the token ", "change the password to ", "passphrase:", "пароль ", "パスワードは", "AKIA",
        "AKIAIOSFODNN7EXAMPLE ", "Q~", "123456789:AA", "MTIz.", "SG.", "?sig=a", "hooks.slack.com/services/", "<password>",
        "x: &'static str = ", "name: value=",
    ];
    for (units, length) in [(&WHOLE[..], 200_000), (&QUARTER[..], 50_000)] {
        for unit in units {
            redact(&unit.repeat(length / unit.len()));
        }
    }
}
