import type { ReactNode } from "react";
import styles from "./page-title.module.css";

interface PageTitleProps {
  /** A short sentence that says the news: "3 clusters, one needs you". Not a label. */
  readonly children: ReactNode;
  readonly sub?: ReactNode;
  readonly actions?: ReactNode;
}

/** The heading of a page. Takes the focus after a change of page, so that readers of screens hear where they are. */
export function PageTitle({ children, sub, actions }: PageTitleProps) {
  return (
    <div className={styles.row}>
      <h1 className={styles.title} tabIndex={-1} data-page-title="">
        {children}
      </h1>
      {sub !== undefined && <span className={styles.sub}>{sub}</span>}
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
