//! Renders the keys of the configuration file as their reference page.

use super::{ConfigFile, load_with};
use crate::cli::ConnectionArgs;

/// One key: its name, type, default, meaning, and a value that is legal.
struct Key {
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    meaning: &'static str,
    example: &'static str,
}

const fn key(
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> Key {
    Key { name, kind, default, meaning, example }
}

const KEYS: &[Key] = &[
    key(
        "endpoint",
        "text",
        "`localhost:9123`",
        "Comma list of coordinator or tablet server addresses as `host:port`, at most 32.",
        "\"a:9123,b:9123\"",
    ),
    key(
        "security_protocol",
        "text",
        "`PLAINTEXT`",
        "`PLAINTEXT`, `TLS`, `SASL_PLAINTEXT` or `SASL_TLS`.",
        "\"SASL_TLS\"",
    ),
    key("sasl_mechanism", "text", "`PLAIN`", "The only mechanism there is.", "\"PLAIN\""),
    key("sasl_username", "text", "none", "User name; needed with SASL.", "\"alice\""),
    key(
        "sasl_password",
        "secret",
        "none",
        "Password; needed with SASL, unless it is in a file or in `PEGEL_SASL_PASSWORD`.",
        "\"secret\"",
    ),
    key(
        "sasl_password_file",
        "path",
        "none",
        "File that holds the password; one line end after it is not part of it.",
        "\"password\"",
    ),
    key("tls_ca_cert", "PEM", "system roots", "Certificates of the authorities to trust.", "\"PEM\""),
    key("tls_ca_cert_file", "path", "none", "File that holds them.", "\"ca.pem\""),
    key("tls_client_cert", "PEM", "none", "Client certificate chain.", "\"PEM\""),
    key("tls_client_cert_file", "path", "none", "File that holds it.", "\"client.pem\""),
    key(
        "tls_client_key",
        "secret",
        "none",
        "Private key of the client certificate, not encrypted.",
        "\"PEM\"",
    ),
    key("tls_client_key_file", "path", "none", "File that holds it.", "\"client.key\""),
    key(
        "tls_server_name",
        "text",
        "the dialled host",
        "Name to expect in the certificate of every server.",
        "\"fluss.example\"",
    ),
    key(
        "tls_skip_verify",
        "true/false",
        "`false`",
        "Does not verify certificates; for isolated testing only.",
        "false",
    ),
    key("dial_timeout_seconds", "1 to 300", "`10`", "Limit of one dial: resolve, TCP and TLS.", "10"),
    key("request_timeout_seconds", "1 to 300", "`15`", "Limit of one read, its repetitions included.", "15"),
    key("read_max_attempts", "1 to 3", "`2`", "Attempts of a safe read. Changes are never repeated.", "2"),
    key(
        "advertised_host_allow_list",
        "list of text",
        "all",
        "Hosts that the cluster's metadata may send this client to.",
        "[\"a\", \"b\"]",
    ),
];

fn page() -> String {
    let mut page = String::from(
        "# Configuration file\n\nGenerated from the definition of the settings; do not edit.\n\n\
         `pegel --config pegel.toml …` (or `PEGEL_CONFIG`) reads a TOML file with one section, `[connection]`. \
         An option on the command\nline beats its environment variable, a variable beats the file, the file beats \
         the default. An unknown key is an error,\nand so is a key that has no effect with the others. Give a \
         secret or a certificate either as it is or as `…_file`, not\nboth; a relative path starts at the folder \
         of the configuration file.\n\n\
         ## `[connection]`\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n",
    );
    for key in KEYS {
        page.push_str(&format!("| `{}` | {} | {} | {} |\n", key.name, key.kind, key.default, key.meaning));
    }
    page.push_str(
        "\nA file with a password or a key in it should belong to its owner alone (`chmod 600`); Pegel warns \
         otherwise.\n\n## Example\n\n```toml\n[connection]\nendpoint = \"fluss-1.example:9123,fluss-2.example:9123\"\n\
         security_protocol = \"SASL_TLS\"\nsasl_username = \"pegel\"\nsasl_password_file = \"pegel.password\"\n\
         tls_ca_cert_file = \"fluss-ca.pem\"\n```\n\nThe options and environment variables are on the page of the \
         [command line](cli.md).\n",
    );
    page
}

#[test]
fn committed_configuration_page_is_the_generated_one() {
    crate::cli::check_page("config.md", &page());
}

#[test]
fn every_key_on_the_page_is_read_and_no_key_is_left_out() {
    let error = toml::from_str::<ConfigFile>("[connection]\nnothing = 1").unwrap_err();
    let known: Vec<&str> = error.message().split('`').skip(3).step_by(2).collect();
    let listed: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(known, listed);
    for key in KEYS {
        let text = format!("[connection]\n{} = {}", key.name, key.example);
        assert!(toml::from_str::<ConfigFile>(&text).is_ok(), "{text}");
    }
}

#[test]
fn example_on_the_page_is_legal() {
    let page = page();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let dir = tempfile::tempdir().unwrap();
    for file in ["pegel.toml", "pegel.password", "fluss-ca.pem"] {
        std::fs::write(dir.path().join(file), example).unwrap();
    }
    let args = ConnectionArgs { config: Some(dir.path().join("pegel.toml")), ..ConnectionArgs::default() };
    load_with(&args, None).unwrap();
}
