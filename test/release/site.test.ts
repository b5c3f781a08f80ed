/** Covers the site: its links, its commands, that it asks no other host, its search, and its looks in a browser. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectFits, startBrowser, wantedBrowser } from "../support/browser.js";
import { serveFiles } from "../support/static-server.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "dist/site");
const pages = new Map<string, string>();
beforeAll(() => {
  execFileSync(process.execPath, [join(root, "src/package/release/site/build-site.mjs")]);
  for (const name of readdirSync(folder)) {
    if (name.endsWith(".html")) pages.set(name, readFileSync(join(folder, name), "utf8"));
  }
});

test("everyone may read all of it, as its host asks", () => {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const found = statSync(join(folder, name));
    expect(found.isFile() && (found.mode & 0o444) === 0o444, name).toBe(true);
  }
});

test("every link leads to a page and a heading of it", () => {
  const files = new Set(readdirSync(folder));
  let links = 0;
  for (const [name, html] of pages) {
    for (const [, href = ""] of html.matchAll(/href="([^"]*)"/g)) {
      links++;
      if (/^(?:https:\/\/|data:)/.test(href)) continue;
      const [path = "", anchor] = href.split("#");
      expect(path === "" || files.has(path), `${name}: ${href}`).toBe(true);
      if (anchor) expect(pages.get(path || name), `${name}: ${href}`).toContain(`id="${anchor}"`);
    }
  }
  expect(links).toBeGreaterThan(1000);
});

test("the commands in code are commands of idv", () => {
  const known = [...pages.keys()].flatMap((name) => /^command-(.*)\.html$/.exec(name)?.slice(1) ?? []);
  const first = new Set(known.map((name) => name.split("-")[0]));
  let commands = 0;
  for (const [name, html] of pages) {
    for (const [, block = ""] of html.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)) {
      for (const [, command = ""] of block.matchAll(/(?:^|[|$;&(]\s*)idv ([a-z]+)\b(?!:)/gm)) {
        commands++;
        expect(first.has(command) || command === "help", `${name}: idv ${command}`).toBe(true);
      }
    }
  }
  expect(commands).toBeGreaterThan(60);
});

test("the document of the API is there", () => {
  const { paths } = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8"));
  for (const path of Object.keys(paths)) expect(pages.get("api.html")).toContain(` ${path}</h2>`);
});

describe.skipIf(wantedBrowser() === undefined)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test.each([
    [1280, "light"],
    [390, "dark"],
  ] as const)("pages fit %i pixels, are accessible, and ask no other host", async (width, colorScheme) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
    const page = await context.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const name of [
      "index",
      "install",
      "library",
      "format-excel",
      "topic-statuses",
      "command-emails",
      "api",
      "reasons",
      "changelog",
    ]) {
      await page.goto(`${pathToFileURL(folder)}/${name}.html`);
      await expectFits(page);
      await expectAccessible(page);
    }
    expect(requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
    await context.close();
  });

  test("the first page checks an item, and shows the report on the example list", async () => {
    const page = await browser.newPage();
    await page.goto(`${pathToFileURL(folder)}/index.html`);
    const said = async (item: string) => {
      await page.getByLabel("An address or a domain").fill(item);
      await page.getByRole("button", { name: "Check" }).click();
      await expect.poll(() => page.textContent(".try output")).toMatch(/./);
      return page.textContent(".try output");
    };
    expect(await said("")).toBe("fake: typo-domain: gmial.com. Did you mean grace.lee@gmail.com?");
    await expect.poll(() => said("ann@larch-and-oak.com")).toBe("ok");
    await expect.poll(() => said("mailinator.com")).toBe("disposable: disposable-domain: mailinator.com");
    expect(await page.locator("figure img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(800);
    await page.locator("figure img").click();
    await page.waitForURL(/report\.html/);
    expect(await page.textContent(".lead")).toContain("fit for a mailing");
    expect(await page.textContent("h1")).toBe("newsletter.csv");
  });

  test("each option of a command has a place of its own", async () => {
    const page = await browser.newPage();
    await page.goto(`${pathToFileURL(folder)}/command-emails.html#option-dedupe`);
    expect(await page.textContent("dt:target")).toBe("--dedupe [=KEY]");
    expect(await page.locator("dt:target + dd").textContent()).toBe(
      "leave out duplicates: write the first row of each item, or mailbox",
    );
    expect(await page.locator("dt[id]").count()).toBeGreaterThan(30);
  });

  test("code is copied by a button, where the browser has a clipboard", async () => {
    const { url } = await serveFiles(folder);
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    await page.goto(`${url}/install.html`);
    await page.getByRole("button", { name: "Copy" }).first().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe("npm ci\nnpx idv emails list.csv -o checked.csv");
    await context.close();
  });

  test("the search finds headings, and Enter opens the first", async () => {
    const page = await browser.newPage();
    await page.goto(`${pathToFileURL(folder)}/index.html`);
    await page.fill("input[type=search]", "fail-on");
    expect(await page.locator(".results a").count()).toBeGreaterThan(2);
    expect(await page.locator(".results li").first().textContent()).toContain("--fail-on");
    await page.fill("input[type=search]", "idv quota set");
    await page.press("input[type=search]", "Enter");
    await page.waitForURL(/command-quota-set\.html/);
    expect(await page.textContent("h1")).toBe("idv quota set");
    // The words of other programs, which the text does not have.
    await page.fill("input[type=search]", "remove duplicates");
    expect(await page.locator(".results a").allTextContents()).toEqual(["idv emails: --dedupe [=KEY]"]);
    await page.fill("input[type=search]", "qqqqxyz");
    expect(await page.textContent(".results")).toBe("Nothing found.");
  });
});
