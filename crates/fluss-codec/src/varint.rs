//! Variable-length integers as Fluss writes them in compacted rows and KV records.
//!
//! The bit pattern goes out seven bits at a time, lowest first, without zig-zag: a negative `i32` takes five
//! bytes and a negative `i64` ten. Source: `VarLengthUtils`, 0.9.1.

use bytes::Bytes;

pub(crate) fn write_i32(value: i32, output: &mut Vec<u8>) {
    write_u32(value.cast_unsigned(), output);
}

pub(crate) fn write_u32(value: u32, output: &mut Vec<u8>) {
    write_u64(u64::from(value), output);
}

pub(crate) fn write_i64(value: i64, output: &mut Vec<u8>) {
    write_u64(value.cast_unsigned(), output);
}

fn write_u64(mut value: u64, output: &mut Vec<u8>) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        output.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    output.push(low);
}

/// Reads at most five bytes; nothing if the input ends or the number does not fit 32 bits.
pub(crate) fn read_i32(input: &mut Bytes) -> Option<i32> {
    let (value, length) = read_u64(input, 5)?;
    let value = u32::try_from(value).ok()?;
    *input = input.slice(length..);
    Some(value.cast_signed())
}

/// Reads at most ten bytes; nothing if the input ends or the number does not fit 64 bits.
pub(crate) fn read_i64(input: &mut Bytes) -> Option<i64> {
    let (value, length) = read_u64(input, 10)?;
    *input = input.slice(length..);
    Some(value.cast_signed())
}

fn read_u64(input: &[u8], longest: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in input.iter().take(longest).enumerate() {
        // The tenth byte may only carry the one bit that is left of 64.
        if index == 9 && *byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_their_bounds() {
        for value in [0, 1, 127, 128, 300, -1, i32::MAX, i32::MIN] {
            let mut bytes = Vec::new();
            write_i32(value, &mut bytes);
            assert_eq!(bytes.len() == 5, value < 0 || value == i32::MAX, "{value}");
            bytes.push(7);
            let mut input = Bytes::from(bytes);
            assert_eq!(read_i32(&mut input), Some(value));
            assert_eq!(&input[..], [7]);
        }
        for value in [0, -1, i64::MAX, i64::MIN, 1 << 35] {
            let mut bytes = Vec::new();
            write_i64(value, &mut bytes);
            assert_eq!(read_i64(&mut Bytes::from(bytes)), Some(value));
        }
    }

    #[test]
    fn numbers_that_are_cut_or_too_large_are_refused() {
        let read32 = |bytes: &'static [u8]| read_i32(&mut Bytes::from_static(bytes));
        assert_eq!(read32(&[]), None);
        assert_eq!(read32(&[0x80]), None);
        assert_eq!(read32(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Some(-1));
        assert_eq!(read32(&[0xff, 0xff, 0xff, 0xff, 0x1f]), None);
        assert_eq!(read32(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), None);
        let read64 = |last: u8| {
            let mut bytes = vec![0xff; 9];
            bytes.push(last);
            read_i64(&mut Bytes::from(bytes))
        };
        assert_eq!(read64(1), Some(-1));
        assert_eq!(read64(2), None);
        assert_eq!(read64(0x80), None);
    }
}
