//! Content hashes: recognise a file that was read before (B-09) and a text that was forgotten.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A fast, non-cryptographic checksum that detects damage: truncated, zeroed or flipped bytes. Do not use it
/// for secrets or to identify a text among many. Its value is part of file formats and never changes.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = ByteChecksum::default();
    sum.add(bytes);
    sum.sum()
}

/// [`checksum`] for bytes that arrive in pieces.
#[derive(Clone, Debug)]
pub struct ByteChecksum {
    lanes: [u64; 4],
    /// Bytes that do not fill a round of the lanes yet.
    pending_bytes: [u8; 32],
    /// The number of bytes added.
    length: u64,
}

impl Default for ByteChecksum {
    fn default() -> Self {
        Self { lanes: [1, 2, 3, 4], pending_bytes: [0; 32], length: 0 }
    }
}

impl ByteChecksum {
    // Every step is invertible, so no single changed word goes unnoticed. Four lanes keep the multiplier
    // busy.
    fn mix_word(sum: u64, word: u64) -> u64 {
        const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
        (sum ^ word).wrapping_mul(MULTIPLIER).rotate_left(29)
    }

    fn round(lanes: &mut [u64; 4], chunk: &[u8; 32]) {
        for (lane, word) in lanes.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *lane = Self::mix_word(*lane, u64::from_le_bytes(*word));
        }
    }

    /// Appends bytes to the input.
    pub fn add(&mut self, mut bytes: &[u8]) {
        let held = (self.length % 32) as usize;
        self.length += bytes.len() as u64;
        if held > 0 {
            let (now, later) = bytes.split_at(bytes.len().min(32 - held));
            self.pending_bytes[held..held + now.len()].copy_from_slice(now);
            if held + now.len() < 32 {
                return;
            }
            Self::round(&mut self.lanes, &self.pending_bytes);
            bytes = later;
        }
        let (chunks, rest) = bytes.as_chunks::<32>();
        let mut lanes = self.lanes;
        chunks.iter().for_each(|chunk| Self::round(&mut lanes, chunk));
        self.lanes = lanes;
        self.pending_bytes[..rest.len()].copy_from_slice(rest);
    }

    /// The checksum of all bytes added so far.
    pub fn sum(&self) -> u64 {
        let mut sum = self.lanes.into_iter().fold(self.length, Self::mix_word);
        for part in self.pending_bytes[..(self.length % 32) as usize].chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            sum = Self::mix_word(sum, u64::from_le_bytes(word));
        }
        Self::mix_word(sum, sum >> 32)
    }
}

/// A SHA-256 hash, displayed as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of several parts, each preceded by its length so that no two lists of parts look alike.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The first `digits` hex digits, for use as a short name.
    pub fn short_hex(&self, digits: usize) -> String {
        let mut hex = self.to_string();
        hex.truncate(digits);
        hex
    }

    /// The raw 32 bytes.
    pub fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Wraps a hash computed earlier.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn from_hex(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// An incremental [`ContentHash`], for bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct ContentHasher(Sha256);

impl ContentHasher {
    /// Appends bytes to the input.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes added so far.
    pub fn current(&self) -> ContentHash {
        ContentHash(self.0.clone().finalize().into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.short_hex(12))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("a hash has 64 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_read_back_from_json() {
        let hash = ContentHash::of_bytes(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&json).unwrap(), hash);
        assert!(serde_json::from_str::<ContentHash>("\"ab\"").is_err());
    }

    #[test]
    fn a_checksum_is_part_of_files_and_never_changes() {
        assert_eq!(checksum(b""), 3_662_018_690_550_405_040);
        assert_eq!(checksum(&[7; 100]), 5636321163431913241);
        let bytes: Vec<u8> = (0..200).collect();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert_ne!(checksum(&other), checksum(&bytes));
            }
            assert_ne!(checksum(&bytes[..at]), checksum(&bytes));
        }
    }

    #[test]
    fn a_checksum_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..255).collect();
        for first in 0..100 {
            for second in first..150 {
                let mut sum = ByteChecksum::default();
                [&bytes[..first], &bytes[first..second], &bytes[second..]]
                    .iter()
                    .for_each(|piece| sum.add(piece));
                assert_eq!(sum.sum(), checksum(&bytes), "{first} {second}");
            }
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(ContentHash::of_parts(&[b"ab", b"c"]), ContentHash::of_parts(&[b"a", b"bc"]));
    }
}
