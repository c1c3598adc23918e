//! Verifies the signatures of webhooks.

use sha2::{Digest, Sha256};

/// The block size of SHA-256, in bytes.
const BLOCK: usize = 64;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// True if `signature` is the HMAC-SHA256 of `body` under `secret` in base64, as Todoist sends it in
/// `X-Todoist-Hmac-SHA256`.
pub fn is_signed(body: &[u8], secret: &str, signature: &str) -> bool {
    is_same(base64(&hmac(secret.as_bytes(), body)).as_bytes(), signature.trim().as_bytes())
}

/// Compares two byte strings in constant time.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Computes HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let pass = |pad: u8, message: &[u8]| -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(block.map(|byte| byte ^ pad));
        hasher.update(message);
        hasher.finalize().into()
    };
    pass(0x5c, &pass(0x36, message))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = part(0) << 16 | part(1) << 8 | part(2);
        for at in 0..4 {
            let index = (group >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
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
            assert_eq!(hex(&hmac(&key, message.as_bytes())), is);
        }
    }

    #[test]
    fn base64_is_padded() {
        for (text, is) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(text.as_bytes()), is);
        }
    }

    #[test]
    fn rev_06_only_the_right_signature_is_one() {
        let body = br#"{"event_name":"item:completed"}"#;
        let right = base64(&hmac(b"secret", body));
        assert!(is_signed(body, "secret", &format!(" {right}\n")));
        assert!(!is_signed(body, "another", &right));
        assert!(!is_signed(b"{}", "secret", &right));
        assert!(!is_signed(body, "secret", &right[1..]));
        assert!(!is_signed(body, "secret", ""));
    }
}
