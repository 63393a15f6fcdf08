import { describe, expect, it } from "vitest";
import { bestMatches, matchScore } from "./match";

describe("matching", () => {
  it("puts a start before a word start before a middle before scattered letters", () => {
    const items = ["xclicksx", "clicks", "shop.clicks", "c-l-i-c-k-s"];
    expect(bestMatches(items, "clicks", (item) => item, 9)).toEqual([
      "clicks",
      "shop.clicks",
      "xclicksx",
      "c-l-i-c-k-s",
    ]);
  });

  it("needs each word, in any order", () => {
    expect(matchScore("orders-eu dashboard", "dash orders")).toBeDefined();
    expect(matchScore("orders-eu dashboard", "dash telemetry")).toBeUndefined();
  });

  it("keeps the order and the limit where nothing is typed", () => {
    expect(bestMatches(["b", "a", "c"], " ", (item) => item, 2)).toEqual(["b", "a"]);
  });
});
