import { useQuery } from "@tanstack/react-query";
import { statsQuery } from "~/api/catalog";
import { useAnswer } from "~/components/use-answer";
import { Button } from "~/ui/button";
import { DataTable } from "~/ui/data-table";
import { EmptyState } from "~/ui/list-states";
import { Panel } from "~/ui/panel";
import { StateChip } from "~/ui/state-chip";
import { ExactNumber, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { bucketRows, coverageLook } from "./bucket-rows";
import styles from "./catalog.module.css";
import { SpecFields } from "./spec-fields";
import type { TabProps } from "./table-page";

/** How many rows each bucket has. */
export function StatsTab({ cluster, database, table, view, data, onChange }: TabProps) {
  const options = statsQuery(cluster, { database, table, spec: view.spec });
  const query = useQuery(options);
  const answer = useAnswer(query, options.queryKey, { what: "the row counts", cluster });
  const rows = bucketRows(answer.data?.partitions ?? []);
  const partitioned = data.partition_keys.length > 0;
  return (
    <Panel
      flush
      title="Row counts"
      unit="rows"
      side={
        <>
          {answer.age}
          <Button size="small" icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
            Read again
          </Button>
        </>
      }
      foot={
        answer.data && (
          <>
            <span>
              <ExactNumber value={answer.data.row_count ?? undefined} unit="rows" />
              {!answer.data.is_complete && " in what answered"}
            </span>
            <span>
              {answer.data.answered_bucket_count} of {answer.data.bucket_count} buckets answered
            </span>
          </>
        )
      }
    >
      {partitioned && (
        <div className={styles.tools}>
          <SpecFields
            key={view.spec ?? ""}
            keys={data.partition_keys}
            spec={view.spec}
            onSpec={(spec) => onChange({ spec })}
          />
        </div>
      )}
      {answer.notes}
      <DataTable
        label="Row counts"
        layoutKey="stats"
        rows={rows}
        rowId={(row) => row.id}
        copyOf={(row) => JSON.stringify(row, undefined, 2)}
        pageKeys
        loading={answer.loading}
        refreshing={answer.refreshing}
        columns={[
          {
            id: "bucket",
            header: "Bucket",
            width: partitioned ? 220 : 100,
            cell: (row) => (
              <>
                {row.partition !== undefined && <VisibleText text={row.partition} />}{" "}
                {row.bucket === undefined ? <Unknown>all buckets</Unknown> : row.bucket.bucket}
              </>
            ),
          },
          {
            id: "leader",
            header: "Leader",
            width: 160,
            cell: (row) =>
              typeof row.bucket?.leader === "number" ? `tablet server ${row.bucket.leader}` : <Unknown>none</Unknown>,
          },
          {
            id: "rows",
            header: "Rows",
            width: 200,
            align: "end",
            cell: (row) => <ExactNumber value={row.bucket?.row_count ?? undefined} />,
          },
          {
            id: "state",
            header: "Evidence",
            width: 220,
            grow: true,
            cell: (row) => {
              const look = coverageLook(row);
              return (
                <span title={row.failure?.message}>
                  <StateChip state={look.state}>{look.words}</StateChip>
                </span>
              );
            },
          },
        ]}
        instead={
          answer.instead ??
          (answer.data && rows.length === 0 ? (
            <EmptyState title="No partition matches">
              There is no bucket to count; clear the filter or choose others.
            </EmptyState>
          ) : undefined)
        }
      />
    </Panel>
  );
}
