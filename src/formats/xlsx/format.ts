/** Spreadsheet files (.xlsx, .xlsm): what is known of them before their code is loaded, which is large. */

import { isZipStart } from "../compression/compression-format.js";
import type { SheetFormat } from "../format.js";

export const spreadsheets: SheetFormat = {
  what: "a spreadsheet file",
  kinds: ["xlsx", "xlsm"],
  starts: isZipStart,
  refuses: {
    input: {
      encoding: "--encoding is for text, and this is a spreadsheet file",
      replacement: "only .xlsx and .xlsm can be replaced; write another file with -o FILE.xlsx",
    },
    output: {
      keptRows: "--bad-rows keep works only in the text format of the input and with one output; use --bad-rows skip",
      outputEncoding: "an encoding of the output is for text; leave it out for a spreadsheet file",
      format: "--format is for text; leave it out for a spreadsheet file",
    },
  },
  loses: "would be written without its styles and formulas; keep the old one with -I.bak, or use -o for another file",
  open: async (...file) => (await import("./workbook.js")).openSheet(...file),
  create: async (...file) => (await import("./new-workbook.js")).newWorkbook(...file),
  sinkFor: async (...rows) => (await import("./workbook-sink.js")).workbookSink(...rows),
};
