import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of the machine; PEGEL_CHROMIUM names another one. None is downloaded. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.PEGEL_CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error("no Chromium found: install it or set PEGEL_CHROMIUM");
  // In a container there is no user namespace for the sandbox; the pages are our own.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** The accessibility checker, to be put into a page. */
export function axeSource(): string {
  return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
}

export interface WatchedPage {
  readonly page: Page;
  /** A complaint that the test itself provokes. */
  forgive(pattern: RegExp): void;
  /** Fails if the page logged an error, broke the content security policy or asked another origin. */
  expectQuiet(): void;
  close(): Promise<void>;
}

interface PageOptions extends BrowserContextOptions {
  /** Done before the page is opened. */
  readonly before?: (page: Page) => Promise<void>;
}

/** A page that is watched for what must never happen. */
export async function openPage(
  browser: Browser,
  url: string,
  { before, ...options }: PageOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ timezoneId: "Europe/Berlin", locale: "en-GB", ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const forgiven: RegExp[] = [];
  const origin = new URL(url).origin;
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked another origin: ${request.url()}`);
  });
  await before?.(page);
  await page.goto(url);
  return {
    page,
    forgive: (pattern) => void forgiven.push(pattern),
    expectQuiet: () =>
      expect(complaints.filter((complaint) => !forgiven.some((pattern) => pattern.test(complaint)))).toEqual([]),
    close: () => context.close(),
  };
}

/** No violation of the accessibility rules on the page as it is. */
export async function expectAccessible(page: Page, axeSource: string): Promise<void> {
  // Not by a script element: the policy forbids inline scripts, and that must stay so.
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<AxeResult> } };
    const result = await axe.run();
    return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
  });
  expect(violations).toEqual([]);
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Nothing sticks out at the right of the window. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const [content, window_] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  expect(content).toBe(window_);
}
