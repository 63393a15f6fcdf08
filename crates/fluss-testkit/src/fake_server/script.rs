//! What a server does instead of answering properly.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fluss_codec::api_key::ApiKey;
use prost::Message;

/// One way to misbehave. A script acts on the answer that the request would have had.
#[derive(Clone, Debug)]
pub enum Script {
    /// Answers properly; useful with a delay or to let some requests pass.
    Answer,
    /// Never answers; the requests behind it are served.
    NeverAnswer,
    /// Answers after a time; the requests behind it on the connection wait, as with a busy worker.
    Delay(Duration),
    /// Answers after a time; the requests behind it are answered meanwhile.
    LateAnswer(Duration),
    /// Answers when the test calls `release`; the requests behind it are answered meanwhile.
    Hold,
    /// Answers after the next answer on the connection.
    Reorder,
    /// Closes the connection instead of answering.
    Close,
    /// Resets the connection instead of answering.
    Reset,
    /// Sends the first bytes of the answer, its length field included, and closes the connection.
    CloseAfterBytes(usize),
    /// Flips bits of the answer.
    Corrupt(Bits),
    /// Sends only the first bytes of the answer, its length field included.
    Truncate {
        /// Bytes that are sent.
        keep_bytes: usize,
        /// Whether the length field tells how few they are; otherwise it stays as it was, and what is sent
        /// next falls into the gap.
        true_length: bool,
    },
    /// Sends these bytes, which need be no frame.
    RawBytes(Bytes),
    /// Sends a well-formed success answer with this body.
    Body(Bytes),
    /// Answers with another request id.
    WrongRequestId(i32),
    /// Answers twice.
    DuplicateAnswer,
    /// Puts another number in the length field.
    Length(i32),
    /// Answers with an error for the whole request.
    ErrorFrame {
        /// Error code.
        code: i32,
        /// Message; absent stands for the default text of the code.
        message: Option<String>,
    },
    /// Sends a server failure and closes the connection.
    ServerFailure {
        /// Error code.
        code: i32,
        /// Message.
        message: Option<String>,
    },
    /// Answers with an error for buckets; only `LIST_OFFSETS` and `GET_TABLE_STATS` have such.
    BucketError {
        /// Error code.
        code: i32,
        /// Numbers of the buckets concerned; empty for all.
        buckets: Vec<i32>,
    },
    /// Sends the answer byte by byte with this pause between two.
    TrickleBytes(Duration),
}

impl Script {
    /// Answers with an error for the whole request.
    pub fn error(code: i32, message: &str) -> Self {
        Self::ErrorFrame { code, message: Some(message.to_owned()) }
    }

    /// Answers with an error that bears no message.
    pub fn bare_error(code: i32) -> Self {
        Self::ErrorFrame { code, message: None }
    }

    /// Answers with an error for every bucket.
    pub fn bucket_error(code: i32) -> Self {
        Self::BucketError { code, buckets: Vec::new() }
    }

    /// Answers with this message.
    pub fn message(message: &impl Message) -> Self {
        Self::Body(Bytes::from(message.encode_to_vec()))
    }

    /// Announces a frame of 1 GiB.
    pub fn oversized() -> Self {
        Self::Length(1 << 30)
    }

    /// Announces a frame of −1 byte.
    pub fn negative_length() -> Self {
        Self::Length(-1)
    }

    /// Limits the script to so many requests; the next rule or proper answers follow.
    pub fn times(self, count: u32) -> Rule {
        Rule::from(self).times(count)
    }

    /// Lets so many requests pass before the script begins.
    pub fn after(self, count: u32) -> Rule {
        Rule::from(self).after(count)
    }

    /// Puts a pause before the script; the requests behind it wait.
    pub fn after_delay(self, delay: Duration) -> Rule {
        Rule::from(self).after_delay(delay)
    }
}

/// Bits to flip in a frame, counted from its first byte (of the length field), highest bit of a byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bits {
    /// The bits at these positions; those beyond the frame are ignored.
    At(Vec<usize>),
    /// Bits chosen by a seed; each answer under the same rule has others.
    Random {
        /// Seed.
        seed: u64,
        /// How many.
        count: usize,
        /// Bytes at the front that stay whole: 4 spares the length, 9 the whole header of a response.
        spare_bytes: usize,
    },
}

impl Bits {
    /// Flips the bits in a frame; `nth` tells apart the answers under one rule.
    pub(super) fn flip(&self, frame: &Bytes, nth: u64) -> Bytes {
        let mut bytes = BytesMut::from(&frame[..]);
        match self {
            Self::At(positions) => {
                for position in positions {
                    flip_bit(&mut bytes, *position);
                }
            }
            Self::Random { seed, count, spare_bytes } => {
                let span = bytes.len().saturating_sub(*spare_bytes) * 8;
                let mut state = SplitMix(seed.wrapping_add(nth.wrapping_mul(0x9e37_79b9)));
                for _ in 0..*count {
                    let offset = state.below(span);
                    flip_bit(&mut bytes, spare_bytes * 8 + offset);
                }
            }
        }
        bytes.freeze()
    }
}

fn flip_bit(bytes: &mut [u8], position: usize) {
    if let Some(byte) = bytes.get_mut(position / 8) {
        *byte ^= 0x80_u8 >> (position % 8);
    }
}

/// Small generator of repeatable numbers (SplitMix64).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if that is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(self.next().checked_rem(bound).unwrap_or(0)).unwrap_or(0)
    }
}

/// A script with the requests it applies to.
#[derive(Clone, Debug)]
pub struct Rule {
    script: Script,
    delay: Duration,
    skip: u32,
    remaining: Option<u32>,
    used: u64,
}

impl From<Script> for Rule {
    fn from(script: Script) -> Self {
        Self { script, delay: Duration::ZERO, skip: 0, remaining: None, used: 0 }
    }
}

impl Rule {
    /// Limits the rule to so many requests.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.remaining = Some(count);
        self
    }

    /// Lets so many requests pass before the rule begins.
    #[must_use]
    pub fn after(mut self, count: u32) -> Self {
        self.skip = count;
        self
    }

    /// Puts a pause before the script; the requests behind it wait.
    #[must_use]
    pub fn after_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

/// What is to be done with one request.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) script: Script,
    pub(super) delay: Duration,
    /// How many requests the rule took before.
    pub(super) nth: u64,
}

/// The rules of one server.
#[derive(Debug, Default)]
pub(super) struct ScriptBook {
    by_key: HashMap<ApiKey, VecDeque<Rule>>,
    for_all: VecDeque<Rule>,
}

impl ScriptBook {
    /// Replaces the rules of a key.
    pub(super) fn set(&mut self, key: ApiKey, rule: Rule) {
        self.by_key.insert(key, VecDeque::from([rule]));
    }

    /// Adds a rule that follows when the ones before are used up.
    pub(super) fn then(&mut self, key: ApiKey, rule: Rule) {
        self.by_key.entry(key).or_default().push_back(rule);
    }

    /// Replaces the rules for requests that have none of their own.
    pub(super) fn set_for_all(&mut self, rule: Rule) {
        self.for_all = VecDeque::from([rule]);
    }

    /// Removes the rules of a key.
    pub(super) fn clear(&mut self, key: ApiKey) {
        self.by_key.remove(&key);
    }

    /// Removes all rules.
    pub(super) fn clear_all(&mut self) {
        *self = Self::default();
    }

    /// Takes what is to be done with a request, if anything.
    pub(super) fn take(&mut self, key: Option<ApiKey>) -> Option<Act> {
        let own = key.and_then(|key| self.by_key.get_mut(&key)).and_then(take);
        own.or_else(|| take(&mut self.for_all))
    }
}

/// Takes from the first rule that is not used up. A rule that lets a request pass decides on it too.
fn take(rules: &mut VecDeque<Rule>) -> Option<Act> {
    while rules.front().is_some_and(|rule| rule.remaining == Some(0)) {
        rules.pop_front();
    }
    let rule = rules.front_mut()?;
    if rule.skip > 0 {
        rule.skip -= 1;
        return Some(Act { script: Script::Answer, delay: Duration::ZERO, nth: 0 });
    }
    rule.remaining = rule.remaining.map(|remaining| remaining - 1);
    rule.used += 1;
    Some(Act { script: rule.script.clone(), delay: rule.delay, nth: rule.used - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(book: &mut ScriptBook, key: ApiKey, count: usize) -> Vec<&'static str> {
        (0..count)
            .map(|_| match book.take(Some(key)).map(|act| act.script) {
                None => "none",
                Some(Script::Answer) => "answer",
                Some(Script::Close) => "close",
                Some(Script::NeverAnswer) => "never",
                Some(_) => "other",
            })
            .collect()
    }

    #[test]
    fn rules_follow_each_other_and_end() {
        let mut book = ScriptBook::default();
        book.set(ApiKey::ListTables, Script::Close.after(1).times(2));
        book.then(ApiKey::ListTables, Script::NeverAnswer.times(1));
        assert_eq!(names(&mut book, ApiKey::GetTableInfo, 1), ["none"]);
        assert_eq!(names(&mut book, ApiKey::ListTables, 5), ["answer", "close", "close", "never", "none"]);
    }

    #[test]
    fn a_rule_of_the_key_goes_before_the_one_for_all() {
        let mut book = ScriptBook::default();
        book.set_for_all(Script::Close.into());
        book.set(ApiKey::ListTables, Script::NeverAnswer.times(1));
        assert_eq!(names(&mut book, ApiKey::ListTables, 2), ["never", "close"]);
        assert_eq!(names(&mut book, ApiKey::GetTableInfo, 1), ["close"]);
        book.clear_all();
        assert_eq!(names(&mut book, ApiKey::GetTableInfo, 1), ["none"]);
    }

    #[test]
    fn bits_flip_where_told_and_nowhere_else() {
        let frame = Bytes::from_static(&[0; 16]);
        assert_eq!(Bits::At(vec![0, 15, 999]).flip(&frame, 0)[..2], [0x80, 0x01]);
        let random = Bits::Random { seed: 7, count: 5, spare_bytes: 9 };
        let (first, second) = (random.flip(&frame, 0), random.flip(&frame, 1));
        assert_eq!(first, random.flip(&frame, 0));
        assert_ne!(first, second);
        assert!(first[..9].iter().all(|byte| *byte == 0) && first[9..].iter().any(|byte| *byte != 0));
        assert_eq!(Bits::Random { seed: 7, count: 5, spare_bytes: 16 }.flip(&frame, 0), frame);
    }
}
