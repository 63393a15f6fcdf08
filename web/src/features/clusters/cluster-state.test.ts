import { describe, expect, it } from "vitest";
import type { Cluster } from "~/api/clusters";
import { clusterLook, headline } from "./cluster-state";

const seen = (state: "up" | "degraded" | "down" | "unknown", more = {}): Cluster =>
  ({ slug: "a", state: { state, observed_at: "2026-11-30T02:00:00Z", ...more } }) as unknown as Cluster;
const unseen = { slug: "a" } as unknown as Cluster;
const broken = { slug: "a", unusable: { code: "secret_unreadable", message: "x" } } as unknown as Cluster;

describe("the state of a cluster", () => {
  it.each([
    [seen("up"), "ok", "ok"],
    [seen("degraded", { is_coordinator_up: false }), "risk", "coordinator does not answer"],
    [seen("down", { reason: "connect_failed" }), "critical", "down: connect_failed"],
    [seen("unknown"), "unknown", "unknown"],
    [unseen, "unknown", "not looked at yet"],
    [{ ...seen("up"), state: { state: "up" } } as Cluster, "unknown", "not looked at yet"],
    [broken, "unavailable", "cannot be asked: secret_unreadable"],
  ])("%#", (cluster, state, words) => {
    expect(clusterLook(cluster)).toMatchObject({ state, words });
  });
});

describe("the heading of the overview", () => {
  it.each([
    [undefined, "Clusters"],
    [[], "No clusters yet"],
    [[seen("up")], "1 cluster, up"],
    [[seen("up"), seen("up")], "2 clusters, all up"],
    [[seen("up"), unseen], "2 clusters, one not known"],
    [[seen("up"), seen("down"), unseen], "3 clusters, one needs you"],
    [[seen("degraded"), broken], "2 clusters, 2 need you"],
  ])("%#", (clusters, words) => {
    expect(headline(clusters)).toBe(words);
  });
});
