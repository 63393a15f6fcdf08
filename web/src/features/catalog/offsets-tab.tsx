import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { offsetsQuery } from "~/api/catalog";
import type { components } from "~/api/schema";
import { useAnswer } from "~/components/use-answer";
import { instantMs, resolveZone, toRfc3339 } from "~/lib/instant";
import { Button } from "~/ui/button";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { PrefixedField } from "~/ui/fields";
import { EmptyState } from "~/ui/list-states";
import { Panel } from "~/ui/panel";
import { StateChip } from "~/ui/state-chip";
import { ExactNumber, Offset, Time, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { useZone } from "~/ui/zone";
import { type BucketRow, bucketRows, coverageLook } from "./bucket-rows";
import styles from "./catalog.module.css";
import { SpecFields } from "./spec-fields";
import type { TabProps } from "./table-page";

type Row = BucketRow<components["schemas"]["BucketOffsets"]>;

/** The offsets of each bucket: earliest and latest now, or the first at or after a time. */
export function OffsetsTab({ cluster, database, table, view, data, onChange }: TabProps) {
  const options = offsetsQuery(cluster, { database, table, spec: view.spec, at: view.at });
  const query = useQuery(options);
  const answer = useAnswer(query, options.queryKey, { what: "the offsets", cluster });
  const rows = bucketRows(answer.data?.partitions ?? []);
  return (
    <Panel
      flush
      title={view.at === undefined ? "Offsets now" : "Offsets at a time"}
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
              span <ExactNumber value={answer.data.span ?? undefined} />
              {!answer.data.is_complete && " of what answered"}
            </span>
            <span>
              {answer.data.answered_bucket_count} of {answer.data.bucket_count} buckets answered
            </span>
            {answer.data.at && (
              <span>
                asked for <Time at={answer.data.at} />
              </span>
            )}
            <span>the span is not an exact row count</span>
          </>
        )
      }
    >
      <div className={styles.tools}>
        <AtField key={view.at ?? ""} at={view.at} onAt={(at) => onChange({ at })} />
        <SpecFields
          key={view.spec ?? ""}
          keys={data.partition_keys}
          spec={view.spec}
          onSpec={(spec) => onChange({ spec })}
        />
      </div>
      {answer.notes}
      <DataTable
        label="Offsets"
        layoutKey="offsets"
        rows={rows}
        rowId={(row) => row.id}
        copyOf={(row) => JSON.stringify(row, undefined, 2)}
        pageKeys
        loading={answer.loading}
        refreshing={answer.refreshing}
        columns={columnsFor(data.partition_keys.length > 0, view.at !== undefined)}
        instead={
          answer.instead ??
          (answer.data && rows.length === 0 ? (
            <EmptyState title="No partition matches">
              There is no bucket to ask; clear the filter or choose others.
            </EmptyState>
          ) : undefined)
        }
      />
    </Panel>
  );
}

function columnsFor(partitioned: boolean, atTime: boolean): readonly TableColumn<Row>[] {
  return [
    {
      id: "bucket",
      header: "Bucket",
      width: partitioned ? 200 : 90,
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
      width: 140,
      cell: (row) =>
        typeof row.bucket?.leader === "number" ? `tablet server ${row.bucket.leader}` : <Unknown>none</Unknown>,
    },
    {
      id: "start",
      header: atTime ? "First at or after" : "Earliest",
      width: 190,
      align: "end",
      cell: (row) => <Offset value={row.bucket?.start ?? undefined} />,
    },
    {
      id: "latest",
      header: "Latest",
      width: 190,
      align: "end",
      cell: (row) => <Offset value={row.bucket?.latest ?? undefined} />,
    },
    {
      id: "span",
      header: "Span",
      width: 170,
      align: "end",
      cell: (row) => <ExactNumber value={row.bucket?.span ?? undefined} />,
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
  ];
}

/** A time as RFC 3339; "now" leaves it out. */
function AtField({ at, onAt }: { readonly at: string | undefined; readonly onAt: (at: string | undefined) => void }) {
  const zone = useZone();
  const [text, setText] = useState(at === undefined ? "" : toRfc3339(at, zone));
  const valid = text === "" || instantMs(text) !== undefined;
  return (
    <form
      style={{ display: "contents" }}
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) onAt(text === "" ? undefined : text);
      }}
    >
      <PrefixedField
        label="at"
        mono
        width={220}
        placeholder={toRfc3339(new Date().toISOString().slice(0, 19).concat("Z"), zone)}
        value={text}
        onChange={setText}
      />
      <Button
        type="submit"
        disabledReason={
          valid ? undefined : `A time is written as 2026-11-30T03:00:00Z; you are in ${resolveZone(zone)}`
        }
      >
        Look up
      </Button>
      {at !== undefined && (
        <Button look="quiet" onClick={() => onAt(undefined)}>
          Back to now
        </Button>
      )}
    </form>
  );
}
