import { expect, it } from "vitest";
import { outcomeState } from "./audit-outcome";

it.each([
  ["ok", "ok"],
  ["permission_denied", "refused"],
  ["connection_test_failed", "critical"],
  ["commit_unknown", "outcome_unknown"],
])("the outcome %s is %s", (outcome, state) => {
  expect(outcomeState(outcome)).toBe(state);
});
