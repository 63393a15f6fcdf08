// The frame of the console against answers that the test gives: signing in, first run, keys, banners, weight.
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeSource, expectAccessible, expectNoOverflow } from "./browser";
import { cluster, problem, SESSION } from "./recorded";
import { servedConsole } from "./visit";

const FIRST_PAGE_LIMIT = 150 * 1024;

const visit = servedConsole();

const path = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search;

describe("signing in", () => {
  it("leads back to the page that was asked for", async () => {
    await visit("clusters/lab?tz=UTC", { session: undefined }, async (page, _world, watched) => {
      expect(path(page)).toMatch(/^\/console\/login\?next=/);
      await expectAccessible(page, axeSource());
      await page.getByLabel("Name", { exact: true }).fill("ann");
      await page.getByLabel("Password", { exact: true }).fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText("The name or the password is wrong").waitFor();
      await page.getByLabel("Password", { exact: true }).fill("right");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: /^lab: / }).waitFor();
      expect(path(page)).toBe("/console/clusters/lab?tz=UTC");
      watched.forgive(/401/);
    });
  });

  it("does not lead to another site", async () => {
    await visit("login?next=//evil.example/", { session: undefined }, async (page, _world, watched) => {
      await page.getByLabel("Name", { exact: true }).fill("ann");
      await page.getByLabel("Password", { exact: true }).fill("right");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "2 clusters, all up" }).waitFor();
      expect(path(page)).toBe("/console/");
      watched.forgive(/401/);
    });
  });

  it("is asked for again when the session has ended, and signing out ends it", async () => {
    await visit("", {}, async (page, world) => {
      await page.getByRole("button", { name: "Account of ann" }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(world.asked).toContain("DELETE /session");
    });
  });
});

describe("a session that ends", () => {
  it("leads to the login and back to the same page", async () => {
    await visit("clusters/lab", {}, async (page, world, watched) => {
      world.session = undefined;
      await page.keyboard.press(".");
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await page.getByLabel("Name", { exact: true }).fill("ann");
      await page.getByLabel("Password", { exact: true }).fill("right");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: /^lab: / }).waitFor();
      expect(path(page)).toBe("/console/clusters/lab");
      watched.forgive(/401|EventSource/);
    });
  });
});

describe("the first run", () => {
  it("leads over the password to the first cluster", async () => {
    const session = { ...SESSION, must_change_password: true };
    await visit("", { session, clusters: [] }, async (page, world) => {
      await page.getByRole("heading", { name: "Two steps to the first look" }).waitFor();
      await expectAccessible(page, axeSource());
      await page.getByLabel("Password so far", { exact: false }).first().fill("from the log");
      await page.getByLabel("New password", { exact: true }).fill("correct horse battery");
      await page.getByLabel("New password again", { exact: true }).fill("correct horse battery");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByText("pegel cluster add orders-eu").waitFor();
      world.clusters = [cluster("orders-eu", "production")];
      await page.getByRole("button", { name: "Open the overview", exact: true }).click({ timeout: 10_000 });
      await page.getByRole("heading", { name: "1 cluster, up" }).waitFor();
    });
  });
});

describe("the frame", () => {
  it.each(["light", "dark"] as const)(
    "has no violation and no overflow in the %s theme, wide and narrow",
    async (colorScheme) => {
      for (const viewport of [
        { width: 1440, height: 900 },
        { width: 390, height: 844 },
      ]) {
        await visit(
          "",
          {},
          async (page) => {
            await page.getByRole("link", { name: "orders-eu" }).waitFor();
            await expectNoOverflow(page);
            await expectAccessible(page, axeSource());
            expect(await page.locator("style").count()).toBe(0);
          },
          { colorScheme, viewport },
        );
      }
    },
  );

  it("opens places by the palette and by keys, and puts the focus on their heading", async () => {
    await visit("", {}, async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("lab");
      await page.keyboard.press("Enter");
      const heading = page.getByRole("heading", { name: /^lab: / });
      await heading.waitFor();
      await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press("g");
      await page.keyboard.press("o");
      await page.getByRole("heading", { name: "2 clusters, all up" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys on this page" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("j");
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-row-id")))
        .toBe("orders-eu");
      await page.keyboard.press("Enter");
      await expect.poll(() => path(page)).toBe("/console/clusters/orders-eu");
      await page.goBack();
      await page.getByRole("heading", { name: "2 clusters, all up" }).waitFor();
    });
  });

  it("switches clusters and shows the environment", async () => {
    await visit("clusters/lab", {}, async (page) => {
      await page.getByRole("button", { name: "lab" }).click();
      await page.getByRole("menuitemradio", { name: "orders-eu" }).click();
      await page.getByRole("heading", { name: /^orders-eu: / }).waitFor();
      expect(await page.locator("[data-environment='production']").count()).toBeGreaterThan(1);
    });
  });

  it("skips to the content by one key", async () => {
    await visit("", {}, async (page) => {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    });
  });

  it("says that a page is not there and keeps the way back", async () => {
    await visit("clusters/none", {}, async (page, _world, watched) => {
      await page.getByText("01939f2e-7c1a-7000-8000-000000000000").waitFor();
      watched.forgive(/404/);
    });
  });

  it("says when the server is lost", async () => {
    await visit("", {}, async (page, _world, watched) => {
      await page.getByText("No connection to the Pegel server").waitFor({ timeout: 15_000 });
      watched.forgive(/EventSource/);
    });
  });

  it("shows nothing of the overview where the list cannot be read, but says so", async () => {
    await visit("", {}, async (page, world, watched) => {
      await page.route("**/api/v1/clusters?*", (route) =>
        route.fulfill(problem(503, "store_unavailable", "the store does not answer")),
      );
      await page.reload();
      await page.getByText("Pegel cannot reach its own store").waitFor({ timeout: 15_000 });
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(1);
      expect(world.asked.length).toBeGreaterThan(0);
      watched.forgive(/503/);
    });
  });
});

describe("the first page", () => {
  it("weighs at most 150 KB of script and style, compressed", async () => {
    const sizes = new Map<string, number>();
    await visit("", {}, async (page) => {
      const done: Promise<void>[] = [];
      page.on("response", (response) => {
        const name = new URL(response.url()).pathname.split("/").at(-1) ?? "";
        if (!/\.(js|css)$/.test(name)) return;
        done.push(response.body().then((body) => void sizes.set(name, gzipSync(body, { level: 9 }).length)));
      });
      await page.reload();
      await page.getByRole("link", { name: "orders-eu" }).waitFor();
      await page.waitForLoadState("networkidle");
      await Promise.all(done);
    });
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (process.env.PEGEL_SIZES)
      process.stdout.write(
        `${[...sizes]
          .sort((a, b) => b[1] - a[1])
          .map(([name, size]) => `${size} ${name}`)
          .join("\n")}\n`,
      );
    process.stdout.write(`first page: ${total} bytes of script and style in ${sizes.size} files\n`);
    expect(total).toBeLessThanOrEqual(FIRST_PAGE_LIMIT);
  });
});
