import type { ReactNode } from "react";
import styles from "./stat.module.css";
import { VisuallyHidden } from "./visually-hidden";

interface StatProps {
  readonly label: string;
  /** The figure; left out where it is not known. */
  readonly value?: ReactNode;
  /** "of 3". */
  readonly of?: string;
  readonly tone?: "bad" | "warn";
  /** Said instead of a figure: "not scraped". */
  readonly unknown?: string;
}

/** One big figure. Not known is said in words, never as 0. */
export function Stat({ label, value, of, tone, unknown = "unknown" }: StatProps) {
  return (
    <div className={styles.stat}>
      <div className={styles.label}>{label}</div>
      <div className={styles.value} data-tone={value === undefined ? "unknown" : tone}>
        {value ?? unknown}
        {of !== undefined && <span className={styles.of}>{of}</span>}
        {tone !== undefined && <VisuallyHidden>{tone === "bad" ? " (critical)" : " (at risk)"}</VisuallyHidden>}
      </div>
    </div>
  );
}

export function StatRow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}
