//! The kinds of secrets and their counts, never their values.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// The kind of a secret. The order decides when two scanners match: a vendor's token in an assignment is
/// reported as the vendor's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it: one vendor or one shape each")]
pub enum SecretKind {
    PrivateKey,
    AwsAccessKey,
    AwsSecretKey,
    GoogleKey,
    GoogleToken,
    AzureKey,
    GithubToken,
    GitlabToken,
    SlackToken,
    StripeKey,
    AnthropicKey,
    OpenaiKey,
    NpmToken,
    PypiToken,
    HuggingFaceToken,
    TelegramToken,
    DiscordToken,
    SendgridKey,
    TwilioKey,
    DigitaloceanToken,
    /// A token with the prefix of another known service.
    VendorToken,
    /// The secret part of a webhook URL.
    WebhookUrl,
    Jwt,
    UrlPassword,
    /// The value of an `Authorization` header.
    Authorization,
    Cookie,
    CardNumber,
    BankAccount,
    SocialSecurityNumber,
    PasswordHash,
    Password,
    /// Any other value in the place of a secret.
    Secret,
}

impl SecretKind {
    /// All kinds, in order of precedence.
    pub const ALL: [SecretKind; 32] = [
        SecretKind::PrivateKey,
        SecretKind::AwsAccessKey,
        SecretKind::AwsSecretKey,
        SecretKind::GoogleKey,
        SecretKind::GoogleToken,
        SecretKind::AzureKey,
        SecretKind::GithubToken,
        SecretKind::GitlabToken,
        SecretKind::SlackToken,
        SecretKind::StripeKey,
        SecretKind::AnthropicKey,
        SecretKind::OpenaiKey,
        SecretKind::NpmToken,
        SecretKind::PypiToken,
        SecretKind::HuggingFaceToken,
        SecretKind::TelegramToken,
        SecretKind::DiscordToken,
        SecretKind::SendgridKey,
        SecretKind::TwilioKey,
        SecretKind::DigitaloceanToken,
        SecretKind::VendorToken,
        SecretKind::WebhookUrl,
        SecretKind::Jwt,
        SecretKind::UrlPassword,
        SecretKind::Authorization,
        SecretKind::Cookie,
        SecretKind::CardNumber,
        SecretKind::BankAccount,
        SecretKind::SocialSecurityNumber,
        SecretKind::PasswordHash,
        SecretKind::Password,
        SecretKind::Secret,
    ];

    /// The kind's name in the text, in counts and in reports.
    pub fn name(self) -> &'static str {
        match self {
            SecretKind::PrivateKey => "private-key",
            SecretKind::AwsAccessKey => "aws-access-key",
            SecretKind::AwsSecretKey => "aws-secret-key",
            SecretKind::GoogleKey => "google-key",
            SecretKind::GoogleToken => "google-token",
            SecretKind::AzureKey => "azure-key",
            SecretKind::GithubToken => "github-token",
            SecretKind::GitlabToken => "gitlab-token",
            SecretKind::SlackToken => "slack-token",
            SecretKind::StripeKey => "stripe-key",
            SecretKind::AnthropicKey => "anthropic-key",
            SecretKind::OpenaiKey => "openai-key",
            SecretKind::NpmToken => "npm-token",
            SecretKind::PypiToken => "pypi-token",
            SecretKind::HuggingFaceToken => "hugging-face-token",
            SecretKind::TelegramToken => "telegram-token",
            SecretKind::DiscordToken => "discord-token",
            SecretKind::SendgridKey => "sendgrid-key",
            SecretKind::TwilioKey => "twilio-key",
            SecretKind::DigitaloceanToken => "digitalocean-token",
            SecretKind::VendorToken => "vendor-token",
            SecretKind::WebhookUrl => "webhook-url",
            SecretKind::Jwt => "jwt",
            SecretKind::UrlPassword => "url-password",
            SecretKind::Authorization => "authorization",
            SecretKind::Cookie => "cookie",
            SecretKind::CardNumber => "card-number",
            SecretKind::BankAccount => "bank-account",
            SecretKind::SocialSecurityNumber => "social-security-number",
            SecretKind::PasswordHash => "password-hash",
            SecretKind::Password => "password",
            SecretKind::Secret => "secret",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for SecretKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The number of redacted secrets per kind. Nothing else about them is ever reported (B-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RedactionCounts(BTreeMap<SecretKind, usize>);

impl RedactionCounts {
    /// True if nothing was redacted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total number of secrets.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Each kind that was found, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (SecretKind, usize)> + '_ {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Adds the counts of another text.
    pub fn merge(&mut self, other: &RedactionCounts) {
        for (kind, count) in other.iter() {
            *self.0.entry(kind).or_default() += count;
        }
    }
}

impl FromIterator<SecretKind> for RedactionCounts {
    fn from_iter<I: IntoIterator<Item = SecretKind>>(kinds: I) -> Self {
        let mut counts = Self::default();
        for kind in kinds {
            *counts.0.entry(kind).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for RedactionCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (kind, count)) in self.iter().enumerate() {
            write!(f, "{}{count} {kind}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_03_counts_show_kinds_and_merge() {
        let mut counts: RedactionCounts =
            [SecretKind::Jwt, SecretKind::GithubToken, SecretKind::GithubToken].into_iter().collect();
        assert_eq!(counts.to_string(), "2 github-token, 1 jwt");
        assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"github-token":2,"jwt":1}"#);
        counts.merge(&[SecretKind::Jwt].into_iter().collect());
        assert_eq!((counts.total(), counts.is_empty()), (4, false));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(SecretKind::GithubToken, 2), (SecretKind::Jwt, 2)]);
        assert_eq!(RedactionCounts::default().to_string(), "");
    }

    #[test]
    fn every_kind_is_listed_once_in_order() {
        assert!(SecretKind::ALL.is_sorted());
        let mut names: Vec<_> = SecretKind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SecretKind::Secret as usize + 1);
    }
}
