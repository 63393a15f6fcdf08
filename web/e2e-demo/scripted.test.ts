// A cluster of 10,000 tables, and one whose names and numbers are as odd as they can be: how fast the console is with the one,
// and how exact with the other. The clusters are scripted; the server and the browser are real.
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { given, type Person } from "./demo";
import { measured } from "./measures";
import { signedInAt, visit } from "./site";

interface Scripted extends Person {
  readonly url: string;
}

const scripted = JSON.parse(given("PEGEL_SCRIPTED")) as Scripted;
const { url } = scripted;
const signedIn = signedInAt(() => url);
const LARGE = "clusters/large/tables";
const ODD = `<img src=x onerror=alert(1)> \u202eabc\u202c 🐟 "o'k" مرحبا`;
const LARGEST = "9223372036854775807";

const round = (value: number) => Math.round(value * 100) / 100;
const percentile = (values: readonly number[], percent: number) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)] ?? Number.NaN;

describe("the first page", () => {
  it("is light and soon there", async () => {
    const sizes = new Map<string, number>();
    const paints: number[] = [];
    await signedIn(scripted, async (page) => {
      await page.getByRole("link", { name: "large" }).waitFor();
      const waiting: Promise<void>[] = [];
      page.on("response", (response) => {
        const { pathname } = new URL(response.url());
        if (!/\.(js|css)$/.test(pathname)) return;
        const weighed = (body: Buffer) => void sizes.set(pathname, gzipSync(body, { level: 9 }).length);
        waiting.push(response.body().then(weighed));
      });
      await page.reload();
      await page.getByRole("link", { name: "large" }).waitFor();
      await page.waitForLoadState("load");
      await Promise.all(waiting);
      for (let load = 0; load < 10; load += 1) {
        await page.reload();
        await page.getByRole("link", { name: "large" }).waitFor();
        paints.push(
          await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN),
        );
      }
    });
    measured(
      "first page, script and style, gzip, KiB",
      round([...sizes.values()].reduce((sum, size) => sum + size, 0) / 1024),
    );
    measured("first draw, median, ms", round(percentile(paints, 50)));
  });
});

describe("10,000 tables", () => {
  it("are listed page by page without a wait", async () => {
    await signedIn(scripted, async (page) => {
      await visit(page, url, LARGE);
      await page.getByText("1–100 of 10,000").waitFor();
      const times = await page.evaluate(async () => {
        const took: number[] = [];
        for (let call = 0; call < 120; call += 1) {
          const since = performance.now();
          const path = `api/v1/clusters/large/operations/tables?limit=100&offset=${(call * 83) % 9_900}`;
          const answer = await fetch(new URL(path, document.baseURI));
          await answer.json();
          took.push(performance.now() - since);
        }
        return took.slice(20);
      });
      measured("list of 10,000 tables seen from the browser, p95, ms", round(percentile(times, 95)));
    });
  });

  it("are searched while someone types", async () => {
    await signedIn(scripted, async (page) => {
      await visit(page, url, LARGE);
      await page.getByText("1–100 of 10,000").waitFor();
      const search = page.getByLabel("Search tables");
      const times: number[] = [];
      for (let word = 0; word < 20; word += 1) {
        await search.fill("");
        await page.getByText("1–100 of 10,000").waitFor();
        const name = await page.evaluate(async (offset) => {
          const path = `api/v1/clusters/large/operations/tables?limit=1&offset=${offset}`;
          const answer = await (await fetch(new URL(path, document.baseURI))).json();
          return `${answer.data.items[0].database}.${answer.data.items[0].name}`;
        }, word * 433);
        await search.pressSequentially(name.slice(0, -1), { delay: 20 });
        times.push(await drawnAfterLastKey(page, name));
      }
      measured("search in 10,000 tables, last key to drawn rows, p95, ms", round(percentile(times, 95)));
    });
  });

  it("are scrolled with few elements and few lost frames", async () => {
    await signedIn(scripted, async (page) => {
      await visit(page, url, `${LARGE}?limit=1000`);
      await page.getByText("1–1,000 of 10,000").waitFor();
      await page.waitForLoadState("networkidle");
      const counts: number[] = [];
      const lost: number[] = [];
      // What else the machine does falls into a pass as well: the middle one of five counts.
      for (let pass = 0; pass < 5; pass += 1) {
        const { counts: seen, frames } = await scrolled(page);
        counts.push(...seen);
        // The usual frame is that of the display, whatever its rate.
        const usual = percentile(frames, 25);
        const missed = frames.reduce((sum, frame) => sum + Math.max(0, Math.round(frame / usual) - 1), 0);
        lost.push((100 * missed) / (missed + frames.length));
      }
      const most = Math.max(...counts);
      measured("elements of a list of 1,000 rows, most less least while scrolling", most - Math.min(...counts));
      measured("elements of a list of 1,000 rows, most", most);
      measured("frames lost while scrolling, %", round(percentile(lost, 50)));
    });
  });
});

/** Presses the last key of a name and returns the time until the frame in which nothing but what matches is drawn. */
async function drawnAfterLastKey(page: Page, name: string): Promise<number> {
  await page.evaluate((wanted) => {
    const drawn = new Promise<number>((resolve) => {
      window.addEventListener(
        "keydown",
        () => {
          const since = performance.now();
          const look = () => {
            const rows = [...document.querySelectorAll("tbody tr[data-row-id]")];
            const isDrawn = rows.length > 0 && rows.every((row) => row.textContent?.includes(wanted));
            if (isDrawn) resolve(performance.now() - since);
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        },
        { once: true, capture: true },
      );
    });
    Object.assign(window, { drawn });
  }, name);
  await page.keyboard.press(name.slice(-1));
  return page.evaluate(() => (window as unknown as { readonly drawn: Promise<number> }).drawn);
}

/** Scrolls the list from its start to its end; how many elements it had, and how long each frame took. */
async function scrolled(page: Page): Promise<{ counts: number[]; frames: number[] }> {
  return page.evaluate(async () => {
    const list = [...document.querySelectorAll("table")].map((table) => table.parentElement).find(Boolean);
    if (!list) throw new Error("there is no list");
    list.scrollTop = 0;
    const counts: number[] = [];
    const frames: number[] = [];
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    let before = await frame();
    for (let step = 0; step < 240; step += 1) {
      list.scrollTop += 120;
      const now = await frame();
      frames.push(now - before);
      before = now;
      // The first and the last screen have rows at one side only.
      if (step > 20 && step < 220) counts.push(list.querySelectorAll("*").length);
    }
    return { counts, frames: frames.slice(10) };
  });
}

describe("what is odd", () => {
  it("is shown as text, to the last digit, on the page, in a copy and as JSON", async () => {
    await signedIn(
      scripted,
      async (page) => {
        const query = new URLSearchParams({ database: "odd", table: "odd" });
        const asked = async (operation: string) =>
          page.evaluate(
            async (path) => (await fetch(new URL(path, document.baseURI))).json(),
            `api/v1/clusters/odd/operations/${operation}?${query}`,
          );
        await visit(page, url, `clusters/odd/table?${query}`);
        const table = await asked("tables/detail");
        expect(table.status).toBe("ok");
        await page.getByText("DECIMAL(38, 18)").waitFor();
        expect(await page.locator("img").count()).toBe(0);
        // The names' hidden characters are made visible, all others are there.
        await page.getByText("onerror=alert(1)").first().waitFor();
        await page.getByText("مرحبا").first().waitFor();
        expect(table.data.columns[1].name).toBe(ODD);
        expect(table.data.comment).toBe(ODD);
        await page.keyboard.press("j");
        await page.keyboard.press("j");
        await page.keyboard.press("y");
        const copied = () => page.evaluate(() => navigator.clipboard.readText());
        await expect.poll(copied).toContain("DECIMAL");
        expect(JSON.parse(await copied())).toEqual(table.data.columns[1]);
        await visit(page, url, `clusters/odd/table?${query}&tab=offsets`);
        await page.getByText("1 of 1 buckets answered").waitFor();
        expect(await page.locator("tbody").textContent()).toContain("9,223,372,036,854,775,807");
        expect(await page.locator("tbody").textContent()).toContain(LARGEST);
        const offsets = await asked("tables/offsets");
        expect(offsets.data.partitions[0].buckets[0]).toMatchObject({ start: "0", latest: LARGEST, span: LARGEST });
        await visit(page, url, `clusters/odd/table?${query}&tab=schema`);
        await page.getByText("Schema as JSON").waitFor();
        expect(await page.locator("img").count()).toBe(0);
      },
      { permissions: ["clipboard-read", "clipboard-write"] },
    );
  });
});
