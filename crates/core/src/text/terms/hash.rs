//! The hash of a term in the index. It is stored in files, so it never changes.

/// Contains a byte that no text has, so that no eight bytes of text cancel it and everything before them.
const TEXT_SEED: u64 = 0xFF51_AFD7_ED55_8CCD;
const STATE_MULTIPLIER: u64 = 0xC4CE_B9FE_1A85_EC53;
const FINAL_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a term, the same on every machine and in every version.
pub const fn hash(term: &str) -> u64 {
    let bytes = term.as_bytes();
    let mut state = STATE_MULTIPLIER ^ (bytes.len() as u64).wrapping_mul(FINAL_MULTIPLIER);
    let mut at = 0;
    while at + 8 <= bytes.len() {
        let eight = four(bytes, at) | four(bytes, at + 4) << 32;
        state = fold(eight ^ TEXT_SEED, state ^ FINAL_MULTIPLIER);
        at += 8;
    }
    // Read the rest without a loop: the parts may overlap, since the length is known.
    let (left, end) = (bytes.len() - at, bytes.len());
    let tail = match left {
        0 => 0,
        1..=3 => bytes[at] as u64 | (bytes[at + left / 2] as u64) << 8 | (bytes[end - 1] as u64) << 16,
        _ => four(bytes, at) | four(bytes, end - 4) << 32,
    };
    fold(fold(tail ^ TEXT_SEED, state ^ FINAL_MULTIPLIER) ^ STATE_MULTIPLIER, FINAL_MULTIPLIER)
}

const fn four(bytes: &[u8], at: usize) -> u64 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as u64
}

/// Both halves of the product, so that every bit of the result depends on every bit of both factors.
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sto_13_a_hash_on_disk_means_the_same_term_for_ever() {
        let golden = [
            ("", 0xB702_2083_714E_5B51),
            ("a", 0x8F08_472B_A746_2265),
            ("rekindle", 0x5FA1_8CFF_6DBF_EE18),
            ("postgresql", 0x7CA7_CA9B_7636_18AA),
            ("設定", 0x0BDE_6320_4370_0235),
            ("a-term-of-more-than-sixteen-bytes", 0x6356_85DF_8222_B4F6),
        ];
        for (term, number) in golden {
            assert_eq!(hash(term), number, "{term}");
        }
    }

    #[test]
    fn no_two_short_terms_meet() {
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut seen = HashSet::new();
        for a in letters {
            for b in letters {
                for c in letters {
                    for term in [vec![*a, *b, *c], vec![*a, *b, *c, b'e', b'r', b'i', b'n', b'g', *a]] {
                        assert!(seen.insert(hash(std::str::from_utf8(&term).unwrap())));
                    }
                }
            }
        }
    }

    #[test]
    fn low_bits_alone_spread_terms_evenly() {
        let mut places = [0u32; 1024];
        for number in 0..102_400 {
            places[(hash(&format!("term{number}")) % 1024) as usize] += 1;
        }
        assert!(places.iter().all(|count| (40..=180).contains(count)), "{places:?}");
    }

    #[test]
    fn zero_bytes_count() {
        assert_ne!(hash("a"), hash("a\0"));
        assert_ne!(hash(""), hash("\0"));
    }
}
