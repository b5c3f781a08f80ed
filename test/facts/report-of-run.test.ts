/** Covers `--report`: what its page counts, names and leaves out. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../support/run-here.js";
import { folderOf } from "../support/temporary-folder.js";

const list =
  "email,created\n" +
  "ann@larch-and-oak.com,2026-01-03\nANN@larch-and-oak.com,2026-01-03\n,2026-01-04\n" +
  "bob@gmial.com,2026-01-05\ncarla.diaz@gmial.com,2026-03-05\n" +
  "d.e.e.lee@gmail.com,2026-03-06\ndeelee+x@gmail.com,2026-03-06\n" +
  "x@mailinator.com,2026-03-07\ny@mailinator.com,2026-03-07\nno sign,2026-03-08\n";

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");
const filesIn = (home: string) =>
  readdirSync(home)
    .filter((name) => !["state", "out"].includes(name))
    .sort();

/** Runs over a list, which succeeds and has nothing to say. */
async function emails(home: string, ...args: readonly string[]): Promise<void> {
  expect(await idv(["emails", ...args, "-q"], { home })).toMatchObject({ code: 0, stderr: "" });
}

async function reportOn(home: string, ...args: readonly string[]): Promise<string> {
  const report = args.includes("--report") ? [] : ["--report", "r.html"];
  await emails(home, ...args, ...report);
  return read(home, "r.html");
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
      "4 of 9 rows are fit for a mailing.",
      "5 rows are undeliverable or disposable. 1 row is only mistyped and can be repaired.",
      "gmial.com → gmail.com 1",
      "mistyped domain: one letter from a large provider 2 syntax: not written as an address 1",
      "mailinator.com 2",
      '"created"',
      "2026-01 3 1 33.3 % 2026-02 0 0 0.0 % 2026-03 6 4 66.7 %",
      "1 row repeats",
      "1 address reaches the mailbox of another one",
      "Bad: 55.6 % would bounce or are disposable (33.3 % bounce); Amazon SES pauses senders from 10 % of bounces on.",
      "Correct the row with a mistyped domain. Take out the other 2 rows that would bounce",
      "Take out the 2 rows with disposable addresses, or ask for others.",
      "Distinct 8 addresses",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("compares no mailbox with those beside a field that keeps its status", async () => {
    const names = ["bob", "cid", "eve", "fay", "ian"].map((name) => `${name}@larch-and-oak.com,\n`);
    const kept = '"ann@larch-and-oak.com; x@larch-and-oak.com",ok\n';
    const several = '"gus@larch-and-oak.com, hal@larch-and-oak.com",\n';
    const home = folderOf({ "list.csv": `email,status\n${kept}${names.slice(0, 4).join("")}${several}${names[4]}` });
    await emails(home, "list.csv", "--update", "-o", "out.csv", "--report", "r.json");
    expect(JSON.parse(read(home, "r.json")).breakdown.sameMailbox).toBe(0);
  });

  test("writes Markdown if the name ends in .md, with the same figures", async () => {
    const home = folderOf({
      "list.csv": `email\n${"ann@larch-and-oak.com\n".repeat(1200)}x@mailinator.com\ncarla.diaz@gmial.com\n\n`,
    });
    await emails(home, "list.csv", "-o", "out.csv", "--report", "r.html", "--report", "r.md");
    const markdown = read(home, "r.md");
    expect(textOf(read(home, "r.html"))).toContain("1,200 of 1,202 rows are fit for a mailing.");
    expect(markdown).toMatch(
      /^## Report: list.csv\n\n\*\*1,200 of 1,202 rows are fit for a mailing.\*\* Good: 0.2 % would bounce or are disposable \(0\.1 % bounce\); large mail services recommend less than 2 % of bounces\. 2 rows are undeliverable or disposable. 1 row is only mistyped and can be repaired. Checked on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n\n/,
    );
    expect(markdown).toContain(`| Status | Rows | Share | What to do |
| --- | ---: | ---: | --- |
| ok | 1,200 | 99.8 % | Keep it. |
`);
    expect(markdown).toContain("| gmial.com → gmail.com | 1 |");
    expect(markdown).toContain("| mailinator.com | 1 |");
    expect(markdown).toContain("### Duplicates\n\n1,199 rows repeat the entry of an earlier row.\n");
  });

  test("writes JSON if the name ends in .json, without addresses", async () => {
    const home = folderOf({ "list.csv": list });
    await emails(home, "list.csv", "-o", "out.csv", "--report", "r.json");
    const text = read(home, "r.json");
    expect(JSON.parse(text)).toMatchObject({
      ...{ kind: "email", grade: "bad", before: null, rows: 10, empty: 1, distinct: 8 },
      inputs: [{ name: "list.csv", column: 1 }],
      statuses: { ok: 3, alias: 1, disposable: 2, fake: 3 },
      reasons: { "typo-domain": 2, syntax: 1 },
      topDomains: [{ domain: "mailinator.com", items: 2 }],
      units: { used: 8 },
      outputs: [{ path: "out.csv" }],
    });
    expect(text).not.toContain("@");
  });

  test.each(["html", "md"])("compares itself with the one that it replaces, .%s", async (ending) => {
    const home = folderOf({
      "before.csv": "email\nx@mailinator.com\nann@larch-and-oak.com\n",
      "now.csv": "email\nx@mailinator.com\nann@larch-and-oak.com\nb@larch-and-oak.com\nc@larch-and-oak.com\n",
    });
    const texts: string[] = [];
    for (const name of ["before.csv", "now.csv", "now.csv", "before.csv"]) {
      await emails(home, name, "-o", "out.csv", "--force", "--report", `r.${ending}`);
      const change = /(?:Better:|Worse:|As in the report of)[^<]*? (?:were|are bad)\./;
      texts.push(change.exec(read(home, `r.${ending}`))?.[0].trim() ?? "");
    }
    const day = new Date().toISOString().slice(0, 10);
    const changes = [
      "",
      `Better: 25.0 % of the rows are bad; in the report of ${day}, which was on before.csv, 50.0 % were.`,
      `As in the report of ${day}: 25.0 % of the rows are bad.`,
      `Worse: 50.0 % of the rows are bad; in the report of ${day}, which was on now.csv, 25.0 % were.`,
    ];
    expect(texts.map((text) => text.replaceAll("\\", ""))).toEqual(changes);
  });

  test("gives programs the facts of the one that it replaces", async () => {
    const home = folderOf({ "list.csv": "email\nx@mailinator.com\nann@larch-and-oak.com\n\n" });
    const facts = async () => {
      await emails(home, "list.csv", "-o", "out.csv", "--force", "--report", "r.json");
      return JSON.parse(read(home, "r.json"));
    };
    const first = await facts();
    expect((await facts()).before).toEqual({
      made: first.made,
      inputs: ["list.csv"],
      rows: 3,
      empty: 1,
      statuses: { ok: 1, alias: 0, disposable: 1, fake: 0, quota_exceeded: 0 },
    });
  });

  test("replaces an empty file, and none that is no report", async () => {
    const empty = folderOf({ "list.csv": list, "r.html": "" });
    expect(textOf(await reportOn(empty, "list.csv", "-o", "out.csv"))).not.toContain("the report of");
    const broken = ["{", '{"made":1}', '<script type="application/json">{no}</script>', "```json\n{}\n```"];
    for (const old of [...broken, "\0".repeat(100), "email\na@b.net\n"]) {
      const home = folderOf({ "list.csv": list, "r.html": old });
      const { code } = await idv(["emails", "list.csv", "-o", "out.csv", "--report", "r.html"], { home });
      expect([code, read(home, "r.html"), existsSync(join(home, "out.csv"))]).toEqual([2, old, false]);
    }
  });

  test("as Markdown shows names of files as they are", async () => {
    const name = "a|b `c` <img src=x> [d](www.e.de) @f.csv";
    const home = folderOf({ [name]: "email\nann@larch-and-oak.com\n" });
    await emails(home, name, "-o", "out.csv", "--report", "r.md");
    const [title] = read(home, "r.md").split("\n");
    expect(title).toBe("## Report: a\\|b \\`c\\` \\<img src=x\\> \\[d\\](www\\.e.de) \\@f.csv");
  });

  test("counts flags, if they are wanted", async () => {
    const home = folderOf({ "list.csv": "email\ninfo@larch-and-oak.com\nhr@web.de\nann.keller@web.de\nbroken\n" });
    const text = textOf(await reportOn(home, "list.csv", "-o", "out.csv", "--add", "flags"));
    expect(text).toContain("Kinds of addresses Flag Rows");
    expect(text).toMatch(/mailbox of a function \(role\) 2 .*free provider 2/);
    expect(textOf(await reportOn(home, "list.csv", "-o", "out.csv"))).not.toContain("Kinds of addresses");
  });

  test("marks a month that is clearly worse than the others", async () => {
    const rows = (month: string, good: number, bad: number) =>
      `ann@larch-and-oak.com,${month}-03\n`.repeat(good) + `x@mailinator.com,${month}-04\n`.repeat(bad);
    const reported = async (...months: [string, number, number][]) => {
      const table = `email,date\n${months.map((month) => rows(...month)).join("")}`;
      const page = await reportOn(folderOf({ "list.csv": table }), "list.csv", "-o", "out.csv");
      return [/The worst was [^.]*\.\d % bad/.exec(textOf(page))?.[0], page.split('rect class="fake"').length - 1];
    };
    const others: [string, number, number][] = [
      ["2026-01", 18, 2],
      ["2026-02", 18, 2],
    ];
    expect(await reported(...others, ["2026-03", 15, 5])).toEqual(["The worst was 2026-03: 25.0 % bad", 1]);
    expect(await reported(...others, ["2026-03", 17, 3])).toEqual([undefined, 0]);
  });

  test("counts rows that are broken, corrected, and could be", async () => {
    const home = folderOf({
      "broken.csv": "email,n\nann@larch-and-oak.com,1\nbob@larch-and-oak.com,2,3\n",
      "typos.csv": "email\ncarla.diaz@gmial.com\ndan@@larch-and-oak.com\nann@larch-and-oak.com\n",
    });
    const text = async (...args: string[]) => textOf(await reportOn(home, ...args, "-o", "out.csv"));
    await idv(["emails", "broken.csv", "-q", "--bad-rows", "skip", "-o", "out.csv", "--report", "r.html"], { home });
    const broken = textOf(read(home, "r.html"));
    expect(broken).toContain("1 row is broken and could not be read.");
    expect(broken).toContain("Mend the row that could not be read.");
    expect(broken).not.toContain("the list can be used");
    const could = await text("typos.csv");
    expect(could).toContain("1 row is only mistyped and can be repaired.");
    expect(could).toContain("Correct the row with a mistyped domain. Take out the other row that would bounce.");
    const corrected = await text("typos.csv", "--fix");
    expect(corrected).toContain("1 row was corrected.");
    expect(corrected).not.toMatch(/mistyped domain\.|--fix/);
    expect(corrected).toContain("Take out the row that would bounce.");
  });

  test("holds no address, unless that is wanted", async () => {
    const home = folderOf({ "list.csv": list });
    expect(textOf(await reportOn(home, "list.csv", "-o", "out.csv"))).not.toContain("@");
    const page = await reportOn(home, "list.csv", "-o", "out.csv", "--report", "full:r.html");
    expect(textOf(page)).toContain(
      "6 carla.diaz@gmial.com undeliverable (mistyped domain: gmial.com) Did you mean carla.diaz@gmail.com",
    );
  });

  test("makes one page for several files", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": "email\nx@mailinator.com\nz@mailinator.com\n" });
    const text = textOf(await reportOn(home, "a.csv", "b.csv", "-o", "out/"));
    expect(text).toContain("a.csv, b.csv 4 of 11 rows are fit for a mailing.");
    expect(text).toContain("mailinator.com 4");
  });

  test("covers the good files if one of several fails", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": 'email\n"open\n' });
    const { code, stderr } = await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html"], { home });
    expect(code, stderr).not.toBe(0);
    expect(textOf(read(home, "r.html"))).toContain("a.csv 4 of 9");
  });

  test("leaves out a file that fails late, and is not written if all files fail", async () => {
    const home = folderOf({
      "a.csv": "email\nann@larch-and-oak.com\n",
      "b.csv": `email,n\n${"x@gmial.com,1\n".repeat(5000)}a,b,c,d\n`,
    });
    await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html", "-q"], { home });
    const text = textOf(read(home, "r.html"));
    expect(text).toContain(
      "a.csv 1 of 1 address is fit for a mailing. Good: 0.0 % would bounce; large mail services recommend less than 2 % of bounces. None is undeliverable or disposable.",
    );
    expect(text).not.toContain("gmial.com");
    const none = folderOf({ "a.csv": "email,n\na,b,c\n", "b.csv": "email,n\na,b,c\n" });
    await idv(["emails", "a.csv", "b.csv", "-o", "out/", "--report", "r.html", "-q"], { home: none });
    expect(filesIn(none)).toEqual(["a.csv", "b.csv"]);
  });

  test("counts rows that keep their status", async () => {
    const home = folderOf({
      "u.csv": "email,status\ncarla.diaz@gmial.com,fake\nann@larch-and-oak.com,ok\nx@mailinator.com,\n",
    });
    const text = textOf(await reportOn(home, "u.csv", "--update", "-o", "o.csv", "--report", "full:r.html"));
    expect(text).toContain(
      "2 carla.diaz@gmial.com undeliverable (mistyped domain: gmial.com) Did you mean carla.diaz@gmail.com",
    );
    expect(text).toContain("gmial.com → gmail.com 1");
    expect(text).not.toContain("repeat");
  });

  test("names no address from the name of a file or column", async () => {
    const home = folderOf({
      "bob@corp.com.csv": 'email,"added by eve@corp.com",b@c.de mail\nx@mailinator.com,2026-01-01,a@b.de\n',
    });
    expect(textOf(await reportOn(home, "bob@corp.com.csv", "-c", "email", "-o", "o.csv"))).not.toContain("@");
  });

  test.each<[string, string[], string]>([
    ["the input", ["list.csv", "-o", "o.csv", "--report", "list.csv"], "cannot be"],
    ["the output", ["list.csv", "-o", "o.csv", "--report", "o.csv"], "cannot be"],
    ["the summary file", ["list.csv", "-o", "o.csv", "--report", "r", "--log", "json:r"], "cannot be"],
    ["a dry run", ["list.csv", "--dry-run", "--report", "r.html"], "do not go together"],
  ])("cannot be %s", async (_, args, message) => {
    const home = folderOf({ "list.csv": list });
    const { code, stderr } = await idv(["emails", ...args], { home });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(message);
    expect(read(home, "list.csv")).toBe(list);
  });

  test("leaves the report before in place if the run fails, and nothing half-written", async () => {
    const home = folderOf({ "list.csv": 'email\n"open\n', "r.html": "old" });
    expect((await idv(["emails", "list.csv", "-o", "o.csv", "--report", "r.html"], { home })).code).not.toBe(0);
    expect(read(home, "r.html")).toBe("old");
    expect(filesIn(home)).toEqual(["list.csv", "r.html"]);
  });

  test("has addresses in the files that are full, and in no other", async () => {
    const home = folderOf({ "list.csv": list });
    const reports = ["full:r.html", "s.html", "r.md", "r.json", "r.svg"].flatMap((path) => ["--report", path]);
    await emails(home, "list.csv", "-o", "o.csv", ...reports);
    const holding = ["r.html", "s.html", "r.md", "r.json", "r.svg"].filter((name) =>
      read(home, name).includes("x@mailinator.com"),
    );
    expect(holding).toEqual(["r.html"]);
  });

  test.each([
    ["emails", list],
    ["domains", "domain\nlarch-and-oak.com\nmailinator.com\nyopmail.com\ngmial.com\n"],
  ])("has the same sections as a page and as Markdown: %s", async (command, text) => {
    const home = folderOf({ "list.csv": `${text}"open\n` });
    await idv(["quota", "set", "--limit", "100"], { home });
    const options = ["--bad-rows", "skip", "--add", "flags", "-o", "o.csv", "--report", "r.html", "--report", "r.md"];
    const { code, stderr } = await idv([command, "list.csv", "-q", ...options], { home });
    expect(code, stderr).toBe(0);
    const onPage = [...read(home, "r.html").matchAll(/<h2>([^<]*)/g)].map(([, heading]) => heading!);
    const inMarkdown = [...read(home, "r.md").matchAll(/^### (.*)/gm)].map(([, heading]) => heading!);
    expect(onPage).toContain("Quota and cost");
    expect(inMarkdown.toSorted()).toEqual(onPage.filter((heading) => heading !== "Statuses").toSorted());
    expect(read(home, "r.md")).toContain(`| Domain | ${command === "emails" ? "Addresses" : "Domains"} |`);
    expect(read(home, "r.md")).not.toMatch(/\| 2026\\?-01 .*\n\| 2026\\?-03/);
  });

  test("has the command that repairs the columns that were read, where it is free", async () => {
    const two = "home,work\nann@larch-and-oak.com,carla.diaz@gmial.com\n";
    const home = folderOf({ "two of.csv": two, "book.vcf": "BEGIN:VCARD\nEMAIL:carla.diaz@gmial.com\nEND:VCARD\n" });
    const commandIn = (page: string) => /<code>(idv [^<]*)<\/code>/.exec(page)?.[1];
    const report = () => reportOn(home, "two of.csv", "-c", "work", "-o", "o.csv");
    expect(commandIn(await report())).toBe("idv emails -c work 'two of.csv' --fix -o 'two of-fixed.csv'");
    await emails(home, "-c", "work", "two of.csv", "--fix", "-o", "two of-fixed.csv");
    expect(read(home, "two of-fixed.csv")).toContain("ann@larch-and-oak.com,carla.diaz@gmail.com,ok");
    expect(commandIn(await report())).toBe(undefined);
    const ofBook = await reportOn(home, "book.vcf", "-o", "b.csv", "--report", "b.html").then(() =>
      read(home, "b.html"),
    );
    expect(commandIn(ofBook)).toBe("idv emails book.vcf --fix -o book-fixed.csv");
    await idv(["quota", "set", "--limit", "100"], { home });
    expect(commandIn(await reportOn(home, "book.vcf", "-o", "c.csv"))).toBe(undefined);
  });

  test("that cannot be written ends the run before it costs units", async () => {
    const home = folderOf({ "list.csv": list });
    const { code, stderr } = await idv(["emails", "list.csv", "-o", "o.csv", "--report", "missing/r.html"], { home });
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
