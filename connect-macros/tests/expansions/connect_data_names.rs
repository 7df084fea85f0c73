//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    #[automatically_derived]
    impl p::ConnectData for State {
        fn schema() -> p::Schema {
            p::Schema::string()
        }
        fn to_value(&self) -> p::Option<p::Value> {
            p::data::text_value(match self {
                Self::Open => "Open",
                Self::Closed => "Closed",
            })
        }
        fn from_value(__value: p::Option<&p::Value>) -> p::Result<Self, p::DataError> {
            p::Ok(match p::data::variant_from_text(__value, "State", &["Open", "Closed"])? {
                0usize => Self::Open,
                _ => Self::Closed,
            })
        }
        fn as_text(&self) -> p::Option<&p::core::primitive::str> {
            p::Some(match self {
                Self::Open => "Open",
                Self::Closed => "Closed",
            })
        }
    }
};
