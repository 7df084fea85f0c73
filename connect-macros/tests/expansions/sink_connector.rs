//! What the macro writes; `p` stands for `::connect_sdk::__private`.

#[doc = " Prints record values."]
impl DirectSink for Print {
    type Config = Settings;
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
#[automatically_derived]
impl p::SinkConnector for Print {
    const META: p::SinkMeta = p::direct_sink_meta::<Self>(p::SinkMeta {
        name: "print",
        java: p::None,
        version: "1.2.3",
        doc: "Prints record values.",
        type_name: p::core::concat!(p::core::module_path!(), "::", "Print"),
    });
    type Task = p::Direct<Self>;
}
const _: () = {
    _ = <Print as p::SinkConnector>::META;
};
