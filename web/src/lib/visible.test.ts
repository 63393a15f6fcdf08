import { describe, expect, it } from "vitest";
import { hasInvisible, visibleSegments } from "./visible";

const labels = (text: string) =>
  visibleSegments(text).map((segment) => (segment.kind === "text" ? segment.text : `[${segment.label}]`));

describe("visible text", () => {
  it.each([
    ["plain", ["plain"]],
    ["", []],
    ["a\u202etxt.exe", ["a", "[RLO]", "txt.exe"]],
    ["pay\u200bment", ["pay", "[ZWSP]", "ment"]],
    ["a\u0000b", ["a", "[NUL]", "b"]],
    ["a\tb\nc\r", ["a", "[TAB]", "b", "[LF]", "c", "[CR]"]],
    [" a b ", ["[·]", "a b", "[·]"]],
    ["  ", ["[·]", "[·]"]],
    ["\u2000x", ["[U+2000]", "x"]],
    ["\ufeffid", ["[BOM]", "id"]],
    ["a\u{e0041}b", ["a", "[U+E0041]", "b"]],
    ["\ud800", ["[U+D800]"]],
    ["Łódź Ελλάδα 数据", ["Łódź Ελλάδα 数据"]],
    ["👩‍💻", ["👩‍💻"]],
    ["ab\u200dc", ["ab", "[ZWJ]", "c"]],
  ])("%j", (text, expected) => {
    expect(labels(text)).toEqual(expected);
  });

  it("loses nothing", () => {
    const text = " a\u202e\u0000\ud800👩‍💻\ufeff ";
    expect(
      visibleSegments(text)
        .map((segment) => segment.text)
        .join(""),
    ).toBe(text);
  });

  it("names what it marks", () => {
    expect(visibleSegments("\u202e")[0]).toMatchObject({ name: "right-to-left override (U+202E)" });
    expect(hasInvisible("a b")).toBe(false);
    expect(hasInvisible("a ")).toBe(true);
  });
});
