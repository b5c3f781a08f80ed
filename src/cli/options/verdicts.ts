/** Options about the verdicts of a run, and the exit code that they cause. */
import type { Kind } from "../../core/validator/validator.js";
import { optionRecords } from "./option.js";
import { filled } from "./values.js";
import { failCondition, noRows, statusesOf } from "./words.js";

const ownList = { parse: filled, isList: true, belongsTo: "offline" } as const;

export const listOptions = optionRecords({
  allow: { flags: "--allow <FILE>", help: "domains and addresses that are ok", ...ownList },
  deny: { flags: "--deny <FILE>", help: "domains and addresses that are disposable", ...ownList },
  allowOnly: { flags: "--allow-only <FILE>", help: "as --allow; what no allow list has is disposable", ...ownList },
});

export const verdictOptions = (kind: Kind) =>
  optionRecords({
    offline: { flags: "--offline", help: "use the embedded classifier; no network at all", conflicts: ["dns"] },
    ...listOptions,
    failOn: {
      flags: "--fail-on <STATUS,...>",
      help: "exit 1 when rows have these statuses; fake:2%: more of them than that; no-rows: when there are none",
      parse: failCondition(kind),
      words: statusesOf(kind, noRows),
      isJoined: true,
    },
  });
