/** `idv check`: verdicts on a few values. Nothing is charged. */
import { loadClassifier } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { extractItem } from "../../run/item.js";
import type { Kind } from "../../validator/validator.js";
import { type OwnListOptions, readOwnLists } from "../config/own-lists.js";
import { dataTablePath } from "../config/paths.js";
import { print } from "../terminal/standard-output.js";
import { printable, say } from "../terminal/terminal.js";
import { allowOption, type DefineCommand, denyOption, describe } from "./command.js";

interface CheckOptions extends OwnListOptions {
  readonly json?: true;
}

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Prints the verdict on a few addresses or domains. Nothing is charged.",
    examples: ["check ann.lee@gmial.com mailinator.com", "check --json ann+news@example.net"],
    environment: ["IDV_ALLOW", "IDV_DENY", "XDG_DATA_HOME"],
  })
    .argument("<VALUE...>", "e-mail addresses, domains or URLs")
    .option("--json", "print one JSON object a line")
    .addOption(allowOption())
    .addOption(denyOption())
    .action(check);
};

/** Prints a line for each value, tab-separated: value, status, reason, suggestion. */
async function check(values: readonly string[], options: CheckOptions): Promise<void> {
  const classifier = loadClassifier({
    ...tableSource(dataTablePath(process.env), say),
    ownLists: await readOwnLists(options, process.env),
  });
  for (const value of values) {
    const kind = kindOf(value);
    const item = extractItem(kind, value);
    const { status, reason, suggestion } = classifier.classify(kind, item);
    const line = options.json
      ? JSON.stringify({ value, kind, item, status, reason: reason ?? null, suggestion: suggestion ?? null })
      : [value, status, reason ?? "", suggestion ?? ""].map(printable).join("\t").trimEnd();
    print(`${line}\n`);
  }
}

/** Takes a value with an `@` for an address, unless it is a URL. */
function kindOf(value: string): Kind {
  return value.includes("@") && !value.includes("://") ? "email" : "domain";
}
