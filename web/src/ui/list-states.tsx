// What a list or a panel shows when it has no rows, or not all. Each state has its own words and its own next action; none of
// them may stand for another: empty is not unavailable, and unknown is not zero.
import type { ReactNode } from "react";
import { formatAge, formatDuration } from "~/lib/age";
import { instantMs } from "~/lib/instant";
import { Button } from "./button";
import { CopyButton } from "./copy-button";
import { Icon, type IconName } from "./icon";
import styles from "./list-states.module.css";
import { StateChip } from "./state-chip";
import { useNow } from "./use-now";

type Kind = "empty" | "filtered-empty" | "denied" | "unavailable" | "unsupported";

interface PlainStateProps {
  readonly kind: Kind;
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  readonly compact?: boolean | undefined;
}

function PlainState({ kind, icon, title, children, actions, compact }: PlainStateProps) {
  return (
    <div
      className={styles.state}
      data-kind={kind}
      data-compact={compact ? "" : undefined}
      role={kind === "unavailable" ? "alert" : undefined}
    >
      <span className={styles.picture}>
        <Icon name={icon} />
      </span>
      <p className={styles.title}>{title}</p>
      {children !== undefined && <div className={styles.text}>{children}</div>}
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

interface EmptyProps {
  /** "No tables yet": nothing is there, and that is known. */
  readonly title: string;
  /** How the first one comes to be. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly compact?: boolean;
}

export function EmptyState({ title, children, action, compact }: EmptyProps) {
  return (
    <PlainState kind="empty" icon="empty" title={title} actions={action} compact={compact}>
      {children}
    </PlainState>
  );
}

interface FilteredEmptyProps {
  /** "No table matches “clciks”". */
  readonly title: string;
  /** How many there are without the filter, if known. */
  readonly total?: string;
  readonly onClear: () => void;
}

export function FilteredEmptyState({ title, total, onClear }: FilteredEmptyProps) {
  const clear = (
    <Button size="small" onClick={onClear}>
      Clear filter
    </Button>
  );
  return (
    <PlainState kind="filtered-empty" icon="filter" title={title} actions={clear}>
      {total !== undefined && `${total} without the filter.`}
    </PlainState>
  );
}

interface DeniedProps {
  readonly title: string;
  /** The pattern that is missing: "fluss-plugin.operations.security.read". */
  readonly permission: string;
  /** Who can grant it: "An administrator of orders-eu". */
  readonly granter: string;
}

export function DeniedState({ title, permission, granter }: DeniedProps) {
  return (
    <PlainState
      kind="denied"
      icon="lock"
      title={title}
      actions={
        <CopyButton text={permission} what="permission">
          Copy permission
        </CopyButton>
      }
    >
      It needs <code>{permission}</code>. {granter} can grant it.
    </PlainState>
  );
}

interface UnavailableProps {
  readonly title: string;
  /** What went wrong, in words. */
  readonly children: ReactNode;
  /** Finds the case in the server's log. */
  readonly requestId?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
  readonly retrying?: boolean;
  readonly compact?: boolean;
}

export function UnavailableState({ title, children, requestId, onRetry, retrying, compact }: UnavailableProps) {
  const actions = (
    <>
      {onRetry !== undefined && (
        <Button size="small" icon="refresh" onClick={onRetry} busy={retrying ?? false}>
          Try again
        </Button>
      )}
      {requestId !== undefined && (
        <span className={styles.id}>
          error id <code>{requestId}</code>
          <CopyButton text={requestId} what="error id" />
        </span>
      )}
    </>
  );
  return (
    <PlainState kind="unavailable" icon="plug" title={title} actions={actions} compact={compact}>
      {children}
    </PlainState>
  );
}

interface UnsupportedProps {
  readonly title: string;
  /** "Needs Fluss 1.0 or later; orders-eu runs 0.9.1." */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function UnsupportedState({ title, children, action }: UnsupportedProps) {
  return (
    <PlainState kind="unsupported" icon="info" title={title} actions={action}>
      {children}
    </PlainState>
  );
}

interface PartialProps {
  /** "7 of 8 buckets". */
  readonly word: string;
  /** What is missing and why, in one sentence. */
  readonly children: ReactNode;
  /** Each missing part with its reason. */
  readonly missing: readonly string[];
  readonly action?: ReactNode;
}

/** Stands above rows that are there: what is not, and why. */
export function PartialNote({ word, children, missing, action }: PartialProps) {
  return (
    <div className={styles.note} role="note">
      <StateChip state="partial">partial: {word}</StateChip>
      <div className={styles["note-text"]}>
        {children}
        {missing.length > 0 && (
          <details>
            <summary>What is missing</summary>
            <ul>
              {missing.map((part) => (
                <li key={part}>{part}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {action}
    </div>
  );
}

interface StaleProps {
  /** When the rows below were read. */
  readonly at: string;
  readonly reason: string;
  readonly onRetry: () => void;
  readonly retrying?: boolean;
}

/** Stands above rows that are old: how old, and why they are not newer. */
export function StaleNote({ at, reason, onRetry, retrying }: StaleProps) {
  const now = useNow();
  const atMs = instantMs(at);
  return (
    <div className={styles.note} role="note">
      <StateChip state="stale">stale {atMs === undefined ? "" : formatAge(now - atMs)}</StateChip>
      <div className={styles["note-text"]}>The rows below are old. {reason}</div>
      <Button size="small" look="quiet" icon="refresh" onClick={onRetry} busy={retrying ?? false}>
        Read again
      </Button>
    </div>
  );
}

interface ProgressProps {
  /** "scanning bucket 3 of 8". */
  readonly children: ReactNode;
  readonly elapsedMs: number;
  /** 0 to 1; left out where the end is not known. */
  readonly share?: number;
  readonly onStop: () => void;
}

/** A call that takes long: what it does, for how long, and Stop, which really ends it. */
export function ProgressNote({ children, elapsedMs, share, onStop }: ProgressProps) {
  return (
    <div className={styles.progress}>
      {share !== undefined && (
        <div
          className={styles.track}
          role="progressbar"
          aria-label="Progress"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share * 100)}
        >
          <div className={styles.done} style={{ width: `${Math.round(share * 100)}%` }} />
        </div>
      )}
      <span role="status">{children}</span>
      <span>{formatDuration(elapsedMs)}</span>
      <Button size="small" icon="stop" onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}

/** A line above the rows that asks for nothing. */
export function TextNote({ children }: { readonly children: ReactNode }) {
  return <p className={styles["text-note"]}>{children}</p>;
}
