// Servers that die while someone looks: the page tells so soon, tells it right, and tells when all is well again.
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { admin, DemoProcess, theDemo } from "./demo";
import { measured } from "./measures";
import { heading, signedInAt, visit } from "./site";

const { url } = theDemo();
const signedIn = signedInAt(() => url);
/** How soon a page has to tell what has become of a server. */
const TOLD_WITHIN_MS = 15_000;
/** A server of Fluss needs its time to start on a small machine. */
const STARTED_WITHIN_MS = 120_000;

const processes = new Map<string, DemoProcess>();
const processOf = (name: string) => {
  const one = processes.get(name) ?? new DemoProcess(name);
  processes.set(name, one);
  return one;
};
afterAll(() => {
  for (const one of processes.values()) one.endIfOwn();
});

/** Seconds until what is waited for is there. */
async function secondsUntil(there: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await there;
  return Math.round(performance.now() - since) / 1000;
}

const RUNS = "Demo: all 3 tablet servers answer";
const until = (page: Page, name: string | RegExp, timeout: number) => heading(page, name).waitFor({ timeout });

/** Kills a server of the cluster while its page is open, and starts it again. */
async function killed(name: string, words: string, overview: string): Promise<void> {
  await signedIn(admin(), async (page) => {
    await visit(page, url, "clusters/demo");
    await until(page, RUNS, STARTED_WITHIN_MS);
    const other = await page.context().newPage();
    await visit(other, url, "");
    await until(other, "1 cluster, up", TOLD_WITHIN_MS);
    const server = processOf(name);
    server.kill();
    measured(`${name} killed: the cluster's page tells, s`, await secondsUntil(until(page, words, TOLD_WITHIN_MS)));
    await other.getByText(overview).waitFor({ timeout: TOLD_WITHIN_MS });
    await until(other, "1 cluster, one needs you", TOLD_WITHIN_MS);
    await page
      .getByText("connect_failed")
      .or(page.getByText("coordinator_unavailable"))
      .first()
      .waitFor({ state: "attached" });
    server.start();
    await until(page, RUNS, STARTED_WITHIN_MS);
    await until(other, "1 cluster, up", TOLD_WITHIN_MS);
  });
}

describe("a server of the cluster that is killed", () => {
  it("is told, if it is a tablet server", async () => {
    await killed("tablet-server-1", "Demo: 1 of 3 tablet servers does not answer", "degraded");
  });

  it("is told, if it is the coordinator", async () => {
    await killed("coordinator", "Demo: the coordinator does not answer", "coordinator does not answer");
  });

  it("leaves what was read before in sight, and says that it is old", async () => {
    await signedIn(admin(), async (page) => {
      await visit(page, url, "clusters/demo/table?database=shop&table=orders&tab=offsets");
      await page.getByText("3 of 3 buckets answered").waitFor();
      const coordinator = processOf("coordinator");
      coordinator.kill();
      await page.keyboard.press(".");
      await page
        .getByText("The rows below are old.")
        .first()
        .waitFor({ timeout: 2 * TOLD_WITHIN_MS });
      expect(await page.getByText("tablet server", { exact: false }).count()).toBeGreaterThanOrEqual(3);
      coordinator.start();
      await visit(page, url, "clusters/demo");
      await until(page, RUNS, STARTED_WITHIN_MS);
      await page.goBack();
      await page.getByText("3 of 3 buckets answered").waitFor({ timeout: STARTED_WITHIN_MS });
    });
  });
});

describe("the Pegel server itself", () => {
  it("is missed by an open page when it is killed, and welcomed back with the session still valid", async () => {
    await signedIn(admin(), async (page, watched) => {
      watched.forgive(/ERR_|EventSource|Failed to load/);
      await visit(page, url, "clusters/demo");
      await until(page, RUNS, STARTED_WITHIN_MS);
      const server = processOf("pegel");
      server.kill();
      const lost = page.getByText("No connection to the Pegel server");
      measured("Pegel killed: the page tells, s", await secondsUntil(lost.waitFor({ timeout: TOLD_WITHIN_MS })));
      // The server was told to take any free port; its clients know the one it took.
      const { port } = new URL(url);
      server.start({ "127.0.0.1:0": `127.0.0.1:${process.env.PEGEL_DEMO_PORT ?? port}` });
      const back = page.getByText("The server answers again");
      measured("Pegel started again: the page tells, s", await secondsUntil(back.waitFor({ timeout: TOLD_WITHIN_MS })));
      await until(page, RUNS, TOLD_WITHIN_MS);
      await page.reload();
      await until(page, RUNS, TOLD_WITHIN_MS);
    });
  });
});
