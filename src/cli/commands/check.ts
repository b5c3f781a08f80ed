import { loadClassifier } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { extractItem } from "../../run/item.js";
import type { Kind } from "../../validator/validator.js";
import { type OwnListOptions, readOwnLists } from "../config/own-lists.js";
import { print } from "../terminal/standard-output.js";
import { printable } from "../terminal/terminal.js";

/** Runs `idv check`: a line for each value, tab-separated: value, status, reason, suggestion. */
export async function runCheck(
  values: readonly string[],
  options: OwnListOptions & { readonly json?: true },
): Promise<void> {
  const classifier = loadClassifier({
    ...tableSource(process.env),
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

/** An `@` makes an address, unless it is part of a URL. */
function kindOf(value: string): Kind {
  return value.includes("@") && !value.includes("://") ? "email" : "domain";
}
