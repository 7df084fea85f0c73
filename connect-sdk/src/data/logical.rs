//! Values of the logical types: `Decimal`, `Date`, `Time`, `Timestamp`.

use std::fmt;

use num_bigint::BigInt;

use super::DataError;

/// Milliseconds of one day.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// A decimal number: an unscaled integer of any size and the number of digits after the point.
///
/// As in Java's `BigDecimal`, 1.5 and 1.50 are different values, and the scale may be negative.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    unscaled: BigInt,
    scale: i32,
}

impl Decimal {
    /// The number `unscaled` / 10^`scale`.
    #[must_use]
    pub fn new(unscaled: impl Into<BigInt>, scale: i32) -> Self {
        Self { unscaled: unscaled.into(), scale }
    }

    /// The number that Connect stores as these bytes: two's complement, most significant byte first.
    ///
    /// No bytes at all are taken as 0.
    #[must_use]
    pub fn from_be_bytes(bytes: &[u8], scale: i32) -> Self {
        Self { unscaled: BigInt::from_signed_bytes_be(bytes), scale }
    }

    /// The bytes in which Connect stores the unscaled number: two's complement, most significant byte first.
    #[must_use]
    pub fn to_be_bytes(&self) -> Vec<u8> {
        self.unscaled.to_signed_bytes_be()
    }

    /// The number without its decimal point.
    #[must_use]
    pub fn unscaled(&self) -> &BigInt {
        &self.unscaled
    }

    /// How many digits stand after the decimal point; negative: how many zeros were cut before it.
    #[must_use]
    pub fn scale(&self) -> i32 {
        self.scale
    }

    /// The same number with another scale; none if digits would be lost, or if it would get more than
    /// [`DIGITS_ADDED_MAX`](Self::DIGITS_ADDED_MAX) zeros.
    #[must_use]
    pub fn rescaled(&self, scale: i32) -> Option<Self> {
        let steps = i64::from(scale) - i64::from(self.scale);
        if steps == 0 || self.unscaled == BigInt::ZERO {
            return Some(Self { unscaled: self.unscaled.clone(), scale });
        }
        if steps > 0 {
            let zeros = u32::try_from(steps).ok().filter(|&zeros| zeros <= Self::DIGITS_ADDED_MAX)?;
            return Some(Self { unscaled: &self.unscaled * BigInt::from(10).pow(zeros), scale });
        }
        // A number of so many bits has fewer digits, and cannot end in more zeros.
        let zeros = u32::try_from(-steps).ok().filter(|&zeros| u64::from(zeros) <= self.unscaled.bits())?;
        let unit = BigInt::from(10).pow(zeros);
        let quotient = &self.unscaled / &unit;
        (&quotient * unit == self.unscaled).then_some(Self { unscaled: quotient, scale })
    }

    /// How many zeros [`rescaled`](Self::rescaled) adds at most: a tiny text such as `1e2000000000` must not fill the
    /// memory.
    pub const DIGITS_ADDED_MAX: u32 = 10_000;
}

/// A calendar date without time of day: days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// The date that many days after (or, if negative, before) 1970-01-01.
    #[must_use]
    pub const fn from_epoch_days(days: i32) -> Self {
        Self(days)
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub const fn epoch_days(self) -> i32 {
        self.0
    }

    /// The date's first millisecond, UTC.
    #[must_use]
    pub const fn to_timestamp(self) -> Timestamp {
        Timestamp(self.0 as i64 * DAY_MS)
    }
}

/// A time of day: milliseconds since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i32);

impl Time {
    /// The largest value, 24:00, which Kafka Connect accepts beside 0:00.
    pub const MAX: Self = Self(86_400_000);

    /// The time that many milliseconds after midnight.
    ///
    /// # Errors
    /// Fails unless the number is from 0 to 86400000 (24:00).
    pub fn from_millis_of_day(millis: i32) -> Result<Self, DataError> {
        if (0..=Self::MAX.0).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(DataError::new(format!(
                "`{millis}` is not a time of day; it must be between 0 and 86400000 milliseconds"
            )))
        }
    }

    /// Milliseconds since midnight, 0 to 86400000.
    #[must_use]
    pub const fn millis_of_day(self) -> i32 {
        self.0
    }
}

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant that many milliseconds after (or, if negative, before) 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_epoch_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn epoch_millis(self) -> i64 {
        self.0
    }

    /// The date of this instant in UTC; none if it lies more than 2^31 days from 1970.
    #[must_use]
    pub fn date(self) -> Option<Date> {
        i32::try_from(self.0.div_euclid(DAY_MS)).ok().map(Date)
    }

    /// The time of day of this instant in UTC.
    #[must_use]
    pub fn time(self) -> Time {
        #[expect(clippy::cast_possible_truncation, reason = "a remainder by the milliseconds of a day fits 32 bits")]
        let millis = self.0.rem_euclid(DAY_MS) as i32;
        Time(millis)
    }
}

/// Which logical type a schema's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "Kafka's logical types are settled")]
pub enum LogicalType {
    /// `BYTES` that hold a [`Decimal`]; the schema's parameter `scale` tells the scale.
    Decimal,
    /// `INT32` days since 1970-01-01: a [`Date`].
    Date,
    /// `INT32` milliseconds since midnight: a [`Time`].
    Time,
    /// `INT64` milliseconds since 1970-01-01T00:00:00Z: a [`Timestamp`].
    Timestamp,
}

impl LogicalType {
    /// All logical types.
    pub const ALL: [Self; 4] = [Self::Decimal, Self::Date, Self::Time, Self::Timestamp];

    /// The schema name that marks the type.
    #[must_use]
    pub const fn schema_name(self) -> &'static str {
        match self {
            Self::Decimal => "org.apache.kafka.connect.data.Decimal",
            Self::Date => "org.apache.kafka.connect.data.Date",
            Self::Time => "org.apache.kafka.connect.data.Time",
            Self::Timestamp => "org.apache.kafka.connect.data.Timestamp",
        }
    }

    /// The logical type with this schema name.
    #[must_use]
    pub fn from_schema_name(name: &str) -> Option<Self> {
        // All names share one prefix, so that an ordinary name is dismissed by one comparison.
        let short = name.strip_prefix("org.apache.kafka.connect.data.")?;
        Self::ALL.into_iter().find(|kind| kind.short_name() == short)
    }

    const fn short_name(self) -> &'static str {
        match self {
            Self::Decimal => "Decimal",
            Self::Date => "Date",
            Self::Time => "Time",
            Self::Timestamp => "Timestamp",
        }
    }
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_belong_together() {
        for kind in LogicalType::ALL {
            assert_eq!(LogicalType::from_schema_name(kind.schema_name()), Some(kind));
        }
        assert_eq!(LogicalType::from_schema_name("org.apache.kafka.connect.data.Money"), None);
        assert_eq!(LogicalType::from_schema_name("Date"), None);
    }

    #[test]
    fn an_instant_before_1970_belongs_to_the_day_in_which_it_lies() {
        let last = Timestamp::from_epoch_millis(-1);
        assert_eq!(last.date(), Some(Date::from_epoch_days(-1)));
        assert_eq!(last.time().millis_of_day(), 86_399_999);
        assert_eq!(Timestamp::from_epoch_millis(i64::MIN).date(), None);
    }

    #[test]
    fn a_time_of_day_has_bounds() {
        assert_eq!(Time::from_millis_of_day(86_400_000), Ok(Time::MAX));
        Time::from_millis_of_day(86_400_001).unwrap_err();
        Time::from_millis_of_day(-1).unwrap_err();
    }

    #[test]
    fn a_decimal_is_rescaled_exactly_or_not_at_all() {
        let decimal = Decimal::new(150, 2);
        assert_eq!(decimal.rescaled(1), Some(Decimal::new(15, 1)));
        assert_eq!(decimal.rescaled(4), Some(Decimal::new(15_000, 4)));
        assert_eq!(decimal.rescaled(0), None);
        assert_eq!(Decimal::new(1, i32::MIN).rescaled(i32::MAX), None);
        assert_eq!(Decimal::new(1, i32::MAX).rescaled(i32::MIN), None);
        assert_eq!(Decimal::new(0, 5).rescaled(-5), Some(Decimal::new(0, -5)));
    }

    #[test]
    fn decimals_keep_their_bytes() {
        for (text, bytes) in [("0", vec![0]), ("128", vec![0, 128]), ("-128", vec![128]), ("1234", vec![4, 210])] {
            let decimal = Decimal::new(text.parse::<BigInt>().unwrap(), 2);
            assert_eq!(decimal.to_be_bytes(), bytes);
            assert_eq!(Decimal::from_be_bytes(&bytes, 2), decimal);
        }
    }
}
