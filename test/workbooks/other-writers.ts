/**
 * Workbooks as other programs write them: exceljs, SheetJS and openpyxl, as far as they are installed. One of each has what
 * may lose rows, and one has not.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { leaveOut } from "../engines/tools.js";
import { people } from "./shapes.js";

const header = ["id", "email", "since", "share"];
const list = people.map(([email], i) => [i + 1, email, `2026-01-0${i + 1}`, (i + 1) / 8] as const);
const require = createRequire(import.meta.url);

interface Writer {
  readonly name: string;
  /** What installs it. */
  readonly install: string;
  isInstalled(): boolean;
  /** @param isFree whether rows can be taken out */
  write(path: string, isFree: boolean): Promise<void>;
}

const isPackage = (name: string) => () => {
  try {
    return require.resolve(name) !== "";
  } catch {
    return false;
  }
};

const exceljs: Writer = {
  name: "exceljs",
  install: "npm install --no-save exceljs",
  isInstalled: isPackage("exceljs"),
  async write(path, isFree) {
    const book = new (require("exceljs").Workbook)();
    const sheet = book.addWorksheet("People", { views: [{ state: "frozen", ySplit: 1 }] });
    sheet.addRow(header).font = { bold: true };
    for (const [id, email, since, share] of list) sheet.addRow([id, email, new Date(since), share]);
    sheet.getColumn(2).width = 40;
    sheet.getColumn(3).numFmt = "yyyy-mm-dd";
    sheet.getColumn(4).numFmt = "0.0%";
    sheet.autoFilter = "A1:D7";
    sheet.getCell("A2").dataValidation = { type: "list", formulae: ['"1,2,3"'] };
    sheet.addConditionalFormatting({
      ref: "A2:A7",
      rules: [{ type: "cellIs", operator: "greaterThan", formulae: ["3"], style: { font: { bold: true } } }],
    });
    sheet.getCell("B3").value = { richText: [{ text: "x@", font: { bold: true } }, { text: "mailinator.com" }] };
    if (!isFree) {
      sheet.getCell("B4").note = "who?";
      sheet.getCell("D8").value = { formula: "SUM(D2:D7)", result: 2.625 };
    }
    book.addWorksheet("Notes & more").addRow(["nothing", true, 0.5]);
    await book.xlsx.writeFile(path);
  },
};

const sheetjs: Writer = {
  name: "sheetjs",
  install: "npm install --no-save xlsx",
  isInstalled: isPackage("xlsx"),
  async write(path, isFree) {
    const { utils, write } = require("xlsx");
    const book = utils.book_new();
    const rows = list.map(([id, email, since, share]) => [id, email, new Date(since), share]);
    const sheet = utils.aoa_to_sheet([header, ...rows], { cellDates: true });
    sheet["!autofilter"] = { ref: "A1:D7" };
    sheet["!cols"] = [{ wch: 5 }, { wch: 40 }];
    sheet["!rows"] = [{}, {}, { hidden: true }];
    sheet["A3"].l = { Target: "https://example.com/" };
    if (!isFree) {
      sheet["!merges"] = [utils.decode_range("C6:D7")];
      sheet["D5"] = { t: "n", v: 0.5, f: "A5/8" };
    }
    utils.book_append_sheet(book, sheet, "People");
    utils.book_append_sheet(book, utils.aoa_to_sheet([["nothing", true, 0.5]]), "Notes & more");
    writeFileSync(path, write(book, { type: "buffer", bookType: "xlsx", bookSST: true }));
  },
};

const python = "/usr/bin/python3";
const openpyxl: Writer = {
  name: "openpyxl",
  install: "apt-get install python3-openpyxl",
  isInstalled: () => spawnSync(python, ["-c", "import openpyxl"]).status === 0,
  async write(path, isFree) {
    const script = `
import datetime, json, sys
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font
from openpyxl.worksheet.datavalidation import DataValidation
path, free, header, rows = json.loads(sys.argv[1])
book = Workbook()
sheet = book.active
sheet.title = "People"
sheet.append(header)
for id, email, since, share in rows:
    sheet.append([id, email, datetime.date.fromisoformat(since), share])
sheet.freeze_panes = "A2"
sheet.auto_filter.ref = "A1:D7"
sheet.print_title_rows = "1:1"
sheet["B1"].font = Font(bold=True)
validation = DataValidation(type="list", formula1='"1,2,3"')
validation.add("A2:A7")
sheet.add_data_validation(validation)
sheet.conditional_formatting.add("A2:A7", CellIsRule(operator="greaterThan", formula=["3"], font=Font(bold=True)))
if not free:
    sheet["B3"].comment = Comment("who?", "a")
    sheet["D8"] = "=SUM(D2:D7)"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=4, min_row=1, max_row=7), titles_from_data=True)
    sheet.add_chart(chart, "H2")
more = book.create_sheet("Notes & more")
more.append(["nothing", True, 0.5])
book.save(path)
`;
    execFileSync(python, ["-c", script, JSON.stringify([path, isFree, header, list])]);
  },
};

/** Writers that are installed. Says how to install the others. */
export const otherWriters = [exceljs, sheetjs, openpyxl].filter((writer) => {
  if (writer.isInstalled()) return true;
  leaveOut(writer.name, writer.install);
  return false;
});

/** Writes the workbooks into a folder. */
export async function writeOthers(folder: string): Promise<void> {
  for (const { write, name } of otherWriters) {
    for (const isFree of [true, false]) await write(join(folder, otherName(name, isFree)), isFree);
  }
}

export const otherName = (writer: string, isFree: boolean): string => `${isFree ? "free" : "bound"}-${writer}.xlsx`;
