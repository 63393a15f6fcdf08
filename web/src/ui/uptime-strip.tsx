import styles from "./uptime-strip.module.css";
import { VisuallyHidden } from "./visually-hidden";

/** One slot of time: its worst state; `none` where the target was not watched yet. */
export type Slot = "ok" | "risk" | "critical" | "unknown" | "none";

const WORDS: Readonly<Record<Slot, string>> = {
  ok: "ok",
  risk: "at risk",
  critical: "critical",
  unknown: "without evidence",
  none: "not watched",
};

/** The last hours as a row of bars. Height and pattern tell the state as well as colour does. */
export function UptimeStrip({ slots, span }: { readonly slots: readonly Slot[]; readonly span: string }) {
  const counts = new Map<Slot, number>();
  for (const slot of slots) counts.set(slot, (counts.get(slot) ?? 0) + 1);
  const words = [...counts].map(([slot, count]) => `${count} of ${slots.length} ${WORDS[slot]}`).join(", ");
  return (
    <span className={styles.strip} title={`${span}: ${words}`}>
      {slots.map((slot, index) => (
        <span key={index} className={styles.cell} data-state={slot} />
      ))}
      <VisuallyHidden>
        {span}: {words}
      </VisuallyHidden>
    </span>
  );
}
