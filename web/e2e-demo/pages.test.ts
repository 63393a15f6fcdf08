// Every page on real data: for everyone, on every screen, by link and as a line for a terminal.
import { execFileSync } from "node:child_process";
import { delimiter, dirname } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeSource, expectAccessible, expectNoOverflow } from "../e2e/browser";
import { admin, given, theDemo } from "./demo";
import { measured } from "./measures";
import { PAGES, signedInAt, visit } from "./site";

const { url } = theDemo();
const signedIn = signedInAt(() => url);
const SHOTS = process.env.PEGEL_SHOTS;

/** Width and height as the page has them; 720 × 450 is a window of 1440 × 900 at 200 % zoom. */
const SCREENS = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 720, height: 450 },
  { width: 390, height: 844 },
] as const;

/** A line in bash, with `pegel` on the path and the variables that the page names. */
function run(line: string, variables: Readonly<Record<string, string>> = {}): string {
  const { token, password } = theDemo();
  return execFileSync("bash", ["--noprofile", "--norc", "-c", line], {
    encoding: "utf8",
    env: {
      PATH: `${dirname(given("PEGEL_PROGRAM"))}${delimiter}${process.env.PATH ?? ""}`,
      HOME: given("PEGEL_DEMO"),
      PEGEL_SERVER: url,
      PEGEL_TOKEN: token,
      PEGEL_PASSWORD: password,
      ...variables,
    },
  });
}

/** The lines that are shown, last on the page or in the open dialog. */
async function lines(page: Page): Promise<{ cli: string | undefined; curl: string }> {
  const dialog = page.getByRole("dialog");
  const place = (await dialog.count()) > 0 ? dialog : page.locator("main");
  const forms = place.getByRole("radiogroup", { name: "Form of the line" }).last();
  const text = place.locator("pre").last();
  const cli = forms.getByRole("radio", { name: "as CLI" });
  const hasCli = await cli.isEnabled();
  if (hasCli) await cli.check({ force: true });
  const first = hasCli ? ((await text.textContent()) ?? "") : undefined;
  await forms.getByRole("radio", { name: "as curl" }).check({ force: true });
  return { cli: first, curl: (await text.textContent()) ?? "" };
}

const STATUS = " -o /dev/null -w '%{http_code}'";

describe("each page", () => {
  it.each(["light", "dark"] as const)(
    "has no violation and no overflow on any screen in the %s theme",
    async (colorScheme) => {
      let violations = 0;
      const found: string[] = [];
      await signedIn(
        admin(),
        async (page) => {
          for (const [path, text] of PAGES) {
            await visit(page, url, path);
            await page.getByText(text).first().waitFor();
            for (const screen of SCREENS) {
              await page.setViewportSize(screen);
              if (SHOTS) {
                const name = path.replaceAll(/[^a-z_]+/g, "-") || "overview";
                await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}-${screen.width}.png`, fullPage: true });
              }
              await expectNoOverflow(page).catch((error) => found.push(`${path} at ${screen.width}: ${error}`));
            }
            await expectAccessible(page, axeSource()).catch((error) => {
              violations += 1;
              found.push(`${path}: ${String(error).slice(0, 800)}`);
            });
            await page.setViewportSize(SCREENS[0]);
            await expectAccessible(page, axeSource()).catch((error) => {
              violations += 1;
              found.push(`${path}: ${String(error).slice(0, 800)}`);
            });
          }
        },
        { colorScheme },
      );
      measured(`pages with axe violations, ${colorScheme}`, violations);
      expect(found).toEqual([]);
    },
  );

  it("is what its link says after a reload and after a way forth and back", async () => {
    await signedIn(admin(), async (page) => {
      for (const [path, text] of PAGES.filter(([path]) => path.includes("?"))) {
        await visit(page, url, path);
        await page.getByText(text).first().waitFor();
        await page.reload();
        await page.getByText(text).first().waitFor();
        await page.getByRole("link", { name: "Pegel", exact: true }).click();
        await page.getByText("registered").first().waitFor();
        await page.goBack();
        await page.getByText(text).first().waitFor();
        expect(page.url()).toBe(new URL(path, url).href);
      }
    });
  });

  it("shows lines that work when they are pasted", async () => {
    const failed: string[] = [];
    let count = 0;
    const attempt = (path: string, line: string, check: (output: string) => void) => {
      count += 1;
      try {
        check(run(line));
      } catch (error) {
        failed.push(`${path}: ${line}: ${error instanceof Error ? error.message : error}`);
      }
    };
    await signedIn(admin(), async (page) => {
      // Forms change something; they have tests of their own.
      const forms = ["register-cluster", "clusters/demo/settings?edit=yes", "account/password"];
      for (const [path, text] of PAGES.filter(([path]) => !forms.includes(path))) {
        await visit(page, url, path);
        await page.getByText(text).first().waitFor();
        const { cli, curl } = await lines(page);
        // Rules that are switched off are an answer, but not what was asked for.
        const isOff = path.endsWith("acls") && theDemo().security_protocol === "PLAINTEXT";
        if (cli !== undefined && !isOff) attempt(path, cli, () => undefined);
        attempt(path, `${curl}${STATUS}`, (output) => expect(output).toMatch(/^(200)$/));
      }
    });
    measured("lines for a terminal that fail", failed.length);
    expect(failed).toEqual([]);
    expect(count).toBeGreaterThan(30);
  });
});

describe("what a form shows, done in a terminal, is done", () => {
  it("registers a cluster and removes it, by command and by curl", async () => {
    const { bootstrap, security_protocol: protocol, users } = theDemo();
    await signedIn(admin(), async (page, watched) => {
      // The page of the cluster is open while it is removed elsewhere.
      watched.forgive(/404/);
      for (const way of ["cli", "curl"] as const) {
        const slug = `walk-${way}-${Date.now().toString(36)}`;
        await visit(page, url, "register-cluster");
        await page.getByLabel("Name", { exact: true }).fill(`Walk "${way}" 'né'`);
        await page.getByLabel("Name in paths").fill(slug);
        await page.getByRole("radio", { name: "test", exact: true }).check({ force: true });
        await page.getByLabel("Servers to begin with").fill(bootstrap);
        await page.getByRole("radio", { name: protocol, exact: true }).check({ force: true });
        const user = users[0];
        if (user !== undefined) {
          await page.getByLabel("User", { exact: true }).fill(user.name);
          await page.getByLabel("Password", { exact: true }).fill(user.password);
        }
        const shown = await lines(page);
        expect(shown.curl + shown.cli).not.toContain(user?.password ?? "no password");
        run(shown[way] ?? "", { PEGEL_SASL_PASSWORD: user?.password ?? "" });
        await visit(page, url, `clusters/${slug}/settings`);
        await page.getByRole("heading", { name: `Walk "${way}" 'né' is registered as test` }).waitFor();
        await page.getByRole("button", { name: "Remove" }).click();
        run((await lines(page))[way] ?? "");
        const left = run("pegel cluster list --output json");
        expect(left).not.toContain(slug);
      }
    });
  });

  it("makes a user and a token", async () => {
    await signedIn(admin(), async (page) => {
      await visit(page, url, "users");
      await page.getByRole("button", { name: "Create a user" }).click();
      await page
        .getByRole("dialog")
        .getByLabel("Name to sign in with")
        .fill(`walk-${Date.now().toString(36)}`);
      await page.getByRole("dialog").getByLabel("Name shown").fill(`O'Neil "<b>" 🐟`);
      const user = JSON.parse(run((await lines(page)).curl)) as { user: { display_name: string } };
      expect(user.user.display_name).toBe(`O'Neil "<b>" 🐟`);
      await visit(page, url, "tokens");
      await page.getByRole("button", { name: "Create a token" }).click();
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("walk");
      const token = JSON.parse(run((await lines(page)).curl)) as { secret: string };
      expect(token.secret).toMatch(/^pgl_/);
    });
  });
});

describe("a link", () => {
  it("is copied with the zone of its times, and the zone that is chosen stands in the address", async () => {
    await signedIn(
      admin(),
      async (page) => {
        await visit(page, url, "clusters/demo/catalog?open=shop");
        await page.getByRole("button", { name: "Copy link to this page" }).click();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expect(copied).toBe(new URL("clusters/demo/catalog?open=shop&tz=Europe/Berlin", url).href);
        await page.getByRole("button", { name: /^Account of/ }).click();
        await page.getByRole("menuitem", { name: "Time zone…" }).click();
        await page.getByRole("dialog").getByRole("combobox", { name: "Time zone" }).fill("Tokyo");
        await page.getByRole("option", { name: /Tokyo/ }).click();
        await expect.poll(() => new URL(page.url()).searchParams.get("tz")).toBe("Asia/Tokyo");
        await page.keyboard.press("Escape");
        await visit(page, url, "users");
        await expect.poll(() => new URL(page.url()).searchParams.get("tz")).toBe("Asia/Tokyo");
      },
      { permissions: ["clipboard-read", "clipboard-write"] },
    );
  });

  it("with parts that the page does not know says so", async () => {
    await signedIn(admin(), async (page) => {
      await visit(page, url, "clusters/demo/config?q=kv&colour=blue");
      await page.getByText("part of the link is ignored").waitFor();
      await page.getByText("kv.snapshot.interval", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Take it out" }).click();
      await page.getByText("part of the link is ignored").waitFor({ state: "detached" });
      expect(new URL(page.url()).search).toBe("?q=kv");
    });
  });
});
