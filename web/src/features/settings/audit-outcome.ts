import type { StateName } from "~/ui/state";

const REFUSALS: ReadonlySet<string> = new Set(["permission_denied", "login_failed", "login_locked", "rights_exceeded"]);
const OPEN: ReadonlySet<string> = new Set(["commit_unknown", "outcome_unknown"]);

/** The state of an audit row: its outcome is "ok" or the code of what went wrong. */
export function outcomeState(outcome: string): StateName {
  if (outcome === "ok") return "ok";
  if (OPEN.has(outcome)) return "outcome_unknown";
  return REFUSALS.has(outcome) ? "refused" : "critical";
}
