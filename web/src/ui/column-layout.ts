// Which columns a person sees, how wide and in which order; kept in the browser under the name of the list.
import { useState } from "react";
import { createKeptStore, createStore, type Store } from "~/lib/store";
import { useStore } from "./use-store";

export interface ColumnLayout {
  readonly order: readonly string[];
  readonly hidden: readonly string[];
  readonly widths: Readonly<Record<string, number>>;
}

const PLAIN: ColumnLayout = { order: [], hidden: [], widths: {} };
const kept = new Map<string, Store<ColumnLayout>>();

function keptLayout(key: string): Store<ColumnLayout> {
  let store = kept.get(key);
  if (store === undefined) {
    store = createKeptStore(`pegel.columns.${key}`, PLAIN, readLayout);
    kept.set(key, store);
  }
  return store;
}

function readLayout(raw: unknown): ColumnLayout | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  const { order, hidden, widths } = raw as Record<string, unknown>;
  const texts = (list: unknown) => (Array.isArray(list) ? list.filter((item) => typeof item === "string") : []);
  const numbers = Object.entries(typeof widths === "object" && widths !== null ? widths : {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && Number.isFinite(entry[1]),
  );
  return { order: texts(order), hidden: texts(hidden), widths: Object.fromEntries(numbers) };
}

export interface ColumnLayoutControl {
  readonly layout: ColumnLayout;
  readonly change: (next: Partial<ColumnLayout>) => void;
  readonly reset: () => void;
  readonly changed: boolean;
}

/** The layout of a list; without a key it lasts as long as the list is shown. */
export function useColumnLayout(key: string | undefined): ColumnLayoutControl {
  const [own] = useState(() => createStore(PLAIN));
  const store = key === undefined ? own : keptLayout(key);
  const layout = useStore(store);
  return {
    layout,
    change: (next) => store.set((before) => ({ ...before, ...next })),
    reset: () => store.set(PLAIN),
    changed: layout.order.length > 0 || layout.hidden.length > 0 || Object.keys(layout.widths).length > 0,
  };
}

/** The columns in the kept order; columns that the kept order does not know (new ones) stay where they are declared. */
export function orderColumns(declared: readonly string[], order: readonly string[]): string[] {
  const known = order.filter((id) => declared.includes(id));
  const result = [...known];
  declared.forEach((id, index) => {
    if (known.includes(id)) return;
    const before = declared.slice(0, index).findLast((other) => result.includes(other));
    result.splice(before === undefined ? 0 : result.indexOf(before) + 1, 0, id);
  });
  return result;
}

/** The order with one column moved by one place. The first column stays first: it names the row. */
export function moveColumn(ids: readonly string[], id: string, step: -1 | 1): string[] {
  const from = ids.indexOf(id);
  const to = from + step;
  if (from < 1 || to < 1 || to >= ids.length) return [...ids];
  const next = ids.filter((other) => other !== id);
  next.splice(to, 0, id);
  return next;
}
