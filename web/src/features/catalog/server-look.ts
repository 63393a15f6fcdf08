import type { Server } from "~/api/catalog";
import type { components } from "~/api/schema";
import type { StateName } from "~/ui/state";

type Servers = components["schemas"]["Servers"];

export function serverName({ role, id }: Pick<Server, "role" | "id">): string {
  return role === "coordinator" ? `coordinator ${id}` : `tablet server ${id}`;
}

/** Both facts in one chip: whether metadata names it, and whether it answers itself. */
export function serverLook(server: Pick<Server, "is_in_metadata" | "answers" | "failure" | "asked_at">): {
  readonly state: StateName;
  readonly words: string;
} {
  if (server.answers && server.is_in_metadata) return { state: "ok", words: "in metadata, answers" };
  if (server.answers) return { state: "risk", words: "answers, but not in metadata" };
  if (!server.asked_at) return { state: "unknown", words: "not asked yet" };
  const reason = server.failure ? `: ${server.failure.code}` : "";
  if (server.is_in_metadata) return { state: "critical", words: `in metadata, does not answer${reason}` };
  return { state: "critical", words: `does not answer${reason}` };
}

/** The heading of a cluster's page: the news about its servers. */
export function serversHeadline(name: string, servers: Servers | undefined, isAsked: boolean): string {
  if (servers === undefined) return isAsked ? `${name}: its servers are unknown` : name;
  const coordinators = servers.servers.filter((server) => server.role === "coordinator");
  const { tablet_servers_alive_count: alive, tablet_servers_registered_count: registered } = servers;
  if (coordinators.length > 0 && !coordinators.some((server) => server.state === "ALIVE")) {
    return `${name}: the coordinator does not answer`;
  }
  if (alive < registered) {
    const silent = registered - alive;
    return `${name}: ${silent} of ${registered} tablet servers ${silent === 1 ? "does" : "do"} not answer`;
  }
  return `${name}: ${alive === 1 ? "the tablet server answers" : `all ${alive} tablet servers answer`}`;
}
