import { type ReactNode, useEffect, useId, useRef } from "react";
import type { Environment } from "~/lib/environment";
import { IconButton } from "./button";
import styles from "./dialog.module.css";
import { EnvironmentBar, EnvironmentTag } from "./environment";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What it acts on: cluster, table. With the environment on top of each dialog that changes something. */
  readonly target?: ReactNode;
  readonly environment?: Environment;
  readonly foot?: ReactNode;
  readonly size?: "narrow" | "normal" | "wide";
  /** A step that must not be left by a key or a click beside it (a mutation in flight). */
  readonly locked?: boolean;
  readonly children: ReactNode;
}

/**
 * A modal dialog on the browser's own <dialog>: the page under it cannot be reached, Escape closes, the focus goes back to
 * where it was. Mount it to open it.
 */
export function Dialog({
  title,
  onClose,
  target,
  environment,
  foot,
  size = "normal",
  locked = false,
  children,
}: DialogProps) {
  const titleId = useId();
  const dialog = useModalDialog(onClose, locked);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is on the shade; Escape does the same.
    <dialog
      ref={dialog}
      className={styles.dialog}
      data-size={size}
      aria-labelledby={titleId}
      onClick={(event) => {
        if (event.target === dialog.current && !locked) onClose();
      }}
    >
      <EnvironmentBar environment={environment} />
      <div className={styles.head}>
        <div className={styles.titles}>
          {/* biome-ignore lint/a11y/noAutofocus: the title is read out before any button can be pressed. */}
          <h2 id={titleId} className={styles.title} tabIndex={-1} autoFocus>
            {title}
          </h2>
          {target !== undefined && (
            <div className={styles.target}>
              {target}
              {environment !== undefined && <EnvironmentTag environment={environment} />}
            </div>
          )}
        </div>
        {!locked && <IconButton icon="close" label="Close" onClick={onClose} />}
      </div>
      <div className={styles.body}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </dialog>
  );
}

/** Opens the dialog element as a modal one while it is mounted. */
export function useModalDialog(onClose: () => void, locked = false) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    if (element !== null && !element.open) element.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  useEffect(() => {
    const element = dialog.current;
    const onCancel = (event: Event) => {
      event.preventDefault();
      if (!locked) onClose();
    };
    element?.addEventListener("cancel", onCancel);
    return () => element?.removeEventListener("cancel", onCancel);
  }, [onClose, locked]);
  return dialog;
}
