//! Nothing is imported, the names of the standard library mean something else, and the library has another name.
// as: my_sdk
#![deny(warnings)]
#![no_implicit_prelude]
#![allow(non_camel_case_types)]

struct Option;
struct Result;
struct Ok;
struct Some;
struct Vec;
struct bool;
struct str;
struct u8;

#[derive(::my_sdk::ConnectorConfig)]
#[config(crate = ::my_sdk, of = transformation)]
struct Settings {
    /// How long.
    length: i64,
}

#[::my_sdk::transformation(crate = ::my_sdk)]
fn same(
    _: &Settings,
    _: ::my_sdk::transform::Part,
    record: ::my_sdk::transform::ConnectRecord,
) -> ::my_sdk::transform::ConnectRecord {
    record
}

#[derive(::my_sdk::ConnectorConfig)]
#[config(crate = ::my_sdk, of = predicate)]
struct Name {
    /// Which.
    name: ::std::string::String,
}

#[::my_sdk::predicate(crate = ::my_sdk)]
fn small(name: &Name, record: &::my_sdk::transform::ConnectRecord) -> ::core::primitive::bool {
    ::core::cmp::PartialEq::eq(record.topic.as_str(), name.name.as_str())
}

#[::my_sdk::transformation(crate = ::my_sdk, name = "given")]
impl ::my_sdk::transform::Transformation for Option {
    type Config = ();

    fn new(_: ()) -> ::core::result::Result<Self, ::my_sdk::config::ConfigErrors> {
        ::core::result::Result::Ok(Self)
    }
    fn apply(
        &mut self,
        record: ::my_sdk::transform::ConnectRecord,
    ) -> ::core::result::Result<
        ::core::option::Option<::my_sdk::transform::ConnectRecord>,
        ::my_sdk::data::DataError,
    > {
        ::core::result::Result::Ok(::core::option::Option::Some(record))
    }
}

fn plugins() -> ::my_sdk::plugin::Plugins {
    ::my_sdk::plugin::Plugins::new().transformation::<same>().transformation::<Option>().predicate::<small>()
}
