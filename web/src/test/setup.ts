import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(() => {
  cleanup();
  // Tests of files run without a browser.
  globalThis.localStorage?.clear();
});
