/** Options about the verdicts of a run, and the exit code that they cause. */
import type { Kind } from "../../core/validator/validator.js";
import { optionRecords } from "./option.js";
import { filled } from "./values.js";
import { failCondition, noRows, statusesOf } from "./words.js";

const ownList = { parse: filled, isList: true, belongsTo: "offline" } as const;

export const listOptions = optionRecords({
  allow: { flags: "--allow <FILE>", help: "domains and addresses that are ok", ...ownList },
  deny: { flags: "--deny <FILE>", help: "domains and addresses that are disposable", ...ownList },
  allowOnly: { flags: "--allow-only <FILE>", help: "like --allow; items on no allow list are disposable", ...ownList },
});

export const verdictOptions = (kind: Kind) =>
  optionRecords({
    offline: { flags: "--offline", help: "use the embedded classifier; no network at all", conflicts: ["dns"] },
    ...listOptions,
    failOn: {
      flags: "--fail-on <STATUS,...>",
      help: "exit 1 if rows have these statuses; fake:2%: if over 2 %; no-rows: if empty",
      parse: failCondition(kind),
      words: statusesOf(kind, noRows),
      isJoined: true,
    },
  });
