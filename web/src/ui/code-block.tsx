import { useMemo, useState } from "react";
import { classes } from "~/lib/classes";
import { indentJson, jsonTokens } from "~/lib/json";
import styles from "./code-block.module.css";
import { CopyButton } from "./copy-button";
import { SearchInput } from "./search-input";
import { VisibleText } from "./visible-text";

/** Text as it is, with a copy button. */
export function CodeBlock({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard. */}
      <figure className={styles.text} tabIndex={0} aria-label={what}>
        <pre>{text}</pre>
      </figure>
      <div className={styles.copy}>
        <CopyButton text={text} what={what} />
      </div>
    </div>
  );
}

interface JsonViewProps {
  /** JSON as text, so that no digit is lost; other text is shown as it is. */
  readonly text: string;
  readonly what: string;
  /** A search field above: finds in keys and values. */
  readonly searchable?: boolean;
  /** Without frame, for cells of a sheet. */
  readonly bare?: boolean;
}

export function JsonView({ text, what, searchable, bare }: JsonViewProps) {
  const [typed, setTyped] = useState("");
  const pretty = useMemo(() => indentJson(text), [text]);
  const tokens = useMemo(() => jsonTokens(pretty), [pretty]);
  const wanted = typed.trim().toLowerCase();
  const isHit = (part: string) => wanted !== "" && part.toLowerCase().includes(wanted);
  const hits = wanted === "" ? 0 : (tokens ?? []).filter((token) => token.kind !== "space" && isHit(token.text)).length;
  return (
    <div>
      {searchable && (
        <div className={styles.tools}>
          <SearchInput label="Search in the value" value={typed} onChange={setTyped} />
          {wanted !== "" && <span role="status">{hits === 1 ? "1 place" : `${hits} places`}</span>}
        </div>
      )}
      <div className={classes(styles.block, bare && styles.bare)}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard. */}
        <figure className={styles.text} tabIndex={0} aria-label={what}>
          <pre>
            {tokens === undefined ? (
              <VisibleText text={text} />
            ) : (
              tokens.map((token, index) => (
                <span
                  key={index}
                  className={classes(styles[token.kind], token.kind !== "space" && isHit(token.text) && styles.hit)}
                >
                  {token.text}
                </span>
              ))
            )}
          </pre>
        </figure>
        {!bare && (
          <div className={styles.copy}>
            <CopyButton text={text} what={what} />
          </div>
        )}
      </div>
    </div>
  );
}
