import { CheckboxField, PasswordField, TextAreaField, TextField } from "~/ui/fields";
import { Segmented } from "~/ui/segmented";
import {
  ATTEMPTS,
  type ConnectionDraft,
  endpointError,
  PROTOCOLS,
  rangeError,
  SECONDS,
  type SecretChoice,
  usesSasl,
  usesTls,
} from "./connection-form";
import styles from "./registration.module.css";

interface ConnectionFieldsProps {
  readonly draft: ConnectionDraft;
  readonly onChange: (draft: ConnectionDraft) => void;
  /** What is wrong with which field, by its JSON pointer. */
  readonly errors: ReadonlyMap<string, string>;
  /** Which secrets are stored, for a cluster that is there. */
  readonly stored?: { readonly password: boolean; readonly key: boolean };
  /** The server asks for a stored secret again. */
  readonly secretRequired: boolean;
}

/** How a cluster is reached. */
export function ConnectionFields({ draft, onChange, errors, stored, secretRequired }: ConnectionFieldsProps) {
  const set = (change: Partial<ConnectionDraft>) => onChange({ ...draft, ...change });
  const error = (name: string) => errors.get(`/connection/${name}`);
  const again = "The server is somewhere else now, so the stored secret has to be given again or removed";
  return (
    <>
      <TextField
        label="Servers to begin with"
        description="host:port of two or more coordinators or tablet servers, with commas between; two keep the way open when one fails"
        placeholder="fluss-1.example:9123,fluss-2.example:9123"
        mono
        required
        value={draft.endpoint}
        onChange={(endpoint) => set({ endpoint })}
        error={error("endpoint") ?? (draft.endpoint === "" ? undefined : endpointError(draft.endpoint))}
      />
      <div>
        <div className={styles.label}>Protocol</div>
        <Segmented
          label="Protocol"
          value={draft.protocol}
          onChange={(protocol) => set({ protocol })}
          options={PROTOCOLS.map((value) => ({ value, label: value }))}
        />
      </div>
      {usesSasl(draft.protocol) && (
        <>
          <TextField
            label="User"
            description="SASL PLAIN, the only mechanism of Fluss 0.9.1"
            required
            value={draft.username}
            onChange={(username) => set({ username })}
            error={error("sasl_username")}
          />
          <SecretField
            label="Password"
            stored={stored?.password ?? false}
            choice={draft.passwordChoice}
            value={draft.password}
            onChange={(passwordChoice, password) => set({ passwordChoice, password })}
            error={error("sasl_password") ?? (secretRequired && draft.passwordChoice === "keep" ? again : undefined)}
          />
        </>
      )}
      {usesTls(draft.protocol) && (
        <>
          <TextAreaField
            label="Certificate authorities"
            description="PEM; empty for those of the system Pegel runs on"
            mono
            value={draft.caCert}
            onChange={(caCert) => set({ caCert })}
            error={error("tls_ca_cert")}
          />
          <TextAreaField
            label="Client certificate"
            description="PEM, with its chain; only where the cluster asks for one"
            mono
            value={draft.clientCert}
            onChange={(clientCert) => set({ clientCert })}
            error={error("tls_client_cert")}
          />
          <SecretField
            label="Client key"
            multiline
            stored={stored?.key ?? false}
            choice={draft.keyChoice}
            value={draft.clientKey}
            onChange={(keyChoice, clientKey) => set({ keyChoice, clientKey })}
            error={error("tls_client_key") ?? (secretRequired && draft.keyChoice === "keep" ? again : undefined)}
          />
          <TextField
            label="Name in the certificates"
            description="Empty for the host that is dialled"
            mono
            value={draft.serverName}
            onChange={(serverName) => set({ serverName })}
            error={error("tls_server_name")}
          />
          <CheckboxField
            label="Do not verify certificates"
            description="Whoever stands between can read and change all; for isolated tests only"
            checked={draft.skipVerify}
            onChange={(skipVerify) => set({ skipVerify })}
          />
        </>
      )}
      <details className={styles.more}>
        <summary>Limits and hosts</summary>
        <div className={styles.limits}>
          <TextField
            label="Dial limit, s"
            description="1 to 300"
            inputMode="numeric"
            mono
            value={draft.dialSeconds}
            onChange={(dialSeconds) => set({ dialSeconds })}
            error={error("dial_timeout_seconds") ?? rangeError(draft.dialSeconds, SECONDS)}
          />
          <TextField
            label="Read limit, s"
            description="1 to 300, repetitions included"
            inputMode="numeric"
            mono
            value={draft.readSeconds}
            onChange={(readSeconds) => set({ readSeconds })}
            error={error("request_timeout_seconds") ?? rangeError(draft.readSeconds, SECONDS)}
          />
          <TextField
            label="Attempts of a read"
            description="1 to 3; changes are never repeated"
            inputMode="numeric"
            mono
            value={draft.attempts}
            onChange={(attempts) => set({ attempts })}
            error={error("read_max_attempts") ?? rangeError(draft.attempts, ATTEMPTS)}
          />
        </div>
        <TextAreaField
          label="Hosts that the cluster may send Pegel to"
          description="One a line; empty allows all that its metadata names"
          mono
          value={draft.allowedHosts}
          onChange={(allowedHosts) => set({ allowedHosts })}
          error={error("advertised_host_allow_list")}
        />
      </details>
    </>
  );
}

interface SecretFieldProps {
  readonly label: string;
  readonly stored: boolean;
  readonly multiline?: boolean;
  readonly choice: SecretChoice;
  readonly value: string;
  readonly onChange: (choice: SecretChoice, value: string) => void;
  readonly error: string | undefined;
}

/** A secret that can be written but never read: kept, replaced or removed. */
function SecretField({ label, stored, multiline = false, choice, value, onChange, error }: SecretFieldProps) {
  const input = { label: stored ? `New ${label.toLowerCase()}` : label, value, error };
  return (
    <>
      {stored && (
        <div>
          <div className={styles.label}>{label}, stored and never shown</div>
          <Segmented
            label={`${label}, stored`}
            size="small"
            value={choice}
            onChange={(next) => onChange(next, value)}
            options={[
              { value: "keep", label: "Keep" },
              { value: "replace", label: "Replace" },
              { value: "remove", label: "Remove" },
            ]}
          />
          {choice !== "replace" && error !== undefined && <div className={styles.error}>{error}</div>}
        </div>
      )}
      {choice === "replace" &&
        (multiline ? (
          <TextAreaField {...input} mono autoComplete="off" onChange={(text) => onChange(choice, text)} />
        ) : (
          <PasswordField {...input} autoComplete="new-password" onChange={(text) => onChange(choice, text)} />
        ))}
    </>
  );
}
