import type { Envelope, Evidence } from "~/api/envelope";
import type { components } from "~/api/schema";
import { sentence } from "~/lib/sentence";
import { CopyButton } from "~/ui/copy-button";
import { Panel } from "~/ui/panel";
import type { StateName } from "~/ui/state";
import { StateChip } from "~/ui/state-chip";
import { Duration } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import styles from "./registration.module.css";

type ConnectionTest = components["schemas"]["ConnectionTest"];

const VERDICTS: Readonly<Record<ConnectionTest["verdict"], readonly [StateName, string]>> = {
  passed: ["ok", "passed"],
  degraded: ["risk", "passed, not in full"],
  failed: ["critical", "failed"],
};

const STEPS: Readonly<Record<Evidence["state"], StateName>> = { ok: "ok", failed: "critical", skipped: "unknown" };
const STEP_WORDS: Readonly<Record<Evidence["state"], string>> = { ok: "ok", failed: "failed", skipped: "not tried" };

/** What a connection test found, step by step. */
export function ConnectionFindings({ envelope }: { readonly envelope: Envelope<ConnectionTest> }) {
  const { data } = envelope;
  const [state, word] = data ? VERDICTS[data.verdict] : (["unavailable", "no result"] as const);
  return (
    <Panel
      title="Connection test"
      side={
        <>
          <StateChip state={state}>{word}</StateChip>
          <CopyButton text={() => JSON.stringify(envelope, undefined, 2)} what="findings as JSON">
            Copy as JSON
          </CopyButton>
        </>
      }
    >
      <div role="status">
        {data && (
          <p>
            {data.ok_count} steps worked, {data.failed_count} failed, {data.skipped_count} were not tried
            {data.server_line ? `; servers of Fluss ${data.server_line}` : ""}
            {typeof data.tablet_servers_registered_count === "number"
              ? `; ${data.tablet_servers_alive_count} of ${data.tablet_servers_registered_count} tablet servers answer`
              : ""}
            .
          </p>
        )}
        {envelope.warnings.map((warning) => (
          <p key={warning}>
            <StateChip state="risk">note</StateChip> {sentence(warning)}
          </p>
        ))}
      </div>
      <ol className={styles.findings}>
        {envelope.evidence.map((piece, index) => (
          <li key={index}>
            <span>
              <StateChip state={STEPS[piece.state]}>{STEP_WORDS[piece.state]}</StateChip> <b>{piece.check}</b>{" "}
              {piece.subject && (
                <code>
                  <VisibleText text={piece.subject} />
                </code>
              )}{" "}
              {typeof piece.duration_ms === "number" && <Duration ms={piece.duration_ms} />}
            </span>
            <span className={styles.finding}>
              {sentence(piece.message)} {piece.code && <code>{piece.code}</code>}{" "}
              {piece.hint && <b>{sentence(piece.hint)}</b>}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
