//! SCRAM-SHA-256 and SCRAM-SHA-512 from the client's side (RFC 5802), as Kafka's brokers do it: no channel binding, and
//! names and passwords are used as they are, without SASLprep. All of the cryptography is OpenSSL's.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use openssl::{
    error::ErrorStack, hash::MessageDigest, memcmp, pkcs5::pbkdf2_hmac, pkey::PKey, rand::rand_bytes, sign::Signer,
};

/// Iterations below which a broker is not believed, as in Java's client: they would make a password easy to guess.
const ITERATIONS_MIN: usize = 4096;
/// Iterations above which a broker is not followed: they would keep a processor busy for many seconds.
const ITERATIONS_MAX: usize = 1_000_000;
const NONCE_BYTES: usize = 24;
/// No channel binding, no other name: `n,,` in Base64 stands in the last message.
const GS2_HEADER: &str = "n,,";

/// A login that has sent its first message.
pub(super) struct Scram {
    digest: MessageDigest,
    nonce: String,
    first_bare: String,
}

/// A login that has sent its last message.
pub(super) struct ScramEnd {
    server_signature: Vec<u8>,
}

impl Scram {
    /// Begins a login; the second part of the answer is the first message.
    pub(super) fn start(digest: MessageDigest, username: &str) -> Result<(Self, Vec<u8>), String> {
        let mut nonce = [0; NONCE_BYTES];
        rand_bytes(&mut nonce).map_err(|error| library(&error))?;
        Ok(Self::with_nonce(digest, username, STANDARD.encode(nonce)))
    }

    fn with_nonce(digest: MessageDigest, username: &str, nonce: String) -> (Self, Vec<u8>) {
        let name = username.replace('=', "=3D").replace(',', "=2C");
        let first_bare = format!("n={name},r={nonce}");
        let message = format!("{GS2_HEADER}{first_bare}").into_bytes();
        (Self { digest, nonce, first_bare }, message)
    }

    /// Answers the server's first message. It takes some milliseconds of a processor.
    ///
    /// # Errors
    /// What is wrong with the server's message.
    pub(super) fn answer(self, server_first: &[u8], password: &str) -> Result<(ScramEnd, Vec<u8>), String> {
        let text = std::str::from_utf8(server_first).map_err(|_| "its first message is no text".to_owned())?;
        let nonce =
            attribute(text, "r=").filter(|nonce| nonce.len() > self.nonce.len() && nonce.starts_with(&self.nonce));
        let nonce = nonce.ok_or("its first message does not go on with this client's nonce")?;
        let salt = attribute(text, "s=").and_then(|salt| STANDARD.decode(salt).ok());
        let salt = salt.ok_or("its first message has no salt")?;
        let iterations = attribute(text, "i=").and_then(|number| number.parse::<usize>().ok());
        let iterations = iterations.filter(|n| (ITERATIONS_MIN..=ITERATIONS_MAX).contains(n)).ok_or_else(|| {
            format!("its first message does not ask for {ITERATIONS_MIN} to {ITERATIONS_MAX} iterations")
        })?;
        let without_proof = format!("c={},r={nonce}", STANDARD.encode(GS2_HEADER));
        let signed = format!("{},{text},{without_proof}", self.first_bare);
        let proven = self.prove(password, &salt, iterations, signed.as_bytes());
        let (proof, server_signature) = proven.map_err(|error| library(&error))?;
        let message = format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes();
        Ok((ScramEnd { server_signature }, message))
    }

    /// The client's proof, and the signature that proves that the server knows the password too.
    fn prove(
        &self,
        password: &str,
        salt: &[u8],
        iterations: usize,
        signed: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
        let mut salted = vec![0; self.digest.size()];
        pbkdf2_hmac(password.as_bytes(), salt, iterations, self.digest, &mut salted)?;
        let client_key = self.hmac(&salted, b"Client Key")?;
        let stored_key = openssl::hash::hash(self.digest, &client_key)?;
        let client_signature = self.hmac(&stored_key, signed)?;
        let proof = client_key.iter().zip(&client_signature).map(|(key, signature)| key ^ signature).collect();
        let server_key = self.hmac(&salted, b"Server Key")?;
        Ok((proof, self.hmac(&server_key, signed)?))
    }

    fn hmac(&self, key: &[u8], data: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let key = PKey::hmac(key)?;
        Signer::new(self.digest, &key)?.sign_oneshot_to_vec(data)
    }
}

impl ScramEnd {
    /// Checks the server's last message.
    ///
    /// # Errors
    /// The server does not know the password, or refuses the login.
    pub(super) fn check(&self, server_last: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(server_last).unwrap_or_default();
        if let Some(why) = attribute(text, "e=") {
            return Err(format!("it says `{why}`"));
        }
        let signature = attribute(text, "v=").and_then(|signature| STANDARD.decode(signature).ok()).unwrap_or_default();
        if signature.len() == self.server_signature.len() && memcmp::eq(&signature, &self.server_signature) {
            Ok(())
        } else {
            Err("it does not prove that it knows the password".to_owned())
        }
    }
}

fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.split(',').find_map(|part| part.strip_prefix(name))
}

fn library(error: &ErrorStack) -> String {
    format!("the cryptographic library failed: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677.
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const SERVER_LAST: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn start() -> Scram {
        let (scram, first) = Scram::with_nonce(MessageDigest::sha256(), "user", NONCE.to_owned());
        assert_eq!(first, b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        scram
    }

    #[test]
    fn the_example_of_the_standard_is_reproduced() {
        let (end, last) = start().answer(SERVER_FIRST.as_bytes(), "pencil").unwrap();
        assert_eq!(
            String::from_utf8(last).unwrap(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(end.check(SERVER_LAST.as_bytes()), Ok(()));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        let (end, _) = start().answer(SERVER_FIRST.as_bytes(), "pencils").unwrap();
        for last in [SERVER_LAST, "", "v=", "v=6rri", "v=?"] {
            assert!(end.check(last.as_bytes()).is_err_and(|why| why.contains("does not prove")), "{last}");
        }
        assert!(end.check(b"e=invalid-proof").is_err_and(|why| why.contains("invalid-proof")));
    }

    #[test]
    fn a_first_message_of_a_server_that_is_not_as_it_must_be_is_refused() {
        for (message, want) in [
            ("", "nonce"),
            ("r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096", "nonce"),
            ("r=somebody-elses-nonce-and-more,s=W22Z,i=4096", "nonce"),
            ("r=rOprNGfwEbeRWgbNEkqOx,i=4096", "salt"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=?,i=4096", "salt"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z", "iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1", "iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=2000000000", "iterations"),
        ] {
            let error = start().answer(message.as_bytes(), "pencil").err().unwrap();
            assert!(error.contains(want), "{message}: {error}");
        }
        assert!(start().answer(&[0xff], "pencil").is_err());
    }

    #[test]
    fn a_name_cannot_end_its_field() {
        let (_, first) = Scram::with_nonce(MessageDigest::sha512(), "a,b=c", "x".to_owned());
        assert_eq!(first, b"n,,n=a=2Cb=3Dc,r=x");
    }
}
