//! Text as instants: `SimpleDateFormat.parse` with its leniency. Days and hours out of range count on.

use super::{AM_PM, DatePattern, ERAS, Field, MONTHS, Part, SHORT_NAME, WEEKDAYS};
use crate::data::{DAY_MS, Timestamp};
use crate::java::calendar::CalendarDate;

/// How far back the hundred years begin in which a year of two digits is meant.
const CENTURY_BACK_YEARS: i64 = 80;

/// What was read, field by field; a field that is read twice keeps the second.
#[derive(Default)]
struct Fields {
    before_christ: bool,
    year: Option<i64>,
    /// The year had two digits that are those of the beginning of the hundred years.
    ambiguous: bool,
    /// From 0.
    month: i64,
    day: Option<Day>,
    /// Hour of the day, and when it was read.
    hour_of_day: Option<(i64, usize)>,
    hour: Option<(i64, usize)>,
    pm: Option<(bool, usize)>,
    minute: i64,
    second: i64,
    millisecond: i64,
    offset_ms: i64,
}

enum Day {
    OfMonth(i64),
    OfYear(i64),
}

impl DatePattern {
    /// The instant, in milliseconds since 1970, that all of the text says; none if it does not fit the pattern or the
    /// pattern cannot be read ([`Self::check_readable`]). What the pattern does not tell is that of 1970-01-01T00:00Z.
    ///
    /// A year of two digits is meant within 80 years before and 20 years after `now_ms`, milliseconds since 1970.
    #[must_use]
    pub fn parse(&self, text: &str, now_ms: i64) -> Option<i64> {
        let century = Century::of(now_ms);
        let mut fields = Fields::default();
        let mut at = 0;
        for (index, part) in self.parts.iter().enumerate() {
            at = match part {
                Part::Literal(literal) => text.get(at..)?.strip_prefix(literal.as_str()).map(|_| at + literal.len())?,
                Part::Field { field, count, .. } => {
                    // Digits that run into the next number are as many as the letters.
                    let next = self.parts.get(index + 1);
                    let limited = matches!(next, Some(Part::Field { field, count, .. }) if field.is_number(*count));
                    let mut reader =
                        Reader { text, start: at, at, stamp: index, last: next.is_none(), century: &century };
                    reader.read(*field, *count, limited.then_some(at + count), &mut fields)?;
                    reader.at
                }
            };
        }
        (at == text.len()).then(|| fields.instant(&century)).flatten()
    }
}

/// Where the hundred years of two-digit years begin.
struct Century {
    start_ms: i64,
    start_year: i64,
}

impl Century {
    fn of(now_ms: i64) -> Self {
        let today = CalendarDate::from_epoch_days(now_ms.div_euclid(DAY_MS));
        let year = today.year - CENTURY_BACK_YEARS;
        let day = today.day.min(CalendarDate::days_in_month(year, today.month));
        let days = CalendarDate::to_epoch_days(year, today.month.into(), day.into());
        let time = Timestamp::from_epoch_millis(now_ms).time().millis_of_day();
        Self { start_ms: days.saturating_mul(DAY_MS).saturating_add(time.into()), start_year: year }
    }
}

impl Fields {
    fn instant(&self, century: &Century) -> Option<i64> {
        let year = self.year.unwrap_or(1970);
        let instant = self.in_year(year)?;
        if self.ambiguous && instant < century.start_ms { self.in_year(year + 100) } else { Some(instant) }
    }

    fn in_year(&self, year: i64) -> Option<i64> {
        let year = if self.before_christ { 1 - year } else { year };
        let days = match self.day {
            None => CalendarDate::to_epoch_days(year, self.month + 1, 1),
            Some(Day::OfMonth(day)) => CalendarDate::to_epoch_days(year, self.month + 1, day),
            Some(Day::OfYear(day)) => CalendarDate::to_epoch_days(year, 1, 1) + day - 1,
        };
        let time = ((self.hours() * 60 + self.minute) * 60 + self.second) * 1000 + self.millisecond;
        days.checked_mul(DAY_MS)?.checked_add(time)?.checked_sub(self.offset_ms)
    }

    /// Of an hour of the day and an hour with its half of the day, what was read later.
    fn hours(&self) -> i64 {
        let half = match (self.hour, self.pm) {
            (Some((_, a)), Some((_, b))) => Some(a.max(b)),
            _ => None,
        };
        match self.hour_of_day {
            Some((hour, at)) if half.is_none_or(|half| half < at) => hour,
            _ => {
                let pm = self.pm.is_some_and(|(pm, _)| pm);
                self.hour.map_or(0, |(hour, _)| hour) + if pm { 12 } else { 0 }
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Where the field begins, blanks included.
    start: usize,
    at: usize,
    /// Tells what was read later.
    stamp: usize,
    /// Nothing stands behind the field.
    last: bool,
    century: &'a Century,
}

impl Reader<'_> {
    fn read(&mut self, field: Field, count: usize, end: Option<usize>, into: &mut Fields) -> Option<()> {
        let blanks = self.text.as_bytes().get(self.at..)?;
        self.at += blanks.iter().position(|b| !matches!(b, b' ' | b'\t'))?;
        match field {
            Field::Era => into.before_christ = self.name(ERAS.iter().copied())? == 0,
            Field::Year => {
                let first = self.at;
                let mut year = self.number(end)?;
                let two_digits = self.at - first == 2 && self.text.as_bytes()[first].is_ascii_digit();
                into.ambiguous = false;
                if count <= 2 && two_digits {
                    let pivot = self.century.start_year.rem_euclid(100);
                    into.ambiguous = year == pivot;
                    year += self.century.start_year - pivot + if year < pivot { 100 } else { 0 };
                }
                into.year = Some(year);
            }
            Field::Month if count <= 2 => into.month = self.number(end)? - 1,
            Field::Month => into.month = i64::try_from(self.short_or_long(&MONTHS)?).ok()?,
            Field::DayOfYear => into.day = Some(Day::OfYear(self.number(end)?)),
            Field::DayOfMonth => into.day = Some(Day::OfMonth(self.number(end)?)),
            // The date is told by the day; Java does not mind either if the weekday is another one.
            Field::Weekday => drop(self.short_or_long(&WEEKDAYS)?),
            Field::AmPm => into.pm = Some((self.name(AM_PM.iter().copied())? == 1, self.stamp)),
            Field::HourOfDay => into.hour_of_day = Some((self.number(end)?, self.stamp)),
            Field::HourOfDayFrom1 => into.hour_of_day = Some((zero_if(self.number(end)?, 24), self.stamp)),
            Field::Hour => into.hour = Some((self.number(end)?, self.stamp)),
            Field::HourFrom1 => into.hour = Some((zero_if(self.number(end)?, 12), self.stamp)),
            Field::Minute => into.minute = self.number(end)?,
            Field::Second => into.second = self.number(end)?,
            Field::Millisecond => into.millisecond = self.number(end)?,
            Field::ZoneName | Field::ZoneOffset => into.offset_ms = self.zone()?,
            Field::IsoZone => into.offset_ms = self.iso_zone(count)?,
            Field::WeekYear | Field::WeekOfYear | Field::WeekOfMonth | Field::DayOfWeekInMonth | Field::IsoWeekday => {
                return None;
            }
        }
        Some(())
    }

    /// Digits, with a minus before them or not, up to `end`; narrowed to 32 bits as Java does.
    fn number(&mut self, end: Option<usize>) -> Option<i64> {
        let bytes = self.text.as_bytes();
        let bytes = match end {
            Some(end) => bytes.get(..end)?,
            None => bytes,
        };
        let negative = bytes.get(self.at) == Some(&b'-');
        let first = self.at + usize::from(negative);
        let digits = bytes.get(first..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        self.at = first + digits;
        let sign = if negative { -1 } else { 1 };
        let value = self.text.get(first..self.at)?.parse::<i64>();
        #[expect(clippy::cast_possible_truncation, reason = "as Java: Number.intValue of a Long")]
        let narrowed = value.map_or(if negative { i32::MIN } else { i32::MAX }, |value| (value * sign) as i32);
        Some(narrowed.into())
    }

    /// The longest of these names that stands at the start of the field, in any case; which one it was.
    fn name<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Option<usize> {
        // As in Java, no blanks are skipped before a name.
        let rest = self.text.as_bytes().get(self.start..)?;
        let fits = |name: &str| rest.get(..name.len()).is_some_and(|r| r.eq_ignore_ascii_case(name.as_bytes()));
        let (index, name) = names.enumerate().filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len())?;
        self.at = self.start + name.len();
        Some(index)
    }

    fn short_or_long(&mut self, names: &[&str]) -> Option<usize> {
        let both = names.iter().copied().chain(names.iter().map(|name| &name[..SHORT_NAME]));
        self.name(both).map(|index| index % names.len())
    }

    /// `+hhmm`, `GMT`, `GMT+h:mm`, or a name of UTC; the offset in milliseconds.
    fn zone(&mut self) -> Option<i64> {
        if let Some(sign) = self.sign() {
            return self.offset(sign, 2, true, false);
        }
        self.start = self.at;
        if self.name(["GMT"].into_iter()).is_some() {
            return match self.sign() {
                Some(sign) => self.offset(sign, 1, true, true),
                None => Some(0),
            };
        }
        self.name(["UTC", "Coordinated Universal Time"].into_iter()).map(|_| 0)
    }

    /// `Z`, or `+hh`, `+hhmm`, `+hh:mm`. One letter is for hours alone; where minutes end the text, Java leaves them out.
    fn iso_zone(&mut self, count: usize) -> Option<i64> {
        if self.text.as_bytes().get(self.at) == Some(&b'Z') {
            self.at += 1;
            return Some(0);
        }
        let sign = self.sign()?;
        let rest = self.text.as_bytes().get(self.at..)?;
        let colon = rest.get(2) == Some(&b':');
        let minutes = count > 1 || self.last && rest.len() > 2;
        if count == 2 && colon || count == 3 && !colon {
            return None;
        }
        self.offset(sign, 2, minutes, minutes && colon)
    }

    fn sign(&mut self) -> Option<i64> {
        let sign = match self.text.as_bytes().get(self.at)? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.at += 1;
        Some(sign)
    }

    /// Hours of at least so many digits and two at most, then minutes.
    fn offset(&mut self, sign: i64, hour_digits: usize, minutes: bool, colon: bool) -> Option<i64> {
        let mut hours = self.digit()?;
        match self.digit() {
            Some(second) => hours = hours * 10 + second,
            None if hour_digits > 1 => return None,
            None => {}
        }
        let mut total = hours * 60;
        if minutes {
            if colon {
                self.text.as_bytes().get(self.at).filter(|b| **b == b':')?;
                self.at += 1;
            }
            let minutes = self.digit()? * 10 + self.digit()?;
            if minutes > 59 {
                return None;
            }
            total += minutes;
        }
        (hours <= 23).then_some(sign * total * 60_000)
    }

    fn digit(&mut self) -> Option<i64> {
        let digit = self.text.as_bytes().get(self.at).filter(|b| b.is_ascii_digit())?;
        self.at += 1;
        Some(i64::from(digit - b'0'))
    }
}

fn zero_if(value: i64, most: i64) -> i64 {
    if value == most { 0 } else { value }
}
