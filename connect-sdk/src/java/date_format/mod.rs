//! Java's date patterns (`SimpleDateFormat`), as configurations of Kafka Connect contain them: US English, UTC.
//!
//! A pattern is taken apart once. What it writes is what Java writes; what it reads is what Java reads, with two
//! exceptions: the text must be used up, and a zone `X` also takes the minutes that Java leaves unread. Patterns that
//! cannot be read back for certain (weeks, a weekday without a date) are refused where they would have to be.

mod format;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

/// Names of months, as Java's US English locale has them.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of weekdays, from Sunday.
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// How many letters of a month or weekday its short form has.
const SHORT_NAME: usize = 3;
const AM_PM: [&str; 2] = ["AM", "PM"];
const ERAS: [&str; 2] = ["BC", "AD"];

/// A date pattern.
///
/// ```
/// use connect_sdk::java::date_format::DatePattern;
/// let pattern = DatePattern::new("yyyy-MM-dd'T'HH:mm:ss.SSSX")?;
/// assert_eq!(pattern.format(1_500_000_001_234), "2017-07-14T02:40:01.234Z");
/// assert_eq!(pattern.parse("2017-07-14T04:40:01.234+02", 0), Some(1_500_000_001_234));
/// # Ok::<(), connect_sdk::java::date_format::DatePatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DatePattern {
    pattern: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// A field, how often its letter stands there, and at which character.
    Field {
        field: Field,
        count: usize,
        at: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Era,
    Year,
    WeekYear,
    Month,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    DayOfMonth,
    DayOfWeekInMonth,
    Weekday,
    IsoWeekday,
    AmPm,
    /// `H`, 0 to 23.
    HourOfDay,
    /// `k`, 1 to 24.
    HourOfDayFrom1,
    /// `K`, 0 to 11.
    Hour,
    /// `h`, 1 to 12.
    HourFrom1,
    Minute,
    Second,
    Millisecond,
    ZoneName,
    ZoneOffset,
    IsoZone,
}

impl Field {
    /// Whether a field with so many letters is a number. Digits before one end where the letters end.
    fn is_number(self, count: usize) -> bool {
        match self {
            Self::Era | Self::Weekday | Self::AmPm | Self::ZoneName | Self::ZoneOffset | Self::IsoZone => false,
            Self::Month => count <= 2,
            _ => true,
        }
    }

    fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'G' => Self::Era,
            'y' => Self::Year,
            'Y' => Self::WeekYear,
            // Stand-alone names of months are the same in English.
            'M' | 'L' => Self::Month,
            'w' => Self::WeekOfYear,
            'W' => Self::WeekOfMonth,
            'D' => Self::DayOfYear,
            'd' => Self::DayOfMonth,
            'F' => Self::DayOfWeekInMonth,
            'E' => Self::Weekday,
            'u' => Self::IsoWeekday,
            'a' => Self::AmPm,
            'H' => Self::HourOfDay,
            'k' => Self::HourOfDayFrom1,
            'K' => Self::Hour,
            'h' => Self::HourFrom1,
            'm' => Self::Minute,
            's' => Self::Second,
            'S' => Self::Millisecond,
            'z' => Self::ZoneName,
            'Z' => Self::ZoneOffset,
            'X' => Self::IsoZone,
            _ => return None,
        })
    }
}

/// What is wrong with a date pattern, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePatternError {
    what: String,
    at: usize,
}

impl DatePatternError {
    /// The character of the pattern that is meant, counted from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.at
    }
}

impl fmt::Display for DatePatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at index {}", self.what, self.at)
    }
}

impl std::error::Error for DatePatternError {}

impl DatePattern {
    /// Takes a pattern apart.
    ///
    /// # Errors
    /// A letter means nothing, a quote is not closed, or a zone `X` is longer than three letters; with the place.
    pub fn new(pattern: &str) -> Result<Self, DatePatternError> {
        let wrong = |what: String, at| Err(DatePatternError { what, at });
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut chars = pattern.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            if c == '\'' {
                // Two quotes are one, inside of quoted text and outside.
                if chars.next_if(|(_, c)| *c == '\'').is_some() {
                    literal.push('\'');
                    continue;
                }
                loop {
                    match chars.next() {
                        None => return wrong("Unterminated quote".to_owned(), at),
                        Some((_, '\'')) if chars.next_if(|(_, c)| *c == '\'').is_some() => literal.push('\''),
                        Some((_, '\'')) => break,
                        Some((_, c)) => literal.push(c),
                    }
                }
            } else if c.is_ascii_alphabetic() {
                let Some(field) = Field::of(c) else { return wrong(format!("Illegal pattern character '{c}'"), at) };
                let mut count = 1;
                while chars.next_if(|(_, next)| *next == c).is_some() {
                    count += 1;
                }
                if field == Field::IsoZone && count > 3 {
                    return wrong(format!("invalid ISO 8601 format: length={count}"), at);
                }
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(Part::Field { field, count, at });
            } else {
                literal.push(c);
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { pattern: pattern.to_owned(), parts })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    fn fields(&self) -> impl Iterator<Item = (Field, usize)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { field, at, .. } => Some((*field, *at)),
            Part::Literal(_) => None,
        })
    }

    /// Whether text can be read with this pattern.
    ///
    /// # Errors
    /// It has a field that does not tell a date for certain: a week, a weekday without a day.
    pub fn check_readable(&self) -> Result<(), DatePatternError> {
        let has_day = self.fields().any(|(field, _)| matches!(field, Field::DayOfMonth | Field::DayOfYear));
        for (field, at) in self.fields() {
            let why = match field {
                Field::WeekYear => "years of weeks (Y)",
                Field::WeekOfYear | Field::WeekOfMonth => "weeks (w, W)",
                Field::DayOfWeekInMonth => "weekdays in a month (F)",
                Field::IsoWeekday => "numbers of weekdays (u)",
                Field::Weekday if !has_day => "weekdays (E) without a day (d or D)",
                _ => continue,
            };
            return Err(DatePatternError { what: format!("{why} can be written but not read"), at });
        }
        Ok(())
    }
}
