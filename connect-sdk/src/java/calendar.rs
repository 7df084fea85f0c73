//! Calendar arithmetic as Java's `GregorianCalendar`: Gregorian from 1582-10-15, Julian before.
//!
//! Java reads and writes dates as text this way; stored dates keep their meaning only if we do the same.

/// The first Gregorian day, 1582-10-15, in days since 1970-01-01.
const GREGORIAN_FROM: i64 = -141_427;

/// A calendar date. The year before 1 is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a date has no more parts")]
pub struct CalendarDate {
    /// The year; 0 and below are before Christ.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl CalendarDate {
    /// The date of a day that is given as days since 1970-01-01.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "months end at 12, days at 31")]
    pub fn from_epoch_days(days: i64) -> Self {
        // Counted from 0000-03-01, so that the leap day is the last of its year.
        let (year, day_of_year) = if days >= GREGORIAN_FROM {
            let days = days + 719_468;
            let era = days.div_euclid(146_097);
            let day = days.rem_euclid(146_097);
            let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
            (era * 400 + year, day - (365 * year + year / 4 - year / 100))
        } else {
            let days = days + 719_470;
            let era = days.div_euclid(1_461);
            let day = days.rem_euclid(1_461);
            let year = (day - day / 1_460) / 365;
            (era * 4 + year, day - 365 * year)
        };
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: year + i64::from(month <= 2), month: month as u8, day: day as u8 }
    }

    /// Days since 1970-01-01. A month or day out of range counts on into the next ones.
    #[must_use]
    pub fn to_epoch_days(year: i64, month: i64, day: i64) -> i64 {
        let year = year + (month - 1).div_euclid(12);
        let month = (month - 1).rem_euclid(12) + 1;
        let shifted = if month <= 2 { year - 1 } else { year };
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let days = 365 * shifted + shifted.div_euclid(4) + day_of_year;
        let gregorian = days - shifted.div_euclid(100) + shifted.div_euclid(400) - 719_468;
        if gregorian >= GREGORIAN_FROM { gregorian } else { days - 719_470 }
    }

    /// The number of days of a month.
    #[must_use]
    pub fn days_in_month(year: i64, month: u8) -> u8 {
        match month {
            4 | 6 | 9 | 11 => 30,
            2 if year % 4 == 0 && (year < 1583 || year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            _ => 31,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_belong_together() {
        for days in (-1_000_000..1_000_000).step_by(37) {
            let date = CalendarDate::from_epoch_days(days);
            assert_eq!(CalendarDate::to_epoch_days(date.year, date.month.into(), date.day.into()), days, "{date:?}");
            assert!(date.day <= CalendarDate::days_in_month(date.year, date.month), "{date:?}");
        }
    }

    #[test]
    fn the_calendar_changed_in_october_1582() {
        let date = |days| {
            let date = CalendarDate::from_epoch_days(days);
            (date.year, date.month, date.day)
        };
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(GREGORIAN_FROM), (1582, 10, 15));
        assert_eq!(date(GREGORIAN_FROM - 1), (1582, 10, 4));
        // As Java: new GregorianCalendar(1500, FEBRUARY, 29) exists.
        assert_eq!(date(CalendarDate::to_epoch_days(1500, 2, 29)), (1500, 2, 29));
    }

    #[test]
    fn what_is_out_of_range_counts_on() {
        assert_eq!(CalendarDate::to_epoch_days(2019, 14, 1), CalendarDate::to_epoch_days(2020, 2, 1));
        assert_eq!(CalendarDate::to_epoch_days(2019, 2, 30), CalendarDate::to_epoch_days(2019, 3, 2));
    }
}
