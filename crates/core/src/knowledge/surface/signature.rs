//! Verifies the signatures of webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// True if `signature` is the HMAC-SHA256 of `body` under `secret` in base64, as Todoist sends it in
/// `X-Todoist-Hmac-SHA256`.
pub fn verify_signature(body: &[u8], secret: &str, signature: &str) -> bool {
    let (Ok(code), Ok(signature)) = (sign(secret.as_bytes(), body), STANDARD.decode(signature.trim())) else {
        return false;
    };
    code.verify_slice(&signature).is_ok()
}

/// Compares two byte strings in constant time.
pub fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
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
        assert!(verify_signature(body, secret, right));
        assert!(verify_signature(body, secret, &format!(" {right}\n")));
        assert!(!verify_signature(body, "another", right));
        assert!(!verify_signature(b"{}", secret, right));
        assert!(!verify_signature(body, secret, &right[1..]));
        assert!(!verify_signature(body, secret, right.trim_end_matches('=')));
        assert!(!verify_signature(body, secret, &right.replace("EM=", "EN=")));
        assert!(!verify_signature(body, secret, ""));
    }

    #[test]
    fn byte_strings_are_the_same_or_not() {
        assert!(constant_time_eq(b"secret", b"secret") && constant_time_eq(b"", b""));
        assert!(
            !constant_time_eq(b"secret", b"secres")
                && !constant_time_eq(b"secret", b"secre")
                && !constant_time_eq(b"", b"s")
        );
    }
}
