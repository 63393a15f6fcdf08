// The form of a connection as people type it, and the body that the server takes. Pure; defaults and ranges as the server has
// them.
import type { components } from "~/api/schema";

type Schemas = components["schemas"];
type View = Schemas["ConnectionView"];

export const PROTOCOLS = ["PLAINTEXT", "TLS", "SASL_PLAINTEXT", "SASL_TLS"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What becomes of a stored secret. */
export type SecretChoice = "keep" | "replace" | "remove";

export interface ConnectionDraft {
  readonly endpoint: string;
  readonly protocol: Protocol;
  readonly username: string;
  readonly passwordChoice: SecretChoice;
  readonly password: string;
  readonly caCert: string;
  readonly clientCert: string;
  readonly keyChoice: SecretChoice;
  readonly clientKey: string;
  readonly serverName: string;
  readonly skipVerify: boolean;
  readonly dialSeconds: string;
  readonly readSeconds: string;
  readonly attempts: string;
  readonly allowedHosts: string;
}

export const NEW_CONNECTION: ConnectionDraft = {
  endpoint: "",
  protocol: "PLAINTEXT",
  username: "",
  passwordChoice: "replace",
  password: "",
  caCert: "",
  clientCert: "",
  keyChoice: "replace",
  clientKey: "",
  serverName: "",
  skipVerify: false,
  dialSeconds: "10",
  readSeconds: "15",
  attempts: "2",
  allowedHosts: "",
};

/** The draft that changes nothing of what is stored. */
export function draftOf(view: View): ConnectionDraft {
  return {
    endpoint: view.endpoint,
    protocol: PROTOCOLS.find((known) => known === view.security_protocol) ?? "PLAINTEXT",
    username: view.sasl_username ?? "",
    passwordChoice: view.has_sasl_password ? "keep" : "replace",
    password: "",
    caCert: view.tls_ca_cert ?? "",
    clientCert: view.tls_client_cert ?? "",
    keyChoice: view.has_tls_client_key ? "keep" : "replace",
    clientKey: "",
    serverName: view.tls_server_name ?? "",
    skipVerify: view.tls_skip_verify,
    dialSeconds: String(view.dial_timeout_seconds),
    readSeconds: String(view.request_timeout_seconds),
    attempts: String(view.read_max_attempts),
    allowedHosts: (view.advertised_host_allow_list ?? []).join("\n"),
  };
}

export const usesTls = (protocol: string) => protocol === "TLS" || protocol === "SASL_TLS";
export const usesSasl = (protocol: Protocol) => protocol === "SASL_PLAINTEXT" || protocol === "SASL_TLS";

/** Absent leaves a stored secret as it is, null removes it. */
function secret(choice: SecretChoice, value: string): string | null | undefined {
  if (choice === "keep") return undefined;
  return choice === "remove" || value === "" ? null : value;
}

/** What the server is told. Fields of a protocol that is not chosen are not sent, and their secrets are removed. */
export function bodyOf(draft: ConnectionDraft): Schemas["ConnectionForm"] {
  const tls = usesTls(draft.protocol);
  const sasl = usesSasl(draft.protocol);
  const hosts = draft.allowedHosts.split(/[\s,]+/).filter((host) => host !== "");
  const body = {
    endpoint: draft.endpoint.trim(),
    security_protocol: draft.protocol,
    ...(sasl ? { sasl_mechanism: "PLAIN", sasl_username: draft.username } : {}),
    sasl_password: sasl ? secret(draft.passwordChoice, draft.password) : null,
    ...(tls && draft.caCert.trim() !== "" ? { tls_ca_cert: draft.caCert } : {}),
    ...(tls && draft.clientCert.trim() !== "" ? { tls_client_cert: draft.clientCert } : {}),
    tls_client_key: tls ? secret(draft.keyChoice, draft.clientKey) : null,
    ...(tls && draft.serverName.trim() !== "" ? { tls_server_name: draft.serverName.trim() } : {}),
    tls_skip_verify: tls && draft.skipVerify,
    dial_timeout_seconds: Number(draft.dialSeconds),
    request_timeout_seconds: Number(draft.readSeconds),
    read_max_attempts: Number(draft.attempts),
    advertised_host_allow_list: hosts.length === 0 ? null : hosts,
  };
  // The document calls every field required, since each has a default.
  return body as Schemas["ConnectionForm"];
}

export interface Range {
  readonly least: number;
  readonly most: number;
}
export const SECONDS: Range = { least: 1, most: 300 };
export const ATTEMPTS: Range = { least: 1, most: 3 };

export function rangeError(text: string, { least, most }: Range): string | undefined {
  const isCount = /^\d{1,4}$/.test(text);
  return isCount && Number(text) >= least && Number(text) <= most
    ? undefined
    : `A whole number from ${least} to ${most}`;
}

export function endpointError(text: string): string | undefined {
  const servers = text.split(",").map((server) => server.trim());
  if (text.trim() === "") return "Name at least one server as host:port";
  if (servers.some((server) => server.includes("/")))
    return "An address is host:port, without http:// and without a path";
  return servers.every((server) => /^(\[[0-9a-f:.]+\]|[^\s:[\]]+):\d{1,5}$/i.test(server))
    ? undefined
    : "Each address is host:port, with a comma between two";
}

export function slugError(slug: string): string | undefined {
  if (/^[a-z][a-z0-9-]{0,62}$/.test(slug)) return undefined;
  return "1 to 63 of a-z, 0-9 and -, the first a letter";
}

/** A name for paths made of a name for people; "" where nothing is left of it. */
export function slugFrom(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 63)
    .replace(/-+$/, "");
}

/** Why the form cannot be tested or saved yet. */
export function draftProblem(draft: ConnectionDraft): string | undefined {
  if (endpointError(draft.endpoint) !== undefined) return "Name at least one server as host:port";
  if (usesSasl(draft.protocol) && draft.username === "") return "SASL needs a user name";
  if (usesSasl(draft.protocol) && draft.passwordChoice === "replace" && draft.password === "")
    return "SASL needs a password";
  const limits = [
    rangeError(draft.dialSeconds, SECONDS),
    rangeError(draft.readSeconds, SECONDS),
    rangeError(draft.attempts, ATTEMPTS),
  ];
  return limits.some((error) => error !== undefined) ? "A limit is out of its range" : undefined;
}

/** The secrets that the draft would send, with the variable of the shell that holds each: those that `pegel` reads itself. */
export function secretsOf(draft: ConnectionDraft): readonly { readonly field: string; readonly variable: string }[] {
  const password = usesSasl(draft.protocol) && draft.passwordChoice === "replace";
  const key = usesTls(draft.protocol) && draft.keyChoice === "replace" && draft.clientKey.trim() !== "";
  return [
    ...(password ? [{ field: "sasl_password", variable: "PEGEL_SASL_PASSWORD" }] : []),
    ...(key ? [{ field: "tls_client_key", variable: "PEGEL_TLS_CLIENT_KEY_PEM" }] : []),
  ];
}

/**
 * The options of `pegel` that say the same; undefined where it has none for a part. PEM texts are named as files there. What is
 * not given stays as it is, so a change gives defaults too.
 */
export function connectionWords(draft: ConnectionDraft, isNew: boolean): string[] | undefined {
  const removes = draft.passwordChoice === "remove" || draft.keyChoice === "remove";
  if (draft.allowedHosts.trim() !== "" || removes) return undefined;
  const tls = usesTls(draft.protocol);
  const unlessPlain = (option: string, value: string, plain: string) =>
    isNew && value === plain ? [] : [option, value];
  return [
    "--bootstrap",
    draft.endpoint.trim(),
    ...unlessPlain("--security-protocol", draft.protocol, NEW_CONNECTION.protocol),
    ...(usesSasl(draft.protocol) ? ["--sasl-username", draft.username] : []),
    ...(tls && draft.caCert.trim() !== "" ? ["--tls-ca-cert", "ca.pem"] : []),
    ...(tls && draft.clientCert.trim() !== "" ? ["--tls-client-cert", "client.pem"] : []),
    ...(tls && draft.keyChoice === "replace" && draft.clientKey.trim() !== ""
      ? ["--tls-client-key", "client-key.pem"]
      : []),
    ...(tls && draft.serverName.trim() !== "" ? ["--tls-server-name", draft.serverName.trim()] : []),
    ...(tls && draft.skipVerify ? ["--tls-skip-verify"] : []),
    ...unlessPlain("--dial-timeout-seconds", draft.dialSeconds, NEW_CONNECTION.dialSeconds),
    ...unlessPlain("--request-timeout-seconds", draft.readSeconds, NEW_CONNECTION.readSeconds),
    ...unlessPlain("--read-max-attempts", draft.attempts, NEW_CONNECTION.attempts),
  ];
}
