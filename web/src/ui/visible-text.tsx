import { Fragment } from "react";
import { visibleSegments } from "~/lib/visible";
import styles from "./values.module.css";

/**
 * Text whose hidden characters are drawn as small marks. A selection copies the text as it is. Isolated from the direction of
 * what stands around it.
 */
export function VisibleText({ text }: { readonly text: string }) {
  const segments = visibleSegments(text);
  return (
    <bdi>
      {segments.map((segment, index) =>
        segment.kind === "text" ? (
          <Fragment key={index}>{segment.text}</Fragment>
        ) : (
          <span
            key={index}
            className={styles.mark}
            data-label={segment.label}
            title={segment.name}
            role="img"
            aria-label={segment.name}
          >
            <span className={styles.raw}>{segment.text}</span>
          </span>
        ),
      )}
    </bdi>
  );
}
