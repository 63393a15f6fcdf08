// Ages: how old a figure is, in words, and whether that is still fine.

const STEPS: readonly (readonly [limit: number, size: number, unit: string])[] = [
  [120, 1, "s"],
  [7_200, 60, "min"],
  [172_800, 3_600, "h"],
  [Number.POSITIVE_INFINITY, 86_400, "d"],
];

/** "12 s", "4 min", "3 h", "9 d". Negative ages (clocks that differ a little) read "0 s". */
export function formatAge(ageMs: number): string {
  if (!Number.isFinite(ageMs)) return "unknown";
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  const [, size, unit] = STEPS.find(([limit]) => seconds < limit) ?? [0, 86_400, "d"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** "4 min ago", "in 3 h". */
export function formatRelative(ageMs: number): string {
  return ageMs < -1000 ? `in ${formatAge(-ageMs)}` : `${formatAge(ageMs)} ago`;
}

/** A span measured by someone: "0.18 s", "140 ms", "2 min 5 s", "4 h 12 min". */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "unknown";
  if (ms < 1) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1))} s`;
  const seconds = Math.round(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const parts = [
    [days, "d"],
    [hours, "h"],
    [minutes, "min"],
    [seconds % 60, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .slice(0, 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

export type Freshness = "fresh" | "late" | "failing";

/** Late when older than three intervals; failing as soon as the last refresh failed, whatever the age. */
export function freshness(ageMs: number, intervalMs: number, failed: boolean): Freshness {
  if (failed) return "failing";
  return ageMs > 3 * intervalMs ? "late" : "fresh";
}
