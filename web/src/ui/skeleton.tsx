import styles from "./skeleton.module.css";
import { VisuallyHidden } from "./visually-hidden";

/** Stands for the content of a panel of the given height; seen only after 150 ms. */
export function Skeleton({ lines = 3, height }: { readonly lines?: number; readonly height?: number }) {
  return (
    <div aria-busy="true" style={height === undefined ? undefined : { minHeight: height }}>
      <VisuallyHidden>Loading</VisuallyHidden>
      <div className={styles.block} aria-hidden="true">
        {Array.from({ length: lines }, (_, line) => (
          <div key={line} className={styles.line} />
        ))}
      </div>
    </div>
  );
}
