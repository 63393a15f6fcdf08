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
    /// Server to ask, as a URL; as `--server`.
    PEGEL_SERVER;
    /// Cluster to ask the server about; as `--cluster`.
    PEGEL_CLUSTER;
    /// Access token for the server; there is no option for it, since other users of a machine can read command lines.
    PEGEL_TOKEN;
    /// File that holds the access token; as `--token-file`.
    PEGEL_TOKEN_FILE;
    /// File with the certificates of the authorities to trust for the server; as `--server-ca`.
    PEGEL_SERVER_CA;
    /// Address that `pegel serve` listens on; as `--listen`, or `listen` of `[server]`.
    PEGEL_SERVER_LISTEN;
    /// `public_url` of `[server]`.
    PEGEL_SERVER_PUBLIC_URL;
    /// `allowed_hosts` of `[server]`, separated by commas.
    PEGEL_SERVER_ALLOWED_HOSTS;
    /// `trusted_proxies` of `[server]`, separated by commas.
    PEGEL_SERVER_TRUSTED_PROXIES;
    /// `body_limit_bytes` of `[server]`.
    PEGEL_SERVER_BODY_LIMIT_BYTES;
    /// `max_connections` of `[server]`.
    PEGEL_SERVER_MAX_CONNECTIONS;
    /// `drain_timeout_seconds` of `[server]`.
    PEGEL_SERVER_DRAIN_TIMEOUT_SECONDS;
    /// `kind` of `[store]`.
    PEGEL_STORE_KIND;
    /// `data_dir` of `[store]`; as `--data-dir`.
    PEGEL_STORE_DATA_DIR;
    /// `postgres_url` of `[store]`.
    PEGEL_STORE_POSTGRES_URL;
    /// `postgres_url_file` of `[store]`.
    PEGEL_STORE_POSTGRES_URL_FILE;
    /// `secret_key` of `[store]`.
    PEGEL_STORE_SECRET_KEY;
    /// `secret_key_file` of `[store]`.
    PEGEL_STORE_SECRET_KEY_FILE;
    /// `session_idle_minutes` of `[login]`.
    PEGEL_LOGIN_SESSION_IDLE_MINUTES;
    /// `session_absolute_hours` of `[login]`.
    PEGEL_LOGIN_SESSION_ABSOLUTE_HOURS;
    /// `name_free_failures` of `[login]`.
    PEGEL_LOGIN_NAME_FREE_FAILURES;
    /// `source_free_failures` of `[login]`.
    PEGEL_LOGIN_SOURCE_FREE_FAILURES;
    /// `first_lock_seconds` of `[login]`.
    PEGEL_LOGIN_FIRST_LOCK_SECONDS;
    /// `longest_lock_seconds` of `[login]`.
    PEGEL_LOGIN_LONGEST_LOCK_SECONDS;
    /// `hash_memory_kib` of `[login]`.
    PEGEL_LOGIN_HASH_MEMORY_KIB;
    /// `hash_iterations` of `[login]`.
    PEGEL_LOGIN_HASH_ITERATIONS;
    /// `hash_parallel` of `[login]`.
    PEGEL_LOGIN_HASH_PARALLEL;
    /// `token` of `[metrics]`.
    PEGEL_METRICS_TOKEN;
    /// `token_file` of `[metrics]`.
    PEGEL_METRICS_TOKEN_FILE;
    /// `format` of `[log]`.
    PEGEL_LOG_FORMAT;
    /// `filter` of `[log]`.
    PEGEL_LOG_FILTER;
    /// `session_days` of `[retention]`.
    PEGEL_RETENTION_SESSION_DAYS;
    /// `api_token_days` of `[retention]`.
    PEGEL_RETENTION_API_TOKEN_DAYS;
    /// `failed_login_days` of `[retention]`.
    PEGEL_RETENTION_FAILED_LOGIN_DAYS;
    /// `change_days` of `[retention]`.
    PEGEL_RETENTION_CHANGE_DAYS;
    /// `max_changes` of `[retention]`.
    PEGEL_RETENTION_MAX_CHANGES;
    /// `audit_days` of `[retention]`.
    PEGEL_RETENTION_AUDIT_DAYS;
    /// `inventory_refresh_seconds` of `[clusters]`.
    PEGEL_CLUSTERS_INVENTORY_REFRESH_SECONDS;
    /// `liveness_seconds` of `[clusters]`.
    PEGEL_CLUSTERS_LIVENESS_SECONDS;
    /// `connection_test_seconds` of `[clusters]`.
    PEGEL_CLUSTERS_CONNECTION_TEST_SECONDS;
    /// `loopback_hosts` of `[monitoring]`, with commas.
    PEGEL_MONITORING_LOOPBACK_HOSTS;
    /// `anchors` of `[monitoring]`, with commas.
    PEGEL_MONITORING_ANCHORS;
    /// `dead_man_url` of `[monitoring]`.
    PEGEL_MONITORING_DEAD_MAN_URL;
    /// Where systemd made the service's data directory; used when nothing else says where data belongs.
    STATE_DIRECTORY;
    /// Where the user keeps data, if not in `~/.local/share`.
    XDG_DATA_HOME;
    /// Where the user keeps settings, if not in `~/.config`; stored logins lie in `pegel` there.
    XDG_CONFIG_HOME;
    /// The user's folder.
    HOME;
    /// Switches colour off when it is set and not empty; see no-color.org.
    NO_COLOR;
    /// A terminal named `dumb` gets no colour.
    TERM;
}
