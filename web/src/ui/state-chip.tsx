import type { ReactNode } from "react";
import { STATES, type StateName } from "./state";
import styles from "./state-chip.module.css";
import { StateGlyph } from "./state-glyph";

interface StateChipProps {
  readonly state: StateName;
  /** Says more than the bare word: "12 buckets under min ISR". The glyph and the pattern still tell the state. */
  readonly children?: ReactNode;
}

/** The chip of a state; the same everywhere. */
export function StateChip({ state, children }: StateChipProps) {
  const look = STATES[state];
  return (
    <span className={styles.chip} data-tone={look.tone} data-fill={look.fill} data-state={state}>
      <StateGlyph name={look.glyph} />
      <span className={styles.word}>{children ?? look.word}</span>
    </span>
  );
}

/** A plain word in the same shape: a kind, a mode, a count. Carries no state. */
export function Tag({ children }: { readonly children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone="quiet" data-fill="outline">
      <span className={styles.word}>{children}</span>
    </span>
  );
}
