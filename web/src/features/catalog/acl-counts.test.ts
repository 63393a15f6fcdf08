import { expect, it } from "vitest";
import type { Acl } from "~/api/catalog";
import { aclCounts } from "./acl-counts";

const acl = (principal_name: string, resource_name: string, operation: string): Acl => ({
  principal_type: "User",
  principal_name,
  resource_type: "TABLE",
  resource_name,
  operation,
  permission: "ALLOW",
  host: "*",
});

it("counts principals and resources once each, and the entries that allow all", () => {
  expect(aclCounts([acl("ann", "a.b", "READ"), acl("ann", "a.b", "WRITE"), acl("bob", "*", "ALL")])).toEqual({
    entries: 3,
    principals: 2,
    resources: 2,
    allOperations: 1,
  });
});
