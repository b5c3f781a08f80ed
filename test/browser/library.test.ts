/**
 * Covers the library for browsers as it is built, in Node.js, which has what a browser has: it gives the verdicts and the bytes of
 * the program. Chromium runs it in test/program/page.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { writeXlsx } from "hucre/xlsx";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.js";
import type { CheckedTable, TableOptions } from "../../src/web/browser/index.js";
import { idv } from "../support/run-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { some, times } from "../support/tier.js";

const built = new URL("../../dist/browser/", import.meta.url);
const read = (name: string) => new Uint8Array(readFileSync(new URL(name, built)));
const web: typeof import("../../src/web/browser/index.js") = await import(new URL("index.js", built).href);

beforeAll(() =>
  web.loadTables({ disposable: read("disposable.bin"), suffixes: read("suffixes.bin"), kernel: read("kernel.wasm") }),
);

const bytesOf = async ({ stream }: CheckedTable) =>
  Buffer.from(await new Response(stream as unknown as BodyInit).arrayBuffer());

async function checked(bytes: Uint8Array, name: string, options?: TableOptions) {
  const table = await web.validateTable(new File([bytes as BlobPart], name), options);
  return { ...table, output: await bytesOf(table), summary: await table.summary };
}

/** The bytes that the program writes. */
async function written(bytes: Uint8Array, name: string, ...args: string[]): Promise<Buffer> {
  const home = temporaryFolder();
  writeFileSync(join(home, name), bytes);
  const { stderr } = await idv(["emails", name, "--offline", "-q", "-o", `out-${name}`, ...args], { home });
  expect(stderr).toBe("");
  return readFileSync(join(home, `out-${name}`));
}

const fixtures = fileURLToPath(new URL("../../fixtures", import.meta.url));
const tables = (readdirSync(fixtures, { recursive: true }) as string[]).filter(
  (name) => /\.(?:csv|tsv|txt|jsonl?)$/.test(name) && name !== "domains.txt" && statSync(join(fixtures, name)).isFile(),
);

describe("the library, on a table", () => {
  test.each(some(tables, 8))("writes the bytes of the program: %s", async (path) => {
    const bytes = readFileSync(join(fixtures, path));
    const name = path.replaceAll("/", "-");
    const { output } = await checked(bytes, name, { encoding: "auto", explain: true, badRows: "keep" });
    const program = await written(bytes, name, "--encoding", "auto", "--explain", "--bad-rows", "keep");
    expect(output.equals(program)).toBe(true);
  });

  const rows = "id,email\r\n1,ann.lee@gmail.com\r\n2,x@mailinator.com\r\n3,bob.smith@gmial.com\r\n4,\r\n";
  const [first, second] = ['"email":"ann@larch-and-oak.com"', '"email":"x@mailinator.com"'];
  const cases: [name: string, bytes: Uint8Array][] = [
    ["list.json", Buffer.from(`{"people": [\n  {${first}},\n  {${second}}\n]}\n`)],
    ["list.jsonl", Buffer.from(`{${first}}\n{${second}}\n`)],
    ["list.tsv", Buffer.from(rows.replaceAll(",", "\t"))],
    ["list.ldif", Buffer.from("dn: cn=A\ncn: A\nmail: ann@larch-and-oak.com\njpegPhoto:: not base64!_-=x\n\n")],
    ["list.vcf", Buffer.from("BEGIN:VCARD\nFN:Ann\nEMAIL:ann@larch-and-oak.com\nEND:VCARD\n")],
    ["utf16.csv", Buffer.from(`\ufeff${rows}`, "utf16le")],
  ];
  test.each(cases)("writes the bytes of the program: %s", async (name, bytes) => {
    const target = /vcf|ldif/.test(name) ? "list.csv" : name;
    const { output } = await checked(bytes, name);
    expect(output.toString()).toBe((await written(bytes, target)).toString());
  });

  // Beyond the sample and the first blocks.
  const people = Array.from({ length: 30_000 }, (_, i) => `ann.lee${i}@${i % 7 ? "larch-and-oak.com" : "gmial.com"}`);
  const records = people.map((email, i) => JSON.stringify({ n: i, email, note: "a, b" }));
  const long: [name: string, text: string][] = [
    ["long.csv", `n,email,note\n${people.map((email, i) => `${i},${email},"a, b${i % 9 ? "" : "\nc"}"\n`).join("")}`],
    ["long.txt", people.join("\r\n")],
    ["long.jsonl", records.join("\n")],
    ["long.json", `[\n${records.join(",\n")}\n]\n`],
  ];
  test.each(long)("writes the bytes of the program for a list of many blocks: %s", async (name, text) => {
    const { output, summary } = await checked(Buffer.from(text), name);
    expect(summary).toMatchObject({ rows: people.length, statuses: { fake: Math.ceil(people.length / 7) } });
    expect(output.equals(await written(Buffer.from(text), name))).toBe(true);
  });

  test("writes gzip of several members as the program does", async () => {
    const bytes = Buffer.concat([gzipSync(rows), gzipSync("5,y@mailinator.com\r\n")]);
    const { output, compression } = await checked(bytes, "list.csv.gz");
    expect(compression).toBe("gzip");
    expect(gunzipSync(output).toString()).toBe(gunzipSync(await written(bytes, "list.csv.gz")).toString());
  });

  test("writes a workbook with the columns in its sheet, as the program does", async () => {
    const lines = rows.trim().split("\r\n");
    const cells = [...lines.map((row) => row.split(",")), ['6, "six"\nor 7', "zoe@larch-and-oak.com"]];
    const bytes = await writeXlsx({ sheets: [{ name: "People", rows: cells }] });
    const { output, format, sheet } = await checked(bytes, "list.xlsx", { explain: true });
    expect([format, sheet]).toEqual(["xlsx", "People"]);
    const again = await checked(output, "list.xlsx", { column: "email" });
    const cellsOf = async (bytes: Uint8Array) => {
      const home = temporaryFolder();
      writeFileSync(join(home, "in.xlsx"), bytes);
      await idv(["emails", "in.xlsx", "--offline", "-q", "-o", "out.csv"], { home });
      return readFileSync(join(home, "out.csv"), "utf8");
    };
    expect(await cellsOf(output)).toBe(await cellsOf(await written(bytes, "list.xlsx", "--explain")));
    expect(again.columns).toEqual(["id", "email", "status", "reason", "suggestion"]);
  });

  test("writes the bytes of the program, whatever is in the table", async () => {
    const word = fc.constantFrom(
      ...["ann@larch-and-oak.com", "x@mailinator.com", "bob.smith@gmial.com", "Ann.Lee+n@GoogleMail.com", "n/a", ""],
      ...["Ann <ann@larch-and-oak.com>", "a@b@c", "müller@bücher.example", "ann@münchen.de", "a;b", 'say "hi"'],
      ...["two\nlines", "x@mailinator.com, y@larch-and-oak.com", "\u{1f600}@larch-and-oak.com"],
    );
    const quoted = (field: string) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
    const table = fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(table, async (fields) => {
        // The program refuses a column without any item beside one with items.
        const lines = [["bob@larch-and-oak.com", ""] as const, ...fields].map(
          ([a, b], i) => `${i},${quoted(a)},${quoted(b)}\n`,
        );
        const text = `n,email,note\n${lines.join("")}`;
        const { output } = await checked(Buffer.from(text), "list.csv", { column: "email", explain: true });
        const program = await written(Buffer.from(text), "list.csv", "-c", "email", "--explain");
        expect(output.toString()).toBe(program.toString());
      }),
      { numRuns: times(60) },
    );
  });

  test("writes the bytes of the program, whatever is chosen", async () => {
    const options: TableOptions = { keep: ["ok", "alias", "empty"], canonical: true, flags: true };
    const { output, summary } = await checked(Buffer.from(rows), "list.csv", options);
    const args = ["--only", "ok,alias,empty", "--add", "canonical,flags"];
    const program = await written(Buffer.from(rows), "list.csv", ...args);
    expect(output.toString()).toBe(program.toString());
    expect(summary).toMatchObject({ rows: 4, written: 2, empty: 1, statuses: { ok: 1, disposable: 1, fake: 1 } });
  });
});

describe("faults", () => {
  const cases: [what: string, bytes: string | Uint8Array, code: string, message: string][] = [
    ["a column that is none", "a,b\n1,2\n", "column", "no column looks like e-mail addresses"],
    ["a binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, ...Array(600).fill(0)]), "format", "list.csv"],
    ["a broken workbook", Buffer.from("PK\x03\x04 and nothing else"), "workbook", "damaged or cut off"],
    ["cut off gzip", gzipSync("email\nann@larch-and-oak.com\n".repeat(99)).subarray(0, 60), "file", "cut off"],
    ["Parquet", Buffer.from("PAR1abcdPAR1"), "format", "a Parquet file"],
    ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]), "file", "zstd is not read in a browser"],
    ["a bad row", 'email\nann@larch-and-oak.com\n"open\n', "row", "list.csv:3"],
  ];
  test.each(cases)("%s", async (_, bytes, code, message) => {
    const attempt = checked(Buffer.from(bytes as string), "list.csv");
    await expect(attempt).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test("an aborted run fails with the reason", async () => {
    const aborter = new AbortController();
    const text = `email\n${"ann@larch-and-oak.com\n".repeat(200_000)}`;
    const table = await web.validateTable(new Blob([text]), { signal: aborter.signal });
    aborter.abort(new Error("enough"));
    await expect(bytesOf(table)).rejects.toThrow("enough");
    await expect(table.summary).rejects.toThrow("enough");
    // Nobody reads.
    const other = new AbortController();
    const unread = await web.validateTable(new Blob([text]), { signal: other.signal });
    other.abort(new Error("unread"));
    await expect(unread.summary).rejects.toThrow("unread");
    const cancelled = await web.validateTable(new Blob([text]));
    await cancelled.stream.cancel();
    await expect(cancelled.summary).rejects.toThrow("the stream was cancelled");
  });
});

test("verdicts, canonical forms and flags are those of the library", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a-zé.+_-]+@[a-zü.-]+$/));
  fc.assert(
    fc.property(fc.oneof({ weight: 2, arbitrary: text }, fc.emailAddress(), fc.domain()), (item) => {
      expect(web.classifyEmail(item)).toEqual(library.classifyEmail(item));
      expect(web.classifyDomain(item)).toEqual(library.classifyDomain(item));
      expect(web.canonical("email", item)).toBe(library.canonical("email", item));
      expect(web.flags("email", item)).toEqual(library.flags("email", item));
    }),
    { numRuns: times(2000) },
  );
  const lists = { allow: ["mailinator.com"], deny: ["larch-and-oak.com"] };
  const [ours, theirs] = [web.createClassifier(lists), library.createClassifier(lists)];
  for (const item of ["x@mailinator.com", "ann@larch-and-oak.com", "bob.smith@gmial.com"]) {
    const verdict = ours.classify("email", item);
    expect(verdict).toEqual(theirs.classify("email", item));
    expect(ours.why(verdict)).toEqual(theirs.why(verdict));
  }
  expect(() => web.createClassifier({ allow: ["not a domain!"] })).toThrow(TypeError);
});

test("the library loads 60 kB before it validates tables, and 30 kB with gzip for a form", async () => {
  const loaded = new Set<string>();
  const load = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const text = Buffer.from(read(name)).toString();
    for (const [, other] of text.matchAll(/from ?"\.\/([^"]+)"/g)) load(other!);
  };
  load("index.js");
  expect(loaded.size).toBeGreaterThan(3);
  expect([...loaded].reduce((sum, name) => sum + read(name).length, 0)).toBeLessThan(60_000);
  const entry = join(temporaryFolder(), "form.js");
  const module = new URL("small.js", built).pathname;
  writeFileSync(entry, `export { classifyEmail, loadTables } from ${JSON.stringify(module)};\n`);
  const bundle = await rolldown({ input: entry, platform: "browser", treeshake: { moduleSideEffects: false } });
  const { output } = await bundle.generate({ minify: true, format: "esm" });
  const chunks = output.flatMap((file) => (file.type === "chunk" ? [file.code] : []));
  expect(gzipSync(chunks.join("")).length).toBeLessThan(30_000);
  expect(statSync(new URL("small.bin", built)).size).toBeLessThan(200_000);
});

test("the small table gives the same verdicts, but for rare disposable domains", async () => {
  const items = [
    "x@mailinator.com",
    "ann@larch-and-oak.com",
    "bob.smith@gmial.com",
    "a@b.co.uk",
    "a@b.nosuch",
    "x@us.to",
  ];
  // The other library of this process has loaded its tables, which both share.
  const script = `const small = await import(process.argv[1]);
    const faults = [];
    try { small.classifyEmail("a@b.c"); } catch ({ message }) { faults.push(message); }
    await small.loadTables(new Uint8Array(40)).catch(({ message }) => faults.push(message));
    await small.loadTables(require("node:fs").readFileSync(process.argv[2]));
    console.log(JSON.stringify([faults, ...JSON.parse(process.argv[3]).map((item) => small.classifyEmail(item))]));`;
  const paths = ["small.js", "small.bin"].map((name) => fileURLToPath(new URL(name, built)));
  const args = ["-e", `(async () => {${script}})()`, ...paths, JSON.stringify(items)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  const [faults, ...verdicts] = JSON.parse(stdout);
  expect(faults).toEqual(["no tables: await loadTables() first", "not a small table of this format"]);
  expect(verdicts).toEqual(items.map((item) => library.classifyEmail(item)));
});
