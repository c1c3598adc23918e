//! Cues: words that announce a secret in a sentence.

use super::names::{SecretFamily, is_account};
use super::walk::{PrefixTable, prefix_in_any_case};

const IDENTIFIED_BY: &str = "identified by";

/// A password if it follows the name of an account ("the DB pass is"); otherwise it has many meanings.
const PASS: &str = "pass";

/// Cues that begin with a Latin letter, in lower case.
const LATIN: [(&str, SecretFamily); 110] = [
    ("password", SecretFamily::Password),
    ("passphrase", SecretFamily::Password),
    ("passcode", SecretFamily::Password),
    ("pass phrase", SecretFamily::Password),
    ("passwd", SecretFamily::Password),
    ("pwd", SecretFamily::Password),
    ("pw", SecretFamily::Password),
    ("requirepass", SecretFamily::Password),
    ("masterauth", SecretFamily::Password),
    // Behind a word that says whose it is; see `PASS`.
    (PASS, SecretFamily::Password),
    ("pre-shared key", SecretFamily::Password),
    ("pre-shared-key", SecretFamily::Password),
    ("preshared key", SecretFamily::Password),
    ("preshared-key", SecretFamily::Password),
    ("wallet words", SecretFamily::Password),
    ("12 words", SecretFamily::Password),
    ("24 words", SecretFamily::Password),
    (IDENTIFIED_BY, SecretFamily::Password),
    ("recovery phrase", SecretFamily::Password),
    ("seed phrase", SecretFamily::Password),
    ("mnemonic", SecretFamily::Password),
    ("passwort", SecretFamily::Password),
    ("kennwort", SecretFamily::Password),
    ("contraseña", SecretFamily::Password),
    ("contrasen\u{303}a", SecretFamily::Password),
    ("contrasena", SecretFamily::Password),
    ("clave", SecretFamily::Password),
    ("mot de passe", SecretFamily::Password),
    ("mdp", SecretFamily::Password),
    ("senha", SecretFamily::Password),
    ("palavra-passe", SecretFamily::Password),
    ("token", SecretFamily::Token),
    ("api key", SecretFamily::Token),
    ("api-key", SecretFamily::Token),
    ("apikey", SecretFamily::Token),
    ("access key", SecretFamily::Token),
    ("secret key", SecretFamily::Token),
    ("client secret", SecretFamily::Token),
    ("secret", SecretFamily::Token),
    ("api-schlüssel", SecretFamily::Token),
    ("clave de api", SecretFamily::Token),
    ("clave secreta", SecretFamily::Token),
    ("clé api", SecretFamily::Token),
    ("clé d'api", SecretFamily::Token),
    ("clé d’api", SecretFamily::Token),
    ("clé secrète", SecretFamily::Token),
    ("jeton", SecretFamily::Token),
    ("chave de api", SecretFamily::Token),
    ("chave da api", SecretFamily::Token),
    ("chave secreta", SecretFamily::Token),
    ("api-ключ", SecretFamily::Token),
    ("apiキー", SecretFamily::Token),
    ("api_key", SecretFamily::Token),
    ("psk", SecretFamily::Password),
    ("wachtwoord", SecretFamily::Password),
    ("parola d'ordine", SecretFamily::Password),
    ("parola d’ordine", SecretFamily::Password),
    ("parola", SecretFamily::Password),
    ("parolası", SecretFamily::Password),
    ("parolam", SecretFamily::Password),
    ("parolayı", SecretFamily::Password),
    ("hasło", SecretFamily::Password),
    ("hasła", SecretFamily::Password),
    ("hasłem", SecretFamily::Password),
    ("haslo", SecretFamily::Password),
    ("recovery words", SecretFamily::Password),
    ("seed words", SecretFamily::Password),
    ("seed", SecretFamily::Password),
    ("private key", SecretFamily::Token),
    ("master key", SecretFamily::Token),
    ("encryption key", SecretFamily::Token),
    ("signing key", SecretFamily::Token),
    ("aes key", SecretFamily::Token),
    ("hmac key", SecretFamily::Token),
    ("session key", SecretFamily::Token),
    ("shared key", SecretFamily::Token),
    ("deploy key", SecretFamily::Token),
    ("license key", SecretFamily::Token),
    ("account key", SecretFamily::Token),
    ("auth key", SecretFamily::Token),
    ("recovery key", SecretFamily::Token),
    ("setup key", SecretFamily::Token),
    ("totp", SecretFamily::Token),
    ("totp seed", SecretFamily::Token),
    ("2fa seed", SecretFamily::Token),
    ("2fa secret", SecretFamily::Token),
    ("2fa key", SecretFamily::Token),
    ("mfa secret", SecretFamily::Token),
    ("mfa key", SecretFamily::Token),
    ("totp secret", SecretFamily::Token),
    ("totp key", SecretFamily::Token),
    ("otp secret", SecretFamily::Token),
    ("hex key", SecretFamily::Token),
    ("ntlm hash", SecretFamily::Token),
    ("otp seed", SecretFamily::Token),
    ("chiave segreta", SecretFamily::Token),
    ("chiave api", SecretFamily::Token),
    ("sleutel", SecretFamily::Token),
    ("api-sleutel", SecretFamily::Token),
    ("klucz api", SecretFamily::Token),
    ("api anahtarı", SecretFamily::Token),
    ("api 키", SecretFamily::Token),
    ("pin", SecretFamily::Number),
    ("pin code", SecretFamily::Number),
    ("pin-code", SecretFamily::Number),
    ("pincode", SecretFamily::Number),
    ("cvv", SecretFamily::Number),
    ("cvc", SecretFamily::Number),
    ("ssn", SecretFamily::Number),
    ("social security number", SecretFamily::Number),
];

/// Cues that begin with a Latin letter outside of ASCII.
const TURKISH: [(&str, SecretFamily); 8] = [
    ("şifre", SecretFamily::Password),
    ("şifresi", SecretFamily::Password),
    ("şifrem", SecretFamily::Password),
    ("şifremiz", SecretFamily::Password),
    ("şifreniz", SecretFamily::Password),
    ("şifreyi", SecretFamily::Password),
    ("şifresini", SecretFamily::Password),
    ("şifremi", SecretFamily::Password),
];

const CYRILLIC: [(&str, SecretFamily); 12] = [
    ("пароль", SecretFamily::Password),
    ("пароля", SecretFamily::Password),
    ("паролем", SecretFamily::Password),
    ("паролю", SecretFamily::Password),
    ("кодовое слово", SecretFamily::Password),
    ("пин", SecretFamily::Number),
    ("пин-код", SecretFamily::Number),
    ("ключ доступа", SecretFamily::Token),
    ("секретным ключом", SecretFamily::Token),
    ("токен", SecretFamily::Token),
    ("ключ api", SecretFamily::Token),
    ("секретный ключ", SecretFamily::Token),
];

/// Cues of languages without spaces, which may be part of longer words.
const EASTERN: [(&str, SecretFamily); 19] = [
    ("비밀번호", SecretFamily::Password),
    ("비번", SecretFamily::Password),
    ("암호", SecretFamily::Password),
    ("패스워드", SecretFamily::Password),
    ("토큰", SecretFamily::Token),
    ("액세스 키", SecretFamily::Token),
    ("パスワード", SecretFamily::Password),
    ("パスフレーズ", SecretFamily::Password),
    ("暗証番号", SecretFamily::Password),
    ("密码", SecretFamily::Password),
    ("密碼", SecretFamily::Password),
    ("口令", SecretFamily::Password),
    ("トークン", SecretFamily::Token),
    ("アクセスキー", SecretFamily::Token),
    ("シークレット", SecretFamily::Token),
    ("令牌", SecretFamily::Token),
    ("密钥", SecretFamily::Token),
    ("密鑰", SecretFamily::Token),
    ("秘钥", SecretFamily::Token),
];

static OPENINGS: PrefixTable<{ LATIN.len() }> = {
    let mut openings = PrefixTable::empty();
    let mut at = LATIN.len();
    while at > 0 {
        at -= 1;
        openings = openings.with_word(at, LATIN[at].0);
    }
    openings
};

/// True if `c` belongs to a script without spaces, or to its punctuation.
pub(super) fn is_eastern(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}')
}

/// Quick test: true if a cue with an ASCII initial may begin at `at`, by its first three letters.
pub(super) fn may_begin(bytes: &[u8], at: usize) -> bool {
    let next = |nth: usize| bytes.get(at + nth).map_or(0, u8::to_ascii_lowercase);
    bytes[at].is_ascii_alphanumeric() && OPENINGS.may_begin(next(0), next(1), next(2))
}

/// True if the cue is the word "pass" without an account before it: a test result, or a step.
pub(super) fn is_bare_pass(text: &str, at: usize, end: usize) -> bool {
    let before = &text[text.ceil_char_boundary(at.saturating_sub(24))..at];
    let account = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    text[at..end].eq_ignore_ascii_case(PASS) && !is_account(&account)
}

/// The longest cue at `at`, with its end. `first` is the character there; `begins` says if a word begins
/// there.
pub(super) fn cue_at(text: &str, at: usize, first: char, begins: bool) -> Option<(SecretFamily, usize)> {
    let bytes = text.as_bytes();
    let rest = &text[at..];
    let longest = |cues: &mut dyn Iterator<Item = &(&str, SecretFamily)>| {
        let ends = cues.filter_map(|(word, family)| Some((*family, at + prefix_in_any_case(rest, word)?)));
        ends.max_by_key(|(_, end)| *end)
    };
    let (family, end) = match first {
        '1' | '2' | 'A'..='Z' | 'a'..='z' if begins => {
            let second = bytes.get(at + 1)?.to_ascii_lowercase();
            let near = OPENINGS.words_with_pair(bytes[at].to_ascii_lowercase(), second);
            longest(&mut near.map(|number| &LATIN[number]))
        }
        'ş' | 'Ş' if begins => longest(&mut TURKISH.iter()),
        '\u{400}'..='\u{4FF}' if begins => longest(&mut CYRILLIC.iter()),
        // These scripts have no case, so a case-insensitive comparison changes nothing.
        _ if is_eastern(first) => longest(&mut EASTERN.iter()),
        _ => None,
    }?;
    let mut after = text[end..].chars();
    // Excludes `passwords`, `password_hash` and `password-protected`.
    let ended = match after.next() {
        Some(c) if c.is_alphanumeric() => is_eastern(c) || is_eastern(first),
        Some('_') => !after.next().is_some_and(char::is_alphanumeric),
        Some('-') => !after.next().is_some_and(char::is_alphabetic),
        _ => true,
    };
    // Only in SQL: outside of it, things are identified by all sorts of words.
    let sql = prefix_in_any_case(rest, IDENTIFIED_BY).is_none() || text[end..].starts_with(" '");
    (ended && sql).then_some((family, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_in_lower_case() {
        for (cue, _) in LATIN.iter().chain(&TURKISH).chain(&CYRILLIC).chain(&EASTERN) {
            assert_eq!(*cue, cue.to_lowercase());
        }
    }
}
