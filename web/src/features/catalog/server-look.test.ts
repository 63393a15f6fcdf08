import { describe, expect, it } from "vitest";
import type { components } from "~/api/schema";
import { serverLook, serversHeadline } from "./server-look";

type Servers = components["schemas"]["Servers"];
const ASKED = "2026-11-30T02:00:00Z";

describe("the state of a server", () => {
  it.each([
    [{ is_in_metadata: true, answers: true, asked_at: ASKED }, "ok"],
    [{ is_in_metadata: false, answers: true, asked_at: ASKED }, "risk"],
    [{ is_in_metadata: true, answers: false, asked_at: ASKED }, "critical"],
    [{ is_in_metadata: false, answers: false, asked_at: ASKED }, "critical"],
    [{ is_in_metadata: true, answers: false, asked_at: null }, "unknown"],
  ])("%j is %s", (facts, state) => {
    expect(serverLook(facts).state).toBe(state);
  });
});

describe("the heading of a cluster", () => {
  const servers = (coordinator: "ALIVE" | "NOT_ANSWERING", alive: number, registered: number) =>
    ({
      servers: [{ role: "coordinator", id: 0, state: coordinator }],
      tablet_servers_alive_count: alive,
      tablet_servers_registered_count: registered,
    }) as unknown as Servers;

  it.each([
    [servers("ALIVE", 3, 3), "lab: all 3 tablet servers answer"],
    [servers("ALIVE", 2, 3), "lab: 1 of 3 tablet servers does not answer"],
    [servers("ALIVE", 1, 3), "lab: 2 of 3 tablet servers do not answer"],
    [servers("NOT_ANSWERING", 3, 3), "lab: the coordinator does not answer"],
    [undefined, "lab: its servers are unknown"],
  ])("%#", (data, words) => {
    expect(serversHeadline("lab", data, true)).toBe(words);
  });
});
