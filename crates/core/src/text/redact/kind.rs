//! The kinds of secrets and their counts, never their values.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// The kind of a secret. The order decides when two scanners match: a vendor's token in an assignment is
/// reported as the vendor's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it: one vendor or one shape each")]
pub enum Kind {
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

impl Kind {
    /// All kinds, in order of precedence.
    pub const ALL: [Kind; 32] = [
        Kind::PrivateKey,
        Kind::AwsAccessKey,
        Kind::AwsSecretKey,
        Kind::GoogleKey,
        Kind::GoogleToken,
        Kind::AzureKey,
        Kind::GithubToken,
        Kind::GitlabToken,
        Kind::SlackToken,
        Kind::StripeKey,
        Kind::AnthropicKey,
        Kind::OpenaiKey,
        Kind::NpmToken,
        Kind::PypiToken,
        Kind::HuggingFaceToken,
        Kind::TelegramToken,
        Kind::DiscordToken,
        Kind::SendgridKey,
        Kind::TwilioKey,
        Kind::DigitaloceanToken,
        Kind::VendorToken,
        Kind::WebhookUrl,
        Kind::Jwt,
        Kind::UrlPassword,
        Kind::Authorization,
        Kind::Cookie,
        Kind::CardNumber,
        Kind::BankAccount,
        Kind::SocialSecurityNumber,
        Kind::PasswordHash,
        Kind::Password,
        Kind::Secret,
    ];

    /// The kind's name in the text, in counts and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::PrivateKey => "private-key",
            Kind::AwsAccessKey => "aws-access-key",
            Kind::AwsSecretKey => "aws-secret-key",
            Kind::GoogleKey => "google-key",
            Kind::GoogleToken => "google-token",
            Kind::AzureKey => "azure-key",
            Kind::GithubToken => "github-token",
            Kind::GitlabToken => "gitlab-token",
            Kind::SlackToken => "slack-token",
            Kind::StripeKey => "stripe-key",
            Kind::AnthropicKey => "anthropic-key",
            Kind::OpenaiKey => "openai-key",
            Kind::NpmToken => "npm-token",
            Kind::PypiToken => "pypi-token",
            Kind::HuggingFaceToken => "hugging-face-token",
            Kind::TelegramToken => "telegram-token",
            Kind::DiscordToken => "discord-token",
            Kind::SendgridKey => "sendgrid-key",
            Kind::TwilioKey => "twilio-key",
            Kind::DigitaloceanToken => "digitalocean-token",
            Kind::VendorToken => "vendor-token",
            Kind::WebhookUrl => "webhook-url",
            Kind::Jwt => "jwt",
            Kind::UrlPassword => "url-password",
            Kind::Authorization => "authorization",
            Kind::Cookie => "cookie",
            Kind::CardNumber => "card-number",
            Kind::BankAccount => "bank-account",
            Kind::SocialSecurityNumber => "social-security-number",
            Kind::PasswordHash => "password-hash",
            Kind::Password => "password",
            Kind::Secret => "secret",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The number of redacted secrets per kind. Nothing else about them is ever reported (B-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Counts(BTreeMap<Kind, usize>);

impl Counts {
    /// True if nothing was redacted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total number of secrets.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Each kind that was found, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, usize)> + '_ {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Adds the counts of another text.
    pub fn merge(&mut self, other: &Counts) {
        for (kind, count) in other.iter() {
            *self.0.entry(kind).or_default() += count;
        }
    }
}

impl FromIterator<Kind> for Counts {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut counts = Self::default();
        for kind in kinds {
            *counts.0.entry(kind).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for Counts {
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
        let mut counts: Counts = [Kind::Jwt, Kind::GithubToken, Kind::GithubToken].into_iter().collect();
        assert_eq!(counts.to_string(), "2 github-token, 1 jwt");
        assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"github-token":2,"jwt":1}"#);
        counts.merge(&[Kind::Jwt].into_iter().collect());
        assert_eq!((counts.total(), counts.is_empty()), (4, false));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(Kind::GithubToken, 2), (Kind::Jwt, 2)]);
        assert_eq!(Counts::default().to_string(), "");
    }

    #[test]
    fn every_kind_is_listed_once_in_order() {
        assert!(Kind::ALL.is_sorted());
        let mut names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::Secret as usize + 1);
    }
}
