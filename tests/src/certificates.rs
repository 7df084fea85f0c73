//! Certificates for tests of TLS: an authority and what it vouches for, made anew for each test.

use std::net::IpAddr;

use openssl::{
    asn1::Asn1Time,
    bn::{BigNum, MsbOption},
    ec::{EcGroup, EcKey},
    error::ErrorStack,
    hash::MessageDigest,
    nid::Nid,
    pkcs12::Pkcs12,
    pkey::{PKey, Private},
    symm::Cipher,
    x509::{
        X509, X509Builder, X509Name, X509NameBuilder,
        extension::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName},
    },
};

const DAYS: u32 = 2;
const SERIAL_BITS: i32 = 128;

/// A certificate authority of a test.
#[derive(Debug)]
pub struct Authority {
    key: PKey<Private>,
    certificate: X509,
}

/// A certificate with its private key.
#[derive(Debug)]
pub struct Identity {
    key: PKey<Private>,
    certificate: X509,
}

impl Authority {
    /// A new authority, whom nobody trusts yet.
    pub fn new(name: &str) -> Self {
        Self::make(name).expect("OpenSSL makes a certificate")
    }

    fn make(name: &str) -> Result<Self, ErrorStack> {
        let key = new_key()?;
        let subject = named(name)?;
        let mut builder = builder(&subject, &subject, &key)?;
        builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
        builder.append_extension(KeyUsage::new().critical().key_cert_sign().crl_sign().build()?)?;
        builder.sign(&key, MessageDigest::sha256())?;
        Ok(Self { key, certificate: builder.build() })
    }

    /// The certificate in PEM form: a trust store.
    pub fn pem(&self) -> String {
        text(self.certificate.to_pem())
    }

    /// Vouches for somebody who is reached by these names and addresses.
    pub fn issue(&self, name: &str, hosts: &[&str]) -> Identity {
        self.make_identity(name, hosts).expect("OpenSSL makes a certificate")
    }

    fn make_identity(&self, name: &str, hosts: &[&str]) -> Result<Identity, ErrorStack> {
        let key = new_key()?;
        let subject = named(name)?;
        let mut builder = builder(&subject, self.certificate.subject_name(), &key)?;
        builder.append_extension(BasicConstraints::new().critical().build()?)?;
        builder.append_extension(ExtendedKeyUsage::new().server_auth().client_auth().build()?)?;
        if !hosts.is_empty() {
            let mut names = SubjectAlternativeName::new();
            for host in hosts {
                if host.parse::<IpAddr>().is_ok() {
                    names.ip(host)
                } else {
                    names.dns(host)
                };
            }
            let names = names.build(&builder.x509v3_context(Some(&self.certificate), None))?;
            builder.append_extension(names)?;
        }
        builder.sign(&self.key, MessageDigest::sha256())?;
        Ok(Identity { key, certificate: builder.build() })
    }
}

impl Identity {
    /// The certificate in PEM form.
    pub fn certificate_pem(&self) -> String {
        text(self.certificate.to_pem())
    }

    /// The private key in PEM form, not encrypted.
    pub fn key_pem(&self) -> String {
        text(self.key.private_key_to_pem_pkcs8())
    }

    /// The private key in PEM form, encrypted.
    pub fn encrypted_key_pem(&self, password: &str) -> String {
        text(self.key.private_key_to_pem_pkcs8_passphrase(Cipher::aes_256_cbc(), password.as_bytes()))
    }

    /// Key and certificate in PEM form: a key store.
    pub fn pem(&self) -> String {
        format!("{}{}", self.key_pem(), self.certificate_pem())
    }

    /// Key and certificate as a PKCS#12 key store.
    pub fn pkcs12(&self, password: &str) -> Vec<u8> {
        let mut builder = Pkcs12::builder();
        builder.name("client").pkey(&self.key).cert(&self.certificate);
        builder.build2(password).and_then(|store| store.to_der()).expect("OpenSSL makes a key store")
    }
}

fn new_key() -> Result<PKey<Private>, ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    PKey::from_ec_key(EcKey::generate(&group)?)
}

fn named(name: &str) -> Result<X509Name, ErrorStack> {
    let mut builder = X509NameBuilder::new()?;
    builder.append_entry_by_nid(Nid::COMMONNAME, name)?;
    Ok(builder.build())
}

fn builder(
    subject: &openssl::x509::X509NameRef,
    issuer: &openssl::x509::X509NameRef,
    key: &PKey<Private>,
) -> Result<X509Builder, ErrorStack> {
    let mut serial = BigNum::new()?;
    serial.rand(SERIAL_BITS, MsbOption::MAYBE_ZERO, false)?;
    let serial = serial.to_asn1_integer()?;
    let (from, to) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(DAYS)?);
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(subject)?;
    builder.set_issuer_name(issuer)?;
    builder.set_pubkey(key)?;
    builder.set_not_before(&from)?;
    builder.set_not_after(&to)?;
    Ok(builder)
}

fn text(pem: Result<Vec<u8>, ErrorStack>) -> String {
    String::from_utf8(pem.expect("OpenSSL writes PEM")).expect("PEM is text")
}
