import { useState } from "react";
import styles from "./command-line.module.css";
import { CopyButton } from "./copy-button";
import { Segmented } from "./segmented";

interface CommandLineProps {
  /** The `pegel` line of what is seen; left out where no command does it. */
  readonly cli?: string | undefined;
  readonly curl: string;
  /** The variable of the shell by which curl is let in. */
  readonly token?: string;
  /** The other variables that hold secrets of the line. */
  readonly variables?: readonly string[];
}

/** What is on the screen as a line for a terminal. Lines hold no secret: the token is a variable of the reader's shell. */
export function CommandLine({ cli, curl, token = "PEGEL_TOKEN", variables = [] }: CommandLineProps) {
  const [wanted, setForm] = useState<"cli" | "curl">("cli");
  const form = cli === undefined ? "curl" : wanted;
  const text = form === "cli" ? cli : curl;
  const from = [...(form === "curl" ? [token] : []), ...variables].map((name) => `$${name}`);
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        <Segmented
          label="Form of the line"
          size="small"
          value={form}
          onChange={setForm}
          options={[
            {
              value: "cli",
              label: "as CLI",
              ...(cli === undefined ? { disabledReason: "No command does this: use curl" } : {}),
            },
            { value: "curl", label: "as curl" },
          ]}
        />
        <span className={styles.end}>
          {from.length > 0 && <span className={styles.note}>secrets from {from.join(", ")}</span>}
          <CopyButton text={text ?? ""} what={form === "cli" ? "command line" : "curl line"}>
            Copy
          </CopyButton>
        </span>
      </div>
      <pre className={styles.text}>{text}</pre>
    </div>
  );
}
