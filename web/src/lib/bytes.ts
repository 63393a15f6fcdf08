import { formatInteger, type IntegerLike, parseInteger } from "./exact";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/**
 * A size for the eye, in powers of 1,024 with one decimal place at most: "38.4 MiB". The exact figure belongs beside it on
 * hover (`exactBytes`). Text that is no integer comes back unchanged.
 */
export function formatBytes(value: IntegerLike, locale?: string): string {
  const exact = parseInteger(value);
  if (exact === undefined) return String(value);
  const size = exact < 0n ? -exact : exact;
  let unit = 0;
  while (unit < UNITS.length - 1 && roundedTenths(size, unit) >= 10_240n) unit += 1;
  const tenths = roundedTenths(size, unit);
  const sign = exact < 0n ? "-" : "";
  const whole = formatInteger(tenths / 10n, locale);
  // One decimal only below 100, where it still tells something.
  const rounded = tenths >= 1000n ? formatInteger((tenths + 5n) / 10n, locale) : whole;
  const digit = tenths % 10n;
  const text = unit === 0 || tenths >= 1000n || digit === 0n ? rounded : `${whole}${decimalPoint(locale)}${digit}`;
  return `${sign}${text} ${UNITS[unit]}`;
}

/** The exact size: "40,265,318 bytes". */
export function exactBytes(value: IntegerLike, locale?: string): string {
  return `${formatInteger(value, locale)} ${parseInteger(value) === 1n ? "byte" : "bytes"}`;
}

/** The size in the given unit, rounded to tenths, as an integer of tenths. */
function roundedTenths(size: bigint, unit: number): bigint {
  const divisor = 1024n ** BigInt(unit);
  return (size * 10n + divisor / 2n) / divisor;
}

function decimalPoint(locale?: string): string {
  return new Intl.NumberFormat(locale).formatToParts(1.5).find((part) => part.type === "decimal")?.value ?? ".";
}
