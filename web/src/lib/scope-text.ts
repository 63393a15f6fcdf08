// The scope of a user or token as lines of text, for people to read and to type: "orders-eu" for a whole cluster,
// "orders-eu sales.* sales2.orders" for some of its tables.

export type ScopeValue =
  | "all"
  | {
      readonly clusters: readonly {
        readonly cluster: string;
        readonly tables: "all" | { readonly only: readonly string[] };
      }[];
    };

export function scopeText(scope: ScopeValue): string {
  if (scope === "all") return "";
  return scope.clusters
    .map(({ cluster, tables }) => (tables === "all" ? cluster : [cluster, ...tables.only].join(" ")))
    .join("\n");
}

/** In a few words for lists: "all clusters", "none", "orders-eu (2 patterns)". */
export function scopeWords(scope: ScopeValue): string {
  if (scope === "all") return "all clusters";
  if (scope.clusters.length === 0) return "nothing";
  return scope.clusters
    .map(({ cluster, tables }) => (tables === "all" ? cluster : `${cluster}: ${tables.only.join(", ") || "no table"}`))
    .join("; ");
}

/** A cluster a line, its tables after it; no table means all of them. */
export function parseScope(text: string): Exclude<ScopeValue, "all"> {
  return {
    clusters: text
      .split("\n")
      .map((line) => line.split(/[\s,]+/).filter(Boolean))
      .flatMap(([cluster, ...tables]) =>
        cluster === undefined ? [] : [{ cluster, tables: tables.length === 0 ? ("all" as const) : { only: tables } }],
      ),
  };
}
