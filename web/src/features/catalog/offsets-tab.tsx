import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { offsetsQuery } from "~/api/catalog";
import type { components } from "~/api/schema";
import { useAnswer } from "~/components/use-answer";
import { formatInstant, readInstant, resolveZone } from "~/lib/instant";
import { Button } from "~/ui/button";
import type { TableColumn } from "~/ui/data-table-types";
import { PrefixedField } from "~/ui/fields";
import { ExactNumber, Offset, Time } from "~/ui/values";
import { useZone } from "~/ui/zone";
import { BucketPanel } from "./bucket-panel";
import type { BucketRow } from "./bucket-rows";
import styles from "./catalog.module.css";
import { SpecFields } from "./spec-fields";
import type { TabProps } from "./table-page";

/** The offsets of each bucket: earliest and latest now, or the first at or after a time. */
export function OffsetsTab({ cluster, database, table, view, data, onChange }: TabProps) {
  const options = offsetsQuery(cluster, { database, table, spec: view.spec, at: view.at });
  const query = useQuery(options);
  const answer = useAnswer(query, options.queryKey, { what: "the offsets", cluster });
  return (
    <BucketPanel
      title={view.at === undefined ? "Offsets now" : "Offsets at a time"}
      label="Offsets"
      layoutKey="offsets"
      answer={answer}
      partitioned={data.partition_keys.length > 0}
      figures={figures(view.at !== undefined)}
      verb="ask"
      reading={query.isFetching}
      onRead={() => void query.refetch()}
      sum={
        <>
          span <ExactNumber value={answer.data?.span ?? undefined} />
          {answer.data?.is_complete === false && " of what answered"}
        </>
      }
      after={
        <>
          {answer.data?.at && (
            <span>
              asked for <Time at={answer.data.at} />
            </span>
          )}
          <span>the span is not an exact row count</span>
        </>
      }
      tools={
        <>
          <AtField key={view.at ?? ""} at={view.at} onAt={(at) => onChange({ at })} />
          <SpecFields
            key={view.spec ?? ""}
            keys={data.partition_keys}
            spec={view.spec}
            onSpec={(spec) => onChange({ spec })}
          />
        </>
      }
    />
  );
}

const figures = (atTime: boolean): readonly TableColumn<BucketRow<components["schemas"]["BucketOffsets"]>>[] => [
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
];

/** A time by the clocks of the zone, or RFC 3339; "now" leaves it out. */
function AtField({ at, onAt }: { readonly at: string | undefined; readonly onAt: (at: string | undefined) => void }) {
  const zone = useZone();
  const [text, setText] = useState(at === undefined ? "" : formatInstant(at, zone));
  const read = readInstant(text, zone);
  const valid = text === "" || read !== undefined;
  return (
    <form
      style={{ display: "contents" }}
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) onAt(read);
      }}
    >
      <PrefixedField
        label="at"
        mono
        width={220}
        placeholder={formatInstant(new Date().toISOString(), zone, "second")}
        value={text}
        onChange={setText}
      />
      <span className={styles.zone}>{resolveZone(zone)}</span>
      <Button
        type="submit"
        disabledReason={
          valid ? undefined : `Not a time: write 2026-11-30 03:00 by the clocks of ${resolveZone(zone)}, or RFC 3339`
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
