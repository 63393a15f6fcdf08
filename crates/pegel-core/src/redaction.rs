//! Hides secrets in settings and properties.
//!
//! Servers before Fluss 1.0 send every configuration value in the clear, and
//! anyone can put anything into custom properties. A value is hidden when its
//! key sounds like a secret, or when the value itself carries one: a
//! `password=…`, a JAAS line, a private key, a URL with a password. Rather too
//! much is hidden than too little; the key is always shown.

/// What is shown in place of a secret.
pub const MASK: &str = "***";

/// Parts of a key that make its value a secret; compared without separators and case.
const SECRET_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "jaas",
    "token",
    "accesskey",
    "privatekey",
    "apikey",
    "accountkey",
    "sharedkey",
    "signingkey",
    "encryptionkey",
    "clientkey",
    "bearer",
];

/// Keys that are secrets only as a whole word, since they occur inside harmless ones.
const SECRET_NAMES: &[&str] = &["pwd", "pass", "auth", "authorization", "sig", "signature", "key"];

/// A value as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The value, or [`MASK`].
    pub value: String,
    /// Whether the value was hidden.
    pub is_redacted: bool,
}

/// Returns whether a setting with this key holds a secret, whatever its value is.
///
/// Case and separators do not matter: `S3.Access-Key`, `s3_access_key` and
/// `s3accesskey` are the same.
pub fn is_secret_key(key: &str) -> bool {
    let folded = fold(key);
    SECRET_WORDS.iter().any(|word| folded.contains(word))
        || key.split(|c: char| !c.is_alphanumeric()).any(|part| {
            let part = part.to_lowercase();
            matches!(part.as_str(), "pwd" | "pass")
        })
}

/// Returns whether a value carries a secret of its own, whatever its key is.
pub fn carries_secret(value: &str) -> bool {
    let lower = value.to_lowercase();
    lower.contains("loginmodule")
        || (lower.contains("-----begin") && lower.contains("private key"))
        || has_scheme_word(&lower, "bearer ")
        || has_scheme_word(&lower, "basic ")
        || has_assignment(&lower)
        || has_option(&lower)
        || has_url_password(&lower)
}

/// Longest value that is searched for secrets; a longer one is hidden unseen, since the
/// search takes time that grows faster than its text.
const MAX_SEARCHED_BYTES: usize = 8 * 1024;

/// Returns the value of a setting as it may be shown.
pub fn redact(key: &str, value: &str) -> Shown {
    // Nothing is hidden by hiding nothing, and an empty secret is worth knowing.
    let is_redacted = !value.is_empty()
        && (is_secret_key(key) || value.len() > MAX_SEARCHED_BYTES || carries_secret(value));
    let value = if is_redacted { MASK.to_owned() } else { value.to_owned() };
    Shown { value, is_redacted }
}

/// Drops everything but letters and digits, in lower case.
fn fold(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Looks for an authorization header such as `Bearer abc` at the start of a word.
fn has_scheme_word(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let before = lower.get(..at).unwrap_or_default().chars().next_back();
        let after = lower.get(at + word.len()..).unwrap_or_default();
        let credential: usize = after.chars().take_while(|c| !c.is_whitespace()).count();
        before.is_none_or(|c| !c.is_alphanumeric()) && credential >= 8
    })
}

/// Looks for `name=value` and `name: value` whose name is that of a secret.
fn has_assignment(lower: &str) -> bool {
    let text = lower.replace("%3d", "=").replace("%3a", ":");
    text.char_indices().filter(|(_, c)| matches!(c, '=' | ':')).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 1..).unwrap_or_default();
        let is_filler = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
        let name = trailing_name(before.trim_end_matches(is_filler));
        let has_value = !after.trim_matches(|c: char| is_filler(c) || matches!(c, ',' | ';')).is_empty();
        has_value && is_secret_name(name)
    })
}

/// Looks for `--password value` and `<password>value`, whose name is that of a secret.
fn has_option(lower: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || c == '>';
    ["--", "<"].iter().any(|mark| {
        lower.match_indices(mark).any(|(at, _)| {
            let rest = lower.get(at + mark.len()..).unwrap_or_default();
            let Some((name, value)) = rest.split_once(is_end) else { return false };
            !value.trim().is_empty() && is_secret_name(name)
        })
    })
}

/// Returns the run of name characters that ends `text`.
fn trailing_name(text: &str) -> &str {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start =
        text.char_indices().rev().take_while(|(_, c)| is_name(*c)).last().map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

fn is_secret_name(name: &str) -> bool {
    // `user_<name>="<password>"` is how a JAAS line of Fluss lists its users.
    is_secret_key(name) || SECRET_NAMES.contains(&name) || name.starts_with("user_")
}

/// Looks for `scheme://user:password@host`.
fn has_url_password(lower: &str) -> bool {
    lower.match_indices("://").any(|(at, mark)| {
        let rest = lower.get(at + mark.len()..).unwrap_or_default();
        let rest = rest.split(char::is_whitespace).next().unwrap_or_default();
        // A password may hold any character, so what counts is a colon before some `@`.
        rest.rfind('@')
            .is_some_and(|at| rest.get(..at).is_some_and(|user| user.contains(':') || user.contains("%3a")))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn options_elements_and_endless_values_are_hidden() {
        for value in ["-Xmx1g --password hunter2", "<c><password>x</password></c>", "run --api-key abc"] {
            assert!(redact("env.java.opts", value).is_redacted, "{value}");
        }
        assert!(!redact("env.java.opts", "--add-opens=java.base/java.nio=ALL-UNNAMED -Xmx1g").is_redacted);
        assert!(redact("comment", &"=x".repeat(1 << 20)).is_redacted);
    }

    #[test]
    fn keys_that_sound_like_secrets_are_hidden() {
        for key in [
            "password",
            "sasl_password",
            "DB.PassWord.old",
            "client.secret",
            "aws.secret-access-key",
            "s3.access.key",
            "s3.access-key",
            "fs.oss.accessKeyId",
            "fs.azure.account.key.store.example",
            "private.key",
            "tls.private_key.pem",
            "api.key",
            "X-Api-Key",
            "key.passphrase",
            "security.sasl.plain.credentials",
            "credential.provider",
            "security.sasl.plain.jaas.config",
            "session.token",
            "db.pwd",
            "smtp pass",
        ] {
            assert!(is_secret_key(key), "{key}");
            assert_eq!(redact(key, "hunter2"), Shown { value: MASK.to_owned(), is_redacted: true });
        }
    }

    #[test]
    fn harmless_settings_are_shown() {
        for (key, value) in [
            ("table.log.ttl", "7 d"),
            ("bypass.cache", "true"),
            ("compass", "north"),
            ("bind.listeners", "INTERNAL://127.0.0.1:9123,CLIENT://127.0.0.1:9124"),
            ("security.protocol.map", "CLIENT:SASL"),
            ("super.users", "User:admin;User:root"),
            ("remote.data.dir", "s3://bucket/fluss"),
            ("remote.data.dir", "abfs://container@account.example.org/path"),
            ("jvm.options", "-Xmx512m -Dfile.encoding=UTF-8"),
            ("zookeeper.address", "a:2181,b:2181"),
            ("authorizer.enabled", "true"),
            ("note", "the basics of bearer bonds"),
            ("table.datalake.key", "id"),
        ] {
            assert_eq!(
                redact(key, value),
                Shown { value: value.to_owned(), is_redacted: false },
                "{key}={value}"
            );
        }
    }

    #[test]
    fn values_that_carry_a_secret_are_hidden() {
        for value in [
            "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required user_admin=\"pw\";",
            "user_admin=\"pw\" user_viewer=\"pw2\"",
            "host=a;password=hunter2",
            "host=a PASSWORD = 'hunter2'",
            "a?x=1&access_token=abc",
            "a?sig=abc",
            r#"{"user":"a","password":"b"}"#,
            r#"{\"apiKey\": \"b\"}"#,
            "password%3Dhunter2",
            "jdbc:mysql://root:pw@db:3306/x",
            "https://user:p/w@host/path",
            "kafka://a:1,kafka://u:p@b:2",
            "Authorization: Bearer abcdefghijkl",
            "Bearer abcdefghijkl",
            "-----BEGIN RSA PRIVATE KEY-----\nMII",
            "pwd:1234",
        ] {
            assert!(carries_secret(value), "{value}");
            assert_eq!(redact("note", value).value, MASK);
        }
    }

    #[test]
    fn empty_values_stay_empty() {
        assert_eq!(redact("password", ""), Shown { value: String::new(), is_redacted: false });
        assert!(!carries_secret("password="));
    }

    /// A secret word with random case and a separator somewhere inside, in random surroundings.
    fn secret_key() -> impl Strategy<Value = String> {
        (0..SECRET_WORDS.len(), any::<u32>(), "[a-z.]{0,8}", "[._\\- /:]{0,2}", "[.a-zA-Z0-9_]{0,8}")
            .prop_map(|(word, cases, before, separator, after)| {
                let mut key = before;
                for (place, c) in SECRET_WORDS[word].chars().enumerate() {
                    if place == 3 {
                        key.push_str(&separator);
                    }
                    let is_upper = cases >> (place % 32) & 1 == 1;
                    key.push(if is_upper { c.to_ascii_uppercase() } else { c });
                }
                key.push_str(&after);
                key
            })
    }

    proptest! {
        #[test]
        fn no_value_of_a_secret_key_is_ever_shown(key in secret_key(), value in "\\PC{1,40}") {
            let shown = redact(&key, &value);
            prop_assert!(shown.is_redacted);
            prop_assert_eq!(shown.value, MASK);
        }

        #[test]
        fn no_assigned_secret_is_ever_shown(
            before in "[ -~]{0,10}",
            name in "(password|client_secret|s3.access-key|api-key|Token)",
            value in "[a-zA-Z0-9!#/+]{6,20}",
        ) {
            let shown = redact("note", &format!("{before} {name}={value}"));
            prop_assert!(!shown.value.contains(&value));
        }

        #[test]
        fn no_password_in_a_url_is_ever_shown(scheme in "[a-z]{2,6}", user in "[a-z]{1,5}", password in "[!-~]{6,16}") {
            let shown = redact("note", &format!("{scheme}://{user}:{password}@host:1/x"));
            prop_assert!(!shown.value.contains(&password));
        }

        #[test]
        fn nothing_makes_it_panic(key in "\\PC{0,30}", value in "(?s).{0,60}") {
            let shown = redact(&key, &value);
            prop_assert!(shown.is_redacted || shown.value == value);
        }
    }
}
