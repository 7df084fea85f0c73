//! chrono's types as logical types; what is finer than a millisecond is cut off.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Timelike, Utc};

use super::ConnectData;
use crate::data::{DataError, Date, Schema, Time, Timestamp, Value};

/// Days from 0001-01-01 to 1970-01-01, with the first day counted as 1.
const EPOCH_FROM_CE: i32 = 719_163;

impl ConnectData for NaiveDate {
    fn schema() -> Schema {
        Schema::date()
    }

    fn to_value(&self) -> Option<Value> {
        Some(Date::from_epoch_days(self.num_days_from_ce() - EPOCH_FROM_CE).into())
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let days = Date::from_value(value)?.epoch_days();
        days.checked_add(EPOCH_FROM_CE)
            .and_then(Self::from_num_days_from_ce_opt)
            .ok_or_else(|| DataError::new(format!("day `{days}` since 1970 is beyond what chrono's dates can hold")))
    }
}

impl ConnectData for NaiveTime {
    fn schema() -> Schema {
        Schema::time()
    }

    fn to_value(&self) -> Option<Value> {
        // A leap second is told by 1000 milliseconds and more; it belongs to the second before.
        let millis = self.num_seconds_from_midnight() * 1000 + (self.nanosecond() / 1_000_000).min(999);
        let millis = i32::try_from(millis).expect("a day has fewer than 2^31 milliseconds");
        Some(Time::from_millis_of_day(millis).expect("below 24 hours").into())
    }

    /// 24:00 is read as 0:00.
    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let millis = Time::from_value(value)?.millis_of_day().unsigned_abs() % 86_400_000;
        Ok(Self::from_num_seconds_from_midnight_opt(millis / 1000, millis % 1000 * 1_000_000).expect("below 24 hours"))
    }
}

impl ConnectData for DateTime<Utc> {
    fn schema() -> Schema {
        Schema::timestamp()
    }

    fn to_value(&self) -> Option<Value> {
        Some(Timestamp::from_epoch_millis(self.timestamp_millis()).into())
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let millis = Timestamp::from_value(value)?.epoch_millis();
        Self::from_timestamp_millis(millis)
            .ok_or_else(|| DataError::new(format!("instant `{millis}` ms is beyond what chrono's dates can hold")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_instants_survive() {
        let date = NaiveDate::from_ymd_opt(1969, 12, 31).unwrap();
        assert_eq!(date.to_value(), Some(Date::from_epoch_days(-1).into()));
        assert_eq!(NaiveDate::from_value(date.to_value().as_ref()), Ok(date));
        let time = NaiveTime::from_hms_milli_opt(23, 59, 59, 999).unwrap();
        assert_eq!(NaiveTime::from_value(time.to_value().as_ref()), Ok(time));
        assert_eq!(NaiveTime::from_value(Some(&Time::MAX.into())), Ok(NaiveTime::MIN));
        let instant = DateTime::from_timestamp_millis(-1).unwrap();
        assert_eq!(DateTime::<Utc>::from_value(instant.to_value().as_ref()), Ok(instant));
        NaiveDate::from_value(Some(&Date::from_epoch_days(i32::MAX).into())).unwrap_err();
    }
}
