// State in the address. Search values are plain text (no JSON, no guessing of types), so links stay readable and an int64
// or a table called "true" survives. The fragment holds what must not reach a server or its logs: keys and predicates.

export type SearchValue = string | readonly string[];
export type SearchRecord = Readonly<Record<string, SearchValue>>;

/** Reads "?a=1&b=x&b=y": a name given twice becomes a list. */
export function parseSearch(search: string): Record<string, SearchValue> {
  const record: Record<string, SearchValue> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === "__proto__") continue;
    const before = record[name];
    record[name] = before === undefined ? value : [...(typeof before === "string" ? [before] : before), value];
  }
  return record;
}

/** Writes in the given order; undefined, null, false and empty lists are left out: the default needs no words. */
export function stringifySearch(record: Readonly<Record<string, unknown>>): string {
  const parameters: string[] = [];
  for (const [name, value] of Object.entries(record)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined || item === null || item === false) continue;
      parameters.push(`${encode(name)}=${encode(String(item))}`);
    }
  }
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

/** The names of a search that a page does not know: it says so instead of dropping them in silence. */
export function unknownNames(record: SearchRecord, known: readonly string[]): string[] {
  return Object.keys(record).filter((name) => !known.includes(name));
}

/** "-created_at" ↔ {id, descending}. */
export interface Sort {
  readonly id: string;
  readonly descending: boolean;
}

export function parseSort(text: string | undefined, allowed: readonly string[]): Sort | undefined {
  if (text === undefined) return undefined;
  const descending = text.startsWith("-");
  const id = descending ? text.slice(1) : text;
  return allowed.includes(id) ? { id, descending } : undefined;
}

export function formatSort(sort: Sort | undefined): string | undefined {
  return sort && `${sort.descending ? "-" : ""}${sort.id}`;
}

/** The version of the fragment's form; a link of another version is told apart, not misread. */
const FRAGMENT_VERSION = "1";

/** "#v=1&where=…" without the "#". */
export function stringifyFragment(record: SearchRecord): string {
  const text = stringifySearch(record).slice(1);
  return text === "" ? "" : `v=${FRAGMENT_VERSION}&${text}`;
}

export type Fragment =
  | { readonly kind: "state"; readonly state: SearchRecord }
  | { readonly kind: "other-version"; readonly version: string };

export function parseFragment(hash: string): Fragment {
  const { v: version, ...state } = parseSearch(hash.replace(/^#/, ""));
  if (version !== undefined && version !== FRAGMENT_VERSION) {
    return { kind: "other-version", version: String(version) };
  }
  return { kind: "state", state };
}

/** Like encodeURIComponent, but leaves readable what is safe in a query: / : , @ and spaces as "+". */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/%(2F|3A|2C|40|24)/g, (code) => decodeURIComponent(code))
    .replaceAll("%20", "+");
}
