import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Database, databaseQuery, databasesQuery, readDatabasesAnew } from "~/api/catalog";
import { PagedTable } from "~/components/answer-table";
import { AsCommand } from "~/components/as-command";
import { useAnswer } from "~/components/use-answer";
import { useLinks } from "~/components/use-links";
import { useTyped } from "~/components/use-typed";
import { countWords } from "~/lib/count";
import { ButtonLink } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import type { TableColumn } from "~/ui/data-table-types";
import { KeyValue } from "~/ui/key-value";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { Skeleton } from "~/ui/skeleton";
import { ExactNumber, RelativeTime, Time, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { Properties } from "./properties";
import { RefreshButton } from "./refresh-button";

const LIMIT = 100;

export interface DatabasesProps {
  readonly cluster: string;
  readonly search: string;
  readonly offset: number;
  /** The database whose sheet is open. */
  readonly open: string | undefined;
  readonly onChange: (change: { search?: string; offset?: number; open?: string | undefined }) => void;
}

/** The databases of a cluster; a row opens its tables, its sheet tells comment, properties and times. */
export function Databases({ cluster, search, offset, open, onChange }: DatabasesProps) {
  const links = useLinks();
  const queries = useQueryClient();
  const list = { search, offset, limit: LIMIT };
  const options = databasesQuery(cluster, list);
  const query = useQuery({ ...options, placeholderData: (before) => before });
  const answer = useAnswer(query, options.queryKey, { what: "its databases", cluster });
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text, offset: 0 }));
  const rows = answer.data?.items ?? [];
  const tablesOf = (database: string) =>
    ({ to: "/clusters/$cluster/tables", params: { cluster }, search: { database } }) as const;
  const columns: readonly TableColumn<Database>[] = [
    { id: "name", header: "Database", width: 260, grow: true, cell: (row) => <VisibleText text={row.name} /> },
    {
      id: "tables",
      header: "Tables",
      width: 110,
      align: "end",
      cell: (row) => <ExactNumber value={row.table_count ?? undefined} />,
    },
    {
      id: "created",
      header: "Created",
      width: 130,
      align: "end",
      cell: (row) => (row.created_at ? <RelativeTime at={row.created_at} /> : <Unknown />),
    },
    {
      id: "sheet",
      header: "Actions",
      width: 190,
      cell: (row) => (
        <ButtonLink size="small" look="quiet" href={links.href(tablesOf(row.name))}>
          Tables
        </ButtonLink>
      ),
    },
  ];
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <RefreshButton
            what="databases"
            read={async () => queries.setQueryData(options.queryKey, await readDatabasesAnew(cluster, list))}
          />
        }
      >
        {answer.data === undefined
          ? `Databases of ${cluster}`
          : `${countWords(answer.data.total_count, "database")} in ${cluster}`}
      </PageTitle>
      <WithSidePanel
        panel={
          open !== undefined && (
            <DatabaseSheet
              cluster={cluster}
              database={open}
              tablesHref={links.href(tablesOf(open))}
              onClose={() => onChange({ open: undefined })}
            />
          )
        }
      >
        <Panel flush>
          {answer.notes}
          <PagedTable
            label="Databases"
            layoutKey="databases"
            columns={columns}
            rows={rows}
            rowId={(row) => row.name}
            hrefOf={(row) =>
              links.href({
                to: "/clusters/$cluster/catalog",
                params: { cluster },
                search: { q: search || undefined, offset: offset === 0 ? undefined : String(offset), open: row.name },
              })
            }
            onOpen={(row) => onChange({ open: row.name })}
            openId={open}
            answer={answer}
            toolbar={<SearchInput label="Search databases" value={typed} onChange={setTyped} slash />}
            page={{ offset, limit: LIMIT, onOffset: (to) => onChange({ offset: to }) }}
            empty={emptyWords()}
          />
        </Panel>
      </WithSidePanel>
      {open !== undefined && (
        <AsCommand
          cli={["database", open, "--cluster", cluster]}
          path={`clusters/${cluster}/operations/databases/detail`}
          query={{ database: open }}
        />
      )}
      <AsCommand
        cli={[
          "databases",
          "--cluster",
          cluster,
          ...(search === "" ? [] : ["--search", search]),
          ...(offset === 0 ? [] : ["--offset", String(offset)]),
        ]}
        path={`clusters/${cluster}/operations/databases`}
        query={{ search: search || undefined, offset: offset || undefined, limit: LIMIT }}
      />
    </>
  );

  function emptyWords() {
    if (answer.data === undefined || rows.length > 0) return undefined;
    if (search !== "" || offset > 0) {
      return (
        <FilteredEmptyState
          title={`No database matches “${search}”`}
          total={countWords(answer.data.total_count, "database")}
          onClear={() => onChange({ search: "", offset: 0 })}
        />
      );
    }
    return (
      <EmptyState title="No database that Pegel may see">
        Create one with a Fluss client, as <code>CREATE DATABASE shop</code> in Flink SQL, or ask for the right to
        describe those that are there.
      </EmptyState>
    );
  }
}

interface SheetProps {
  readonly cluster: string;
  readonly database: string;
  readonly tablesHref: string;
  readonly onClose: () => void;
}

function DatabaseSheet({ cluster, database, tablesHref, onClose }: SheetProps) {
  const options = databaseQuery(cluster, database);
  const answer = useAnswer(useQuery(options), options.queryKey, { what: `database ${database}`, cluster });
  const { data } = answer;
  return (
    <SidePanel
      title={<VisibleText text={database} />}
      onClose={onClose}
      focusKey={database}
      tools={data && <CopyButton text={() => JSON.stringify(data, undefined, 2)} what="database as JSON" />}
      foot={<ButtonLink href={tablesHref}>Open its tables</ButtonLink>}
    >
      {answer.notes}
      {answer.instead}
      {answer.loading && <Skeleton lines={5} height={120} />}
      {data && (
        <>
          <KeyValue
            items={[
              ["comment", data.comment ? <VisibleText key="v" text={data.comment} /> : <Unknown key="v">none</Unknown>],
              ["tables", <ExactNumber key="v" value={data.table_count ?? undefined} />],
              ["created", data.created_at ? <Time key="v" at={data.created_at} /> : <Unknown key="v" />],
              ["changed", data.modified_at ? <Time key="v" at={data.modified_at} /> : <Unknown key="v" />],
            ]}
          />
          <Properties title="Properties" properties={data.custom_properties} />
          {answer.age}
        </>
      )}
    </SidePanel>
  );
}
