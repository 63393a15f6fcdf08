// Lines for a terminal: the same request as `pegel` command and as curl. What is copied must do exactly what it shows.

/** Quotes one word for a POSIX shell. Control and invisible characters become $'…' escapes, so that a paste shows them. */
export function shellQuote(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) && !/^[=~]/.test(word)) return word;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(word)) return ansiQuote(word);
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Stands in a body for a secret that the reader keeps in a variable of the shell, its text as it stands in JSON. Private
 * characters mark it, which no name or address holds.
 */
export function shellVariable(name: string): string {
  return `\u{e000}${name}\u{e001}`;
}

/** The session stays in the memory of curl. */
function signIn(url: string, person: string): string[] {
  const body = JSON.stringify({ name: person, password: shellVariable(PASSWORD_VARIABLE) });
  return [
    "curl -sS -c /dev/null -o /dev/null",
    "-H 'Content-Type: application/json'",
    `--data-raw ${openVariables(shellQuote(body))}`,
    shellQuote(url.replace(/\/api\/v1\/.*$/, "/api/v1/session")),
    "--next -sS",
  ];
}

/** Leaves the quotes for the variables in a quoted word. */
function openVariables(quoted: string): string {
  const reopen = quoted.startsWith("$'") ? "$'" : "'";
  return quoted.replaceAll(/\u{e000}([A-Z_]+)\u{e001}/gu, (_, name: string) => `'"$${name}"${reopen}`);
}

/** One command line of already separate words. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly body?: unknown;
  /** Who asks, where an access token is not enough: the line signs in first. */
  readonly person?: string | undefined;
}

/** The variable of the password, in lines of what only a person may do. */
export const PASSWORD_VARIABLE = "PEGEL_PASSWORD";

/** A curl line. The token is a variable of the reader's own shell, never a value: a copied line holds no secret. */
export function curlLine(request: HttpRequest): string {
  const parts = request.person === undefined ? ["curl -sS"] : signIn(request.url, request.person);
  if (request.method !== "GET" || request.body !== undefined) parts.push(`-X ${request.method}`);
  if (request.person === undefined) parts.push(`-H "Authorization: Bearer $PEGEL_TOKEN"`);
  // The server asks for proof that its own page, or someone who knows it, sent a change.
  else parts.push("-b ''", `-H 'Origin: ${new URL(request.url).origin}'`);
  if (request.body !== undefined) {
    const body = openVariables(shellQuote(JSON.stringify(request.body)));
    parts.push("-H 'Content-Type: application/json'", `--data-raw ${body}`);
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
