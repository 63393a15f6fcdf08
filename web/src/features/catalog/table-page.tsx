import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Table, tableQuery } from "~/api/catalog";
import { AsCommand } from "~/components/as-command";
import { type Answer, useAnswer } from "~/components/use-answer";
import { Button } from "~/ui/button";
import { JsonView } from "~/ui/code-block";
import { CopyButton } from "~/ui/copy-button";
import { DataTable } from "~/ui/data-table";
import { KeyValue } from "~/ui/key-value";
import { EmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { Skeleton } from "~/ui/skeleton";
import { StateChip, Tag } from "~/ui/state-chip";
import { TabLinks } from "~/ui/tabs";
import { ExactNumber, Mono, Offset, Time, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import styles from "./catalog.module.css";
import { OffsetsTab } from "./offsets-tab";
import { PartitionsTab } from "./partitions-tab";
import { Properties } from "./properties";
import { StatsTab } from "./stats-tab";
import { kindWords, specValues } from "./table-facts";

export const TABLE_TABS = ["columns", "properties", "buckets", "offsets", "stats", "partitions", "schema"] as const;
export type TableTab = (typeof TABLE_TABS)[number];

const TAB_WORDS: Readonly<Record<TableTab, string>> = {
  columns: "Columns and keys",
  properties: "Properties",
  buckets: "Buckets",
  offsets: "Offsets",
  stats: "Row counts",
  partitions: "Partitions",
  schema: "Schema",
};

export interface TableView {
  readonly tab: TableTab;
  /** The time whose offsets are asked for, RFC 3339. */
  readonly at: string | undefined;
  /** Partition keys with values as JSON text. */
  readonly spec: string | undefined;
  readonly search: string;
  readonly offset: number;
}

export interface TablePageProps {
  readonly cluster: string;
  readonly database: string;
  readonly table: string;
  readonly view: TableView;
  readonly onChange: (change: Partial<TableView>) => void;
}

export interface TabProps extends TablePageProps {
  readonly data: Table;
}

/** One table in full. */
export function TablePage(props: TablePageProps) {
  const { cluster, database, table, view } = props;
  const options = tableQuery(cluster, database, table);
  const query = useQuery(options);
  const answer = useAnswer(query, options.queryKey, { what: `${database}.${table}`, cluster });
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <>
            <CopyButton text={`${database}.${table}`} what="name">
              Copy name
            </CopyButton>
            <Button icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
              Read from the cluster
            </Button>
          </>
        }
      >
        <VisibleText text={`${database}.${table}`} />
        {answer.data && ` is a ${kindWords(answer.data.kind)} table`}
      </PageTitle>
      <TabLinks label="Parts of the table">
        {TABLE_TABS.map((tab) => (
          <Link
            key={tab}
            to="/clusters/$cluster/table"
            params={{ cluster }}
            search={{ database, table, ...(tab === "columns" ? {} : { tab }) }}
            aria-current={tab === view.tab ? "page" : undefined}
            activeProps={{}}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {TAB_WORDS[tab]}
          </Link>
        ))}
      </TabLinks>
      <div className={styles.stack}>
        {answer.notes}
        <Body {...props} answer={answer} />
      </div>
      <Command {...props} />
    </>
  );
}

function Body({ answer, ...props }: TablePageProps & { readonly answer: Answer<Table> }) {
  const { data } = answer;
  if (data === undefined) {
    return <Panel>{answer.instead ?? <Skeleton lines={8} height={260} />}</Panel>;
  }
  const tab: TabProps = { ...props, data };
  switch (props.view.tab) {
    case "properties":
      return <PropertiesTab {...tab} />;
    case "buckets":
      return <BucketsTab {...tab} />;
    case "offsets":
      return <OffsetsTab {...tab} />;
    case "stats":
      return <StatsTab {...tab} />;
    case "partitions":
      return <PartitionsTab {...tab} />;
    case "schema":
      return <SchemaTab {...tab} />;
    default:
      return <ColumnsTab {...tab} />;
  }
}

function Command({ cluster, database, table, view }: TablePageProps) {
  const path = `${database}.${table}`;
  const at = ["--cluster", cluster];
  const spec = Object.entries(specValues(view.spec)).flatMap(([key, value]) => ["--partition", `${key}=${value}`]);
  const about = { database, table };
  const base = `clusters/${cluster}/operations`;
  switch (view.tab) {
    case "offsets":
      return (
        <AsCommand
          cli={["offsets", path, ...at, ...spec, ...(view.at ? ["--at", view.at] : [])]}
          path={`${base}/tables/offsets`}
          query={{ ...about, timestamp: view.at, partition_spec_json: view.spec }}
        />
      );
    case "stats":
      return (
        <AsCommand
          cli={["stats", path, ...at, ...spec]}
          path={`${base}/tables/stats`}
          query={{ ...about, partition_spec_json: view.spec }}
        />
      );
    case "partitions":
      return (
        <AsCommand
          cli={[
            "partitions",
            path,
            ...at,
            ...spec,
            ...(view.search ? ["--search", view.search] : []),
            ...(view.offset === 0 ? [] : ["--offset", String(view.offset)]),
          ]}
          path={`${base}/partitions`}
          query={{
            ...about,
            search: view.search || undefined,
            offset: view.offset || undefined,
            partition_spec_json: view.spec,
          }}
        />
      );
    default:
      return <AsCommand cli={["table", path, ...at]} path={`${base}/tables/detail`} query={about} />;
  }
}

function Keys({ names, none }: { readonly names: readonly string[]; readonly none: string }) {
  if (names.length === 0) return <Unknown>{none}</Unknown>;
  return (
    <>
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <Mono>
            <VisibleText text={name} />
          </Mono>
        </span>
      ))}
    </>
  );
}

function ColumnsTab({ data }: TabProps) {
  return (
    <>
      <Panel flush>
        <DataTable
          label="Columns"
          layoutKey="columns"
          rows={data.columns}
          rowId={(column) => column.name}
          copyOf={(column) => JSON.stringify(column, undefined, 2)}
          pageKeys
          columns={[
            {
              id: "name",
              header: "Column",
              width: 220,
              cell: (column) => (
                <Mono>
                  <VisibleText text={column.name} />
                </Mono>
              ),
            },
            {
              id: "type",
              header: "Type",
              width: 240,
              grow: true,
              cell: (column) => (
                <Mono title={column.type}>
                  <VisibleText text={column.type} />
                </Mono>
              ),
            },
            { id: "null", header: "NULL", width: 100, cell: (column) => (column.is_nullable ? "allowed" : "never") },
            { id: "part", header: "Part of", width: 220, cell: (column) => <PartOf name={column.name} table={data} /> },
            {
              id: "aggregation",
              header: "Merged by",
              width: 120,
              cell: (column) => column.aggregation ?? <Unknown>–</Unknown>,
            },
            {
              id: "comment",
              header: "Comment",
              width: 240,
              cell: (column) =>
                column.comment ? (
                  <span title={column.comment}>
                    <VisibleText text={column.comment} />
                  </span>
                ) : (
                  <Unknown>none</Unknown>
                ),
            },
          ]}
        />
      </Panel>
      <Panel title="Keys">
        <KeyValue
          items={[
            ["primary key", <Keys key="v" names={data.primary_key} none="none: a log table" />],
            ["bucket key", <Keys key="v" names={data.bucket_keys} none="none: rows are spread freely" />],
            ["partition key", <Keys key="v" names={data.partition_keys} none="none: not partitioned" />],
            [
              "counted up",
              data.auto_increment_column ? (
                <VisibleText key="v" text={data.auto_increment_column} />
              ) : (
                <Unknown key="v">no column</Unknown>
              ),
            ],
          ]}
        />
      </Panel>
    </>
  );
}

function PartOf({ name, table }: { readonly name: string; readonly table: Table }) {
  const parts = [
    table.primary_key.includes(name) && "primary key",
    table.bucket_keys.includes(name) && "bucket key",
    table.partition_keys.includes(name) && "partition key",
  ].filter((part) => part !== false);
  return parts.length === 0 ? <Unknown>–</Unknown> : parts.join(", ");
}

function PropertiesTab({ data }: TabProps) {
  return (
    <Panel title="Table">
      <KeyValue
        items={[
          ["comment", data.comment ? <VisibleText key="v" text={data.comment} /> : <Unknown key="v">none</Unknown>],
          ["table id", <IdValue key="v" value={data.table_id} what="table id" />],
          ["schema id", <Mono key="v">{data.schema_id}</Mono>],
          ["created", data.created_at ? <Time key="v" at={data.created_at} /> : <Unknown key="v" />],
          ["changed", data.modified_at ? <Time key="v" at={data.modified_at} /> : <Unknown key="v" />],
          [
            "remote folder",
            data.remote_data_dir ? (
              <Mono key="v">
                <VisibleText text={data.remote_data_dir} />
              </Mono>
            ) : (
              <Unknown key="v">none told</Unknown>
            ),
          ],
        ]}
      />
      <Properties title="Properties of Fluss" properties={data.properties} />
      <Properties title="Custom properties" properties={data.custom_properties} />
    </Panel>
  );
}

function IdValue({ value, what }: { readonly value: string; readonly what: string }): ReactNode {
  return (
    <>
      <Offset value={value} /> <CopyButton text={value} what={what} />
    </>
  );
}

function BucketsTab({ data }: TabProps) {
  const buckets = data.buckets ?? undefined;
  const instead =
    buckets !== undefined ? undefined : data.partition_keys.length > 0 ? (
      <EmptyState title="Buckets belong to partitions here">
        Each partition has <ExactNumber value={data.bucket_count ?? undefined} /> buckets of its own: see the
        partitions.
      </EmptyState>
    ) : (
      <EmptyState title="The buckets are unknown">They could not be read with the table; read it again.</EmptyState>
    );
  return (
    <Panel flush>
      <DataTable
        label="Buckets"
        layoutKey="buckets"
        rows={buckets ?? []}
        rowId={(bucket) => String(bucket.bucket)}
        copyOf={(bucket) => JSON.stringify(bucket)}
        pageKeys
        columns={[
          {
            id: "bucket",
            header: "Bucket",
            width: 100,
            align: "end",
            cell: (bucket) => <ExactNumber value={bucket.bucket} />,
            sortValue: (bucket) => bucket.bucket,
          },
          {
            id: "leader",
            header: "Leader",
            width: 180,
            cell: (bucket) =>
              typeof bucket.leader === "number" ? (
                `tablet server ${bucket.leader}`
              ) : (
                <StateChip state="critical">no leader</StateChip>
              ),
            sortValue: (bucket) => bucket.leader ?? undefined,
          },
          {
            id: "replicas",
            header: "Replicas on",
            width: 260,
            grow: true,
            cell: (bucket) => bucket.replicas.map((id) => <Tag key={id}>{id}</Tag>),
          },
        ]}
        instead={instead}
      />
    </Panel>
  );
}

function SchemaTab({ data }: TabProps) {
  return (
    <Panel title="Schema as JSON" side="as the API tells it; Fluss has no statement of it">
      <JsonView what="schema" searchable text={JSON.stringify(data, undefined, 2)} />
    </Panel>
  );
}
