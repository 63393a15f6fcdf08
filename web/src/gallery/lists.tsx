import { useMemo, useState } from "react";
import { Button, ButtonLink } from "~/ui/button";
import { CellValue } from "~/ui/cell-value";
import { JsonView } from "~/ui/code-block";
import { Coverage } from "~/ui/coverage";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { FiveLevels } from "~/ui/five-levels";
import { KeyValue } from "~/ui/key-value";
import {
  DeniedState,
  EmptyState,
  FilteredEmptyState,
  PartialNote,
  ProgressNote,
  StaleNote,
  UnavailableState,
  UnsupportedState,
} from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { Skeleton } from "~/ui/skeleton";
import { StateChip } from "~/ui/state-chip";
import { UptimeStrip } from "~/ui/uptime-strip";
import { ByteSize, Change, ExactNumber, Mono, Offset, RelativeTime, Time } from "~/ui/values";
import { ago, CLUSTERS, type ClusterRow, LOG_ROWS, type LogRow, type TableRowFixture, tableRows } from "./fixtures";
import styles from "./gallery.module.css";
import { Section } from "./section";

const CLUSTER_COLUMNS: readonly TableColumn<ClusterRow>[] = [
  {
    id: "cluster",
    header: "Cluster",
    width: 190,
    cell: (row) => row.id,
    note: (row) => row.environment,
    sortValue: (row) => row.id,
  },
  { id: "levels", header: "Levels", width: 80, cell: (row) => <FiveLevels levels={row.levels} /> },
  {
    id: "state",
    header: "State",
    width: 220,
    grow: true,
    cell: (row) => <StateChip state={row.state}>{row.word}</StateChip>,
  },
  {
    id: "alive",
    header: "Tablet servers",
    align: "end",
    width: 116,
    sortValue: (row) => row.alive,
    cell: (row) => (
      <>
        {row.alive} <span className={styles.sub}>of 3</span>
      </>
    ),
  },
  {
    id: "tables",
    header: "Tables",
    align: "end",
    width: 90,
    cell: (row) => <ExactNumber value={row.tables} />,
    sortValue: (row) => BigInt(row.tables),
  },
  {
    id: "in",
    header: "In",
    align: "end",
    width: 110,
    cell: (row) => <ByteSize value={row.bytesIn} per="s" />,
    sortValue: (row) => (row.bytesIn === undefined ? undefined : BigInt(row.bytesIn)),
  },
  { id: "day", header: "Last 24 h", width: 150, cell: (row) => <UptimeStrip slots={row.slots} span="last 24 h" /> },
  { id: "evidence", header: "Evidence", width: 210, cell: (row) => <span className={styles.sub}>{row.evidence}</span> },
];

const TABLE_COLUMNS: readonly TableColumn<TableRowFixture>[] = [
  { id: "path", header: "Table", width: 220, cell: (row) => row.path, sortValue: (row) => row.path },
  { id: "kind", header: "Kind", width: 110, cell: (row) => row.kind, sortValue: (row) => row.kind },
  {
    id: "buckets",
    header: "Buckets",
    align: "end",
    width: 92,
    cell: (row) => <ExactNumber value={row.buckets} />,
    sortValue: (row) => row.buckets,
  },
  {
    id: "rows",
    header: "Rows",
    align: "end",
    width: 190,
    cell: (row) => <ExactNumber value={row.rows} />,
    sortValue: (row) => (row.rows === undefined ? undefined : BigInt(row.rows)),
  },
  {
    id: "bytes",
    header: "Size",
    align: "end",
    width: 110,
    cell: (row) => <ByteSize value={row.bytes} />,
    sortValue: (row) => BigInt(row.bytes),
  },
  { id: "tier", header: "Lake", width: 100, cell: (row) => row.tier, sortValue: (row) => row.tier },
  {
    id: "changed",
    header: "Changed",
    width: 130,
    grow: true,
    cell: (row) => <RelativeTime at={row.changedAt} />,
    sortValue: (row) => row.changedAt,
  },
];

const LOG_COLUMNS: readonly TableColumn<LogRow>[] = [
  { id: "bucket", header: "Bucket", align: "end", width: 72, cell: (row) => row.bucket },
  { id: "offset", header: "Offset", align: "end", width: 170, cell: (row) => <Offset value={row.offset} /> },
  { id: "time", header: "Time", width: 176, cell: (row) => <Time at={row.at} precision="time" /> },
  { id: "change", header: "Change", width: 72, cell: (row) => <Change type={row.change} /> },
  { id: "id", header: "id", align: "end", width: 160, cell: (row) => <Mono>{row.id}</Mono> },
  { id: "type", header: "event_type", width: 120, cell: (row) => <CellValue value={row.type} /> },
  {
    id: "payload",
    header: "payload",
    width: 240,
    grow: true,
    cell: (row) => <CellValue value={row.payload} onOpen={() => undefined} />,
  },
];

const noop = () => undefined;

export function Lists() {
  return (
    <>
      <Section title="Lists" wide>
        <div>
          <PageTitle
            sub="Levels: cluster · replication · requests · storage · runtime"
            actions={<Button>Add cluster…</Button>}
          >
            3 clusters, one needs you
          </PageTitle>
          <Panel flush>
            <DataTable
              label="Clusters"
              columns={CLUSTER_COLUMNS}
              rows={CLUSTERS}
              rowId={(row) => row.id}
              hrefOf={(row) => `#${row.id}`}
            />
          </Panel>
        </div>
        <Browser />
        <Many />
      </Section>
      <States />
    </>
  );
}

function Browser() {
  const [open, setOpen] = useState(() =>
    window.matchMedia("(min-width: 1101px)").matches ? LOG_ROWS[0]?.offset : undefined,
  );
  const row = LOG_ROWS.find((candidate) => candidate.offset === open);
  return (
    <WithSidePanel
      panel={
        row && (
          <SidePanel title="Row" onClose={() => setOpen(undefined)} foot={<Button size="small">Copy as JSON</Button>}>
            <KeyValue
              items={[
                ["bucket", row.bucket],
                ["offset", <Offset key="v" value={row.offset} />],
                ["timestamp", <Time key="v" at={row.at} />],
                ["id", <Mono key="v">{row.id}</Mono>],
                ["event_type", <CellValue key="v" value={row.type} />],
                [
                  "payload",
                  typeof row.payload === "object" && row.payload !== null ? (
                    <JsonView key="v" text={row.payload.json} what="payload" bare />
                  ) : (
                    <CellValue key="v" value={row.payload} />
                  ),
                ],
              ]}
            />
          </SidePanel>
        )
      }
    >
      <Panel flush>
        <DataTable
          label="Rows of shop.clicks"
          columns={LOG_COLUMNS}
          rows={LOG_ROWS}
          rowId={(candidate) => candidate.offset}
          openId={open}
          onOpen={(candidate) => setOpen(candidate.offset)}
          foot={
            <Coverage
              parts={[
                { name: "bucket 0", share: 1 },
                { name: "bucket 1", share: 0, missing: "no leader" },
                { name: "bucket 2", share: 0.4 },
              ]}
              state={<StateChip state="partial">partial: 2 of 3 buckets</StateChip>}
            />
          }
        />
      </Panel>
    </WithSidePanel>
  );
}

function Many() {
  const rows = useMemo(() => tableRows(10_000), []);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<string>();
  return (
    <Panel flush>
      <DataTable
        label="Tables"
        layoutKey="gallery"
        columns={TABLE_COLUMNS}
        rows={rows}
        rowId={(row) => row.path}
        hrefOf={(row) => `#${row.path}`}
        onOpen={(row) => setOpen(row.path)}
        openId={open}
        selected={selected}
        onSelect={setSelected}
        copyOf={(row) => JSON.stringify(row)}
        pageKeys
        toolbar={
          <>
            <span>10,000 tables</span>
            {selected.size > 0 && <span>{selected.size} selected</span>}
          </>
        }
      />
    </Panel>
  );
}

function States() {
  const columns = LOG_COLUMNS.slice(0, 4);
  const table = (instead: React.ReactNode) => (
    <DataTable label="Rows" columns={columns} rows={[]} rowId={(row) => row.offset} instead={instead} />
  );
  return (
    <Section title="List states">
      <Panel title="Loading" flush>
        <DataTable label="Rows" columns={columns} rows={[]} rowId={(row) => row.offset} loading skeletonRows={4} />
      </Panel>
      <Panel title="Refreshing" flush>
        <DataTable label="Rows" columns={columns} rows={LOG_ROWS.slice(0, 4)} rowId={(row) => row.offset} refreshing />
      </Panel>
      <Panel title="Empty" flush>
        {table(
          <EmptyState
            title="No tables yet"
            action={
              <Button size="small" look="primary" icon="plus">
                Create table…
              </Button>
            }
          >
            A table is made here, with <code>pegel tables create</code>, or by a Flink job.
          </EmptyState>,
        )}
      </Panel>
      <Panel title="Filtered to nothing" flush>
        {table(<FilteredEmptyState title="No table matches “clciks”" total="412 tables" onClear={noop} />)}
      </Panel>
      <Panel title="Denied" flush>
        {table(
          <DeniedState
            title="You may not see access rules"
            permission="fluss-plugin.operations.security.read"
            granter="An administrator of orders-eu"
          />,
        )}
      </Panel>
      <Panel title="Unavailable" flush>
        {table(
          <UnavailableState title="The coordinator does not answer" requestId="01939f2e-7c1a" onRetry={noop}>
            No answer from coordinator:9123 within 5 s. The rows are unknown, not gone.
          </UnavailableState>,
        )}
      </Panel>
      <Panel title="Not supported" flush>
        {table(
          <UnsupportedState
            title="Databases cannot be altered here"
            action={
              <ButtonLink size="small" href="#states">
                What differs by version
              </ButtonLink>
            }
          >
            Needs Fluss 1.0 or later; orders-eu runs 0.9.1.
          </UnsupportedState>,
        )}
      </Panel>
      <Panel title="Partial" flush>
        <PartialNote
          word="7 of 8 buckets"
          missing={["bucket 3: no leader", "bucket 3: since 03:12:41"]}
          action={<Button size="small">Read bucket 3 again</Button>}
        >
          Bucket 3 has no leader; its rows are missing below.
        </PartialNote>
        <DataTable label="Rows" columns={columns} rows={LOG_ROWS.slice(0, 2)} rowId={(row) => row.offset} />
      </Panel>
      <Panel title="Stale" flush>
        <StaleNote at={ago(42_000)} reason="The last two reads ran into their deadline." onRetry={noop} />
        <DataTable label="Rows" columns={columns} rows={LOG_ROWS.slice(0, 2)} rowId={(row) => row.offset} />
      </Panel>
      <Panel title="At work" flush>
        <ProgressNote elapsedMs={3_400} share={0.37} onStop={noop}>
          scanning bucket 3 of 8
        </ProgressNote>
      </Panel>
      <Panel title="Loading panel">
        <Skeleton lines={4} height={80} />
      </Panel>
    </Section>
  );
}
