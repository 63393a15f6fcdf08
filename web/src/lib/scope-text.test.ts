import { expect, it } from "vitest";
import { parseScope, scopeText, scopeWords } from "./scope-text";

it("a scope is typed a cluster a line and read back the same", () => {
  const scope = parseScope("orders-eu\n\n lab sales.*, sales2.orders\n");
  expect(scope).toEqual({
    clusters: [
      { cluster: "orders-eu", tables: "all" },
      { cluster: "lab", tables: { only: ["sales.*", "sales2.orders"] } },
    ],
  });
  expect(parseScope(scopeText(scope))).toEqual(scope);
});

it("a scope of nothing is not said to be all", () => {
  expect(scopeWords({ clusters: [] })).toBe("nothing");
  expect(scopeWords("all")).toBe("all clusters");
  expect(scopeWords({ clusters: [{ cluster: "lab", tables: { only: [] } }] })).toBe("lab: no table");
});
