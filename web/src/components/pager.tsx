import { formatInteger } from "~/lib/exact";
import { Button } from "~/ui/button";

interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  /** How many are on this page. */
  readonly shown: number;
  readonly matched: number;
  readonly total: number;
  readonly onOffset: (offset: number) => void;
}

/** Which part of a list is shown, of how many, and the way to the others. */
export function Pager({ offset, limit, shown, matched, total, onOffset }: PagerProps) {
  const last = Math.max(0, Math.floor((matched - 1) / limit) * limit);
  return (
    <div
      style={{ display: "flex", flexWrap: "wrap", gap: 10, alignItems: "center", width: "100%", padding: "8px 14px" }}
    >
      <span>{rangeWords(offset, shown, matched, total)}</span>
      {matched > limit || offset > 0 ? (
        <span style={{ display: "inline-flex", gap: 6, marginLeft: "auto" }}>
          <Button
            size="small"
            disabledReason={offset === 0 ? "This is the first page" : undefined}
            onClick={() => onOffset(0)}
          >
            First
          </Button>
          <Button
            size="small"
            disabledReason={offset === 0 ? "This is the first page" : undefined}
            onClick={() => onOffset(Math.max(0, offset - limit))}
          >
            Before
          </Button>
          <Button
            size="small"
            disabledReason={offset >= last ? "This is the last page" : undefined}
            onClick={() => onOffset(Math.min(last, offset + limit))}
          >
            Next
          </Button>
          <Button
            size="small"
            disabledReason={offset >= last ? "This is the last page" : undefined}
            onClick={() => onOffset(last)}
          >
            Last
          </Button>
        </span>
      ) : null}
    </div>
  );
}

/** "1–100 of 10,000", "3 of 3 that match, 412 in all". */
export function rangeWords(offset: number, shown: number, matched: number, total: number): string {
  const n = (count: number) => formatInteger(count);
  const range = shown === 0 ? "0" : `${n(offset + 1)}–${n(offset + shown)}`;
  const all = matched === total ? `of ${n(total)}` : `of ${n(matched)} that match, ${n(total)} in all`;
  return `${range} ${all}`;
}
