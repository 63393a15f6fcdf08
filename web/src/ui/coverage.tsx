import type { ReactNode } from "react";
import styles from "./coverage.module.css";

export interface CoveragePart {
  /** "bucket 0". */
  readonly name: string;
  /** 0 to 1, how much of it was read. */
  readonly share: number;
  /** Why it could not be read. */
  readonly missing?: string;
}

/** The line under a result: how much of each bucket it covers, and what is missing. */
export function Coverage({ parts, state }: { readonly parts: readonly CoveragePart[]; readonly state: ReactNode }) {
  return (
    <div className={styles.list}>
      <span>Covered</span>
      {parts.map((part) => (
        <span key={part.name} className={styles.part}>
          <span className={styles.track} data-missing={part.missing === undefined ? undefined : ""} aria-hidden="true">
            <span className={styles.done} style={{ display: "block", width: `${Math.round(part.share * 100)}%` }} />
          </span>
          {part.missing === undefined ? (
            `${part.name} · ${Math.round(part.share * 100)} %`
          ) : (
            <span className={styles.missing}>
              {part.name} · {part.missing}
            </span>
          )}
        </span>
      ))}
      <span className={styles.end}>{state}</span>
    </div>
  );
}
