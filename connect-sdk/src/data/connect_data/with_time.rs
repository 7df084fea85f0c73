//! The time crate's types as logical types; what is finer than a millisecond is cut off.

use time::{Date as TimeDate, OffsetDateTime, Time as TimeOfDay};

use super::ConnectData;
use crate::data::{DataError, Date, Schema, Time, Timestamp, Value};

/// The Julian day of 1970-01-01.
const EPOCH_JULIAN: i32 = 2_440_588;

impl ConnectData for TimeDate {
    fn schema() -> Schema {
        Schema::date()
    }

    fn to_value(&self) -> Option<Value> {
        Some(Date::from_epoch_days(self.to_julian_day() - EPOCH_JULIAN).into())
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let days = Date::from_value(value)?.epoch_days();
        days.checked_add(EPOCH_JULIAN).and_then(|day| Self::from_julian_day(day).ok()).ok_or_else(|| {
            DataError::new(format!("day `{days}` since 1970 is beyond what the time crate's dates can hold"))
        })
    }
}

impl ConnectData for TimeOfDay {
    fn schema() -> Schema {
        Schema::time()
    }

    fn to_value(&self) -> Option<Value> {
        let (hour, minute, second, milli) = self.as_hms_milli();
        let seconds = (i32::from(hour) * 60 + i32::from(minute)) * 60 + i32::from(second);
        Some(Time::from_millis_of_day(seconds * 1000 + i32::from(milli)).expect("below 24 hours").into())
    }

    /// 24:00 is read as 0:00.
    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let millis = Time::from_value(value)?.millis_of_day();
        Ok(Self::MIDNIGHT + time::Duration::milliseconds(millis.into()))
    }
}

impl ConnectData for OffsetDateTime {
    fn schema() -> Schema {
        Schema::timestamp()
    }

    fn to_value(&self) -> Option<Value> {
        let millis = self.unix_timestamp_nanos().div_euclid(1_000_000);
        Some(Timestamp::from_epoch_millis(i64::try_from(millis).expect("its years have at most six digits")).into())
    }

    /// The instant in UTC.
    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let millis = Timestamp::from_value(value)?.epoch_millis();
        Self::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).map_err(|_| {
            DataError::new(format!("instant `{millis}` ms is beyond what the time crate's dates can hold"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_instants_survive() {
        let date = TimeDate::from_julian_day(EPOCH_JULIAN - 1).unwrap();
        assert_eq!(date.to_value(), Some(Date::from_epoch_days(-1).into()));
        assert_eq!(TimeDate::from_value(date.to_value().as_ref()), Ok(date));
        let time = TimeOfDay::from_hms_milli(23, 59, 59, 999).unwrap();
        assert_eq!(TimeOfDay::from_value(time.to_value().as_ref()), Ok(time));
        assert_eq!(TimeOfDay::from_value(Some(&Time::MAX.into())), Ok(TimeOfDay::MIDNIGHT));
        let instant = OffsetDateTime::from_unix_timestamp_nanos(-1_000_000).unwrap();
        assert_eq!(OffsetDateTime::from_value(instant.to_value().as_ref()), Ok(instant));
        TimeDate::from_value(Some(&Date::from_epoch_days(i32::MAX).into())).unwrap_err();
    }
}
