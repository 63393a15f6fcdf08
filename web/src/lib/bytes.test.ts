import { describe, expect, it } from "vitest";
import { exactBytes, formatBytes } from "./bytes";

describe("sizes", () => {
  it.each([
    ["0", "0 B"],
    ["1023", "1,023 B"],
    ["1024", "1 KiB"],
    ["1536", "1.5 KiB"],
    ["40265318", "38.4 MiB"],
    ["117440512", "112 MiB"],
    ["1073741823", "1 GiB"],
    ["9223372036854775807", "8 EiB"],
    ["-2048", "-2 KiB"],
    ["many", "many"],
  ])("%s bytes read %s", (value, expected) => {
    expect(formatBytes(value, "en")).toBe(expected);
  });

  it("the exact figure has each digit and the right word", () => {
    expect(exactBytes("9223372036854775807", "en")).toBe("9,223,372,036,854,775,807 bytes");
    expect(exactBytes(1, "en")).toBe("1 byte");
  });
});
