import { useQuery } from "@tanstack/react-query";
import { configQuery } from "~/api/catalog";
import type { components } from "~/api/schema";
import { PagedTable } from "~/components/answer-table";
import { AsCommand } from "~/components/as-command";
import { useAnswer } from "~/components/use-answer";
import { useTyped } from "~/components/use-typed";
import { formatInteger } from "~/lib/exact";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { StateChip } from "~/ui/state-chip";
import { Mono, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";

const LIMIT = 100;

export interface ConfigProps {
  readonly cluster: string;
  readonly search: string;
  readonly offset: number;
  readonly onChange: (change: { search?: string; offset?: number }) => void;
}

/** The configuration that is in force, and where each value is from. */
export function Config({ cluster, search, offset, onChange }: ConfigProps) {
  const options = configQuery(cluster, { search, offset, limit: LIMIT });
  const query = useQuery({ ...options, placeholderData: (before) => before });
  const answer = useAnswer(query, options.queryKey, { what: "its configuration", cluster });
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text, offset: 0 }));
  const rows = answer.data?.items ?? [];
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <Button icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
            Read again
          </Button>
        }
      >
        {answer.data === undefined
          ? `Configuration of ${cluster}`
          : answer.data.total_count === 1
            ? `1 value is in force on ${cluster}`
            : `${formatInteger(answer.data.total_count)} values are in force on ${cluster}`}
      </PageTitle>
      <Panel flush>
        {answer.notes}
        <PagedTable
          label="Configuration"
          layoutKey="config"
          rows={rows}
          rowId={(row) => row.key}
          answer={answer}
          toolbar={<SearchInput label="Search keys, values and sources" value={typed} onChange={setTyped} slash />}
          columns={[
            {
              id: "key",
              header: "Key",
              width: 320,
              cell: (row) => (
                <Mono title={row.key}>
                  <VisibleText text={row.key} />
                </Mono>
              ),
            },
            {
              id: "value",
              header: "Value",
              width: 320,
              grow: true,
              cell: (row) =>
                row.is_redacted ? (
                  <StateChip state="denied">hidden: looks like a secret</StateChip>
                ) : row.value === null || row.value === undefined ? (
                  <Unknown>not set</Unknown>
                ) : row.value === "" ? (
                  <Mono title="empty text">""</Mono>
                ) : (
                  <>
                    <Mono title={row.value}>
                      <VisibleText text={row.value} />
                    </Mono>{" "}
                    <CopyButton text={row.value} what={row.key} />
                  </>
                ),
            },
            {
              id: "default",
              header: "Default",
              width: 230,
              cell: (row) => <DefaultOf row={row} />,
            },
            { id: "source", header: "Source", width: 230, cell: (row) => <VisibleText text={row.source} /> },
          ]}
          page={{ offset, limit: LIMIT, onOffset: (to) => onChange({ offset: to }) }}
          empty={
            search !== "" || offset > 0 ? (
              <FilteredEmptyState
                title={`No value matches “${search}”`}
                total={answer.data && `${formatInteger(answer.data.total_count)} values`}
                onClear={() => onChange({ search: "", offset: 0 })}
              />
            ) : (
              <EmptyState title="The cluster tells no configuration">
                Pegel's user there may not have the right to describe the cluster.
              </EmptyState>
            )
          }
        />
      </Panel>
      <AsCommand
        cli={[
          "cluster-config",
          "--cluster",
          cluster,
          ...(search === "" ? [] : ["--search", search]),
          ...(offset === 0 ? [] : ["--offset", String(offset)]),
        ]}
        path={`clusters/${cluster}/operations/cluster-config`}
        query={{ search: search || undefined, offset: offset || undefined, limit: LIMIT }}
      />
    </>
  );
}

/** Whether a value says anything else than Fluss would do by itself. */
function DefaultOf({ row }: { readonly row: components["schemas"]["ConfigValue"] }) {
  if (row.differs_from_default === null || row.differs_from_default === undefined) return <Unknown>not known</Unknown>;
  if (!row.differs_from_default) return <>as by default</>;
  return (
    <>
      differs from{" "}
      {row.default_value === null || row.default_value === undefined ? (
        "not set"
      ) : (
        <Mono title={row.default_value}>
          <VisibleText text={row.default_value === "" ? '""' : row.default_value} />
        </Mono>
      )}
    </>
  );
}
