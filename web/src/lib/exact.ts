// Exact numbers. The server sends 64-bit integers and decimals as strings; nothing here passes through a JavaScript
// number, which is exact only up to 2^53.

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

export type IntegerLike = string | bigint | number;

/** The integer, or undefined where the text is none or a number is past the exact range. */
export function parseInteger(value: IntegerLike): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return INTEGER.test(value) ? BigInt(value) : undefined;
}

/** Groups digits by the locale: 9007199254740993 → 9,007,199,254,740,993. Text that is no integer comes back unchanged. */
export function formatInteger(value: IntegerLike, locale?: string): string {
  const exact = parseInteger(value);
  return exact === undefined ? String(value) : integerFormat(locale).format(exact);
}

/** Groups the integer part of a decimal of any length and keeps each digit of its fraction. */
export function formatDecimal(value: string, locale?: string): string {
  const match = DECIMAL.exec(value);
  if (match === null) return value;
  const [, sign = "", whole = "", fraction] = match;
  const grouped = sign + integerFormat(locale).format(BigInt(whole));
  return fraction === undefined ? grouped : grouped + decimalMark(locale) + fraction;
}

/** Orders integers of any size; what is no integer comes last. */
export function compareIntegers(a: IntegerLike, b: IntegerLike): number {
  const left = parseInteger(a);
  const right = parseInteger(b);
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined);
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A measured figure (rate, percentage, latency) with at most `digits` significant digits after rounding. */
export function formatMeasure(value: number, digits = 3, locale?: string): string {
  if (!Number.isFinite(value)) return "unknown";
  const key = `${locale ?? ""} ${digits}`;
  let format = measureFormats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, { maximumSignificantDigits: digits, notation: "standard" });
    measureFormats.set(key, format);
  }
  // Never round an integer part away: 12,345 stays 12,345.
  return Math.abs(value) >= 10 ** digits ? integerFormat(locale).format(Math.round(value)) : format.format(value);
}

const integerFormats = new Map<string, Intl.NumberFormat>();
const measureFormats = new Map<string, Intl.NumberFormat>();

function integerFormat(locale = ""): Intl.NumberFormat {
  let format = integerFormats.get(locale);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale === "" ? undefined : locale, { maximumFractionDigits: 0 });
    integerFormats.set(locale, format);
  }
  return format;
}

function decimalMark(locale?: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  return parts.find((part) => part.type === "decimal")?.value ?? ".";
}
