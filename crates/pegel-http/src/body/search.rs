//! Finding a text in a stream, in the memory of the text (Knuth, Morris and Pratt).

/// A text that is looked for, and how far the stream agrees with it.
#[derive(Debug, Clone)]
pub(super) struct Search {
    needle: Vec<u8>,
    /// For each length that agrees, the longest shorter one that does too.
    shorter: Vec<usize>,
    agreed: usize,
    is_found: bool,
}

impl Search {
    pub(super) fn new(needle: &[u8]) -> Self {
        let mut shorter = vec![0; needle.len()];
        let mut length = 0;
        for (index, byte) in needle.iter().enumerate().skip(1) {
            length = grown(needle, &shorter, length, *byte);
            if let Some(entry) = shorter.get_mut(index) {
                *entry = length;
            }
        }
        Self { needle: needle.to_vec(), shorter, agreed: 0, is_found: needle.is_empty() }
    }

    pub(super) fn is_found(&self) -> bool {
        self.is_found
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_found {
                return;
            }
            self.agreed = grown(&self.needle, &self.shorter, self.agreed, *byte);
            self.is_found = self.agreed == self.needle.len();
        }
    }
}

/// How much of the needle agrees after one more byte.
fn grown(needle: &[u8], shorter: &[usize], mut agreed: usize, byte: u8) -> usize {
    loop {
        if needle.get(agreed) == Some(&byte) {
            return agreed + 1;
        }
        if agreed == 0 {
            return 0;
        }
        agreed = shorter.get(agreed - 1).copied().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_looking_at_each_place_finds_however_the_stream_is_cut(
            needle in "[ab]{1,6}",
            hay in "[ab]{0,40}",
            cuts in proptest::collection::vec(0usize..6, 0..40),
        ) {
            let mut search = Search::new(needle.as_bytes());
            let mut rest = hay.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                search.push(piece);
                rest = after;
            }
            search.push(rest);
            prop_assert_eq!(search.is_found(), hay.contains(&needle));
        }
    }
}
