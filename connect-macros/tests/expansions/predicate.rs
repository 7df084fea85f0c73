//! What the macro writes; `p` stands for `::connect_sdk::__private`.

impl Predicate for Sample {
    type Config = Settings;
}
#[automatically_derived]
impl p::PredicatePlugin for Sample {
    const CLASS: p::PredicateClass = p::plugin::predicate::<Self>(p::plugin::PluginMeta {
        class: "Sample",
        name: p::None,
        version: p::version_or_unknown(p::core::option_env!("CARGO_PKG_VERSION")),
        doc: "",
        type_name: p::core::concat!(p::core::module_path!(), "::", "Sample"),
    });
}
const _: () = {
    _ = <Sample as p::PredicatePlugin>::CLASS;
};
