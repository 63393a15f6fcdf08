// Pieces of the search of an address. What cannot be read counts as not given: an old or mistyped link still opens.
import * as z from "zod/mini";

/** A text; given twice, the last one counts. */
export const text = z.catch(
  z.optional(
    z.pipe(
      z.union([z.string(), z.array(z.string())]),
      z.transform((value) => (typeof value === "string" ? value : value.at(-1))),
    ),
  ),
  undefined,
);

/**
 * What a page reads of its address. Names that it does not know are let stand, so that the frame can say that they are ignored;
 * a value that cannot be read counts as not given.
 */
export function reads<S extends Readonly<Record<string, z.ZodMiniType>>>(shape: S) {
  const schema = z.object(shape);
  const read = (raw: Record<string, unknown>): z.infer<typeof schema> => {
    const others = Object.fromEntries(Object.entries(raw).filter(([name]) => !(name in shape)));
    return { ...others, ...z.parse(schema, raw) };
  };
  return Object.assign(read, { names: Object.keys(shape) });
}

/** A count of rows to skip, as text in the address. */
export function offsetOf(value: string | undefined): number {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : 0;
}

/** For the address: the default needs no words. */
export function orNothing<T>(value: T, plain: T): string | undefined {
  return value === plain || value === undefined || value === "" ? undefined : String(value);
}
