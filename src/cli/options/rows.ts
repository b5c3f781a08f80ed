/** Options about the rows of a run: which rows are validated and written. */
import type { Kind } from "../../core/validator/validator.js";
import { optionRecords } from "./option.js";
import { shardOf } from "./values.js";
import { badRowHandling, filterList, noItem, statusesOf } from "./words.js";

export const rowOptions = (kind: Kind) =>
  optionRecords({
    only: {
      flags: "--only <STATUS,...>",
      help: "write only rows with these statuses, or flags: flag:role",
      parse: filterList(kind),
      words: statusesOf(kind, noItem),
      isJoined: true,
      conflicts: ["drop"],
    },
    drop: {
      flags: "--drop <STATUS,...>",
      help: "leave out rows with these statuses or flags; empty: without an item",
      parse: filterList(kind),
      words: statusesOf(kind, noItem),
      isJoined: true,
    },
    dedupe: {
      flags: "--dedupe [=KEY]",
      help: "leave out duplicates: write the first row of each item, or mailbox",
      choices: ["item", "canonical"],
      implied: "item",
    },
    badRows: {
      flags: "--bad-rows <POLICY>",
      help: "broken rows: error, skip or keep; skip:FILE and keep:FILE list them in FILE (default: error)",
      parse: badRowHandling,
      words: ["error", "skip", "keep", "skip:", "keep:"],
    },
    shard: {
      flags: "--shard <I/N>",
      help: "validate part I of N; equal items share a part; index/N: by task index",
      parse: (text: string) => shardOf(text),
      isOnce: true,
    },
  });
