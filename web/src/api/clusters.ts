import { api } from "./client";
import type { components } from "./schema";

export type Cluster = components["schemas"]["ClusterView"];

/** The most clusters that the switcher and the overview ask for at once. */
export const CLUSTER_LIMIT = 1000;

export const clustersQuery = api.queryOptions("get", "/api/v1/clusters", {
  params: { query: { limit: CLUSTER_LIMIT } },
});

export function clusterQuery(cluster: string) {
  return api.queryOptions("get", "/api/v1/clusters/{cluster}", { params: { path: { cluster } } });
}
