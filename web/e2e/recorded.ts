// Answers of a Pegel server as recorded, for browser tests without one. Typed by the OpenAPI document, so that an answer the
// server cannot give does not compile.
import type { Route } from "playwright-core";
import type { components } from "~/api/schema";

type Schemas = components["schemas"];
export type Session = Schemas["SessionInfo"];
export type Cluster = Schemas["ClusterView"];

export const REQUEST_ID = "01939f2e-7c1a-7000-8000-000000000000";
/** A name that does harm wherever it is not drawn as mere text. */
export const ODD_NAME = `<img src=x onerror=alert(1)> \u202eabc\u202c 🐟 "o'k"`;
export const HUGE = "9007199254740993";
const AT = "2026-11-30T02:00:00Z";

export const SESSION: Session = {
  principal_kind: "user",
  user_id: "01939f2e-0000-7000-8000-000000000001",
  name: "ann",
  role: "admin",
  grants: ["pegel.*.*", "fluss-plugin.*.*", "fluss-plugin.*.*.*"],
  scope: "all",
  must_change_password: false,
};

export const cluster = (slug: string, environment: Cluster["environment"]): Cluster => ({
  slug,
  name: slug,
  environment,
  read_only: false,
  created_at: "2026-11-30T01:00:00Z",
  updated_at: AT,
  version: 1,
  state: {
    state: "up",
    observed_at: AT,
    is_coordinator_up: true,
    tablet_servers_alive_count: 3,
    tablet_servers_registered_count: 3,
  },
  connection: {
    endpoint: "fluss-1.example:9123,fluss-2.example:9123",
    security_protocol: "SASL_TLS",
    sasl_username: "pegel",
    has_sasl_password: true,
    has_tls_client_key: false,
    tls_skip_verify: false,
    dial_timeout_seconds: 10,
    request_timeout_seconds: 15,
    read_max_attempts: 2,
  },
});

export const problem = (status: number, code: string, detail: string, more: Partial<Schemas["Problem"]> = {}) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({
    type: `urn:pegel:problem:${code}`,
    title: code.replaceAll("_", " "),
    status,
    detail,
    instance: "/",
    code,
    request_id: REQUEST_ID,
    ...more,
  }),
});

/** An answer about a cluster. */
export function envelope<T>(data: T | null, status: Schemas["Status"] = "ok", evidence: Schemas["Evidence"][] = []) {
  return {
    status,
    execution_id: REQUEST_ID,
    observed_at: new Date().toISOString(),
    source: { cluster: "lab", kind: "live" as const, age_ms: 0, servers: [], duration_ms: 3 },
    data,
    evidence,
    warnings: [],
  };
}

export const UNREACHABLE = envelope(null, "unavailable", [
  {
    check: "list_databases",
    state: "failed",
    code: "connect_failed",
    message: "none of 1 bootstrap addresses answered: cannot connect to 127.0.0.1:9: Connection refused",
    hint: "check that the server runs",
  },
]);

const server = (role: Schemas["ServerRole"], id: number, answers: boolean): Schemas["Server"] => ({
  role,
  id,
  address: `fluss-${id}.example:912${id}`,
  rack: id === 0 ? "r1" : null,
  answers,
  is_in_metadata: true,
  state: answers ? "ALIVE" : "NOT_ANSWERING",
  asked_at: AT,
  answered_at: AT,
  latency_ms: answers ? 0.4 : null,
  ...(answers ? {} : { failure: { code: "connect_failed" as const, message: "connection refused" } }),
});

export const SERVERS: Schemas["Servers"] = {
  servers: [server("coordinator", 0, true), server("tablet_server", 0, true), server("tablet_server", 1, false)],
  limit: 1000,
  offset: 0,
  matched_count: 3,
  total_count: 3,
  next_offset: null,
  metadata_at: AT,
  tablet_servers_alive_count: 1,
  tablet_servers_registered_count: 2,
};

export function page<T>(all: readonly T[], url: URL, textOf: (item: T) => string) {
  const offset = Number(url.searchParams.get("offset") ?? 0);
  const limit = Number(url.searchParams.get("limit") ?? 100);
  const search = (url.searchParams.get("search") ?? "").toLowerCase();
  const matched = all.filter((item) => textOf(item).toLowerCase().includes(search));
  const items = matched.slice(offset, offset + limit);
  const next = offset + items.length < matched.length ? offset + items.length : null;
  return { items, limit, offset, matched_count: matched.length, total_count: all.length, next_offset: next };
}

const DATABASES: Schemas["Database"][] = [
  { name: "shop", table_count: 3, created_at: AT },
  { name: ODD_NAME, table_count: null, created_at: null },
];

const runtime = (evidence: Schemas["RuntimeState"]): Schemas["Runtime"] =>
  evidence === "ok"
    ? {
        evidence,
        answered_bucket_count: 1,
        bucket_count: 1,
        observed_at: AT,
        row_count: HUGE,
        offset_span: HUGE,
        offset_ranges: [{ bucket: 0, earliest: "0", latest: HUGE }],
      }
    : {
        evidence,
        answered_bucket_count: 0,
        bucket_count: 4,
        observed_at: AT,
        offset_ranges: [],
        ...(evidence === "unavailable" ? { failure: { code: "request_timeout" as const, message: "no answer" } } : {}),
      };

const tableRow = (
  name: string,
  withRuntime: boolean,
  evidence: Schemas["RuntimeState"] = "ok",
): Schemas["TableRow"] => ({
  database: "shop",
  name,
  kind: "log",
  bucket_count: 1,
  is_partitioned: evidence === "partition_scoped",
  partition_keys: [],
  primary_key: [],
  schema_id: 1,
  table_id: "7",
  ...(withRuntime ? { runtime: runtime(evidence) } : {}),
});

const TABLES = (withRuntime: boolean): Schemas["TableRow"][] => [
  tableRow("clicks", withRuntime),
  tableRow(ODD_NAME, withRuntime, "partial"),
  tableRow("by_region", withRuntime, "partition_scoped"),
  tableRow("broken", withRuntime, "unavailable"),
  ...Array.from({ length: 9_996 }, (_, index) =>
    tableRow(`many_${String(index).padStart(5, "0")}`, withRuntime && index < 96),
  ),
];

const TABLE: Schemas["Table"] = {
  table: "shop.by_region",
  table_id: HUGE,
  schema_id: 3,
  kind: "primary_key",
  comment: ODD_NAME,
  bucket_count: 2,
  bucket_keys: ["id"],
  primary_key: ["id", "region"],
  partition_keys: ["region"],
  buckets: null,
  columns: [
    { name: "id", type: "BIGINT", is_nullable: false },
    { name: "region", type: "STRING", is_nullable: false },
    { name: ODD_NAME, type: "DECIMAL(38, 18)", is_nullable: true, comment: "odd" },
  ],
  properties: [{ key: "table.kv.format", value: "compacted", is_redacted: false }],
  custom_properties: [{ key: "password", value: "***", is_redacted: true }],
};

const OFFSETS: Schemas["Offsets"] = {
  table: "shop.by_region",
  table_id: HUGE,
  start_kind: "earliest",
  answered_bucket_count: 1,
  bucket_count: 2,
  is_complete: false,
  span: HUGE,
  partition_count: 1,
  partitions: [
    {
      partition: "kr",
      partition_id: "4",
      state: "partial",
      buckets: [
        { bucket: 0, leader: 0, start: "0", latest: HUGE, span: HUGE, state: "ok" },
        {
          bucket: 1,
          leader: null,
          state: "unavailable",
          failure: { code: "leader_not_available", message: "no leader" },
        },
      ],
    },
  ],
};

const PARTITIONS: Schemas["Partition"][] = [
  {
    name: "kr",
    partition_id: "4",
    spec: [{ key: "region", value: "kr" }],
    state: "ok",
    buckets: [{ bucket: 0, leader: 0, replicas: [0, 1] }],
  },
];

const CONFIG: Schemas["ConfigValue"][] = [
  {
    key: "default.bucket.number",
    value: "3",
    source: "INITIAL_SERVER_CONFIG",
    is_redacted: false,
    default_value: "1",
    differs_from_default: true,
  },
  { key: "s3.secret-key", value: "***", source: "INITIAL_SERVER_CONFIG", is_redacted: true },
  { key: "empty", value: "", source: "DYNAMIC_SERVER_CONFIG", is_redacted: false },
];

export const USER: Schemas["UserView"] = {
  id: "01939f2e-0000-7000-8000-000000000001",
  name: "ann",
  display_name: ODD_NAME,
  role: "admin",
  grants: ["pegel.*.*"],
  has_default_grants: true,
  scope: "all",
  must_change_password: false,
  created_at: AT,
  updated_at: AT,
  disabled_at: null,
  version: 1,
};

const TOKEN: Schemas["TokenView"] = {
  id: "01939f2e-0000-7000-8000-00000000000a",
  user_id: USER.id,
  name: "ci",
  role: "viewer",
  grants: ["pegel.clusters.read"],
  scope: { clusters: [{ cluster: "lab", tables: "all" }] },
  created_at: AT,
  expires_at: "2027-02-28T02:00:00Z",
  last_used_at: null,
  revoked_at: null,
};

const LOGIN: Schemas["SessionView"] = {
  id: "01939f2e-0000-7000-8000-00000000000b",
  created_at: AT,
  expires_at: "2026-12-07T02:00:00Z",
  last_seen_at: AT,
  is_current: true,
  source: "127.0.0.1",
  user_agent: "Mozilla/5.0",
};

const auditRow = (seq: number): Schemas["AuditEntryView"] => ({
  seq,
  at: AT,
  action: "users.create",
  outcome: "ok",
  principal_id: USER.id,
  principal_kind: "user",
  principal_name: "ann",
  request_id: REQUEST_ID,
  target: `user/${seq}`,
});

export interface World {
  session: Session | undefined;
  clusters: Cluster[];
  /** Paths asked, with their method. */
  readonly asked: string[];
  /** Answers in place of the recorded ones, by the path below /api/v1. */
  readonly instead: Map<string, unknown>;
}

export function world(changes: Partial<World>): World {
  return {
    session: SESSION,
    clusters: [cluster("orders-eu", "production"), cluster("lab", "test")],
    asked: [],
    instead: new Map(),
    ...changes,
  };
}

function operation(path: string, url: URL): unknown {
  switch (path) {
    case "servers":
      return envelope(SERVERS, "partial");
    case "databases":
      return envelope(page(DATABASES, url, (item) => item.name));
    case "databases/detail":
      return envelope<Schemas["DatabaseDetail"]>({
        name: url.searchParams.get("database") ?? "",
        comment: ODD_NAME,
        custom_properties: [{ key: "owner", value: "ann", is_redacted: false }],
        table_count: 3,
      });
    case "tables":
      return envelope({
        ...page(TABLES(url.searchParams.get("runtime") === "true"), url, (item) => `${item.database}.${item.name}`),
        database: url.searchParams.get("database"),
      });
    case "tables/detail":
      return envelope(TABLE);
    case "tables/offsets":
      return envelope({ ...OFFSETS, at: url.searchParams.get("timestamp") }, "partial", [
        { check: "read_bucket", subject: "kr/1", state: "failed", code: "leader_not_available", message: "no leader" },
      ]);
    case "tables/stats":
      return envelope<Schemas["Stats"]>({
        table: "shop.by_region",
        table_id: HUGE,
        kind: "primary_key",
        answered_bucket_count: 1,
        bucket_count: 1,
        is_complete: true,
        row_count: HUGE,
        partitions: [
          {
            partition: "kr",
            state: "ok",
            row_count: HUGE,
            buckets: [{ bucket: 0, leader: 0, row_count: HUGE, state: "ok" }],
          },
        ],
      });
    case "partitions":
      return envelope({
        ...page(PARTITIONS, url, (item) => item.name),
        partition_keys: ["region"],
        table: "shop.by_region",
      });
    case "cluster-config":
      return envelope(page(CONFIG, url, (item) => `${item.key} ${item.value} ${item.source}`));
    case "acls":
      return envelope(null, "security_disabled", [
        { check: "list_acls", state: "failed", code: "security_disabled", message: "the cluster has no authorizer" },
      ]);
    default:
      return undefined;
  }
}

function console_(path: string, url: URL): unknown {
  switch (path) {
    case "/users":
      return { items: [USER], next_cursor: null };
    case "/account/tokens":
    case "/tokens":
      return { items: [TOKEN], next_cursor: null };
    case "/account/sessions":
      return { items: [LOGIN], next_cursor: null };
    case "/audit": {
      const before = Number(url.searchParams.get("before") ?? 251);
      const items = Array.from({ length: Math.min(100, before - 1) }, (_, index) => auditRow(before - 1 - index));
      const last = items.at(-1)?.seq ?? 1;
      return { items, next_cursor: last > 1 ? String(last) : null };
    }
    case "/audit/verify":
      return { state: "whole", from_seq: 1, through_seq: 250, row_count: 250, head: "ab".repeat(32) };
    default:
      return path.endsWith("/sessions") ? { items: [LOGIN], next_cursor: null } : undefined;
  }
}

/** Answers as the server would. */
export async function answer(route: Route, world: World): Promise<void> {
  const request = route.request();
  const url = new URL(request.url());
  const path = url.pathname.replace(/^.*\/api\/v1/, "");
  world.asked.push(`${request.method()} ${path}`);
  const json = (body: unknown, status = 200) => route.fulfill({ status, json: body });
  if (path === "/session" && request.method() === "POST") {
    const { password } = request.postDataJSON() as { password: string };
    if (password !== "right") return route.fulfill(problem(401, "login_failed", "nobody may sign in so"));
    world.session = SESSION;
    return json(SESSION, 201);
  }
  if (path === "/session" && request.method() === "DELETE") {
    world.session = undefined;
    return route.fulfill({ status: 204 });
  }
  if (world.session === undefined) return route.fulfill(problem(401, "sign_in_required", "sign in"));
  if (path === "/session") return json(world.session);
  if (path === "/account/password") {
    world.session = { ...world.session, must_change_password: false };
    return route.fulfill({ status: 204 });
  }
  if (path === "/changes") return route.fulfill({ contentType: "text/event-stream", body: "retry: 60000\n\n" });
  const instead = world.instead.get(`${request.method()} ${path}`) ?? world.instead.get(path);
  if (instead !== undefined) {
    return typeof instead === "object" && instead !== null && "contentType" in instead
      ? route.fulfill(instead as ReturnType<typeof problem>)
      : json(instead);
  }
  if (path === "/clusters") return json({ items: world.clusters, next_cursor: null });
  const about = /^\/clusters\/([^/]+)\/operations\/(.+)$/.exec(path);
  const isKnown = world.clusters.some(({ slug }) => slug === about?.[1]);
  const body = about === null ? console_(path, url) : isKnown ? operation(about[2] ?? "", url) : undefined;
  if (body !== undefined) return json(body);
  const one = world.clusters.find((candidate) => path === `/clusters/${candidate.slug}`);
  return one === undefined ? route.fulfill(problem(404, "not_found", "there is no such cluster")) : json(one);
}
