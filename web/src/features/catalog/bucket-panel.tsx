// What the tabs that ask the leaders of buckets share: reading again, how many answered, and a list with bucket, leader and
// evidence around the figures of the tab.
import type { ReactNode } from "react";
import { AnswerTable } from "~/components/answer-table";
import type { Answer } from "~/components/use-answer";
import { Button } from "~/ui/button";
import type { TableColumn } from "~/ui/data-table-types";
import { EmptyState } from "~/ui/list-states";
import { Panel } from "~/ui/panel";
import { StateChip } from "~/ui/state-chip";
import { Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { type BucketLike, type BucketRow, bucketRows, coverageLook, type PartOf } from "./bucket-rows";
import styles from "./catalog.module.css";

interface LedBucket extends BucketLike {
  readonly leader?: number | null;
}

interface BucketAnswer<B> {
  readonly partitions: readonly PartOf<B>[];
  readonly answered_bucket_count: number;
  readonly bucket_count: number;
}

interface BucketPanelProps<B> {
  readonly title: string;
  readonly unit?: string;
  readonly label: string;
  readonly layoutKey: string;
  readonly answer: Answer<BucketAnswer<B>>;
  /** Whether the bucket's column has to hold the name of a partition as well. */
  readonly partitioned: boolean;
  readonly figures: readonly TableColumn<BucketRow<B>>[];
  /** What can be set above the list. */
  readonly tools?: ReactNode;
  /** Before and after how many buckets answered. */
  readonly sum: ReactNode;
  readonly after?: ReactNode;
  /** What was to be done with the buckets: "count". */
  readonly verb: string;
  readonly reading: boolean;
  readonly onRead: () => void;
}

export function BucketPanel<B extends LedBucket>(props: BucketPanelProps<B>) {
  const { answer, partitioned } = props;
  const rows = bucketRows(answer.data?.partitions ?? []);
  return (
    <Panel
      flush
      title={props.title}
      unit={props.unit}
      side={
        <>
          {answer.age}
          <Button size="small" icon="refresh" busy={props.reading} onClick={props.onRead}>
            Read again
          </Button>
        </>
      }
      foot={
        answer.data && (
          <>
            <span>{props.sum}</span>
            <span>
              {answer.data.answered_bucket_count} of {answer.data.bucket_count} buckets answered
            </span>
            {props.after}
          </>
        )
      }
    >
      {props.tools !== undefined && <div className={styles.tools}>{props.tools}</div>}
      {answer.notes}
      <AnswerTable
        label={props.label}
        layoutKey={props.layoutKey}
        rows={rows}
        rowId={(row) => row.id}
        answer={answer}
        columns={[bucketColumn(partitioned), LEADER, ...props.figures, EVIDENCE]}
        empty={
          <EmptyState title="No partition matches">
            There is no bucket to {props.verb}; clear the filter or choose others.
          </EmptyState>
        }
      />
    </Panel>
  );
}

const bucketColumn = (partitioned: boolean): TableColumn<BucketRow<LedBucket>> => ({
  id: "bucket",
  header: "Bucket",
  width: partitioned ? 200 : 90,
  cell: (row) => (
    <>
      {row.partition !== undefined && <VisibleText text={row.partition} />}{" "}
      {row.bucket === undefined ? <Unknown>all buckets</Unknown> : row.bucket.bucket}
    </>
  ),
});

const LEADER: TableColumn<BucketRow<LedBucket>> = {
  id: "leader",
  header: "Leader",
  width: 140,
  cell: (row) =>
    typeof row.bucket?.leader === "number" ? `tablet server ${row.bucket.leader}` : <Unknown>none</Unknown>,
};

const EVIDENCE: TableColumn<BucketRow<LedBucket>> = {
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
};
