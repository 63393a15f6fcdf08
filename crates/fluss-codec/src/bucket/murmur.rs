//! Murmur3 in the two forms that buckets need.
//!
//! Fluss's own form (`MurmurHashUtils`, 0.9.1) starts from 42 and mixes each byte after the last whole word
//! as a word of its own, sign-extended; the standard one starts from 0 and mixes those bytes as one word.

const C1: u32 = 0xcc9e_2d51;
const C2: u32 = 0x1b87_3593;
const FLUSS_SEED: u32 = 42;

/// Hashes bytes in Fluss's form.
pub(super) fn fluss(bytes: &[u8]) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(FLUSS_SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    for byte in tail {
        hash = mix(hash, i32::from(byte.cast_signed()).cast_unsigned());
    }
    finish(hash, bytes.len()).cast_signed()
}

/// Hashes bytes as Guava's `murmur3_32_fixed` does with seed 0.
pub(super) fn standard(bytes: &[u8]) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(0, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    let last = tail.iter().rev().fold(0_u32, |last, byte| last << 8 | u32::from(*byte));
    hash ^= scramble(last);
    finish(hash, bytes.len()).cast_signed()
}

/// Hashes an integer once more and makes it non-negative, as Fluss does before it takes the remainder.
pub(super) fn murmur_int(value: i32) -> i32 {
    let hash = finish(mix(0, value.cast_unsigned()), 4).cast_signed();
    // The lowest number has no positive counterpart; Fluss maps it to 0.
    hash.checked_abs().unwrap_or(0)
}

fn scramble(word: u32) -> u32 {
    word.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2)
}

fn mix(hash: u32, word: u32) -> u32 {
    (hash ^ scramble(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn finish(hash: u32, length: usize) -> u32 {
    // Both forms take the length modulo 2^32.
    let [a, b, c, d, ..] = length.to_le_bytes();
    let mut hash = hash ^ u32::from_le_bytes([a, b, c, d]);
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_java_classes() {
        let vectors = include_str!("../../tests/golden/murmur.tsv");
        let mut count = 0;
        for line in vectors.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [bytes, hash, mixed] = columns[..] else { panic!("{line}") };
            let bytes: Vec<u8> = (0..bytes.len())
                .step_by(2)
                .map(|start| u8::from_str_radix(&bytes[start..start + 2], 16).unwrap())
                .collect();
            assert_eq!(fluss(&bytes), hash.parse::<i32>().unwrap(), "{line}");
            assert_eq!(murmur_int(fluss(&bytes)), mixed.parse::<i32>().unwrap(), "{line}");
            count += 1;
        }
        assert!(count >= 6);
    }

    #[test]
    fn standard_form_matches_published_vectors() {
        // SMHasher's murmur3_32 with seed 0.
        for (text, hash) in
            [("", 0_u32), ("hello", 0x248b_fa47), ("hello, world", 0x149b_bb7f), ("abc", 0xb3dd_93fa)]
        {
            assert_eq!(standard(text.as_bytes()).cast_unsigned(), hash, "{text}");
        }
    }
}
