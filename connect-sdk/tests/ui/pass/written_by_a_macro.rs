//! The types come from a macro of the author's.
#![deny(warnings)]

use connect_sdk::prelude::*;

macro_rules! types {
    ($config:ident, $part:ident, $at:ident, $data:ident, $field:ident: $number:ty = $default:expr, $text:ty) => {
        #[derive(ConnectorConfig)]
        pub struct $config {
            /// Said.
            #[config(default = $default, range = 0..=100)]
            pub $field: $number,
            /// Said.
            pub topic: $text,
            /// Said.
            pub optional: Option<$text>,
        }
        #[derive(SourcePartition)]
        pub struct $part {
            pub name: $text,
        }
        #[derive(SourceOffset)]
        pub struct $at {
            #[offset(default = $default)]
            pub $field: $number,
        }
        #[derive(ConnectData)]
        pub struct $data {
            #[connect(default = $default)]
            pub $field: $number,
            pub text: Option<$text>,
        }
    };
}
types!(Settings, Part, At, Order, size: i64 = 3, String);
