// Keys of the page. Each is declared where it acts and is listed in the help sheet as long as it does.
import { useEffect, useEffectEvent } from "react";
import { matchKeys, SEQUENCE_MS } from "~/lib/hotkey";
import { createStore } from "~/lib/store";
import { useStore } from "./use-store";

export interface Hotkey {
  readonly keys: string;
  /** What it does, for the help sheet. */
  readonly label: string;
  /** The heading in the help sheet. */
  readonly group: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Also while typing (only for keys with Ctrl or ⌘, and Escape). */
  readonly whileTyping?: boolean;
}

const active = createStore<readonly Hotkey[]>([]);

let pending: { key: string; until: number } | undefined;

function onKeyDown(event: KeyboardEvent) {
  if (event.defaultPrevented || event.isComposing) return;
  const typing = isTyping(event.target);
  const modal = document.querySelector("dialog[open]:modal") !== null;
  // Later ones win, so that a part of a page can take over a key of the whole.
  const bindings = new Map<string, Hotkey>();
  for (const hotkey of active.get()) {
    if ((!typing || hotkey.whileTyping === true) && !modal) bindings.set(hotkey.keys, hotkey);
  }
  const first = pending !== undefined && event.timeStamp < pending.until ? pending.key : undefined;
  pending = undefined;
  const step = matchKeys(bindings, first, event);
  if (step === undefined) return;
  if ("pending" in step) {
    pending = { key: step.pending, until: event.timeStamp + SEQUENCE_MS };
    return;
  }
  event.preventDefault();
  step.found.run(event);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "range"].includes(target.type)
  );
}

function add(hotkeys: readonly Hotkey[]): () => void {
  if (active.get().length === 0) document.addEventListener("keydown", onKeyDown);
  active.set((before) => [...before, ...hotkeys]);
  return () => {
    active.set((before) => before.filter((hotkey) => !hotkeys.includes(hotkey)));
    if (active.get().length === 0) document.removeEventListener("keydown", onKeyDown);
  };
}

/** Declares keys for as long as the component is shown. */
export function useHotkeys(hotkeys: readonly Hotkey[]): void {
  const run = useEffectEvent((keys: string, event: KeyboardEvent) => {
    hotkeys.find((hotkey) => hotkey.keys === keys)?.run(event);
  });
  const signature = JSON.stringify(
    hotkeys.map(({ keys, label, group, whileTyping }) => ({ keys, label, group, whileTyping })),
  );
  useEffect(() => {
    const declared = JSON.parse(signature) as Omit<Hotkey, "run">[];
    return add(declared.map((hotkey) => ({ ...hotkey, run: (event: KeyboardEvent) => run(hotkey.keys, event) })));
  }, [signature]);
}

/** All keys that act now, in the order in which they were declared. */
export function useActiveHotkeys(): readonly Hotkey[] {
  return useStore(active);
}
