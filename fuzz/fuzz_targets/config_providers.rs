//! References `${provider:path:key}`: no text makes the lookup panic; what is no reference stays as it is; and no value of a
//! provider is left in a text that hides them.
#![no_main]

use arbitrary::{Arbitrary as _, Result, Unstructured};
use connect_fuzz::providers::ConfigProviders;
use connect_sdk::config::ConfigError;
use connect_sdk::config_provider::ConfigProvider;
use libfuzzer_sys::fuzz_target;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const PIECES: [&str; 12] = ["${", "}", ":", "${m:p:k}", "${m:k}", "${m::a}", "${x:y:z}", "${env:A}", "$", "{", "k", "m"];
const PROVIDERS: [&str; 4] = ["EnvVarConfigProvider", "org.apache.kafka.common.config.provider.EnvVarConfigProvider", "X", ""];

/// Gives the values that the fuzzer has chosen.
#[derive(Debug)]
struct InMemory(BTreeMap<String, String>);

impl ConfigProvider for InMemory {
    fn get(
        &self,
        path: &str,
        keys: &BTreeSet<String>,
    ) -> std::result::Result<BTreeMap<String, String>, ConfigError> {
        if path == "wrong" {
            return Err(ConfigError::new("there is no such path"));
        }
        let known = self.0.iter().filter(|(key, _)| keys.contains(*key));
        Ok(known.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=6)? {
        text.push_str(&if u.ratio(3, 4)? { (*u.choose(&PIECES)?).to_owned() } else { String::arbitrary(u)? });
    }
    Ok(text)
}

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let worker: BTreeMap<String, String> = [
        ("config.providers".to_owned(), u.choose(&["env", "env,e2", ",", ""])?.to_string()),
        ("config.providers.env.class".to_owned(), u.choose(&PROVIDERS)?.to_string()),
        ("config.providers.env.param.allowlist.pattern".to_owned(), String::arbitrary(u)?),
    ]
    .into();
    let secrets: BTreeMap<String, String> =
        [("k", text(u)?), ("a", text(u)?), ("A", text(u)?)].map(|(key, value)| (key.to_owned(), value)).into();
    let mut providers = match ConfigProviders::from_properties(&worker, &secrets) {
        Ok(providers) => providers,
        Err(errors) => {
            let _text = errors.to_string();
            ConfigProviders::default()
        }
    };
    providers.insert("m", Arc::new(InMemory(secrets.clone())));
    let mut raw = BTreeMap::new();
    for _ in 0..u.int_in_range(0..=3)? {
        raw.insert(text(u)?, text(u)?);
    }
    let Ok(resolved) = providers.resolve(&raw) else { return Ok(()) };
    assert!(resolved.properties.keys().eq(raw.keys()));
    for (key, value) in &raw {
        let new = &resolved.properties[key];
        if !value.contains("${") {
            assert_eq!(new, value);
        }
        let _hidden = resolved.hide(new);
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
