/** Options about the input of a run: which column has the items, and how the table is read. */
import { optionRecords } from "./option.js";
import { encodings, filled, markCharacter, oneCharacter, quoting, wholeNumber } from "./values.js";

export const all = "*";

export const inputOptions = optionRecords({
  column: {
    flags: "-c, --column <NAME|INDEX>",
    help: "column with the items, from 1; repeat for several; *: each that has any",
    parse: filled,
    isList: true,
  },
  delimiter: {
    flags: "-d, --delimiter <CHAR>",
    help: "character between fields; \\t for tab, none: a line is an item",
    parse: oneCharacter,
  },
  headers: { flags: "-n, --no-headers", help: "treat the first record as data" },
  skipLines: { flags: "--skip-lines <N>", help: "copy the first N lines unchanged", parse: wholeNumber(0, 10_000) },
  sheet: {
    flags: "--sheet <NAME>",
    help: "sheet of a spreadsheet file; *: each with items",
    parse: filled,
    isOnce: true,
  },
  encoding: {
    flags: "--encoding <IN:OUT>",
    help: "encodings IN:OUT, such as latin1:utf-8-bom (for Excel); IN may be auto, OUT same",
    parse: encodings,
  },
  quote: { flags: "--quote <CHARS>", help: "quote and escape character; none: quotes are text", parse: quoting },
  comment: { flags: "--comment <CHAR>", help: "copy lines starting with CHAR unchanged", parse: markCharacter },
  force: {
    flags: "--force",
    help: "go on although most items are invalid, most rows are bad, or a second header follows",
  },
});
