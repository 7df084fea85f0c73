//! What the macro writes; `p` stands for `::connect_sdk::__private`.

#[doc = " Hexadecimal text."]
impl Converter for Hex {
    type Config = ();
}
#[automatically_derived]
impl p::ConverterPlugin for Hex {
    const CLASS: p::ConverterClass = p::plugin::converter::<Self>(p::plugin::PluginMeta {
        class: "org.example.HexConverter",
        name: p::Some("Hex"),
        version: p::version_or_unknown(p::core::option_env!("CARGO_PKG_VERSION")),
        doc: "Hexadecimal text.",
        type_name: p::core::concat!(p::core::module_path!(), "::", "Hex"),
    });
}
const _: () = {
    _ = <Hex as p::ConverterPlugin>::CLASS;
};
