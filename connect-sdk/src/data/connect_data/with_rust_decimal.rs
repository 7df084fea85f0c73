//! rust_decimal's decimals as fields with a scale.

use crate::data::derive_support::DecimalNumber;
use crate::data::{DataError, Decimal};

impl DecimalNumber for rust_decimal::Decimal {
    fn to_decimal(&self) -> Decimal {
        let scale = i32::try_from(self.scale()).expect("at most 28");
        Decimal::new(self.mantissa(), scale)
    }

    fn from_decimal(value: &Decimal) -> Result<Self, DataError> {
        // Negative scales and trailing zeros beyond 28 places can often be written another way.
        let fitted = match value.scale() {
            scale if scale < 0 => value.rescaled(0),
            scale if scale > 28 => value.rescaled(28),
            _ => Some(value.clone()),
        };
        fitted
            .and_then(|value| {
                let unscaled = i128::try_from(value.unscaled()).ok()?;
                Self::try_from_i128_with_scale(unscaled, u32::try_from(value.scale()).ok()?).ok()
            })
            .ok_or_else(|| DataError::new("the decimal has more digits than rust_decimal can hold (28)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BigInt;

    #[test]
    fn decimals_survive() {
        let price = rust_decimal::Decimal::new(-150, 2);
        assert_eq!(price.to_decimal(), Decimal::new(-150, 2));
        assert_eq!(rust_decimal::Decimal::from_decimal(&Decimal::new(-150, 2)), Ok(price));
        assert_eq!(rust_decimal::Decimal::from_decimal(&Decimal::new(15, -1)), Ok(150.into()));
        rust_decimal::Decimal::from_decimal(&Decimal::new(BigInt::from(10).pow(40), 0)).unwrap_err();
        rust_decimal::Decimal::from_decimal(&Decimal::new(1, i32::MAX)).unwrap_err();
        rust_decimal::Decimal::from_decimal(&Decimal::new(1, i32::MIN)).unwrap_err();
    }
}
