//! Dates, times of day and instants as text: `2019-08-23`, `14:34:54.346Z`, `2019-08-23T14:34:54.346Z`, in UTC.

use crate::data::logical::DAY_MS;
use crate::data::{Date, Time, Timestamp, Value};
use crate::java::calendar::CalendarDate;

/// The length of a date.
pub(super) const DATE_LENGTH: usize = 10;
/// The length of a time of day.
pub(super) const TIME_LENGTH: usize = 13;
/// The length of an instant.
pub(super) const TIMESTAMP_LENGTH: usize = 24;

/// Reads text that is exactly one of the three; anything else is none of them.
///
/// Java is more lenient: days and hours out of range count on, and text behind a valid beginning is ignored.
pub(super) fn parse_temporal(text: &str) -> Option<Value> {
    match text.len() {
        DATE_LENGTH => Some(parse_date(text)?.into()),
        TIME_LENGTH => Some(parse_time(text)?.into()),
        TIMESTAMP_LENGTH => {
            let (date, time) = text.split_at_checked(DATE_LENGTH)?;
            let time = parse_time(time.strip_prefix('T')?)?;
            let millis = parse_date(date)?.to_timestamp().epoch_millis() + i64::from(time.millis_of_day());
            Some(Timestamp::from_epoch_millis(millis).into())
        }
        _ => None,
    }
}

fn parse_date(text: &str) -> Option<Date> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let (month, day) = (number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    let days = CalendarDate::to_epoch_days(year, month, day);
    let date = CalendarDate::from_epoch_days(days);
    // A day that does not exist comes back as another one; there is no year 0.
    let exists = (date.year, i64::from(date.month), i64::from(date.day)) == (year, month, day) && year > 0;
    exists.then(|| i32::try_from(days).ok().map(Date::from_epoch_days)).flatten()
}

fn parse_time(text: &str) -> Option<Time> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] = text.as_bytes() else { return None };
    let (hour, minute, second) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    let millis = ((hour * 60 + minute) * 60 + second) * 1000 + number(&[*f1, *f2, *f3])?;
    let exists = hour < 24 && minute < 60 && second < 60;
    exists.then(|| Time::from_millis_of_day(i32::try_from(millis).ok()?).ok()).flatten()
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

/// The text of a date.
pub(super) fn date_text(date: Date) -> String {
    let date = CalendarDate::from_epoch_days(date.epoch_days().into());
    // As Java: years before Christ count backwards from 1, without a mark.
    let year = if date.year > 0 { date.year } else { 1 - date.year };
    format!("{year:04}-{:02}-{:02}", date.month, date.day)
}

/// The text of a time of day.
pub(super) fn time_text(time: Time) -> String {
    let millis = time.millis_of_day();
    let seconds = millis / 1000;
    format!("{:02}:{:02}:{:02}.{:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60, millis % 1000)
}

/// The text of an instant: of the first day of 1970 its time of day, of a midnight its date, of any other both.
///
/// The first two are what Java writes, which cannot tell an instant from a date or a time. It writes every instant
/// before 1970 as a time of day; here they keep their date.
pub(super) fn timestamp_text(timestamp: Timestamp) -> String {
    let millis = timestamp.epoch_millis();
    let Some(date) = timestamp.date() else { return beyond_dates(millis) };
    match millis {
        0..DAY_MS => time_text(timestamp.time()),
        DAY_MS.. if millis % DAY_MS == 0 => date_text(date),
        _ => format!("{}T{}", date_text(date), time_text(timestamp.time())),
    }
}

/// Instants more than five million years away.
fn beyond_dates(millis: i64) -> String {
    let date = CalendarDate::from_epoch_days(millis.div_euclid(DAY_MS));
    let year = if date.year > 0 { date.year } else { 1 - date.year };
    let time = Timestamp::from_epoch_millis(millis).time();
    format!("{year:04}-{:02}-{:02}T{}", date.month, date.day, time_text(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_must_be_exact() {
        assert_eq!(parse_temporal("2019-08-23"), Some(Date::from_epoch_days(18_131).into()));
        assert_eq!(parse_temporal("14:34:54.346Z"), Some(Time::from_millis_of_day(52_494_346).unwrap().into()));
        let instant = Timestamp::from_epoch_millis(1_566_570_894_346);
        assert_eq!(parse_temporal("2019-08-23T14:34:54.346Z"), Some(instant.into()));
        assert_eq!(parse_temporal("1500-01-01"), Some(Date::from_epoch_days(-171_655).into()));
        for text in [
            "2019-02-30",
            "2019-99-99",
            "2019-00-10",
            "2019-01-1x",
            "0000-01-01",
            "1582-10-10",
            "24:00:00.000Z",
            "12:60:00.000Z",
            "12:00:00.00Z0",
            "2019-08-23 14:34:54.346Z",
            "2019-08-23T14:34:54.346z",
            "+019-08-23",
        ] {
            assert_eq!(parse_temporal(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_read_back() {
        for days in [0, 1, -1, 18_131, -141_428, -171_655] {
            let date = Date::from_epoch_days(days);
            assert_eq!(parse_temporal(&date_text(date)), Some(date.into()));
        }
        for millis in [-1, -86_400_000, 86_400_001, 1_500_000_000_123] {
            let instant = Timestamp::from_epoch_millis(millis);
            assert_eq!(parse_temporal(&timestamp_text(instant)), Some(instant.into()));
        }
        assert_eq!(timestamp_text(Timestamp::from_epoch_millis(i64::MAX)), "292278994-08-17T07:12:55.807Z");
    }
}
