// The way of everyday work on the real demo, for each role: from the login to the access rules.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { admin, newPerson, theDemo } from "./demo";
import { heading, signedInAt } from "./site";

const signedIn = signedInAt(() => theDemo().url);
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
const rail = (page: Page, place: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place, exact: true }).click();

async function toTheOffsets(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Demo", exact: true }).click();
  await heading(page, "Demo: all 3 tablet servers answer").waitFor();
  await rail(page, "Databases");
  await heading(page, /^\d+ databases in demo$/).waitFor();
  await page.getByRole("row", { name: "shop" }).getByRole("link", { name: "Tables" }).click();
  await heading(page, /^\d+ tables in shop$/).waitFor();
  await page.getByRole("row", { name: "customers" }).getByText("OK").waitFor();
  await page.getByRole("link", { name: "orders", exact: true }).click();
  await heading(page, "shop.orders is a log table").waitFor();
  await page.getByRole("link", { name: "Offsets", exact: true }).click();
  await page.getByText("3 of 3 buckets answered").waitFor();
}

/** Types a time by the clocks of Berlin, in which the browser of these tests lives. */
async function offsetsAtATime(page: Page): Promise<void> {
  const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_000);
  const typed = new Intl.DateTimeFormat("sv-SE", {
    timeZone: "Europe/Berlin",
    dateStyle: "short",
    timeStyle: "medium",
  });
  await page.getByLabel("at", { exact: true }).fill(typed.format(at));
  await page.getByRole("button", { name: "Look up" }).click();
  await page.getByText("First at or after").waitFor();
  await page.getByText("3 of 3 buckets answered").waitFor();
  expect(parameter(page, "at")).toBe(at.toISOString().replace(".000Z", "Z"));
  await page.reload();
  await page.getByText("First at or after").waitFor();
  await page.getByText("3 of 3 buckets answered").waitFor();
  await page.goBack();
  await page.getByText("Offsets now").waitFor();
}

async function configuration(page: Page): Promise<void> {
  await rail(page, "Configuration");
  await heading(page, /^\d+ values are in force on demo$/).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("kv.snapshot");
  await page.getByText("kv.snapshot.interval", { exact: true }).waitFor();
  await page.getByText("default.bucket.number", { exact: true }).waitFor({ state: "detached" });
  expect(parameter(page, "q")).toBe("kv.snapshot");
}

const hasRules = () => theDemo().security_protocol === "SASL_PLAINTEXT";

describe("the way from the login to the access rules", () => {
  it("is open to an admin, to its end", async () => {
    await signedIn(admin(), async (page) => {
      await heading(page, "1 cluster, up").waitFor();
      await toTheOffsets(page);
      await offsetsAtATime(page);
      await configuration(page);
      if (hasRules()) {
        await page.getByLabel("Search keys, values and sources").fill("jaas");
        await page.getByText("hidden: looks like a secret").waitFor();
      }
      await rail(page, "Access control");
      if (hasRules()) {
        await heading(page, "5 access-control entries").waitFor();
        await page.getByRole("row", { name: "User:reader" }).getByText("read", { exact: true }).waitFor();
        await page.getByLabel("principal").fill("User:writer");
        await page.getByRole("button", { name: "Filter" }).click();
        await heading(page, "4 access-control entries that match").waitFor();
      } else {
        await heading(page, "Security is off on demo").waitFor();
        await page.getByText("This is not a missing permission.").waitFor();
      }
    });
  });

  it.each(["editor", "viewer"] as const)(
    "ends for an %s where the permission is missing, which is named",
    async (role) => {
      const person = await newPerson(role);
      await signedIn(person, async (page, watched) => {
        watched.forgive(/403/);
        const register = page.getByRole("button", { name: "Register a cluster" });
        expect(await register.getAttribute("aria-disabled")).toBe("true");
        await toTheOffsets(page);
        await offsetsAtATime(page);
        await configuration(page);
        await rail(page, "Access control");
        await page.getByText("fluss-plugin.operations.security.read").waitFor();
        await page.getByRole("button", { name: "Copy permission" }).waitFor();
        await rail(page, "Connection");
        expect(await page.getByRole("button", { name: "Remove" }).getAttribute("aria-disabled")).toBe("true");
        await rail(page, "Users");
        await page.getByText("pegel.users.read").waitFor();
        await rail(page, "Audit");
        await page.getByText("pegel.audit.read", { exact: true }).waitFor();
        await rail(page, "My account");
        await heading(page, `You are signed in as ${person.name}`).waitFor();
      });
    },
  );
});
