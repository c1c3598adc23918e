//! Verifies the signatures of webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// True if `signature` is the HMAC-SHA256 of `body` under `secret` in base64, as Todoist sends it in
/// `X-Todoist-Hmac-SHA256`.
pub fn is_signed(body: &[u8], secret: &str, signature: &str) -> bool {
    let (Ok(code), Ok(signature)) = (sign(secret.as_bytes(), body), STANDARD.decode(signature.trim())) else {
        return false;
    };
    code.verify_slice(&signature).is_ok()
}

/// Compares two byte strings in constant time.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

fn sign(key: &[u8], message: &[u8]) -> Result<Hmac<Sha256>, InvalidLength> {
    Ok(Hmac::new_from_slice(key)?.chain_update(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn hmacs_are_those_of_the_standard() {
        // Test cases 1, 2 and 6 of RFC 4231.
        for (key, message, is) in [
            (vec![0x0b; 20], "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&sign(&key, message.as_bytes()).unwrap().finalize().into_bytes()), is);
        }
    }

    #[test]
    fn rev_06_only_the_right_signature_is_one() {
        // Test case 2 of RFC 4231, in padded base64.
        let (secret, body) = ("Jefe", b"what do ya want for nothing?");
        let right = "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=";
        assert!(is_signed(body, secret, right));
        assert!(is_signed(body, secret, &format!(" {right}\n")));
        assert!(!is_signed(body, "another", right));
        assert!(!is_signed(b"{}", secret, right));
        assert!(!is_signed(body, secret, &right[1..]));
        assert!(!is_signed(body, secret, right.trim_end_matches('=')));
        assert!(!is_signed(body, secret, &right.replace("EM=", "EN=")));
        assert!(!is_signed(body, secret, ""));
    }

    #[test]
    fn byte_strings_are_the_same_or_not() {
        assert!(is_same(b"secret", b"secret") && is_same(b"", b""));
        assert!(!is_same(b"secret", b"secres") && !is_same(b"secret", b"secre") && !is_same(b"", b"s"));
    }
}
