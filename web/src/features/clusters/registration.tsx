import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fetchClient } from "~/api/client";
import { type Cluster, clusterQuery } from "~/api/clusters";
import { failureOf } from "~/api/errors";
import { AsCommand } from "~/components/as-command";
import { FailureView } from "~/components/failure-view";
import { useOnceAtATime } from "~/components/use-once-at-a-time";
import { reasonNotAllowed } from "~/lib/grants";
import { sentence } from "~/lib/sentence";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import { KeyValue } from "~/ui/key-value";
import { UnavailableState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { Skeleton } from "~/ui/skeleton";
import { StateChip, Tag } from "~/ui/state-chip";
import { showToast } from "~/ui/toast";
import { Mono, Time } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { ClusterForm } from "./cluster-form";
import { ConnectionFindings } from "./connection-findings";
import { usesTls } from "./connection-form";
import styles from "./registration.module.css";
import { RemoveCluster } from "./remove-cluster";

interface RegistrationProps {
  readonly cluster: string;
  readonly grants: readonly string[];
  /** Whether the form is open. */
  readonly editing: boolean;
  readonly onEdit: (editing: boolean) => void;
  readonly onRemoved: () => void;
}

/** How a cluster is registered: name, kind, connection. Secrets are never part of it. */
export function Registration({ cluster, grants, editing, onEdit, onRemoved }: RegistrationProps) {
  const [removing, setRemoving] = useState(false);
  const test = useConnectionTest(cluster);
  const runTest = useOnceAtATime(() => test.mutateAsync());
  const { data, error, isPending, isRefetching, refetch } = useQuery(clusterQuery(cluster));
  if (isPending) {
    return (
      <>
        <PageTitle>{cluster}</PageTitle>
        <Panel>
          <Skeleton lines={6} height={180} />
        </Panel>
      </>
    );
  }
  if (data === undefined) {
    return (
      <>
        <PageTitle>{cluster} cannot be shown</PageTitle>
        <Panel>
          <FailureView error={error} onRetry={() => void refetch()} retrying={isRefetching} />
        </Panel>
      </>
    );
  }
  const { connection, unusable } = data;
  const notAllowed =
    reasonNotAllowed(grants, "pegel.clusters.write") ??
    (connection ? undefined : "Only for those who see the whole cluster");
  if (editing) {
    return (
      <>
        <PageTitle>Change {data.name}</PageTitle>
        <ClusterForm
          key={data.version}
          cluster={data}
          notAllowed={notAllowed}
          onDone={(saved) => {
            showToast({ state: "ok", title: `${saved.name} is saved` });
            onEdit(false);
          }}
          onCancel={() => onEdit(false)}
        />
      </>
    );
  }
  return (
    <>
      <PageTitle
        sub={data.read_only ? <Tag>read-only: Pegel refuses every change</Tag> : undefined}
        actions={
          <>
            <Button busy={test.isPending} disabledReason={notAllowed} onClick={runTest}>
              Test the connection
            </Button>
            <Button disabledReason={notAllowed} onClick={() => onEdit(true)}>
              Change
            </Button>
            <Button look="danger" disabledReason={notAllowed} onClick={() => setRemoving(true)}>
              Remove
            </Button>
          </>
        }
      >
        {data.name} is registered as {data.environment}
      </PageTitle>
      {removing && <RemoveCluster cluster={data} onClose={() => setRemoving(false)} onDone={onRemoved} />}
      <div className={styles.grid}>
        {test.data && <ConnectionFindings envelope={test.data} />}
        {test.error !== null && (
          <Panel title="Connection test">
            <FailureView error={test.error} onRetry={runTest} retrying={test.isPending} />
          </Panel>
        )}
        <Panel title="Connection">
          {unusable && (
            <UnavailableState title="Nothing can be asked of this cluster" compact>
              {sentence(unusable.message)} {sentence(unusable.hint ?? "")}
            </UnavailableState>
          )}
          {connection ? (
            <KeyValue
              items={[
                ["servers", <Servers key="v" endpoint={connection.endpoint} />],
                ["protocol", <Mono key="v">{connection.security_protocol}</Mono>],
                ["user", connection.sasl_username ? <Mono key="v">{connection.sasl_username}</Mono> : "none"],
                ["password", connection.has_sasl_password ? "stored, never shown" : "none"],
                ["encryption", <Encryption key="v" connection={connection} />],
                ["dial limit", `${connection.dial_timeout_seconds} s`],
                ["read limit", `${connection.request_timeout_seconds} s, ${connection.read_max_attempts} attempts`],
              ]}
            />
          ) : (
            <p>How it is reached is shown only to those who see the whole cluster.</p>
          )}
        </Panel>
        <Panel title="Registration">
          <KeyValue
            items={[
              ["name in paths", <Mono key="v">{data.slug}</Mono>],
              ["registered", <Time key="v" at={data.created_at} precision="second" />],
              ["changed", <Time key="v" at={data.updated_at} precision="second" />],
            ]}
          />
        </Panel>
      </div>
      <AsCommand cli={["cluster", "show", data.slug]} path={`clusters/${data.slug}`} />
    </>
  );
}

function useConnectionTest(cluster: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { data, error } = await fetchClient.POST("/api/v1/clusters/{cluster}/test", {
        params: { path: { cluster } },
      });
      if (data === undefined) throw error;
      return data;
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: clusterQuery(cluster).queryKey }),
    onError: (error) => {
      const failure = failureOf(error);
      showToast({ state: "unavailable", title: "The connection could not be tested", detail: failure.detail });
    },
  });
}

function Encryption({ connection }: { readonly connection: NonNullable<Cluster["connection"]> }) {
  if (!usesTls(connection.security_protocol)) return "none: whoever stands between can read all";
  if (connection.tls_skip_verify) return <StateChip state="risk">certificates are not verified</StateChip>;
  const by = connection.tls_ca_cert ? "by authorities of its own" : "by those of the system";
  const name = connection.tls_server_name ? `, for the name ${connection.tls_server_name}` : "";
  const client = connection.tls_client_cert ? "; Pegel shows a certificate" : "";
  return <VisibleText text={`certificates are verified ${by}${name}${client}`} />;
}

function Servers({ endpoint }: { readonly endpoint: string }) {
  return (
    <>
      {endpoint.split(",").map((server) => (
        <Mono key={server}>{server}</Mono>
      ))}
      <CopyButton text={endpoint} what="servers" />
    </>
  );
}
