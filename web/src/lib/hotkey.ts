// Keys: "mod+k", "?", "g c" (one after the other), "shift+ArrowUp". Pure: the listener is in the user interface.

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** How long the second key of a pair may take. */
export const SEQUENCE_MS = 1200;

/** The key press in the notation above; Ctrl and ⌘ are both "mod". Shift counts only where the key is no character. */
export function pressName(press: KeyPress): string {
  const parts: string[] = [];
  if (press.ctrlKey || press.metaKey) parts.push("mod");
  if (press.altKey) parts.push("alt");
  if (press.shiftKey && press.key.length > 1) parts.push("shift");
  parts.push(press.key.length === 1 ? press.key.toLowerCase() : press.key);
  return parts.join("+");
}

export type Step<T> = { readonly found: T } | { readonly pending: string } | undefined;

/** One step of matching: `pending` is the first key of a pair, if one was pressed within SEQUENCE_MS. */
export function matchKeys<T>(bindings: ReadonlyMap<string, T>, pending: string | undefined, press: KeyPress): Step<T> {
  const name = pressName(press);
  if (pending !== undefined) {
    const pair = bindings.get(`${pending} ${name}`);
    if (pair !== undefined) return { found: pair };
  }
  const single = bindings.get(name);
  if (single !== undefined) return { found: single };
  for (const keys of bindings.keys()) {
    if (keys.startsWith(`${name} `)) return { pending: name };
  }
  return undefined;
}

/** The caps to draw: ["Ctrl", "K"], ["g", "c"]. */
export function keyCaps(keys: string, apple: boolean): string[] {
  return keys.split(" ").flatMap((step) => step.split("+").map((part) => capName(part, apple)));
}

function capName(part: string, apple: boolean): string {
  const names: Record<string, string> = {
    mod: apple ? "⌘" : "Ctrl",
    alt: apple ? "⌥" : "Alt",
    shift: "Shift",
    Enter: "↵",
    Escape: "Esc",
    ArrowUp: "↑",
    ArrowDown: "↓",
    ArrowLeft: "←",
    ArrowRight: "→",
  };
  return names[part] ?? part;
}
