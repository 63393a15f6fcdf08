import { formatAge, freshness } from "~/lib/age";
import { formatInstant, instantMs } from "~/lib/instant";
import styles from "./age.module.css";
import { useNow } from "./use-now";
import { useZone } from "./zone";

interface AgeProps {
  /** When the figure was observed (RFC 3339), or undefined where it never was. */
  readonly at: string | undefined;
  /** How often it is refreshed; later than three times this is late. */
  readonly intervalMs: number;
  /** Why the last refresh failed. */
  readonly failure?: string | undefined;
  /** Where the figure is from: "metrics", "protocol". */
  readonly source?: string;
  /** A source that pushes: "live" instead of "updated". */
  readonly live?: boolean;
}

/** "updated 12 s ago"; amber when late, red with the reason when failing. */
export function Age({ at, intervalMs, failure, source, live }: AgeProps) {
  const now = useNow();
  const zone = useZone();
  const atMs = at === undefined ? undefined : instantMs(at);
  if (at === undefined || atMs === undefined) {
    return (
      <span className={styles.age} data-freshness={failure === undefined ? "never" : "failing"}>
        {source !== undefined && `${source} · `}
        {failure === undefined ? "never updated" : `never updated: ${failure}`}
      </span>
    );
  }
  const ageMs = now - atMs;
  const fresh = freshness(ageMs, intervalMs, failure !== undefined);
  const words = live && fresh === "fresh" ? `live · ${formatAge(ageMs)} ago` : `updated ${formatAge(ageMs)} ago`;
  return (
    <span className={styles.age} data-freshness={fresh} title={`observed ${formatInstant(at, zone)}`}>
      <span className={styles.dot} aria-hidden="true" />
      <span>
        {source !== undefined && `${source} · `}
        {words}
        {fresh === "late" && ", late"}
        {failure !== undefined && `, refresh fails: ${failure}`}
      </span>
    </span>
  );
}
