import { describe, expect, it } from "vitest";
import { countWords } from "./count";

describe("a count in words", () => {
  it.each([
    [0, "0 entries"],
    [1, "1 entry"],
    [1204, "1,204 entries"],
  ])("%i", (count, words) => {
    expect(countWords(count, "entry", "entries")).toBe(words);
  });
});
