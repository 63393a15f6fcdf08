// What the tests of the console share: one browser, the built console on one server, and a page of it against a world that
// the test gives.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser, openPage, type WatchedPage } from "./browser";
import { answer, type World, world } from "./recorded";
import { type StaticServer, serveStatic } from "./static-server";

interface Site {
  /** Opens a page below the base path, and fails if it complained while it was used. */
  open(
    path: string,
    use: (watched: WatchedPage) => Promise<void>,
    options?: Parameters<typeof openPage>[2],
  ): Promise<void>;
}

/** Serves a build to all tests of the file that calls it. */
export function servedSite(folder: string, toBuild: string): Site {
  const built = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  let browser: Browser;
  let server: StaticServer;
  beforeAll(async () => {
    if (!existsSync(built)) throw new Error(`build it first: ${toBuild}`);
    browser = await launchBrowser();
    server = await serveStatic(built, "/console/");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  return {
    open: async (path, use, options) => {
      const watched = await openPage(browser, server.url + path, options);
      try {
        await use(watched);
        watched.expectQuiet();
      } finally {
        await watched.close();
      }
    },
  };
}

export type Visit = (
  path: string,
  changes: Partial<World>,
  use: (page: Page, world: World, watched: WatchedPage) => Promise<void>,
  options?: BrowserContextOptions,
) => Promise<void>;

/** The console as it is shipped; its API is answered from the world of the test. */
export function servedConsole(): Visit {
  const site = servedSite("dist", "npm run build");
  return async (path, changes, use, options = {}) => {
    const full = world(changes);
    const before = async (page: Page) => void (await page.route("**/api/v1/**", (route) => answer(route, full)));
    const used = async (watched: WatchedPage) => {
      await watched.page.getByRole("heading", { level: 1 }).waitFor();
      await use(watched.page, full, watched);
    };
    await site.open(path, used, { ...options, before });
  };
}
