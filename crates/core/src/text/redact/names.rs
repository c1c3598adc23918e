//! Classifies names by the secrecy of their value: `DB_PASSWORD`, `client-secret`, `x-api-key`, `apiKey`, but
//! not `token_count`, `password_file` or `public_key`.

use super::SecretKind;

/// The class of a name, by the certainty that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretFamily {
    /// A password: any literal is a secret, even a plain word.
    Password,
    /// A named secret or key (`client_secret`, `api_key`).
    Secret,
    /// `token`, or `secret` alone: names that code also uses for other things.
    Token,
    /// `key`, `auth`, `session`: only a random value is a secret.
    Key,
    /// A private number: a PIN, the check digits of a card, a social security number.
    Number,
}

/// Suffixes that select one of several values and do not change the class.
#[rustfmt::skip]
const SUFFIX_WORDS: [&str; 33] = [
    "a", "b", "admin", "b64", "backup", "base", "base64", "current", "default", "dev", "development", "live",
    "local", "main", "new", "old", "plain", "prev", "previous", "primary", "prod", "production", "root",
    "sandbox", "secondary", "secure", "stage", "staging", "str", "string", "test", "value", "v2",
];

#[rustfmt::skip]
const PASSWORDS: [&str; 16] = [
    "password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "contrasena", "senha", "mdp",
    "pwd", "mnemonic", "sshpass", "storepass", "keypass", "wachtwoord", "haslo",
];

/// Words that make `pass` and `pw` a password. Alone they are a test result or a compiler pass.
#[rustfmt::skip]
const ACCOUNTS: [&str; 58] = [
    "account", "admin", "amqp", "ansible", "app", "archive", "auth", "backup", "basic", "become", "bind",
    "database", "db", "docker", "elastic", "email", "ftp", "git", "http", "imap", "initial", "jdbc",
    "jenkins", "kafka", "key", "keystore", "ldap", "login", "mail", "mariadb", "master", "mongo", "mqtt",
    "my", "mysql", "nexus", "oracle", "pg", "postgres", "proxy", "rabbitmq", "redis", "registry", "root",
    "service", "smtp", "ssh", "store", "sudo", "svc", "temp", "temporary", "truststore", "user", "vault", "vpn", "wifi", "wpa",
];

#[rustfmt::skip]
const KEYS: [&str; 30] = [
    "access", "account", "admin", "aes", "api", "application", "auth", "cipher", "client", "consumer",
    "cookie", "crypto", "deploy", "encryption", "hmac", "jwt", "license", "management", "master", "private",
    "role", "secret", "service", "shared", "signing", "storage", "subscription", "system", "webhook", "wg",
];

#[rustfmt::skip]
const GLUED_SECRETS: [&str; 10] = [
    "apikey", "secretkey", "accesskey", "privatekey", "accountkey", "sharedaccesskey", "authkey", "masterkey",
    "encryptionkey", "signingkey",
];

#[rustfmt::skip]
const GLUED_TOKENS: [&str; 8] = [
    "authtoken", "accesstoken", "apitoken", "bearertoken", "bottoken", "refreshtoken", "sessiontoken",
    "usertoken",
];

/// Prefixes of tokens in parsers, models and listings.
#[rustfmt::skip]
const OTHER_TOKENS: [&str; 29] = [
    "bos", "cancel", "cancellation", "class", "cls", "comma", "continuation", "csrf", "cursor", "end", "eof",
    "eos", "first", "last", "lookahead", "mask", "max", "min", "next", "pad", "page", "per", "progress", "sep", "special",
    "start", "stop", "sync", "unk",
];

#[rustfmt::skip]
const OTHER_KEYS: [&str; 26] = [
    "anon", "arrow", "cache", "composite", "foreign", "group", "host", "hot", "idempotency", "index", "json",
    "lookup", "map", "object", "partition", "primary", "public", "publishable", "range", "react", "registry",
    "routing", "row", "shard", "sort", "unique",
];

/// Names whose value is a secret only if it is random.
const AMBIGUOUS_NAMES: [&str; 8] =
    ["auth", "bearer", "jsessionid", "key", "phpsessid", "session", "sessionid", "sid"];

/// Prefixes of one-time password secrets: `totp_seed`, `mfa_secret`.
const ONE_TIME_PASSWORD_WORDS: [&str; 5] = ["2fa", "mfa", "otp", "totp", "authenticator"];

/// The number of last words of a name that are examined.
const MAX_NAME_WORDS: usize = 5;

/// Quick test: true if a name has three letters of a secret's name. It rejects nearly all others.
fn may_name(name: &str) -> bool {
    let mut last = [0; 3];
    name.bytes().any(|byte| {
        last = [last[1], last[2], byte.to_ascii_lowercase()];
        matches!(
            &last,
            [_, b'p', b'w']
                | b"aut"
                | b"bea"
                | b"cre"
                | b"cvc"
                | b"cvv"
                | b"ecr"
                | b"eed"
                | b"has"
                | b"htw"
                | b"key"
                | b"mdp"
                | b"mne"
                | b"nnw"
                | b"oke"
                | b"pas"
                | b"phr"
                | b"psk"
                | b"sen"
                | b"ses"
                | b"sid"
                | b"ssn"
                | b"pin"
        )
    })
}

/// The class of `name`, or `None` if it does not announce a secret.
pub(super) fn secret_family(name: &str) -> Option<SecretFamily> {
    if !may_name(name) {
        return None;
    }
    let words = last_words(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while let Some(last) = words.last()
        && words.len() > 1
        && (SUFFIX_WORDS.contains(last) || last.bytes().all(|b| b.is_ascii_digit()))
    {
        words.pop();
    }
    let last = *words.last()?;
    let before = words.len().checked_sub(2).map_or("", |at| words[at]);
    if matches!(before, "hashed" | "encrypted") {
        return None;
    }
    if PASSWORDS.iter().any(|word| last.ends_with(word)) || (before == "seed" && last == "phrase") {
        return Some(SecretFamily::Password);
    }
    match last {
        "pw" if before.is_empty() => Some(SecretFamily::Password),
        "material" if before == "key" => Some(SecretFamily::Password),
        "psk" => Some(SecretFamily::Password),
        "pin" | "pincode" | "cvv" | "cvc" | "cvv2" | "cvc2" | "ssn" => Some(SecretFamily::Number),
        "seed" => ONE_TIME_PASSWORD_WORDS.contains(&before).then_some(SecretFamily::Secret),
        "pass" | "pw" => ACCOUNTS.contains(&before).then_some(SecretFamily::Password),
        "presharedkey" => Some(SecretFamily::Password),
        "key" if before == "shared" && words.iter().rev().nth(2) == Some(&"pre") => {
            Some(SecretFamily::Password)
        }
        "key" if before == "preshared" => Some(SecretFamily::Password),
        "key" if KEYS.contains(&before) => Some(SecretFamily::Secret),
        "key" if OTHER_KEYS.contains(&before) => None,
        "token" => (!OTHER_TOKENS.contains(&before)).then_some(SecretFamily::Token),
        "secret" if before.is_empty() => Some(SecretFamily::Token),
        _ if last.ends_with("secret") || GLUED_SECRETS.iter().any(|word| last.ends_with(word)) => {
            Some(SecretFamily::Secret)
        }
        _ if GLUED_TOKENS.contains(&last) => Some(SecretFamily::Token),
        "credentials" | "credential" | "creds" => Some(SecretFamily::Token),
        _ => AMBIGUOUS_NAMES.contains(&last).then_some(SecretFamily::Key),
    }
}

/// True if `word`, in lower case, names the account of a `pass`.
pub(super) fn is_account(word: &str) -> bool {
    ACCOUNTS.contains(&word)
}

/// True if `value` repeats a word of `name`, as the defaults of container images do:
/// `POSTGRES_PASSWORD=postgres`.
pub(super) fn repeats_name(name: &str, value: &str) -> bool {
    let words = last_words(name);
    words.len() > 1 && words.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// The kind of secret that a name in `family` announces.
pub(super) fn kind(name: &str, family: SecretFamily) -> SecretKind {
    let words = last_words(name).concat();
    let ends = |endings: &[&str]| endings.iter().any(|ending| words.ends_with(ending));
    if ends(&["secretaccesskey", "awssecretkey", "awssecret", "awssessiontoken"]) {
        SecretKind::AwsSecretKey
    } else if ends(&["accountkey", "sharedaccesskey", "azureclientsecret"]) {
        SecretKind::AzureKey
    } else if ends(&["ssn"]) {
        SecretKind::SocialSecurityNumber
    } else if matches!(family, SecretFamily::Password | SecretFamily::Number) {
        SecretKind::Password
    } else {
        SecretKind::Secret
    }
}

/// The last words of `name` in lower case, split at separators and at case changes.
fn last_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = b'_';
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            let begins = !previous.is_ascii_alphanumeric()
                || (byte.is_ascii_uppercase() && previous.is_ascii_lowercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        previous = byte;
    }
    words.split_off(words.len().saturating_sub(MAX_NAME_WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_03_names_of_secrets_are_known_in_every_case() {
        for (name, expected) in [
            ("password", SecretFamily::Password),
            ("DB_PASSWORD", SecretFamily::Password),
            ("PGPASSWORD", SecretFamily::Password),
            ("MYSQL_PWD", SecretFamily::Password),
            ("spring.datasource.password", SecretFamily::Password),
            ("userPassword", SecretFamily::Password),
            ("SMTP_PASS", SecretFamily::Password),
            ("ADMIN_PASSWORD_PROD", SecretFamily::Password),
            ("client_secret", SecretFamily::Secret),
            ("clientSecret", SecretFamily::Secret),
            ("SECRET_KEY_BASE", SecretFamily::Secret),
            ("AWS_SECRET_ACCESS_KEY", SecretFamily::Secret),
            ("x-api-key", SecretFamily::Secret),
            ("apiKey", SecretFamily::Secret),
            ("API_KEY_2", SecretFamily::Secret),
            ("AccountKey", SecretFamily::Secret),
            ("GITHUB_TOKEN", SecretFamily::Token),
            ("_authToken", SecretFamily::Token),
            ("secret", SecretFamily::Token),
            ("mySecretString", SecretFamily::Secret),
            ("credentials", SecretFamily::Token),
            ("OPENAI_KEY", SecretFamily::Key),
            ("session", SecretFamily::Key),
            ("psk", SecretFamily::Password),
            ("pre-shared-key", SecretFamily::Password),
            ("PresharedKey", SecretFamily::Password),
            ("ansible_become_pass", SecretFamily::Password),
            ("TOTP_SEED", SecretFamily::Secret),
            ("cvc", SecretFamily::Number),
            ("ssn", SecretFamily::Number),
        ] {
            assert_eq!(secret_family(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn b_03_no_word_for_a_secret_is_passed_over() {
        let others = [
            "phrase",
            "pw",
            "pass",
            "key",
            "token",
            "secret",
            "credentials",
            "credential",
            "creds",
            "psk",
            "pin",
            "pincode",
            "cvv",
            "cvc",
            "ssn",
            "totp_seed",
        ];
        let all = [&PASSWORDS[..], &GLUED_SECRETS, &GLUED_TOKENS, &AMBIGUOUS_NAMES, &others].concat();
        for word in all {
            for name in [word.to_owned(), word.to_uppercase(), format!("db_{word}_2"), format!("my{word}")] {
                assert!(may_name(&name), "{name}");
            }
        }
        assert!(!may_name("timeout_ms") && !may_name("src/lib.rs"));
    }

    #[test]
    fn b_03_names_that_only_mention_secrets_are_not() {
        for name in [
            "token_count",
            "max_tokens",
            "tokenizer",
            "password_file",
            "secretName",
            "public_key",
            "primaryKey",
            "nextPageToken",
            "eos_token",
            "passwordResetTimeout",
            "pass",
            "bypass",
            "api_key_header",
            "token_type",
            "access_token_expires_in",
            "hashed_secret",
            "credentialsId",
            "secrets",
            "passwords",
            "compass",
            "keyboard",
            "monkey",
            "",
        ] {
            assert_eq!(secret_family(name), None, "{name}");
        }
    }

    #[test]
    fn b_03_cloud_keys_are_told_apart() {
        assert_eq!(kind("aws_secret_access_key", SecretFamily::Secret), SecretKind::AwsSecretKey);
        assert_eq!(kind("SharedAccessKey", SecretFamily::Secret), SecretKind::AzureKey);
        assert_eq!(kind("db.password", SecretFamily::Password), SecretKind::Password);
        assert_eq!(kind("API_KEY", SecretFamily::Secret), SecretKind::Secret);
    }
}
