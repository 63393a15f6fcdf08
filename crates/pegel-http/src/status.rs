//! Lists of expected HTTP statuses, as `200-299,301`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most codes and ranges of one list.
pub const MAX_PARTS: usize = 32;

/// Says that a text is no list of statuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("statuses are written as 200-299,301: 1 to {MAX_PARTS} codes or ranges from 200 to 599")]
pub struct InvalidStatuses;

/// Expected statuses. 1xx are not among them: they are no answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses(Vec<RangeInclusive<u16>>);

impl Default for Statuses {
    /// All that say success: 200 to 299.
    fn default() -> Self {
        Self(vec![200..=299])
    }
}

impl Statuses {
    /// Returns the list of all statuses.
    pub fn any() -> Self {
        Self(vec![200..=599])
    }

    /// Tells whether a status is expected.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl FromStr for Statuses {
    type Err = InvalidStatuses;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code = |text: &str| match text.trim().parse::<u16>() {
            Ok(code) if (200..600).contains(&code) => Ok(code),
            _ => Err(InvalidStatuses),
        };
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = code(first)?..=code(last)?;
            if range.is_empty() { Err(InvalidStatuses) } else { Ok(range) }
        };
        let parts = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?;
        if parts.len() > MAX_PARTS { Err(InvalidStatuses) } else { Ok(Self(parts)) }
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{separator}{first}")?,
                (first, last) => write!(f, "{separator}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Statuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_codes_and_ranges() {
        let statuses: Statuses = "200, 301-303,404".parse().unwrap();
        let expected = [200, 301, 302, 303, 404];
        assert!((100..600).all(|status| statuses.contains(status) == expected.contains(&status)));
        assert_eq!(statuses.to_string(), "200,301-303,404");
        assert_eq!(Statuses::default().to_string(), "200-299");
    }

    #[test]
    fn what_names_no_status_is_refused() {
        for bad in
            ["", "199", "600", "200-", "-200", "300-200", "2xx", "200,,201", "200 201", &"200,".repeat(40)]
        {
            assert_eq!(bad.parse::<Statuses>(), Err(InvalidStatuses), "{bad}");
        }
        let many = vec!["200"; 33].join(",");
        assert_eq!(many.parse::<Statuses>(), Err(InvalidStatuses));
    }
}
