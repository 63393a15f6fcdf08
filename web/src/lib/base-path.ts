/** The path under which the console is served, from `<base href>`: "" at the root, else "/console". */
export function basePath(baseUri: string): string {
  return new URL(".", baseUri).pathname.replace(/\/$/, "");
}
