//! Cues: words that announce a secret in a sentence.

use super::names::{Family, is_account};
use super::walk::{Openings, prefix_in_any_case};

const IDENTIFIED_BY: &str = "identified by";

/// A password if it follows the name of an account ("the DB pass is"); otherwise it has many meanings.
const PASS: &str = "pass";

/// Cues that begin with a Latin letter, in lower case.
const LATIN: [(&str, Family); 110] = [
    ("password", Family::Password),
    ("passphrase", Family::Password),
    ("passcode", Family::Password),
    ("pass phrase", Family::Password),
    ("passwd", Family::Password),
    ("pwd", Family::Password),
    ("pw", Family::Password),
    ("requirepass", Family::Password),
    ("masterauth", Family::Password),
    // Behind a word that says whose it is; see `PASS`.
    (PASS, Family::Password),
    ("pre-shared key", Family::Password),
    ("pre-shared-key", Family::Password),
    ("preshared key", Family::Password),
    ("preshared-key", Family::Password),
    ("wallet words", Family::Password),
    ("12 words", Family::Password),
    ("24 words", Family::Password),
    (IDENTIFIED_BY, Family::Password),
    ("recovery phrase", Family::Password),
    ("seed phrase", Family::Password),
    ("mnemonic", Family::Password),
    ("passwort", Family::Password),
    ("kennwort", Family::Password),
    ("contraseña", Family::Password),
    ("contrasen\u{303}a", Family::Password),
    ("contrasena", Family::Password),
    ("clave", Family::Password),
    ("mot de passe", Family::Password),
    ("mdp", Family::Password),
    ("senha", Family::Password),
    ("palavra-passe", Family::Password),
    ("token", Family::Token),
    ("api key", Family::Token),
    ("api-key", Family::Token),
    ("apikey", Family::Token),
    ("access key", Family::Token),
    ("secret key", Family::Token),
    ("client secret", Family::Token),
    ("secret", Family::Token),
    ("api-schlüssel", Family::Token),
    ("clave de api", Family::Token),
    ("clave secreta", Family::Token),
    ("clé api", Family::Token),
    ("clé d'api", Family::Token),
    ("clé d’api", Family::Token),
    ("clé secrète", Family::Token),
    ("jeton", Family::Token),
    ("chave de api", Family::Token),
    ("chave da api", Family::Token),
    ("chave secreta", Family::Token),
    ("api-ключ", Family::Token),
    ("apiキー", Family::Token),
    ("api_key", Family::Token),
    ("psk", Family::Password),
    ("wachtwoord", Family::Password),
    ("parola d'ordine", Family::Password),
    ("parola d’ordine", Family::Password),
    ("parola", Family::Password),
    ("parolası", Family::Password),
    ("parolam", Family::Password),
    ("parolayı", Family::Password),
    ("hasło", Family::Password),
    ("hasła", Family::Password),
    ("hasłem", Family::Password),
    ("haslo", Family::Password),
    ("recovery words", Family::Password),
    ("seed words", Family::Password),
    ("seed", Family::Password),
    ("private key", Family::Token),
    ("master key", Family::Token),
    ("encryption key", Family::Token),
    ("signing key", Family::Token),
    ("aes key", Family::Token),
    ("hmac key", Family::Token),
    ("session key", Family::Token),
    ("shared key", Family::Token),
    ("deploy key", Family::Token),
    ("license key", Family::Token),
    ("account key", Family::Token),
    ("auth key", Family::Token),
    ("recovery key", Family::Token),
    ("setup key", Family::Token),
    ("totp", Family::Token),
    ("totp seed", Family::Token),
    ("2fa seed", Family::Token),
    ("2fa secret", Family::Token),
    ("2fa key", Family::Token),
    ("mfa secret", Family::Token),
    ("mfa key", Family::Token),
    ("totp secret", Family::Token),
    ("totp key", Family::Token),
    ("otp secret", Family::Token),
    ("hex key", Family::Token),
    ("ntlm hash", Family::Token),
    ("otp seed", Family::Token),
    ("chiave segreta", Family::Token),
    ("chiave api", Family::Token),
    ("sleutel", Family::Token),
    ("api-sleutel", Family::Token),
    ("klucz api", Family::Token),
    ("api anahtarı", Family::Token),
    ("api 키", Family::Token),
    ("pin", Family::Number),
    ("pin code", Family::Number),
    ("pin-code", Family::Number),
    ("pincode", Family::Number),
    ("cvv", Family::Number),
    ("cvc", Family::Number),
    ("ssn", Family::Number),
    ("social security number", Family::Number),
];

/// Cues that begin with a Latin letter outside of ASCII.
const TURKISH: [(&str, Family); 8] = [
    ("şifre", Family::Password),
    ("şifresi", Family::Password),
    ("şifrem", Family::Password),
    ("şifremiz", Family::Password),
    ("şifreniz", Family::Password),
    ("şifreyi", Family::Password),
    ("şifresini", Family::Password),
    ("şifremi", Family::Password),
];

const CYRILLIC: [(&str, Family); 12] = [
    ("пароль", Family::Password),
    ("пароля", Family::Password),
    ("паролем", Family::Password),
    ("паролю", Family::Password),
    ("кодовое слово", Family::Password),
    ("пин", Family::Number),
    ("пин-код", Family::Number),
    ("ключ доступа", Family::Token),
    ("секретным ключом", Family::Token),
    ("токен", Family::Token),
    ("ключ api", Family::Token),
    ("секретный ключ", Family::Token),
];

/// Cues of languages without spaces, which may be part of longer words.
const EASTERN: [(&str, Family); 19] = [
    ("비밀번호", Family::Password),
    ("비번", Family::Password),
    ("암호", Family::Password),
    ("패스워드", Family::Password),
    ("토큰", Family::Token),
    ("액세스 키", Family::Token),
    ("パスワード", Family::Password),
    ("パスフレーズ", Family::Password),
    ("暗証番号", Family::Password),
    ("密码", Family::Password),
    ("密碼", Family::Password),
    ("口令", Family::Password),
    ("トークン", Family::Token),
    ("アクセスキー", Family::Token),
    ("シークレット", Family::Token),
    ("令牌", Family::Token),
    ("密钥", Family::Token),
    ("密鑰", Family::Token),
    ("秘钥", Family::Token),
];

static OPENINGS: Openings<{ LATIN.len() }> = {
    let mut openings = Openings::none();
    let mut at = LATIN.len();
    while at > 0 {
        at -= 1;
        openings = openings.with(at, LATIN[at].0);
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
pub(super) fn cue_at(text: &str, at: usize, first: char, begins: bool) -> Option<(Family, usize)> {
    let bytes = text.as_bytes();
    let rest = &text[at..];
    let longest = |cues: &mut dyn Iterator<Item = &(&str, Family)>| {
        let ends = cues.filter_map(|(word, family)| Some((*family, at + prefix_in_any_case(rest, word)?)));
        ends.max_by_key(|(_, end)| *end)
    };
    let (family, end) = match first {
        '1' | '2' | 'A'..='Z' | 'a'..='z' if begins => {
            let second = bytes.get(at + 1)?.to_ascii_lowercase();
            let near = OPENINGS.with_pair(bytes[at].to_ascii_lowercase(), second);
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
