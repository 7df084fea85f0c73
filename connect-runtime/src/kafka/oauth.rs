//! Tokens for SASL/OAUTHBEARER: read from a file that something else keeps fresh, or unsecured ones for tests.

use std::{
    fmt, fs,
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// How long a token is taken to live if it does not say so itself.
const LIFETIME_UNSTATED: Duration = Duration::from_secs(300);
/// The life of an unsecured token unless the login module says otherwise, as in Java.
const UNSECURED_LIFETIME_S: u64 = 3600;

/// Where tokens come from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum OauthSource {
    /// The file's whole content is a JWT; it is read again whenever a token is wanted.
    File(PathBuf),
    /// A token without signature that claims `subject`.
    Unsecured { subject: String, scope: Option<String>, lifetime_s: u64 },
}

impl fmt::Debug for OauthSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Unsecured { subject, .. } => f.debug_tuple("Unsecured").field(subject).finish(),
        }
    }
}

/// A token, whom it names, and when it ends (ms since 1970).
#[derive(PartialEq, Eq)]
pub(super) struct OauthToken {
    pub(super) token: String,
    pub(super) principal: String,
    pub(super) expires_ms: i64,
}

impl OauthSource {
    /// An unsecured source with the options that Java's login module has.
    pub(super) fn unsecured(subject: &str, scope: Option<&str>, lifetime_s: Option<&str>) -> Result<Self, String> {
        let lifetime_s = match lifetime_s {
            None => UNSECURED_LIFETIME_S,
            Some(text) => text.parse().map_err(|_| {
                format!("option `unsecuredLoginLifetimeSeconds` is `{text}`; it must be a whole number")
            })?,
        };
        Ok(Self::Unsecured { subject: subject.to_owned(), scope: scope.map(str::to_owned), lifetime_s })
    }

    /// A token that is valid now.
    pub(super) fn token(&self) -> Result<OauthToken, String> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a token's end is a moment of the world's clock, not of a task's"
        )]
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.token_at(now)
    }

    fn token_at(&self, now: Duration) -> Result<OauthToken, String> {
        match self {
            Self::File(path) => {
                let text = fs::read_to_string(path)
                    .map_err(|error| format!("token file `{}` cannot be read: {error}", path.display()))?;
                let token = text.trim().to_owned();
                let claims = claims(&token)
                    .ok_or_else(|| format!("token file `{}` does not hold a JSON web token", path.display()))?;
                let principal = claims.get("sub").and_then(|sub| sub.as_str()).unwrap_or("unknown").to_owned();
                let expires_ms = match claims.get("exp").and_then(serde_json::Value::as_f64) {
                    #[expect(clippy::cast_possible_truncation, reason = "a float saturates, which is far enough")]
                    Some(seconds) => (seconds * 1000.0) as i64,
                    None => millis(now + LIFETIME_UNSTATED),
                };
                Ok(OauthToken { token, principal, expires_ms })
            }
            Self::Unsecured { subject, scope, lifetime_s } => {
                let end = now + Duration::from_secs(*lifetime_s);
                let mut claims = serde_json::json!({"sub": subject, "iat": now.as_secs(), "exp": end.as_secs()});
                if let Some(scope) = scope {
                    claims["scope"] = scope.as_str().into();
                }
                let token = format!(
                    "{}.{}.",
                    URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#),
                    URL_SAFE_NO_PAD.encode(claims.to_string())
                );
                Ok(OauthToken { token, principal: subject.clone(), expires_ms: millis(end) })
            }
        }
    }
}

fn millis(since_1970: Duration) -> i64 {
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

fn claims(token: &str) -> Option<serde_json::Value> {
    let payload = token.split('.').nth(1)?;
    let bytes = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice::<serde_json::Value>(&bytes).ok().filter(serde_json::Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    #[test]
    fn an_unsecured_token_names_its_subject_and_its_end() {
        let source = OauthSource::unsecured("alice", Some("kafka"), Some("60")).unwrap();
        let token = source.token_at(NOW).unwrap();
        assert_eq!((token.principal.as_str(), token.expires_ms), ("alice", 1_060_000));
        let claims = claims(&token.token).unwrap();
        assert_eq!((&claims["sub"], &claims["scope"]), (&"alice".into(), &"kafka".into()));
        assert!(OauthSource::unsecured("alice", None, Some("soon")).is_err());
    }

    #[test]
    fn a_token_file_is_read_again_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let source = OauthSource::File(path.clone());
        assert!(source.token_at(NOW).is_err_and(|e| e.contains("cannot be read")));
        fs::write(&path, "not a token").unwrap();
        assert!(source.token_at(NOW).is_err_and(|e| e.contains("does not hold") && !e.contains("not a token")));
        for subject in ["bob", "carol"] {
            let jwt = OauthSource::unsecured(subject, None, None).unwrap().token_at(NOW).unwrap();
            fs::write(&path, format!("{}\n", jwt.token)).unwrap();
            let read = source.token_at(NOW).unwrap();
            assert_eq!((read.principal.as_str(), read.expires_ms), (subject, 4_600_000));
        }
    }
}
