import { describe, expect, it } from "vitest";
import { covers, reasonNotAllowed, splitPatterns } from "./grants";

describe("a grant", () => {
  it.each([
    [["pegel.*.*"], "pegel.users.read", true],
    [["pegel.users.read"], "pegel.users.write", false],
    [["pegel.*"], "pegel.users.read", false],
    [["fluss-plugin.*.*.*"], "fluss-plugin.operations.catalog.read", true],
    [["*"], "pegel.users.read", false],
    [[], "pegel.users.read", false],
  ])("%j covers %s: %s", (grants, permission, expected) => {
    expect(covers(grants, permission)).toBe(expected);
  });

  it("that is missing is named", () => {
    expect(reasonNotAllowed([], "pegel.users.write")).toContain("pegel.users.write");
    expect(reasonNotAllowed(["pegel.*.write"], "pegel.users.write")).toBeUndefined();
  });

  it("is typed with any blanks between, each once", () => {
    expect(splitPatterns(" pegel.a.read,\n pegel.b.read pegel.a.read ")).toEqual(["pegel.a.read", "pegel.b.read"]);
  });
});
