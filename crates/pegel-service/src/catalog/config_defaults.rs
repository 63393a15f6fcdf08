//! What a server of Fluss 0.9.1 does where nothing is configured, and whether a value says anything else.
//!
//! Source: `org.apache.fluss.config.ConfigOptions`, 0.9.1; how values are written: `TimeUtils`, `MemorySize`.

/// The table: key, kind and value of each option, sorted by key.
const TABLE: &str = include_str!("config_defaults.tsv");

/// How a value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Duration,
    Size,
    Number,
    List,
    /// One of a few words, in any case.
    Word,
    /// To the letter.
    Text,
    /// Nothing is set by default.
    None,
}

/// What is known of an option's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The default; `None` where nothing is set by default.
    pub(super) default_value: Option<String>,
    /// Whether the value means something else.
    pub(super) differs: bool,
}

/// Compares a value with its option's default; `None` for a key that Fluss 0.9.1 does not know.
pub(super) fn compare(key: &str, value: Option<&str>) -> Option<Comparison> {
    let (kind, default) = find(key)?;
    let default_value = (kind != Kind::None).then(|| default.to_owned());
    let differs = match (value, &default_value) {
        (None, None) => false,
        (Some(value), Some(default)) => !means_the_same(kind, value, default),
        // A value that is not set is the default.
        (None, Some(_)) => false,
        (Some(_), None) => true,
    };
    Some(Comparison { default_value, differs })
}

fn find(key: &str) -> Option<(Kind, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let mut fields = lines.map(|line| line.splitn(3, '\t'));
    fields.find_map(|mut fields| {
        if fields.next()? != key {
            return None;
        }
        let kind = match fields.next()? {
            "duration" => Kind::Duration,
            "size" => Kind::Size,
            "number" => Kind::Number,
            "list" => Kind::List,
            "word" => Kind::Word,
            "none" => Kind::None,
            _ => Kind::Text,
        };
        Some((kind, fields.next()?))
    })
}

fn means_the_same(kind: Kind, value: &str, default: &str) -> bool {
    let (value, default) = (value.trim(), default.trim());
    if value == default {
        return true;
    }
    match kind {
        Kind::Word => value.eq_ignore_ascii_case(default),
        Kind::Duration => nanoseconds(value).is_some_and(|value| nanoseconds(default) == Some(value)),
        Kind::Size => bytes(value).is_some_and(|value| bytes(default) == Some(value)),
        Kind::Number => value.parse::<f64>().is_ok_and(|value| default.parse() == Ok(value)),
        Kind::List => parts(value).eq(parts(default)),
        Kind::Text | Kind::None => false,
    }
}

/// Splits a list, which is written with `;` or `,`.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split([';', ',']).map(str::trim).filter(|part| !part.is_empty())
}

/// Reads a number and its unit; without one, `default` is meant.
fn scaled(text: &str, default: u128, units: &[(&[&str], u128)]) -> Option<u128> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit = unit.trim().to_ascii_lowercase();
    let scale = if unit.is_empty() {
        default
    } else {
        units.iter().find(|(names, _)| names.contains(&unit.as_str()))?.1
    };
    number.parse::<u128>().ok()?.checked_mul(scale)
}

fn nanoseconds(text: &str) -> Option<u128> {
    const MS: u128 = 1_000_000;
    let units: &[(&[&str], u128)] = &[
        (&["d", "day", "days"], 86_400_000 * MS),
        (&["h", "hour", "hours"], 3_600_000 * MS),
        (&["min", "m", "minute", "minutes"], 60_000 * MS),
        (&["s", "sec", "secs", "second", "seconds"], 1_000 * MS),
        (&["ms", "milli", "millis", "millisecond", "milliseconds"], MS),
        (&["µs", "micro", "micros", "microsecond", "microseconds"], 1_000),
        (&["ns", "nano", "nanos", "nanosecond", "nanoseconds"], 1),
    ];
    scaled(text, MS, units)
}

fn bytes(text: &str) -> Option<u128> {
    let units: &[(&[&str], u128)] = &[
        (&["b", "bytes"], 1),
        (&["k", "kb", "kibibytes"], 1 << 10),
        (&["m", "mb", "mebibytes"], 1 << 20),
        (&["g", "gb", "gibibytes"], 1 << 30),
        (&["t", "tb", "tebibytes"], 1 << 40),
    ];
    scaled(text, 1, units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(key: &str, value: &str) -> bool {
        compare(key, Some(value)).unwrap().differs
    }

    #[test]
    fn what_means_the_default_does_not_differ_however_it_is_written() {
        for (key, same, other) in [
            ("auto-partition.check.interval", ["10 min", "600s", "600000"], "9 min"),
            ("kv.rocksdb.block.cache-size", ["8 mb", "8192kb", "8388608"], "16 mb"),
            ("default.bucket.number", ["1", "01", " 1 "], "3"),
            ("authorizer.enabled", ["false", "FALSE", "False"], "true"),
        ] {
            for value in same {
                assert!(!differs(key, value), "{key} = {value}");
            }
            assert!(differs(key, other), "{key} = {other}");
        }
        assert!(differs("data.dir", "/tmp/FLUSS-data"), "a text is compared to the letter");
        assert!(differs("auto-partition.check.interval", "soon"));
    }

    #[test]
    fn what_has_no_default_differs_as_soon_as_it_is_set() {
        let unset = compare("bind.listeners", None).unwrap();
        assert_eq!(unset, Comparison { default_value: None, differs: false });
        assert!(differs("bind.listeners", "FLUSS://localhost:9123"));
        assert_eq!(compare("plugin.options", Some("x")), None);
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 100);
        for line in lines {
            let fields: Vec<_> = line.split('\t').collect();
            assert_eq!(fields.len(), 3, "{line}");
            if fields[1] != "none" {
                assert!(!differs(fields[0], fields[2]), "{line}");
                let read = match fields[1] {
                    "duration" => nanoseconds(fields[2]).is_some(),
                    "size" => bytes(fields[2]).is_some(),
                    "number" => fields[2].parse::<f64>().is_ok(),
                    _ => true,
                };
                assert!(read, "{line}");
            }
        }
    }
}
