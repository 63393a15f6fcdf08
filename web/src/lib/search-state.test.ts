import { describe, expect, it } from "vitest";
import {
  formatSort,
  parseFragment,
  parseSearch,
  parseSort,
  stringifyFragment,
  stringifySearch,
  unknownNames,
} from "./search-state";

describe("search state", () => {
  it.each([
    [{}, ""],
    [{ q: "clicks" }, "?q=clicks"],
    [{ q: "a b&c=d#e+f" }, "?q=a+b%26c%3Dd%23e%2Bf"],
    [{ from: "9007199254740993" }, "?from=9007199254740993"],
    [{ table: "true" }, "?table=true"],
    [{ at: "2026-11-30T02:16:02.114Z" }, "?at=2026-11-30T02:16:02.114Z"],
    [{ column: ["id", "payload"] }, "?column=id&column=payload"],
    [{ q: "Łódź" }, "?q=%C5%81%C3%B3d%C5%BA"],
    [{ q: "" }, "?q="],
  ])("%j reads back as it was", (record, text) => {
    expect(stringifySearch(record)).toBe(text);
    expect(parseSearch(text)).toEqual(record);
  });

  it("leaves out what is not set", () => {
    expect(stringifySearch({ a: undefined, b: null, c: [], d: false, e: true, f: 3 })).toBe("?e=true&f=3");
  });

  it("names what a page does not know", () => {
    expect(unknownNames(parseSearch("?q=1&old=2"), ["q"])).toEqual(["old"]);
  });

  it("a name cannot reach the prototype", () => {
    expect(Object.getPrototypeOf(parseSearch("?__proto__=x"))).toBe(Object.prototype);
  });
});

describe("sort", () => {
  it("goes both ways and refuses unknown columns", () => {
    expect(parseSort("-size", ["size"])).toEqual({ id: "size", descending: true });
    expect(parseSort("rows", ["size"])).toBeUndefined();
    expect(formatSort({ id: "size", descending: true })).toBe("-size");
    expect(formatSort(undefined)).toBeUndefined();
  });
});

describe("fragment state", () => {
  it("goes both ways", () => {
    const state = { where: "event_type = 'PAID'", key: ["1", "2"] };
    expect(parseFragment(`#${stringifyFragment(state)}`)).toEqual({ kind: "state", state });
    expect(stringifyFragment({})).toBe("");
    expect(parseFragment("")).toEqual({ kind: "state", state: {} });
  });

  it("another version is told apart", () => {
    expect(parseFragment("#v=9&where=x")).toEqual({ kind: "other-version", version: "9" });
  });
});
