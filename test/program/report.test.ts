/** Covers `--report`: its figures are those of the summary, and a real browser shows it as it should. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectFits, startBrowser, wantedBrowser } from "../support/browser.js";
import { fixtures, idv } from "../support/run-idv.js";
import { folderOf } from "../support/temporary-folder.js";

const list =
  "email,created\n" +
  "ann@larch-and-oak.com,2026-01-03\nANN@larch-and-oak.com,2026-01-03\n,2026-01-04\n" +
  "bob@gmial.com,2026-01-05\ncarla.diaz@gmial.com,2026-03-05\n" +
  "d.e.e.lee@gmail.com,2026-03-06\ndeelee+x@gmail.com,2026-03-06\n" +
  "x@mailinator.com,2026-03-07\ny@mailinator.com,2026-03-07\nno sign,2026-03-08\n";

async function reportOn(home: string, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await idv(["emails", ...args, "--report", "r.html", "-q"], { home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return readFileSync(join(home, "r.html"), "utf8");
}

/** Returns the text of a page without its elements. */
const textOf = (page: string) =>
  page
    .slice(page.indexOf("<body>"))
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replace(/\s+/g, " ");

describe("--report", () => {
  test.each([
    ["over bytes", []],
    ["from JSON lines", ["--format", "jsonl"]],
  ])("counts what the list holds, %s", async (_, args) => {
    const home = folderOf({ "list.csv": list });
    const text = textOf(await reportOn(home, "list.csv", "-o", "out.csv", ...args));
    for (const part of [
      "4 of 9 can be written to. 5 rows are fake or disposable. 2 rows only have a mistyped domain.",
      "gmial.com → gmail.com 2",
      "mistyped domain 2 syntax 1",
      "mailinator.com 2",
      '"created"',
      "2026-01 3 1 33.3 % 2026-02 0 0 0.0 % 2026-03 6 4 66.7 %",
      "1 row repeats",
      "1 address reaches the mailbox of another one",
      "Units: 8; distinct addresses: 8",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("holds no address, unless that is wanted", async () => {
    const home = folderOf({ "list.csv": list });
    expect(textOf(await reportOn(home, "list.csv", "-o", "out.csv"))).not.toContain("@");
    const page = await reportOn(home, "list.csv", "-o", "out.csv", "--report-addresses");
    expect(textOf(page)).toContain(
      "6 carla.diaz@gmial.com fake (typo-domain: gmial.com) carla.diaz@gmail.com",
    );
  });

  test("has one page for several files", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": "email\nx@mailinator.com\nz@mailinator.com\n" });
    const text = textOf(await reportOn(home, "a.csv", "b.csv", "-o", "out/"));
    expect(text).toContain("a.csv, b.csv 4 of 11 can be written to.");
    expect(text).toContain("mailinator.com 4");
  });

  test("is made of the good files if one of several fails", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": 'email\n"open\n' });
    const { code, stderr } = await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html"], {
      home,
    });
    expect(code, stderr).not.toBe(0);
    expect(textOf(readFileSync(join(home, "r.html"), "utf8"))).toContain("a.csv 4 of 9");
  });

  test("leaves out a file that fails late, and a report on none", async () => {
    const home = folderOf({
      "a.csv": "email\nann@larch-and-oak.com\n",
      "b.csv": `email,n\n${"x@gmial.com,1\n".repeat(5000)}a,b,c,d\n`,
    });
    await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html", "-q"], { home });
    const text = textOf(readFileSync(join(home, "r.html"), "utf8"));
    expect(text).toContain("a.csv 1 of 1 can be written to. None is fake or disposable. Checked");
    expect(text).not.toContain("gmial.com");
    const none = folderOf({ "a.csv": "email,n\na,b,c\n", "b.csv": "email,n\na,b,c\n" });
    await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html", "-q"], { home: none });
    expect(
      readdirSync(none)
        .filter((name) => !["state", "out"].includes(name))
        .sort(),
    ).toEqual(["a.csv", "b.csv"]);
  });

  test("counts rows that keep their status", async () => {
    const home = folderOf({
      "u.csv": "email,status\ncarla.diaz@gmial.com,fake\nann@larch-and-oak.com,ok\nx@mailinator.com,\n",
    });
    const text = textOf(await reportOn(home, "u.csv", "--update", "-o", "o.csv", "--report-addresses"));
    expect(text).toContain("2 carla.diaz@gmial.com fake (typo-domain: gmial.com) carla.diaz@gmail.com");
    expect(text).toContain("gmial.com → gmail.com 1");
    expect(text).not.toContain("repeat");
  });

  test("names no address from the name of a file or column", async () => {
    const home = folderOf({
      "bob@corp.com.csv": 'email,"added by eve@corp.com",b@c.de mail\nx@mailinator.com,2026-01-01,a@b.de\n',
    });
    expect(textOf(await reportOn(home, "bob@corp.com.csv", "-c", "email", "-o", "o.csv"))).not.toContain("@");
  });

  test("is named in the summary, and escapes names", async () => {
    const name = '<img src=x onerror="alert(1)">.csv';
    const home = folderOf({ [name]: "email,<b>created</b>\nx@mailinator.com,2026-01-01\n" });
    const { stderr } = await idv(["emails", name, "-o", "o.csv", "--report", "r.html", "--log", "json"], {
      home,
    });
    const page = readFileSync(join(home, "r.html"), "utf8");
    expect(JSON.parse(stderr).files).toContainEqual({ path: "r.html", bytes: Buffer.byteLength(page) });
    expect(page).not.toContain("<img");
    expect(page).not.toContain("<b>");
  });

  test.each<[string, string[], string]>([
    ["the input", ["list.csv", "-o", "o.csv", "--report", "list.csv"], "cannot be"],
    ["the output", ["list.csv", "-o", "o.csv", "--report", "o.csv"], "cannot be"],
    ["the summary file", ["list.csv", "-o", "o.csv", "--report", "r", "--log", "json:r"], "cannot be"],
    ["a dry run", ["list.csv", "--dry-run", "--report", "r.html"], "cannot be used with"],
  ])("cannot be %s", async (_, args, message) => {
    const home = folderOf({ "list.csv": list });
    const { code, stderr } = await idv(["emails", ...args], { home });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(message);
    expect(readFileSync(join(home, "list.csv"), "utf8")).toBe(list);
  });

  test("of a run that fails leaves the one before, and nothing half-written", async () => {
    const home = folderOf({ "list.csv": 'email\n"open\n', "r.html": "old" });
    expect((await idv(["emails", "list.csv", "-o", "o.csv", "--report", "r.html"], { home })).code).not.toBe(
      0,
    );
    expect(readFileSync(join(home, "r.html"), "utf8")).toBe("old");
    expect(
      readdirSync(home)
        .filter((name) => name !== "state")
        .sort(),
    ).toEqual(["list.csv", "r.html"]);
  });

  test("that cannot be written ends the run before it costs units", async () => {
    const home = folderOf({ "list.csv": list });
    const args = ["emails", "list.csv", "-o", "o.csv", "--report", "missing/r.html"];
    const { code, stderr } = await idv(args, { home });
    expect(code, stderr).toBe(6);
    expect(existsSync(join(home, "o.csv"))).toBe(false);
  });

  test("stays below 200 kB for a list with a domain a row", async () => {
    const rows = Array.from({ length: 130_000 }, (_, i) => `a${i}@${"long-domain-".repeat(4)}${i}.com\n`);
    const home = folderOf({ "list.csv": `email\n${rows.join("")}` });
    const page = await reportOn(home, "list.csv", "-o", "o.csv");
    expect(page.length).toBeLessThan(200_000);
    expect(page).toContain("more than 125,000 domains");
  });
});

describe.skipIf(wantedBrowser() === undefined)("the report in a browser", () => {
  let browser: Browser;
  let path = "";
  const summary: { rows: number; statuses: Record<string, number> } = { rows: 0, statuses: {} };
  beforeAll(async () => {
    browser = await startBrowser();
    const home = folderOf({});
    path = join(home, "r.html");
    const { stderr } = await idv(
      ["emails", join(fixtures, "newsletter.csv"), "-o", "o.csv", "--report", path, "--log", "json"],
      { home },
    );
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
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent)),
      );
    const found = Object.entries(summary.statuses).filter(([, count]) => count > 0);
    for (const [status, count] of found)
      expect(shown).toContainEqual([status, count.toLocaleString("en-US")]);
    expect(noticed).toEqual([`file://${path}`]);
    await page.close();
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ] as const)("is accessible and fits, %s at %i pixels", async (colorScheme, width) => {
    const [page] = await open({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    await expectFits(page);
    await expectAccessible(page);
    await page.close();
  });

  test("is two pages of A4 at most on paper", async () => {
    const [page] = await open();
    const pdf = await page.pdf({ format: "A4", printBackground: true });
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)!.length).toBeLessThanOrEqual(2);
    await page.close();
  });

  test("keeps foreign scripts from running", async () => {
    const spoiled = join(path, "../spoiled.html");
    writeFileSync(
      spoiled,
      readFileSync(path, "utf8").replace("</main>", "<script>document.title='x'</script></main>"),
    );
    const page = await browser.newPage();
    await page.goto(`file://${spoiled}`);
    expect(await page.title()).toMatch(/^Report: /);
    await page.close();
  });
});
