import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commandLine, curlLine, shellQuote, shellVariable } from "./shell";

const throughBash = (words: readonly string[]) =>
  execFileSync("bash", ["--noprofile", "--norc", "-c", `printf '%s\\0' ${commandLine(words)}`], {
    env: { LC_ALL: "C.UTF-8" },
  })
    .toString("utf8")
    .split("\0")
    .slice(0, -1);

describe("shell quoting", () => {
  it.each([
    ["shop.clicks", "shop.clicks"],
    ["", "''"],
    ["a b", "'a b'"],
    ["it's", `'it'\\''s'`],
    ["$HOME `id` \\", "'$HOME `id` \\'"],
    ["~/x", "'~/x'"],
    ["=ls", "'=ls'"],
    ["a\nb", "$'a\\nb'"],
    ["\u202e", "$'\\u202e'"],
  ])("%j is written %s", (word, expected) => {
    expect(shellQuote(word)).toBe(expected);
  });

  it("bash reads back exactly what was quoted", () => {
    const words = [
      "",
      " ",
      "'",
      "''",
      '"',
      "\\",
      "\\n",
      "$'x'",
      "$(id)",
      "`id`",
      "!x",
      "*",
      "~",
      "#",
      ";",
      "&&",
      "|",
      ">f",
      "a=b",
      "line\nfeed",
      "tab\t",
      "\u001b[31m",
      "\u202eabc",
      "\u{e0041}",
      "Łódź",
      `{"a":"it's"}`,
      "-rf",
      "{a,b}",
      "[x]",
    ];
    expect(throughBash(words)).toEqual(words);
  });
});

describe("curl lines", () => {
  it("a read is one short line without a method", () => {
    expect(curlLine({ method: "GET", url: "http://localhost:8080/api/v1/clusters?limit=5" })).toBe(
      `curl -sS \\\n  -H "Authorization: Bearer $PEGEL_TOKEN" \\\n  'http://localhost:8080/api/v1/clusters?limit=5'`,
    );
  });

  it("a body is quoted as JSON and brackets in the address are kept", () => {
    const line = curlLine({ method: "POST", url: "https://pegel.example/api/v1/x[1]", body: { where: "a = 'b'" } });
    expect(line).toContain(`-X POST`);
    expect(line).toContain(`--data-raw '{"where":"a = '\\''b'\\''"}'`);
    expect(line).toContain("--globoff");
  });

  /** What curl would be given, read back by bash. */
  const wordsOf = (line: string, env: Record<string, string>) =>
    execFileSync("bash", ["--noprofile", "--norc", "-c", `curl() { printf '%s\\0' "$@"; }; ${line}`], {
      env: { LC_ALL: "C.UTF-8", ...env },
    })
      .toString("utf8")
      .split("\0");

  it.each(["plain", "it's", "hidden \u202e"])("a secret comes from a variable beside the text %j", (text) => {
    const body = { name: text, sasl_password: shellVariable("PEGEL_SASL_PASSWORD") };
    const line = curlLine({ method: "POST", url: "http://localhost/api/v1/clusters", body });
    const words = wordsOf(line, { PEGEL_SASL_PASSWORD: "s3 cret$x", PEGEL_TOKEN: "t" });
    const sent = words[words.indexOf("--data-raw") + 1] ?? "";
    expect(JSON.parse(sent)).toEqual({ name: text, sasl_password: "s3 cret$x" });
    expect(line).not.toContain("s3");
  });

  it("what only a person may do signs in first, in one process and without a file", () => {
    const url = "http://localhost:1/base/api/v1/account/sessions";
    const words = wordsOf(curlLine({ method: "GET", url, person: "o'neil" }), { PEGEL_PASSWORD: "pass" });
    expect(words).toContain("http://localhost:1/base/api/v1/session");
    expect(words).toContain(`{"name":"o'neil","password":"pass"}`);
    expect(words.slice(words.indexOf("--next"))).toContain(url);
    expect(words.slice(words.indexOf("--next"))).toContain("Origin: http://localhost:1");
  });
});
