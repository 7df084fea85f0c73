//! The closed sets of a configuration key: its type, its importance, its width.

use std::fmt;

/// How the text of a key is read.
#[allow(clippy::exhaustive_enums, reason = "Kafka's set of configuration types is closed")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigType {
    /// `true` or `false` in any case.
    Boolean,
    /// Text without the blanks around it.
    String,
    /// A 32-bit integer.
    Int,
    /// A 16-bit integer.
    Short,
    /// A 64-bit integer.
    Long,
    /// A 64-bit floating point number as Java reads it.
    Double,
    /// Items between commas.
    List,
    /// The name of a plugin: a short name or a Java class name.
    Class,
    /// Text that is never shown.
    Password,
}

/// How much an operator should care about a key.
#[allow(clippy::exhaustive_enums, reason = "Kafka's set of importances is closed")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Importance {
    /// Most installations set it.
    High,
    /// Some installations set it.
    #[default]
    Medium,
    /// Few installations set it.
    Low,
}

/// How wide an input field for the key should be in a form.
#[allow(clippy::exhaustive_enums, reason = "Kafka's set of widths is closed")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// Not said.
    #[default]
    None,
    /// A few characters.
    Short,
    /// About a word or a name.
    Medium,
    /// A line.
    Long,
}

macro_rules! display_as_kafka {
    ($type:ident { $($variant:ident => $text:literal),+ $(,)? }) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $text),+ })
            }
        }
    };
}
display_as_kafka!(ConfigType {
    Boolean => "BOOLEAN", String => "STRING", Int => "INT", Short => "SHORT", Long => "LONG", Double => "DOUBLE",
    List => "LIST", Class => "CLASS", Password => "PASSWORD",
});
display_as_kafka!(Importance { High => "HIGH", Medium => "MEDIUM", Low => "LOW" });
display_as_kafka!(Width { None => "NONE", Short => "SHORT", Medium => "MEDIUM", Long => "LONG" });
