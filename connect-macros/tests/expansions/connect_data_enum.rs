//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    const __FIELD_0: p::data::FieldType<String> = p::data::field_type::<String>();
    const __FIELD_1: p::data::FieldType<String> = p::data::field_type::<String>();
    #[automatically_derived]
    impl p::ConnectData for Pay {
        fn schema() -> p::Schema {
            static __SCHEMA: p::std::sync::OnceLock<p::Schema> = p::std::sync::OnceLock::new();
            p::data::schema_once(&__SCHEMA, p::core::concat!(p::core::module_path!(), "::", "Pay"), || {
                p::SchemaBuilder::struct_()
                    .name("Pay")
                    .field("Card", (__FIELD_0.schema)().to_optional())
                    .field(
                        "Transfer",
                        p::data::content_schema(
                            p::SchemaBuilder::struct_().name("Pay.Transfer").field("iban", (__FIELD_1.schema)()),
                        ),
                    )
                    .field("Cash", p::Schema::optional_boolean())
            })
        }
        fn to_value(&self) -> p::Option<p::Value> {
            let __schema = Self::schema();
            match self {
                Self::Card(__content_0) => p::data::variant_value(__schema, 0usize, (__FIELD_0.to_value)(__content_0)),
                Self::Transfer { iban: __content_0 } => {
                    p::data::variant_struct_value(__schema, 1usize, p::std::vec![(__FIELD_1.to_value)(__content_0)])
                }
                Self::Cash => p::data::variant_value(__schema, 2usize, p::Some(p::Value::Boolean(true))),
            }
        }
        fn from_value(__value: p::Option<&p::Value>) -> p::Result<Self, p::DataError> {
            let (__index, __value) = p::data::variant_from_fields(__value, "Pay", &["Card", "Transfer", "Cash"])?;
            p::Ok(match __index {
                0usize => Self::Card(p::data::in_variant("Card", (__FIELD_0.from_value)(p::Some(__value)))?),
                1usize => p::data::in_variant(
                    "Transfer",
                    (|| {
                        let __fields = p::data::Fields::of(p::Some(__value), "Pay::Transfer")?;
                        p::Ok(Self::Transfer { iban: __fields.read(&__FIELD_1, "iban")? })
                    })(),
                )?,
                _ => Self::Cash,
            })
        }
    }
};
