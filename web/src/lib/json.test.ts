import { describe, expect, it } from "vitest";
import { indentJson, jsonTokens } from "./json";

describe("JSON text", () => {
  it("keeps digits that a number would lose", () => {
    expect(indentJson('{"id":9007199254740993,"p":1.10}')).toBe('{\n  "id": 9007199254740993,\n  "p": 1.10\n}');
  });

  it.each([
    ["{}", "{}"],
    ["[]", "[]"],
    ["[1,[],{}]", "[\n  1,\n  [],\n  {}\n]"],
    ['{ "a" : "x:{,}" }', '{\n  "a": "x:{,}"\n}'],
    ["not json", "not json"],
  ])("%s", (text, expected) => {
    expect(indentJson(text)).toBe(expected);
  });

  it("tells keys from strings", () => {
    expect(jsonTokens('{"a":"b"}')?.map((token) => token.kind)).toEqual([
      "punctuation",
      "key",
      "punctuation",
      "string",
      "punctuation",
    ]);
  });
});
