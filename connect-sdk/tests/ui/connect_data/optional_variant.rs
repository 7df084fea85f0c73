//! A variant may be nothing.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
enum Pay {
    Card(Option<String>), //~ ERROR the content of a variant cannot be an `Option`
    Cash,
}
