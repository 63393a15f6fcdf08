import { CopyButton } from "./copy-button";
import styles from "./diff.module.css";
import { VisibleText } from "./visible-text";

export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

const SIGNS = { same: "  ", removed: "− ", added: "+ " } as const;

/** A plan as a diff: what is there, what goes, what comes. */
export function Diff({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label: string }) {
  return (
    <ul className={styles.diff} aria-label={label}>
      {lines.map((line, index) => (
        <li key={index} className={styles.line} data-kind={line.kind}>
          {SIGNS[line.kind]}
          <VisibleText text={line.text} />
        </li>
      ))}
    </ul>
  );
}

/** The exact phrase of a mutation, read-only. */
export function Phrase({ children }: { readonly children: string }) {
  return (
    <div className={styles.phrase}>
      <VisibleText text={children} />
      <CopyButton text={children} what="phrase" />
    </div>
  );
}
