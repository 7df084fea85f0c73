//! A transformation without a memory: a function.

use connect_sdk::prelude::*;
use connect_sdk::transform::Part;

/// The settings of [`shorten()`].
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub struct ShortenConfig {
    /// How many characters are kept.
    #[config(importance = high, range = 1..)]
    max_chars: usize,
    /// What stands behind a text that was cut.
    #[config(default = "...")]
    mark: String,
}

/// Cuts keys or values that are long texts.
///
/// # Errors
/// The key or value is not text.
#[transformation(name = "Shorten")]
pub fn shorten(config: &ShortenConfig, part: Part, mut record: ConnectRecord) -> Result<ConnectRecord, DataError> {
    match &mut part.of(&mut record).value {
        Some(Value::String(text)) => {
            if let Some((end, _)) = text.char_indices().nth(config.max_chars) {
                *text = format!("{}{}", &text[..end], config.mark).into();
            }
        }
        Some(other) => return Err(DataError::new(format!("only text can be cut, found {}", other.kind_name()))),
        // A null stays one: in a compacted topic it deletes.
        None => {}
    }
    Ok(record)
}

#[cfg(test)]
mod tests;
