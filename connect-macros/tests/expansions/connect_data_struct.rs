//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    const __FIELD_0: p::data::FieldType<i64> = p::data::field_type::<i64>();
    const __FIELD_1: p::data::FieldType<Decimal> = p::data::decimal_type::<Decimal, 2>();
    const __FIELD_2: p::data::FieldType<String> = p::data::field_type::<String>();
    #[automatically_derived]
    impl p::ConnectData for Order {
        fn schema() -> p::Schema {
            static __SCHEMA: p::std::sync::OnceLock<p::Schema> = p::std::sync::OnceLock::new();
            p::data::schema_once(&__SCHEMA, p::core::concat!(p::core::module_path!(), "::", "Order"), || {
                p::SchemaBuilder::struct_()
                    .name("Order")
                    .field("orderId", (__FIELD_0.schema)())
                    .field("price", (__FIELD_1.schema)())
                    .field("note", (__FIELD_2.schema)())
            })
        }
        fn to_value(&self) -> p::Option<p::Value> {
            p::data::struct_value(
                Self::schema(),
                p::std::vec![
                    (__FIELD_0.to_value)(&self.order_id),
                    (__FIELD_1.to_value)(&self.price),
                    (__FIELD_2.to_value)(&self.note)
                ],
            )
        }
        fn from_value(__value: p::Option<&p::Value>) -> p::Result<Self, p::DataError> {
            let __fields = p::data::Fields::of(__value, "Order")?;
            p::Ok(Self {
                order_id: __fields.read(&__FIELD_0, "orderId")?,
                price: __fields.read(&__FIELD_1, "price")?,
                note: __fields.read_or(&__FIELD_2, "note", <String as p::core::default::Default>::default)?,
                cache: (<Cache as p::core::default::Default>::default)(),
            })
        }
    }
};
