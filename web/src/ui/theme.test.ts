// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const here = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(path, "utf8");
const files = readdirSync(here, { recursive: true, encoding: "utf8" });
const own = files.filter((path) => path.endsWith(".css")).map((path) => read(here + path));
const sources = files.filter((path) => /\.tsx?$/.test(path)).map((path) => read(here + path));

/** The sheets of the kit that some part imports. */
const kit = [...new Set(sources.join("\n").match(/@mantine\/core\/styles\/\w+\.layer\.css/g))].map((path) =>
  read(createRequire(import.meta.url).resolve(path)),
);

const declared = new Set([...own, ...kit].join("\n").match(/--[\w-]+(?=\s*:)/g));
/** Set by a component on its element, also by those of the kit. */
const setByCode = /^--(table-height|frame-height|width|height|series|bone)$/;

describe("the theme", () => {
  it("declares each variable that a sheet of ours needs", () => {
    const used = own.join("\n").matchAll(/var\((--[\w-]+)(,)?/g);
    const missing = [...used].filter(
      ([, name = "", fallback]) => !declared.has(name) && !fallback && !setByCode.test(name),
    );
    expect([...new Set(missing.map(([, name]) => name))]).toEqual([]);
  });

  it("declares each variable of the kit's theme that the kit's sheets need", () => {
    expect(kit.length).toBeGreaterThan(0);
    const used = [...kit.join("\n").matchAll(/var\((--mantine-[\w-]+)/g)].map(([, name = ""]) => name);
    expect([...new Set(used)].filter((name) => !declared.has(name))).toEqual([]);
  });

  it("has the same tokens in light and dark", () => {
    const [light = [], dark = []] = ["light", "dark"].map((scheme) => {
      const block = new RegExp(`\\[data-mantine-color-scheme="${scheme}"\\] \\{([^}]*)\\}`).exec(
        read(`${here}/ui/theme.css`),
      );
      return block?.[1]?.match(/--[\w-]+(?=:)/g)?.sort();
    });
    expect(light.length).toBeGreaterThan(30);
    expect(dark).toEqual(light);
  });
});
