/** Covers spreadsheet files that fill the memory, never end or lose rows if they are read carelessly. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";
import { xlsxOf } from "../../support/workbooks.js";

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
  const watch = `process.on("exit", () => require("node:fs").writeFileSync("memory", String(process.resourceUsage().maxRSS * 1024)));`;
  const home = folderOf({ [name]: content, "watch.cjs": watch });
  const env = { NODE_OPTIONS: `--max-old-space-size=128 --require=${join(home, "watch.cjs")}` };
  const outcome = await idv(["emails", name, ...args], { home, env });
  return { ...outcome, home, memory: Number(readFileSync(join(home, "memory"), "utf8")) };
}

describe("a sheet takes little memory", () => {
  test("whose last row is filled", async () => {
    const file = xlsxOf({ S: row(1, "email") + row(1_048_576, ann) });
    const { code, stderr, home, memory } = await run("l.xlsx", file, "-o", "o.csv");
    expect(code, stderr).toBe(0);
    const written = readFileSync(join(home, "o.csv"), "utf8").split("\n");
    expect(written.length - 1).toBe(1_048_576);
    expect(written.at(-2)).toContain(ann);
    expect(memory).toBeLessThan(mostMemory);
  });

  test.each(some(["1048577", "20000000", "99999999999"], 1))("that has a row %s, and is refused", async (number) => {
    const file = xlsxOf({ S: row(1, "email") + row(number, ann) });
    const { code, stderr, memory } = await run("l.xlsx", file, "-o", "o.csv");
    expect(code).toBe(6);
    expect(stderr).toContain(`l.xlsx: sheet "S", row ${number}: a sheet has rows 1 to 1,048,576; repair`);
    expect(memory).toBeLessThan(mostMemory);
  });
});

test("a workbook without a free column is refused before anything is charged or written", async () => {
  const full = `<row r="1">${inline("A1", "email")}</row><row r="2">${inline("A2", ann)}${inline("XFD2", "x")}</row>`;
  const home = folderOf({ "l.xlsx": xlsxOf({ S: full }) });
  const refused = await idv(["emails", "l.xlsx", "-o", "o.xlsx"], { home });
  const reason = 'l.xlsx: sheet "S": there is no free column behind its last one; use -o FILE.csv\n';
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining(reason) });
  expect(readdirSync(home).filter((name) => name !== "state")).toEqual(["l.xlsx"]);
  expect((await idv(["quota", "show", "--json"], { home })).stdout).toContain('"used":0');
});
