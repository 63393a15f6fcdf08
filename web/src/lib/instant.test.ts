import { describe, expect, it } from "vitest";
import { formatInstant, formatTimeOfDay, instantMs, isZone, parseInstant, readInstant, toRfc3339 } from "./instant";

const NANOS = "2026-11-30T02:16:02.114000001Z";

describe("instants", () => {
  it("keeps nanoseconds in another zone", () => {
    expect(formatInstant(NANOS, "Europe/Berlin")).toBe("2026-11-30 03:16:02.114000001");
    expect(toRfc3339(NANOS, "Europe/Berlin")).toBe("2026-11-30T03:16:02.114000001+01:00");
    expect(toRfc3339(NANOS, "UTC")).toBe(NANOS);
  });

  it.each([
    ["2026-07-01T00:30:00Z", "Europe/Berlin", "2026-07-01T02:30:00+02:00"],
    ["2026-07-01T00:30:00Z", "America/St_Johns", "2026-06-30T22:00:00-02:30"],
    ["2026-03-29T01:00:00Z", "Europe/Berlin", "2026-03-29T03:00:00+02:00"],
    ["2026-03-29T00:59:59Z", "Europe/Berlin", "2026-03-29T01:59:59+01:00"],
    ["0099-12-31T23:59:59Z", "Europe/Berlin", "0100-01-01T00:53:27+00:53"],
    ["0099-12-31T23:59:59Z", "UTC", "0099-12-31T23:59:59Z"],
  ])("%s in %s is %s", (text, zone, expected) => {
    expect(toRfc3339(text, zone)).toBe(expected);
  });

  it("cuts only what it is asked to cut", () => {
    expect(formatInstant(NANOS, "UTC", "second")).toBe("2026-11-30 02:16:02");
    expect(formatInstant(NANOS, "UTC", "minute")).toBe("2026-11-30 02:16");
    expect(formatInstant(NANOS, "UTC", "date")).toBe("2026-11-30");
    expect(formatTimeOfDay("2026-11-30T02:16:02.110Z", "UTC")).toBe("02:16:02.110");
  });

  it.each(["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-30T02:16:02", "+275760-09-13T00:00:00Z"])(
    "%j is no instant and is shown as it is",
    (text) => {
      expect(parseInstant(text)).toBeUndefined();
      expect(formatInstant(text, "UTC")).toBe(text);
    },
  );

  it("gives milliseconds for ages", () => {
    expect(instantMs("1970-01-01T00:00:01.5Z")).toBe(1500);
    expect(instantMs("1970-01-01T00:00:01.000999999Z")).toBe(1000);
  });

  it("knows which zones exist", () => {
    expect(isZone("Europe/Berlin")).toBe(true);
    expect(isZone("local")).toBe(true);
    expect(isZone("Mars/Olympus")).toBe(false);
  });

  it.each([
    ["2026-11-30T02:16:02.5+01:00", "Europe/Berlin", "2026-11-30T02:16:02.5+01:00"],
    ["2026-11-30 03:16", "Europe/Berlin", "2026-11-30T02:16:00Z"],
    [" 2026-07-01T03:16:02.123456789 ", "Europe/Berlin", "2026-07-01T01:16:02.123456789Z"],
    ["2026-11-30 03:16:02", "UTC", "2026-11-30T03:16:02Z"],
    ["2026-11-30 03:16:02", "Asia/Kathmandu", "2026-11-29T21:31:02Z"],
    // Clocks go from 02:00 to 03:00, and from 03:00 back to 02:00.
    ["2026-03-29 02:30", "Europe/Berlin", undefined],
    ["2026-10-25 02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"],
    ["2026-10-25 03:30", "Europe/Berlin", "2026-10-25T02:30:00Z"],
    ["yesterday", "UTC", undefined],
    ["2026-02-30 00:00", "UTC", undefined],
    ["", "UTC", undefined],
  ])("%j typed in %s is %s", (typed, zone, expected) => {
    expect(readInstant(typed, zone)).toBe(expected);
  });
});
