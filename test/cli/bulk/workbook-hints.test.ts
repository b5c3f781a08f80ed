/** Covers what a workbook says of itself and may be wrong, and workbooks with macros. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { xlsxOf } from "../../support/workbooks.js";

const cell = (name: string, text: string) => `<c r="${name}" t="inlineStr"><is><t>${text}</t></is></c>`;
const rows =
  `<row r="1">${cell("A1", "email")}${cell("B1", "name")}</row>` +
  `<row r="2">${cell("A2", "ann@larch-and-oak.com")}${cell("B2", "Ann")}</row>` +
  `<row r="3">${cell("A3", "x@mailinator.com")}${cell("B3", "Bob")}</row>` +
  `<row r="4">${cell("A4", "bob@larch-and-oak.com")}<c r="B4"/><c r="C4" s="1"/>${cell("D4", "a note")}</row>`;

describe("the dimension of a sheet is a hint:", () => {
  test.each(["", "A1", "A1:B4", "A1:B3", "1:4", "$A$1:$B$4", "A:D", "A1:XFD1048576", "nonsense", "B2:C3"])(
    "%j",
    async (ref) => {
      const dimension = ref === "" ? "" : `<dimension ref="${ref}"/>`;
      const home = folderOf({ "l.xlsx": xlsxOf({ S: rows }, { dimension }) });
      const stdout =
        "email,name,,,status\nann@larch-and-oak.com,Ann,,,ok\nx@mailinator.com,Bob,,,disposable\nbob@larch-and-oak.com,,,a note,ok\n";
      expect(await idv(["emails", "l.xlsx", "-q"], { home })).toEqual({ code: 0, stdout, stderr: "" });
      expect((await idv(["emails", "l.xlsx", "-q", "-o", "o.xlsx"], { home })).code).toBe(0);
      const { stdout: again } = await idv(["emails", "o.xlsx", "-q", "--update"], { home });
      expect(again).toContain("bob@larch-and-oak.com,,,a note,ok");
    },
  );

  test.each([
    ["cells that do not name themselves", rows.replace(/ r="[A-D]\d"/g, ""), 4],
    ["far columns", rows.replaceAll("D4", "AB4"), 28],
  ])("%s are counted", async (_, data, width) => {
    const home = folderOf({ "l.xlsx": xlsxOf({ S: data }, { dimension: '<dimension ref="A1:B4"/>' }) });
    const { code, stdout } = await idv(["emails", "l.xlsx", "-q"], { home });
    expect([code, stdout.split("\n")[0]!.split(",").length]).toEqual([0, width + 1]);
  });
});

describe("a workbook with macros", () => {
  const types =
    '<Types><Override PartName="/xl/workbook.xml" ContentType="application/vnd.ms-excel.sheet.macroEnabled.main+xml"/></Types>';
  const macros = "MACROS ".repeat(50);
  const bytes = xlsxOf({ S: rows }, { parts: { "[Content_Types].xml": types, "xl/vbaProject.bin": macros } });

  test.each([[["-o", "o.xlsm"]], [["-I.bak"]]])("comes back with its macros: %j", async (args) => {
    const home = folderOf({ "l.xlsm": bytes });
    const { code, stderr } = await idv(["emails", "l.xlsm", ...args], { home });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("not kept")]);
    const written = args.includes("-o") ? "o.xlsm" : "l.xlsm";
    const { stdout } = await idv(["emails", written, "-q", "--update"], { home });
    expect(stdout).toContain("x@mailinator.com,Bob,,,disposable");
    // The part is copied as it is, compressed.
    expect(readFileSync(join(home, written)).includes("xl/vbaProject.bin")).toBe(true);
  });

  test("says that an .xlsx has no macros, and is made of no other file", async () => {
    const list = "email\nann@larch-and-oak.com\n";
    const home = folderOf({ "l.xlsm": bytes, "l.csv": list, "l.xlsx": xlsxOf({ S: rows }) });
    const lost = expect.stringContaining("styles, formulas, macros and other sheets are not kept");
    expect(await idv(["emails", "l.xlsm", "-o", "o.xlsx"], { home })).toMatchObject({ code: 0, stderr: lost });
    const stderr = "idv: new.xlsm: a workbook with macros is made from one only; name it .xlsx\n";
    for (const from of ["l.csv", "l.xlsx"])
      expect(await idv(["emails", from, "-q", "-o", "new.xlsm"], { home })).toMatchObject({ code: 2, stderr });
  });
});

describe("--log github", () => {
  const commands = ["::stop-commands::x.csv", "  ::notice::y.csv", "::add-mask::email.csv"];

  test.each([...commands, "##[error]z.csv", "a ##[group]b.csv"])(
    "starts no line with the name %j, and has no command in it",
    async (name) => {
      const rows = "1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,y@mailinator.com,b\n";
      const home = folderOf({ [name]: `::set-output name=a::b,email\n${rows}` });
      for (const args of [[], ["--log", "json"], ["-o", `${name}.out.csv`]]) {
        for (const bad of ["skip", "error"]) {
          const { stderr } = await idv(["emails", name, "--log", "github", ...args, "--bad-rows", bad], { home });
          for (const line of stderr.split("\n")) {
            // The properties and texts of our own commands are no commands.
            if (/^\s*::/.test(line)) expect(line).toMatch(/^::(?:error|notice|warning)(?: file=|::idv: )/);
            else expect(line).not.toContain("##[");
          }
          expect(stderr.length).toBeGreaterThan(20);
        }
      }
    },
  );
});
