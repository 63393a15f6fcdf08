import { describe, expect, it } from "vitest";
import { compareIntegers, formatDecimal, formatInteger, formatMeasure, parseInteger } from "./exact";

describe("exact integers", () => {
  it.each([
    ["9007199254740993", "9,007,199,254,740,993"],
    ["-9223372036854775808", "-9,223,372,036,854,775,808"],
    ["0", "0"],
    [9007199254740993n, "9,007,199,254,740,993"],
  ])("%s is grouped without losing a digit", (value, expected) => {
    expect(formatInteger(value, "en")).toBe(expected);
  });

  it.each(["", "1e3", "0x10", " 1", "01", "1.0", "-", "NaN"])("%j is no integer and stays as it is", (text) => {
    expect(parseInteger(text)).toBeUndefined();
    expect(formatInteger(text, "en")).toBe(text);
  });

  it("a number past the exact range is refused, not rounded", () => {
    expect(parseInteger(2 ** 53)).toBeUndefined();
    expect(parseInteger(2 ** 53 - 1)).toBe(9007199254740991n);
  });

  it("neighbours past 2^53 are told apart", () => {
    expect(compareIntegers("9007199254740992", "9007199254740993")).toBe(-1);
    expect(compareIntegers("-1", "-2")).toBe(1);
    expect(compareIntegers("7", "7")).toBe(0);
    expect(compareIntegers("", "7")).toBe(1);
  });
});

describe("decimals", () => {
  it.each([
    ["12345678901234567890123456789012345678", "12,345,678,901,234,567,890,123,456,789,012,345,678"],
    ["-1234.5600", "-1,234.5600"],
    ["0.00000000000000000001", "0.00000000000000000001"],
    ["-0.5", "-0.5"],
    ["1e3", "1e3"],
  ])("%s keeps each digit", (value, expected) => {
    expect(formatDecimal(value, "en")).toBe(expected);
  });

  it("uses the marks of the locale", () => {
    expect(formatDecimal("1234.50", "de")).toBe("1.234,50");
  });
});

describe("measures", () => {
  it.each([
    [0.41234, "0.412"],
    [38.44, "38.4"],
    [12345.6, "12,346"],
    [0, "0"],
    [Number.NaN, "unknown"],
  ])("%d reads %s", (value, expected) => {
    expect(formatMeasure(value, 3, "en")).toBe(expected);
  });
});
