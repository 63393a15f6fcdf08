//! Days since 1970-01-01 as dates of the proleptic Gregorian calendar, and back.
//!
//! The values of a DATE reach years that calendars in libraries do not.

const DAYS_FROM_MARCH_OF_YEAR_0: i64 = 719_468;
const DAYS_PER_ERA: i64 = 146_097;

/// Returns year, month and day of the proleptic Gregorian calendar.
///
/// The year is taken to begin in March, so that the leap day comes last; an era has 400 years.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + DAYS_FROM_MARCH_OF_YEAR_0;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / (DAYS_PER_ERA - 1)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Returns the days since 1970-01-01 of a date; nothing if there is no such date or it is out of range.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(-400_000_000..=400_000_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day)
    {
        return None;
    }
    let shifted_year = if month > 2 { year } else { year - 1 };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * DAYS_PER_ERA + day_of_era - DAYS_FROM_MARCH_OF_YEAR_0;
    // The 30th of February and its like come out as another day.
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_turn_into_each_other() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (-719_162, (1, 1, 1)),
            (-719_163, (0, 12, 31)),
            (2_932_896, (9999, 12, 31)),
            (2_932_897, (10_000, 1, 1)),
        ] {
            assert_eq!(civil_from_days(days), date);
            assert_eq!(days_from_civil(date.0, date.1, date.2), Some(days));
        }
        for days in (i64::from(i32::MIN)..=i64::from(i32::MAX)).step_by(7_919_919) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), Some(days));
        }
        for (year, month, day) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0)]
        {
            assert_eq!(days_from_civil(year, month, day), None);
        }
    }
}
