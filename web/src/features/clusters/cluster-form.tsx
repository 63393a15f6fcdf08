import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchClient } from "~/api/client";
import type { Cluster } from "~/api/clusters";
import type { Envelope } from "~/api/envelope";
import { failureOf, isProblem } from "~/api/errors";
import type { components } from "~/api/schema";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import type { Environment } from "~/lib/environment";
import { Button } from "~/ui/button";
import { CheckboxField, FieldStack, SwitchField, TextField } from "~/ui/fields";
import { FormError } from "~/ui/front-page";
import { Panel } from "~/ui/panel";
import { Segmented } from "~/ui/segmented";
import { ConnectionFields } from "./connection-fields";
import { ConnectionFindings } from "./connection-findings";
import {
  bodyOf,
  type ConnectionDraft,
  draftOf,
  draftProblem,
  NEW_CONNECTION,
  slugError,
  slugFrom,
} from "./connection-form";
import { FormCommand } from "./form-command";
import styles from "./registration.module.css";

type Schemas = components["schemas"];
type Findings = Envelope<Schemas["ConnectionTest"]>;
const ENVIRONMENTS: readonly Environment[] = ["production", "staging", "development", "test"];

interface ClusterFormProps {
  /** The cluster that is changed; left out for a new one. */
  readonly cluster?: Cluster;
  /** Why nothing may be changed. */
  readonly notAllowed: string | undefined;
  readonly onDone: (cluster: Cluster) => void;
  readonly onCancel: () => void;
  readonly cancelWords?: string;
}

/** Registers a cluster or changes how it is reached. The connection is tested before anything is saved. */
export function ClusterForm({ cluster, notAllowed, onDone, onCancel, cancelWords = "Cancel" }: ClusterFormProps) {
  const [name, setName] = useState(cluster?.name ?? "");
  const [ownSlug, setOwnSlug] = useState<string>();
  const slug = cluster?.slug ?? ownSlug ?? slugFrom(name);
  const [environment, setEnvironment] = useState<Environment | undefined>(cluster?.environment);
  const [readOnly, setReadOnly] = useState(cluster?.read_only ?? false);
  const [draft, setDraft] = useState<ConnectionDraft>(() =>
    cluster?.connection ? draftOf(cluster.connection) : NEW_CONNECTION,
  );
  const [findings, setFindings] = useState<Findings>();
  const [anyway, setAnyway] = useState(false);
  const queries = useQueryClient();

  const common = {
    name: name.trim(),
    environment: environment ?? "test",
    read_only: readOnly,
    save_despite_failure: anyway,
  };
  const change = (next: ConnectionDraft) => {
    setDraft(next);
    // Findings are of what was tested, not of what stands there now.
    setFindings(undefined);
    setAnyway(false);
  };

  const test = useMutation({
    mutationFn: async () => {
      const body = { connection: bodyOf(draft) };
      const { data, error } =
        cluster === undefined
          ? await fetchClient.POST("/api/v1/connection-tests", { body })
          : await fetchClient.POST("/api/v1/clusters/{cluster}/connection-tests", {
              params: { path: { cluster: cluster.slug } },
              body,
            });
      if (data === undefined) throw error;
      return data;
    },
    onMutate: () => setFindings(undefined),
    onSuccess: setFindings,
  });
  const save = useMutation({
    mutationFn: async () => {
      const connection = bodyOf(draft);
      const { data, error } =
        cluster === undefined
          ? await fetchClient.POST("/api/v1/clusters", { body: { ...common, connection, slug } })
          : await fetchClient.PUT("/api/v1/clusters/{cluster}", {
              params: { path: { cluster: cluster.slug } },
              body: { ...common, connection, version: cluster.version },
            });
      if (data === undefined) throw error;
      return data.cluster;
    },
    onSuccess: async (saved) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/api/v1/clusters"),
      });
      onDone(saved);
    },
    onError: (error) => {
      if (isProblem(error) && error.connection_test) setFindings(error.connection_test);
    },
  });
  const submit = useOnceAtATime(() => save.mutateAsync());
  const runTest = useOnceAtATime(() => test.mutateAsync());
  const error = save.error ?? test.error;
  const failure = error === null ? undefined : failureOf(error);
  const testFailed = findings?.data?.verdict === "failed";
  const connectionProblem = draftProblem(draft);
  const problem =
    notAllowed ??
    (name.trim() === "" ? "Give it a name" : undefined) ??
    (slugError(slug) && "The name in paths is not valid") ??
    (environment === undefined ? "Say what it is for" : undefined) ??
    connectionProblem ??
    (testFailed && !anyway ? "The test failed; tick the box to save all the same" : undefined);

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) submit();
      }}
    >
      <FieldStack>
        <Panel title="Cluster">
          <FieldStack>
            <TextField
              label="Name"
              required
              value={name}
              onChange={setName}
              error={failure?.fields.get("/name")}
              maxLength={256}
            />
            {cluster === undefined && (
              <TextField
                label="Name in paths"
                description="In addresses, commands and alerts; it can never be changed"
                mono
                required
                value={slug}
                onChange={setOwnSlug}
                error={failure?.fields.get("/slug") ?? (slug === "" ? undefined : slugError(slug))}
              />
            )}
            <div>
              <div className={styles.label}>It is for</div>
              <Segmented
                label="Environment"
                value={environment ?? ("" as Environment)}
                onChange={setEnvironment}
                options={ENVIRONMENTS.map((value) => ({ value, label: value }))}
              />
            </div>
            <SwitchField
              label="Read-only"
              description="Pegel refuses every change to it, whoever asks"
              checked={readOnly}
              onChange={setReadOnly}
            />
          </FieldStack>
        </Panel>
        <Panel title="Connection">
          <FieldStack>
            <ConnectionFields
              draft={draft}
              onChange={change}
              errors={failure?.fields ?? new Map()}
              secretRequired={failure?.code === "secret_required"}
              {...(cluster?.connection
                ? {
                    stored: {
                      password: cluster.connection.has_sasl_password,
                      key: cluster.connection.has_tls_client_key,
                    },
                  }
                : {})}
            />
          </FieldStack>
        </Panel>
        {findings && <ConnectionFindings envelope={findings} />}
        {testFailed && (
          <CheckboxField
            label="Save it although the test failed"
            description="Pegel goes on trying to reach it; until it does, all of it is unknown"
            checked={anyway}
            onChange={setAnyway}
          />
        )}
        {failure !== undefined && !(failure.code === "connection_test_failed" && findings) && (
          <FormError>
            <b>{failure.title}.</b> {failure.detail} {failure.hint}{" "}
            {failure.code === "conflict" && "Load the page again to see what is there now."}
          </FormError>
        )}
        <div className={styles.buttons}>
          <Button type="submit" look="primary" busy={save.isPending} disabledReason={problem} reasonBeside>
            {cluster === undefined ? "Register" : "Save"}
          </Button>
          <Button busy={test.isPending} disabledReason={notAllowed ?? connectionProblem} onClick={runTest}>
            Test the connection
          </Button>
          <Button look="quiet" onClick={onCancel}>
            {cancelWords}
          </Button>
        </div>
        <FormCommand draft={draft} cluster={cluster} common={{ ...common, slug }} />
      </FieldStack>
    </form>
  );
}
