// What is asked about a cluster; one factory a question, so that a loader and a page ask by the same key.
import { api, fetchClient } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Server = Schemas["Server"];
export type Database = Schemas["Database"];
export type TableRow = Schemas["TableRow"];
export type Table = Schemas["Table"];
export type Runtime = Schemas["Runtime"];
export type Partition = Schemas["Partition"];
export type Acl = Schemas["Acl"];
export type ConfigValue = Schemas["ConfigValue"];

const BASE = "/api/v1/clusters/{cluster}/operations";

/** A part of a list. */
export interface ListPart {
  readonly search?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Only what differs from the server's own defaults, so that equal questions have equal keys. */
function part({ search, offset, limit }: ListPart) {
  return {
    ...(search === undefined || search === "" ? {} : { search }),
    ...(offset === undefined || offset === 0 ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  };
}

export const serversQuery = (cluster: string, list: ListPart = {}) =>
  api.queryOptions("get", `${BASE}/servers`, { params: { path: { cluster }, query: part(list) } });

export const databasesQuery = (cluster: string, list: ListPart = {}) =>
  api.queryOptions("get", `${BASE}/databases`, { params: { path: { cluster }, query: part(list) } });

export const databaseQuery = (cluster: string, database: string) =>
  api.queryOptions("get", `${BASE}/databases/detail`, { params: { path: { cluster }, query: { database } } });

interface TablesPart extends ListPart {
  readonly database: string;
  /** Also row counts and offsets; they are read from the servers and kept there for a minute. */
  readonly runtime?: boolean;
}

export const tablesQuery = (cluster: string, { database, runtime = false, ...list }: TablesPart) =>
  api.queryOptions("get", `${BASE}/tables`, {
    params: {
      path: { cluster },
      query: { ...(database === "" ? {} : { database }), ...part(list), ...(runtime ? { runtime } : {}) },
    },
  });

export const tableQuery = (cluster: string, database: string, table: string) =>
  api.queryOptions("get", `${BASE}/tables/detail`, { params: { path: { cluster }, query: { database, table } } });

interface TableQuestion {
  readonly database: string;
  readonly table: string;
  /** Partition keys with values as JSON text. */
  readonly spec?: string | undefined;
}

function aboutTable({ database, table, spec }: TableQuestion) {
  return { database, table, ...(spec === undefined ? {} : { partition_spec_json: spec }) };
}

export const offsetsQuery = (cluster: string, { at, ...about }: TableQuestion & { readonly at?: string | undefined }) =>
  api.queryOptions("get", `${BASE}/tables/offsets`, {
    params: {
      path: { cluster },
      query: { ...aboutTable(about), ...(at === undefined ? {} : { timestamp: at }) },
    },
  });

export const statsQuery = (cluster: string, about: TableQuestion) =>
  api.queryOptions("get", `${BASE}/tables/stats`, { params: { path: { cluster }, query: aboutTable(about) } });

export const partitionsQuery = (cluster: string, { search, offset, limit, ...about }: TableQuestion & ListPart) =>
  api.queryOptions("get", `${BASE}/partitions`, {
    params: { path: { cluster }, query: { ...aboutTable(about), ...part({ search, offset, limit }) } },
  });

export const configQuery = (cluster: string, list: ListPart = {}) =>
  api.queryOptions("get", `${BASE}/cluster-config`, { params: { path: { cluster }, query: part(list) } });

interface AclsPart extends ListPart {
  readonly resource?: string | undefined;
  readonly operation?: string | undefined;
  readonly principal?: string | undefined;
  readonly host?: string | undefined;
}

export const aclsQuery = (cluster: string, { resource, operation, principal, host, ...list }: AclsPart = {}) =>
  api.queryOptions("get", `${BASE}/acls`, {
    params: {
      path: { cluster },
      query: {
        ...(resource ? { resource } : {}),
        ...(operation ? { operation } : {}),
        ...(principal ? { principal } : {}),
        ...(host ? { host } : {}),
        ...part(list),
      },
    },
  });

export const operationsQuery = (cluster: string) =>
  api.queryOptions("get", `${BASE}/schema`, { params: { path: { cluster } } });

/** Reads the databases of a cluster anew, past what the server remembers. */
export async function readDatabasesAnew(cluster: string, list: ListPart) {
  const { data, error } = await fetchClient.GET(`${BASE}/databases`, {
    params: { path: { cluster }, query: { ...part(list), refresh: true } },
  });
  if (data === undefined) throw error;
  return data;
}

/** Reads tables anew: with `runtime` their figures, else what there is. */
export async function readTablesAnew(cluster: string, { database, runtime = false, ...list }: TablesPart) {
  const { data, error } = await fetchClient.GET(`${BASE}/tables`, {
    params: {
      path: { cluster },
      query: { ...(database === "" ? {} : { database }), ...part(list), runtime, refresh: true },
    },
  });
  if (data === undefined) throw error;
  return data;
}
