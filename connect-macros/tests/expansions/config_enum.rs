//! What the macro writes; `p` stands for `::connect_sdk::__private`.

#[automatically_derived]
impl p::ConfigEnum for Mode {
    const VALUES: &'static [&'static p::core::primitive::str] = &["append", "read_committed"];
    fn parse(__text: &p::core::primitive::str) -> p::Option<Self> {
        match __text {
            "append" => p::Some(Self::Append),
            "read_committed" => p::Some(Self::ReadCommitted),
            _ => p::None,
        }
    }
    fn name(&self) -> &'static p::core::primitive::str {
        match self {
            Self::Append => "append",
            Self::ReadCommitted => "read_committed",
        }
    }
}
#[automatically_derived]
impl p::ConfigValue for Mode {
    fn config_type() -> p::ConfigType {
        p::config::enum_type()
    }
    fn validator() -> p::Option<p::Validator> {
        p::config::enum_validator::<Self>()
    }
    fn from_parsed(__key: &p::core::primitive::str, __value: &p::ParsedValue) -> p::Result<Self, p::ConfigError> {
        p::config::enum_from_parsed(__key, __value)
    }
    fn render(&self) -> p::Option<p::std::string::String> {
        p::config::enum_render(self)
    }
    fn __sealed() -> p::config::Sealed {
        p::config::Sealed::new()
    }
}
