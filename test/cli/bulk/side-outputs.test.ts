/** Covers the files that a run writes beside its output: what they replace, what they keep, and what a fault of one loses. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeXlsx } from "hucre/xlsx";
import { beforeAll, describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { zip } from "../../support/zip.mjs";

const list = "id,email\n1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,bob@larch-and-oak.com,y\n";
const customers = "id,name\n1,Ann\n2,Bob\n";
const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");
const emails = (home: string, ...args: readonly string[]) =>
  idv(["emails", "list.csv", "-q", "-o", "out.csv", "--bad-rows", "skip", ...args], { home });

/** Each kind: its option, a good name, and names with other endings. */
const kinds: readonly (readonly [string, (path: string) => readonly string[], string, readonly string[]])[] = [
  ["report", (path) => ["--report", path], "r.html", ["r.docx", "r.csv", "r", "r.html.gz", "list"]],
  ["Markdown", (path) => ["--report", path], "r.md", ["r.txt"]],
  ["JSON report", (path) => ["--report", path], "r.json", ["r.jsonl"]],
  ["bad rows", (path) => ["--bad-rows", `skip:${path}`], "bad.csv", ["bad.xlsx", "bad", "bad.json", "bad.html"]],
  ["summaries", (path) => ["--log", `json:${path}`], "s.jsonl", ["s.csv", "s.html", "s"]],
  ["code quality", (path) => ["--log", `gitlab:${path}`], "q.json", ["q.csv", "q.sarif", "q"]],
  ["SARIF", (path) => ["--log", `sarif:${path}`], "s.sarif", ["s.csv", "s.txt", "s"]],
];

/** A file of each kind, by its name. */
const written = new Map<string, string>();
beforeAll(async () => {
  const home = folderOf({ "list.csv": list });
  for (const [, option, name] of kinds) {
    expect((await emails(home, ...option(name))).code).toBe(0);
    written.set(name, read(home, name));
  }
});

describe.each(kinds)("a file for %s", (kind, option, name, wrong) => {
  test.each(wrong)("cannot take the name %s; nothing is written", async (path) => {
    const home = folderOf({ "list.csv": list });
    const { code, stderr } = await emails(home, ...option(path));
    expect(code).toBe(2);
    expect(stderr).toMatch(/ ends in \./);
    expect(readdirSync(home).filter((entry) => entry !== "state")).toEqual(["list.csv"]);
  });

  test("replaces nothing that idv has not written for the same purpose", async () => {
    const home = folderOf({ "list.csv": list });
    const finding = {
      ...{ description: "x", check_name: "eslint", fingerprint: "1", severity: "major" },
      location: { path: "a.js", lines: { begin: 1 } },
    };
    const others = [customers, "<html></html>\n", "[1]\n", '{"type":"other"}\n', "\0\0\0", JSON.stringify([finding])];
    for (const [other, , path] of kinds) {
      if (other === kind || (path.startsWith("r.") && name.startsWith("r."))) continue;
      others.push(written.get(path)!);
    }
    for (const old of others) {
      writeFileSync(join(home, name), old);
      const { code, stderr } = await emails(home, ...option(name));
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("the existing file is not") });
      expect(read(home, name)).toBe(old);
    }
  });

  test("replaces an empty file and its own", async () => {
    const home = folderOf({ "list.csv": list, [name]: "" });
    for (let round = 0; round < 2; round++) {
      expect((await emails(home, ...option(name))).code).toBe(0);
      expect(read(home, name)).not.toBe("");
    }
  });
});

// On macOS and Windows, browsers have places of their own.
describe.runIf(process.platform === "linux")("a report as a PDF", () => {
  const args = ["emails", "list.csv", "-q", "-o", "out.csv", "--bad-rows", "skip", "--report", "rep.pdf"];

  test("is refused before anything is charged if no browser can print it", async () => {
    const home = folderOf({ "list.csv": list });
    expect(await idv(args, { home, env: { PATH: home } })).toMatchObject({
      code: 2,
      stderr:
        "idv: --report rep.pdf: a PDF needs Chromium, Chrome or Edge, and none is found; write FILE.html and print it\n",
    });
    expect(readdirSync(home)).toEqual(["list.csv"]);
  });

  const broken: [why: string, script: string][] = [
    ["no display", "echo no display >&2; exit 1"],
    // Its child keeps the streams.
    ["no display", "sleep 300 & echo no display >&2; exit 1"],
    ["its output is not DevTools protocol", "printf 'garbage\\0' >&4; exec sleep 300"],
    ["Target.createTarget: no result", `printf '{"id":1}\\0' >&4; exec sleep 300`],
    [
      "its output is not a PDF",
      `for id in 1 2 3 4; do printf '{"id":%s,"result":{}}\\0' $id >&4; sleep 0.5; done; exec sleep 300`,
    ],
  ];
  test.each(broken)("that the browser does not print costs only itself: %s", async (why, script) => {
    const home = folderOf({ "list.csv": list, chromium: `#!/bin/sh\n${script}\n` });
    chmodSync(join(home, "chromium"), 0o755);
    expect(await idv(args, { home, env: { PATH: `${home}:${process.env["PATH"]}`, TMPDIR: home } })).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`idv: rep.pdf: the browser could not print it: ${why}\n`),
    });
    expect(read(home, "out.csv")).toContain("ann@larch-and-oak.com,ok");
    expect(readdirSync(home).sort()).toEqual(["chromium", "list.csv", "out.csv", "state"]);
  });
});

describe("the list of bad rows of a file that is replaced", () => {
  test.each(["-I", "-I.bak"])("keeps the rows of earlier nights, with %s", async (inPlace) => {
    const home = folderOf({ "n.csv": list });
    const night = () => idv(["emails", "n.csv", "-q", inPlace, "--update", "--bad-rows", "skip:bad.csv"], { home });
    expect((await night()).code).toBe(0);
    const first = read(home, "bad.csv");
    expect(first).toContain("3,bob@larch-and-oak.com,y");
    expect((await night()).code).toBe(0);
    expect(read(home, "bad.csv")).toBe(first);
    writeFileSync(join(home, "n.csv"), `${read(home, "n.csv")}4,z@mailinator.com,,a,b\n`);
    expect((await night()).code).toBe(0);
    const all = read(home, "bad.csv");
    expect(all.startsWith(first)).toBe(true);
    expect(all.match(/^file,line/gm)).toHaveLength(1);
    expect(all).toContain("4,z@mailinator.com,,a,b");
  });
});

describe("a run that changes no byte", () => {
  test.each([[[]], [["--explain"]], [["--drop", "fake"]]])(
    "touches neither the file nor its backup: %j",
    async (args) => {
      const home = folderOf({ "n.csv": "email\nann@larch-and-oak.com\nx@mailinator.com\n" });
      const night = () => idv(["emails", "n.csv", "-I.bak", "--update", ...args], { home });
      expect((await night()).code).toBe(0);
      const [file, backup] = [read(home, "n.csv"), read(home, "n.csv.bak")];
      const old = new Date(1_700_000_000_000);
      for (const name of ["n.csv", "n.csv.bak"]) utimesSync(join(home, name), old, old);
      const { code, stderr } = await night();
      expect(code).toBe(0);
      expect(stderr).toContain("idv: n.csv: nothing has changed; the file stays as it is\n");
      expect(stderr).not.toContain("written:");
      expect([read(home, "n.csv"), read(home, "n.csv.bak")]).toEqual([file, backup]);
      for (const name of ["n.csv", "n.csv.bak"]) expect(statSync(join(home, name)).mtimeMs).toBe(old.getTime());
      expect(readdirSync(home).sort()).toEqual(["n.csv", "n.csv.bak", "state"]);
      writeFileSync(join(home, "n.csv"), `${file}bob@larch-and-oak.com,${args.includes("--explain") ? ",," : ""}\n`);
      expect((await night()).code).toBe(0);
      expect(read(home, "n.csv")).toContain("bob@larch-and-oak.com,ok");
    },
  );
});

test.each([
  ["an archive", "n.zip", [], (text: string) => zip({ "a.csv": text, "b.csv": text, "read.me": "Hello\n" })],
  [
    "a workbook",
    "n.xlsx",
    ["--sheet", "*"],
    (text: string) =>
      writeXlsx({
        sheets: ["A", "B"].map((name) => ({
          name,
          rows: text
            .trim()
            .split("\n")
            .map((line) => [line]),
        })),
      }),
  ],
] as const)("a run that changes nothing in %s touches neither it nor its backup", async (_, name, args, make) => {
  const home = folderOf({});
  writeFileSync(join(home, name), await make("email\nann@larch-and-oak.com\nx@mailinator.com\n"));
  const night = () => idv(["emails", name, "-I.bak", "--update", ...args], { home });
  expect((await night()).code).toBe(0);
  const read = () => [name, `${name}.bak`].map((each) => readFileSync(join(home, each)).toString("base64"));
  const before = read();
  expect(await night()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`idv: ${name}: nothing has changed; the file stays as it is\n`),
  });
  expect(read()).toEqual(before);
  expect(readdirSync(home).sort()).toEqual([name, `${name}.bak`, "state"]);
});

test("a file beside the output that cannot be written loses no other", async () => {
  const home = folderOf({ "list.csv": list });
  const { code, stderr } = await emails(
    home,
    ...["--log", "json:/dev/full", "--report", "r.html", "--log", "sarif:s.sarif", "--log", "json"].slice(0, 6),
  );
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: expect.stringContaining("/dev/full: cannot be written: no space left"),
  });
  expect(read(home, "out.csv")).toContain("ann@larch-and-oak.com,ok");
  expect([existsSync(join(home, "r.html")), existsSync(join(home, "s.sarif"))]).toEqual([true, true]);
  expect((await emails(home, "--report", "/dev/full", "--report", "r.md", "--log", "json:s.jsonl")).code).toBe(6);
  expect([existsSync(join(home, "r.md")), existsSync(join(home, "s.jsonl"))]).toEqual([true, true]);
});

test("a row that was not judged has nothing in the column of the status, whatever is wrong with it", async () => {
  const rows = [
    "2,x@mailinator.com,Lee,ok",
    "3,y@mailinator.com,Lee, Ann",
    '4,"z@mailinator.com",Lee,"a,b",c',
    "5,a@larch-and-oak.com,x,",
  ];
  const home = folderOf({
    "k.csv": `id,email,name\n1,a.lee@larch-and-oak.com,x\n${rows.join("\n")}\n6,c.lee@larch-and-oak.com,x\n`,
  });
  await idv(["emails", "k.csv", "-q", "--explain", "--bad-rows", "keep", "-o", "k2.csv"], { home });
  expect(read(home, "k2.csv").split("\n")).toEqual([
    "id,email,name,status,reason,suggestion",
    "1,a.lee@larch-and-oak.com,x,ok,,",
    "2,x@mailinator.com,Lee,,,,ok",
    "3,y@mailinator.com,Lee,,,, Ann",
    '4,"z@mailinator.com",Lee,,,,"a,b",c',
    "5,a@larch-and-oak.com,x,ok,,",
    "6,c.lee@larch-and-oak.com,x,ok,,",
    "",
  ]);
  // They are bad rows again, and no status is taken from them.
  const again = await idv(["emails", "k2.csv", "-q", "--update", "--only", "ok", "--bad-rows", "skip"], { home });
  expect(again.stdout.match(/,ok,,$/gm)).toHaveLength(3);
  expect(again.stderr).toMatch(/k2\.csv:3: 7 fields/);
});
