import { type KeyboardEvent, type ReactElement, useId, useRef } from "react";
import { classes } from "~/lib/classes";
import { showFloat, useFloat } from "./floating";
import styles from "./floating.module.css";
import type { FloatTrigger } from "./popover";

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly run?: () => void;
  /** A link instead of an action. */
  readonly href?: string;
  /** Marks the current one of a choice. */
  readonly current?: boolean;
  /** In grey at the end. */
  readonly hint?: string;
  readonly disabledReason?: string | undefined;
}

export interface MenuGroup {
  readonly id: string;
  readonly label?: string;
  readonly entries: readonly MenuEntry[];
}

interface DropdownMenuProps {
  readonly label: string;
  readonly trigger: (props: FloatTrigger & { readonly "aria-haspopup": "menu" }) => ReactElement;
  readonly groups: readonly MenuGroup[];
  readonly end?: boolean;
}

/** A button with a menu. Arrow keys, Home, End and first letters move; Escape closes and gives the focus back. */
export function DropdownMenu({ label, trigger, groups, end = false }: DropdownMenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLButtonElement>(null);
  const placement = end ? "below-end" : "below-start";
  const open = useFloat(menu, anchor, placement);
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  const toggle = () => {
    if (open) {
      menu.current?.hidePopover();
      return;
    }
    showFloat(menu.current, anchor.current, placement);
    const all = items();
    (all.find((item) => item.ariaChecked === "true") ?? all[0])?.focus();
  };
  const close = () => menu.current?.hidePopover();

  const onKeyDown = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const target = nextItem(event.key, all, at);
    if (event.key === "Tab") close();
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
  };

  return (
    <>
      {trigger({ ref: anchor, "aria-expanded": open, "aria-controls": id, "aria-haspopup": "menu", onClick: toggle })}
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        className={classes(styles.float, styles.menu)}
        onKeyDown={onKeyDown}
      >
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of menu items, not of form fields.
          <div key={group.id} role="group" aria-label={group.label} className={styles["menu-group"]}>
            {group.label !== undefined && (
              <div className={styles["menu-label"]} aria-hidden="true">
                {group.label}
              </div>
            )}
            {group.entries.map((entry) => (
              <MenuItem key={entry.id} entry={entry} onDone={close} />
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

function nextItem(key: string, all: readonly HTMLElement[], at: number): HTMLElement | undefined {
  switch (key) {
    case "ArrowDown":
      return all[(at + 1) % all.length];
    case "ArrowUp":
      return all[(at - 1 + all.length) % all.length];
    case "Home":
      return all[0];
    case "End":
      return all.at(-1);
    default: {
      if (key.length !== 1 || key === " ") return undefined;
      const after = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      return after.find((item) => item.dataset.label?.toLowerCase().startsWith(key.toLowerCase()));
    }
  }
}

function MenuItem({ entry, onDone }: { readonly entry: MenuEntry; readonly onDone: () => void }) {
  const blocked = entry.disabledReason !== undefined;
  const shared = {
    className: styles.item,
    tabIndex: -1,
    "data-label": entry.label,
    "aria-disabled": blocked ? true : undefined,
    title: entry.disabledReason,
  } as const;
  const content = (
    <>
      {entry.current !== undefined && (
        <span className={styles["item-check"]} aria-hidden="true">
          {entry.current ? "●" : ""}
        </span>
      )}
      {entry.label}
      {entry.hint !== undefined && <span className={styles["item-end"]}>{entry.hint}</span>}
    </>
  );
  const run = () => {
    if (blocked) return;
    onDone();
    entry.run?.();
  };
  if (entry.href !== undefined) {
    return (
      <a {...shared} role="menuitem" href={entry.href} onClick={onDone}>
        {content}
      </a>
    );
  }
  return entry.current === undefined ? (
    <button type="button" {...shared} role="menuitem" onClick={run}>
      {content}
    </button>
  ) : (
    <button type="button" {...shared} role="menuitemradio" aria-checked={entry.current} onClick={run}>
      {content}
    </button>
  );
}
