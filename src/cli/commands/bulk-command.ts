/** `idv emails` and `idv domains`: their help and their action. Options are in `options/`, the run in `bulk/`. */
import { CommanderError } from "commander";
import type { Kind } from "../../core/validator/validator.js";
import { exitCodes } from "../exit-codes.js";
import { type BulkOptions, bulkOptions } from "../options/bulk.js";
import { addOptions, givenOptions } from "../options/option.js";
import { filled, parsed } from "../options/values.js";
import { type DefineCommand, describe } from "./command.js";

const examplesOf = {
  email: [
    "emails list.csv -o checked.csv",
    "emails list.csv --drop disposable,fake --dedupe -o clean.csv",
    "emails -I.bak list.csv --explain",
    "emails -c email < list.csv | head",
    "emails signups.tsv --fail-on disposable,fake -q > /dev/null",
  ],
  domain: ["domains domains.txt -o checked.csv", "domains customers.csv -c website -o checked.csv"],
};

export const define: DefineCommand = (command) => {
  const kind: Kind = command.name() === "emails" ? "email" : "domain";
  const one = kind === "email" ? "e-mail address" : "domain";
  describe(command, {
    description: `Gives every row of a table the status of its ${one}.`,
    examples: examplesOf[kind],
    environment: [
      ...(["IDV_API_KEY", "IDV_API_KEY_COMMAND", "IDV_ALLOW", "IDV_DENY"] as const),
      ...(["IDV_QUOTA", "IDV_RUN", "IDV_CACHE_FILE", "NO_COLOR, FORCE_COLOR", "CI, TERM=dumb"] as const),
    ],
    exitCodes: [1, 3, 4, 5],
    topics: ["tables", "statuses", "settings", "service"],
  }).argument(
    "[FILE...]",
    "tables or plain lists; - or none for standard input",
    (file: string, files: string[] = []) => [...files, parsed("FILE", file, filled)],
  );
  for (const [group, records] of Object.entries(bulkOptions(kind))) addOptions(command, records, group);
  command.action(async (files: readonly string[], options: BulkOptions) => {
    if (files.length === 0 && process.stdin.isTTY && options.column === undefined) {
      process.stderr.write(shortUsage(kind));
      throw new CommanderError(exitCodes.usage, "idv.noInput", "no input");
    }
    const { runBulk } = await import("../bulk/run-bulk.js");
    process.exitCode = await runBulk({ kind, files, options, given: givenOptions(command) });
  });
};

/** Shown for the command alone: the whole help would scroll it away. */
function shortUsage(kind: Kind): string {
  const name = `${kind}s`;
  const list = kind === "email" ? "list.csv" : "domains.txt";
  const line = (command: string, what: string) => `  ${command.padEnd(46)}${what}`;
  return [
    `Usage: idv ${name} [FILE...] [options]`,
    line(`idv ${name} ${list} -o checked.csv`, "every row, with its status"),
    line(`idv ${name} ${list} --only ok -o good.csv`, "only good rows"),
    line(`idv ${name} ${list} --dry-run`, "what it would cost"),
    line(`... | idv ${name} | ...`, "in a pipe"),
    `Every option: idv ${name} --help; recipes: idv help recipes`,
    "",
  ].join("\n");
}
