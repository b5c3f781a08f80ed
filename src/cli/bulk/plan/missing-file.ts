/** What a name of a file that is not there was meant to be: a file beside it, or an item. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { findSuffix } from "../../../core/classifier/rules/domain/public-suffix.js";
import { meantBy } from "../../../core/meant.js";
import type { Kind } from "../../../core/validator/validator.js";
import { endingOf } from "../../../files/ending.js";
import { tableEndings } from "../../../formats/registry.js";
import { printable, shellWord } from "../../../text.js";

/** `given` are the absolute paths of all files that are named: none of them is meant. */
export function missingFileHint(path: string, kind: Kind, given: readonly string[] = []): string | undefined {
  const folder = dirname(path);
  const own = basename(path);
  const names = namesIn(folder);
  if (path === "help") return `for the help: idv ${kind}s --help`;
  const slip = slipIn(path);
  if (slip !== undefined) return slip;
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
  return itemHint(path);
}

/** Returns advice on names that quotes kept from the shell, or that commas or backslashes stand in. */
function slipIn(path: string): string | undefined {
  const [variable] = /^(?:\$\w+|\$\{\w+\}|~)(?=\/)/.exec(path) ?? [];
  if (variable !== undefined)
    return `in ${variable === "~" ? "" : "single "}quotes, the shell leaves ${variable} as it is`;
  const [, file = ""] = /^(.*?)\s+-{1,2}[a-zA-Z]/.exec(path) ?? [];
  if (file !== "" && existsSync(file))
    return `the options belong outside the quotes: ${shellWord(file)} ${path.slice(file.length).trim()}`;
  const files = path.split(",");
  if (files.length > 1 && files.every((each) => existsSync(each)))
    return `write several files with spaces between them: ${files.map(shellWord).join(" ")}`;
  const slashed = path.replaceAll("\\", "/");
  return slashed !== path && existsSync(slashed) ? `did you mean ${printable(slashed)}?` : undefined;
}

/** Returns the command for an item typed in place of a file or a command; undefined if it is no item. */
export function itemHint(text: string): string | undefined {
  if (tableEndings.has(endingOf(text))) return undefined;
  const items = text.split(/[,;]\s*/);
  const isAddress = (item: string) => /^[^\s<>"/@:]+@[^\s<>"/@:]+\.[a-z]{2,}$/i.test(item);
  if (items.length > 1 && items.every(isAddress))
    return `to check addresses: idv check ${items.map(shellWord).join(" ")}`;
  // An address with a blank is not the part after it.
  const [address] =
    /^[^<>"/@:]+@[^\s<>"/@:]+\.[a-z]{2,}$|^[^\s<>"/@]+@[a-z]+$|[^\s<>"/@]+@[^\s<>"/@]+\.[^\s<>"/@]+/.exec(text) ?? [];
  if (address !== undefined) return `to check an address: idv check ${shellWord(address)}`;
  const isDomain =
    /^[a-z0-9.-]+$/i.test(text) && !endingsOfFiles.test(text) && findSuffix(text.toLowerCase()) === "registrable";
  return isDomain ? `to check a domain: idv check ${shellWord(text)}` : undefined;
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
