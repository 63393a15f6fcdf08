// Ranks short texts (pages, tables, actions, zones) against what someone types into a search box.

/** Higher is better; undefined where a typed word is not found. All words must be found, in any order. */
export function matchScore(text: string, typed: string): number | undefined {
  const target = text.toLowerCase();
  let total = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = wordScore(target, word);
    if (score === undefined) return undefined;
    total += score;
  }
  // Among equals the shorter text is the nearer one.
  return total - target.length / 1000;
}

function wordScore(target: string, word: string): number | undefined {
  const at = target.indexOf(word);
  if (at === 0) return 4;
  if (at > 0) return /[\s._/-]/.test(target[at - 1] ?? "") ? 3 : 2;
  // Letters in order but apart: "shcl" finds "shop.clicks".
  let from = 0;
  for (const letter of word) {
    const next = target.indexOf(letter, from);
    if (next === -1) return undefined;
    from = next + 1;
  }
  return 1;
}

/** The best `limit` items, best first; the given order among equals. */
export function bestMatches<T>(items: readonly T[], typed: string, textOf: (item: T) => string, limit: number): T[] {
  if (typed.trim() === "") return items.slice(0, limit);
  return items
    .map((item, index) => ({ item, index, score: matchScore(textOf(item), typed) }))
    .filter((entry): entry is { item: T; index: number; score: number } => entry.score !== undefined)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .map((entry) => entry.item);
}
