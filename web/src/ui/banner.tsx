import type { ReactNode } from "react";
import styles from "./banner.module.css";
import { STATES, type StateName } from "./state";
import { StateChip } from "./state-chip";

interface BannerProps {
  readonly state: StateName;
  /** The bold word of the chip: "offline", "server restarted". */
  readonly word: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** A line over the whole page: something that concerns all that is on it. */
export function Banner({ state, word, children, action }: BannerProps) {
  const tone = STATES[state].tone;
  return (
    <div className={styles.banner} role="status" data-tone={tone} data-print="hide">
      <StateChip state={state}>{word}</StateChip>
      <span className={styles.text}>{children}</span>
      {action}
    </div>
  );
}
