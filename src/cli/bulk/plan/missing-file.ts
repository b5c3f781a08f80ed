/** What a name of a file that is not there was meant to be: a file beside it, or an item. */
import { readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { findSuffix } from "../../../core/classifier/rules/domain/public-suffix.js";
import { meantBy } from "../../../core/meant.js";
import type { Kind } from "../../../core/validator/validator.js";
import { endingOf } from "../../../files/ending.js";
import { tableEndings } from "../../../formats/registry.js";
import { printable } from "../../../text.js";
import { shellWord } from "../command-line.js";

/** `given` are the absolute paths of all files that are named: none of them is meant. */
export function missingFileHint(path: string, kind: Kind, given: readonly string[] = []): string | undefined {
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
  // Of a short name, most of the letters may be those of its ending.
  const stemOf = (name: string) => name.replace(/\.[^.]*$/, "");
  // Endings are alike by themselves: `test.csv` is not `list.csv`.
  const near = others.filter(
    (name) =>
      (stemOf(own).length > 2 || stemOf(own).startsWith(stemOf(name))) &&
      (extname(own) !== extname(name) || meantBy(stemOf(own), [stemOf(name)]) !== undefined),
  );
  const beside = meantBy(own, near);
  if (beside !== undefined) return `did you mean ${printable(join(folder, beside))}?`;
  if (tableEndings.has(endingOf(path))) return undefined;
  const items = path.split(/[,;]\s*/);
  const isAddress = (text: string) => /^[^\s<>"/@:]+@[^\s<>"/@:]+\.[a-z]{2,}$/i.test(text);
  if (items.length > 1 && items.every(isAddress))
    return `to check addresses: idv check ${items.map(shellWord).join(" ")}`;
  // An address with a blank is not the part after it.
  const [address] =
    /^[^<>"/@:]+@[^\s<>"/@:]+\.[a-z]{2,}$|^[^\s<>"/@]+@[a-z]+$|[^\s<>"/@]+@[^\s<>"/@]+\.[^\s<>"/@]+/.exec(path) ?? [];
  if (address !== undefined) return `to check an address: idv check ${shellWord(address)}`;
  const isDomain =
    /^[a-z0-9.-]+$/i.test(path) && !endingsOfFiles.test(path) && findSuffix(path.toLowerCase()) === "registrable";
  return isDomain ? `to check a domain: idv check ${shellWord(path)}` : undefined;
}

/** Top-level domains that are more often endings of files. */
const endingsOfFiles = /\.(?:app|md|mov|pl|py|rs|sh|zip)$/i;

const mostNames = 10_000;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, mostNames);
  } catch {
    return [];
  }
}
