/** Covers spreadsheet files that fill the memory, never end or lose rows if they are read carelessly. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { finished, idv, startIdv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { emptyCells, emptyRows, odsOf, odsRow, xlsxOf } from "../support/workbooks.js";

const inline = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const ann = "ann@larch-and-oak.com";
const row = (number: number | string, text: string) => `<row r="${number}">${inline(`A1`, text)}</row>`;

/** Largest memory of a process in bytes: that of Node and idv with a small table is 60 to 80 MB. */
const mostMemory = 300e6;

/**
 * Runs the program on a file with a heap that is too small for sheets in memory. At its end, the process writes the largest
 * memory that it had into a file.
 */
async function run(name: string, content: Uint8Array, ...args: string[]) {
  const home = temporaryFolder();
  writeFileSync(join(home, name), content);
  const watch = join(home, "watch.cjs");
  writeFileSync(
    watch,
    `process.on("exit", () => require("node:fs").writeFileSync("memory", String(process.resourceUsage().maxRSS * 1024)));`,
  );
  const env = { NODE_OPTIONS: `--max-old-space-size=128 --require=${watch}` };
  const outcome = await idv(["emails", name, ...args], { home, env });
  return { ...outcome, home, memory: Number(readFileSync(join(home, "memory"), "utf8")) };
}

const output = (home: string) => readFileSync(join(home, "o.csv"), "utf8").split("\n");

describe("a sheet takes little memory", () => {
  test.each<[string, string, () => Uint8Array, number]>([
    [
      "with 3,000 rows that a colour fills up to the last column",
      "l.ods",
      () => {
        const rows = Array.from({ length: 3000 }, (_, i) => odsRow([`${i}`, ann], emptyCells(16_382)));
        return odsOf({ S: odsRow(["id", "email"]) + rows.join("") + emptyRows(1_045_575) });
      },
      3001,
    ],
    [
      "with 12 columns and empty cells after them",
      "l.ods",
      () => {
        const texts = Array.from({ length: 11 }, (_, i) => `text ${i}`);
        const rows = odsRow([ann, ...texts], emptyCells(16_372)).repeat(30_000);
        return odsOf({ S: odsRow(["email", ...texts]) + rows + emptyRows(1_018_575) });
      },
      30_001,
    ],
    [
      "with a row that is repeated to the end",
      "l.ods",
      () => odsOf({ S: odsRow(["email"]) + odsRow([ann], "", 1_048_575) }),
      1_048_576,
    ],
    [
      "whose last row is filled",
      "l.xlsx",
      () => xlsxOf({ S: row(1, "email") + row(1_048_576, ann) }),
      1_048_576,
    ],
  ])("%s", async (_, name, file, lines) => {
    const { code, stderr, home, memory } = await run(name, file(), "-o", "o.csv");
    expect(code, stderr).toBe(0);
    const written = output(home);
    expect(written.length - 1).toBe(lines);
    expect(written.at(-2)).toContain(ann);
    expect(memory).toBeLessThan(mostMemory);
  });

  test.each(["1048577", "20000000", "99999999999"])("that has a row %s, and is refused", async (number) => {
    const file = xlsxOf({ S: row(1, "email") + row(number, ann) });
    const { code, stderr, memory } = await run("l.xlsx", file, "-o", "o.csv");
    expect(code).toBe(6);
    expect(stderr).toContain(`l.xlsx: sheet "S", row ${number}: a sheet has rows 1 to 1,048,576; repair`);
    expect(memory).toBeLessThan(mostMemory);
  });
});

test("SIGTERM ends a run over a sheet that stands for gigabytes", async () => {
  const home = temporaryFolder();
  const wide = `<table:table-cell table:number-columns-repeated="5000"><text:p>${ann}</text:p></table:table-cell>`;
  writeFileSync(join(home, "l.ods"), odsOf({ S: odsRow([], wide, 1_048_576) }));
  const child = startIdv(["emails", "l.ods", "-c", "1", "-o", "/dev/null"], { home });
  const end = finished(child);
  // Its first note: the sheet is found, and its rows follow.
  await new Promise((resolve) => child.stderr?.once("data", resolve));
  child.kill("SIGTERM");
  expect(await end).toMatchObject({ code: 143, stderr: expect.stringContaining("stopped by SIGTERM") });
});

test("a text that is missing is an error that names the cell", async () => {
  const file = xlsxOf(
    { S: `${row(1, "email")}${row(2, ann)}<row r="3"><c r="A3" t="s"><v>99</v></c></row>` },
    { texts: ["<t>a</t>"] },
  );
  const { code, stderr } = await run("l.xlsx", file);
  expect(code).toBe(6);
  expect(stderr).toContain(
    'l.xlsx: sheet "S", cell A3: its text, number 99, is missing; repair the workbook',
  );
});

test("charts and empty sheets are passed over", async () => {
  const file = xlsxOf({ Chart: undefined, Empty: '<row r="1"><c r="A1" s="1"/></row>', List: row(1, ann) });
  const { code, stdout, stderr } = await run("l.xlsx", file);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${ann},ok\n` });
  expect(stderr).toContain('l.xlsx: sheet "List"');
});

describe("formulas without a stored value", () => {
  const cells = (number: number, ...texts: (string | undefined)[]) =>
    `<row r="${number}">${texts
      .map((text, i) => {
        const place = `${"ABC"[i]}${number}`;
        return text === undefined ? `<c r="${place}"><f>LOWER(A1)</f></c>` : inline(place, text);
      })
      .join("")}</row>`;
  const advice = "open the workbook in a spreadsheet program, recalculate it and save it";

  test("are counted in the summary, with the first of them", async () => {
    const file = xlsxOf({
      S: cells(1, "id", "email") + cells(2, "1", ann) + cells(3, "2") + cells(4, "3", undefined),
    });
    const text = await run("l.xlsx", file);
    expect({ code: text.code, stdout: text.stdout }, text.stderr).toEqual({
      code: 0,
      stdout: `id,email,status\n1,${ann},ok\n2,,\n3,,\n`,
    });
    expect(text.stderr).toContain(`\n1 formula without a stored value, the first in B4: ${advice}\n`);
    const json = await run("l.xlsx", file, "--log", "json");
    expect(JSON.parse(json.stderr.split("\n").at(-2)!)).toMatchObject({
      emptyFormulas: { count: 1, first: "B4" },
    });
  });

  const rows = Array.from({ length: 9 }, (_, i) => cells(i + 2, "Ann", undefined)).join("");
  test.each<[string, string, string[], string]>([
    ["in the column", cells(1, "name", "email") + rows, [], "the formulas in column 2 have no stored value"],
    [
      "in a named column",
      cells(1, "email", "b") + rows.replaceAll("Ann", ann),
      ["-c", "1", "-c", "b"],
      "the formulas in column 2 have no stored value",
    ],
    [
      "in the only column",
      cells(1, "email") + cells(2, undefined) + cells(3, undefined),
      [],
      "in column 1 have no",
    ],
    ["without a header", cells(1, undefined) + cells(2, undefined), [], "in column 1 have no"],
    [
      "in columns of other names",
      cells(1, "name", "b") + rows,
      [],
      "9 formulas without a stored value, the first in B2",
    ],
  ])("end the run if nothing else is %s", async (_, sheet, args, message) => {
    const { code, stdout, stderr } = await run("l.xlsx", xlsxOf({ S: sheet }), ...args);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(advice);
  });

  test("do not end the run if an address follows far below", async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => cells(i + 2, "Ann", undefined)).join("");
    const file = xlsxOf({ S: cells(1, "name", "email") + many + cells(20_002, "Ann", ann) });
    const { code, stdout, stderr } = await run("l.xlsx", file);
    expect(code, stderr).toBe(0);
    expect(stdout.endsWith(`Ann,${ann},ok\n`)).toBe(true);
    expect(stderr).toContain("\n20,000 formulas without a stored value, the first in B2");
  });
});

test.each([
  ["xlsx", "no range", ""],
  ["xlsx", "its range", '<dimension ref="A1:D3000"/>'],
  ["xlsx", "a single cell", '<dimension ref="A1"/>'],
  ["ods", "none", ""],
])("the last row of an %s file may be the widest, where the sheet states %s", async (type, _, dimension) => {
  const fields = Array.from({ length: 3000 }, (_, i) =>
    i === 0 ? ["id", "email"] : i < 2999 ? [String(i), ann] : ["9", ann, "", "more"],
  );
  const cells = (row: readonly string[]) =>
    row.map((text) => (text === "" ? "<c/>" : `<c t="inlineStr"><is><t>${text}</t></is></c>`)).join("");
  const content =
    type === "ods"
      ? odsOf({ S: fields.map((row) => odsRow(row)).join("") })
      : xlsxOf({ S: fields.map((row) => `<row>${cells(row)}</row>`).join("") }, { dimension });
  const { code, stdout, stderr } = await run(`l.${type}`, content, "-q");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout.split("\n").at(-3)).toBe(`2998,${ann},,,ok`);
  expect(stdout.split("\n").at(-2)).toBe(`9,${ann},,more,ok`);
});

test("a row wider than the header is no bad row in a sheet, and cells are believed whatever they hold", async () => {
  const home = temporaryFolder();
  const cell = (place: string, text: string) =>
    `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  const rows = [
    cell("A1", "id") + cell("B1", "email"),
    cell("A2", "1") + cell("B2", "ann@larch-and-oak.com"),
    cell("A3", "2") + cell("B3", "x@mailinator.com") + cell("E3", "pasted:\n3,bob@larch-and-oak.com,,,"),
    cell("A4", "3"),
    cell("C5", "eve@larch-and-oak.com"),
  ];
  const sheet = rows.map((cells, i) => `<row r="${i + 1}">${cells}</row>`).join("");
  writeFileSync(join(home, "l.xlsx"), xlsxOf({ S: sheet }));
  const { code, stdout } = await idv(["emails", "-q", "l.xlsx"], { home });
  expect(code).toBe(0);
  expect(stdout).toBe(
    `id,email,,,,status\n1,ann@larch-and-oak.com,,,,ok\n2,x@mailinator.com,,,"pasted:\n3,bob@larch-and-oak.com,,,",disposable\n3,,,,,\n,,eve@larch-and-oak.com,,,\n`,
  );
});
