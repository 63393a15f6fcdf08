import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button";
import { useHotkeys } from "./hotkeys";
import styles from "./side-panel.module.css";

/** A list with a sheet at its right; on a narrow screen the sheet lies over the list. */
export function WithSidePanel({ panel, children }: { readonly panel: ReactNode; readonly children: ReactNode }) {
  const open = panel !== undefined && panel !== null && panel !== false;
  return (
    <div className={styles.layout} data-open={open ? "" : undefined}>
      <div>{children}</div>
      {panel}
    </div>
  );
}

interface SidePanelProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  /** Small buttons beside the title. */
  readonly tools?: ReactNode;
  readonly foot?: ReactNode;
  /** Changes with what is shown: the focus moves to the title when it does. */
  readonly focusKey?: string;
  readonly children: ReactNode;
}

/** The detail of one row. The list beside it stays in use; Escape closes the sheet and gives the focus back. */
export function SidePanel({ title, onClose, tools, foot, focusKey, children }: SidePanelProps) {
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useHotkeys([{ keys: "Escape", label: "Close the details", group: "Details", run: onClose }]);
  useEffect(() => {
    const opener = document.activeElement;
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  useEffect(() => {
    if (focusKey !== undefined) heading.current?.focus({ preventScroll: true });
  }, [focusKey]);
  return (
    <aside className={styles.panel} aria-labelledby={titleId}>
      <div className={styles.head}>
        <h2 id={titleId} ref={heading} className={styles.title} tabIndex={-1}>
          {title}
        </h2>
        {tools}
        <IconButton icon="close" size="small" label="Close details" onClick={onClose} />
      </div>
      <div className={styles.body}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </aside>
  );
}
