//! What a record of a log says has happened to its row.

use std::fmt;

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeType {
    /// A row was appended to a log table.
    Append,
    /// A row was inserted into a primary key table.
    Insert,
    /// A row was updated; this is what it was before.
    UpdateBefore,
    /// A row was updated; this is what it has become.
    UpdateAfter,
    /// A row was deleted; this is what it was.
    Delete,
}

impl ChangeType {
    /// Returns the kind that a byte stands for.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Append,
            1 => Self::Insert,
            2 => Self::UpdateBefore,
            3 => Self::UpdateAfter,
            4 => Self::Delete,
            _ => return None,
        })
    }

    /// Returns the byte that stands for the kind.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Append => 0,
            Self::Insert => 1,
            Self::UpdateBefore => 2,
            Self::UpdateAfter => 3,
            Self::Delete => 4,
        }
    }

    /// Returns the short form that Fluss prints, such as `+I`.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Append => "+A",
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }
}

impl fmt::Display for ChangeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_kinds_turn_into_each_other() {
        let symbols: Vec<_> = (0..=255_u8).filter_map(ChangeType::from_byte).collect();
        assert_eq!(
            symbols.iter().map(|kind| kind.symbol()).collect::<Vec<_>>(),
            ["+A", "+I", "-U", "+U", "-D"]
        );
        assert!(symbols.iter().all(|kind| ChangeType::from_byte(kind.to_byte()) == Some(*kind)));
    }
}
