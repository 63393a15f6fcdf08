// What the list of tables says about a table's rows and offsets: what is known, and what it is worth.
import type { Runtime, TableRow } from "~/api/catalog";
import { formatInteger } from "~/lib/exact";
import type { StateName } from "~/ui/state";

export interface EvidenceLook {
  readonly state: StateName;
  readonly words: string;
}

/** The label of a row's figures. Figures that were not read are unknown, never zero. */
export function evidenceLook(row: Pick<TableRow, "failure" | "runtime">, reading: boolean): EvidenceLook {
  if (row.failure) return { state: "unavailable", words: `unavailable: ${row.failure.code}` };
  const { runtime } = row;
  if (!runtime) return { state: "unknown", words: reading ? "reading…" : "not read" };
  switch (runtime.evidence) {
    case "ok":
      return { state: "ok", words: "OK" };
    case "partial":
      return {
        state: "partial",
        words: `partial: ${runtime.answered_bucket_count} of ${runtime.bucket_count} buckets`,
      };
    case "unavailable":
      return {
        state: "unavailable",
        words: runtime.failure ? `unavailable: ${runtime.failure.code}` : "unavailable",
      };
    case "partition_scoped":
      return { state: "empty", words: "per partition" };
    default:
      return { state: "unknown", words: "not read" };
  }
}

/** "0: 0–1,204 · 1: 7–88", with what is not known said so; at most the three buckets that the server tells. */
export function rangeWords(runtime: Pick<Runtime, "offset_ranges" | "bucket_count">): string {
  const ranges = runtime.offset_ranges.map(
    ({ bucket, earliest, latest }) => `${bucket}: ${offset(earliest)}–${offset(latest)}`,
  );
  const more = runtime.bucket_count - ranges.length;
  return [...ranges, ...(more > 0 && ranges.length > 0 ? [`+${formatInteger(more)} buckets`] : [])].join(" · ");
}

function offset(value: string | null | undefined): string {
  return value === null || value === undefined ? "?" : formatInteger(value);
}

/** The kind in people's words. */
export function kindWords(kind: "log" | "primary_key"): string {
  return kind === "log" ? "log" : "primary key";
}

/** "key=value, key=value" typed for a partition becomes the JSON that the server takes; undefined where nothing was typed. */
export function specJson(values: Readonly<Record<string, string>>): string | undefined {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.length === 0 ? undefined : JSON.stringify(Object.fromEntries(given));
}

/** The values in a spec of an address; what is no such JSON counts as none. */
export function specValues(spec: string | undefined): Record<string, string> {
  try {
    const raw: unknown = JSON.parse(spec ?? "{}");
    if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return {};
    return Object.fromEntries(
      Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return {};
  }
}
