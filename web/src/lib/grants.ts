// What a grant covers: dotted patterns in which `*` stands for exactly one segment. Only tells what to offer; the server decides.

/** Whether one of the patterns covers the permission. */
export function covers(grants: readonly string[], permission: string): boolean {
  const wanted = permission.split(".");
  return grants.some((grant) => {
    const given = grant.split(".");
    return given.length === wanted.length && given.every((part, index) => part === "*" || part === wanted[index]);
  });
}

/** Why something is not offered, or undefined where it is. */
export function reasonNotAllowed(grants: readonly string[], permission: string): string | undefined {
  return covers(grants, permission) ? undefined : `Needs ${permission}; an administrator can grant it`;
}

/** Patterns as people type them: by spaces, commas or lines. */
export function splitPatterns(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((part) => part !== ""))];
}
