import { resolveZone, type Zone } from "~/lib/instant";
import { parseSearch, stringifySearch } from "~/lib/search-state";

/** The address of what is on the screen, with the zone of its times: whoever opens it sees the same. */
export function pageLink(address: string, zone: Zone): string {
  const url = new URL(address);
  url.search = stringifySearch({ ...parseSearch(url.search), tz: resolveZone(zone) });
  return url.href;
}
