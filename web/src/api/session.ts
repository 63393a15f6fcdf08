import { api } from "./client";
import type { components } from "./schema";

export type Session = components["schemas"]["SessionInfo"];

/** Who is signed in. Asked once and kept: the server ends a session by refusing the next request. */
export const sessionQuery = api.queryOptions("get", "/api/v1/session", undefined, {
  staleTime: Number.POSITIVE_INFINITY,
});
