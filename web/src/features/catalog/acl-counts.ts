import type { Acl } from "~/api/catalog";

export interface AclCounts {
  readonly entries: number;
  readonly principals: number;
  readonly resources: number;
  /** Entries that allow every operation. */
  readonly allOperations: number;
}

/** The figures above the list; of the entries that were listed. */
export function aclCounts(acls: readonly Acl[]): AclCounts {
  return {
    entries: acls.length,
    principals: new Set(acls.map((acl) => JSON.stringify([acl.principal_type, acl.principal_name]))).size,
    resources: new Set(acls.map((acl) => JSON.stringify([acl.resource_type, acl.resource_name]))).size,
    allOperations: acls.filter((acl) => /^(all|any)$/i.test(acl.operation)).length,
  };
}

export function aclId(acl: Acl): string {
  return JSON.stringify(acl);
}
