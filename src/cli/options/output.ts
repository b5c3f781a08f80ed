/** Options about the output of a run: destination, format and columns. */
import { optionRecords } from "./option.js";
import { folder, outputFormat, outputName } from "./values.js";
import { addedColumns, columnsToAdd } from "./words.js";

export const outputOptions = optionRecords({
  output: {
    flags: "-o, --output <FILE>",
    help: "write to FILE; it appears whole or not at all",
    parse: outputName,
    isOnce: true,
  },
  inPlace: {
    flags: "-I, --in-place [=SUFFIX]",
    help: "replace FILE; keep the old one as FILE + SUFFIX",
    conflicts: ["output", "split"],
  },
  update: {
    flags: "--update [=all]",
    help: "validate only rows without a status; all: every row again",
    choices: ["rest", "all"],
    implied: "rest",
  },
  split: {
    flags: "--split <DIR>",
    help: "write the rows of each status to DIR/ok.csv ...",
    parse: folder,
    isOnce: true,
    conflicts: ["output"],
  },
  format: {
    flags: "--format <FORMAT>",
    help: "write csv, tsv, jsonl or json",
    parse: outputFormat,
    words: ["csv", "tsv", "jsonl", "json"],
  },
  explain: { flags: "--explain", help: "add the columns reason and suggestion; with --dns also mx" },
  fix: {
    flags: "--fix [=WHICH]",
    help: "correct mistyped domains of large providers, or all: every item with a suggestion, and remove marks around items; the originals go into the column was",
    choices: ["typos", "all"],
    implied: "typos",
    belongsTo: "offline",
  },
  add: {
    flags: "--add <COLUMN,...>",
    help: "add canonical, the address that reaches the same mailbox, or flags, facts such as role or free-provider",
    parse: addedColumns,
    words: columnsToAdd,
    isJoined: true,
  },
});
