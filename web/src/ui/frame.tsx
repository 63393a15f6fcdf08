// The frame of the console: dark rail at the left, top bar, working area. Knows no routes: links come from outside.
import { type ComponentPropsWithRef, type ReactNode, useState } from "react";
import type { Environment } from "~/lib/environment";
import { IconButton } from "./button";
import { useModalDialog } from "./dialog";
import { EnvironmentBar, EnvironmentTag } from "./environment";
import styles from "./frame.module.css";
import { Icon } from "./icon";
import { Kbd } from "./kbd";
import { Logo } from "./logo";

interface FrameProps {
  readonly rail: ReactNode;
  /** Left part of the top bar: where this page is. */
  readonly crumb: ReactNode;
  /** Right part: ages, the search, menus. */
  readonly tools: ReactNode;
  /** Lines over the whole page. */
  readonly banners?: ReactNode;
  /** The cluster's; colours the bar on top. */
  readonly environment: Environment | undefined;
  readonly children: ReactNode;
}

export function Frame({ rail, crumb, tools, banners, environment, children }: FrameProps) {
  const [drawer, setDrawer] = useState(false);
  return (
    <div className={styles.app}>
      {/* A button, not a link to a fragment: the fragment of the address holds state. */}
      <button type="button" className={styles.skip} onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <div className={styles.rail} data-print="hide">
        {rail}
      </div>
      <div className={styles.column}>
        <EnvironmentBar environment={environment} />
        <header className={styles.top}>
          <span className={styles.menu}>
            <IconButton icon="menu" label="Open the navigation" onClick={() => setDrawer(true)} />
          </span>
          {crumb}
          <div className={styles["top-end"]}>{tools}</div>
        </header>
        {banners}
        <main id="main" className={styles.main} tabIndex={-1}>
          {children}
        </main>
      </div>
      {drawer && <Drawer onClose={() => setDrawer(false)}>{rail}</Drawer>}
    </div>
  );
}

function Drawer({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  const dialog = useModalDialog(onClose);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a link in it is followed by key as by click; Escape closes.
    <dialog
      ref={dialog}
      className={styles.drawer}
      aria-label="Navigation"
      onClick={(event) => {
        const target = event.target;
        if (target === dialog.current || (target instanceof Element && target.closest("a") !== null)) onClose();
      }}
    >
      <div className={styles.rail}>{children}</div>
    </dialog>
  );
}

/** The look of the link home; a router's link takes it as its class. */
export const railBrandClass = styles.brand;

/** Sign and name of the product, the content of the link home. */
export function BrandMark() {
  return (
    <>
      <Logo />
      Pegel
    </>
  );
}

/** A part of the rail; its children are links. */
export function RailGroup({ title, children }: { readonly title?: string | undefined; readonly children: ReactNode }) {
  return (
    <div className={styles.group}>
      {title !== undefined && <div className={styles["group-title"]}>{title}</div>}
      {children}
    </div>
  );
}

/** A count at the end of a link of the rail; `bad` where it needs someone. */
export function RailBadge({
  count,
  bad,
  what,
}: {
  readonly count: number;
  readonly bad?: boolean;
  readonly what: string;
}) {
  return (
    <span className={styles.badge} data-tone={bad ? "bad" : undefined} title={`${count} ${what}`}>
      {count}
    </span>
  );
}

interface RailClusterProps extends ComponentPropsWithRef<"button"> {
  readonly name: string;
  readonly environment: Environment | undefined;
}

/** The button that shows the cluster at hand and opens the choice. */
export function RailCluster({ name, environment, ...others }: RailClusterProps) {
  return (
    <button type="button" {...others} className={styles.switcher} data-environment={environment} title={name}>
      <span className={styles["switcher-text"]}>
        <span className={styles["switcher-name"]}>{name}</span>
        {environment !== undefined && <EnvironmentTag environment={environment} onRail />}
      </span>
      <Icon name="chevron-down" size={12} />
    </button>
  );
}

export function RailFoot({ children }: { readonly children: ReactNode }) {
  return <div className={styles["rail-foot"]}>{children}</div>;
}

/** Looks like a search field and opens the palette. */
export function JumpButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <button type="button" className={styles.jump} aria-keyshortcuts="Control+K Meta+K" onClick={onClick}>
      <Icon name="search" />
      <span className={styles["jump-text"]}>Search or jump to…</span>
      <span className={styles["jump-keys"]} aria-hidden="true">
        <Kbd keys="mod+k" />
      </span>
    </button>
  );
}
