// Values as they are: exact to the last digit, with units, with NULL, "", 0 and "absent" told apart.
import { Fragment, type ReactNode } from "react";
import { formatDuration, formatRelative } from "~/lib/age";
import { exactBytes, formatBytes } from "~/lib/bytes";
import { classes } from "~/lib/classes";
import { formatDecimal, formatInteger, formatMeasure, type IntegerLike } from "~/lib/exact";
import { formatInstant, formatTimeOfDay, instantMs, type Precision, resolveZone, toRfc3339 } from "~/lib/instant";
import { useNow } from "./use-now";
import styles from "./values.module.css";
import { useZone } from "./zone";

/** Not known: never zero, never blank. */
export function Unknown({ children = "unknown", title }: { readonly children?: ReactNode; readonly title?: string }) {
  return (
    <span className={styles.none} title={title}>
      {children}
    </span>
  );
}

/** A count, exact, grouped as the locale does. */
export function ExactNumber({ value, unit }: { readonly value: IntegerLike | undefined; readonly unit?: string }) {
  if (value === undefined) return <Unknown />;
  return (
    <span className={styles.number}>
      {formatInteger(value)}
      {unit !== undefined && ` ${unit}`}
    </span>
  );
}

export function DecimalNumber({ value }: { readonly value: string }) {
  return <span className={classes(styles.number, styles.breaking)}>{formatDecimal(value)}</span>;
}

/** A measured figure; rounded for the eye, whole on hover. */
export function Measure({ value, unit }: { readonly value: number | undefined; readonly unit?: string }) {
  if (value === undefined) return <Unknown />;
  return (
    <span className={styles.number} title={`${value}${unit === undefined ? "" : ` ${unit}`}`}>
      {formatMeasure(value)}
      {unit !== undefined && ` ${unit}`}
    </span>
  );
}

/** A size in KiB, MiB, …; the exact figure on hover. */
export function ByteSize({ value, per }: { readonly value: IntegerLike | undefined; readonly per?: "s" }) {
  if (value === undefined) return <Unknown />;
  const suffix = per === undefined ? "" : `/${per}`;
  return (
    <span className={styles.number} title={`${exactBytes(value)}${suffix}`}>
      {formatBytes(value)}
      {suffix}
    </span>
  );
}

/** An offset or a long id: groups of three by space alone, so that a selection copies the bare digits. */
export function Offset({ value }: { readonly value: IntegerLike | undefined }) {
  if (value === undefined) return <Unknown />;
  const digits = String(value);
  const head = digits.length % 3;
  const groups = head === 0 ? [] : [digits.slice(0, head)];
  for (let at = head; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return (
    <span className={styles.mono}>
      {groups.map((group, index) => (
        <span key={index} className={styles.group}>
          {group}
        </span>
      ))}
    </span>
  );
}

interface TimeProps {
  /** RFC 3339. */
  readonly at: string | undefined;
  readonly precision?: Precision | "time";
}

/** An instant in the chosen zone; zone, age and RFC 3339 on hover. */
export function Time({ at, precision = "full" }: TimeProps) {
  const zone = useZone();
  if (at === undefined) return <Unknown>never</Unknown>;
  const text = precision === "time" ? formatTimeOfDay(at, zone) : formatInstant(at, zone, precision);
  return (
    <TimeHover at={at} title={`${toRfc3339(at, zone)} · ${resolveZone(zone)}`}>
      {text}
    </TimeHover>
  );
}

/** "4 min ago", the instant on hover. */
export function RelativeTime({ at }: { readonly at: string | undefined }) {
  const now = useNow();
  const zone = useZone();
  const atMs = at === undefined ? undefined : instantMs(at);
  if (at === undefined || atMs === undefined) return <Unknown>never</Unknown>;
  return (
    <time className={styles.number} dateTime={at} title={`${toRfc3339(at, zone)} · ${resolveZone(zone)}`}>
      {formatRelative(now - atMs)}
    </time>
  );
}

function TimeHover({
  at,
  title,
  children,
}: {
  readonly at: string;
  readonly title: string;
  readonly children: string;
}) {
  const atMs = instantMs(at);
  const relative = atMs === undefined ? "" : `${formatRelative(Date.now() - atMs)} · `;
  return (
    <time className={styles.number} dateTime={at} title={relative + title}>
      {children.split("-").map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <span className={styles.hyphen}>-</span>}
          {part}
        </Fragment>
      ))}
    </time>
  );
}

export function Duration({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return <Unknown />;
  return (
    <span className={styles.number} title={`${ms} ms`}>
      {formatDuration(ms)}
    </span>
  );
}

/** Ids, hashes, addresses, phrases. */
export function Mono({ children, title }: { readonly children: ReactNode; readonly title?: string }) {
  return (
    <span className={styles.mono} title={title}>
      {children}
    </span>
  );
}

export type ChangeType = "+A" | "+I" | "-U" | "+U" | "-D";

const CHANGES: Readonly<Record<ChangeType, readonly [kind: string, name: string, sign: string]>> = {
  "+A": ["add", "append", "+A"],
  "+I": ["add", "insert", "+I"],
  "-U": ["before", "update, before", "−U"],
  "+U": ["after", "update, after", "+U"],
  "-D": ["delete", "delete", "−D"],
};

/** The kind of change of a log record: a letter and a colour. */
export function Change({ type }: { readonly type: ChangeType }) {
  const [kind, name, sign] = CHANGES[type];
  return (
    <abbr className={styles.change} data-change={kind} title={name}>
      {sign}
    </abbr>
  );
}
