import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { partitionsQuery } from "~/api/catalog";
import { PagedTable } from "~/components/answer-table";
import { useAnswer } from "~/components/use-answer";
import { useTyped } from "~/components/use-typed";
import { formatInteger } from "~/lib/exact";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { StateChip } from "~/ui/state-chip";
import { Mono, Offset, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { coverageLook } from "./bucket-rows";
import styles from "./catalog.module.css";
import { SpecFields } from "./spec-fields";
import type { TabProps } from "./table-page";

const LIMIT = 100;

/** The partitions of a table, narrowed by name or by the values of their keys. */
export function PartitionsTab(props: TabProps) {
  if (props.data.partition_keys.length === 0) {
    return (
      <Panel>
        <EmptyState title="This table is not partitioned">
          Its rows are spread over buckets alone. Partition keys are given when a table is made.
        </EmptyState>
      </Panel>
    );
  }
  return <PartitionList {...props} />;
}

function PartitionList({ cluster, database, table, view, data, onChange }: TabProps) {
  const { search, offset, spec } = view;
  const options = partitionsQuery(cluster, { database, table, spec, search, offset, limit: LIMIT });
  const query = useQuery({ ...options, placeholderData: (before) => before });
  const answer = useAnswer(query, options.queryKey, { what: "the partitions", cluster });
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text, offset: 0 }));
  const rows = answer.data?.items ?? [];
  return (
    <Panel flush title="Partitions" side={answer.age}>
      <div className={styles.tools}>
        <SpecFields
          key={spec ?? ""}
          keys={data.partition_keys}
          spec={spec}
          onSpec={(next) => onChange({ spec: next, offset: 0 })}
        />
      </div>
      {answer.notes}
      <PagedTable
        label="Partitions"
        layoutKey="partitions"
        rows={rows}
        rowId={(row) => row.name}
        answer={answer}
        toolbar={<SearchInput label="Search partitions" value={typed} onChange={setTyped} slash />}
        columns={[
          { id: "name", header: "Partition", width: 200, cell: (row) => <VisibleText text={row.name} /> },
          {
            id: "spec",
            header: "Values",
            width: 260,
            grow: true,
            cell: (row) => (
              <Mono>
                <VisibleText text={row.spec.map(({ key, value }) => `${key}=${value}`).join(", ")} />
              </Mono>
            ),
          },
          { id: "id", header: "Id", width: 120, align: "end", cell: (row) => <Offset value={row.partition_id} /> },
          {
            id: "leaders",
            header: "Leaders by bucket",
            width: 220,
            cell: (row) =>
              row.buckets ? (
                row.buckets.map((bucket) => `${bucket.bucket}→${bucket.leader ?? "none"}`).join(" · ")
              ) : (
                <Unknown />
              ),
          },
          {
            id: "state",
            header: "Evidence",
            width: 180,
            cell: (row) => {
              const look = coverageLook({ state: row.state, failure: row.failure ?? undefined });
              return (
                <span title={row.failure?.message}>
                  <StateChip state={look.state}>{look.words}</StateChip>
                </span>
              );
            },
          },
          {
            id: "go",
            header: "Look at",
            width: 150,
            cell: (row) => {
              const of = JSON.stringify(Object.fromEntries(row.spec.map(({ key, value }) => [key, value])));
              return (
                <>
                  <Link
                    to="/clusters/$cluster/table"
                    params={{ cluster }}
                    search={{ database, table, tab: "offsets", spec: of }}
                  >
                    offsets
                  </Link>{" "}
                  <Link
                    to="/clusters/$cluster/table"
                    params={{ cluster }}
                    search={{ database, table, tab: "stats", spec: of }}
                  >
                    rows
                  </Link>
                </>
              );
            },
          },
        ]}
        page={{ offset, limit: LIMIT, onOffset: (to) => onChange({ offset: to }) }}
        empty={emptyWords()}
      />
    </Panel>
  );

  function emptyWords() {
    if (answer.data === undefined || rows.length > 0) return undefined;
    if (search !== "" || spec !== undefined || offset > 0) {
      return (
        <FilteredEmptyState
          title="No partition matches"
          total={`${formatInteger(answer.data.total_count)} partitions`}
          onClear={() => onChange({ search: "", spec: undefined, offset: 0 })}
        />
      );
    }
    return (
      <EmptyState title="No partition yet">
        Partitions come with the first rows where they are made by themselves, else by <code>ADD PARTITION</code>.
      </EmptyState>
    );
  }
}
