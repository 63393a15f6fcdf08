// The frame around each answer about a cluster, and what an answer without data comes to.
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Status = Schemas["Status"];
export type Evidence = Schemas["Evidence"];

export interface Envelope<T> {
  readonly status: Status;
  readonly execution_id: string;
  readonly observed_at: string;
  readonly source: Schemas["Source"];
  readonly data: T | null;
  readonly evidence: readonly Evidence[];
  readonly warnings: readonly string[];
}

/** The first thing that failed. */
export function firstFailure(envelope: Pick<Envelope<unknown>, "evidence">): Evidence | undefined {
  return envelope.evidence.find((piece) => piece.state === "failed");
}

/** What is missing of a partial answer, a line for each part. */
export function missingParts(envelope: Pick<Envelope<unknown>, "evidence">): string[] {
  return envelope.evidence
    .filter((piece) => piece.state !== "ok")
    .map((piece) => `${piece.subject ?? piece.check}: ${piece.message}${piece.code ? ` (${piece.code})` : ""}`);
}

/** When the data was true: an answer from memory is as old as it says. */
export function observedAt(envelope: Pick<Envelope<unknown>, "observed_at" | "source">): string {
  const at = Date.parse(envelope.observed_at);
  return Number.isNaN(at) ? envelope.observed_at : new Date(at - envelope.source.age_ms).toISOString();
}
