import styles from "./five-levels.module.css";
import { VisuallyHidden } from "./visually-hidden";

/** The diagnostic categories, always in this order. */
export const LEVELS = ["cluster", "replication", "requests", "storage", "runtime"] as const;
export type LevelName = (typeof LEVELS)[number];

export interface Level {
  readonly state: "ok" | "risk" | "critical" | "unknown";
  /** How near to trouble, 0 to 1. Left out where there is no evidence. */
  readonly height?: number;
}

const WORDS = { ok: "ok", risk: "risk", critical: "critical", unknown: "no evidence" } as const;

/**
 * Pegel's signature: one staff per diagnostic category. Height is nearness to trouble, colour is the state, a dashed hatch is
 * "no evidence". The same in words for readers of screens and on hover.
 */
export function FiveLevels({ levels }: { readonly levels: Readonly<Record<LevelName, Level>> }) {
  const text = LEVELS.map((name) => `${name} ${WORDS[levels[name].state]}`).join(", ");
  return (
    <span className={styles.staff} title={text}>
      {LEVELS.map((name) => (
        <LevelBar key={name} level={levels[name]} />
      ))}
      <VisuallyHidden>Levels: {text}</VisuallyHidden>
    </span>
  );
}

function LevelBar({ level }: { readonly level: Level }) {
  if (level.state === "unknown") return <span className={styles.level} data-state="unknown" />;
  const share = Math.min(1, Math.max(0.08, level.height ?? DEFAULT_HEIGHT[level.state]));
  return (
    <span className={styles.level} data-state={level.state}>
      <span className={styles.fill} style={{ height: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

/** Used where a category has a state but no measure. */
const DEFAULT_HEIGHT = { ok: 0.2, risk: 0.6, critical: 0.95 } as const;
