import type { ReactNode } from "react";
import styles from "./timeline.module.css";
import { Time } from "./values";

export interface TimelineEvent {
  readonly id: string;
  readonly at: string;
  readonly tone?: "bad" | "warn" | "ok" | "unknown";
  /** What happened, in words. */
  readonly text: ReactNode;
  /** How it is known, in grey. */
  readonly evidence?: ReactNode;
}

/** What happened, in order; times of day in the chosen zone. */
export function Timeline({ events, label }: { readonly events: readonly TimelineEvent[]; readonly label: string }) {
  return (
    <ol className={styles.list} aria-label={label}>
      {events.map((event) => (
        <li key={event.id} className={styles.item} data-tone={event.tone}>
          <span className={styles.time}>
            <Time at={event.at} precision="time" />
          </span>
          {event.text} {event.evidence !== undefined && <span className={styles.evidence}>{event.evidence}</span>}
        </li>
      ))}
    </ol>
  );
}
