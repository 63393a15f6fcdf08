// Users, tokens, sessions and the audit log.
import { api } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type User = Schemas["UserView"];
export type Token = Schemas["TokenView"];
export type SessionRow = Schemas["SessionView"];
export type AuditEntry = Schemas["AuditEntryView"];
export type Role = Schemas["Role"];
export type Scope = Schemas["Scope"];

/** More than this is not listed at once; the page says so. */
export const MOST = 1000;

export const usersQuery = api.queryOptions("get", "/api/v1/users", { params: { query: { limit: MOST } } });

export const userSessionsQuery = (id: string) =>
  api.queryOptions("get", "/api/v1/users/{id}/sessions", { params: { path: { id } } });

export const ownTokensQuery = api.queryOptions("get", "/api/v1/account/tokens", { params: { query: { limit: MOST } } });

export const tokensQuery = api.queryOptions("get", "/api/v1/tokens", { params: { query: { limit: MOST } } });

export const ownSessionsQuery = api.queryOptions("get", "/api/v1/account/sessions");

export interface AuditFilter {
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly principal?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  /** The cursor of the page before. */
  readonly before?: string | undefined;
}

export const auditQuery = ({ action, target, principal, from, until, before }: AuditFilter) =>
  api.queryOptions("get", "/api/v1/audit", {
    params: {
      query: {
        limit: 100,
        ...(action ? { action } : {}),
        ...(target ? { target } : {}),
        ...(principal ? { principal_id: principal } : {}),
        ...(from ? { from } : {}),
        ...(until ? { until } : {}),
        ...(before ? { before } : {}),
      },
    },
  });
