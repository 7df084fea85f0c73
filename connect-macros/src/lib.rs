//! Procedural macros of connect-sdk, which re-exports them: see there for what they are for.
//!
//! An attribute keeps the tokens of its item and adds a description beside it; a derive writes the impls. Both report
//! every mistake of a build, each at its token, and then still write impls, so that no error follows from another.
#![forbid(unsafe_code)]

mod case;
mod config;
mod connector;
mod crate_path;
mod data;
mod description;
mod diagnostics;
mod doc_comments;
mod literal;
mod offset;
mod options;
mod plugin;
#[cfg(test)]
mod snapshots;
mod symbols;
mod trait_impl;
mod types;

use proc_macro::TokenStream;

/// Describes a source connector. It stands on `impl Source for ..`, which it leaves as it is.
///
/// | argument | |
/// |---|---|
/// | `name = "file-lines"` | what users write as `connector.class`; required |
/// | `exactly_once = supported` | every record can be read again from the offset before it; needs `replay_test` |
/// | `exactly_once = supported(untested = "why")` | the same without a test; the reason is shown with the guarantee |
/// | `exactly_once = unsupported(why = "why")` | it cannot be read again; allows `Batch::emit_acked` |
/// | `replay_test = fixture` | writes a test that kills and replays the source on what `fixture()` returns |
/// | `transaction_boundaries = connector` | allows `Batch::commit_transaction` and `Batch::abort_transaction` |
/// | `on_commit = Type` | the `CommitHook` that is told what was stored |
/// | `java = "org.example.FileSource"` | the Java class that it stands for |
/// | `version = "1.2.3"` | by default the version of the crate |
/// | `crate = path` | where connect-sdk is, if not at `::connect_sdk` |
///
/// The doc comment on the impl describes the connector to operators.
#[proc_macro_attribute]
pub fn source_connector(args: TokenStream, item: TokenStream) -> TokenStream {
    connector::source(args.into(), &item.into()).into()
}

/// Describes a sink connector. It stands on `impl DirectSink for ..` or `impl BufferedSink for ..`, which it leaves as
/// it is.
///
/// | argument | |
/// |---|---|
/// | `name = "lines"` | what users write as `connector.class`; required |
/// | `java = "org.example.FileSink"` | the Java class that it stands for |
/// | `version = "1.2.3"` | by default the version of the crate |
/// | `crate = path` | where connect-sdk is, if not at `::connect_sdk` |
///
/// The doc comment on the impl describes the connector to operators.
#[proc_macro_attribute]
pub fn sink_connector(args: TokenStream, item: TokenStream) -> TokenStream {
    connector::sink(args.into(), &item.into()).into()
}

/// Makes a transformation of a function, or of a type with fields of its own.
///
/// On a function it stands for transformations that keep nothing from record to record. The function stays as it is; beside
/// it comes a type with its name, which `Plugins::transformation` takes:
///
/// ```text
/// fn name(config: &Config, part: Part, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>
/// ```
///
/// `config` is there if it has settings, `part` if it works on keys or on values: it is then two classes, `name$Key` and
/// `name$Value`. Where nothing is dropped or nothing fails, `Result<ConnectRecord, DataError>`, `Option<ConnectRecord>` or
/// `ConnectRecord` will do as answer. `None` drops the record.
///
/// On `impl Transformation for ..` or `impl PartTransformation for ..`, which it leaves as it is, it stands for those that
/// keep something.
///
/// | argument | |
/// |---|---|
/// | `name = "Upper"` | what users write as `transforms.<alias>.type`; by default the name of the type or function |
/// | `java = "org.example.Upper"` | the Java class that it stands for; its simple name will do then too |
/// | `version = "1.2.3"` | by default the version of the crate |
/// | `crate = path` | where connect-sdk is, if not at `::connect_sdk` |
///
/// The doc comment describes the transformation to operators. A key of the configuration cannot be `type`, `predicate`,
/// `negate` or `plugin.version`, which every transformation has.
#[proc_macro_attribute]
pub fn transformation(args: TokenStream, item: TokenStream) -> TokenStream {
    plugin::attribute(plugin::Kind::Transformation, args.into(), &item.into()).into()
}

/// Makes a predicate of a function, or of a type with fields of its own: it says which records a transformation is applied
/// to.
///
/// A function is `fn name(config: &Config, record: &ConnectRecord) -> bool`, without `config` if it has no settings, or with
/// `Result<bool, DataError>` where a record may not fit. It stays as it is; beside it comes a type with its name, which
/// `Plugins::predicate` takes.
///
/// On `impl Predicate for ..`, which it leaves as it is, it stands for those that keep something. The arguments are those of
/// `#[transformation]`. A key of the configuration cannot be `type` or `plugin.version`, which every predicate has; one that
/// is `name` says `#[config(of = predicate)]`.
#[proc_macro_attribute]
pub fn predicate(args: TokenStream, item: TokenStream) -> TokenStream {
    plugin::attribute(plugin::Kind::Predicate, args.into(), &item.into()).into()
}

/// Describes a converter. It stands on `impl Converter for ..`, for keys, values and headers, or on `impl HeaderConverter
/// for ..`, for headers alone, and leaves it as it is.
///
/// The arguments are those of `#[transformation]`; the default name is that of the type. The doc comment describes the
/// converter to operators. A key of the configuration cannot be `converter.type` or `plugin.version`, which every converter
/// has.
#[proc_macro_attribute]
pub fn converter(args: TokenStream, item: TokenStream) -> TokenStream {
    plugin::attribute(plugin::Kind::Converter, args.into(), &item.into()).into()
}

/// Makes a struct a position in a source partition.
///
/// Fields are plain values: `String`, `bool`, `i8` to `i64`, `u8` to `u32`, `f32`, `f64`, and `Option` of these.
///
/// On the struct: `#[offset(lock = "offsets.lock")]` names a file beside the source file, which keeps what is stored: a
/// new field without a default, or a field of another kind, is then refused at compile time. Begin with an empty file; a
/// test that the derive writes fills it. `#[offset(crate = path)]` says where connect-sdk is.
///
/// On a field: `#[offset(default = 0)]` is the value of a field that was not stored, `#[offset(default)]` that of its
/// type; `#[offset(rename = "pos")]` is the name under which it is stored.
#[proc_macro_derive(SourceOffset, attributes(offset))]
pub fn source_offset(input: TokenStream) -> TokenStream {
    offset::derive(offset::Role::Offset, input.into()).into()
}

/// Makes a struct the identity of a source partition.
///
/// Fields are plain values with an exact identity: `String`, `bool`, `i8` to `i64`, `u8` to `u32`, and `Option` of
/// these. `#[partition(lock = "offsets.lock")]`, `#[partition(crate = path)]` and, on a field,
/// `#[partition(rename = "filename")]` are as for `SourceOffset`; a lock file allows no other field at all.
#[proc_macro_derive(SourcePartition, attributes(partition))]
pub fn source_partition(input: TokenStream) -> TokenStream {
    offset::derive(offset::Role::Partition, input.into()).into()
}

/// Makes a struct the configuration of a connector, a transformation, a predicate or a converter: one key for each field,
/// which its doc comment documents.
///
/// The key of `flush_size` is `flush.size`; a `Duration` is milliseconds and its key ends with `.ms`. An `Option` need
/// not be set. On a field, `#[config(..)]` takes:
///
/// | argument | |
/// |---|---|
/// | `default = 1000` | the value if the key is not set |
/// | `range = 1..=10_000` | the numbers that are allowed; of a `Duration`, milliseconds or durations |
/// | `check = function` | `fn(&T) -> Result<(), E>`, a check of the value alone |
/// | `validator = Validator::..` | one of the library's checks; an optional key that is not set passes |
/// | `key = "file"` | another key |
/// | `importance = high` | `high`, `medium` (if not said) or `low` |
/// | `group = "Files"`, `display_name = "File"`, `width = medium` | how forms show it; its place in the group is that of the field |
/// | `not_secret` | a text whose name looks like a secret's is none |
///
/// On the struct: `#[config(check = function)]` with `fn(&Self) -> Result<(), E>` for what fields must have in common,
/// `#[config(crate = path)]`, and `#[config(of = transformation)]`, `predicate` or `converter`: the keys are then judged as
/// those of such a plugin, and not as those of a connector, which cannot have the key `name`, for example.
#[proc_macro_derive(ConnectorConfig, attributes(config))]
pub fn connector_config(input: TokenStream) -> TokenStream {
    config::derive(input.into()).into()
}

/// Makes an enum without fields the type of a configuration key: its variants are the values that users may write.
///
/// `ReadCommitted` is written `read_committed`; `#[config(rename_all = "kebab-case")]` on the enum and
/// `#[config(rename = "..")]` on a variant change that. With `#[config(case_insensitive)]` on the enum, letters may be of
/// either case.
#[proc_macro_derive(ConfigEnum, attributes(config))]
pub fn config_enum(input: TokenStream) -> TokenStream {
    config::derive_enum(input.into()).into()
}

/// Makes a struct or an enum a Connect value with a schema, and back.
///
/// A struct becomes a Connect struct; a struct with one field without a name becomes that field. An enum of names alone
/// becomes text; another enum becomes a struct with one optional field for each variant, of which one is set. `Option` is
/// optional. The schema is named as the type.
///
/// `#[connect(..)]` takes `name = ".."` (of the schema), `version = 1`, `rename_all = ".."` and `crate = path` on the type;
/// `rename = ".."`, `skip` and `default` on a field; `rename = ".."` on a variant. `#[serde(rename)]`,
/// `#[serde(rename_all)]`, `#[serde(skip)]` and `#[serde(default)]` mean the same and need not be repeated.
#[proc_macro_derive(ConnectData, attributes(connect, serde))]
pub fn connect_data(input: TokenStream) -> TokenStream {
    data::derive(input.into()).into()
}
