//! The golden table of the change of clocks, and what is refused.

use proptest::prelude::*;

use super::*;

/// The slots after a wall time, as instants in UTC; `after` is read as the first instant it means.
fn slots(expression: &str, time_zone: &str, after: &str, count: usize) -> Vec<String> {
    let schedule = CronSchedule::parse(expression, time_zone).unwrap();
    let mut at = first_instant(&schedule.zone, after.parse().unwrap()).unwrap();
    let mut found = Vec::new();
    for _ in 0..count {
        at = schedule.next_after(at).unwrap();
        found.push(at.to_string());
    }
    found
}

const RIGA: &str = "Europe/Riga";

#[test]
fn fixed_times_that_are_skipped_run_once_after_the_gap() {
    for expression in ["0 3 * * *", "15 3 * * *", "30 3 * * *"] {
        let found = slots(expression, RIGA, "2021-03-28T01:00", 2);
        let minute = expression.split(' ').next().unwrap();
        let next = format!("2021-03-29T00:{minute:0>2}:00Z");
        assert_eq!(found, ["2021-03-28T01:00:00Z".to_owned(), next], "{expression}");
    }
}

#[test]
fn a_list_of_hours_is_of_fixed_times() {
    assert_eq!(
        slots("30 1,2,3,4,5 * * *", RIGA, "2021-03-28T01:00", 5),
        [
            "2021-03-27T23:30:00Z",
            "2021-03-28T00:30:00Z",
            "2021-03-28T01:00:00Z",
            "2021-03-28T01:30:00Z",
            "2021-03-28T02:30:00Z"
        ]
    );
}

#[test]
fn skipped_slots_of_every_half_hour_are_not_made_up() {
    assert_eq!(
        slots("*/30 * * * *", RIGA, "2021-03-28T01:30", 4),
        ["2021-03-28T00:00:00Z", "2021-03-28T00:30:00Z", "2021-03-28T01:00:00Z", "2021-03-28T01:30:00Z"]
    );
}

#[test]
fn fixed_times_that_come_twice_run_the_first_time() {
    assert_eq!(
        slots("0 3 * * *", RIGA, "2021-10-31T01:00", 2),
        ["2021-10-31T00:00:00Z", "2021-11-01T01:00:00Z"]
    );
    assert_eq!(
        slots("30 3 * * *", RIGA, "2021-10-31T01:00", 2),
        ["2021-10-31T00:30:00Z", "2021-11-01T01:30:00Z"]
    );
}

#[test]
fn every_half_hour_goes_on_through_both_hours() {
    assert_eq!(
        slots("*/30 * * * *", RIGA, "2021-10-31T02:00", 6),
        [
            "2021-10-30T23:30:00Z",
            "2021-10-31T00:00:00Z",
            "2021-10-31T00:30:00Z",
            "2021-10-31T01:00:00Z",
            "2021-10-31T01:30:00Z",
            "2021-10-31T02:00:00Z"
        ]
    );
}

#[test]
fn every_third_hour_matches_both_hours_that_have_its_name() {
    assert_eq!(
        slots("0 */3 * * *", RIGA, "2021-10-31T01:00", 3),
        ["2021-10-31T00:00:00Z", "2021-10-31T01:00:00Z", "2021-10-31T04:00:00Z"]
    );
}

#[test]
fn new_york_and_a_shift_of_half_an_hour_follow_the_same_rules() {
    let new_york = "America/New_York";
    assert_eq!(
        slots("30 2 * * *", new_york, "2026-03-08T00:00", 2),
        ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]
    );
    assert_eq!(
        slots("30 1 * * *", new_york, "2026-11-01T00:00", 2),
        ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]
    );
    assert_eq!(
        slots("15 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00", 2),
        ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]
    );
}

#[test]
fn day_of_month_or_day_of_week_is_enough() {
    let found = slots("0 12 13 * 5", "UTC", "2026-01-01T00:00", 4);
    let days: Vec<&str> = found.iter().map(|slot| &slot[5..10]).collect();
    assert_eq!(days, ["01-02", "01-09", "01-13", "01-16"]);
}

#[test]
fn what_names_no_time_is_refused_with_the_field() {
    let refused =
        |expression: &str, zone: &str| CronSchedule::parse(expression, zone).unwrap_err().to_string();
    assert_eq!(refused("0 0 31 2 *", "UTC"), "day of month and month name a day that does not exist");
    assert_eq!(refused("60 * * * *", "UTC"), "the minute of a cron expression cannot be `60`");
    assert_eq!(refused("* 24 * * *", "UTC"), "the hour of a cron expression cannot be `24`");
    assert_eq!(refused("* * 0 * *", "UTC"), "the day of month of a cron expression cannot be `0`");
    assert_eq!(refused("* * * 13 *", "UTC"), "the month of a cron expression cannot be `13`");
    assert_eq!(refused("* * * * 9", "UTC"), "the day of week of a cron expression cannot be `9`");
    assert!(refused("* * * *", "UTC").ends_with("this has 4"));
    assert!(refused("* * * * * *", "UTC").ends_with("this has 6"));
    assert!(refused("", "UTC").ends_with("this has 0"));
    assert!(refused("* * * * *", "Europe/Atlantis").contains("`Europe/Atlantis` is not known"));
    assert_eq!(CronSchedule::parse(&"1".repeat(201), "UTC"), Err(CronError::TooLong));
}

#[test]
fn a_day_that_comes_only_in_leap_years_is_a_schedule() {
    assert_eq!(slots("0 0 29 2 *", "UTC", "2026-01-01T00:00", 1), ["2028-02-29T00:00:00Z"]);
    assert_eq!(slots("0 0 29 2 *", RIGA, "2096-03-01T00:00", 1), ["2104-02-28T22:00:00Z"]);
    assert_eq!(slots("*/5 * 29 2 *", RIGA, "2026-01-01T00:00", 1), ["2028-02-28T22:00:00Z"]);
}

#[test]
fn short_names_mean_what_a_crontab_means() {
    assert_eq!(slots("@daily", RIGA, "2026-01-01T00:00", 1), ["2026-01-01T22:00:00Z"]);
    assert_eq!(
        slots("@hourly", RIGA, "2021-10-31T02:00", 3)[..2],
        ["2021-10-31T00:00:00Z", "2021-10-31T01:00:00Z"]
    );
}

#[test]
fn schedules_are_stored_as_they_were_written() {
    let schedule = CronSchedule::parse("@daily", RIGA).unwrap();
    let json = serde_json::to_string(&schedule).unwrap();
    assert_eq!(json, r#"{"expression":"@daily","time_zone":"Europe/Riga"}"#);
    assert_eq!(serde_json::from_str::<CronSchedule>(&json).unwrap(), schedule);
    let bad = serde_json::from_str::<CronSchedule>(r#"{"expression":"x","time_zone":"UTC"}"#);
    assert!(bad.unwrap_err().to_string().contains("five fields"));
}

/// The slots of some days, found by looking at each minute.
fn minute_by_minute(schedule: &CronSchedule, from: Timestamp, minutes: i64) -> Vec<Timestamp> {
    let mut found: Vec<Timestamp> = Vec::new();
    let instant = |minute: i64| Timestamp::from_second(from.as_second() + minute * 60).unwrap();
    let matches = |civil: DateTime| schedule.pattern.is_time_matching(&civil).unwrap();
    for minute in 1..=minutes {
        let at = instant(minute);
        let civil = schedule.zone.to_datetime(at);
        let is_due = if schedule.follows_real_time {
            matches(civil)
        } else {
            // Every wall minute since the one of the minute before, which are many after a gap; and not
            // those that were seen before, as they are after clocks went back.
            let seen = (1..=180).map(|back| schedule.zone.to_datetime(instant(minute - back))).max().unwrap();
            let mut wall = civil.min(seen);
            let mut any = false;
            while wall < civil {
                wall = wall.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
                any |= matches(wall);
            }
            any
        };
        if is_due {
            found.push(at);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn slots_are_those_found_by_looking_at_each_minute(
        minute in prop_oneof![Just("0"), Just("*/7"), Just("15,45"), Just("*"), Just("30")],
        hour in prop_oneof![Just("*"), Just("1,2,3"), Just("*/2"), Just("2"), Just("0-4")],
        zone in prop_oneof![Just(RIGA), Just("America/New_York"), Just("Australia/Lord_Howe"), Just("UTC")],
        begin in prop_oneof![
            Just("2021-03-27T12:00:00Z"), Just("2021-10-30T12:00:00Z"), Just("2026-03-07T20:00:00Z"),
            Just("2026-10-31T20:00:00Z"), Just("2026-10-03T10:00:00Z"), Just("2026-04-04T10:00:00Z"),
        ],
    ) {
        let schedule = CronSchedule::parse(&format!("{minute} {hour} * * *"), zone).unwrap();
        let begin: Timestamp = begin.parse().unwrap();
        let expected = minute_by_minute(&schedule, begin, 48 * 60);
        let mut found = Vec::new();
        let mut at = begin;
        while found.len() < expected.len() {
            at = schedule.next_after(at).unwrap();
            found.push(at);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_expression_makes_the_reader_panic(expression in "[0-9*/,#LW@a-zA-Z+ -]{0,30}") {
        if let Ok(schedule) = CronSchedule::parse(&expression, RIGA) {
            schedule.next_after(Timestamp::from_second(1_767_225_600).unwrap());
        }
    }
}
