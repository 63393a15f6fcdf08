import type { Cluster } from "~/api/clusters";
import type { StateName } from "~/ui/state";

export interface ClusterLook {
  readonly state: StateName;
  readonly words: string;
  /** The order of need, the worst first. */
  readonly rank: number;
}

/** What is known of a cluster in one chip. A cluster that cannot be asked, or was not yet, is unknown, never ok. */
export function clusterLook({ state, unusable }: Pick<Cluster, "state" | "unusable">): ClusterLook {
  if (unusable) return { state: "unavailable", words: `cannot be asked: ${unusable.code}`, rank: 1 };
  if (!state?.observed_at) return { state: "unknown", words: "not looked at yet", rank: 3 };
  const reason = state.reason ? `: ${state.reason}` : "";
  switch (state.state) {
    case "up":
      return { state: "ok", words: "ok", rank: 4 };
    case "degraded":
      return {
        state: "risk",
        words: state.is_coordinator_up === false ? "coordinator does not answer" : `degraded${reason}`,
        rank: 2,
      };
    case "down":
      return { state: "critical", words: `down${reason}`, rank: 0 };
    default:
      return { state: "unknown", words: `unknown${reason}`, rank: 3 };
  }
}

/** The heading of the overview: how many, and how many need someone. */
export function headline(clusters: readonly Cluster[] | undefined): string {
  if (clusters === undefined) return "Clusters";
  if (clusters.length === 0) return "No clusters yet";
  const count = clusters.length === 1 ? "1 cluster" : `${clusters.length} clusters`;
  const inNeed = clusters.filter((cluster) => clusterLook(cluster).rank <= 2).length;
  const unknown = clusters.filter((cluster) => clusterLook(cluster).rank === 3).length;
  if (inNeed > 0) return `${count}, ${inNeed === 1 ? "one needs you" : `${inNeed} need you`}`;
  if (unknown > 0) return `${count}, ${unknown === 1 ? "one" : unknown} not known`;
  return clusters.length === 1 ? `${count}, up` : `${count}, all up`;
}
