import type { ReactNode } from "react";
import styles from "./visually-hidden.module.css";

/** Text for readers of screens only. */
export function VisuallyHidden({ children }: { readonly children: ReactNode }) {
  return <span className={styles.root}>{children}</span>;
}
