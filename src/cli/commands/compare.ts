/** `idv compare`: what became better or worse between two outputs of idv. */
import { decodeInput } from "../../files/decoding.js";
import { ChoiceError } from "../../files/errors.js";
import { openInputFile } from "../../files/input.js";
import { isZipStart } from "../../files/zip-start.js";
import { itemTest, usualCells } from "../../run/cells.js";
import { type Comparison, type Counts, compareTables } from "../../run/compare.js";
import { profiles } from "../../run/profiles.js";
import { openTable } from "../../table/reader.js";
import type { Kind } from "../../validator/validator.js";
import { exitCodes } from "../exit-codes.js";
import { type OptionValues, optionRecords } from "../options/option.js";
import { filled } from "../options/values.js";
import { interruptible } from "../terminal/interruption.js";
import { print } from "../terminal/standard-output.js";
import { counted, grouped, printable, say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  column: { flags: "-c, --column <NAME|INDEX>", help: "column with the items, from 1", parse: filled },
  domains: { flags: "--domains", help: "the tables hold domains" },
  failOn: {
    flags: "--fail-on <WHAT>",
    help: "exit 1 if the share of bad items grew: worse",
    choices: ["worse"],
  },
  json: { flags: "--json", help: "print a JSON object" },
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Counts the items that became bad or good again between two outputs of idv, such as those of last night and of this one.\nReads their status columns; nothing is charged.",
    examples: ["compare list.csv.bak list.csv", "compare monday.csv tuesday.csv --fail-on worse"],
    options,
    exitCodes: [1],
    topics: ["recipes"],
  })
    .argument("<OLD>", "the older output")
    .argument("<NEW>", "the newer output")
    .action(async (older: string, newer: string, given: OptionValues<typeof options>) => {
      process.exitCode = await compare(older, newer, given);
    });
};

async function compare(
  older: string,
  newer: string,
  { column, domains, failOn, json }: OptionValues<typeof options>,
): Promise<number> {
  const kind = domains ? "domain" : "email";
  const interruption = interruptible(undefined);
  const work = async () => {
    const open = (path: string) => openChecked(path, kind, column, interruption.signal);
    return compareTables(kind, await open(older), await open(newer));
  };
  let found: Comparison;
  try {
    found = await Promise.race([work(), interruption.interrupted]);
  } finally {
    interruption.end();
  }
  // Items that had no units before must not make the list worse: nobody knows what they were.
  const known = {
    items: found.now.items - found.firstChecked.items,
    bad: found.now.bad - found.firstChecked.bad,
  };
  const isWorse = shareOf(known) > shareOf(found.before);
  print(json ? `${JSON.stringify({ ...found, isWorse })}\n` : textOf(found, newer, older));
  if (failOn === undefined || !isWorse) return exitCodes.done;
  say(`--fail-on worse: ${percent(known)} are bad, ${percent(found.before)} were`);
  return exitCodes.failOn;
}

async function openChecked(path: string, kind: Kind, column: string | undefined, signal: AbortSignal) {
  const file = await openInputFile(path, signal);
  const { bytes, start } = await decodeInput(path, file.bytes);
  if (isZipStart(start)) {
    await file.close();
    throw new ChoiceError(`${path}: compare reads text; write the outputs as CSV`);
  }
  return openTable(
    { name: path, bytes },
    {
      profile: profiles[kind],
      items: itemTest({ kind, emptyValues: usualCells.emptyValues }),
      ...(column !== undefined && { columns: [column] }),
      badRows: "skip",
      onBadRow: () => {},
      needsSample: true,
    },
  );
}

const shareOf = ({ items, bad }: Counts): number => (items === 0 ? 0 : bad / items);
const percent = (counts: Counts): string => `${(100 * shareOf(counts)).toFixed(1)} %`;

function textOf({ before, now, ...found }: Comparison, newer: string, older: string): string {
  const line = (path: string, counts: Counts) =>
    `${printable(path)}: ${counted(counts.items, "distinct item")}, ${grouped(counts.bad)} bad (${percent(counts)})\n`;
  return (
    line(older, before) +
    line(newer, now) +
    `  ${"became bad".padEnd(22)}${grouped(found.worsened).padStart(9)}\n` +
    `  ${"new and bad".padEnd(22)}${grouped(found.newAndBad).padStart(9)}\n` +
    `  ${"good again".padEnd(22)}${grouped(found.recovered).padStart(9)}\n` +
    `  ${"bad and gone".padEnd(22)}${grouped(found.goneAndBad).padStart(9)}\n` +
    (found.firstChecked.items === 0
      ? ""
      : `  ${"checked only now".padEnd(22)}${grouped(found.firstChecked.items).padStart(9)}, ${grouped(found.firstChecked.bad)} bad; not compared\n`)
  );
}
