//! What the macro writes; `p` stands for `::connect_sdk::__private`.

#[doc = " Counts."]
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
#[automatically_derived]
impl p::SourceConnector for Nums {
    const META: p::SourceMeta = p::source_meta::<Self>(p::SourceMeta {
        name: "nums",
        java: p::None,
        version: p::version_or_unknown(p::core::option_env!("CARGO_PKG_VERSION")),
        doc: "Counts.",
        type_name: p::core::concat!(p::core::module_path!(), "::", "Nums"),
        exactly_once: p::ExactlyOnce::Supported,
        defines_transactions: false,
        has_hook: true,
    });
    type Hook = Cleaner;
}
const _: () = {
    _ = <Nums as p::SourceConnector>::META;
};
#[cfg(test)]
#[p::core::prelude::v1::test]
fn replay_of_nums() {
    p::replay_test!(Nums, fixture)
}
