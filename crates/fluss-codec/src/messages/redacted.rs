//! `Debug` of the messages that may carry a secret: passwords, tokens, configuration values.
//!
//! A message is often printed whole in a log or a test failure; these print their shape only.

use std::fmt;

use super::generated::{
    AuthenticateRequest, AuthenticateResponse, GetFileSystemSecurityTokenResponse, PbAlterConfig,
    PbDescribeConfig,
};

struct Redacted(usize);

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} bytes redacted]", self.0)
    }
}

impl fmt::Debug for AuthenticateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticateRequest")
            .field("protocol", &self.protocol)
            .field("token", &Redacted(self.token.len()))
            .finish()
    }
}

impl fmt::Debug for AuthenticateResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticateResponse")
            .field("challenge", &self.challenge.as_ref().map(|challenge| Redacted(challenge.len())))
            .finish()
    }
}

impl fmt::Debug for GetFileSystemSecurityTokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addition_keys: Vec<&str> = self.addition_info.iter().map(|entry| entry.key.as_str()).collect();
        f.debug_struct("GetFileSystemSecurityTokenResponse")
            .field("schema", &self.schema)
            .field("token", &Redacted(self.token.len()))
            .field("expiration_time", &self.expiration_time)
            .field("addition_info_keys", &addition_keys)
            .finish()
    }
}

impl fmt::Debug for PbAlterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PbAlterConfig")
            .field("config_key", &self.config_key)
            .field("config_value", &self.config_value.as_ref().map(|value| Redacted(value.len())))
            .field("op_type", &self.op_type)
            .finish()
    }
}

impl fmt::Debug for PbDescribeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PbDescribeConfig")
            .field("config_key", &self.config_key)
            .field("config_value", &self.config_value.as_ref().map(|value| Redacted(value.len())))
            .field("config_source", &self.config_source)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn debug_of_messages_with_secrets_shows_no_secret() {
        let secret = "hunter2";
        let shown = [
            format!(
                "{:?}",
                AuthenticateRequest { protocol: "PLAIN".into(), token: Bytes::from_static(b"\0u\0hunter2") }
            ),
            format!("{:?}", AuthenticateResponse { challenge: Some(Bytes::from_static(b"hunter2")) }),
            format!(
                "{:?}",
                GetFileSystemSecurityTokenResponse {
                    schema: "s3".into(),
                    token: Bytes::from_static(b"hunter2"),
                    expiration_time: None,
                    addition_info: vec![super::super::PbKeyValue { key: "k".into(), value: secret.into() }],
                }
            ),
            format!(
                "{:?}",
                PbAlterConfig { config_key: "k".into(), config_value: Some(secret.into()), op_type: 0 }
            ),
            format!(
                "{:?}",
                PbDescribeConfig {
                    config_key: "k".into(),
                    config_value: Some(secret.into()),
                    config_source: "INITIAL_SERVER_CONFIG".into(),
                }
            ),
        ];
        for text in shown {
            assert!(text.contains("redacted") || text.contains("addition_info_keys"), "{text}");
            for form in [secret, "104, 117, 110"] {
                assert!(!text.contains(form), "{text}");
            }
        }
    }
}
