// A server with an empty store: from the password that it prints to the first cluster, all in the browser.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeSource, expectAccessible, expectNoOverflow } from "../e2e/browser";
import { given, theDemo } from "./demo";
import { heading, signedInAt } from "./site";

const SHOTS = process.env.PEGEL_SHOTS;
let server: ChildProcess;
let folder: string;
let url = "";
let password = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pegel-first-run-"));
  server = spawn(given("PEGEL_PROGRAM"), ["serve", "--data-dir", folder, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (server.stderr === null) throw new Error("the server's messages are a pipe");
  // The password stands on a line of its own, the address after it.
  for await (const line of createInterface({ input: server.stderr })) {
    if (/^ {4}[a-z0-9-]{20,}$/.test(line)) password = line.trim();
    const place = /^listening on (\S+)/.exec(line)?.[1];
    if (place !== undefined) {
      url = place;
      break;
    }
  }
  server.stderr.resume();
});

afterAll(() => {
  server?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const signedIn = signedInAt(() => process.env.PEGEL_FIRST_RUN_CONSOLE ?? url);

describe("the first run", () => {
  it("leads from the printed password to the servers of the first cluster", async () => {
    const { bootstrap, security_protocol: protocol, users } = theDemo();
    await signedIn({ name: "admin", password }, async (page) => {
      await heading(page, "Two steps to the first look").waitFor();
      await expectAccessible(page, axeSource());
      await page.getByLabel("Password so far", { exact: false }).first().fill(password);
      await page.getByLabel("New password", { exact: true }).fill("correct horse battery");
      await page.getByLabel("New password again", { exact: true }).fill("correct horse battery");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByLabel("Servers to begin with").waitFor();
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/first-run.png`, fullPage: true });
      await expectAccessible(page, axeSource());
      await expectNoOverflow(page);
      await page.getByLabel("Name", { exact: true }).fill("First cluster");
      await page.getByRole("radio", { name: "test", exact: true }).check({ force: true });
      await page.getByLabel("Servers to begin with").fill(bootstrap);
      await page.getByRole("radio", { name: protocol, exact: true }).check({ force: true });
      const user = users[0];
      if (user !== undefined) {
        await page.getByLabel("User", { exact: true }).fill(user.name);
        await page.getByLabel("Password", { exact: true }).fill(user.password);
      }
      await page.getByRole("button", { name: "Test the connection" }).click();
      await page.getByRole("heading", { name: "Connection test" }).waitFor({ timeout: 30_000 });
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/first-run-tested.png`, fullPage: true });
      await page.getByRole("button", { name: "Register", exact: true }).click();
      await page.getByRole("button", { name: "Open the overview", exact: true }).click({ timeout: 30_000 });
      await heading(page, "1 cluster, up").waitFor({ timeout: 30_000 });
      await page.getByRole("link", { name: "First cluster" }).click();
      await heading(page, "First cluster: all 3 tablet servers answer").waitFor({ timeout: 30_000 });
      expect(new URL(page.url()).pathname).toBe("/clusters/first-cluster");
    });
  });
});
