import { type ReactNode, useEffect, useState } from "react";
import { createStore } from "~/lib/store";
import { IconButton } from "./button";
import type { StateName } from "./state";
import { STATES } from "./state";
import { StateChip } from "./state-chip";
import styles from "./toast.module.css";
import { useStore } from "./use-store";

export interface ToastContent {
  readonly state: StateName;
  readonly title: string;
  readonly detail?: ReactNode;
  /** One next step: a link or a small button. */
  readonly action?: ReactNode;
}

interface Toast extends ToastContent {
  readonly id: number;
}

/** Bad news and open outcomes stay until they are closed; the rest goes by itself. */
const SHOWN_MS = 6000;
const MOST = 4;

const toasts = createStore<readonly Toast[]>([]);
let last = 0;

export function showToast(content: ToastContent): void {
  last += 1;
  const toast = { ...content, id: last };
  toasts.set((before) => [...before.slice(1 - MOST), toast]);
}

export function closeToast(id: number): void {
  toasts.set((before) => before.filter((toast) => toast.id !== id));
}

/** The stack at the lower right; the application frame holds it. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <section className={styles.stack} aria-label="Notifications" aria-live="polite" data-print="hide">
      {shown.map((toast) => (
        <ToastItem key={toast.id} content={toast} onClose={() => closeToast(toast.id)} />
      ))}
    </section>
  );
}

export function ToastItem({ content, onClose }: { readonly content: ToastContent; readonly onClose: () => void }) {
  const [held, setHeld] = useState(false);
  const stays = content.state !== "ok";
  useEffect(() => {
    if (stays || held) return;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [stays, held, onClose]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only holds the clock while it is read.
    <div
      className={styles.toast}
      data-tone={STATES[content.state].tone}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div className={styles.text}>
        <span className={styles.title}>{content.title}</span>
        {content.detail !== undefined && <span className={styles.detail}>{content.detail}</span>}
        {content.action !== undefined && <span className={styles.action}>{content.action}</span>}
      </div>
      <StateChip state={content.state} />
      <IconButton icon="close" size="small" label={`Close: ${content.title}`} onClick={onClose} />
    </div>
  );
}
