/**
 * Opens workbooks before and after a run in LibreOffice: each shape as hucre writes it, and as LibreOffice
 * writes it; and those of other writers. All sheets have the same values, and the list has its statuses.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import { inMemory, listParts } from "../../src/formats/zip/archive.js";
import { areInstalled } from "../engines/tools.js";
import { idv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { otherName, otherWriters, writeOthers } from "./other-writers.js";
import { people, type Shape, shapes, workbookOf } from "./shapes.js";

const writers = ["hucre.xlsx", "office.xlsx"] as const;
const nameOf = (shape: Shape, writer: string) => `${shape.name.replaceAll(" ", "-")}-${writer}`;
const isOffice = areInstalled({ "soffice --version": "libreoffice-calc" });

const home = temporaryFolder();
const csv = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1";

/** Converts all files of a folder in LibreOffice. */
function convert(from: string, to: string, format: string): void {
  mkdirSync(join(home, to), { recursive: true });
  const files = readdirSync(join(home, from)).map((file) => join(home, from, file));
  const profile = `-env:UserInstallation=file://${join(home, "profile")}`;
  execFileSync("soffice", [profile, "--headless", "--convert-to", format, "--outdir", join(home, to), ...files], {
    stdio: "ignore",
    timeout: 300_000,
  });
}

/** Returns the rows of a sheet, without empty fields and rows at their ends. */
function sheetOf(folder: string, file: string, sheet: string): string[][] {
  const path = join(home, folder, `${file.replace(/\.\w+$/, "")}-${sheet}.csv`);
  const rows: string[][] = parse(readFileSync(path), { relax_column_count: true });
  const trimmed = rows.map((row) => row.slice(0, row.findLastIndex((field) => field !== "") + 1));
  return trimmed.slice(0, trimmed.findLastIndex((row) => row.length > 0) + 1);
}

/** Returns the stored bytes of each part of an archive. */
function partsOf(path: string): Map<string, Buffer> {
  const file = readFileSync(path);
  const parts = listParts(inMemory(file))!;
  return new Map(
    parts.map(({ name, offset, compressedLength }) => {
      const start = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28);
      return [name, file.subarray(start, start + compressedLength)];
    }),
  );
}

const touched = /^(?:content\.xml|xl\/workbook\.xml|xl\/worksheets\/sheet1\.xml|xl\/tables\/\w+\.xml)$/;
const outcomes = new Map<string, Awaited<ReturnType<typeof idv>>>();

describe.skipIf(!isOffice)("a workbook comes back", () => {
  beforeAll(async () => {
    for (const folder of ["hucre", "before", "after", "only"]) mkdirSync(join(home, folder));
    for (const shape of shapes) {
      const bytes = await workbookOf(shape);
      writeFileSync(join(home, "before", nameOf(shape, "hucre.xlsx")), bytes);
      writeFileSync(join(home, "hucre", nameOf(shape, "office.xlsx")), bytes);
    }
    await writeOthers(join(home, "before"));
    convert("hucre", "before", "xlsx");
    for (const file of readdirSync(join(home, "before"))) {
      for (const [folder, ...args] of [["after"], ["only", "--only", "ok"]] as const) {
        const words = ["emails", join("before", file), "-o", join(folder, file), "--offline", ...args];
        outcomes.set(`${folder} ${file}`, await idv(words, { home }));
      }
    }
    for (const folder of ["before", "after", "only"]) convert(folder, `${folder}-csv`, csv);
  });

  const cases = [
    ...shapes.flatMap((shape) => writers.map((writer) => ({ file: nameOf(shape, writer), free: shape.isFree }))),
    ...otherWriters.flatMap(({ name }) =>
      [true, false].map((isFree) => ({ file: otherName(name, isFree), free: isFree })),
    ),
  ];

  test.each(cases)("with its values and its statuses: $file", ({ file }) => {
    const { code, stderr } = outcomes.get(`after ${file}`)!;
    expect(code, stderr).toBe(0);
    const [before, after] = [sheetOf("before-csv", file, "People"), sheetOf("after-csv", file, "People")];
    const column = after[0]!.indexOf("status");
    expect(after.map((row) => row[column]).slice(1, 7)).toEqual(people.map(([, status]) => status));
    const cut = after.map((row) => row.filter((_, i) => i !== column));
    expect(cut.map((row) => row.slice(0, row.findLastIndex((field) => field !== "") + 1))).toEqual(before);
    expect(sheetOf("after-csv", file, "Notes & more")).toEqual(sheetOf("before-csv", file, "Notes & more"));
  });

  test.each(cases)("with its other parts, byte for byte: $file", ({ file }) => {
    const [before, after] = [partsOf(join(home, "before", file)), partsOf(join(home, "after", file))];
    expect([...after.keys()]).toEqual([...before.keys()]);
    const changed = [...after].filter(([name, bytes]) => !bytes.equals(before.get(name)!)).map(([name]) => name);
    expect(changed.filter((name) => !touched.test(name))).toEqual([]);
    expect(changed).not.toEqual([]);
  });

  test.each(cases)("without rows, or is refused: $file", ({ free: isFree, file }) => {
    const { code, stderr } = outcomes.get(`only ${file}`)!;
    expect({ code, isThere: existsSync(join(home, "only", file)) }, stderr).toEqual(
      isFree ? { code: 0, isThere: true } : { code: 6, isThere: false },
    );
    if (!isFree) return;
    const before = sheetOf("before-csv", file, "People");
    expect(sheetOf("only-csv", file, "People")).toEqual(
      before
        .map((row, i) => (i === 0 ? [...row, "status"] : [...row, people[i - 1]![1]]))
        .filter((row, i) => i === 0 || row.at(-1) === "ok"),
    );
    expect(sheetOf("only-csv", file, "Notes & more")).toEqual(sheetOf("before-csv", file, "Notes & more"));
  });
});
