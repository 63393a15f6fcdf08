import type { ReactNode } from "react";
import styles from "./key-value.module.css";

/** Names at the left, values at the right. */
export function KeyValue({ items }: { readonly items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.list}>
      {items.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
