import { formatBytes } from "~/lib/bytes";
import { indentJson } from "~/lib/json";
import styles from "./values.module.css";
import { VisibleText } from "./visible-text";
import { VisuallyHidden } from "./visually-hidden";

/** A value of a row as the server sends it. Bytes say how they are written; numbers of 64 bits come as text. */
export type Value =
  | null
  | undefined
  | boolean
  | number
  | string
  | { readonly encoding: "hex" | "base64" | "utf8"; readonly data: string }
  | { readonly json: string };

interface CellValueProps {
  readonly value: Value;
  /** Numbers are drawn as such, without quotes and right-aligned by their column. */
  readonly numeric?: boolean;
  /** Opens the whole value; without it a long value is only cut. */
  readonly onOpen?: () => void;
}

const LONGEST = 120;

/** NULL, "", 0 and "absent" look different; long values are cut and say how long they are. */
export function CellValue({ value, numeric, onOpen }: CellValueProps) {
  if (value === undefined) return <span className={styles.absent}>absent</span>;
  if (value === null) return <span className={styles.null}>NULL</span>;
  if (typeof value === "boolean" || typeof value === "number")
    return <span className={styles.mono}>{String(value)}</span>;
  if (typeof value === "string") {
    if (value === "") {
      return (
        <span className={styles.mono} title="empty text">
          <span className={styles.quote}>""</span>
        </span>
      );
    }
    return numeric ? <span className={styles.mono}>{value}</span> : <LongText text={value} onOpen={onOpen} />;
  }
  if ("json" in value) return <LongText text={value.json.replace(/\s*\n\s*/g, " ")} mono onOpen={onOpen} />;
  return (
    <span title={`bytes as ${value.encoding}`}>
      <span className={styles.encoding}>{value.encoding}</span>
      {value.data === "" ? (
        <span className={styles.quote}>no bytes</span>
      ) : (
        <LongText text={value.data} mono onOpen={onOpen} />
      )}
    </span>
  );
}

function LongText({
  text,
  mono,
  onOpen,
}: {
  readonly text: string;
  readonly mono?: boolean;
  readonly onOpen?: (() => void) | undefined;
}) {
  const cut = text.length > LONGEST;
  // Never cut through a pair of code units.
  const shown = cut ? text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, "") : text;
  const body = <VisibleText text={shown} />;
  if (!cut) return <span className={mono ? styles.mono : undefined}>{body}</span>;
  const size = formatBytes(new TextEncoder().encode(text).length);
  return (
    <span className={styles.long}>
      <span className={`${styles.cut} ${mono ? styles.mono : ""}`}>{body}…</span>
      {onOpen === undefined ? (
        <span className={styles.size}>{size}</span>
      ) : (
        <button type="button" className={styles.size} onClick={onOpen}>
          {size} · open<VisuallyHidden> the whole value</VisuallyHidden>
        </button>
      )}
    </span>
  );
}

/** The value as text for the clipboard: JSON laid out, NULL as nothing. */
export function valueText(value: Value): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  return "json" in value ? indentJson(value.json) : value.data;
}
