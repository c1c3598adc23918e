use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;

use super::*;

/// A secret in a realistic context, with the part that must not survive.
#[derive(Clone, Debug)]
struct PlantedSecret {
    text: String,
    secret: String,
    kind: SecretKind,
}

/// A strategy that inserts a secret at `¤` in `shape`.
fn planted(
    kind: SecretKind,
    shape: &'static str,
    secret: impl Strategy<Value = String> + 'static,
) -> BoxedStrategy<PlantedSecret> {
    let plant = move |secret: String| PlantedSecret { text: shape.replace('¤', &secret), secret, kind };
    secret.prop_map(plant).boxed()
}

/// Random characters of an alphabet, with a digit and both cases at the start so that no result is a word.
fn drawn(alphabet: &'static str, length: usize) -> impl Strategy<Value = String> {
    string_regex(&format!("[{alphabet}]{{{length}}}"))
        .unwrap()
        .prop_map(|drawn| format!("q7Zk2{}", &drawn[5..]))
}

fn hex(length: usize) -> impl Strategy<Value = String> {
    string_regex(&format!("[0-9a-f]{{{}}}", length - 6)).unwrap().prop_map(|drawn| format!("0f1e2d{drawn}"))
}

fn any_secret() -> impl Strategy<Value = PlantedSecret> {
    const ALNUM: &str = "A-Za-z0-9";
    const URL: &str = "A-Za-z0-9_-";
    let word = || "[a-z]{3,6}[0-9]{2}[A-Z][a-z]{2,4}[0-9]";
    let mut all = vec![
        planted(SecretKind::AwsAccessKey, "AKIA¤", "[A-Z2-7]{11}Q7ZK2"),
        planted(SecretKind::AwsSecretKey, "aws_secret_access_key = ¤", drawn("A-Za-z0-9/+", 40)),
        planted(SecretKind::GoogleKey, "AIza¤", drawn(URL, 35)),
        planted(SecretKind::GoogleToken, "ya29.¤", drawn(URL, 60)),
        planted(SecretKind::AzureKey, "AccountKey=¤==;", drawn("A-Za-z0-9/+", 86)),
        planted(SecretKind::AzureKey, "aB38Q~¤", drawn(ALNUM, 34)),
        planted(SecretKind::GithubToken, "ghp_¤", drawn(ALNUM, 36)),
        planted(SecretKind::GithubToken, "github_pat_¤", drawn("A-Za-z0-9_", 82)),
        planted(SecretKind::GitlabToken, "glpat-¤", drawn(ALNUM, 20)),
        planted(SecretKind::SlackToken, "xoxb-¤", drawn("A-Za-z0-9-", 50)),
        planted(SecretKind::WebhookUrl, "https://hooks.slack.com/services/¤", drawn(ALNUM, 24)),
        planted(SecretKind::StripeKey, "sk_live_¤", drawn(ALNUM, 24)),
        planted(SecretKind::AnthropicKey, "sk-ant-api03-¤", drawn(URL, 95)),
        planted(SecretKind::OpenaiKey, "sk-¤", drawn(ALNUM, 48)),
        planted(SecretKind::OpenaiKey, "sk-proj-¤", drawn(URL, 120)),
        planted(SecretKind::NpmToken, "npm_¤", drawn(ALNUM, 36)),
        planted(SecretKind::PypiToken, "pypi-Ag¤", drawn(URL, 100)),
        planted(SecretKind::HuggingFaceToken, "hf_¤", drawn(ALNUM, 34)),
        planted(SecretKind::TelegramToken, "123456789:AA¤", drawn(URL, 33)),
        planted(SecretKind::DiscordToken, "MTIzNDU2Nzg5MDEyMzQ1Njc4.GhIjKl.¤", drawn(URL, 38)),
        planted(SecretKind::SendgridKey, "SG.q7Zk2q7Zk2q7Zk2q7Zk2qq.¤", drawn(URL, 43)),
        planted(SecretKind::TwilioKey, "SK¤", hex(32)),
        planted(SecretKind::DigitaloceanToken, "dop_v1_¤", hex(64)),
        planted(SecretKind::VendorToken, "shpat_¤", hex(32)),
        planted(SecretKind::Jwt, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.¤", drawn(URL, 43)),
        planted(
            SecretKind::PrivateKey,
            "-----BEGIN PRIVATE KEY-----\n¤\n-----END PRIVATE KEY-----",
            drawn("A-Za-z0-9+/", 64),
        ),
        planted(SecretKind::UrlPassword, "https://bob:¤@host.example/x", "[a-zA-Z0-9!%^&-]{8,20}"),
        planted(SecretKind::Authorization, "Authorization: Bearer ¤", drawn(URL, 30)),
        planted(SecretKind::Cookie, "Cookie: session=¤; theme=dark", drawn(URL, 30)),
        planted(SecretKind::Secret, "API_KEY=¤", drawn(ALNUM, 20)),
        planted(SecretKind::Secret, "\"client_secret\": \"¤\"", drawn(URL, 20)),
        planted(SecretKind::Secret, "token = '¤'", drawn(URL, 20)),
        planted(SecretKind::Secret, "--token ¤", drawn(ALNUM, 20)),
        planted(SecretKind::Secret, "the api key is ¤", drawn(ALNUM, 20)),
    ];
    for shape in [
        "the password is ¤",
        "my passphrase: ¤",
        "das Passwort lautet ¤",
        "la contraseña es ¤",
        "le mot de passe est ¤",
        "a senha é ¤",
        "пароль: ¤",
        "パスワードは¤です",
        "密码是¤",
        "DB_PASSWORD=¤",
        "password: ¤",
        "\"password\": \"¤\"",
        "--password ¤",
        "mysql -p¤",
    ] {
        all.push(planted(SecretKind::Password, shape, word()));
    }
    proptest::strategy::Union::new(all)
}

/// Words, numbers, punctuation and pieces of code without a secret.
fn benign() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        // No vowels and no p, so that a random word has no meaning.
        6 => "[bcdfghjklmnqrstvwxz]{1,9}",
        1 => "[A-Z][bcdfghjklmnqrstvwxz]{2,8}",
        1 => "[0-9]{1,4}",
        1 => "v[0-9]\\.[0-9]{1,2}\\.[0-9]",
        1 => "[0-9a-f]{7}|[0-9a-f]{40}",
        1 => select(vec![
            "the token is expired", "the password is required", "password: String,", "API_KEY=${API_KEY}",
            "https://example.com/a?b=c", "- item", "# Title", "`code`", "fn main() {}", "最初の行", "Привет, мир", "¿qué?",
            "let token = next(input);", "550e8400-e29b-41d4-a716-446655440000", "max_tokens=4096", "🔴", "\n",
        ]).prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}

/// Fragments that the scanners look for, in random order: the most confusing text.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => select(vec![
            "password", "token", "=", ": ", ":", " ", "\n", "\"", "'", "`", "\\", "\\n", "is ", "sk-", "ghp_", "eyJ", ".", "-",
            "AKIA", "://", "@", "/", "Authorization", "Bearer ", "Cookie: ", "session=", ";", "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----", "--password ", "curl -u ", "mysql -p", "密码", "是", "パスワード", "は", "пароль", "é",
            "[redacted:secret]", "[redacted:", "]", "|", "<", ">", "API_KEY", "client_secret", "&sig=", "?", "Q~", "as the ",
        ]).prop_map(String::from),
        1 => "[A-Za-z0-9]{1,40}",
        1 => "[a-z]{2,6}[0-9]{1,3}",
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// True if any eight consecutive characters of `secret` are still in `text`.
fn survives(secret: &str, text: &str) -> bool {
    let chars: Vec<char> = secret.chars().collect();
    chars.windows(8.min(chars.len())).any(|piece| text.contains(&piece.iter().collect::<String>()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn b_03_a_planted_secret_is_gone(
        before in benign(),
        glue in select(vec![" ", "\n", "\n\n  ", " (", "\t"]),
        planted in any_secret(),
        after in benign(),
    ) {
        let text = format!("{before}{glue}{}\n{after}", planted.text);
        let redacted = redact(&text);
        prop_assert!(!survives(&planted.secret, &redacted.text), "{text}\n→ {}", redacted.text);
        let named = redacted.counts.iter().any(|(kind, _)| kind == planted.kind);
        // A preceding sentence about passwords or tokens decides between the two kinds.
        prop_assert!(named || planted.kind >= SecretKind::Password, "{}", redacted.counts);
        prop_assert!(redacted.text.starts_with(&before) && redacted.text.ends_with(&after), "{}", redacted.text);
    }

    /// The first pass is complete: each scanner finds the same as with every position as a candidate.
    #[test]
    fn b_03_the_first_look_leaves_nothing_out(text in soup(), before in benign(), planted in any_secret()) {
        for text in [text.replace(['\\', '%'], " "), text, format!("{before} {}", planted.text)] {
            for scan in SCANNERS {
                let (mut looked, mut everywhere) = (Vec::new(), Vec::new());
                scan(&text, &ScanMarks::scan(&text), &mut looked);
                scan(&text, &ScanMarks::all_positions(&text), &mut everywhere);
                prop_assert_eq!(&looked, &everywhere, "{:?}", text);
            }
        }
    }

    #[test]
    fn b_03_benign_text_is_borrowed(text in benign()) {
        prop_assert!(matches!(redact(&text).text, Cow::Borrowed(_)), "{text}\n→ {}", redact(&text).text);
    }

    #[test]
    fn b_03_redacting_twice_is_redacting_once(text in soup(), any in "\\PC{0,60}") {
        for text in [text, any] {
            let once = redact(&text);
            let twice = redact(&once.text);
            prop_assert!(twice.counts.is_empty(), "{text:?}\n→ {:?}\n→ {:?}", once.text, twice.text);
            prop_assert_eq!(twice.text, once.text.clone());
        }
    }

    #[test]
    fn b_03_nothing_outside_the_findings_changes(text in soup()) {
        let findings = find(&text);
        prop_assert!(findings.iter().all(|finding| !finding.range.is_empty()));
        prop_assert!(findings.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        let mut expected = String::new();
        let mut from = 0;
        for finding in &findings {
            expected += &text[from..finding.range.start];
            expected += &format!("[redacted:{}]", finding.kind);
            from = finding.range.end;
            prop_assert_eq!(finding.line, text[..finding.range.start].matches('\n').count() + 1);
        }
        expected += &text[from..];
        let redacted = redact(&text);
        prop_assert_eq!(redacted.counts.total(), findings.len());
        prop_assert_eq!(redacted.text, expected);
    }
}
