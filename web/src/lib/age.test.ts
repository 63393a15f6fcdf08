import { describe, expect, it } from "vitest";
import { formatAge, formatDuration, formatRelative, freshness } from "./age";

describe("ages", () => {
  it.each([
    [-400, "0 s"],
    [0, "0 s"],
    [12_900, "12 s"],
    [119_000, "119 s"],
    [120_000, "2 min"],
    [7_199_000, "119 min"],
    [7_200_000, "2 h"],
    [172_800_000, "2 d"],
    [Number.NaN, "unknown"],
  ])("%d ms reads %s", (ms, expected) => {
    expect(formatAge(ms)).toBe(expected);
  });

  it("tells past from future", () => {
    expect(formatRelative(240_000)).toBe("4 min ago");
    expect(formatRelative(-240_000)).toBe("in 4 min");
    expect(formatRelative(-400)).toBe("0 s ago");
  });
});

describe("durations", () => {
  it.each([
    [0.3, "0.3 ms"],
    [140.4, "140 ms"],
    [180, "180 ms"],
    [1_180, "1.18 s"],
    [12_345, "12.3 s"],
    [125_000, "2 min 5 s"],
    [15_120_000, "4 h 12 min"],
    [90_061_000, "1 d 1 h"],
    [-1, "unknown"],
  ])("%d ms reads %s", (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });
});

describe("freshness", () => {
  it("is late only past three intervals", () => {
    expect(freshness(30_000, 10_000, false)).toBe("fresh");
    expect(freshness(30_001, 10_000, false)).toBe("late");
  });

  it("a failed refresh is never fresh", () => {
    expect(freshness(0, 10_000, true)).toBe("failing");
  });
});
