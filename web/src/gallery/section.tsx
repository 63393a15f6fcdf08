import type { ReactNode } from "react";
import styles from "./gallery.module.css";

export function Section({
  title,
  wide,
  children,
}: {
  readonly title: string;
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <section className={styles.section} aria-label={title} id={title.toLowerCase().replaceAll(" ", "-")}>
      <h2>{title}</h2>
      <div className={wide ? styles.wide : styles.grid}>{children}</div>
    </section>
  );
}

export function Flow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.flow}>{children}</div>;
}

export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}
