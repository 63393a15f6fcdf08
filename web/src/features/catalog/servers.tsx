import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Server, serversQuery } from "~/api/catalog";
import { clusterQuery } from "~/api/clusters";
import { AsCommand } from "~/components/as-command";
import { useAnswer } from "~/components/use-answer";
import { useTyped } from "~/components/use-typed";
import { sentence } from "~/lib/sentence";
import { CopyButton } from "~/ui/copy-button";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { KeyValue } from "~/ui/key-value";
import { FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { Stat, StatRow } from "~/ui/stat";
import { StateChip, Tag } from "~/ui/state-chip";
import { Measure, Mono, RelativeTime, Time, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { serverLook, serverName, serversHeadline } from "./server-look";

const REFRESH_MS = 15_000;

const COLUMNS: readonly TableColumn<Server>[] = [
  {
    id: "name",
    header: "Server",
    width: 170,
    cell: serverName,
    sortValue: serverName,
  },
  {
    id: "state",
    header: "State",
    width: 250,
    grow: true,
    cell: (row) => {
      const look = serverLook(row);
      return <StateChip state={look.state}>{look.words}</StateChip>;
    },
    sortValue: (row) => serverLook(row).state,
  },
  {
    id: "metadata",
    header: "In metadata",
    width: 110,
    cell: (row) => (row.is_in_metadata ? "yes" : "no"),
    sortValue: (row) => row.is_in_metadata,
  },
  {
    id: "answers",
    header: "Answers",
    width: 90,
    cell: (row) => (row.answers ? "yes" : "no"),
    sortValue: (row) => row.answers,
  },
  {
    id: "latency",
    header: "Answer time, ms",
    width: 140,
    align: "end",
    cell: (row) => <Measure value={row.latency_ms ?? undefined} />,
    sortValue: (row) => row.latency_ms ?? undefined,
  },
  {
    id: "address",
    header: "Address",
    width: 190,
    cell: (row) => (
      <Mono>
        <VisibleText text={row.address} />
      </Mono>
    ),
    sortValue: (row) => row.address,
  },
  {
    id: "rack",
    header: "Rack",
    width: 110,
    cell: (row) => (row.rack ? <VisibleText text={row.rack} /> : <Unknown>none set</Unknown>),
    sortValue: (row) => row.rack ?? undefined,
  },
  {
    id: "answered",
    header: "Last answer",
    width: 110,
    align: "end",
    cell: (row) => <RelativeTime at={row.answered_at ?? undefined} />,
    sortValue: (row) => row.answered_at ?? undefined,
  },
];

interface ServersProps {
  readonly cluster: string;
  readonly search: string;
  /** The server whose detail is open, as "tablet_server-0". */
  readonly open: string | undefined;
  readonly onSearch: (search: string) => void;
  readonly onOpen: (id: string | undefined) => void;
  readonly hrefOf: (id: string) => string;
}

const idOf = (row: Server) => `${row.role}-${row.id}`;

/** A cluster at a glance: who serves it, and whether they answer. */
export function Servers({ cluster, search, open, onSearch, onOpen, hrefOf }: ServersProps) {
  const options = serversQuery(cluster, { search, limit: 1000 });
  const query = useQuery({ ...options, refetchInterval: REFRESH_MS, placeholderData: (before) => before });
  const registration = useQuery(clusterQuery(cluster));
  const answer = useAnswer(query, options.queryKey, { what: "its servers", cluster, intervalMs: REFRESH_MS });
  const [typed, setTyped] = useTyped(search, onSearch);
  const rows = answer.data?.servers ?? [];
  const opened = rows.find((row) => idOf(row) === open);
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <Link to="/clusters/$cluster/settings" params={{ cluster }}>
            How it is reached
          </Link>
        }
      >
        {serversHeadline(registration.data?.name ?? cluster, answer.data, answer.envelope !== undefined)}
      </PageTitle>
      {registration.data?.read_only && (
        <p style={{ marginBottom: 12 }}>
          <Tag>read-only: Pegel refuses every change</Tag>
        </p>
      )}
      <Figures data={answer.data} />
      <div style={{ height: "var(--gap)" }} />
      <WithSidePanel panel={opened && <ServerSheet server={opened} onClose={() => onOpen(undefined)} />}>
        <Panel flush>
          {answer.notes}
          <DataTable
            label="Servers"
            layoutKey="servers"
            columns={COLUMNS}
            rows={rows}
            rowId={idOf}
            hrefOf={(row) => hrefOf(idOf(row))}
            onOpen={(row) => onOpen(idOf(row))}
            openId={open}
            copyOf={(row) => JSON.stringify(row, undefined, 2)}
            isDead={(row) => row.state !== "ALIVE"}
            pageKeys
            loading={answer.loading}
            skeletonRows={4}
            refreshing={answer.refreshing}
            toolbar={<SearchInput label="Search servers" value={typed} onChange={setTyped} slash />}
            instead={
              answer.instead ??
              (answer.data && rows.length === 0 ? (
                <FilteredEmptyState
                  title={`No server matches “${search}”`}
                  total={`${answer.data.total_count} servers`}
                  onClear={() => onSearch("")}
                />
              ) : undefined)
            }
          />
        </Panel>
      </WithSidePanel>
      <AsCommand
        cli={["servers", "--cluster", cluster]}
        path={`clusters/${cluster}/operations/servers`}
        query={search === "" ? {} : { search }}
      />
    </>
  );
}

function Figures({ data }: { readonly data: import("~/api/schema").components["schemas"]["Servers"] | undefined }) {
  const coordinators = data?.servers.filter((server) => server.role === "coordinator");
  const up = coordinators?.filter((server) => server.state === "ALIVE").length;
  return (
    <StatRow>
      <Stat
        label="Coordinators that answer"
        {...(data === undefined ? {} : { value: up, ...(up === 0 ? { tone: "bad" as const } : {}) })}
      />
      <Stat
        label="Tablet servers that answer"
        {...(data === undefined
          ? {}
          : {
              value: data.tablet_servers_alive_count,
              of: `of ${data.tablet_servers_registered_count} in metadata`,
              ...(data.tablet_servers_alive_count < data.tablet_servers_registered_count
                ? { tone: "warn" as const }
                : {}),
            })}
      />
      <Stat
        label="Metadata of the coordinator"
        unknown="never told"
        {...(data?.metadata_at ? { value: <RelativeTime at={data.metadata_at} /> } : {})}
      />
    </StatRow>
  );
}

function ServerSheet({ server, onClose }: { readonly server: Server; readonly onClose: () => void }) {
  const look = serverLook(server);
  return (
    <SidePanel
      title={serverName(server)}
      onClose={onClose}
      focusKey={idOf(server)}
      tools={<CopyButton text={() => JSON.stringify(server, undefined, 2)} what="server as JSON" />}
    >
      <p>
        <StateChip state={look.state}>{look.words}</StateChip>
      </p>
      {server.failure && (
        <p>
          {sentence(server.failure.message)} <code>{server.failure.code}</code>
        </p>
      )}
      <KeyValue
        items={[
          [
            "address",
            <span key="v">
              <Mono>
                <VisibleText text={server.address} />
              </Mono>{" "}
              <CopyButton text={server.address} what="address" />
            </span>,
          ],
          ["rack", server.rack ? <VisibleText key="v" text={server.rack} /> : <Unknown key="v">none set</Unknown>],
          ["in metadata", server.is_in_metadata ? "yes" : "no"],
          ["answers", server.answers ? "yes, to a version request on its own connection" : "no"],
          ["answer time", <Measure key="v" value={server.latency_ms ?? undefined} unit="ms" />],
          ["last asked", <Time key="v" at={server.asked_at ?? undefined} precision="second" />],
          ["last answer", <Time key="v" at={server.answered_at ?? undefined} precision="second" />],
        ]}
      />
      <p style={{ color: "var(--ink2)" }}>
        Both facts are shown, since ZooKeeper keeps a dead server in metadata for up to its session timeout.
      </p>
    </SidePanel>
  );
}
