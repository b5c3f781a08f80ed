/** Covers runs over several files: one engine, one table of items, one quota. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Facts } from "../../../src/core/facts/facts.js";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { zip } from "../../support/zip.mjs";

const [a, b] = [
  "id,email\n1,x@mailinator.com\n2,ann@larch-and-oak.com\n",
  "email\nx@mailinator.com\ny@mailinator.com\n",
];

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");
const unitsIn = (stderr: string) =>
  stderr
    .trimEnd()
    .split("\n")
    .flatMap((line) => (JSON.parse(line) as Partial<Facts>).units ?? []);

describe("several files", () => {
  test.each<[string, Record<string, string | Uint8Array>, string[]]>([
    ["over bytes", { "a.csv": a, "b.csv": b }, []],
    ["with lines of JSON among them", { "a.csv": a, "b.csv": b, "c.jsonl": '{"email":"y@mailinator.com"}\n' }, []],
  ])("go to a folder under their names, %s, and an item in two is charged once", async (_, files, args) => {
    const home = folderOf(files);
    const { code, stdout, stderr } = await idv(["emails", ...Object.keys(files), "-o", "checked/", ...args], { home });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "" });
    expect(readdirSync(join(home, "checked"))).toEqual(Object.keys(files));
    expect(read(home, "checked/a.csv")).toBe(
      "id,email,status\n1,x@mailinator.com,disposable\n2,ann@larch-and-oak.com,ok\n",
    );
    expect(read(home, "checked/b.csv")).toBe(
      "email,status\nx@mailinator.com,disposable\ny@mailinator.com,disposable\n",
    );
    const rows = 4 + (Object.keys(files).length - 2);
    expect(stderr).toContain(`${Object.keys(files).length} files: ${rows} rows, 3 distinct e-mail addresses\n`);
    expect((await readQuota(home)).used).toBe(3);
  });

  test("change in place with -I, compressed as they were", async () => {
    const home = folderOf({ "a.csv": a, "b.csv.gz": gzipSync(b) });
    expect((await idv(["emails", "-I.bak", "a.csv", "b.csv.gz"], { home })).code).toBe(0);
    expect(read(home, "a.csv")).toContain("1,x@mailinator.com,disposable\n");
    expect(readFileSync(join(home, "b.csv.gz")).subarray(0, 2)).toEqual(Buffer.of(0x1f, 0x8b));
    expect(existsSync(join(home, "b.csv.gz.bak"))).toBe(true);
  });

  test("end the run without a place each, before anything is read", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": a });
    expect(await idv(["emails", "a.csv", "b.csv", "-o", "out.csv"], { home })).toMatchObject({
      code: 2,
      stderr: "idv: 2 files cannot share one output: write them to a folder with -o FOLDER/, or replace them with -I\n",
    });
    const twice = await idv(["emails", "a.csv", "./x/../a.csv", "-o", "out/"], { home });
    expect(twice.stderr).toBe("idv: ./x/../a.csv: is named twice; leave out one of them\n");
  });

  test("keep their folders below the one that has all of them, where two have one name", async () => {
    const files = { "in/x/l.csv": a, "in/x/y/l.csv": b, "in/z/l.csv": a };
    const home = folderOf(files);
    const run = (output: string) => idv(["emails", ...Object.keys(files), "-q", "-o", output], { home });
    expect((await run("out")).code).toBe(2);
    expect((await run("out/")).code).toBe(0);
    const found = readdirSync(join(home, "out"), { recursive: true, encoding: "utf8" });
    expect(found.filter((name) => name.endsWith(".csv")).sort()).toEqual(["x/l.csv", "x/y/l.csv", "z/l.csv"]);
    expect(read(home, "out/x/y/l.csv")).toContain("status");
  });

  test("stay when a later one fails, and the worst exit code is that of the run", async () => {
    const home = folderOf({ "a.csv": a, "bad.csv": "id,email\n1,x@mailinator.com,y\n", "b.csv": b });
    const files = ["a.csv", "bad.csv", "missing.csv", "b.csv"];
    const { code, stderr } = await idv(["emails", ...files, "-o", "out/", "--fail-on", "disposable"], { home });
    expect(code).toBe(6);
    expect(readdirSync(join(home, "out"))).toEqual(["a.csv", "b.csv"]);
    expect(stderr).toContain("idv: bad.csv:2: 3 fields where the header has 2");
    expect(stderr).toContain("idv: missing.csv: cannot be read: no such file\n");
    expect(stderr).toContain("4 files, 2 failed: 4 rows, 3 distinct e-mail addresses\n");
  });

  test("share a quota", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    await setQuota(home, { limit: 2 });
    expect((await idv(["emails", "-I", "a.csv", "b.csv"], { home })).code).toBe(4);
    expect(read(home, "b.csv")).toBe("email,status\nx@mailinator.com,disposable\ny@mailinator.com,quota_exceeded\n");
  });

  test("lose items of earlier files with --dedupe", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    await idv(["emails", "-I", "a.csv", "b.csv", "--dedupe"], { home });
    expect(read(home, "b.csv")).toBe("email,status\ny@mailinator.com,disposable\n");
  });

  test("with --dedupe, are not validated after one that fails in the middle", async () => {
    // The first 65,536 rows are charged and written together.
    const brokenAfter = (rows: number) =>
      [a, ...Array.from({ length: rows }, (_, i) => `${i},u${i}@larch-and-oak.com\n`), "1,2,3\n"].join("");
    const home = folderOf({ "a.csv": brokenAfter(200_000), "b.csv": b, "c.csv": b, "early.csv": brokenAfter(30_000) });
    const files = ["a.csv", "b.csv", "c.csv", "-I", "--bad-rows", "error"];
    const { code, stderr } = await idv(["emails", ...files, "--dedupe"], { home });
    expect([code, read(home, "b.csv"), read(home, "c.csv")]).toEqual([6, b, b]);
    expect(stderr).toContain(
      "idv: b.csv and 1 more file: not validated: a.csv failed, and --dedupe compares all files; correct a.csv and run all files again\n",
    );
    expect(stderr).toContain("3 files, 3 failed: 0 rows");
    const some = ["missing.csv", "b.csv", "c.csv", "-o", "out/"];
    expect((await idv(["emails", ...some, "--dedupe"], { home })).code).toBe(6);
    expect(read(home, "out/b.csv")).toContain("y@mailinator.com,disposable\n");
    expect(read(home, "out/c.csv")).toBe("email,status\n");
    // Nothing of it is known to the others.
    const early = ["early.csv", "b.csv", "-o", "early/"];
    expect((await idv(["emails", ...early, "--dedupe"], { home })).code).toBe(6);
    expect(read(home, "early/b.csv")).toBe("email,status\nx@mailinator.com,disposable\ny@mailinator.com,disposable\n");
  });

  test.each<[string, Record<string, string>, string[], number]>([
    ["has no rows", { "a.csv": "email\n" }, ["--fail-on=no-rows"], 1],
    ["is broken from the start", { "a.csv": 'email\n"x@mailinator.com\n' }, ["--bad-rows", "error"], 6],
  ])("after one that %s, are deduplicated as ever", async (_, broken, args, expected) => {
    const home = folderOf({ ...broken, "b.csv": b, "c.csv": b });
    const { code, stderr } = await idv(["emails", "a.csv", "b.csv", "c.csv", "-I", "--dedupe", ...args], { home });
    expect(code, stderr).toBe(expected);
    expect(stderr).toContain("3 files, 1 failed: 4 rows");
    expect(read(home, "b.csv")).toContain("x@mailinator.com,disposable\ny@mailinator.com,disposable\n");
    expect(read(home, "c.csv")).toBe("email,status\n");
  });

  // Blocks that wait for a charge, and batches that are not full, when the first file fails.
  test.each<[number, string]>([
    [18_000, "u"],
    [18_000, "v"],
    [30_000, "u"],
    [30_000, "v"],
    [25_000, "u"],
  ])("get no rows of a file that fails, whose items are charged once: %i rows of %s", async (count, name) => {
    const rows = (user: string) =>
      Array.from({ length: count }, (_, i) => `${i},${user}${i}@larch-and-oak${i % 50}.com,x\n`);
    const header = "id,email,note\n";
    const [broken, good] = [[header, ...rows("u"), "1,2,3,4\n"].join(""), [header, ...rows(name)].join("")];
    const home = folderOf({ "a.csv": broken, "b.csv": good });
    const { code, stderr } = await idv(["emails", "a.csv", "b.csv", "-I", "--bad-rows", "error"], { home });
    expect(code, stderr).toBe(6);
    expect(read(home, "a.csv")).toBe(broken);
    expect(read(home, "b.csv")).toBe(good.replaceAll("x\n", "x,ok\n").replace("note\n", "note,status\n"));
    // The file that stays as it is costs nothing.
    expect(await readQuota(home)).toMatchObject({ used: count });
  });

  test("pay nothing for a last file that fails", async () => {
    const many = Array.from({ length: 25_000 }, (_, i) => `${i},u${i}@larch-and-oak.com\n`);
    const home = folderOf({ "a.csv": a, "b.csv": ["id,email\n", ...many, "1,2,3\n"].join("") });
    const { stderr } = await idv(["emails", "a.csv", "b.csv", "-I", "--bad-rows", "error"], { home });
    expect(await readQuota(home)).toMatchObject({ used: 2 });
    expect(stderr).toContain("2 files, 1 failed: 2 rows, 2 distinct e-mail addresses\n");
  });

  test("tell what each would cost with --dry-run", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b, "c.csv": "email\nzoe@larch-and-oak.com\n" });
    const files = ["a.csv", "b.csv", "c.csv"];
    const { code, stderr } = await idv(["emails", ...files, "--dry-run"], { home });
    expect(code, stderr).toBe(0);
    const charges = stderr.match(/\d units?(?= would be charged)/g);
    expect(charges).toEqual(["2 units", "1 unit", "1 unit", "4 units"]);
    const json = await idv(["emails", ...files, "--dry-run", "--log", "json"], { home });
    expect(unitsIn(json.stderr).map(({ used }) => used)).toEqual([2, 1, 1, 4]);
  });

  test.each(["--split", "-o"])(
    "that appear together, of a run with a name, have no units below 0: %s",
    async (option) => {
      const list = (name: string) =>
        `email\n${Array.from({ length: 20 }, (_, i) => `${name}${i}@larch-and-oak.com\n`).join("")}`;
      const home = folderOf({
        "a.csv": list("a"),
        "b.csv": list("b"),
        "w.zip": zip({ "a.csv": list("a"), "b.csv": list("b") }),
      });
      const files = option === "-o" ? ["w.zip"] : ["a.csv", "b.csv"];
      const unitsAt = async (limit: number) => {
        await idv(["quota", "set", "--limit", `${limit}`], { home });
        const to = option === "-o" ? `${limit}.zip` : `${limit}/`;
        const { stderr } = await idv(
          ["emails", ...files, "--offline", option, to, "--log", "json", "--report", "r.json"],
          { ...{ home, env: { IDV_RUN: "nightly" } } },
        );
        return unitsIn(stderr).map(({ used, paidBefore }) => [used, paidBefore]);
      };
      expect((await unitsAt(10)).at(-1)).toEqual([10, 0]);
      const again = await unitsAt(35);
      expect(again.at(-1)).toEqual([25, 10]);
      expect(JSON.parse(read(home, "r.json")).units).toMatchObject({ used: 25, paidBefore: 10 });
      expect(again.flat().every((units) => units! >= 0)).toBe(true);
      expect(await readQuota(home)).toMatchObject({ used: 35 });
    },
  );

  test("of a run with a name cost nothing again, each and together", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    await setQuota(home, { limit: 100 });
    const unitsOf = async () => {
      const args = ["emails", "a.csv", "b.csv", "-o", "out/", "--log", "json"];
      const { stderr } = await idv(args, { home, env: { IDV_RUN: "nightly" } });
      return unitsIn(stderr).map(({ used, paidBefore }) => [used, paidBefore]);
    };
    const first = await unitsOf();
    const all = first[0]![0]! + first[1]![0]!;
    expect(first[2]).toEqual([all, 0]);
    const again = await unitsOf();
    expect(again.map(([used]) => used)).toEqual([0, 0, 0]);
    expect(again[2]![1]).toBe(again[0]![1]! + again[1]![1]!);
    expect(again[2]![1]).toBe(all);
    expect(await readQuota(home)).toMatchObject({ used: all });
  });

  test("of a run with a name wait for one that fails, and no item is charged twice at the next try", async () => {
    const list = (from: number) =>
      `email\n${Array.from({ length: 100 }, (_, i) => `u${from + i}@larch-and-oak.com\n`).join("")}`;
    const home = folderOf({ "b.csv": list(50) });
    await setQuota(home, { limit: 1000 });
    const run = () => idv(["emails", "a.csv", "b.csv", "-o", "out/", "-q"], { home, env: { IDV_RUN: "nightly" } });
    const { code, stderr } = await run();
    const why = "not validated: a.csv failed, and IDV_RUN needs the files in order";
    expect([code, stderr]).toEqual([6, expect.stringContaining(`b.csv: ${why}`)]);
    expect(existsSync(join(home, "out/b.csv"))).toBe(false);
    writeFileSync(join(home, "a.csv"), list(0));
    for (let tries = 0; tries < 2; tries++) {
      expect((await run()).code).toBe(0);
      expect(await readQuota(home)).toMatchObject({ used: 150 });
    }
  });

  test.each([
    ["without a limit, or with another fault", { IDV_RUN: "nightly" }, undefined],
    ["without a name", {}, 100],
  ])("that follow one that fails are validated %s", async (_, env, limit) => {
    const home = folderOf({ "a.csv": a, "b.csv": 'email\n"open\n', "c.csv": "email\nb@larch-and-oak.com\n" });
    if (limit !== undefined) await setQuota(home, { limit });
    const { code } = await idv(["emails", "a.csv", "b.csv", "c.csv", "-o", "out/", "-q"], { home, env });
    expect([code, readdirSync(join(home, "out")).sort()]).toEqual([6, ["a.csv", "c.csv"]]);
  });

  test("with a name of which no table can be written fail alone", async () => {
    const home = folderOf({
      "a.csv": a,
      "b.pdf": "%PDF-1.4\n",
      "c.vcf": "BEGIN:VCARD\nFN:B\nEMAIL:b@web.de\nEND:VCARD\n",
      "d.ldif.gz": gzipSync("dn: cn=D\ncn: D\nmail: d@web.de\n"),
      "e.cvs": a,
    });
    const files = ["a.csv", "b.pdf", "c.vcf", "d.ldif.gz", "e.cvs"];
    const { code, stderr } = await idv(["emails", ...files, "-o", "out/", "-q"], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining("out/b.pdf: .pdf cannot be written; name it .csv")]);
    expect(readdirSync(join(home, "out")).sort()).toEqual(["a.csv", "c.csv", "d.csv", "e.cvs"]);
  });

  test("of a run with a name leave what one of them has cost to it", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": "email\nb@larch-and-oak.com\n" });
    await setQuota(home, { limit: 3 });
    const run = (...files: string[]) =>
      idv(["emails", ...files, "-o", "out/", "-q"], { home, env: { IDV_RUN: "nightly" } });
    expect((await run("a.csv")).code).toBe(0);
    expect((await run("a.csv", "b.csv")).code).toBe(0);
    expect((await run("a.csv")).code).toBe(0);
    expect(await readQuota(home)).toMatchObject({ used: 3 });
  });

  test("that could not be validated are counted in the report", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": 'email\n"open\n' });
    for (const files of ["a.csv b.csv", "b.csv a.csv"]) {
      await idv(["emails", ...files.split(" "), "-o", "out/", "-q", "--report", "r.json"], { home });
      expect(JSON.parse(read(home, "r.json"))).toMatchObject({ failed: 1, inputs: [{ name: "a.csv" }] });
    }
  });

  test("get the statuses of their concatenation", async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `u${i % 70}@${i % 3 ? "mailinator.com" : "larch-and-oak.com"}`);
    const table = (part: readonly string[]) => `email\n${part.map((row) => `${row}\n`).join("")}`;
    const parts = [rows.slice(0, 90), rows.slice(90, 91), rows.slice(91)];
    const files = Object.fromEntries(parts.map((part, i) => [`p${i}.csv`, table(part)]));
    const home = folderOf({ ...files, "all.csv": table(rows) });
    for (const limit of [null, 40]) {
      await setQuota(home, { limit });
      await idv(["emails", ...Object.keys(files), "-o", `out${limit}/`], { home });
      await setQuota(home, { limit });
      await idv(["emails", "all.csv", "-o", "whole.csv"], { home });
      const together = Object.keys(files).flatMap((name) => read(home, `out${limit}/${name}`).split("\n").slice(1, -1));
      expect(together).toEqual(read(home, "whole.csv").split("\n").slice(1, -1));
    }
  });
});
