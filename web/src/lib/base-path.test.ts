import { expect, it } from "vitest";
import { basePath } from "./base-path";

it.each([
  ["https://pegel.example/", ""],
  ["https://pegel.example/console/", "/console"],
  ["https://pegel.example/a/b/?x=1#y", "/a/b"],
])("%s is served under %j", (uri, expected) => {
  expect(basePath(uri)).toBe(expected);
});
