import { useState } from "react";
import styles from "./command-line.module.css";
import { CopyButton } from "./copy-button";
import { Segmented } from "./segmented";

interface CommandLineProps {
  /** The `pegel` line of what is seen. */
  readonly cli: string;
  readonly curl: string;
}

/** What is on the screen as a line for a terminal. Lines hold no secret: the token is a variable of the reader's shell. */
export function CommandLine({ cli, curl }: CommandLineProps) {
  const [form, setForm] = useState<"cli" | "curl">("cli");
  const text = form === "cli" ? cli : curl;
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        <Segmented
          label="Form of the line"
          size="small"
          value={form}
          onChange={setForm}
          options={[
            { value: "cli", label: "as CLI" },
            { value: "curl", label: "as curl" },
          ]}
        />
        <span className={styles.end}>
          {form === "curl" && <span className={styles.note}>token from $PEGEL_TOKEN</span>}
          <CopyButton text={text} what={form === "cli" ? "command line" : "curl line"}>
            Copy
          </CopyButton>
        </span>
      </div>
      <pre className={styles.text}>{text}</pre>
    </div>
  );
}
