//! Object-safe twins of the author's traits, by blanket impls: what the runtime and the testkit work with.

mod converter;
mod sink;
mod source;
mod transform;

pub use converter::{DynConverter, DynHeaderConverter};
pub(crate) use converter::{make_converter, make_for_headers, make_header_converter};
pub use transform::{DynPredicate, DynTransformation};
pub(crate) use transform::{make_for_key, make_for_value, make_predicate, make_transformation};

pub use sink::{DynSink, DynSinkConnector, SinkDescriptor};
pub use source::{DynHook, DynSource, DynSourceConnector, Polled, SourceDescriptor};

use std::{collections::BTreeMap, pin::Pin};

/// A future behind a pointer; one is made for each poll, put or pre_commit, never for a record.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connector's configuration as text.
pub type Properties = BTreeMap<String, String>;
