/** Options about the units that a run charges. */
import { optionRecords } from "./option.js";
import { filled, waitTime } from "./values.js";

export const quotaOptions = optionRecords({
  quota: {
    flags: "--quota <FILE|URL#NAME>",
    help: "quota of the offline engine: a file, or #NAME in the state of idv serve",
    parse: filled,
    belongsTo: "offline",
  },
});

export const spendingOptions = optionRecords({
  ...quotaOptions,
  wait: { flags: "--wait [TIME]", help: "wait for the quota to renew, if it renews within TIME", parse: waitTime },
  dryRun: { flags: "--dry-run", help: "send and write nothing; say what it would cost", conflicts: ["report", "by"] },
});
