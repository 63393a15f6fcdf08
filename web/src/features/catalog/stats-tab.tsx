import { useQuery } from "@tanstack/react-query";
import { statsQuery } from "~/api/catalog";
import type { components } from "~/api/schema";
import { useAnswer } from "~/components/use-answer";
import type { TableColumn } from "~/ui/data-table-types";
import { ExactNumber } from "~/ui/values";
import { BucketPanel } from "./bucket-panel";
import type { BucketRow } from "./bucket-rows";
import { SpecFields } from "./spec-fields";
import type { TabProps } from "./table-page";

const ROWS: TableColumn<BucketRow<components["schemas"]["BucketStats"]>> = {
  id: "rows",
  header: "Rows",
  width: 200,
  align: "end",
  cell: (row) => <ExactNumber value={row.bucket?.row_count ?? undefined} />,
};

/** How many rows each bucket has. */
export function StatsTab({ cluster, database, table, view, data, onChange }: TabProps) {
  const options = statsQuery(cluster, { database, table, spec: view.spec });
  const query = useQuery(options);
  const answer = useAnswer(query, options.queryKey, { what: "the row counts", cluster });
  const partitioned = data.partition_keys.length > 0;
  return (
    <BucketPanel
      title="Row counts"
      unit="rows"
      label="Row counts"
      layoutKey="stats"
      answer={answer}
      partitioned={partitioned}
      figures={[ROWS]}
      verb="count"
      reading={query.isFetching}
      onRead={() => void query.refetch()}
      sum={
        <>
          <ExactNumber value={answer.data?.row_count ?? undefined} unit="rows" />
          {answer.data?.is_complete === false && " in what answered"}
        </>
      }
      tools={
        partitioned ? (
          <SpecFields
            key={view.spec ?? ""}
            keys={data.partition_keys}
            spec={view.spec}
            onSpec={(spec) => onChange({ spec })}
          />
        ) : undefined
      }
    />
  );
}
