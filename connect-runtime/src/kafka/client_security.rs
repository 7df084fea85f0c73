//! TLS and SASL: Java's stores and login modules turned into what librdkafka reads.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::PathBuf};

use connect_sdk::config::{ConfigError, ConfigErrors};

use super::{
    client_config::{Read, put},
    jaas::LoginModule,
    oauth::OauthSource,
};

/// Translates `security.protocol`, `ssl.*` and `sasl.*`.
pub(super) fn translate(
    read: &Read,
    out: &mut BTreeMap<String, String>,
    oauth: &mut Option<OauthSource>,
    warnings: &mut Vec<String>,
    errors: &mut ConfigErrors,
) {
    let protocol = read.text("security.protocol").unwrap_or("plaintext");
    put(out, "security.protocol", protocol);
    if protocol.ends_with("ssl") {
        tls(read, out, errors);
    }
    if protocol.starts_with("sasl") {
        sasl(read, out, oauth, errors);
    } else if read.text("sasl.jaas.config").is_some() {
        warnings.push(format!(
            "`{}` has no effect: `security.protocol` is `{protocol}`, not `SASL_PLAINTEXT` or `SASL_SSL`",
            read.written("sasl.jaas.config")
        ));
    }
}

/// What a store's file holds, told by its first bytes: Java's `type` keys are often left at a default that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Store {
    Pem,
    Pkcs12,
    Jks,
}

fn store(location: &str) -> Result<Store, String> {
    let mut start = [0_u8; 4];
    let read = File::open(location).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Err(error) => Err(format!("file `{location}` cannot be read: {error}")),
        Ok(()) if start == [0xfe, 0xed, 0xfe, 0xed] || start == [0xce, 0xce, 0xce, 0xce] => Ok(Store::Jks),
        Ok(()) if start[0] == 0x30 => Ok(Store::Pkcs12),
        Ok(()) => Ok(Store::Pem),
    }
}

fn tls(read: &Read, out: &mut BTreeMap<String, String>, errors: &mut ConfigErrors) {
    let mut refuse = |key: &str, why: String| {
        let written = read.written(key);
        errors.push(ConfigError::on(written, format!("`{written}`: {why}")));
    };
    if let Some(pem) = read.text("ssl.truststore.certificates") {
        put(out, "ssl.ca.pem", pem);
    } else if let Some(location) = read.text("ssl.truststore.location").filter(|location| !location.is_empty()) {
        match store(location) {
            Ok(Store::Pem) => put(out, "ssl.ca.location", location),
            Ok(Store::Pkcs12) => refuse(
                "ssl.truststore.location",
                format!(
                    "`{location}` is a PKCS#12 store; a truststore must be a PEM file: convert it with \
                     `openssl pkcs12 -in {location} -nokeys -out truststore.pem`"
                ),
            ),
            Ok(Store::Jks) => refuse(
                "ssl.truststore.location",
                format!(
                    "`{location}` is a JKS store; a truststore must be a PEM file: convert it with `keytool \
                     -importkeystore -srckeystore {location} -destkeystore truststore.p12 -deststoretype PKCS12` and \
                     `openssl pkcs12 -in truststore.p12 -nokeys -out truststore.pem`"
                ),
            ),
            Err(why) => refuse("ssl.truststore.location", why),
        }
    }
    let key_password = read.text("ssl.key.password");
    if let (Some(key), Some(chain)) = (read.text("ssl.keystore.key"), read.text("ssl.keystore.certificate.chain")) {
        put(out, "ssl.key.pem", key);
        put(out, "ssl.certificate.pem", chain);
        if let Some(password) = key_password {
            put(out, "ssl.key.password", password);
        }
    } else if read.text("ssl.keystore.key").is_some() || read.text("ssl.keystore.certificate.chain").is_some() {
        refuse("ssl.keystore.key", "it must be set together with `ssl.keystore.certificate.chain`".to_owned());
    } else if let Some(location) = read.text("ssl.keystore.location").filter(|location| !location.is_empty()) {
        match store(location) {
            Ok(Store::Pem) => {
                put(out, "ssl.certificate.location", location);
                put(out, "ssl.key.location", location);
                if let Some(password) = key_password {
                    put(out, "ssl.key.password", password);
                }
            }
            Ok(Store::Pkcs12) => {
                put(out, "ssl.keystore.location", location);
                if let Some(password) = read.text("ssl.keystore.password") {
                    put(out, "ssl.keystore.password", password);
                }
            }
            Ok(Store::Jks) => refuse(
                "ssl.keystore.location",
                format!(
                    "`{location}` is a JKS store; a keystore must be a PKCS#12 or PEM file: convert it with `keytool \
                     -importkeystore -srckeystore {location} -destkeystore keystore.p12 -deststoretype PKCS12`"
                ),
            ),
            Err(why) => refuse("ssl.keystore.location", why),
        }
    }
    match read.text("ssl.endpoint.identification.algorithm") {
        Some("" | "none") => put(out, "ssl.endpoint.identification.algorithm", "none"),
        _ => put(out, "ssl.endpoint.identification.algorithm", "https"),
    }
}

const MECHANISMS: [&str; 5] = ["GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"];

fn sasl(read: &Read, out: &mut BTreeMap<String, String>, oauth: &mut Option<OauthSource>, errors: &mut ConfigErrors) {
    let mechanism = read.text("sasl.mechanism").unwrap_or("GSSAPI").to_ascii_uppercase();
    if !MECHANISMS.contains(&mechanism.as_str()) {
        let written = read.written("sasl.mechanism");
        let allowed = MECHANISMS.map(|name| format!("`{name}`")).join(", ");
        errors.push(ConfigError::on(
            written,
            format!("value of `{written}` is `{mechanism}`; it must be one of {allowed}"),
        ));
        return;
    }
    put(out, "sasl.mechanism", &mechanism);
    // librdkafka's own keys do as well.
    if out.contains_key("sasl.username") || out.contains_key("sasl.kerberos.keytab") {
        return;
    }
    let written = read.written("sasl.jaas.config");
    let module = match read.text("sasl.jaas.config").map(LoginModule::parse) {
        Some(Ok(module)) => Some(module),
        Some(Err(why)) => {
            errors.push(ConfigError::on(written, format!("value of `{written}` is not a login module: {why}")));
            return;
        }
        None => None,
    };
    let result = match mechanism.as_str() {
        "OAUTHBEARER" => oauth_source(read, module.as_ref()).map(|source| *oauth = Some(source)),
        "GSSAPI" => {
            kerberos(module.as_ref(), out);
            Ok(())
        }
        _ => credentials(&mechanism, module.as_ref(), out),
    };
    if let Err(why) = result {
        errors.push(ConfigError::on(written, format!("`{written}`: {why}")));
    }
}

fn credentials(
    mechanism: &str,
    module: Option<&LoginModule>,
    out: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let class = if mechanism == "PLAIN" { "PlainLoginModule" } else { "ScramLoginModule" };
    let module = module.ok_or_else(|| format!("it must name a `{class}` for `sasl.mechanism={mechanism}`"))?;
    if module.short_class() != class {
        return Err(format!("it names `{}`; `sasl.mechanism={mechanism}` needs a `{class}`", module.class));
    }
    let (Some(username), Some(password)) = (module.option("username"), module.option("password")) else {
        return Err(format!("`{class}` needs the options `username` and `password`"));
    };
    put(out, "sasl.username", username);
    put(out, "sasl.password", password);
    Ok(())
}

fn kerberos(module: Option<&LoginModule>, out: &mut BTreeMap<String, String>) {
    let Some(module) = module else { return };
    for (option, key) in [("keyTab", "sasl.kerberos.keytab"), ("principal", "sasl.kerberos.principal")] {
        if let Some(value) = module.option(option) {
            put(out, key, value);
        }
    }
    if let Some(name) = module.option("serviceName") {
        out.entry("sasl.kerberos.service.name".to_owned()).or_insert_with(|| name.to_owned());
    }
}

fn oauth_source(read: &Read, module: Option<&LoginModule>) -> Result<OauthSource, String> {
    if let Some(url) = read.text("sasl.oauthbearer.token.endpoint.url") {
        return match url.strip_prefix("file:") {
            Some(path) => Ok(OauthSource::File(PathBuf::from(path.trim_start_matches("//")))),
            None => Err(format!(
                "tokens are not fetched over HTTP; `{}` must be a `file:` URL of a file that holds the token and that \
                 something else keeps fresh",
                read.written("sasl.oauthbearer.token.endpoint.url")
            )),
        };
    }
    let subject = module.and_then(|module| Some((module, module.option("unsecuredLoginStringClaim_sub")?)));
    let Some((module, subject)) = subject else {
        return Err(
            "`sasl.mechanism=OAUTHBEARER` needs `sasl.oauthbearer.token.endpoint.url` with a `file:` URL, or an \
                    `OAuthBearerLoginModule` with the option `unsecuredLoginStringClaim_sub`"
                .to_owned(),
        );
    };
    OauthSource::unsecured(
        subject,
        module.option("unsecuredLoginStringClaim_scope"),
        module.option("unsecuredLoginLifetimeSeconds"),
    )
}
