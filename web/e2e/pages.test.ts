// The pages of the catalog and the settings against recorded answers: what they show, where they lead, and that they can be
// used by everyone, wide and narrow, light and dark.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeSource, expectAccessible, expectNoOverflow } from "./browser";
import { envelope, ODD_NAME, problem, SESSION, UNREACHABLE } from "./recorded";
import { servedConsole } from "./visit";

const SHOTS = process.env.PEGEL_SHOTS;
const GROUPED = "9,007,199,254,740,993";

const visit = servedConsole();

const search = (page: Page) => new URL(page.url()).search;
const instead = (path: string, body: unknown) => ({ instead: new Map([[path, body]]) });
const BY_REGION = "clusters/lab/table?database=shop&table=by_region";

/** Each page with a text that is there once it is read. */
const PAGES: readonly (readonly [name: string, path: string, text: string])[] = [
  ["overview", "", "orders-eu"],
  ["register", "register-cluster", "It is for"],
  ["connection", "clusters/lab/settings", "How"],
  ["change", "clusters/lab/settings?edit=yes", "Password, stored and never shown"],
  ["cluster", "clusters/lab?open=tablet_server-1", "connection refused"],
  ["catalog", "clusters/lab/catalog?open=shop", "owner"],
  ["tables", "clusters/lab/tables?database=shop", "per partition"],
  ["columns", BY_REGION, "DECIMAL(38, 18)"],
  ["properties", `${BY_REGION}&tab=properties`, "compacted"],
  ["buckets", `${BY_REGION}&tab=buckets`, "Buckets belong to partitions here"],
  ["offsets", `${BY_REGION}&tab=offsets`, "leader_not_available"],
  ["stats", `${BY_REGION}&tab=stats`, "rows"],
  ["partitions", `${BY_REGION}&tab=partitions`, "region=kr"],
  ["schema", `${BY_REGION}&tab=schema`, "Schema as JSON"],
  ["config", "clusters/lab/config", "hidden: looks like a secret"],
  ["acls", "clusters/lab/acls", "This is not a missing permission"],
  ["users", `users?open=${SESSION.user_id}`, "Reset password"],
  ["tokens", "tokens", "in force"],
  ["account", "account", "this one"],
  ["audit", "audit?open=250", "Only this actor"],
];

describe("each page", () => {
  it.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)(
    "has no violation and no overflow in the %s theme at %i pixels",
    async (colorScheme, width) => {
      const found: string[] = [];
      for (const [name, path, text] of PAGES) {
        await visit(
          path,
          {},
          async (page) => {
            try {
              await page.getByText(text, { exact: false }).first().waitFor({ state: "attached", timeout: 10_000 });
              await page.waitForLoadState("networkidle");
              if (SHOTS)
                await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true });
              await expectNoOverflow(page);
              await expectAccessible(page, axeSource());
            } catch (error) {
              found.push(`${name}: ${error instanceof Error ? error.message.slice(0, 1500) : error}`);
            }
          },
          { colorScheme, viewport: { width, height: 900 } },
        );
      }
      expect(found).toEqual([]);
    },
    240_000,
  );
});

describe("the catalog", () => {
  it("shows odd names as text and 64-bit figures to the last digit", async () => {
    await visit("clusters/lab/tables?database=shop", {}, async (page) => {
      await page.getByText(GROUPED).first().waitFor();
      await page.getByText("per partition").first().waitFor();
      await page.getByText("unavailable: request_timeout").waitFor();
      expect(await page.locator("img").count()).toBe(0);
    });
  });

  it("pages through ten thousand tables with the place in the address", async () => {
    await visit("clusters/lab/tables?database=shop", {}, async (page) => {
      await page.getByText("1–100 of 10,000").waitFor();
      await page.getByRole("button", { name: "Last" }).click();
      await page.getByText("9,901–10,000 of 10,000").waitFor();
      expect(search(page)).toBe("?database=shop&offset=9900");
      await page.goBack();
      await page.getByText("1–100 of 10,000").waitFor();
    });
  });

  it("searches while typing and keeps the text in the address", async () => {
    await visit("clusters/lab/tables?database=shop", {}, async (page) => {
      await page.getByText("1–100 of 10,000").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("many_0042");
      await page.getByText("1–10 of 10 that match, 10,000 in all").waitFor();
      expect(search(page)).toBe("?database=shop&q=many_0042");
      await page.reload();
      expect(await page.getByLabel("Search tables").inputValue()).toBe("many_0042");
      await page.getByLabel("Search tables").fill("nothing at all");
      await page.getByText("No table matches “nothing at all”").waitFor();
      await page.getByRole("button", { name: "Clear filter" }).click();
      await page.getByText("1–100 of 10,000").waitFor();
    });
  });

  it("leads from a database over its tables to a table and back", async () => {
    await visit("clusters/lab/catalog", {}, async (page) => {
      await page.getByRole("link", { name: "Tables", exact: true }).last().waitFor();
      await page.getByRole("row", { name: "shop" }).getByRole("link", { name: "Tables" }).click();
      await page.getByRole("link", { name: "by_region" }).click();
      await page.getByRole("heading", { name: "shop.by_region is a primary key table" }).waitFor();
      await page.keyboard.press("]");
      await page.getByText("Custom properties").waitFor();
      expect(search(page)).toContain("tab=properties");
      await page.goBack();
      await page.getByRole("heading", { name: "shop.by_region is a primary key table" }).waitFor();
    });
  });

  it("opens the sheet of a database with an odd name by its link", async () => {
    await visit(`clusters/lab/catalog?open=${encodeURIComponent(ODD_NAME)}`, {}, async (page) => {
      await page.getByText("owner", { exact: true }).waitFor();
      expect(await page.locator("img").count()).toBe(0);
    });
  });

  it("asks for offsets at a time and for one partition, both in the address", async () => {
    await visit(`${BY_REGION}&tab=offsets`, {}, async (page, asked) => {
      await page.getByText("1 of 2 buckets answered").waitFor();
      await page.getByLabel("at").first().fill("2026-11-30T01:00:00Z");
      await page.getByRole("button", { name: "Look up" }).click();
      await page.getByText("First at or after").waitFor();
      await page.getByLabel("region").fill("kr");
      await page.getByRole("button", { name: "Filter" }).click();
      await expect.poll(() => new URL(page.url()).searchParams.get("spec")).toBe('{"region":"kr"}');
      expect(new URL(page.url()).searchParams.get("at")).toBe("2026-11-30T01:00:00Z");
      expect(asked.asked).toContain("GET /clusters/lab/operations/tables/offsets");
    });
  });
});

describe("an answer without data", () => {
  it("says that the cluster cannot be reached, with the id and the way to ask again", async () => {
    await visit("clusters/lab/catalog", instead("/clusters/lab/operations/databases", UNREACHABLE), async (page) => {
      await page.getByText("lab does not tell its databases").waitFor();
      await page.getByText("connect_failed").first().waitFor();
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await expectAccessible(page, axeSource());
    });
  });

  it.each([
    ["unsupported", "cannot tell"],
    ["refused", "refused to tell"],
  ] as const)("tells %s apart", async (status, words) => {
    await visit(
      "clusters/lab/config",
      instead("/clusters/lab/operations/cluster-config", envelope(null, status)),
      async (page) => {
        await page.getByText(words).waitFor();
      },
    );
  });

  it("names the permission that is missing", async () => {
    const denied = problem(403, "permission_denied", "needs fluss-plugin.operations.security.read");
    await visit(
      "clusters/lab/acls",
      instead("/clusters/lab/operations/acls", denied),
      async (page, _world, watched) => {
        await page.getByRole("button", { name: "Copy permission" }).waitFor();
        watched.forgive(/403/);
      },
    );
  });

  it("keeps the rows that were read before, and says that they are old", async () => {
    await visit("clusters/lab/catalog", {}, async (page, world_) => {
      await page.getByText("1–2 of 2").waitFor();
      world_.instead.set("/clusters/lab/operations/databases", UNREACHABLE);
      await page.keyboard.press(".");
      await page.getByText("The rows below are old.").waitFor();
      await page.getByRole("link", { name: "shop" }).waitFor();
    });
  });
});

describe("registering a cluster", () => {
  it("shows what the test found, and saves all the same only when told so", async () => {
    const found = {
      ...envelope(
        {
          verdict: "failed",
          security_protocol: "PLAINTEXT",
          ok_count: 0,
          failed_count: 1,
          skipped_count: 0,
          tablet_servers_alive_count: 0,
        },
        "unavailable",
        [{ check: "tcp", subject: "a:9123", state: "failed", code: "connect_failed", message: "refused" }],
      ),
    };
    const failed = problem(422, "connection_test_failed", "nothing was saved", { connection_test: found as never });
    await visit("register-cluster", instead("POST /clusters", failed), async (page, world_, watched) => {
      await page.getByLabel("Name", { exact: true }).fill("Orders EU");
      expect(await page.getByLabel("Name in paths").inputValue()).toBe("orders-eu");
      await page.getByText("staging", { exact: true }).click();
      await page.getByLabel("Servers to begin with").fill("a:9123");
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByText("Refused.").waitFor();
      const blocked = page.getByRole("button", { name: "Register" });
      expect(await blocked.getAttribute("aria-disabled")).toBe("true");
      await page.getByLabel("Save it although the test failed").check();
      world_.instead.set("POST /clusters", { cluster: { ...world_.clusters[1], slug: "lab" } });
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByRole("heading", { name: /^lab: / }).waitFor();
      watched.forgive(/422/);
    });
  });

  it("is disabled with its reason for those who may not", async () => {
    await visit("", { session: { ...SESSION, grants: ["pegel.*.read"] } }, async (page) => {
      const button = page.getByRole("button", { name: "Register a cluster" });
      expect(await button.getAttribute("aria-disabled")).toBe("true");
    });
  });
});

describe("the settings", () => {
  it("show a new token once", async () => {
    const made = { secret: "pgl_once_only", token: {} };
    await visit("tokens", instead("POST /account/tokens", made), async (page) => {
      await page.getByRole("button", { name: "Create a token" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("ci");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByText("pgl_once_only").waitFor();
      await page.keyboard.press("Escape");
      await page.getByText("pgl_once_only").waitFor();
      await page.getByRole("button", { name: "I have kept it" }).click();
      expect(await page.getByText("pgl_once_only").count()).toBe(0);
    });
  });

  it("page through the audit log by its cursor and check that it is whole", async () => {
    await visit("audit", {}, async (page) => {
      await page.getByText("user/250").waitFor();
      await page.getByRole("button", { name: "Older" }).click();
      await page.getByText("user/150", { exact: true }).waitFor();
      expect(search(page)).toBe("?before=151");
      await page.getByRole("button", { name: "Newest" }).click();
      await page.getByText("user/250").waitFor();
      await page.getByRole("button", { name: "Check that it is whole" }).click();
      await page.getByText("rows 1 to 250").waitFor();
    });
  });
});
