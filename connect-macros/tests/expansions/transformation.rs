//! What the macro writes; `p` stands for `::connect_sdk::__private`.

#[doc = " Makes text upper case."]
pub fn upper(config: &Settings, part: Part, mut record: ConnectRecord) -> Result<ConnectRecord, DataError> {
    Ok(record)
}
#[doc = "The transformation `upper`."]
#[allow(non_camel_case_types, reason = "it has the name of its function")]
pub struct upper {
    config: Settings,
    part: p::Part,
}
#[automatically_derived]
impl p::core::fmt::Debug for upper {
    fn fmt(&self, f: &mut p::core::fmt::Formatter<'_>) -> p::core::fmt::Result {
        f.write_str("upper")
    }
}
#[automatically_derived]
impl p::PartTransformation for upper {
    type Config = Settings;
    fn new(config: Self::Config, part: p::Part) -> p::Result<Self, p::ConfigErrors> {
        p::Ok(Self { config, part })
    }
    fn apply(&mut self, record: p::ConnectRecord) -> p::Result<p::Option<p::ConnectRecord>, p::DataError> {
        p::plugin::changed(upper(&self.config, self.part, record))
    }
}
#[automatically_derived]
impl p::TransformationPlugin for upper {
    const CLASSES: &'static [p::TransformationClass] = &[
        p::plugin::transformation_of_keys::<Self>(p::plugin::PluginMeta {
            class: "org.example.Upper$Key",
            name: p::None,
            version: p::version_or_unknown(p::core::option_env!("CARGO_PKG_VERSION")),
            doc: "Makes text upper case.",
            type_name: p::core::concat!(p::core::module_path!(), "::", "upper"),
        }),
        p::plugin::transformation_of_values::<Self>(p::plugin::PluginMeta {
            class: "org.example.Upper$Value",
            name: p::None,
            version: p::version_or_unknown(p::core::option_env!("CARGO_PKG_VERSION")),
            doc: "Makes text upper case.",
            type_name: p::core::concat!(p::core::module_path!(), "::", "upper"),
        }),
    ];
}
const _: () = {
    _ = <upper as p::TransformationPlugin>::CLASSES;
};
