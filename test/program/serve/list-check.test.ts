/** Covers checking a list in the browser: the file is that of the command line, and nothing of it stays behind. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { writeXlsx } from "hucre/xlsx";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectFits, startBrowser, wantedBrowser } from "../../support/browser.js";
import { linkTo, ownFields, postForm, signIn } from "../../support/dashboard.js";
import { endedBy } from "../../support/processes.js";
import { randomFrom } from "../../support/random.js";
import { idv } from "../../support/run-idv.js";
import { serve, serveWith } from "../../support/service.js";
import { createKeyIn, databases, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull, times } from "../../support/tier.js";
import { zip } from "../../support/zip.mjs";

/** A service with a key, and a folder for lists. */
async function start(state: string, ...args: string[]) {
  const folder = temporaryFolder();
  await createKeyIn(state, "--limit", "5000000");
  const service = await serve(temporaryFolder(), "-q", "--state", state, "--lists", folder, ...args);
  return { service, folder, left: () => readdirSync(folder) };
}

const inBrowser = describe.skipIf(wantedBrowser() === undefined || !isFull);
inBrowser.each(await databases())("in a browser, on %s", (_, newState) => {
  let browser: Browser;
  let page: Page;
  let state: string;
  let running: Awaited<ReturnType<typeof start>>;
  const faults: string[] = [];
  beforeAll(async () => {
    state = await newState();
    [browser, running] = await Promise.all([startBrowser(), start(state)]);
    page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(await linkTo(running.service.url, ["--state", state]));
    await page.getByRole("button", { name: "Sign in" }).click();
  });
  afterAll(() => browser.close());
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const send = async (name: string, content: Uint8Array | string) => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, content);
    await page.goto(`${running.service.url}/dashboard/lists`);
    await page.locator("input[type=file]").setInputFiles(path);
    await press("Send");
    // The page of the list, or why it was not taken.
    await page.waitForFunction(() => {
      const said = document.querySelector("output")?.textContent;
      return said == null ? document.querySelector("button.danger") : !/^$|sent$|Reading/.test(said);
    });
    return path;
  };
  const untilDone = () => page.locator("a.button, .fault").first().waitFor({ timeout: 60_000 });
  const download = async () => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator("a.button").first().click()]);
    return { name: file.suggestedFilename(), content: readFileSync((await file.path())!) };
  };

  test("a long list comes back as the command line writes it, and is charged to the key", async () => {
    const count = times(1_000_000, 20_000);
    const distinct = 0.7 * count;
    const [rowsText, distinctText] = [count, distinct].map((number) => number.toLocaleString("en"));
    const addresses = Array.from(
      { length: distinct },
      (_, i) => `user${i}@${i % 9 ? "larch-and-oak" : "mailinator"}.com`,
    );
    const rows = Array.from({ length: count }, (_, i) => `${i},"Person ${i}, x",${addresses[i % distinct]}\r\n`);
    const path = await send("customers.csv", `id,name,email\r\n${rows.join("")}`);
    expect(await page.textContent("form.box")).toContain(`${rowsText} rows with ${distinctText} different addresses`);
    expect(await page.locator("select[name=column] option[selected]").textContent()).toBe("3 email");
    await expectFits(page);
    await press("Check the list");
    await untilDone();
    expect(await page.textContent(".good")).toBe(`${rowsText} rows checked, for ${distinctText} units.`);
    const { name, content } = await download();
    expect(name).toBe("checked-customers.csv");
    const output = join(temporaryFolder(), "checked.csv");
    expect((await idv(["emails", path, "--offline", "-q", "-o", output])).code).toBe(0);
    expect(content.equals(readFileSync(output))).toBe(true);
    expect(await jsonOf(["keys", "list", "--state", state])).toMatchObject([{ used: distinct }]);
    const link = page.getByRole("link", { name: "Report" });
    const [report] = await Promise.all([page.waitForEvent("popup"), link.click()]);
    expect(await report.textContent("h1")).toBe("customers.csv");
    // Its style applies.
    expect(await report.locator("h1").evaluate((h1) => getComputedStyle(h1).margin)).toBe("0px");
    await report.close();
    await press("Remove the list");
    await page.locator("input[type=file]").waitFor();
    expect(running.left()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("rows are left out, and statuses get files of their own, as chosen", async () => {
    await send("a=1 +x.csv", "=cmd|x;mail\n1;a@mailinator.com\n2;ann@larch-and-oak.com\n3;x@@\n");
    await page.getByLabel("Leave out").selectOption("fake");
    await page.getByLabel("a file for each status").check();
    await press("Check the list");
    await untilDone();
    expect(await page.locator("a.button").allTextContents()).toEqual([
      expect.stringContaining("disposable.csv"),
      expect.stringContaining("ok.csv"),
    ]);
    expect((await download()).content.toString()).toBe("=cmd|x;mail;status\n1;a@mailinator.com;disposable\n");
    await press("Remove the list");
  });

  test("the page of the lists says how long they are kept", async () => {
    await page.goto(`${running.service.url}/dashboard/lists`);
    await page.getByText("A list is removed 1 hour after its check").waitFor();
  });

  test("broken rows are named before the check, and left out or mended", async () => {
    await send("broken.csv", "email,n\nann@larch-and-oak.com,1\nbob@larch-and-oak.com,2,3\n");
    expect(await page.textContent(".box .fault")).toContain("1 row is broken and cannot be checked.");
    await page.getByLabel("leave out the broken rows").uncheck();
    await press("Check the list");
    await page.getByText("3 fields where the header has 2").waitFor();
    await page.getByLabel("leave out the broken rows").check();
    await press("Check the list");
    await page.locator("a.button").first().waitFor({ timeout: 60_000 });
    expect((await download()).content.toString()).toBe("email,n,status\nann@larch-and-oak.com,1,ok\n");
    await press("Remove the list");
  });

  test("gzip comes back as gzip, and another column may be chosen", async () => {
    const text = "email,other\nann@larch-and-oak.com,a@mailinator.com\n";
    await send("two.csv.gz", gzipSync(text));
    await page.getByLabel("Column with the addresses").selectOption("2");
    await press("Check the list");
    await untilDone();
    const { name, content } = await download();
    expect([name, content[0], content[1]]).toEqual(["checked-two.csv.gz", 0x1f, 0x8b]);
    const { stdout } = await idv(["emails", "-q", "--only", "ok", "-c", "2"], { stdin: text });
    expect(stdout).toBe("email,other,status\n");
    await press("Remove the list");
  });

  test("a file that is no list is refused with the reason, and nothing stays", async () => {
    await send("photo.csv", Buffer.from("%PDF-1.7 nonsense"));
    expect(await page.textContent("output")).toContain("PDF");
    expect(running.left()).toEqual([]);
    await send("none.csv", "a,b\n1,2\n");
    expect(await page.textContent("output")).toContain("no column looks like e-mail addresses");
    // The refusals are the only thing that a browser may report.
    expect(faults.filter((text) => !/ 4(?:00|15) /.test(text))).toEqual([]);
  });

  test("a list is removed although its check ends before the service has the request", async () => {
    await send("late.csv", Array.from({ length: 400_000 }, (_, i) => `n${i}@larch-and-oak.com\n`).join(""));
    await page.route("**/remove", async (route) => {
      await sleep(4000);
      await route.continue();
    });
    await press("Check the list");
    await page.locator("[data-follow]").waitFor();
    await page.locator("button.danger").click();
    await page.locator("input[type=file]").waitFor();
    await page.unroute("**/remove");
    expect(running.left()).toEqual([]);
  });

  test("a check is cancelled, and the pages are accessible", async () => {
    const checked = await browser.newContext({ bypassCSP: true, storageState: await page.context().storageState() });
    const other = await checked.newPage();
    await other.goto(`${running.service.url}/dashboard/lists`);
    await expectAccessible(other);
    const rows = Array.from({ length: times(400_000, 40_000) }, (_, i) => `n${i}@d${i % 5000}.example-co.com\n`);
    await send("long.txt", rows.join(""));
    await other.goto(page.url());
    await expectAccessible(other);
    await expectFits(page);
    await press("Check the list");
    await page.getByRole("button", { name: "Stop and remove" }).or(page.locator("a.button")).first().waitFor();
    await page.locator("button.danger").click();
    await page.locator("input[type=file]").waitFor();
    expect(running.left()).toEqual([]);
    await checked.close();
  });
});

describe("the page of a list", () => {
  let state: string;
  let running: Awaited<ReturnType<typeof start>>;
  let cookie: string;
  let key: string;
  beforeAll(async () => {
    state = join(temporaryFolder(), "service.db");
    running = await start(state);
    cookie = await signIn(await linkTo(running.service.url, ["--state", state]));
    [{ id: key }] = await jsonOf(["keys", "list", "--state", state]);
  });

  const pageAt = async (path: string) => (await fetch(`${running.service.url}${path}`, { headers: { cookie } })).text();
  /** Sends a list, and returns the path of its page. */
  async function send(content: Uint8Array | string, name: string): Promise<string> {
    const form = new FormData();
    form.set("kind", "email");
    form.set("list", new Blob([content as Uint8Array<ArrayBuffer>]), name);
    return (await postForm(running.service.url, "/lists", form, { cookie })).headers.get("location")!;
  }
  async function check(path: string, choices: Readonly<Record<string, string>>): Promise<string> {
    const form = new URLSearchParams({ key, delimiter: "", drop: "", ...choices });
    await postForm(running.service.url, `${path.slice("/dashboard".length)}/run`, form, { cookie });
    await expect.poll(() => pageAt(path)).toContain('class="button"');
    return pageAt(path);
  }

  test("shows the first ten bad rows, and leaves out what cannot be written to, as chosen", async () => {
    const bad = Array.from({ length: 12 }, (_, i) => `${i};"x${i}";b${i}@mailinator.com\n`).join("");
    const list = `id;name;mail\n0;"Ann; ""Lee""";ann@larch-and-oak.com\n${bad}9;<b>;x@@\n`;
    const page = await check(await send(list, "people.csv"), { column: "3" });
    expect(page).toContain("<h1>people.csv</h1>");
    const shown = (text: string) =>
      [...text.matchAll(/<td class="number">(\d+)<\/td><td class="name"[^>]*>([^<]*@[^<]*)<\/td>/g)].map(
        ([, ...cells]) => cells,
      );
    const first = Array.from({ length: 10 }, (_, i) => {
      return [`${i + 3}`, `b${i}@mailinator.com is disposable (disposable domain: mailinator.com)`];
    });
    expect(shown(page)).toEqual(first);
    const path = await send(list, "people.csv");
    const left = await check(path, { column: "3", drop: "fake,disposable" });
    expect(shown(left)).toEqual(first);
    const findings = join(running.folder, path.split("/").at(-1)!);
    const [attempt = ""] = readdirSync(findings).filter((name) => /^\.\d+$/.test(name));
    for (const damaged of ["", "{", "{}", "null", "[1]"]) {
      writeFileSync(join(findings, attempt, "findings.json"), damaged);
      expect(await pageAt(path)).not.toContain("The first bad rows");
    }
    expect(left).toContain("13 rows left out, as chosen.");
    expect(await pageAt(`${path}/file/0`)).toBe('id;name;mail;status\n0;"Ann; ""Lee""";ann@larch-and-oak.com;ok\n');
  });

  test("offers the sheets with items, and finds the column of another one", async () => {
    const sheets = [
      { name: "Fair", rows: [["mail"], ["ann@larch-and-oak.com"]] },
      {
        name: "Web",
        rows: [...[["n", "e-mail"]], ...[["1", "ann@larch-and-oak.com"]], ...[["2", "x@mailinator.com"]]],
      },
    ];
    const book = await writeXlsx({ sheets });
    const path = await send(book, "book.xlsx");
    expect(await pageAt(path)).toMatch(/<option value="Fair"[^>]*>Fair<\/option><option value="Web"[^>]*>Web</);
    expect(await pageAt(path)).not.toMatch(/Delimiter|between them/);
    expect(await check(path, { column: "1", sheet: "Web" })).toContain("x@mailinator.com is disposable (");
    const response = await fetch(`${running.service.url}${path}/file/0`, { headers: { cookie } });
    const output = join(temporaryFolder(), "checked.xlsx");
    writeFileSync(output, Buffer.from(await response.arrayBuffer()));
    const { stdout } = await idv(["emails", output, "-q", "--sheet", "Web", "--format", "csv", "--drop", "ok"]);
    expect(stdout).toContain("2,x@mailinator.com,disposable");
  });

  test("writes contacts as CSV, and says what a file is that has another format than its name", async () => {
    const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann\r\nEMAIL:ann@larch-and-oak.com\r\nEND:VCARD\r\n";
    const path = await send(card, "cards.vcf");
    await check(path, {});
    expect(await pageAt(`${path}/file/0`)).toContain("ann@larch-and-oak.com,ok");
    const headers = { authorization: `Bearer ${await createKeyIn(state)}`, "content-type": "application/octet-stream" };
    const body = Buffer.from("d0cf11e0a1b11ae1", "hex");
    const sent = await fetch(`${running.service.url}/lists?name=old.xls`, { method: "POST", headers, body });
    const list = async () => (await fetch(`${running.service.url}${sent.headers.get("location")}`, { headers })).text();
    await expect.poll(list).toContain("an Excel 97-2003 workbook");
    const archive = await send(
      zip({ "a.csv": "email\nann@larch-and-oak.com\n", "b.csv": "email\nx@mailinator.com\n" }),
      "two.zip",
    );
    await check(archive, {});
    expect(await pageAt(archive)).toContain("checked-two.zip");
  });

  test("leaves the columns of an archive's tables to each, and finds out what a zip file with another name is", async () => {
    const tables = zip({
      "a.csv": "id,email\n1,ann@larch-and-oak.com\n",
      "b.csv": "id;name;n;mail\n1;Bob;2;x@mailinator.com\n",
    });
    const book = await writeXlsx({ sheets: [{ name: "S", rows: [["email"], ["ann@larch-and-oak.com"]] }] });
    for (const [content, name, output] of [
      [tables, "two.zip", "checked-two.zip"],
      [tables, "two.csv", "checked-two.zip"],
      [book, "book.zip", "checked-book.xlsx"],
      [book, "book.csv", "checked-book.csv"],
    ] as const) {
      const path = await send(content, name);
      if (content === tables) expect(await pageAt(path)).not.toMatch(/Column with|Delimiter|between them/);
      await check(path, {});
      expect(await pageAt(path)).toContain(output);
    }
  });

  test("repairs mistyped domains, as chosen", async () => {
    const path = await send("email\nann.lee@gmial.com\n", "typos.csv");
    await check(path, { column: "1", fix: "yes" });
    expect(await pageAt(`${path}/file/0`)).toContain("ann.lee@gmail.com");
  });
});

describe("uploads that are attacks", () => {
  let state: string;
  let running: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    state = join(temporaryFolder(), "service.db");
    running = await start(state, "--max-list-bytes", "1M");
  });

  const newCookie = async () => signIn(await linkTo(running.service.url, ["--state", state]));
  const headersFor = (cookie: string) => ({ cookie, ...ownFields(running.service.url) });
  function post(cookie: string, path: string, body: FormData | URLSearchParams): Promise<Response> {
    const url = `${running.service.url}/dashboard/lists${path}`;
    return fetch(url, { method: "POST", headers: headersFor(cookie), body });
  }
  /** Returns the page of a list, or the answer to another request for it. */
  const get = (cookie: string, url: string) => fetch(url, { headers: { cookie } });
  const upload = (cookie: string, content: Uint8Array | string, name = "list.csv") => {
    const form = new FormData();
    form.set("kind", "email");
    form.set("list", new Blob([content as Uint8Array<ArrayBuffer>]), name);
    return post(cookie, "", form);
  };
  /** Returns the path of a list below /dashboard/lists, from the answer to its upload. */
  const pathOf = ({ url }: Response) => new URL(url).pathname.slice("/dashboard/lists".length);
  /** Removes a list, the last one. */
  async function remove(cookie: string, list: Response): Promise<void> {
    await post(cookie, `${pathOf(list)}/remove`, new URLSearchParams());
    await nothingLeft();
  }
  const nothingLeft = () => expect.poll(running.left).toEqual([]);

  /** Removes the lists of all people. */
  async function removeAll(): Promise<readonly string[]> {
    const cookie = await newCookie();
    const page = await get(cookie, `${running.service.url}/dashboard/lists`);
    for (const [, id] of (await page.text()).matchAll(/"\/dashboard\/lists\/(\w+)"/g)) {
      await post(cookie, `/${id}/remove`, new URLSearchParams());
    }
    return running.left();
  }
  // A test that fails leaves its list.
  afterEach(async () => {
    if (running.left().length > 0) await expect.poll(removeAll).toEqual([]);
  });

  /** Sends the start of an upload, which never ends. */
  function sendForEver(cookie: string) {
    const sending = request(`${running.service.url}/dashboard/lists`, {
      method: "POST",
      headers: { ...headersFor(cookie), "content-type": "multipart/form-data; boundary=x" },
    });
    sending.on("error", () => {});
    sending.write('--x\r\ncontent-disposition: form-data; name="list"; filename="a.csv"\r\n\r\nemail\n');
    return sending;
  }

  test("a list over the limit is refused before it has arrived whole", async () => {
    const response = await upload(await newCookie(), "a@b.net\n".repeat(500_000)).catch(() => undefined);
    if (response) {
      expect(response.status).toBe(413);
      expect(await response.text()).toContain("larger than 1 MiB");
    }
    await nothingLeft();
  });

  test("a compressed list is stopped when it grows too large on the disk", async () => {
    const cookie = await newCookie();
    const [{ id: key }] = await jsonOf(["keys", "list", "--state", state]);
    const rows = times(150_000, 30_000);
    const bomb = gzipSync(`email,note\n${`a@larch-and-oak.com,${"x".repeat(900)}\n`.repeat(rows)}`);
    expect(bomb.length).toBeLessThan(1_048_576);
    const found = await upload(cookie, bomb, "bomb.csv.gz");
    expect(await found.text()).toContain(`${rows.toLocaleString("en")} rows`);
    // A file for each status is not compressed.
    const choices = new URLSearchParams({ key, column: "1", delimiter: "", split: "yes" });
    await post(cookie, `${pathOf(found)}/run`, choices);
    await expect.poll(async () => (await get(cookie, found.url)).text()).toContain("too large when it is unpacked");
    await remove(cookie, found);
  });

  test("an upload that breaks off leaves nothing, and the next one is accepted", async () => {
    const cookie = await newCookie();
    const sending = sendForEver(cookie);
    await expect.poll(() => running.left().length).toBe(1);
    sending.destroy();
    await nothingLeft();
    const next = await upload(cookie, "ann@larch-and-oak.com\n");
    expect(await next.text()).toContain("1 row with 1 different");
    await remove(cookie, next);
  });

  test("lists of two people stand side by side, and one does not take away the other", async () => {
    const [first, second] = [await newCookie(), await newCookie()];
    const [a, b] = await Promise.all([
      upload(first, "ann@larch-and-oak.com\n", "first.csv"),
      upload(second, "bob@larch-and-oak.com\n", "second.csv"),
    ]);
    for (const cookie of [first, second]) {
      const page = await get(cookie, `${running.service.url}/dashboard/lists`);
      expect(await page.text()).toMatch(/first\.csv.*second\.csv|second\.csv.*first\.csv/s);
    }
    await post(second, `${pathOf(a)}/remove`, new URLSearchParams());
    const urls = [a.url, b.url, `${b.url}/file/0`, `${b.url}/report`];
    const answers = await Promise.all(urls.map((url) => get(first, url)));
    expect(answers.map(({ status }) => status)).toEqual([404, 200, 404, 404]);
    await remove(first, b);
  });

  test("a list that the units do not reach is checked in part only when asked, and the rest later", async () => {
    const cookie = await newCookie();
    await createKeyIn(state, "--name", "few", "--limit", "3");
    const { id: key } = (await jsonOf(["keys", "list", "--state", state])).find(({ name }) => name === "few");
    const rows = Array.from({ length: 5 }, (_, i) => `a${i}@larch-and-oak.com\n`);
    const sent = await upload(cookie, `email\n${rows.join("")}`);
    const choices = { key, column: "1", delimiter: "", drop: "fake" };
    const refused = await (await post(cookie, `${pathOf(sent)}/run`, new URLSearchParams(choices))).text();
    expect(refused).toContain("The key has 3 units left, and the list may need 5");
    // The form keeps what was chosen.
    expect(refused).toMatch(/value="fake" selected/);
    await post(cookie, `${pathOf(sent)}/run`, new URLSearchParams({ ...choices, short: "yes" }));
    const page = async () => (await get(cookie, sent.url)).text();
    await expect.poll(page).toContain("2 rows were not checked");
    expect(await page()).toContain("3 rows checked, for 3 units.");
    await idv(["keys", "set", key, "--limit", "10", "--state", state]);
    await post(cookie, `${pathOf(sent)}/rest`, new URLSearchParams());
    await expect.poll(page).toContain("5 rows checked, for 2 units; 3 more were paid before.");
    await remove(cookie, sent);
  });

  test.each([
    ["../../../etc/cron.d/x", "x"],
    ["-rf", "-rf"],
    ["a\u202egnp.csv", "a_gnp.csv"],
    [".bashrc", "list.csv"],
  ])("the name %j cannot leave the folder, be an option, or look like another one", async (name, shown) => {
    const cookie = await newCookie();
    const sent = await upload(cookie, "ann@larch-and-oak.com\n", name);
    const text = await sent.text();
    expect(text).toContain("1 row ");
    expect(text).toContain(`<h1>${shown}</h1>`);
    await remove(cookie, sent);
  });

  test("no broken, cut or slow request reaches another client", async () => {
    const cookie = await newCookie();
    const { url, said } = running.service;
    const { hostname, port } = new URL(url);
    const secret = await createKeyIn(state, "--limit", "100000");
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const random = randomFrom(30);
    const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
    const pages = ["", ...Array(3).fill("/lists"), "/lists/abc/run", "/lists/abc/remove"];
    const routes = [
      ...[...pages, "/try", "/keys", "/sign-in", "/x"].map((path) => `/dashboard${path}`),
      ...["/emails/validate", "/emails/validate", "/domains/validate", "/healthz", "/openapi.json", "/"],
      ...["/lists", "/lists?split=x", "/lists?kind=domain&name=../x"],
    ];
    const part = '--x\r\ncontent-disposition: form-data; name="list"; filename="a.csv"\r\n\r\n';
    const bodies = [
      `${part}email\nann@larch-and-oak.com\n`,
      `${part}email\r\n--x\r\n`,
      `${part}email\r\n--x--\r\n`,
      '--x\r\ncontent-disposition: form-data; name="kind"\r\n\r\nemail',
      ...["--x\r\ncontent-disposition", "--x--", "\r\n\r\n", "\0\xff\xfe", ""],
      ...['{"emails": ["a@b.net"', '{"emails": "a@b.net"}', "[".repeat(20_000)],
    ];
    const types = [
      ...["multipart/form-data; boundary=x", "multipart/form-data; boundary=x", "multipart/form-data"],
      ...["multipart/form-data; boundary=", "application/json", "application/x-www-form-urlencoded", "x"],
    ];
    /** Sends a request in pieces, and ends or cuts the connection some time later. */
    async function send(): Promise<void> {
      const body = pick(bodies);
      const length = body.length + pick([0, 0, 0, -1, 1, 1000]);
      const size = random() < 0.8 ? `content-length: ${Math.max(0, length)}` : "transfer-encoding: chunked";
      const text = [
        ...[`POST ${pick(routes)} HTTP/1.1`, `host: ${hostname}:${port}`, `cookie: ${cookie}`],
        ...[`origin: ${url}`, "sec-fetch-site: same-origin", `authorization: Bearer ${secret}`],
        ...[`content-type: ${pick(types)}`, `${size}\r\n\r\n${body}`],
      ].join("\r\n");
      const end = random() < 0.3 ? Math.floor(random() * text.length) : text.length;
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on("error", () => {}).resume();
      const step = Math.ceil(end / pick([1, 2, 10]));
      for (let from = 0; from < end; from += step) {
        socket.write(text.slice(from, Math.min(end, from + step)), "latin1");
        await sleep(random() * 10);
      }
      await sleep(pick([0, 1, 5, 50, 200]));
      if (random() < 0.5) socket.end();
      await sleep(5);
      socket.destroy();
    }
    let sent = 0;
    const senders = Array.from({ length: 10 }, async () => {
      while (sent++ < times(200, 40)) await send();
    });
    let isOver = false;
    const all = Promise.all(senders).then(() => {
      isOver = true;
    });
    let answered = 0;
    while (!isOver) {
      const init = { method: "POST", headers, body: '{"emails":["ann@larch-and-oak.com"]}' };
      expect((await fetch(`${url}/emails/validate`, init)).status).toBe(200);
      answered++;
    }
    await all;
    expect(answered).toBeGreaterThan(times(20, 3));
    expect(said()).not.toContain("bug");
    // A list that arrived whole is accepted, though its connection is gone: some appear after the first look.
    await expect.poll(removeAll, { interval: 200 }).toEqual([]);
    const last = await upload(cookie, "ann@larch-and-oak.com\n");
    expect(last.status).toBe(200);
    await post(cookie, `${pathOf(last)}/remove`, new URLSearchParams());
  });

  test("a form without a boundary is a fault of the request", async () => {
    const response = await fetch(`${running.service.url}/dashboard/lists`, {
      method: "POST",
      headers: { ...headersFor(await newCookie()), "content-type": "multipart/form-data" },
      body: "x",
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The form names no boundary between its parts.");
  });

  test("a list outlives its server, and an upload that was cut off with it is removed", async () => {
    const cookie = await newCookie();
    const sent = await upload(cookie, "ann@larch-and-oak.com\n");
    sendForEver(cookie);
    await expect.poll(() => running.left().length).toBe(2);
    await running.service.kill();
    const service = await serve(temporaryFolder(), "-q", "--state", state, "--lists", running.folder);
    running = { ...running, service };
    const shown = await get(cookie, `${service.url}/dashboard/lists${pathOf(sent)}`);
    expect(await shown.text()).toContain("1 row with 1 different");
    await expect.poll(() => running.left().length).toBe(1);
    await post(cookie, `${pathOf(sent)}/remove`, new URLSearchParams());
    sendForEver(cookie);
    await expect.poll(() => running.left().length).toBe(1);
    expect(await endedBy(service.child, "SIGTERM")).toEqual([0, null]);
    expect(running.left()).toEqual([]);
  });
});

describe("a list that takes for ever to look at", () => {
  const busy = "for (const end = Date.now() + 60_000; Date.now() < end; );";

  /** Starts a service whose looks at lists do something else for long, and sends it a list. */
  async function startLooking(work = busy) {
    const slow = join(temporaryFolder(), "slow.cjs");
    writeFileSync(slow, `if (process.argv.includes("--dry-run")) ${work}`);
    const state = join(temporaryFolder(), "service.db");
    const temporary = temporaryFolder();
    const env = { NODE_OPTIONS: `--require=${slow}` };
    await createKeyIn(state);
    const all = ["-q", "--state", state, "--lists", temporary];
    const service = await serveWith({ home: temporaryFolder(), env }, ...all);
    const cookie = await signIn(await linkTo(service.url, ["--state", state]));
    const post = (path: string, body: BodyInit) => postForm(service.url, path, body, { cookie });
    const form = new FormData();
    form.set("list", new Blob(["ann@larch-and-oak.com\n"]), "list.csv");
    const uploaded = post("/lists", form).catch(() => undefined);
    const left = () => readdirSync(temporary);
    await expect.poll(() => processesIn(temporary).length).toBe(1);
    return { service, uploaded, left, processes: () => processesIn(temporary), post };
  }

  test("ends when it is removed", async () => {
    const { uploaded, left, processes, post } = await startLooking();
    const [id] = left();
    await post(`/lists/${id}/remove`, new URLSearchParams());
    expect([processes(), left()]).toEqual([[], []]);
    expect((await uploaded)?.status).toBe(410);
  });

  test("does not detain a server that is stopped", async () => {
    const { service, left, processes } = await startLooking();
    const started = performance.now();
    expect(await endedBy(service.child, "SIGTERM")).toEqual([0, null]);
    // The look at the list takes a minute.
    expect(performance.now() - started).toBeLessThan(45_000);
    expect([processes(), left()]).toEqual([[], []]);
  });

  test("ends with a server that is killed", async () => {
    const { service, processes } = await startLooking("setInterval(() => {}, 1000);");
    await service.kill();
    await expect.poll(processes).toEqual([]);
  });
});

/** Returns the processes that work in a folder below another one. */
function processesIn(folder: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
    } catch {
      // Ended meanwhile.
      return false;
    }
  });
}
