/** Covers `--report` in a real browser; test/facts/report-of-run.test.ts has what its page counts. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { beforeIn } from "../../../src/core/facts/render/json.js";
import { browserFolder, expectAccessible, expectFits, startBrowser, wantedBrowser } from "../../support/browser.js";
import { fixtures, idv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

test("--report appears in the summary, and escapes names", async () => {
  const name = '<img src=x onerror="alert(1)">.csv';
  const home = folderOf({ [name]: "email,<b>created</b>\nx@mailinator.com,2026-01-01\n" });
  const { stderr } = await idv(["emails", name, "-o", "o.csv", "--report", "r.html", "--log", "json"], { home });
  const page = readFileSync(join(home, "r.html"), "utf8");
  expect(JSON.parse(stderr).outputs).toContainEqual({ path: "r.html", bytes: Buffer.byteLength(page) });
  expect(page).not.toMatch(/<img|<b>/);
});

describe.skipIf(wantedBrowser() === undefined)("the report in a browser", () => {
  let browser: Browser;
  let path = "";
  const summary: { rows: number; statuses: Record<string, number> } = { rows: 0, statuses: {} };
  beforeAll(async () => {
    browser = await startBrowser();
    const home = folderOf({});
    path = join(home, "r.html");
    const args = ["emails", join(fixtures, "newsletter.csv"), "-o", "o.csv", "--report", path, "--log", "json"];
    const { stderr } = await idv(args, { home });
    Object.assign(summary, JSON.parse(stderr.trim().split("\n").at(-1)!));
  });
  afterAll(() => browser?.close());

  /** Opens the page, and notes what it asks for and complains about. */
  async function open(settings: Parameters<Browser["newPage"]>[0] = {}): Promise<[Page, string[]]> {
    const page = await browser.newPage(settings);
    const noticed: string[] = [];
    page.on("console", (message) => noticed.push(message.text()));
    page.on("request", (request) => noticed.push(request.url()));
    await page.goto(`file://${path}`);
    return [page, noticed];
  }

  test("shows the figures of the summary, asks for nothing and reports no fault", async () => {
    const [page, noticed] = await open({ javaScriptEnabled: false });
    const shown = await page
      .locator(".statuses tbody tr")
      .evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent)));
    const found = Object.entries(summary.statuses).filter(([, count]) => count > 0);
    for (const [status, count] of found)
      expect(shown).toContainEqual([status.replace("fake", "undeliverable fake"), count.toLocaleString("en-US")]);
    expect(noticed).toEqual([`file://${path}`]);
    await page.close();
  });

  const windows = [
    ["light", 1280],
    ["light", 390],
    ["dark", 390],
    ["dark", 1280],
  ] as const;
  test.each(some(windows, 2))(
    "passes the accessibility checks and fits, %s at %i pixels",
    async (colorScheme, width) => {
      const [page] = await open({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
      await expectFits(page);
      await expectAccessible(page);
      await page.close();
    },
  );

  test("fills two pages of A4 at most on paper", async () => {
    const [page] = await open();
    const pdf = await page.pdf({ format: "A4", printBackground: true });
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)!.length).toBeLessThanOrEqual(2);
    await page.close();
  });

  test("becomes a PDF, which tells the next one what changed", async () => {
    const browser = `#!/bin/sh\nLD_LIBRARY_PATH='${browserFolder}/al2023/lib' FONTCONFIG_PATH='${browserFolder}/fonts' exec '${wantedBrowser()}' "$@" --headless=shell\n`;
    const home = folderOf({ "bin/chromium": browser, "tmp/.keep": "", "list.csv": "email\nx@mailinator.com\n" }, 0o755);
    const env = { PATH: `${join(home, "bin")}:${process.env["PATH"]}`, TMPDIR: join(home, "tmp") };
    for (let round = 0; round < 2; round++) {
      const { code, stderr } = await idv(["emails", "list.csv", "-q", "-o", "o.csv", "--report", "r.pdf"], {
        home,
        env,
      });
      expect([code, stderr]).toEqual([0, ""]);
    }
    const pdf = readFileSync(join(home, "r.pdf"), "latin1");
    expect(pdf.slice(0, 5)).toBe("%PDF-");
    expect(pdf.slice(-1024)).toContain("%%EOF");
    expect(beforeIn(pdf)).toMatchObject({ rows: 1, statuses: { disposable: 1 }, inputs: ["list.csv"] });
    expect(readdirSync(join(home, "tmp"))).toEqual([".keep"]);
  });

  test("keeps foreign scripts from running", async () => {
    const spoiled = join(path, "../spoiled.html");
    writeFileSync(spoiled, readFileSync(path, "utf8").replace("</main>", "<script>document.title='x'</script></main>"));
    const page = await browser.newPage();
    await page.goto(`file://${spoiled}`);
    expect(await page.title()).toMatch(/^Report: /);
    await page.close();
  });
});
