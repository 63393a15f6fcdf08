// Made-up values for the gallery; nothing of the product imports this.
import type { Level, LevelName } from "~/ui/five-levels";
import type { Slot } from "~/ui/uptime-strip";

export const MINUTE = 60_000;

export function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

export interface ClusterRow {
  readonly id: string;
  readonly environment: "production" | "staging" | "development" | "test";
  readonly levels: Readonly<Record<LevelName, Level>>;
  readonly state: "critical" | "ok" | "no_data";
  readonly word: string;
  readonly alive: number;
  readonly tables: string;
  readonly bytesIn: string | undefined;
  readonly slots: readonly Slot[];
  readonly evidence: string;
}

const day = (changes: Readonly<Record<number, Slot>>): Slot[] =>
  Array.from({ length: 24 }, (_, hour) => changes[hour] ?? "ok");

export const CLUSTERS: readonly ClusterRow[] = [
  {
    id: "orders-eu",
    environment: "production",
    levels: {
      cluster: { state: "ok", height: 0.3 },
      replication: { state: "critical", height: 0.95 },
      requests: { state: "risk", height: 0.6 },
      storage: { state: "ok", height: 0.34 },
      runtime: { state: "ok", height: 0.22 },
    },
    state: "critical",
    word: "12 buckets under min ISR",
    alive: 2,
    tables: "412",
    bytesIn: "40265318",
    slots: day({ 10: "risk", 22: "critical", 23: "critical" }),
    evidence: "protocol 2 s · metrics 9 s",
  },
  {
    id: "telemetry",
    environment: "staging",
    levels: {
      cluster: { state: "ok", height: 0.18 },
      replication: { state: "ok", height: 0.14 },
      requests: { state: "ok", height: 0.26 },
      storage: { state: "ok", height: 0.48 },
      runtime: { state: "ok", height: 0.3 },
    },
    state: "ok",
    word: "ok",
    alive: 3,
    tables: "1208",
    bytesIn: "117440512",
    slots: day({ 12: "unknown", 13: "unknown" }),
    evidence: "protocol 3 s · metrics 11 s",
  },
  {
    id: "lab",
    environment: "test",
    levels: {
      cluster: { state: "ok", height: 0.16 },
      replication: { state: "unknown" },
      requests: { state: "unknown" },
      storage: { state: "unknown" },
      runtime: { state: "unknown" },
    },
    state: "no_data",
    word: "metrics not scraped",
    alive: 3,
    tables: "9",
    bytesIn: undefined,
    slots: day({ 0: "none", 1: "none", 2: "none", 3: "none" }),
    evidence: "protocol 2 s · metrics never",
  },
];

export interface TableRowFixture {
  readonly path: string;
  readonly kind: "log" | "primary key";
  readonly buckets: number;
  readonly rows: string | undefined;
  readonly bytes: string;
  readonly tier: string;
  readonly changedAt: string;
}

const DATABASES = ["shop", "billing", "telemetry", "search", "ops"];
const NOUNS = ["clicks", "orders", "payments", "sessions", "carts", "prices", "stock", "events", "users", "quotes"];

export function tableRows(count: number): TableRowFixture[] {
  return Array.from({ length: count }, (_, index) => {
    const noun = NOUNS[index % NOUNS.length] ?? "rows";
    const round = Math.floor(index / 50);
    return {
      path: `${DATABASES[Math.floor(index / 10) % 5]}.${noun}${round === 0 ? "" : `_${round}`}`,
      kind: index % 3 === 0 ? "primary key" : "log",
      buckets: 4 + ((index * 7) % 28),
      rows: index % 17 === 5 ? undefined : String((BigInt(index) * 7919n + 13n) ** 3n),
      bytes: String((BigInt(index) * 104729n + 977n) ** 2n),
      tier: index % 4 === 0 ? "paimon" : "none",
      changedAt: ago(index * 37 * MINUTE),
    };
  });
}

export interface LogRow {
  readonly bucket: number;
  readonly offset: string;
  readonly at: string;
  readonly change: "+A" | "+I" | "-U" | "+U" | "-D";
  readonly id: string;
  readonly type: string | null;
  readonly payload: { readonly json: string } | string | null;
}

export const LOG_ROWS: readonly LogRow[] = [
  {
    bucket: 0,
    offset: "9007199254740993",
    at: "2026-11-30T02:16:02.114Z",
    change: "+A",
    id: "73314510714175488",
    type: "PAID",
    payload: { json: '{"amount":"146.30","cur":"EUR","customer":40021}' },
  },
  {
    bucket: 2,
    offset: "9007199254740871",
    at: "2026-11-30T02:16:02.109Z",
    change: "+I",
    id: "73314510714175487",
    type: "PAID",
    payload: { json: '{"amount":"9.99","cur":"EUR","customer":9007199254740993}' },
  },
  {
    bucket: 0,
    offset: "9007199254740992",
    at: "2026-11-30T02:16:01.950000001Z",
    change: "-U",
    id: "73314510714175480",
    type: "PAID",
    payload: null,
  },
  {
    bucket: 0,
    offset: "9007199254740991",
    at: "2026-11-30T02:16:01.950Z",
    change: "+U",
    id: "73314510714175479",
    type: "PA\u200bID",
    payload: "",
  },
  {
    bucket: 2,
    offset: "9007199254740870",
    at: "2026-11-30T02:16:01.733Z",
    change: "-D",
    id: "73314510714175466",
    type: null,
    payload: `{"note":"${"a long text ".repeat(40)}"}`,
  },
];

export const WAVE: readonly number[] = Array.from(
  { length: 60 },
  (_, index) => 40 + 12 * Math.sin(index / 5) + 5 * Math.sin(index * 1.7),
);
