//! Every environment variable that Pegel reads, in one place.

/// Declares the variables and the list of all of them.
macro_rules! env_vars {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        $($(#[doc = $doc])+ pub(crate) const $name: &str = stringify!($name);)*

        /// All variables with their meaning, for the reference page.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+)),)*];
    };
}

env_vars! {
    /// Path of the configuration file; as `--config`.
    PEGEL_CONFIG;
    /// Bootstrap addresses; as `--bootstrap`.
    PEGEL_BOOTSTRAP;
    /// Security protocol; as `--security-protocol`.
    PEGEL_SECURITY_PROTOCOL;
    /// SASL mechanism; as `--sasl-mechanism`.
    PEGEL_SASL_MECHANISM;
    /// SASL user name; as `--sasl-username`.
    PEGEL_SASL_USERNAME;
    /// SASL password itself; there is no option for it, since other users of a machine can read command lines.
    PEGEL_SASL_PASSWORD;
    /// File that holds the SASL password; as `--sasl-password-file`.
    PEGEL_SASL_PASSWORD_FILE;
    /// File with the certificates of trusted authorities; as `--tls-ca-cert`.
    PEGEL_TLS_CA_CERT;
    /// File with the client certificate; as `--tls-client-cert`.
    PEGEL_TLS_CLIENT_CERT;
    /// File with the client certificate's key; as `--tls-client-key`.
    PEGEL_TLS_CLIENT_KEY;
    /// Name to expect in certificates; as `--tls-server-name`.
    PEGEL_TLS_SERVER_NAME;
    /// Turns certificate verification off; as `--tls-skip-verify`.
    PEGEL_TLS_SKIP_VERIFY;
    /// Limit of one dial in seconds; as `--dial-timeout-seconds`.
    PEGEL_DIAL_TIMEOUT_SECONDS;
    /// Limit of one read in seconds; as `--request-timeout-seconds`.
    PEGEL_REQUEST_TIMEOUT_SECONDS;
    /// Attempts of a safe read; as `--read-max-attempts`.
    PEGEL_READ_MAX_ATTEMPTS;
    /// Output format; as `--output`.
    PEGEL_OUTPUT;
    /// When to colour; as `--color`.
    PEGEL_COLOR;
    /// How the demo's advice writes the name of this program; set by wrappers that start it.
    PEGEL_PROGRAM;
    /// What `--verbose` logs, as a `tracing` filter such as `pegel=trace`.
    PEGEL_LOG;
    /// Switches colour off when it is set and not empty; see no-color.org.
    NO_COLOR;
    /// A terminal named `dumb` gets no colour.
    TERM;
}
