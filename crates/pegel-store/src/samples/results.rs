//! The results of monitors in columns.
//!
//! | column | how |
//! | --- | --- |
//! | format | one byte, 1 |
//! | count | LEB128 |
//! | times in ms | the first as zigzag LEB128, then how much each step differs from the one before it |
//! | outcomes | runs: outcome byte (0 ok, 1 bad, 2 unknown) and LEB128 length |
//! | durations in µs | 0 for none, else one more, as zigzag difference from the one before |
//!
//! A probe at a fixed distance with a steady answer takes about three bytes.

use jiff::Timestamp;
use pegel_core::monitor::verdict::Outcome;

use crate::error::Error;

/// The most results of one chunk.
pub const MAX_RESULTS: usize = 10_000;

const FORMAT: u8 = 1;

/// One result of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorResult {
    /// When it was taken, to the millisecond.
    pub at: Timestamp,
    /// What it says.
    pub outcome: Outcome,
    /// How long the probe took, up to about a century; `None` if nothing was measured.
    pub duration_us: Option<u64>,
}

/// Writes results as columns.
///
/// # Errors
/// `too_large` for more than 10,000.
pub fn encode(results: &[MonitorResult]) -> Result<Vec<u8>, Error> {
    if results.len() > MAX_RESULTS {
        return Err(Error::TooLarge { what: "the count of results in a chunk", limit: MAX_RESULTS });
    }
    let mut data = vec![FORMAT];
    put(&mut data, length(results));
    let (mut last, mut step) = (0, 0);
    for result in results {
        let at = result.at.as_millisecond();
        let next_step = at.wrapping_sub(last);
        put(&mut data, zigzag(next_step.wrapping_sub(step)));
        (last, step) = (at, next_step);
    }
    for run in results.chunk_by(|one, other| one.outcome == other.outcome) {
        let Some(first) = run.first() else { continue };
        data.push(outcome_byte(first.outcome));
        put(&mut data, length(run));
    }
    let mut last = 0;
    for result in results {
        let duration =
            result.duration_us.map_or(0, |us| i64::try_from(us).unwrap_or(i64::MAX).min(i64::MAX - 1) + 1);
        put(&mut data, zigzag(duration.wrapping_sub(last)));
        last = duration;
    }
    Ok(data)
}

/// Reads results from columns.
///
/// # Errors
/// `corrupt_row`: they are not what [`encode`] writes.
pub fn decode(data: &[u8]) -> Result<Vec<MonitorResult>, Error> {
    let mut rest = data;
    if byte(&mut rest)? != FORMAT {
        return Err(corrupt("an unknown format"));
    }
    let count = usize::try_from(take(&mut rest)?).map_err(|_| corrupt("too many"))?;
    if count > MAX_RESULTS {
        return Err(corrupt("too many"));
    }
    let mut times = Vec::with_capacity(count);
    let (mut last, mut step) = (0_i64, 0_i64);
    for _ in 0..count {
        step = step.wrapping_add(unzigzag(take(&mut rest)?));
        last = last.wrapping_add(step);
        times.push(Timestamp::from_millisecond(last).map_err(|_| corrupt("not a time"))?);
    }
    let mut outcomes = Vec::with_capacity(count);
    while outcomes.len() < count {
        let outcome = outcome_of(byte(&mut rest)?)?;
        let length = usize::try_from(take(&mut rest)?).map_err(|_| corrupt("a run without end"))?;
        if length == 0 || length > count - outcomes.len() {
            return Err(corrupt("a run of the wrong length"));
        }
        outcomes.extend(std::iter::repeat_n(outcome, length));
    }
    let mut results = Vec::with_capacity(count);
    let mut duration = 0_i64;
    for (at, outcome) in times.into_iter().zip(outcomes) {
        duration = duration.wrapping_add(unzigzag(take(&mut rest)?));
        let duration_us = match u64::try_from(duration) {
            Ok(0) => None,
            Ok(written) => Some(written - 1),
            Err(_) => return Err(corrupt("a negative duration")),
        };
        results.push(MonitorResult { at, outcome, duration_us });
    }
    if rest.is_empty() { Ok(results) } else { Err(corrupt("bytes at the end")) }
}

fn length(results: &[MonitorResult]) -> u64 {
    u64::try_from(results.len()).unwrap_or(u64::MAX)
}

fn outcome_byte(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Bad => 1,
        Outcome::Unknown => 2,
    }
}

fn outcome_of(byte: u8) -> Result<Outcome, Error> {
    match byte {
        0 => Ok(Outcome::Ok),
        1 => Ok(Outcome::Bad),
        2 => Ok(Outcome::Unknown),
        _ => Err(corrupt("no outcome")),
    }
}

fn corrupt(reason: &'static str) -> Error {
    Error::corrupt("data", reason)
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn put(data: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            data.push(low & 0x7f);
            return;
        }
        data.push(low | 0x80);
    }
}

fn take(rest: &mut &[u8]) -> Result<u64, Error> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte(rest)?;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            break;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(corrupt("a number without end"))
}

fn byte(rest: &mut &[u8]) -> Result<u8, Error> {
    let (first, after) = rest.split_first().ok_or_else(|| corrupt("cut off"))?;
    *rest = after;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn result(ms: i64, outcome: Outcome, duration_us: Option<u64>) -> MonitorResult {
        MonitorResult { at: Timestamp::from_millisecond(ms).unwrap(), outcome, duration_us }
    }

    #[test]
    fn five_hundred_monitors_for_ninety_days_fit_into_a_gigabyte() {
        // A day of a probe every 30 seconds whose answers take 2 to 10 ms and start up to 20 ms late.
        let day: Vec<MonitorResult> = (0..2_880_i64)
            .map(|number| {
                let jitter = (number * 7_919) % 20;
                let duration = 2_000 + (number * 104_729) % 8_000;
                result(
                    1_767_225_600_000 + number * 30_000 + jitter,
                    Outcome::Ok,
                    Some(duration.cast_unsigned()),
                )
            })
            .collect();
        let bytes = encode(&day).unwrap().len();
        assert!(bytes < 4 * day.len(), "{bytes} bytes for {} results", day.len());
        assert!(bytes * 90 * 500 < 600_000_000, "{bytes} bytes a day");
    }

    #[test]
    fn what_was_never_written_is_refused() {
        for bad in [
            &[][..],
            &[2, 0],
            &[1],
            &[1, 1],
            &[1, 0, 0],
            &[1, 1, 0, 3, 1, 0],
            &[1, 1, 0, 0, 2, 0],
            &[1, 0x80],
        ] {
            assert!(decode(bad).is_err(), "{bad:?}");
        }
        assert!(decode(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
        assert!(encode(&vec![result(0, Outcome::Ok, None); MAX_RESULTS + 1]).is_err());
        assert_eq!(decode(&encode(&[]).unwrap()).unwrap(), []);
    }

    fn results() -> impl Strategy<Value = Vec<MonitorResult>> {
        let outcome = prop_oneof![Just(Outcome::Ok), Just(Outcome::Bad), Just(Outcome::Unknown)];
        let ms = prop_oneof![
            Just(-377_705_023_201_000_i64),
            Just(253_402_207_199_999),
            -1_000..4_000_000_000_000_i64
        ];
        let duration =
            proptest::option::of(prop_oneof![0u64..100_000_000, Just(i64::MAX.cast_unsigned() - 1)]);
        let one = (ms, outcome, duration).prop_map(|(ms, outcome, duration)| result(ms, outcome, duration));
        proptest::collection::vec(one, 0..60)
    }

    proptest! {
        #[test]
        fn results_read_back_exactly(results in results()) {
            prop_assert_eq!(decode(&encode(&results).unwrap()).unwrap(), results);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(data in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&data);
        }
    }
}
