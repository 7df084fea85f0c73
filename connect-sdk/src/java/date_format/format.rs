//! Instants as text.

use super::{AM_PM, DatePattern, ERAS, Field, MONTHS, Part, SHORT_NAME, WEEKDAYS};
use crate::data::Timestamp;
use crate::java::calendar::CalendarDate;

/// An instant taken apart.
struct Moment {
    epoch_days: i64,
    date: CalendarDate,
    ms_of_day: i32,
}

impl DatePattern {
    /// The text of an instant, which is milliseconds since 1970.
    #[must_use]
    pub fn format(&self, epoch_ms: i64) -> String {
        let mut out = String::with_capacity(self.pattern.len() + 8);
        self.write(epoch_ms, &mut out);
        out
    }

    /// Appends the text of an instant, which is milliseconds since 1970.
    pub fn write(&self, epoch_ms: i64, out: &mut String) {
        let epoch_days = epoch_ms.div_euclid(crate::data::DAY_MS);
        let date = CalendarDate::from_epoch_days(epoch_days);
        let ms_of_day = Timestamp::from_epoch_millis(epoch_ms).time().millis_of_day();
        let moment = Moment { epoch_days, date, ms_of_day };
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Field { field, count, .. } => moment.write(*field, *count, out),
            }
        }
    }
}

impl Moment {
    fn write(&self, field: Field, count: usize, out: &mut String) {
        let date = self.date;
        let hour = i64::from(self.ms_of_day / 3_600_000);
        let number = match field {
            Field::Era => return out.push_str(ERAS[usize::from(date.year > 0)]),
            Field::Year => return write_year(year_of_era(date.year), count, out),
            Field::WeekYear => return write_year(self.week_of_year().0, count, out),
            Field::Month if count >= 3 => return write_name(MONTHS[usize::from(date.month) - 1], count, out),
            Field::Month => i64::from(date.month),
            Field::WeekOfYear => self.week_of_year().1,
            Field::WeekOfMonth => {
                (i64::from(date.day) - 1 + weekday(self.epoch_days - i64::from(date.day) + 1)) / 7 + 1
            }
            Field::DayOfYear => self.epoch_days - CalendarDate::to_epoch_days(date.year, 1, 1) + 1,
            Field::DayOfMonth => i64::from(date.day),
            Field::DayOfWeekInMonth => (i64::from(date.day) - 1) / 7 + 1,
            Field::Weekday => return write_name(WEEKDAYS[weekday_index(self.epoch_days)], count, out),
            Field::IsoWeekday => match weekday(self.epoch_days) {
                0 => 7,
                day => day,
            },
            Field::AmPm => return out.push_str(AM_PM[usize::from(hour >= 12)]),
            Field::HourOfDay => hour,
            Field::HourOfDayFrom1 => {
                if hour == 0 {
                    24
                } else {
                    hour
                }
            }
            Field::Hour => hour % 12,
            Field::HourFrom1 => {
                if hour % 12 == 0 {
                    12
                } else {
                    hour % 12
                }
            }
            Field::Minute => i64::from(self.ms_of_day / 60_000 % 60),
            Field::Second => i64::from(self.ms_of_day / 1000 % 60),
            Field::Millisecond => i64::from(self.ms_of_day % 1000),
            Field::ZoneName => return out.push_str(if count >= 4 { "Coordinated Universal Time" } else { "UTC" }),
            Field::ZoneOffset => return out.push_str("+0000"),
            Field::IsoZone => return out.push('Z'),
        };
        write_number(number, count, out);
    }

    /// The year to which the week belongs, and its number: weeks begin on Sunday, the first has the first of January.
    fn week_of_year(&self) -> (i64, i64) {
        let start = |year| {
            let first = CalendarDate::to_epoch_days(year, 1, 1);
            first - weekday(first)
        };
        let year = self.date.year;
        if self.epoch_days >= start(year + 1) { (year + 1, 1) } else { (year, (self.epoch_days - start(year)) / 7 + 1) }
    }
}

/// Days since Sunday.
fn weekday(epoch_days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (epoch_days + 4).rem_euclid(7)
}

fn weekday_index(epoch_days: i64) -> usize {
    usize::try_from(weekday(epoch_days)).unwrap_or_default()
}

/// Years before Christ count backwards from 1.
fn year_of_era(year: i64) -> i64 {
    if year > 0 { year } else { 1 - year }
}

/// Two letters write the last two digits, any other number of them all.
fn write_year(year: i64, count: usize, out: &mut String) {
    write_number(if count == 2 { year % 100 } else { year }, count, out);
}

fn write_name(name: &str, count: usize, out: &mut String) {
    out.push_str(if count >= 4 { name } else { &name[..SHORT_NAME] });
}

/// A number, filled with zeros to `width`; only years of weeks can be negative.
fn write_number(number: i64, width: usize, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    let mut digits = [b'0'; 20];
    let mut rest = number.unsigned_abs();
    let mut used = 0;
    while rest > 0 || used == 0 {
        used += 1;
        digits[20 - used] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    out.extend(std::iter::repeat_n('0', width.saturating_sub(used)));
    out.extend(digits[20 - used..].iter().map(|digit| char::from(*digit)));
}
