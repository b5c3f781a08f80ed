/**
 * Covers the page for lists and the dashboard in Firefox, beside Chromium in the other tests. Drives the Firefox of the system by
 * puppeteer-core, which it fetches from npm, some 30 MB, into node_modules/.cache.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkTo } from "../support/dashboard.js";
import { hasProgram } from "../support/programs.js";
import { serve } from "../support/service.js";
import { createKeyIn, jsonOf } from "../support/states.js";
import { folderOf, temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "node_modules/.cache/idv-firefox/");
const program = ["firefox-esr", "firefox"].find(hasProgram);
if (program === undefined) process.stderr.write("skipped: no Firefox is installed (Debian: firefox-esr)\n");

/** What these tests use of puppeteer-core, whose types are fetched with it. */
interface Element {
  click(): Promise<void>;
  type(text: string): Promise<void>;
  uploadFile(path: string): Promise<void>;
}
interface Page {
  goto(url: string): Promise<unknown>;
  waitForSelector(selector: string): Promise<Element>;
  $eval<Value>(selector: string, read: (element: HTMLElement) => Value): Promise<Value>;
  on(event: "pageerror", listener: (error: Error) => void): void;
  setViewport(size: { width: number; height: number }): Promise<void>;
  evaluate<Value>(read: () => Value): Promise<Value>;
}
interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

describe.skipIf(program === undefined)("in Firefox", () => {
  let browser: Browser;
  const faults: string[] = [];
  beforeAll(async () => {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "package.json"), "{}");
    const options = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--silent"];
    execFileSync("npm", ["install", ...options, "puppeteer-core@24.10"], { cwd: cache });
    const { default: puppeteer } = await import(pathToFileURL(createRequire(cache).resolve("puppeteer-core")).href);
    const executablePath = execFileSync("which", [program!], { encoding: "utf8" }).trim();
    browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
  });
  afterAll(() => browser?.close());

  async function open(url: string): Promise<Page> {
    const page = await browser.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    await page.goto(url);
    return page;
  }
  const textOf = (page: Page, selector: string) => page.$eval(selector, (element) => element.textContent ?? "");
  const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

  test("the page checks a list from the disk, and fits a phone", async () => {
    const folder = folderOf({
      "list.csv": "id,email\n1,ann.lee@larch-and-oak.com\n2,x@mailinator.com\n3,bob.smith@gmial.com\n",
    });
    const page = await open(pathToFileURL(join(root, "dist/page/index.html")).href);
    const input = await page.waitForSelector("#file");
    await input.uploadFile(join(folder, "list.csv"));
    await page.waitForSelector(".lead");
    expect(await textOf(page, ".lead")).toBe("1 of 3 addresses is fit for a mailing.");
    expect(await textOf(page, "main")).toContain("bob.smith@gmail.com");
    for (const width of [1280, 390]) {
      await page.setViewport({ width, height: 900 });
      expect([width, await fits(page)]).toEqual([width, true]);
    }
  });

  test("a person signs in to the dashboard, creates a key, and has a list checked", async () => {
    const home = temporaryFolder();
    const state = join(home, "service.db");
    await createKeyIn(state);
    const { url } = await serve(home, "-q", "--state", state, "--lists", join(home, "lists"));
    const page = await open(await linkTo(url, ["--state", state]));
    await (await page.waitForSelector("button")).click();
    await page.waitForSelector(".cards");
    await page.goto(`${url}/dashboard/keys`);
    await (await page.waitForSelector("#create [name=name]")).type("firefox");
    await (await page.waitForSelector("#create button")).click();
    await page.waitForSelector(".secret code");
    const keys = await jsonOf(["keys", "list", "--state", state]);
    expect(keys).toContainEqual(expect.objectContaining({ name: "firefox" }));
    const folder = folderOf({ "people.csv": "mail\nann@larch-and-oak.com\nx@mailinator.com\n" });
    await page.goto(`${url}/dashboard/lists`);
    await (await page.waitForSelector("input[type=file]")).uploadFile(join(folder, "people.csv"));
    await (await page.waitForSelector("form[data-upload] button")).click();
    const start = await page.waitForSelector('form[action$="/run"] button');
    expect(await textOf(page, "h1")).toBe("people.csv");
    await start.click();
    // The page loads itself again while the list is checked: looked at from outside, since each load ends what looks from within.
    const listed = async () => (await jsonOf(["keys", "list", "--state", state])).some(({ used }) => used === 2);
    await expect.poll(listed).toBe(true);
    await page.goto(await page.evaluate(() => location.href));
    await page.waitForSelector("a.button");
    expect(await textOf(page, ".good")).toBe("2 rows checked, for 2 units.");
    for (const path of ["", "/keys", "/usage", "/try", "/lists", "/sessions"]) {
      await page.goto(`${url}/dashboard${path}`);
      for (const width of [1280, 390]) {
        await page.setViewport({ width, height: 900 });
        expect([path, width, await fits(page)]).toEqual([path, width, true]);
      }
    }
    expect(faults).toEqual([]);
  });
});
