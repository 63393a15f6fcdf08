import { formatInteger } from "./exact";

/** "1 user", "2 users", "1,204 entries". */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${formatInteger(count)} ${count === 1 ? one : many}`;
}
