//! Connection settings from the command line, the environment and a TOML file.
//!
//! The section of the file is `[connection]`, with the client's own option names;
//! those that hold a secret or a certificate can also name a file.

use std::path::{Path, PathBuf};

use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use secrecy::SecretString;
use serde::Deserialize;

use crate::cli::ConnectionArgs;
use crate::env_vars;
use crate::private_file;
use crate::settings::Secret;

pub(crate) mod file;
#[cfg(test)]
mod reference;

/// The section of the file that says how to reach the cluster.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConnectionSection {
    endpoint: Option<String>,
    security_protocol: Option<String>,
    sasl_mechanism: Option<String>,
    sasl_username: Option<String>,
    sasl_password: Option<Secret>,
    sasl_password_file: Option<PathBuf>,
    tls_ca_cert: Option<String>,
    tls_ca_cert_file: Option<PathBuf>,
    tls_client_cert: Option<String>,
    tls_client_cert_file: Option<PathBuf>,
    tls_client_key: Option<Secret>,
    tls_client_key_file: Option<PathBuf>,
    tls_server_name: Option<String>,
    tls_skip_verify: Option<bool>,
    dial_timeout_seconds: Option<u64>,
    request_timeout_seconds: Option<u64>,
    read_max_attempts: Option<u32>,
    advertised_host_allow_list: Option<Vec<String>>,
}

/// Checked settings and what should be said about them.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) settings: ConnectionSettings,
    pub(crate) warnings: Vec<String>,
}

/// Puts together and checks the settings of the command line and the file it names.
///
/// # Errors
/// `invalid_config` when a file cannot be read, `invalid_setting` when the result makes no sense.
pub(crate) fn load(args: &ConnectionArgs) -> Result<Loaded, Failure> {
    load_with(args, env_password()?)
}

/// Puts together what the command line and the file it names say, for somebody else to check.
///
/// # Errors
/// `invalid_config` when a file cannot be read.
pub(crate) fn options(args: &ConnectionArgs) -> Result<(ConnectionOptions, Vec<String>), Failure> {
    options_with(args, env_password()?)
}

/// Returns whether the options, the environment or the file say where a cluster is.
///
/// # Errors
/// `invalid_config` when the file cannot be read.
pub(crate) fn names_cluster(args: &ConnectionArgs) -> Result<bool, Failure> {
    let in_file = |path: &PathBuf| file::read(path).map(|read| read.content.connection.endpoint.is_some());
    Ok(args.bootstrap.is_some() || args.config.as_ref().map(in_file).transpose()?.unwrap_or(false))
}

fn env_password() -> Result<Option<String>, Failure> {
    match std::env::var(env_vars::PEGEL_SASL_PASSWORD) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(config_failure(format!("{} is not UTF-8 text", env_vars::PEGEL_SASL_PASSWORD)))
        }
    }
}

fn load_with(args: &ConnectionArgs, env_password: Option<String>) -> Result<Loaded, Failure> {
    let (options, warnings) = options_with(args, env_password)?;
    let settings = ConnectionSettings::try_from(options).map_err(|error| setting_failure(&error))?;
    Ok(Loaded { settings, warnings })
}

fn options_with(
    args: &ConnectionArgs,
    env_password: Option<String>,
) -> Result<(ConnectionOptions, Vec<String>), Failure> {
    let mut warnings = Vec::new();
    let section = match &args.config {
        Some(path) => {
            let section = file::read(path)?.content.connection;
            section.check_file_mode(path, &mut warnings);
            section
        }
        None => ConnectionSection::default(),
    };
    let base = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    Ok((merge(args, section, env_password, base)?, warnings))
}

impl ConnectionSection {
    /// Warns when the file itself holds a secret that others can read.
    fn check_file_mode(&self, path: &Path, warnings: &mut Vec<String>) {
        let has_secret = self.sasl_password.is_some() || self.tls_client_key.is_some();
        if has_secret && private_file::is_open_to_others(path) {
            warnings.push(format!(
                "{} holds a secret and can be read by other users of this machine; chmod 600 it",
                path.display()
            ));
        }
    }
}

fn merge(
    args: &ConnectionArgs,
    section: ConnectionSection,
    env_password: Option<String>,
    base: &Path,
) -> Result<ConnectionOptions, Failure> {
    let sasl_password = match (&args.sasl_password_file, env_password) {
        (Some(path), _) => Some(SecretString::from(read_secret("sasl_password", path)?)),
        (None, Some(password)) => Some(SecretString::from(password)),
        (None, None) => {
            let held = section.sasl_password.map(|secret| secret.0);
            let from_file = one_of("sasl_password", held, section.sasl_password_file)?;
            resolve(from_file, |path| read_secret("sasl_password", &base.join(path)).map(SecretString::from))?
        }
    };
    let tls_ca_cert = match &args.tls_ca_cert {
        Some(path) => Some(read_text("tls_ca_cert", path)?),
        None => {
            let from_file = one_of("tls_ca_cert", section.tls_ca_cert, section.tls_ca_cert_file)?;
            resolve(from_file, |path| read_text("tls_ca_cert", &base.join(path)))?
        }
    };
    let tls_client_cert = match &args.tls_client_cert {
        Some(path) => Some(read_text("tls_client_cert", path)?),
        None => {
            let from_file = one_of("tls_client_cert", section.tls_client_cert, section.tls_client_cert_file)?;
            resolve(from_file, |path| read_text("tls_client_cert", &base.join(path)))?
        }
    };
    let tls_client_key = match &args.tls_client_key {
        Some(path) => Some(SecretString::from(read_text("tls_client_key", path)?)),
        None => {
            let held = section.tls_client_key.map(|secret| secret.0);
            let from_file = one_of("tls_client_key", held, section.tls_client_key_file)?;
            resolve(from_file, |path| read_text("tls_client_key", &base.join(path)).map(SecretString::from))?
        }
    };
    Ok(ConnectionOptions {
        endpoint: args.bootstrap.clone().or(section.endpoint),
        security_protocol: args.security_protocol.clone().or(section.security_protocol),
        sasl_mechanism: args.sasl_mechanism.clone().or(section.sasl_mechanism),
        sasl_username: args.sasl_username.clone().or(section.sasl_username),
        sasl_password,
        tls_ca_cert,
        tls_client_cert,
        tls_client_key,
        tls_server_name: args.tls_server_name.clone().or(section.tls_server_name),
        tls_skip_verify: args.tls_skip_verify.or(section.tls_skip_verify),
        dial_timeout_seconds: args.dial_timeout_seconds.or(section.dial_timeout_seconds),
        request_timeout_seconds: args.request_timeout_seconds.or(section.request_timeout_seconds),
        read_max_attempts: args.read_max_attempts.or(section.read_max_attempts),
        advertised_host_allow_list: section.advertised_host_allow_list,
    })
}

/// A setting given as it is, or as the name of a file that holds it.
enum Given<T> {
    Value(T),
    File(PathBuf),
}

fn one_of<T>(key: &str, value: Option<T>, file: Option<PathBuf>) -> Result<Option<Given<T>>, Failure> {
    match (value, file) {
        (Some(_), Some(_)) => {
            Err(config_failure(format!("{key} and {key}_file are both given; keep one of them")))
        }
        (Some(value), None) => Ok(Some(Given::Value(value))),
        (None, Some(path)) => Ok(Some(Given::File(path))),
        (None, None) => Ok(None),
    }
}

fn resolve<T>(
    given: Option<Given<T>>,
    read: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    match given {
        Some(Given::Value(value)) => Ok(Some(value)),
        Some(Given::File(path)) => read(&path).map(Some),
        None => Ok(None),
    }
}

/// Reads a secret; one line end after it, as editors leave it, is not part of it.
fn read_secret(setting: &str, path: &Path) -> Result<String, Failure> {
    read_text(setting, path).map(private_file::without_line_end)
}

fn read_text(what: &str, path: &Path) -> Result<String, Failure> {
    private_file::read_text(path).map_err(|error| {
        config_failure(format!("cannot read {what} from {}", path.display())).with_cause(&error)
    })
}

fn config_failure(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidConfig, message)
}

/// Says which option, variable and key an invalid setting can be corrected with.
fn setting_failure(error: &fluss_client::error::Error) -> Failure {
    let failure = Failure::from(error);
    match error {
        fluss_client::error::Error::InvalidSetting { field, .. } => failure.with_hint(where_to_set(field)),
        _ => failure,
    }
}

fn where_to_set(field: &str) -> String {
    let key = format!("{field} in [connection] of the file");
    match field {
        "advertised_host_allow_list" => format!("set it with {key}"),
        "endpoint" => format!("set it with --bootstrap, PEGEL_BOOTSTRAP, or {key}"),
        "sasl_password" => format!("set it with --sasl-password-file, PEGEL_SASL_PASSWORD, or {key}"),
        _ => format!("set it with --{}, PEGEL_{}, or {key}", field.replace('_', "-"), field.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Loads a file with the given text and returns its options or its failure.
    fn load_text(text: &str, change: impl FnOnce(&mut ConnectionArgs)) -> Result<Loaded, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pegel.toml");
        fs::write(&path, text).unwrap();
        fs::write(dir.path().join("password"), "from-file\r\n").unwrap();
        fs::write(dir.path().join("blob"), [0xff, 0xfe]).unwrap();
        let mut args = ConnectionArgs { config: Some(path), ..ConnectionArgs::default() };
        change(&mut args);
        load_with(&args, None)
    }

    fn refuse(text: &str, code: ErrorCode, part: &str) -> String {
        let failure = load_text(text, |_| {}).unwrap_err();
        let line = failure.one_line();
        assert_eq!(failure.code, code, "{line}");
        assert!(line.contains(part), "{line}");
        line
    }

    #[test]
    fn every_key_of_the_manual_is_taken() {
        let loaded = load_text(
            r#"
            [connection]
            endpoint = "a:1,b:2"
            security_protocol = "SASL_TLS"
            sasl_mechanism = "PLAIN"
            sasl_username = "alice"
            sasl_password = "hunter2"
            tls_ca_cert = "CA"
            tls_client_cert = "CERT"
            tls_client_key = "KEY"
            tls_server_name = "fluss.example"
            dial_timeout_seconds = 3
            request_timeout_seconds = 4
            read_max_attempts = 1
            advertised_host_allow_list = ["a", "b"]
            "#,
            |_| {},
        )
        .unwrap();
        let settings = loaded.settings;
        assert_eq!(settings.bootstrap().to_string(), "a:1,b:2");
        assert_eq!(settings.security_protocol().name(), "SASL_TLS");
        assert_eq!(settings.sasl().unwrap().username(), "alice");
        assert_eq!((settings.dial_timeout().as_secs(), settings.request_timeout().as_secs()), (3, 4));
        assert_eq!(settings.read_max_attempts(), 1);
    }

    #[test]
    fn options_beat_the_file() {
        let loaded = load_text("[connection]\nendpoint = \"a:1\"\nread_max_attempts = 3", |args| {
            args.bootstrap = Some("c:3".to_owned());
        })
        .unwrap();
        assert_eq!(loaded.settings.bootstrap().to_string(), "c:3");
        assert_eq!(loaded.settings.read_max_attempts(), 3);
    }

    #[test]
    fn secrets_come_from_files_relative_to_the_configuration() {
        let text = "[connection]\nsecurity_protocol = \"SASL_PLAINTEXT\"\nsasl_username = \"a\"\n\
                    sasl_password_file = \"password\"";
        let loaded = load_text(text, |_| {}).unwrap();
        assert!(loaded.settings.sasl().is_some());
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    }

    #[test]
    fn unknown_keys_and_sections_are_errors_with_their_line() {
        let code = ErrorCode::InvalidConfig;
        let text = refuse("\n[connection]\nendpont = \"a:1\"\n", code, "line 3");
        assert!(text.contains("unknown field `endpont`"), "{text}");
        refuse("[conection]\n", code, "unknown field `conection`");
        refuse("[connection]\nsasl.jaas.config = \"x\"", code, "unknown field `sasl`");
        refuse("[connection\n", code, "line 1");
        refuse("[connection]\nread_max_attempts = \"2\"", code, "line 2");
        refuse("[connection]\nsasl_password = \"a\"\nsasl_password_file = \"b\"", code, "both given");
        refuse(
            "[connection]\nsecurity_protocol = \"TLS\"\ntls_ca_cert_file = \"absent\"",
            code,
            "cannot read tls_ca_cert",
        );
        refuse("[connection]\nsecurity_protocol = \"TLS\"\ntls_ca_cert_file = \"blob\"", code, "not UTF-8");
    }

    #[test]
    fn no_message_quotes_a_secret() {
        for text in [
            "[connection]\nsasl_password = 81726354",
            "[connection]\nsasl_password = [81726354]",
            "[connection]\nsasl_password = 81726354x",
            "[connection]\nsasl_password = \"81726354",
            "[connection]\nsasl_password = \"81726354\" x",
            "[connection]\ntls_client_key = 81726354",
            "[connection]\nsasl_password = \"81726354\"\nsasl_password = \"81726354\"",
            "[connection]\nsasl_password = \"81726354\"\n",
        ] {
            let failure = load_text(text, |_| {}).unwrap_err();
            assert!(!format!("{failure:?}").contains("81726354"), "{failure:?}");
        }
    }

    #[test]
    fn invalid_setting_says_where_to_correct_it() {
        let failure = load_text("[connection]\nendpoint = \"a\"", |_| {}).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidSetting);
        assert!(failure.hint.unwrap().contains("--bootstrap, PEGEL_BOOTSTRAP"));
        assert_eq!(where_to_set("tls_server_name").split(',').next(), Some("set it with --tls-server-name"));
    }

    #[cfg(unix)]
    #[test]
    fn file_with_a_password_that_others_can_read_is_warned_about() {
        let text = "[connection]\nsecurity_protocol = \"SASL_PLAINTEXT\"\nsasl_username = \"a\"\n\
                    sasl_password = \"b\"";
        let loaded = load_text(text, |args| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(args.config.as_ref().unwrap(), fs::Permissions::from_mode(0o644)).unwrap();
        })
        .unwrap();
        assert!(loaded.warnings.iter().any(|warning| warning.contains("chmod 600")), "{:?}", loaded.warnings);
    }

    #[test]
    fn environment_beats_the_file_and_an_option_beats_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let empty = dir.path().join("empty");
        fs::write(&empty, "").unwrap();
        let mut args = ConnectionArgs {
            security_protocol: Some("SASL_PLAINTEXT".to_owned()),
            sasl_username: Some("a".to_owned()),
            ..ConnectionArgs::default()
        };
        assert!(load_with(&args, Some("pw".to_owned())).is_ok());
        args.sasl_password_file = Some(empty);
        let failure = load_with(&args, Some("pw".to_owned())).unwrap_err();
        assert!(failure.message.contains("sasl_password"), "{failure:?}");
    }
}
