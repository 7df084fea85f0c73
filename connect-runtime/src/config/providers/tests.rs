//! References to configuration providers, resolved and refused.

use super::*;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn all(folder: &Path) -> ConfigProviders {
    let folder = folder.to_str().unwrap();
    let worker = map(&[
        ("config.providers", "file, env,dir"),
        ("config.providers.file.class", "org.apache.kafka.common.config.provider.FileConfigProvider"),
        ("config.providers.file.param.allowed.paths", folder),
        ("config.providers.env.class", "EnvVarConfigProvider"),
        ("config.providers.env.param.allowlist.pattern", "APP_.*"),
        ("config.providers.dir.class", "DirectoryConfigProvider"),
    ]);
    ConfigProviders::from_properties(&worker, &map(&[("APP_USER", "ann"), ("HOME", "/root")])).unwrap()
}

#[test]
fn references_are_replaced_and_unknown_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.properties"), "pass=s3cret\nother=x").unwrap();
    std::fs::write(folder.path().join("token"), "abc\n").unwrap();
    let at = folder.path().display();
    let raw = map(&[
        ("a", &format!("<${{file:{at}/s.properties:pass}}|${{env:APP_USER}}>")),
        ("b", &format!("${{dir:{at}:token}}")),
        ("c", "${env:HOME}"),
        ("d", "${vault:x:y} ${no reference} $ {"),
        ("e", &format!("${{dir:{at}:../token}}")),
    ]);
    let resolved = all(folder.path()).resolve(&raw).unwrap();
    assert_eq!(resolved.properties["a"], "<s3cret|ann>");
    assert_eq!(resolved.properties["b"], "abc\n");
    for key in ["c", "d", "e"] {
        assert_eq!(resolved.properties[key], raw[key]);
    }
    assert_eq!(resolved.warnings.len(), 3);
    let hidden = resolved.hide("Invalid value s3cret for configuration x");
    assert_eq!(hidden, format!("Invalid value ${{file:{at}/s.properties:pass}} for configuration x"));
    assert!(!format!("{resolved:?}").contains("s3cret"));
}

#[test]
fn what_cannot_be_read_refuses_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let providers = all(folder.path());
    let error = |value: &str| providers.resolve(&map(&[("k", value)])).unwrap_err().to_string();
    assert!(error("${file:/nowhere/s:pass}").starts_with("Could not read properties from file /nowhere/s: "));
    assert!(error("${file:/etc/passwd:root}").contains("outside of the provider's `allowed.paths`"));
    assert!(error("${env:path:NAME}").contains("the environment has no path `path`"));
}

#[test]
fn a_file_without_end_is_refused() {
    let worker = map(&[("config.providers", "file"), ("config.providers.file.class", "FileConfigProvider")]);
    let providers = ConfigProviders::from_properties(&worker, &BTreeMap::new()).unwrap();
    let error = providers.resolve(&map(&[("k", "${file:/dev/zero:x}")])).unwrap_err().to_string();
    assert!(error.contains("it is too large; at most 4194304 bytes are allowed"), "{error}");
}

#[test]
fn values_that_stand_in_references_do_not_make_them_grow() {
    let values: BTreeMap<String, String> =
        "envA$:{}".chars().map(|c| (format!("A{}", u32::from(c)), c.into())).collect();
    let worker = map(&[("config.providers", "env"), ("config.providers.env.class", "EnvVarConfigProvider")]);
    let providers = ConfigProviders::from_properties(&worker, &values).unwrap();
    let raw = values.keys().map(|key| (key.clone(), format!("${{env:{key}}}"))).collect();
    let resolved = providers.resolve(&raw).unwrap();
    assert_eq!(resolved.hide("a: x"), "a${env:A58} x");
}

#[test]
fn a_key_may_hold_colons_and_a_path_may_not() {
    let found = references("${p:k}${p:/x:y:z}${}${a");
    let parts: Vec<_> = found.iter().map(|r| (r.provider, r.path, r.key)).collect();
    assert_eq!(parts, [("p", "", "k"), ("p", "/x", "y:z")]);
}

#[test]
fn wrong_providers_are_told_at_once() {
    let worker = map(&[
        ("config.providers", "a,b,c"),
        ("config.providers.b.class", "FileConfigProvidr"),
        ("config.providers.c.class", "FileConfigProvider"),
        ("config.providers.c.param.allowed.paths", "relative"),
    ]);
    let errors = ConfigProviders::from_properties(&worker, &BTreeMap::new()).unwrap_err().to_string();
    assert_eq!(
        errors,
        "Missing required configuration \"config.providers.a.class\" which has no default value.\n\
         unknown configuration provider class `FileConfigProvidr`; did you mean `FileConfigProvider`? (known: \
         `FileConfigProvider`, `EnvVarConfigProvider`, `DirectoryConfigProvider`)\n\
         path `relative` of `config.providers.c.param.allowed.paths` is not absolute"
    );
}
