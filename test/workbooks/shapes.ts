/** Workbooks of many shapes, each with a list of people and another sheet. */
import type { WriteSheet } from "hucre/xlsx";
import { writeXlsx } from "hucre/xlsx";

export const people = [
  ["ann@larch-and-oak.com", "ok"],
  ["x@mailinator.com", "disposable"],
  ["bob@larch-and-oak.com", "ok"],
  ["broken", "fake"],
  ["ann@larch-and-oak.com", "ok"],
  ["y@mailinator.com", "disposable"],
] as const;

const rows = [
  ["id", "email", "since", "share"],
  ...people.map(([email], i) => [i + 1, email, new Date(Date.UTC(2026, 0, i + 1)), (i + 1) / 8]),
];
const notes = { name: "Notes & more", rows: [["nothing", true, 0.5, new Date(Date.UTC(2026, 1, 3))]] };
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const formula = (text: string, result: number) => ({ formula: text, formulaResult: result });
const cells = (entries: Record<string, object>) => new Map(Object.entries(entries)) as never;

export interface Shape {
  readonly name: string;
  readonly sheet?: Omit<Partial<WriteSheet>, "name">;
  readonly other?: Omit<Partial<WriteSheet>, "name">;
  readonly book?: object;
  /** Whether rows can be taken out. */
  readonly isFree: boolean;
}

export const shapes: readonly Shape[] = [
  { name: "plain", isFree: true },
  {
    name: "styles, freeze panes and widths",
    sheet: {
      freezePane: { rows: 1 },
      columns: [{ width: 5 }, { width: 40, style: { font: { bold: true } } }, { width: 12 }, {}] as never,
    },
    isFree: true,
  },
  {
    name: "a filter, a print area and a validation",
    sheet: {
      autoFilter: { range: "A1:D7" },
      dataValidations: [{ type: "list", values: ["1", "2"], range: "A2:A7" }] as never,
    },
    isFree: true,
  },
  {
    name: "a format",
    sheet: {
      conditionalRules: [
        {
          type: "cellIs",
          priority: 1,
          operator: "greaterThan",
          formula: "3",
          range: "A2:A7",
          style: { font: { bold: true } },
        },
      ] as never,
    },
    isFree: true,
  },
  {
    name: "a table",
    sheet: { tables: [{ name: "People", range: "A1:D7", columns: rows[0]!.map((name) => ({ name })) }] as never },
    isFree: false,
  },
  {
    name: "formulas",
    sheet: { cells: cells({ "7,3": formula("SUM(D2:D7)", 2.625) }) },
    other: { cells: cells({ "1,0": formula("COUNT(People!A2:A7)", 6) }) },
    isFree: false,
  },
  {
    name: "notes and links",
    sheet: {
      cells: cells({
        "2,1": { value: "x@mailinator.com", comment: { author: "a", text: "who?" } },
        "3,0": { value: 3, hyperlink: { target: "https://example.com/3" } },
      }),
    },
    isFree: false,
  },
  {
    name: "a chart",
    other: {
      charts: [
        {
          type: "bar",
          title: "Shares",
          series: [{ name: "share", values: "People!$D$2:$D$7", categories: "People!$B$2:$B$7" }],
          anchor: { from: { row: 3, col: 3 } },
        },
      ] as never,
    },
    isFree: false,
  },
  {
    name: "a picture, merged cells and hidden rows",
    sheet: {
      images: [{ data: pixel, type: "png", anchor: { from: { row: 0, col: 8 }, to: { row: 1, col: 9 } } }] as never,
      rowDefs: new Map([[2, { hidden: true }]]) as never,
    },
    other: { merges: [{ startRow: 2, startCol: 0, endRow: 3, endCol: 2 }] },
    isFree: true,
  },
  {
    name: "names and a hidden sheet",
    book: { namedRanges: [{ name: "All", range: "People!$B$2:$B$7" }] },
    other: { hidden: true },
    isFree: false,
  },
];

/** Returns the file of a shape, as hucre writes it. */
export const workbookOf = ({ sheet, other, book }: Shape): Promise<Uint8Array> =>
  writeXlsx({
    sheets: [
      { name: "People", rows, ...sheet },
      { ...notes, ...other },
    ],
    ...book,
  } as never);
