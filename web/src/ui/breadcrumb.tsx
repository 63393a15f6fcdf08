import type { ReactNode } from "react";
import styles from "./breadcrumb.module.css";

/** Where this page is; `links` are ready-made links (the router's), the last crumb is the page itself. */
export function Breadcrumb({ links, current }: { readonly links: readonly ReactNode[]; readonly current: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb">
      <ol className={styles.list}>
        {links.map((link, index) => (
          <li key={index} className={styles.item}>
            {link}
          </li>
        ))}
        <li className={styles.item}>
          <span className={styles.current} aria-current="page">
            {current}
          </span>
        </li>
      </ol>
    </nav>
  );
}
