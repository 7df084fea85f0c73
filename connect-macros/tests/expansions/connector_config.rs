//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    const __TYPE_0: p::config::FieldType<PathBuf> = p::config::field_type::<PathBuf>();
    const __TYPE_1: p::config::FieldType<usize> = p::config::field_type::<usize>();
    const __TYPE_2: p::config::FieldType<Mode> = p::config::field_type::<Mode>();
    #[automatically_derived]
    impl p::ConnectorConfig for Settings {
        fn config_def() -> p::ConfigDef {
            let __def = p::ConfigDef::new();
            let __def = p::config::Field::new(&__TYPE_0, "path", "The file to append to.").define(__def);
            let __default: usize = 1000;
            let __def =
                p::config::Field::new(&__TYPE_1, "flush.size", "Write once this many records have come together.")
                    .default(__default)
                    .importance(p::Importance::Low)
                    .range(1i64..)
                    .define(__def);
            let __default: Mode = Mode::Append;
            let __def = p::config::Field::new(&__TYPE_2, "mode", "How to write.").default(__default).define(__def);
            __def
        }
        fn from_properties(
            __properties: &p::std::collections::BTreeMap<p::std::string::String, p::std::string::String>,
        ) -> p::Result<Self, p::ConfigErrors> {
            let mut __reader = p::config::Reader::new(&Self::config_def(), __properties);
            let __value_0 = __reader.read(&__TYPE_0, "path");
            let __value_1 = __reader.read(&__TYPE_1, "flush.size");
            let __value_2 = __reader.read(&__TYPE_2, "mode");
            if let (p::Some(__value_0), p::Some(__value_1), p::Some(__value_2)) = (__value_0, __value_1, __value_2) {
                __reader.finish(Self { path: __value_0, flush_size: __value_1, mode: __value_2 }, whole)
            } else {
                p::Err(__reader.into_errors())
            }
        }
        fn __derived() -> p::config::Derived {
            p::config::Derived::new()
        }
        const __KEYS: &'static [&'static p::core::primitive::str] =
            &[__TYPE_0.bare_key("path"), __TYPE_1.bare_key("flush.size"), __TYPE_2.bare_key("mode")];
    }
};
