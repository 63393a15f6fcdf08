import { type ReactNode, useId } from "react";
import { classes } from "~/lib/classes";
import styles from "./panel.module.css";

interface PanelProps {
  readonly title?: ReactNode;
  /** The unit of the figures, beside the title. */
  readonly unit?: string;
  /** Right end of the head: a state, an age, small buttons. */
  readonly side?: ReactNode;
  readonly foot?: ReactNode;
  /** No padding: for tables, which bring their own. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, unit, side, foot, flush, children }: PanelProps) {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={title === undefined ? undefined : id}>
      {(title !== undefined || side !== undefined) && (
        <div className={styles.head}>
          {title !== undefined && (
            <h2 id={id} className={styles.title}>
              {title}
            </h2>
          )}
          {unit !== undefined && <span className={styles.unit}>{unit}</span>}
          {side !== undefined && <div className={styles.side}>{side}</div>}
        </div>
      )}
      <div className={classes(styles.body, flush && styles.flush)}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </section>
  );
}
