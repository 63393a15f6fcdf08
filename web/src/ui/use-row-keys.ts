import type { KeyboardEvent as ReactKeyboardEvent, RefObject } from "react";
import { announce } from "./announce";
import { copyText } from "./clipboard";
import { type Hotkey, useHotkeys } from "./hotkeys";

interface RowKeysOptions<T> {
  /** As the list shows them, in its order. */
  readonly rows: readonly { readonly id: string; readonly original: T }[];
  readonly active: string | undefined;
  readonly setActive: (id: string) => void;
  readonly scroller: RefObject<HTMLElement | null>;
  /** Scrolls a row into the document that is not in it yet. */
  readonly bringIntoSight: RefObject<((index: number) => void) | undefined>;
  readonly onOpen: ((row: T) => void) | undefined;
  readonly copyOf: ((row: T) => string) | undefined;
  readonly pageKeys: boolean;
}

/** A row that was not in the document is there a few frames after it was scrolled to; a busy machine takes longer. */
const FRAMES_TO_WAIT = 60;

/** j, k, arrows, Home, End, Enter and y on the rows of a list. One row can be reached by Tab, the keys move from there. */
export function useRowKeys<T>(options: RowKeysOptions<T>) {
  const { rows, active, setActive, scroller, bringIntoSight, onOpen, copyOf, pageKeys } = options;
  const usable = onOpen !== undefined || copyOf !== undefined;
  const at = () => rows.findIndex((row) => row.id === active);

  const focusRow = (index: number) => {
    const place = Math.min(rows.length - 1, Math.max(0, index));
    const id = rows[place]?.id;
    if (id === undefined) return;
    setActive(id);
    const scroll = bringIntoSight.current;
    scroll?.(place);
    const focus = (frames: number) => {
      const element = scroller.current?.querySelector<HTMLElement>(`[data-row-id="${CSS.escape(id)}"]`);
      if (element) element.focus({ preventScroll: scroll !== undefined });
      else if (frames > 0) requestAnimationFrame(() => focus(frames - 1));
    };
    // At once where the row is there already: Enter may be the very next key.
    focus(FRAMES_TO_WAIT);
  };
  const move = (step: number) => focusRow(at() === -1 ? 0 : at() + step);
  const current = () => rows[at()]?.original;
  const open = () => {
    const row = current();
    if (row !== undefined) onOpen?.(row);
  };
  const copy = async () => {
    const row = current();
    if (row === undefined || copyOf === undefined) return;
    announce((await copyText(copyOf(row))) ? "Copied row" : "Could not copy the row");
  };

  const hotkeys: Hotkey[] = [
    { keys: "j", label: "Next row", group: "List", run: () => move(1) },
    { keys: "k", label: "Row before", group: "List", run: () => move(-1) },
  ];
  if (copyOf !== undefined) hotkeys.push({ keys: "y", label: "Copy row", group: "List", run: () => void copy() });
  useHotkeys(pageKeys && usable ? hotkeys : []);

  const onKeyDown = (event: ReactKeyboardEvent) => {
    const onRow = event.target instanceof HTMLElement && event.target.dataset.rowId !== undefined;
    if (!usable || !onRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = new Map([
      ["j", () => move(1)],
      ["ArrowDown", () => move(1)],
      ["k", () => move(-1)],
      ["ArrowUp", () => move(-1)],
      ["Home", () => focusRow(0)],
      ["End", () => focusRow(rows.length - 1)],
      ["Enter", open],
      ["y", () => void copy()],
    ]).get(event.key);
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  return { onKeyDown };
}
