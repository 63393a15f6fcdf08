// Instants: RFC 3339 text with up to nine fraction digits, exact from the server to the screen.

/** "local" is the zone of the browser; else an IANA name. */
export type Zone = "local" | "UTC" | (string & {});

/** What formatting needs: whole seconds since 1970 for the calendar, the fraction as the digits that were sent. */
export interface Instant {
  readonly epochSeconds: number;
  /** The digits after the point as sent, "" where there were none. */
  readonly fraction: string;
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

export function parseInstant(text: string): Instant | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, date, time, fraction = "", offset = "Z"] = match;
  const epochMs = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(epochMs) ? undefined : { epochSeconds: epochMs / 1000, fraction };
}

/** Milliseconds since 1970, or undefined where the text is no instant. Only for ages and charts: cuts below 1 ms. */
export function instantMs(text: string): number | undefined {
  const instant = parseInstant(text);
  return instant && instant.epochSeconds * 1000 + Number(`${instant.fraction}000`.slice(0, 3));
}

export type Precision = "date" | "minute" | "second" | "full";

/**
 * "2026-11-30 03:16:02.114" in the zone. `full` keeps the fraction as sent, `second` cuts it. Text that is no instant comes
 * back unchanged, so nothing is ever hidden.
 */
export function formatInstant(text: string, zone: Zone, precision: Precision = "full"): string {
  const instant = parseInstant(text);
  if (instant === undefined) return text;
  const { date, time } = wallClock(instant.epochSeconds, zone);
  if (precision === "date") return date;
  if (precision === "minute") return `${date} ${time.slice(0, 5)}`;
  const fraction = precision === "full" && instant.fraction !== "" ? `.${instant.fraction}` : "";
  return `${date} ${time}${fraction}`;
}

/** Only the time of day, for lists within one day: "03:16:02.114". */
export function formatTimeOfDay(text: string, zone: Zone): string {
  const instant = parseInstant(text);
  if (instant === undefined) return text;
  const { time } = wallClock(instant.epochSeconds, zone);
  return instant.fraction === "" ? time : `${time}.${instant.fraction}`;
}

/** RFC 3339 with the offset of the zone, each digit kept; what is put on the clipboard. */
export function toRfc3339(text: string, zone: Zone): string {
  const instant = parseInstant(text);
  if (instant === undefined) return text;
  const { date, time } = wallClock(instant.epochSeconds, zone);
  const fraction = instant.fraction === "" ? "" : `.${instant.fraction}`;
  return `${date}T${time}${fraction}${offsetText(instant.epochSeconds, zone)}`;
}

const WALL = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?$/;

/**
 * What someone typed as RFC 3339: an instant as it is, "2026-11-30 03:16" read by the clocks of the zone. Undefined where it is
 * neither, or where the clocks of the zone never showed it. Of an hour that they showed twice it is the first.
 */
export function readInstant(typed: string, zone: Zone): string | undefined {
  const text = typed.trim();
  if (parseInstant(text) !== undefined) return text;
  const match = WALL.exec(text);
  if (match === null) return undefined;
  const [, date = "", minute = "", rest = ":00"] = match;
  const fraction = rest.includes(".") ? rest.slice(rest.indexOf(".")) : "";
  const second = `${minute}${rest.slice(0, 3)}`;
  const wall = Date.parse(`${date}T${second}Z`) / 1000;
  if (Number.isNaN(wall)) return undefined;
  const isUtc = resolveZone(zone) === "UTC";
  // The offset of a day before and after: one of the two holds then, the greater one is that of the earlier instant.
  const offsets = isUtc ? [0] : [offsetSeconds(wall - 86_400, zone), offsetSeconds(wall + 86_400, zone)];
  const fits = [...offsets]
    .sort((a, b) => b - a)
    .map((offset) => wall - offset)
    .find((epoch) => {
      const shown = wallClock(epoch, zone);
      return shown.date === date && shown.time === second;
    });
  return fits === undefined ? undefined : `${new Date(fits * 1000).toISOString().slice(0, 19)}${fraction}Z`;
}

/** The IANA name that "local" stands for here. */
export function resolveZone(zone: Zone): string {
  return zone === "local" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}

export function isZone(zone: string): boolean {
  if (zone === "local") return true;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** "+01:00", "Z" for UTC. */
export function offsetText(epochSeconds: number, zone: Zone): string {
  const name = resolveZone(zone);
  if (name === "UTC") return "Z";
  const minutes = Math.round(offsetSeconds(epochSeconds, zone) / 60);
  const size = Math.abs(minutes);
  const two = (count: number) => String(count).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const formats = new Map<Zone, Intl.DateTimeFormat>();

/** Before this second (1582-10-15) Intl counts by the Julian calendar, which RFC 3339 does not; zones had no rules yet. */
const GREGORIAN_START = -12_219_292_800;

function wallClock(epochSeconds: number, zone: Zone): { date: string; time: string } {
  const local = epochSeconds + (resolveZone(zone) === "UTC" ? 0 : offsetSeconds(epochSeconds, zone));
  const text = new Date(local * 1000).toISOString();
  const at = text.indexOf("T");
  return { date: text.slice(0, at), time: text.slice(at + 1, at + 9) };
}

function offsetSeconds(epochSeconds: number, zone: Zone): number {
  const moment = Math.max(epochSeconds, GREGORIAN_START + 86_400);
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: resolveZone(zone),
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
    });
    formats.set(zone, format);
  }
  const part = new Map(format.formatToParts(moment * 1000).map(({ type, value }) => [type, Number(value)]));
  const get = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? 0;
  const wall = Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second"));
  return wall / 1000 - moment;
}
