// The console without a mouse.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { admin, theDemo } from "./demo";
import { heading, PAGES, signedInAt, visit } from "./site";

const { url } = theDemo();
const signedIn = signedInAt(() => url);

interface Stop {
  readonly what: string;
  readonly isMarked: boolean;
  readonly isInSight: boolean;
}

/** What has the focus, whether that can be seen, and whether the page has been gone through. */
async function stop(page: Page): Promise<Stop | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    // The mark may be drawn around the label of a hidden radio button, or inside the cells of a row.
    const places = [element, element.parentElement, element.firstElementChild].filter((place) => place !== null);
    const isMarked = places.some((place) => {
      const style = getComputedStyle(place);
      return style.outlineStyle !== "none" || style.boxShadow !== "none";
    });
    const box = (
      element.matches("input[type='radio'], input[type='checkbox']") ? element.parentElement : element
    )?.getBoundingClientRect();
    const isInSight = box !== undefined && box.bottom > 0 && box.top < window.innerHeight && box.width > 0;
    const what = `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent?.slice(0, 40)}`;
    return { what, isMarked, isInSight };
  });
}

describe("without a mouse", () => {
  it("everything on each page is reached, is in sight then, and is marked", async () => {
    await signedIn(admin(), async (page) => {
      const wrong: string[] = [];
      for (const [path, text] of PAGES) {
        await visit(page, url, path);
        await page.getByText(text).first().waitFor();
        // A sheet that is open by its link has the focus: to the end of the page first, then through all of it.
        await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        for (let presses = 0; presses < 300; presses += 1) {
          await page.keyboard.press("Tab");
          if ((await stop(page)) === undefined) break;
        }
        const seen: string[] = [];
        for (let presses = 0; presses < 300; presses += 1) {
          await page.keyboard.press("Tab");
          const at = await stop(page);
          if (at === undefined) break;
          seen.push(at.what);
          if (!at.isMarked) wrong.push(`${path}: ${at.what} is not marked`);
          if (!at.isInSight) wrong.push(`${path}: ${at.what} is not in sight`);
        }
        expect(seen.length, `${path} holds the focus: ${seen.slice(-4).join(" → ")}`).toBeLessThan(300);
        expect(seen[0]).toContain("Skip to the content");
      }
      expect(wrong).toEqual([]);
    });
  });

  it("the work of every day is done", async () => {
    await signedIn(admin(), async (page) => {
      const keys = async (...all: string[]) => {
        for (const key of all) await page.keyboard.press(key);
      };
      await heading(page, /cluster/).waitFor();
      await page.getByRole("link", { name: "Demo", exact: true }).waitFor();
      await keys("j", "Enter");
      await heading(page, /tablet servers answer/).waitFor();
      await page.getByText("tablet server 2").first().waitFor();
      await keys("j", "j", "Enter");
      await page.getByText("to a version request on its own connection").waitFor();
      await keys("Escape");
      await page.getByText("to a version request on its own connection").waitFor({ state: "detached" });
      await keys("g", "d");
      await heading(page, /databases in demo/).waitFor();
      await page.getByText("telemetry").waitFor();
      await keys("g", "t");
      await heading(page, /tables/).waitFor();
      await page.getByText("shop.orders").waitFor();
      await keys("/");
      await page.keyboard.type("shop.orders");
      await page.getByText("1–1 of 1 that match").waitFor();
      await keys("Enter", "Enter");
      await heading(page, "shop.orders is a log table").waitFor();
      await page.getByText("bucket key").first().waitFor();
      await keys("]", "]", "]");
      await page.getByText("3 of 3 buckets answered").waitFor();
      await keys("[");
      await page.getByText("Replicas on").waitFor();
      for (const [key, words] of [
        ["f", /values are in force/],
        ["a", /Security is off|access-control/],
        ["k", /is registered as/],
        ["u", /\d+ users?/],
        ["n", /access tokens?/],
        ["l", /What was done/],
        ["m", /You are signed in as/],
        ["o", /cluster/],
      ] as const) {
        await keys("g", key);
        await heading(page, words).waitFor();
      }
      await keys("?");
      await page.getByRole("dialog", { name: "Keys on this page" }).waitFor();
      await keys("Escape", "Control+k");
      await page.getByRole("combobox").fill("Configuration");
      await keys("Escape");
      await page.getByRole("combobox").waitFor({ state: "detached" });
    });
  });
});
