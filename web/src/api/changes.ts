// The one stream of changes of a tab. It says which resource has a new version, never what is in it: what is shown of it is
// read again, under the caller's own rights.
import type { QueryClient } from "@tanstack/react-query";
import { basePath } from "~/lib/base-path";
import { createStore } from "~/lib/store";

/** `lost` where the stream broke and could not be opened again for a while; `back` for a moment after it came back. */
export type Link =
  | { readonly state: "starting" | "live" | "back" }
  | { readonly state: "lost"; readonly since: string };

export const linkStore = createStore<Link>({ state: "starting" });

/** A short break is not worth a word. */
const LOST_AFTER_MS = 4_000;
const BACK_SHOWN_MS = 6_000;

/** Which lists a resource is part of, by the first part of its key. */
const PATHS_OF: Readonly<Record<string, string>> = {
  cluster: "/api/v1/clusters",
  user: "/api/v1/users",
  token: "/api/v1/tokens",
};

/** Opens the stream; returns what ends it. */
export function followChanges(queries: QueryClient): () => void {
  let source: EventSource | undefined;
  let lostTimer: ReturnType<typeof setTimeout> | undefined;
  let backTimer: ReturnType<typeof setTimeout> | undefined;

  const onOpen = () => {
    clearTimeout(lostTimer);
    lostTimer = undefined;
    if (linkStore.get().state !== "lost") {
      linkStore.set({ state: "live" });
      return;
    }
    // Whatever happened in between was missed: everything in sight is read again.
    linkStore.set({ state: "back" });
    void queries.invalidateQueries();
    backTimer = setTimeout(() => linkStore.set({ state: "live" }), BACK_SHOWN_MS);
  };
  const onError = () => {
    const since = new Date().toISOString();
    lostTimer ??= setTimeout(() => {
      linkStore.set({ state: "lost", since });
      // A session that has ended closes the stream too: this read finds out.
      if (source?.readyState === EventSource.CLOSED)
        void queries.invalidateQueries({ queryKey: ["get", "/api/v1/session"] });
    }, LOST_AFTER_MS);
  };
  const onChange = (event: MessageEvent<string>) => {
    const path = PATHS_OF[resourceKind(event.data)];
    if (path === undefined) return;
    void queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith(path) });
  };
  const open = () => {
    source = new EventSource(`${basePath(document.baseURI)}/api/v1/changes`);
    source.addEventListener("open", onOpen);
    source.addEventListener("error", onError);
    source.addEventListener("change", onChange);
    source.addEventListener("resync", () => void queries.invalidateQueries());
  };
  open();
  return () => {
    source?.close();
    clearTimeout(lostTimer);
    clearTimeout(backTimer);
    linkStore.set({ state: "starting" });
  };
}

function resourceKind(data: string): string {
  try {
    const { resource_key: key } = JSON.parse(data) as { resource_key?: unknown };
    return typeof key === "string" ? (key.split("/")[0] ?? "") : "";
  } catch {
    return "";
  }
}
