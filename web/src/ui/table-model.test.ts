import { describe, expect, it } from "vitest";
import { moveColumn, orderColumns } from "./column-layout";
import { nextSort, sortBy, toggled } from "./table-model";

describe("sorting", () => {
  const ids = (values: readonly (string | number | bigint | undefined)[], descending: boolean) =>
    sortBy(values, (value) => value, descending);

  it("orders texts with numbers inside by value", () => {
    expect(ids(["ts-10", "ts-2", "ts-1"], false)).toEqual(["ts-1", "ts-2", "ts-10"]);
  });

  it("orders integers past 2^53 exactly", () => {
    expect(ids([9007199254740993n, 9007199254740992n], false)).toEqual([9007199254740992n, 9007199254740993n]);
  });

  it("puts what is not known last both ways", () => {
    expect(ids([2, undefined, 1], false)).toEqual([1, 2, undefined]);
    expect(ids([2, undefined, 1], true)).toEqual([2, 1, undefined]);
  });

  it("does not move equals", () => {
    const rows = [
      { k: 1, n: "a" },
      { k: 1, n: "b" },
      { k: 0, n: "c" },
    ];
    expect(sortBy(rows, (row) => row.k, true).map((row) => row.n)).toEqual(["a", "b", "c"]);
  });

  it("goes from the useful direction over the other to none", () => {
    const first = nextSort(undefined, "size", true);
    expect(first).toEqual({ id: "size", descending: true });
    expect(nextSort(first, "size", true)).toEqual({ id: "size", descending: false });
    expect(nextSort({ id: "size", descending: false }, "size", true)).toBeUndefined();
    expect(nextSort(first, "name", false)).toEqual({ id: "name", descending: false });
  });
});

describe("columns", () => {
  it("keep the chosen order and put new ones where they are declared", () => {
    expect(orderColumns(["a", "b", "c", "d"], ["a", "d", "b"])).toEqual(["a", "d", "b", "c"]);
    expect(orderColumns(["a", "b"], ["gone", "b", "a"])).toEqual(["b", "a"]);
    expect(orderColumns(["a", "b"], [])).toEqual(["a", "b"]);
  });

  it("move by one place, but the first stays first", () => {
    expect(moveColumn(["a", "b", "c"], "c", -1)).toEqual(["a", "c", "b"]);
    expect(moveColumn(["a", "b", "c"], "b", -1)).toEqual(["a", "b", "c"]);
    expect(moveColumn(["a", "b", "c"], "c", 1)).toEqual(["a", "b", "c"]);
  });
});

describe("picking", () => {
  const ids = ["a", "b", "c", "d"];
  const sorted = (set: ReadonlySet<string>) => [...set].sort();

  it("picks one, and gives it back", () => {
    expect(sorted(toggled(new Set(), ids, "b", undefined))).toEqual(["b"]);
    expect(sorted(toggled(new Set(["b"]), ids, "b", undefined))).toEqual([]);
  });

  it("picks a range both ways", () => {
    expect(sorted(toggled(new Set(["a"]), ids, "c", "a"))).toEqual(["a", "b", "c"]);
    expect(sorted(toggled(new Set(["d"]), ids, "b", "d"))).toEqual(["b", "c", "d"]);
  });

  it("gives a range back when its end was picked", () => {
    expect(sorted(toggled(new Set(ids), ids, "c", "a"))).toEqual(["d"]);
  });

  it("forgets an anchor that is no longer there", () => {
    expect(sorted(toggled(new Set(), ids, "b", "gone"))).toEqual(["b"]);
  });
});
