import { isZone, type Zone } from "~/lib/instant";
import { createKeptStore, createStore } from "~/lib/store";
import { useStore } from "./use-store";

/** The zone in which all times are shown; a choice of the person, kept in the browser. */
export const zoneStore = createKeptStore<Zone>("pegel.zone", "local", (raw) =>
  typeof raw === "string" && isZone(raw) ? raw : undefined,
);

/** The zone of a shared link, which wins while one is there. */
export const linkZoneStore = createStore<Zone | undefined>(undefined);

export function useZone(): Zone {
  const own = useStore(zoneStore);
  return useStore(linkZoneStore) ?? own;
}
