// Errors become words here and nowhere else, by the stable code of the problem. The server's own sentence is for people too,
// so only what the console can say better is listed.
import { sentence } from "~/lib/sentence";
import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];

export interface Failure {
  /** The problem's code; "offline" where no answer came, "unreadable" where it was none of Pegel's. */
  readonly code: string;
  /** A short sentence. */
  readonly title: string;
  readonly detail: string;
  readonly hint?: string;
  readonly requestId?: string;
  readonly status?: number;
  /** What is wrong with which field, by JSON pointer ("/password"). */
  readonly fields: ReadonlyMap<string, string>;
}

const TITLES: Readonly<Record<string, string>> = {
  sign_in_required: "Sign in to go on",
  login_failed: "The name or the password is wrong",
  login_locked: "Too many attempts; wait a while",
  login_busy: "Too many people sign in just now",
  password_change_required: "Choose a password of your own first",
  permission_denied: "You may not do this",
  not_found: "There is no such thing, or it is outside your scope",
  conflict: "Someone else changed it in the meantime",
  store_unavailable: "Pegel cannot reach its own store",
  store_busy: "Pegel's store is busy",
};

const RETRIABLE_STATUS = new Set([502, 503, 504]);

export function isProblem(error: unknown): error is Problem {
  return (
    typeof error === "object" &&
    error !== null &&
    typeof (error as Problem).code === "string" &&
    typeof (error as Problem).status === "number"
  );
}

export function isSignInRequired(error: unknown): boolean {
  return isProblem(error) && error.code === "sign_in_required";
}

/** What to show for anything that a call may fail with. */
export function failureOf(error: unknown): Failure {
  if (isProblem(error)) {
    return {
      code: error.code,
      title: TITLES[error.code] ?? error.title,
      detail: sentence(error.detail),
      ...(error.hint ? { hint: sentence(error.hint) } : {}),
      requestId: error.request_id,
      status: error.status,
      fields: new Map((error.errors ?? []).map((field) => [field.pointer, sentence(field.detail)])),
    };
  }
  // What fetch throws where no answer came.
  if (error instanceof TypeError) {
    return {
      code: "offline",
      title: "The Pegel server does not answer",
      detail: "Check the connection, or whether the server runs.",
      fields: new Map(),
    };
  }
  return {
    code: "unreadable",
    title: "The answer could not be read",
    detail:
      "Something between the browser and Pegel answered in its place, or the versions differ. Load the page again.",
    fields: new Map(),
  };
}

/** Whether the same read may succeed a moment later. */
export function isWorthRetrying(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.code === "offline" || (failure.status !== undefined && RETRIABLE_STATUS.has(failure.status));
}
