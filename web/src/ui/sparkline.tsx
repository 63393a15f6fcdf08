import styles from "./sparkline.module.css";

interface SparklineProps {
  /** Evenly spaced; null where nothing is known: a gap is drawn as a gap, never as zero. */
  readonly values: readonly (number | null)[];
  /** Says in words what the line shows: "messages in, last hour, 38 to 44 per second". */
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 26;

/** A small line without axes; the figure stands beside it. */
export function Sparkline({ values, label }: SparklineProps) {
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0) return <span className={styles.none}>no samples</span>;
  const low = Math.min(...known);
  const span = Math.max(...known) - low || 1;
  const x = (index: number) => ((index / Math.max(1, values.length - 1)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - 2 - ((value - low) / span) * (HEIGHT - 4)).toFixed(1);
  let line = "";
  let gaps = "";
  let before: { index: number; value: number } | undefined;
  values.forEach((value, index) => {
    if (value === null) return;
    const joined = before !== undefined && before.index === index - 1;
    line += `${joined ? "L" : "M"}${x(index)} ${y(value)}`;
    if (!joined && before !== undefined) gaps += `M${x(before.index)} ${y(before.value)}L${x(index)} ${y(value)}`;
    before = { index, value };
  });
  return (
    <svg
      className={styles.spark}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {gaps !== "" && <path className={styles.gap} d={gaps} />}
      <path className={styles.line} d={line} />
    </svg>
  );
}
