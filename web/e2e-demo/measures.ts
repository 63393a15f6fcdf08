import { appendFileSync } from "node:fs";

/** Keeps a figure for whoever started the tests, and prints it. `./x bench console` knows the names and their goals. */
export function measured(metric: string, value: number): void {
  process.stdout.write(`${metric}: ${value}\n`);
  const file = process.env.PEGEL_MEASURES;
  if (file) appendFileSync(file, `${JSON.stringify({ metric, value })}\n`);
}
