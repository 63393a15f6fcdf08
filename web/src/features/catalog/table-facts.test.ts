import { describe, expect, it } from "vitest";
import type { Runtime } from "~/api/catalog";
import { evidenceLook, rangeWords, specJson, specValues } from "./table-facts";

const runtime = (changes: Partial<Runtime>): Runtime => ({
  answered_bucket_count: 3,
  bucket_count: 3,
  evidence: "ok",
  offset_ranges: [],
  ...changes,
});

describe("the label of a table's figures", () => {
  it.each([
    [{ runtime: runtime({}) }, "ok", "OK"],
    [{ runtime: runtime({ evidence: "partial", answered_bucket_count: 2 }) }, "partial", "partial: 2 of 3 buckets"],
    [{ runtime: runtime({ evidence: "partition_scoped" }) }, "empty", "per partition"],
    [{ runtime: runtime({ evidence: "not_read" }) }, "unknown", "not read"],
    [{ runtime: null }, "unknown", "not read"],
    [
      { runtime: runtime({ evidence: "unavailable", failure: { code: "request_timeout", message: "x" } }) },
      "unavailable",
      "unavailable: request_timeout",
    ],
    [{ failure: { code: "table_not_found", message: "gone" } }, "unavailable", "unavailable: table_not_found"],
  ] as const)("%#", (row, state, words) => {
    expect(evidenceLook(row, false)).toEqual({ state, words });
  });

  it("says that figures are being read", () => {
    expect(evidenceLook({}, true).words).toBe("reading…");
  });
});

it("offset ranges keep each digit, and unknown ends are no zero", () => {
  const offset_ranges = [
    { bucket: 0, earliest: "0", latest: "9007199254740993" },
    { bucket: 1, earliest: null, latest: "5" },
  ];
  expect(rangeWords(runtime({ offset_ranges, bucket_count: 12 }))).toBe(
    "0: 0–9,007,199,254,740,993 · 1: ?–5 · +10 buckets",
  );
});

it("the values of a partition filter survive the address", () => {
  const values = { region: 'kr"; <b>', day: "2026-11-30" };
  expect(specValues(specJson(values))).toEqual(values);
  expect(specJson({ region: "" })).toBeUndefined();
  expect(specValues("[1]")).toEqual({});
  expect(specValues("{nonsense")).toEqual({});
});
