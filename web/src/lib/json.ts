// JSON as text that keeps each digit: values come as text from the server and are cut into tokens, never parsed to numbers.

export type TokenKind = "key" | "string" | "number" | "word" | "punctuation" | "space";
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)|([{}[\],:])|(\s+)/y;

/** Tokens of a JSON text, or undefined where it is none (it is then shown as plain text). */
export function jsonTokens(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [, string, colon, number, word, punctuation, space] = match;
    if (string !== undefined) {
      tokens.push({ kind: colon === undefined ? "string" : "key", text: string });
      if (colon !== undefined) tokens.push({ kind: "punctuation", text: colon });
    } else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (word !== undefined) tokens.push({ kind: "word", text: word });
    else if (punctuation !== undefined) tokens.push({ kind: "punctuation", text: punctuation });
    else tokens.push({ kind: "space", text: space ?? "" });
  }
  return tokens;
}

/** Lays a JSON text out with two spaces a level without touching any value in it. */
export function indentJson(text: string): string {
  const tokens = jsonTokens(text)?.filter((token) => token.kind !== "space");
  if (tokens === undefined) return text;
  let depth = 0;
  let out = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  tokens.forEach((token, index) => {
    const next = tokens[index + 1]?.text;
    const previous = tokens[index - 1]?.text;
    if (token.text === "{" || token.text === "[") {
      depth += 1;
      out += token.text + (next === "}" || next === "]" ? "" : line());
    } else if (token.text === "}" || token.text === "]") {
      depth = Math.max(0, depth - 1);
      out += (previous === "{" || previous === "[" ? "" : line()) + token.text;
    } else if (token.text === ",") out += `,${line()}`;
    else if (token.kind === "punctuation" && token.text.trim() === ":") out += ": ";
    else out += token.text;
  });
  return out;
}
