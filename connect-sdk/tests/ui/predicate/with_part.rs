//! The predicate wants to know a part.

use connect_sdk::prelude::*;

#[predicate]
fn small(part: Part, record: &ConnectRecord) -> bool { //~ ERROR one too many, or in another place
    true
}
