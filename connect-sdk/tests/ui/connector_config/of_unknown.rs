//! The configuration belongs to nothing that there is.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(of = transform)] //~ ERROR `of` cannot be `transform`; expected one of: `connector`, `transformation`
struct Settings {}
