// Reads an answer about a cluster and says in words what it is worth: rows, or what stands in their place, or both.
import { type QueryKey, type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Envelope, firstFailure, missingParts, observedAt } from "~/api/envelope";
import { failureOf } from "~/api/errors";
import { sentence } from "~/lib/sentence";
import { Age } from "~/ui/age";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import {
  EmptyState,
  PartialNote,
  ProgressNote,
  StaleNote,
  TextNote,
  UnavailableState,
  UnsupportedState,
} from "~/ui/list-states";
import { TextWithTimes } from "~/ui/text-with-times";
import { useNow } from "~/ui/use-now";
import { FailureView } from "./failure-view";

export interface Answer<T> {
  readonly data: T | undefined;
  readonly envelope: Envelope<T> | undefined;
  /** Stands in place of what was asked for; undefined where there is something to show. */
  readonly instead: ReactNode | undefined;
  /** Stands above what is shown: what is missing, how old it is, what to know. */
  readonly notes: ReactNode;
  readonly age: ReactNode;
  readonly loading: boolean;
  readonly refreshing: boolean;
}

interface AnswerWords {
  /** What was asked for: "the tables of shop". */
  readonly what: string;
  readonly cluster: string;
  /** How often it is asked for; for the colour of its age. */
  readonly intervalMs?: number;
}

const PLAIN_INTERVAL_MS = 60_000;

export function useAnswer<T>(
  query: UseQueryResult<Envelope<T>, unknown>,
  key: QueryKey,
  { what, cluster, intervalMs = PLAIN_INTERVAL_MS }: AnswerWords,
): Answer<T> {
  const queries = useQueryClient();
  const envelope = query.isPlaceholderData && query.data?.data === null ? undefined : query.data;
  const shown = useLastGood(JSON.stringify(key), envelope);
  const retry = () => void query.refetch();
  const stop = () => void queries.cancelQueries({ queryKey: key, exact: true });
  const failed = query.isError
    ? failureOf(query.error).title
    : envelope !== undefined && envelope.data === null
      ? (firstFailure(envelope)?.message ?? envelope.status.replaceAll("_", " "))
      : undefined;
  const stopped = query.isPending && query.fetchStatus === "idle";

  return {
    data: shown?.data ?? undefined,
    envelope: shown ?? envelope,
    instead: shown === undefined ? insteadOfData() : undefined,
    notes: (
      <>
        {query.isFetching && <Waiting key={query.dataUpdatedAt} what={what} onStop={stop} />}
        {shown !== undefined && failed !== undefined && !query.isFetching && (
          <StaleNote at={observedAt(shown)} reason={sentence(failed)} onRetry={retry} />
        )}
        {shown?.status === "partial" && failed === undefined && <Partial envelope={shown} onRetry={retry} />}
        {(shown?.warnings ?? []).map((warning) => (
          <TextNote key={warning}>
            <TextWithTimes text={sentence(warning)} />
          </TextNote>
        ))}
      </>
    ),
    age: shown && (
      <Age
        at={observedAt(shown)}
        intervalMs={intervalMs}
        failure={failed && (query.isError ? failureOf(query.error).code : codeOf(envelope))}
        source={shown.source.kind === "cache" ? "from Pegel's memory" : "from the cluster"}
      />
    ),
    loading: query.isPending && !stopped,
    refreshing: query.isFetching && shown !== undefined,
  };

  function insteadOfData(): ReactNode | undefined {
    if (query.isError) return <FailureView error={query.error} onRetry={retry} retrying={query.isFetching} />;
    if (stopped) return <Stopped what={what} onRetry={retry} />;
    if (envelope === undefined) return undefined;
    return <NoData envelope={envelope} what={what} cluster={cluster} onRetry={retry} retrying={query.isFetching} />;
  }
}

/** Why an answer has no data, in one word; the note above the rows says more. */
function codeOf(envelope: Envelope<unknown> | undefined): string {
  return (envelope && firstFailure(envelope)?.code) ?? envelope?.status ?? "no answer";
}

/** The newest answer that had data, of the same question. */
function useLastGood<T>(key: string, envelope: Envelope<T> | undefined): Envelope<T> | undefined {
  const [kept, setKept] = useState<{ readonly key: string; readonly envelope: Envelope<T> }>();
  const good = envelope !== undefined && envelope.data !== null ? envelope : undefined;
  if (good !== undefined && (kept?.envelope !== good || kept.key !== key)) setKept({ key, envelope: good });
  return good ?? (kept?.key === key ? kept.envelope : undefined);
}

const QUIET_MS = 1_500;

/** A read that takes its time: what it waits for, since when, and Stop, which ends it on the server too. */
function Waiting({ what, onStop }: { readonly what: string; readonly onStop: () => void }) {
  const [since] = useState(() => Date.now());
  const elapsed = useNow() - since;
  if (elapsed < QUIET_MS) return null;
  return (
    <ProgressNote elapsedMs={elapsed} onStop={onStop}>
      asking for {what}
    </ProgressNote>
  );
}

function Stopped({ what, onRetry }: { readonly what: string; readonly onRetry: () => void }) {
  return (
    <EmptyState
      title="Stopped"
      action={
        <Button size="small" icon="refresh" onClick={onRetry}>
          Ask again
        </Button>
      }
    >
      Nothing is known of {what}, since the question was stopped.
    </EmptyState>
  );
}

function Partial({ envelope, onRetry }: { readonly envelope: Envelope<unknown>; readonly onRetry: () => void }) {
  const missing = missingParts(envelope);
  return (
    <PartialNote
      word={
        missing.length === 0
          ? "some of it is missing"
          : missing.length === 1
            ? "one part is missing"
            : `${missing.length} parts are missing`
      }
      missing={missing}
      action={
        <Button size="small" look="quiet" icon="refresh" onClick={onRetry}>
          Read again
        </Button>
      }
    >
      What is shown is right, but not all of it could be read.
    </PartialNote>
  );
}

interface NoDataProps {
  readonly envelope: Envelope<unknown>;
  readonly what: string;
  readonly cluster: string;
  readonly onRetry: () => void;
  readonly retrying: boolean;
}

/** An answer without data: why, and what to do. */
export function NoData({ envelope, what, cluster, onRetry, retrying }: NoDataProps) {
  const failure = firstFailure(envelope);
  const reason = sentence(failure?.message ?? "the cluster gave no reason");
  const hint = failure?.hint ? ` ${sentence(failure.hint)}` : "";
  switch (envelope.status) {
    case "unsupported":
      return (
        <UnsupportedState title={`${cluster} cannot tell ${what}`}>
          {reason}
          {hint}
        </UnsupportedState>
      );
    case "security_disabled":
      return (
        <UnsupportedState title={`Security is off on ${cluster}`}>
          The cluster has no authorizer, so there are no access-control entries: everyone who reaches it may do all.
          This is not a missing permission.{hint}
        </UnsupportedState>
      );
    case "refused":
      return (
        <UnavailableState title={`${cluster} refused to tell ${what}`} requestId={envelope.execution_id}>
          {reason}
          {hint} The right is missing to the user by whom Pegel signs in at the cluster; it is granted there.
        </UnavailableState>
      );
    case "empty":
      return <EmptyState title={`${cluster} has none of it`}>{hint}</EmptyState>;
    default:
      return (
        <UnavailableState
          title={`${cluster} does not tell ${what}`}
          requestId={envelope.execution_id}
          onRetry={onRetry}
          retrying={retrying}
        >
          {reason}
          {hint}{" "}
          {failure?.code && (
            <>
              <code>{failure.code}</code> <CopyButton text={failure.code} what="error code" />
            </>
          )}
        </UnavailableState>
      );
  }
}
