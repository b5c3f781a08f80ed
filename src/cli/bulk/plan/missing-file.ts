/** What a name of a file that is not there was meant to be: a file beside it, or an item. */
import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Kind } from "../../../core/validator/validator.js";
import { endingOf } from "../../../files/ending.js";
import { tableEndings } from "../../../formats/registry.js";
import { printable } from "../../../text.js";
import { meantBy } from "../../options/meant.js";
import { shellWord } from "../command-line.js";

/** `given` are the absolute paths of all files that are named: none of them is meant. */
export function missingFileHint(path: string, kind: Kind, given: readonly string[] = []): string | undefined {
  const isItem = kind === "email" ? /^[^\s/@]+@[^\s/@]+\.[^\s/@]+$/ : /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
  const folder = dirname(path);
  const own = basename(path);
  const names = namesIn(folder);
  if (path === "help") return `for the help: idv ${kind}s --help`;
  if (/[*?]/.test(path)) {
    const [start = ""] = own.split(/[*?]/);
    const end = own.slice(Math.max(own.lastIndexOf("*"), own.lastIndexOf("?")) + 1);
    const isQuoted = names.some((name) => name.startsWith(start) && name.endsWith(end));
    return isQuoted ? "leave out the quotes, so that the shell finds the files" : "no name of a file matches it";
  }
  const others = names.filter((name) => name !== own && !given.includes(resolve(folder, name)));
  const beside = meantBy(own, others);
  if (beside !== undefined) return `did you mean ${printable(join(folder, beside))}?`;
  if (isItem.test(path) && !tableEndings.has(endingOf(path)))
    return `to check ${kind === "email" ? "an address" : "a domain"}: idv check ${shellWord(path)}`;
  return undefined;
}

const mostNames = 10_000;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, mostNames);
  } catch {
    return [];
  }
}
