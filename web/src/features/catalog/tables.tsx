import { useQuery, useQueryClient } from "@tanstack/react-query";
import { readTablesAnew, type TableRow, tablesQuery } from "~/api/catalog";
import { PagedTable } from "~/components/answer-table";
import { AsCommand } from "~/components/as-command";
import { useAnswer } from "~/components/use-answer";
import { useLinks } from "~/components/use-links";
import { useTyped } from "~/components/use-typed";
import { countWords } from "~/lib/count";
import { Button } from "~/ui/button";
import type { TableColumn } from "~/ui/data-table-types";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { Segmented } from "~/ui/segmented";
import { StateChip } from "~/ui/state-chip";
import { ExactNumber, Mono, RelativeTime, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { RefreshButton } from "./refresh-button";
import { evidenceLook, kindWords, rangeWords } from "./table-facts";

export interface TablesProps {
  readonly cluster: string;
  /** "" for those of all databases. */
  readonly database: string;
  readonly search: string;
  readonly offset: number;
  readonly limit: 100 | 1000;
  readonly onChange: (change: { search?: string; offset?: number; limit?: 100 | 1000 }) => void;
}

/** The tables of a database, with row counts and offsets where they could be read. */
export function Tables({ cluster, database, search, offset, limit, onChange }: TablesProps) {
  const links = useLinks();
  const queries = useQueryClient();
  const list = { database, search, offset, limit };
  const inventory = tablesQuery(cluster, list);
  const query = useQuery({ ...inventory, placeholderData: (before) => before });
  const what = database === "" ? "its tables" : `the tables of ${database}`;
  const answer = useAnswer(query, inventory.queryKey, { what, cluster });
  // The figures cost several requests a table: read on entry and by hand only, never by a timer.
  const figures = tablesQuery(cluster, { ...list, runtime: true });
  const runtime = useQuery({ ...figures, enabled: (answer.data?.items.length ?? 0) > 0, staleTime: 60_000 });
  const read = new Map((runtime.data?.data?.items ?? []).map((row) => [idOf(row), row]));
  const rows = (answer.data?.items ?? []).map((row) => read.get(idOf(row)) ?? row);
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text, offset: 0 }));
  const tableOf = (row: TableRow) =>
    ({
      to: "/clusters/$cluster/table",
      params: { cluster },
      search: { database: row.database, table: row.name },
    }) as const;
  const reading = runtime.isFetching;
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <>
            <Button
              icon="refresh"
              busy={reading}
              onClick={() =>
                void readTablesAnew(cluster, { ...list, runtime: true }).then(
                  (fresh) => queries.setQueryData(figures.queryKey, fresh),
                  () => runtime.refetch(),
                )
              }
            >
              Read figures
            </Button>
            <RefreshButton
              what="tables"
              read={async () => queries.setQueryData(inventory.queryKey, await readTablesAnew(cluster, list))}
            />
          </>
        }
      >
        {answer.data === undefined ? "Tables" : countWords(answer.data.total_count, "table")}
        {database !== "" && (
          <>
            {" in "}
            <VisibleText text={database} />
          </>
        )}
      </PageTitle>
      <Panel flush>
        {answer.notes}
        <PagedTable
          label="Tables"
          layoutKey="tables"
          columns={columnsFor(database === "", reading)}
          rows={rows}
          rowId={idOf}
          hrefOf={(row) => links.href(tableOf(row))}
          onOpen={(row) => links.go(tableOf(row))}
          answer={answer}
          reading={reading}
          toolbar={
            <>
              <SearchInput label="Search tables" value={typed} onChange={setTyped} slash />
              <Segmented
                label="Rows on a page"
                size="small"
                value={String(limit) as "100" | "1000"}
                onChange={(value) => onChange({ limit: value === "100" ? 100 : 1000, offset: 0 })}
                options={[
                  { value: "100", label: "100" },
                  { value: "1000", label: "1,000, figures of the first 100" },
                ]}
              />
              {runtime.isError && <StateChip state="unavailable">figures could not be read</StateChip>}
            </>
          }
          page={{ offset, limit, onOffset: (to) => onChange({ offset: to }) }}
          empty={emptyWords()}
        />
      </Panel>
      <p style={{ margin: "8px 2px", color: "var(--ink2)", fontSize: 12 }}>
        The offset span is the sum over all buckets, not an exact row count.
      </p>
      <AsCommand
        cli={[
          "tables",
          "--cluster",
          cluster,
          ...(database === "" ? [] : ["--database", database]),
          ...(search === "" ? [] : ["--search", search]),
          ...(offset === 0 ? [] : ["--offset", String(offset)]),
          "--limit",
          String(limit),
          "--runtime",
        ]}
        path={`clusters/${cluster}/operations/tables`}
        query={{
          database: database || undefined,
          search: search || undefined,
          offset: offset || undefined,
          limit,
          runtime: true,
        }}
      />
    </>
  );

  function emptyWords() {
    if (answer.data === undefined || rows.length > 0) return undefined;
    if (search !== "" || offset > 0) {
      return (
        <FilteredEmptyState
          title={`No table matches “${search}”`}
          total={countWords(answer.data.total_count, "table")}
          onClear={() => onChange({ search: "", offset: 0 })}
        />
      );
    }
    return (
      <EmptyState title="No table that Pegel may see">
        Create one with a Fluss client, as <code>CREATE TABLE</code> in Flink SQL, or ask for the right to describe
        those that are there.
      </EmptyState>
    );
  }
}

/** Names hold no line feed: together with one they tell every table from every other. */
const idOf = (row: TableRow) => `${row.database}\n${row.name}`;

function columnsFor(withDatabase: boolean, reading: boolean): readonly TableColumn<TableRow>[] {
  const figure = (row: TableRow) =>
    row.runtime?.evidence === "partition_scoped" ? <Unknown>per partition</Unknown> : undefined;
  return [
    {
      id: "name",
      header: "Table",
      width: 220,
      grow: true,
      cell: (row) => <VisibleText text={withDatabase ? `${row.database}.${row.name}` : row.name} />,
    },
    {
      id: "kind",
      header: "Type",
      width: 100,
      cell: (row) => ("kind" in row && row.kind ? kindWords(row.kind) : <Unknown />),
    },
    {
      id: "buckets",
      header: "Buckets",
      width: 80,
      align: "end",
      cell: (row) => <ExactNumber value={row.bucket_count ?? undefined} />,
    },
    {
      id: "rows",
      header: "Rows",
      width: 130,
      align: "end",
      cell: (row) => figure(row) ?? <ExactNumber value={row.runtime?.row_count ?? undefined} />,
    },
    {
      id: "range",
      header: "Offsets by bucket",
      width: 250,
      cell: (row) =>
        figure(row) ??
        (row.runtime ? <Mono title={rangeWords(row.runtime)}>{rangeWords(row.runtime)}</Mono> : <Unknown />),
    },
    {
      id: "span",
      header: "Offset span",
      width: 130,
      align: "end",
      cell: (row) => figure(row) ?? <ExactNumber value={row.runtime?.offset_span ?? undefined} />,
    },
    {
      id: "evidence",
      header: "Evidence",
      width: 150,
      cell: (row) => {
        const look = evidenceLook(row, reading);
        return (
          <span title={row.runtime?.failure?.message ?? look.words}>
            <StateChip state={look.state}>{look.words}</StateChip>
          </span>
        );
      },
    },
    {
      id: "read",
      header: "Read",
      width: 100,
      align: "end",
      cell: (row) =>
        row.runtime?.observed_at ? <RelativeTime at={row.runtime.observed_at} /> : <Unknown>not read</Unknown>,
    },
  ];
}
