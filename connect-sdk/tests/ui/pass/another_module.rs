//! The connector and its types live in different modules.
#![deny(warnings)]

mod types {
    use connect_sdk::{ConnectorConfig, SourceOffset, SourcePartition};

    #[derive(ConnectorConfig)]
    pub(crate) struct Settings {}
    #[derive(SourcePartition)]
    pub(crate) struct Part {
        pub(super) name: String,
    }
    #[derive(SourceOffset)]
    pub(crate) struct At {
        pub(super) i: i64,
    }
    pub(crate) struct Nums;
}

mod connector {
    use super::types::{At, Part, Settings};
    use connect_sdk::{error::Result, source::{Batch, Cursors, Source}, source_connector};

    /// Nothing.
    #[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
    impl Source for super::types::Nums {
        type Config = Settings;
        type Partition = Part;
        type Offset = At;

        async fn partitions(_: &Settings) -> Result<Vec<Part>> {
            Ok(vec![Part { name: "x".to_owned() }])
        }
        async fn open(_: &Settings, _: Cursors<Part, At>) -> Result<Self> {
            Ok(Self)
        }
        async fn poll(&mut self, _: &mut Batch<Self>) -> Result<()> {
            Ok(())
        }
        async fn close(self) {}
    }
}

fn plugins() -> connect_sdk::plugin::Plugins {
    connect_sdk::plugin::Plugins::new().source::<types::Nums>()
}
