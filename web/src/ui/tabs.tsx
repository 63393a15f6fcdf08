import { type ReactNode, useRef } from "react";
import { useHotkeys } from "./hotkeys";
import styles from "./tabs.module.css";

/**
 * Tabs that are pages: a row of links, `[` and `]` go to the one before and after. The router marks the current link with
 * aria-current="page".
 */
export function TabLinks({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const nav = useRef<HTMLElement>(null);
  const go = (step: 1 | -1) => {
    const links = [...(nav.current?.querySelectorAll<HTMLElement>("a[href]") ?? [])];
    const at = links.findIndex((link) => link.getAttribute("aria-current") === "page");
    links[(at + step + links.length) % links.length]?.click();
  };
  useHotkeys([
    { keys: "[", label: "Tab before", group: "Page", run: () => go(-1) },
    { keys: "]", label: "Next tab", group: "Page", run: () => go(1) },
  ]);
  return (
    <nav ref={nav} aria-label={label} className={styles.tabs}>
      {children}
    </nav>
  );
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly tabs: readonly { readonly value: T; readonly label: ReactNode }[];
  /** The id of the element that shows the chosen tab's content. */
  readonly controls: string;
}

/** Tabs within a panel or a dialog, whose choice is no page of its own. Arrow keys move. */
export function Tabs<T extends string>({ label, value, onChange, tabs, controls }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab === undefined) return;
    onChange(tab.value);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div ref={list} role="tablist" aria-label={label} className={styles.tabs}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          aria-selected={tab.value === value}
          aria-controls={controls}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onChange(tab.value)}
          onKeyDown={(event) => {
            if (event.key === "ArrowRight") move(1);
            else if (event.key === "ArrowLeft") move(-1);
          }}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
