// The one way to the server. Types come from the OpenAPI document (schema.ts, generated); queries and mutations are made by
// `api`, so that a loader and a component ask by the same key.
import { QueryCache, QueryClient } from "@tanstack/react-query";
import createFetchClient from "openapi-fetch";
import createClient from "openapi-react-query";
import { basePath } from "~/lib/base-path";
import { isSignInRequired, isWorthRetrying } from "./errors";
import type { paths } from "./schema";

export const fetchClient = createFetchClient<paths>({
  baseUrl: basePath(document.baseURI),
  // The cookie of the session, to our own origin only.
  credentials: "same-origin",
  // Asked at the moment of the call, so that a test can put its own in place.
  fetch: (request) => globalThis.fetch(request),
});

export const api = createClient(fetchClient);

/** How old an answer may be before another look at the page asks again. */
const FRESH_MS = 10_000;
const MAX_RETRIES = 2;

/** Told when an answer says that nobody is signed in (any more). */
let onSignedOut: () => void = () => undefined;

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignInRequired(error)) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Reads only, and only where another try can help; a mutation is never repeated by itself.
        retry: (count, error) => count < MAX_RETRIES && isWorthRetrying(error),
        retryDelay: (attempt) => Math.round(2 ** attempt * 500 * (0.75 + Math.random() / 2)),
      },
      mutations: { retry: false },
    },
  });
}
