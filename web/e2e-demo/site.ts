// A page of the console on a real server, with someone signed in.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser, openPage, type WatchedPage } from "../e2e/browser";
import type { Person } from "./demo";

export type SignedIn = (
  person: Person,
  use: (page: Page, watched: WatchedPage) => Promise<void>,
  options?: BrowserContextOptions,
) => Promise<void>;

/** One browser for the tests of a file; each test gets a session of its own, which must end without a complaint. */
export function signedInAt(url: () => string): SignedIn {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return async (person, use, options) => {
    const watched = await openPage(browser, new URL("login", url()).href, options);
    // Whoever is not signed in is told so once.
    watched.forgive(/401/);
    try {
      await signIn(watched.page, person);
      await use(watched.page, watched);
      watched.expectQuiet();
    } finally {
      await watched.close();
    }
  };
}

export async function signIn(page: Page, { name, password }: Person): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Sign in" }).waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1 }).waitFor();
}

/** Goes to a path of the console and waits until what it shows has been read. */
export async function visit(page: Page, url: string, path: string): Promise<void> {
  await page.goto(new URL(path, url).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector("[aria-busy='true']") === null);
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

const TABLE = "clusters/demo/table?database=shop&table=orders";

/** Every page that the demo fills, with a text that stands there once it is read. */
export const PAGES: readonly (readonly [path: string, text: string | RegExp])[] = [
  ["", "registered"],
  ["register-cluster", "An example until the form is filled in"],
  ["clusters/demo", "tablet server 2"],
  ["clusters/demo?open=tablet_server-1", "to a version request on its own connection"],
  ["clusters/demo/catalog", "telemetry"],
  ["clusters/demo/catalog?open=shop", "made-by"],
  ["clusters/demo/tables", "shop.orders"],
  ["clusters/demo/tables?database=shop", "per partition"],
  [TABLE, "bucket key"],
  [`${TABLE}&tab=properties`, "Custom properties"],
  [`${TABLE}&tab=buckets`, /tablet server \d/],
  [`${TABLE}&tab=offsets`, "3 of 3 buckets answered"],
  [`${TABLE}&tab=stats`, "3 of 3 buckets answered"],
  [`${TABLE}&tab=partitions`, "This table is not partitioned"],
  [`${TABLE}&tab=schema`, "Schema as JSON"],
  ["clusters/demo/table?database=shop&table=page_views&tab=partitions", "Leaders by bucket"],
  ["clusters/demo/config", "default.bucket.number"],
  ["clusters/demo/acls", /Security is off|access-control entries/],
  ["clusters/demo/settings", "name in paths"],
  ["clusters/demo/settings?edit=yes", "Limits and hosts"],
  ["users", "may sign in"],
  ["tokens", "in force"],
  ["audit", "clusters.register"],
  ["account", "this one"],
  ["account/password", "Password so far"],
];
