//! The table itself. Add a code at the end of its group; never rename or remove one.
//!
//! Groups with a file of their own are macros that put their codes behind those they are given.

mod outbound;

use super::ExitClass;
use super::define::error_codes;

outbound::outbound_codes! {
    error_codes:
    Invalid {
        code: "invalid",
        title: "Invalid argument",
        exit: Usage, http: 400,
        meaning: "An argument is malformed, out of range or contradicts another. Nothing was sent.",
        cause: "A typing error, or a limit that the message names.",
        action: "Correct the argument that the message names.",
    }
    InvalidSetting {
        code: "invalid_setting",
        title: "Invalid connection setting",
        exit: Usage, http: 400,
        meaning: "A connection setting is missing, out of range, unusable, or has no effect with the others.",
        cause: "A setting for another security_protocol, an unreadable certificate, or an address without a port.",
        action: "Correct the setting that the message names; the configuration reference lists ranges and defaults.",
    }
    InvalidConfig {
        code: "invalid_config",
        title: "Invalid configuration file",
        exit: Usage, http: 400,
        meaning: "The configuration file, or a file it names, cannot be read or holds something unknown.",
        cause: "A key that does not exist, a wrong type, or a path that is not there.",
        action: "Correct the line that the message names; unknown keys are never ignored.",
    }
    TimeInFuture {
        code: "time_in_future",
        title: "Time in the future",
        exit: Usage, http: 400,
        meaning: "Offsets were asked for at a time that has not come yet.",
        cause: "A wrong date or zone, or a server whose clock is behind.",
        action: "Give a time in the past with its zone, such as 2026-01-31T12:00:00Z; compare the clocks if it is in the past.",
    }
    TableNotPartitioned {
        code: "table_not_partitioned",
        title: "Table without partitions",
        exit: Usage, http: 400,
        meaning: "Partitions were asked for, but the table has none.",
        cause: "A partition filter for a table that has no partition keys.",
        action: "Ask without a partition; `pegel table` shows the keys of a table.",
    }
    PartitionSpecInvalid {
        code: "partition_spec_invalid",
        title: "Invalid partition filter",
        exit: Usage, http: 400,
        meaning: "The partition filter names a key that is not a partition key of the table.",
        cause: "A misspelt key.",
        action: "Use the partition keys that `pegel table` shows.",
    }
    TableNotFound {
        code: "table_not_found",
        title: "Table not found",
        exit: NotFound, http: 404,
        meaning: "The table does not exist, or this principal may not see it. Fluss does not tell the two apart.",
        cause: "A misspelt name, a dropped table, or a missing DESCRIBE right.",
        action: "List the tables of the database; ask for DESCRIBE on the table if it should be there.",
    }
    DatabaseNotFound {
        code: "database_not_found",
        title: "Database not found",
        exit: NotFound, http: 404,
        meaning: "The database does not exist, or this principal may not see it.",
        cause: "A misspelt name, a dropped database, or a missing DESCRIBE right.",
        action: "List the databases; ask for DESCRIBE on the database if it should be there.",
    }
    PartitionNotFound {
        code: "partition_not_found",
        title: "Partition not found",
        exit: NotFound, http: 404,
        meaning: "The table has no partition that matches.",
        cause: "A misspelt value, or a partition that has expired.",
        action: "List the table's partitions.",
    }
    TableRecreated {
        code: "table_recreated",
        title: "Table was re-created",
        exit: Unavailable, http: 409,
        meaning: "The table was dropped and made again under the same name while it was being read.",
        cause: "Somebody else changed the table in these seconds.",
        action: "Ask again: the answer will be about the new table.",
    }
    InvalidRow {
        code: "invalid_row",
        title: "Row does not fit the table",
        exit: Usage, http: 400,
        meaning: "A row or key does not fit the table's columns. Nothing of it was sent.",
        cause: "A missing column, a value of another type or out of range, or a null where none is allowed.",
        action: "Correct the row that the message names; `pegel table <db.table>` shows the columns.",
    }
    UnreadableRow {
        code: "unreadable_row",
        title: "Rows cannot be read",
        exit: Internal, http: 502,
        meaning: "What a server sent as rows of the table is damaged, or of a form that is not known here.",
        cause: "A newer Fluss with another row format, or damaged data.",
        action: "Compare the versions of Fluss and Pegel; read the table with Fluss's own client to tell the two apart.",
    }
    UnsuitableTable {
        code: "unsuitable_table",
        title: "Table is of another kind",
        exit: Usage, http: 400,
        meaning: "The table is of another kind than the request needs, such as a log table where a key is looked up. Nothing was sent.",
        cause: "A request for primary-key tables to a log table, or the other way round.",
        action: "Use the request that fits; `pegel table <db.table>` shows the kind.",
    }
    ResolveFailed {
        code: "resolve_failed",
        title: "Host name without address",
        exit: Unavailable, http: 502,
        meaning: "The host name of a server has no address.",
        cause: "A misspelt host, or a name that only resolves inside the cluster's network.",
        action: "Check the name and the DNS of this machine; servers must advertise names that clients can resolve.",
    }
    ConnectFailed {
        code: "connect_failed",
        title: "No TCP connection",
        exit: Unavailable, http: 502,
        meaning: "The TCP connection to a server was refused or failed.",
        cause: "The server does not run, or listens on another port.",
        action: "Check that the server runs and that the address is the one of its listener.",
    }
    DialTimeout {
        code: "dial_timeout",
        title: "No connection in time",
        exit: Unavailable, http: 504,
        meaning: "No connection came about within dial_timeout_seconds.",
        cause: "A firewall that drops packets, or a host that is down.",
        action: "Check routes and firewalls between this machine and the server.",
    }
    TlsUnknownIssuer {
        code: "tls_unknown_issuer",
        title: "Certificate of an unknown authority",
        exit: Unavailable, http: 502,
        meaning: "The server's certificate is not signed by an authority that is trusted here.",
        cause: "A private authority, and no tls_ca_cert.",
        action: "Give the authority's certificate in tls_ca_cert.",
    }
    TlsCertificateExpired {
        code: "tls_certificate_expired",
        title: "Certificate expired",
        exit: Unavailable, http: 502,
        meaning: "The end date of the server's certificate has passed.",
        cause: "A certificate that was not renewed, or a wrong clock on this machine.",
        action: "Renew the certificate; compare the clocks.",
    }
    TlsCertificateNotYetValid {
        code: "tls_certificate_not_yet_valid",
        title: "Certificate not valid yet",
        exit: Unavailable, http: 502,
        meaning: "The start date of the server's certificate has not come.",
        cause: "A wrong clock on this machine, or on the one that made the certificate.",
        action: "Compare the clocks.",
    }
    TlsNameMismatch {
        code: "tls_name_mismatch",
        title: "Certificate for another name",
        exit: Unavailable, http: 502,
        meaning: "The server's certificate does not hold the name that was dialled.",
        cause: "An address by number, or a certificate made for another host.",
        action: "Connect by a name that the certificate holds, or set tls_server_name.",
    }
    TlsBadCertificate {
        code: "tls_bad_certificate",
        title: "Unusable certificate",
        exit: Unavailable, http: 502,
        meaning: "The server's certificate or its chain cannot be used.",
        cause: "A broken chain, or a certificate for another purpose.",
        action: "Look at the chain that the server sends.",
    }
    TlsNotSpoken {
        code: "tls_not_spoken",
        title: "Server does not speak TLS",
        exit: Unavailable, http: 502,
        meaning: "Something answered, but not in TLS.",
        cause: "The port of a plaintext listener.",
        action: "Use the port of the TLS listener, or a security_protocol without TLS.",
    }
    TlsClientCertificateRefused {
        code: "tls_client_certificate_refused",
        title: "Client certificate refused",
        exit: Refused, http: 502,
        meaning: "The server wants a client certificate that it trusts.",
        cause: "No client certificate, or one of another authority.",
        action: "Give tls_client_cert and tls_client_key that the server trusts.",
    }
    TlsFailed {
        code: "tls_failed",
        title: "No TLS session",
        exit: Unavailable, http: 502,
        meaning: "The TLS session could not be made for a reason that has no code of its own.",
        cause: "No common TLS version or cipher.",
        action: "Compare the TLS settings of both sides.",
    }
    TlsExpected {
        code: "tls_expected",
        title: "Server speaks TLS only",
        exit: Unavailable, http: 502,
        meaning: "The port speaks TLS, and the connection was made without.",
        cause: "A security_protocol without TLS for the port of a TLS listener.",
        action: "Set security_protocol to TLS or SASL_TLS.",
    }
    ProtocolFailed {
        code: "protocol_failed",
        title: "Not a Fluss server",
        exit: Unavailable, http: 502,
        meaning: "The port is open, but what answers does not negotiate the Fluss protocol, or stays silent.",
        cause: "The port of another service, or a server that hangs.",
        action: "Check host and port; if it is a Fluss server, look at its process and log.",
    }
    AuthenticationRequired {
        code: "authentication_required",
        title: "Authentication required",
        exit: Refused, http: 502,
        meaning: "The listener demands authentication and none is configured.",
        cause: "A security_protocol without SASL for a SASL listener.",
        action: "Set security_protocol to SASL_PLAINTEXT or SASL_TLS and give user name and password.",
    }
    AuthenticationMechanismRefused {
        code: "authentication_mechanism_refused",
        title: "SASL not accepted",
        exit: Refused, http: 502,
        meaning: "The listener takes no SASL, or not this mechanism.",
        cause: "SASL for a listener without it.",
        action: "Use the port of the SASL listener, or a security_protocol without SASL.",
    }
    AuthenticationUnsettled {
        code: "authentication_unsettled",
        title: "Authentication not settled",
        exit: Unavailable, http: 503,
        meaning: "The server kept asking to authenticate again, or for more than SASL/PLAIN has.",
        cause: "Its authentication was not ready, or its plugin is at fault.",
        action: "Try again; if it stays, look at the server's log.",
    }
    AuthenticationFailed {
        code: "authentication_failed",
        title: "Authentication failed",
        exit: Refused, http: 502,
        meaning: "The server does not accept the user name and password.",
        cause: "A wrong or changed password.",
        action: "Check user name and password; the server's log names the user.",
    }
    AuthorizationFailed {
        code: "authorization_failed",
        title: "Refused by the cluster's access rules",
        exit: Refused, http: 403,
        meaning: "The connection's principal lacks the right that the request needs on the cluster.",
        cause: "No access rule for this principal, resource and operation.",
        action: "Ask an administrator of the cluster for the right; `pegel acls` lists the rules.",
    }
    RequestTimeout {
        code: "request_timeout",
        title: "No answer in time",
        exit: Unavailable, http: 504,
        meaning: "A server took the request and did not answer within request_timeout_seconds.",
        cause: "A frozen or overloaded server.",
        action: "Look at the server's process, load and log.",
    }
    ConnectionLost {
        code: "connection_lost",
        title: "Connection lost",
        exit: Unavailable, http: 502,
        meaning: "The connection ended while a request was under way.",
        cause: "A server that stopped or restarts.",
        action: "Ask again; if it stays, look at the server.",
    }
    CorruptAnswer {
        code: "corrupt_answer",
        title: "Unreadable answer",
        exit: Unavailable, http: 502,
        meaning: "A server sent bytes that are no legal answer.",
        cause: "A server of an unknown version, or something between that changes bytes.",
        action: "Note the server's version and report the message.",
    }
    ServerError {
        code: "server_error",
        title: "Server answered with an error",
        exit: Unavailable, http: 502,
        meaning: "A server answered with an error code that has no code of its own here; the message names it.",
        cause: "Depends on the server's code.",
        action: "Read the server's text; `--verbose` shows all of it.",
    }
    WrongServerType {
        code: "wrong_server_type",
        title: "Another kind of server",
        exit: Unavailable, http: 502,
        meaning: "At this address another kind of server answers than the cluster's metadata says.",
        cause: "Addresses that moved between servers.",
        action: "Ask again; if it stays, check the advertised addresses of the servers.",
    }
    HostNotAllowed {
        code: "host_not_allowed",
        title: "Advertised host not allowed",
        exit: Unavailable, http: 502,
        meaning: "The cluster names a server on a host that advertised_host_allow_list does not hold.",
        cause: "A new server, or a cluster that should not be believed.",
        action: "Add the host to the list if the cluster may send clients there.",
    }
    CoordinatorUnavailable {
        code: "coordinator_unavailable",
        title: "Coordinator unavailable",
        exit: Unavailable, http: 503,
        meaning: "No coordinator is registered, or the registered one does not answer as itself. Tablet servers may still serve data.",
        cause: "The coordinator is down, frozen, or cut off from this machine.",
        action: "Look at the coordinator's process and log, and at ZooKeeper; `pegel cluster test` shows which step fails.",
    }
    BootstrapFailed {
        code: "bootstrap_failed",
        title: "No bootstrap address leads to the cluster",
        exit: Unavailable, http: 503,
        meaning: "None of the bootstrap addresses led to the cluster; each has its own reason.",
        cause: "The cluster is down, or the addresses are out of date.",
        action: "Run `pegel cluster test` to see each address step by step.",
    }
    BucketMissing {
        code: "bucket_missing",
        title: "Bucket not in metadata",
        exit: Unavailable, http: 503,
        meaning: "The table has a bucket that the cluster's metadata does not list.",
        cause: "The table was created moments ago, or the server that answered lags behind.",
        action: "Ask again shortly; if it stays, look at the coordinator's log.",
    }
    NoTabletServer {
        code: "no_tablet_server",
        title: "No tablet server",
        exit: Unavailable, http: 503,
        meaning: "The coordinator answers and knows no tablet server.",
        cause: "Tablet servers are down, or the coordinator has just started.",
        action: "Look at the tablet servers' processes and logs; they register in ZooKeeper when they start.",
    }
    LeaderNotAvailable {
        code: "leader_not_available",
        title: "Bucket without leader",
        exit: Unavailable, http: 503,
        meaning: "A bucket has no leader that can be asked at this moment.",
        cause: "Its tablet servers are down, or a leader is being elected.",
        action: "Ask again shortly; if it stays, look at `pegel servers`.",
    }
    UnsupportedApi {
        code: "unsupported_api",
        title: "Not offered by this server",
        exit: Unsupported, http: 501,
        meaning: "The server does not offer the request, or not in a version that is spoken here.",
        cause: "An older Fluss version.",
        action: "Compare the server's version with the documentation of the command.",
    }
    UnsupportedForTable {
        code: "unsupported_for_table",
        title: "Not possible with this table",
        exit: Unsupported, http: 501,
        meaning: "The table cannot answer this question because of its kind or its properties.",
        cause: "For example the row count of a primary-key table with `table.changelog.image` = `WAL`.",
        action: "Look at the table's kind and properties with `pegel table`.",
    }
    SecurityDisabled {
        code: "security_disabled",
        title: "Access control switched off",
        exit: Unsupported, http: 501,
        meaning: "The cluster runs without an authorizer, so there are no access rules to list. Nothing was refused.",
        cause: "`authorizer.enabled` is false on the cluster.",
        action: "Switch the authorizer on if access should be limited.",
    }
    StoreUnavailable {
        code: "store_unavailable",
        title: "Store unavailable",
        exit: Unavailable, http: 503,
        meaning: "Pegel's own database cannot be opened, reached or read.",
        cause: "The database server is down, or the data directory is gone or not readable.",
        action: "Check the store's setting and that the database runs; the log names what it said.",
    }
    DiskFull {
        code: "disk_full",
        title: "Disk full",
        exit: Internal, http: 507,
        meaning: "There is no room left to write. Nothing of the change was kept.",
        cause: "The disk of the data directory or of the database server is full.",
        action: "Make room; the same request works again after that.",
    }
    StoreBusy {
        code: "store_busy",
        title: "Store busy",
        exit: Unavailable, http: 503,
        meaning: "Others held what the change needs for too long. Nothing was kept.",
        cause: "Another process holds the database, or it is overloaded.",
        action: "Try again.",
    }
    CommitUnknown {
        code: "commit_unknown",
        title: "Change kept or not",
        exit: Unavailable, http: 503,
        meaning: "The connection was lost while the change was being kept: it may have been kept or not.",
        cause: "The database server was restarted or became unreachable in that moment.",
        action: "Look whether the change is there before asking for it again.",
    }
    IntegrityViolation {
        code: "integrity_violation",
        title: "Refused by the schema",
        exit: Internal, http: 500,
        meaning: "A rule of the database's schema refused the change.",
        cause: "Something the change refers to was removed in the same moment, or a defect of Pegel.",
        action: "Look at the present state and try again; report it if it stays.",
    }
    StatementRefused {
        code: "statement_refused",
        title: "Refused by the database",
        exit: Internal, http: 500,
        meaning: "The database refused a statement that Pegel believes to be right.",
        cause: "A database of an unsupported version, a missing right of its user, or a defect of Pegel.",
        action: "Check the version and the rights of the database's user; the log names what it said.",
    }
    StoreDamaged {
        code: "store_damaged",
        title: "Store damaged",
        exit: Internal, http: 500,
        meaning: "The database file is damaged, or is not a database.",
        cause: "A failing disk, a file that was cut, or a path to another file.",
        action: "Restore a backup, or correct the path.",
    }
    CorruptRow {
        code: "corrupt_row",
        title: "Unreadable row",
        exit: Internal, http: 500,
        meaning: "A row of the store holds what Pegel never wrote.",
        cause: "Somebody changed the database by hand, or a failing disk.",
        action: "Restore a backup; the log names the column.",
    }
    SchemaTooNew {
        code: "schema_too_new",
        title: "Store of a newer Pegel",
        exit: Usage, http: 500,
        meaning: "The store was written by a newer Pegel, which this one must not change.",
        cause: "A downgrade.",
        action: "Use the newer Pegel, or restore the backup that was made before the upgrade.",
    }
    SchemaOutdated {
        code: "schema_outdated",
        title: "Store of an older Pegel",
        exit: Usage, http: 500,
        meaning: "The store was last opened by an older Pegel, or is empty, and was only to be read.",
        cause: "An upgrade after which the server has not been started yet.",
        action: "Start the server once, which brings the store up to date after a backup.",
    }
    MigrationChanged {
        code: "migration_changed",
        title: "Unknown migration",
        exit: Internal, http: 500,
        meaning: "A migration that was applied is not the one this Pegel carries.",
        cause: "A build that was never released wrote the store.",
        action: "Use the build that wrote it, or restore a backup.",
    }
    MigrationFailed {
        code: "migration_failed",
        title: "Migration failed",
        exit: Internal, http: 500,
        meaning: "A change of the store's schema failed and was rolled back.",
        cause: "A full disk, or a missing right of the database's user.",
        action: "Remove the cause that the log names and start again.",
    }
    Conflict {
        code: "conflict",
        title: "Conflict",
        exit: Usage, http: 409,
        meaning: "Somebody else changed it meanwhile, or something of this name is already there.",
        cause: "Two people at once, or a name that is taken.",
        action: "Look at the present state and decide anew.",
    }
    NotFound {
        code: "not_found",
        title: "Not found",
        exit: NotFound, http: 404,
        meaning: "It does not exist, or it lies outside of what you may know of.",
        cause: "A misspelt name, something that was removed, or a narrower scope than expected.",
        action: "Check the name; ask an admin whether your scope covers it.",
    }
    SecretUnreadable {
        code: "secret_unreadable",
        title: "Secret not readable",
        exit: Internal, http: 500,
        meaning: "A stored secret cannot be decrypted with the key at hand.",
        cause: "Another key file than the one it was stored with, or changed bytes.",
        action: "Give the right key file, or enter the secret anew.",
    }
    KeyFileUnusable {
        code: "key_file_unusable",
        title: "Key file not usable",
        exit: Usage, http: 500,
        meaning: "The file of the secret key cannot be used.",
        cause: "It is missing, readable by others, or does not hold a key.",
        action: "Correct the file; the message says what is wrong with it.",
    }
    TooLarge {
        code: "too_large",
        title: "Too large",
        exit: Usage, http: 413,
        meaning: "Something is larger or longer than may be stored.",
        cause: "A text or a list over the limit that the message names.",
        action: "Shorten it.",
    }
    IoFailed {
        code: "io_failed",
        title: "File not accessible",
        exit: Internal, http: 500,
        meaning: "A file beside the database cannot be read or written.",
        cause: "A missing right, or a full or failing disk.",
        action: "Check the file that the log names.",
    }
    StoreClosed {
        code: "store_closed",
        title: "Store closed",
        exit: Unavailable, http: 503,
        meaning: "The store is being closed.",
        cause: "Pegel is shutting down.",
        action: "Try again when it has started.",
    }
    CryptographyUnavailable {
        code: "cryptography_unavailable",
        title: "No cryptography",
        exit: Internal, http: 500,
        meaning: "The system gives no random bytes, or refuses to encrypt or hash.",
        cause: "A system without a source of randomness, or without memory for a password's hash.",
        action: "Check the system's source of randomness and its free memory.",
    }
    SignInRequired {
        code: "sign_in_required",
        title: "Sign in",
        exit: Refused, http: 401,
        meaning: "The request came without a valid session or access token.",
        cause: "The session or token has ended, was revoked, or its user was disabled.",
        action: "Sign in again, or use another token.",
    }
    LoginFailed {
        code: "login_failed",
        title: "Name or password wrong",
        exit: Refused, http: 401,
        meaning: "Nobody may sign in with this name and this password. Which of the two is wrong is never said.",
        cause: "A typing error, or a user who was disabled.",
        action: "Try again; ask an admin to reset the password.",
    }
    LoginLocked {
        code: "login_locked",
        title: "Too many failed logins",
        exit: Refused, http: 429,
        meaning: "After too many failures this name or this address has to wait. It is the same for names that do not exist.",
        cause: "A forgotten password, or somebody who is guessing.",
        action: "Wait as long as the answer says; ask an admin to look at the audit log.",
    }
    LoginBusy {
        code: "login_busy",
        title: "Too many logins at once",
        exit: Unavailable, http: 503,
        meaning: "More people are signing in at this moment than the machine is allowed to check at once.",
        cause: "A flood of logins.",
        action: "Try again in some seconds.",
    }
    PermissionDenied {
        code: "permission_denied",
        title: "Permission missing",
        exit: Refused, http: 403,
        meaning: "You may know of this, but not do this to it. The answer names the permission that is missing.",
        cause: "A role that is too weak, or a grant that is missing.",
        action: "Ask an admin for the permission.",
    }
    PasswordChangeRequired {
        code: "password_change_required",
        title: "Change the password first",
        exit: Refused, http: 403,
        meaning: "The password was given by somebody else and has to be changed before anything else.",
        cause: "The first login after the user was made or the password was reset.",
        action: "Change the password.",
    }
    SessionRequired {
        code: "session_required",
        title: "Only for signed-in people",
        exit: Refused, http: 403,
        meaning: "This can be done by a person who has signed in, not by an access token.",
        cause: "An access token was used for an account's own affairs.",
        action: "Sign in and do it there.",
    }
    RightsExceeded {
        code: "rights_exceeded",
        title: "More rights than your own",
        exit: Refused, http: 403,
        meaning: "Nobody can give, or rule over, more rights than their own.",
        cause: "A role, grant or scope that you do not have yourself.",
        action: "Ask for less, or ask somebody with these rights to do it.",
    }
    LastAdmin {
        code: "last_admin",
        title: "Last admin",
        exit: Usage, http: 409,
        meaning: "The last admin who may sign in cannot be removed, disabled or made less.",
        cause: "There is no other enabled admin.",
        action: "Make somebody else an admin first.",
    }
    ClusterUnusable {
        code: "cluster_unusable",
        title: "Stored cluster settings unusable",
        exit: Unavailable, http: 503,
        meaning: "The cluster is registered, but its stored settings or secrets cannot be used, so nothing can be asked of it.",
        cause: "Settings of another version of Pegel, a certificate that cannot be read, or a damaged secret.",
        action: "Open the cluster's settings, correct what the message names, give the secrets again and save.",
    }
    SecretRequired {
        code: "secret_required",
        title: "Secret required again",
        exit: Usage, http: 400,
        meaning: "A change of where or how Pegel connects would send a stored secret somewhere new, so the secret has to be given again.",
        cause: "The endpoint, protocol, user, certificate checks or advertised hosts were changed and the password or key left as it is.",
        action: "Enter the secret that the message names, or remove it.",
    }
    ConnectionTestFailed {
        code: "connection_test_failed",
        title: "Connection test failed",
        exit: Unavailable, http: 422,
        meaning: "The cluster cannot be used through these settings, so they were not saved. The answer holds each step of the test.",
        cause: "A wrong address, protocol or credential, or a cluster that is down.",
        action: "Correct what the failed step names, or save despite the failure.",
    }
    ConnectionTestBusy {
        code: "connection_test_busy",
        title: "Too many connection tests at once",
        exit: Unavailable, http: 503,
        meaning: "More connection tests are running or waiting than are made at once.",
        cause: "Several people testing clusters that do not answer.",
        action: "Try again in a minute.",
    }
    HostNotServed {
        code: "host_not_served",
        title: "Host not served",
        exit: Usage, http: 421,
        meaning: "The request names a host that this Pegel does not answer for.",
        cause: "Pegel was opened by a name or address that is not in its settings, or a foreign web page tries to reach it.",
        action: "Open Pegel by its public URL, or add the name to the allowed hosts.",
    }
    OriginNotAllowed {
        code: "origin_not_allowed",
        title: "Request from another site",
        exit: Refused, http: 403,
        meaning: "The request was begun by another web site, or does not say that it was begun by Pegel's own pages.",
        cause: "A foreign web page, a public URL that is not the one people open, or a program that sends a session's cookie without an Origin.",
        action: "Set the public URL to what people open; programs use an access token and no cookie.",
    }
    CredentialsAmbiguous {
        code: "credentials_ambiguous",
        title: "More than one credential",
        exit: Usage, http: 400,
        meaning: "The request shows more than one session or access token, so it is not clear who asks.",
        cause: "A session's cookie beside an Authorization header, or the same cookie twice.",
        action: "Send either the cookie or the access token, once.",
    }
    MethodNotAllowed {
        code: "method_not_allowed",
        title: "Method not allowed",
        exit: Usage, http: 405,
        meaning: "The path exists, but not with this method.",
        cause: "A misspelt path or the wrong method.",
        action: "Use one of the methods that the Allow header names.",
    }
    UnsupportedMediaType {
        code: "unsupported_media_type",
        title: "Not JSON",
        exit: Usage, http: 415,
        meaning: "The request's body is not declared as JSON.",
        cause: "A missing or other Content-Type.",
        action: "Send the header Content-Type: application/json.",
    }
    BodyTooLarge {
        code: "body_too_large",
        title: "Request body too large",
        exit: Usage, http: 413,
        meaning: "The request's body is larger than Pegel takes.",
        cause: "More data at once than is meant for one request.",
        action: "Send less at once, or raise the limit in the settings.",
    }
    BodyTimeout {
        code: "body_timeout",
        title: "Request body too slow",
        exit: Unavailable, http: 408,
        meaning: "The request's body did not arrive in time.",
        cause: "A slow or broken network.",
        action: "Send the request again.",
    }
    TooManyStreams {
        code: "too_many_streams",
        title: "Too many change streams",
        exit: Unavailable, http: 429,
        meaning: "The user, or all users together, have as many change streams open as there may be.",
        cause: "Many open windows, or a program that opens streams without closing them.",
        action: "Close some and try again.",
    }
    ListenFailed {
        code: "listen_failed",
        title: "Cannot listen",
        exit: Usage, http: 500,
        meaning: "The server cannot listen on its address. Nothing was opened or changed.",
        cause: "Another program, or another Pegel, has the port; or the address is none of this machine's.",
        action: "Choose another address with --listen or in [server]; `ss -ltnp` shows who has a port.",
    }
    DataDirUnusable {
        code: "data_dir_unusable",
        title: "Data directory not usable",
        exit: Usage, http: 500,
        meaning: "The data directory cannot be made, read or written.",
        cause: "A missing right, a file in its place, or a full disk.",
        action: "Correct the rights of the directory, or choose another with --data-dir or in [store].",
    }
    DataDirInUse {
        code: "data_dir_in_use",
        title: "Data directory in use",
        exit: Usage, http: 500,
        meaning: "Another server works in this data directory, and there must be only one.",
        cause: "Pegel runs already, perhaps as a service.",
        action: "Use the one that runs, stop it first, or choose another directory with --data-dir.",
    }
    AuditBroken {
        code: "audit_broken",
        title: "Audit log broken",
        exit: Partial, http: 500,
        meaning: "The audit log is not as it was written: a row was changed or is missing. The answer names the first such row.",
        cause: "Somebody changed the database by hand, a failing disk, or a backup that was put together from parts.",
        action: "Keep a copy of the database as it is now, and compare it with backups to see what was changed.",
    }
    ServerUnreachable {
        code: "server_unreachable",
        title: "Server does not answer",
        exit: Unavailable, http: 502,
        meaning: "The Pegel server could not be reached, or did not answer in time. A change may have been made or not.",
        cause: "The server is down, its address is another, its certificate is not trusted, or something between drops the connection.",
        action: "Check the address, and that `pegel serve` runs there; `pegel doctor` looks at both ends.",
    }
    ServerAnswerUnusable {
        code: "server_answer_unusable",
        title: "Answer of the server not understood",
        exit: Unavailable, http: 502,
        meaning: "What answered is no Pegel server, or one of another version: the answer is too large, redirects elsewhere, or is not in the expected form.",
        cause: "A wrong address or path, a proxy that answers by itself, or versions that are far apart.",
        action: "Check the address with its path, and compare the versions of both ends.",
    }
    CredentialsUnusable {
        code: "credentials_unusable",
        title: "Stored logins not usable",
        exit: Usage, http: 500,
        meaning: "The file of stored logins cannot be read or written, or others may read it.",
        cause: "A missing right, a file that was edited by hand, or no place for settings of the user.",
        action: "Correct or remove the file that the message names, and sign in again with `pegel login`.",
    }
    DemoFailed {
        code: "demo_failed",
        title: "Demo cluster could not be started",
        exit: Internal, http: 500,
        meaning: "The demo cluster could not be started, or ended by itself. Nothing of it is left running.",
        cause: "No Java, a port in use, or too little memory.",
        action: "Read the message; the log in the demo's directory has more.",
    }
    Internal {
        code: "internal",
        title: "Internal error",
        exit: Internal, http: 500,
        meaning: "Pegel itself failed in a way that it does not explain better.",
        cause: "A fault in Pegel, or a machine without memory or disk.",
        action: "Run again with `--verbose` and report what it prints.",
    }
}
