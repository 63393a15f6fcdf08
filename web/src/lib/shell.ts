// Lines for a terminal: the same request as `pegel` command and as curl. What is copied must do exactly what it shows.

/** Quotes one word for a POSIX shell. Control and invisible characters become $'…' escapes, so that a paste shows them. */
export function shellQuote(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) && !/^[=~]/.test(word)) return word;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(word)) return ansiQuote(word);
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** One command line of already separate words. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly body?: unknown;
}

/**
 * A curl line. The token is a variable of the reader's own shell, never a value: a copied line holds no secret.
 * `rawJson` replaces the body where it has to be sent as it stands.
 */
export function curlLine(request: HttpRequest): string {
  const parts = ["curl -sS"];
  if (request.method !== "GET" || request.body !== undefined) parts.push(`-X ${request.method}`);
  parts.push(`-H "Authorization: Bearer $PEGEL_TOKEN"`);
  if (request.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `--data-raw ${shellQuote(JSON.stringify(request.body))}`);
  }
  // curl reads [ ] { } in an address as patterns.
  if (/[[\]{}]/.test(request.url)) parts.push("--globoff");
  parts.push(shellQuote(request.url));
  return parts.join(" \\\n  ");
}

function ansiQuote(word: string): string {
  const escaped = Array.from(word, (character) => {
    const point = character.codePointAt(0) ?? 0;
    if (character === "'" || character === "\\") return `\\${character}`;
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character)) return character;
    if (point <= 0x7f) return `\\x${point.toString(16).padStart(2, "0")}`;
    return point <= 0xffff ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
  });
  return `$'${escaped.join("")}'`;
}
