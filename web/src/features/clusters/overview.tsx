import { useQuery } from "@tanstack/react-query";
import { type Cluster, clustersQuery } from "~/api/clusters";
import { AsCommand } from "~/components/as-command";
import { FailureView } from "~/components/failure-view";
import { Age } from "~/ui/age";
import { Button, ButtonLink } from "~/ui/button";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { EnvironmentTag } from "~/ui/environment";
import { EmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { StateChip, Tag } from "~/ui/state-chip";
import { Mono, RelativeTime, Unknown } from "~/ui/values";
import { clusterLook, headline } from "./cluster-state";

const REFRESH_MS = 30_000;

const COLUMNS: readonly TableColumn<Cluster>[] = [
  {
    id: "name",
    header: "Cluster",
    width: 180,
    cell: (row) => row.name,
    note: (row) => row.slug !== row.name && row.slug,
    sortValue: (row) => row.name,
  },
  {
    id: "state",
    header: "State",
    width: 230,
    grow: true,
    cell: (row) => <State cluster={row} />,
    sortValue: (row) => clusterLook(row).rank,
  },
  {
    id: "environment",
    header: "Environment",
    width: 120,
    cell: (row) => <EnvironmentTag environment={row.environment} />,
    sortValue: (row) => row.environment,
  },
  {
    id: "servers",
    header: "Tablet servers",
    width: 120,
    align: "end",
    cell: (row) => <TabletServers cluster={row} />,
    sortValue: (row) => row.state?.tablet_servers_alive_count ?? undefined,
  },
  {
    id: "changes",
    header: "Changes",
    width: 130,
    cell: (row) => (row.read_only ? <Tag>read-only</Tag> : "by permission"),
  },
  { id: "endpoint", header: "Servers to begin with", width: 210, cell: (row) => <Endpoint cluster={row} /> },
  {
    id: "seen",
    header: "Seen",
    width: 110,
    align: "end",
    cell: (row) => <RelativeTime at={row.state?.observed_at ?? undefined} />,
    sortValue: (row) => row.state?.observed_at ?? undefined,
  },
];

interface OverviewProps {
  readonly hrefOf: (cluster: string) => string;
  readonly onOpen: (cluster: string) => void;
  readonly registerHref: string;
  /** Why none may be registered. */
  readonly notAllowed: string | undefined;
}

/** All clusters that one may see. */
export function Overview({ hrefOf, onOpen, registerHref, notAllowed }: OverviewProps) {
  const clusters = useQuery({ ...clustersQuery, refetchInterval: REFRESH_MS });
  const rows = clusters.data?.items ?? [];
  return (
    <>
      <PageTitle
        sub={
          clusters.data && (
            <Age
              at={new Date(clusters.dataUpdatedAt).toISOString()}
              intervalMs={REFRESH_MS}
              failure={clusters.isRefetchError ? "no answer" : undefined}
            />
          )
        }
        actions={<Register href={registerHref} notAllowed={notAllowed} />}
      >
        {headline(clusters.data?.items)}
      </PageTitle>
      <Panel flush>
        <DataTable
          label="Clusters"
          layoutKey="clusters"
          columns={COLUMNS}
          rows={rows}
          rowId={(row) => row.slug}
          hrefOf={(row) => hrefOf(row.slug)}
          onOpen={(row) => onOpen(row.slug)}
          copyOf={(row) => JSON.stringify(row, undefined, 2)}
          pageKeys
          loading={clusters.isPending}
          skeletonRows={3}
          refreshing={clusters.isRefetching}
          toolbar={<span>{rows.length === 1 ? "1 registered" : `${rows.length} registered`}</span>}
          instead={insteadOfRows()}
        />
      </Panel>
      <AsCommand cli={["cluster", "list"]} path="clusters" />
    </>
  );

  function insteadOfRows() {
    if (clusters.isError && clusters.data === undefined) {
      return (
        <FailureView error={clusters.error} onRetry={() => void clusters.refetch()} retrying={clusters.isRefetching} />
      );
    }
    if (clusters.data === undefined || rows.length > 0) return undefined;
    return (
      <EmptyState
        title="No cluster is registered within your scope"
        action={<Register href={registerHref} notAllowed={notAllowed} />}
      >
        A cluster is registered here or with <code>pegel cluster add</code>.
      </EmptyState>
    );
  }
}

function Register({ href, notAllowed }: { readonly href: string; readonly notAllowed: string | undefined }) {
  if (notAllowed !== undefined) {
    return (
      <Button icon="plus" disabledReason={notAllowed}>
        Register a cluster
      </Button>
    );
  }
  return (
    <ButtonLink icon="plus" href={href}>
      Register a cluster
    </ButtonLink>
  );
}

function State({ cluster }: { readonly cluster: Cluster }) {
  const look = clusterLook(cluster);
  return <StateChip state={look.state}>{look.words}</StateChip>;
}

function TabletServers({ cluster }: { readonly cluster: Cluster }) {
  const alive = cluster.state?.tablet_servers_alive_count;
  const registered = cluster.state?.tablet_servers_registered_count;
  if (alive === undefined || alive === null) return <Unknown />;
  return (
    <>
      {alive} {typeof registered === "number" && <Unknown>of {registered}</Unknown>}
    </>
  );
}

function Endpoint({ cluster }: { readonly cluster: Cluster }) {
  if (!cluster.connection) return <StateChip state="denied">not within your scope</StateChip>;
  return <Mono title={cluster.connection.endpoint}>{cluster.connection.endpoint}</Mono>;
}
