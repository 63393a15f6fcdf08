//! Ways in which bytes go wrong on a network or in hostile hands.

use proptest::prelude::*;

/// One thing done to some bytes.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// They end early.
    Cut(prop::sample::Index),
    /// One bit is the other way.
    Flip(prop::sample::Index, u8),
    /// One byte is another.
    Set(prop::sample::Index, u8),
    /// Bytes are put in.
    Insert(prop::sample::Index, Vec<u8>),
    /// A part comes twice.
    Repeat(prop::sample::Index, prop::sample::Index),
}

/// Returns one to four kinds of damage.
pub(crate) fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let damage = prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..12))
            .prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(start, length)| Damage::Repeat(start, length)),
    ];
    prop::collection::vec(damage, 1..=4)
}

/// Does damage to some bytes, one after the other.
pub(crate) fn apply(damages: &[Damage], bytes: &mut Vec<u8>) {
    for damage in damages {
        if bytes.is_empty() {
            return;
        }
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Insert(at, inserted) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, inserted.iter().copied());
            }
            Damage::Repeat(start, length) => {
                let start = start.index(bytes.len());
                let end = start + length.index(bytes.len() - start + 1);
                let part = bytes[start..end].to_vec();
                bytes.splice(end..end, part);
            }
        }
    }
}
